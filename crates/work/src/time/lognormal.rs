//! Lognormal times.

use headrace_analytic::{Distribution, Lognormal};
use headrace_kernel::Draws;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time whose logarithm is normal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSpec {
    /// Mean.
    pub mean: Nanos,
    /// Coefficient of variation: the standard deviation over the mean.
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub cv: f64,
}

impl LognormalSpec {
    /// mean·e^(σz − σ²/2) with z normal and σ² = ln(1 + cv²).
    pub(super) fn draw(&self, draws: &mut Draws) -> Nanos {
        let variance = libm::log1p(self.cv * self.cv);
        Nanos::from_ns(self.mean.ns() * libm::exp(variance.sqrt() * draws.normal() - variance / 2.0))
    }

    pub(super) fn distribution(&self) -> Distribution {
        Distribution::Lognormal(Lognormal::new(self.mean.ms(), self.cv))
    }
}
