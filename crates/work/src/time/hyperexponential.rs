//! Hyperexponential times.

use headrace_analytic::Distribution;
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
    /// Probability of the shorter phase; balanced means and the coefficient of variation c leave one: 2p = 1 + √((c² − 1)/(c² + 1))
    /// (Allen, "Probability, Statistics, and Queueing Theory", 1990).
    fn shorter(&self) -> f64 {
        let square = self.cv * self.cv;
        (1.0 + ((square - 1.0) / (square + 1.0)).sqrt()) / 2.0
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> Nanos {
        let shorter = self.shorter();
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
