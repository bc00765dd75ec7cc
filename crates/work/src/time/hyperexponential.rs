//! Hyperexponential times.

use headrace_analytic::{Distribution, balanced};
use headrace_kernel::Draws;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of two exponential times, with balanced means: each contributes half of the mean. Other phases are a `mix` of exponential times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperexponentialSpec {
    /// Mean.
    pub mean: Nanos,
    /// Coefficient of variation: the standard deviation over the mean. 1 is exponential.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub cv: f64,
}

impl HyperexponentialSpec {
    pub(super) fn draw(&self, draws: &mut Draws) -> Nanos {
        let shorter = balanced(self.cv);
        let p = if draws.chance(shorter) { shorter } else { 1.0 - shorter };
        Nanos::from_ns(draws.exponential() * self.mean.ns() / (2.0 * p))
    }

    pub(super) fn distribution(&self) -> Distribution {
        if self.cv > 1.0 {
            return Distribution::hyperexponential(self.mean.ms(), self.cv);
        }
        Distribution::exponential(self.mean.ms())
    }
}
