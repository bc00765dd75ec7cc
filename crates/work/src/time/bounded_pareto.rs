//! Bounded Pareto times.

use headrace_analytic::{BoundedPareto, Distribution};
use headrace_kernel::Draws;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;

/// A time between two bounds whose density falls with a power: P(X > x) = ((from/x)^shape − (from/to)^shape) / (1 − (from/to)^shape).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundedParetoSpec {
    /// Exponent of the tail. The smaller, the heavier: 1 to 2 for many file sizes and session lengths.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub shape: f64,
    /// The smallest value, above zero.
    pub from: Nanos,
    /// The largest value.
    pub to: Nanos,
}

impl BoundedParetoSpec {
    /// The value that is exceeded with a uniform probability: the distribution function inverted.
    pub(super) fn draw(&self, draws: &mut Draws) -> Nanos {
        let within = -libm::expm1(self.shape * libm::log(self.from.ns() / self.to.ns()));
        let ratio = libm::exp(-libm::log1p(-within * draws.inner()) / self.shape);
        Nanos::from_ns(self.from.ns() * ratio).min(self.to)
    }

    pub(super) fn distribution(&self) -> Distribution {
        Distribution::BoundedPareto(BoundedPareto::new(self.shape, self.from.ms(), self.to.ms()))
    }

    pub(super) fn problem(&self) -> Option<Invalid> {
        let Self { from, to, .. } = self;
        if from.0 == 0 {
            let help = Some("give the smallest time that occurs");
            let message = "a power law has no values near zero: `from` must be above 0 s";
            return Some(Invalid { help, ..Invalid::new("bounded_pareto.from", message) });
        }
        (from >= to)
            .then(|| Invalid::new("bounded_pareto", format!("`from` ({from}) must be less than `to` ({to})")))
    }
}
