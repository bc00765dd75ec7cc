//! The time of a load: constant, or drawn from a law, among them one that was fitted to a log.

use headrace_kernel::Draws;
use headrace_units::Nanos;
use headrace_work::{Invalid, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::graph::Lowering;

/// Time of a load: constant, or drawn for each mount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LoadTime {
    /// Constant, or drawn from a law.
    Time(TimeSpec),
    /// One of several branches, as `headrace logs analyse` fits to the staging times of a log.
    Fitted(#[schemars(length(min = 1))] Vec<Branch>),
}

/// A branch of a fitted distribution: an exponential time above a minimum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Relative frequency.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub share: f64,
    /// Minimum time.
    pub from: Nanos,
    /// Mean of the exponential time that is added to it.
    pub exponential: Nanos,
    /// Maximum time; the distribution is cut off there. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Nanos>,
}

impl Default for LoadTime {
    fn default() -> Self {
        Self::Time(TimeSpec::default())
    }
}

impl LoadTime {
    /// A time by this distribution.
    pub fn draw(&self, draws: &mut Draws) -> Nanos {
        let branches = match self {
            Self::Time(time) => return time.draw(draws),
            Self::Fitted(branches) => branches,
        };
        let total: f64 = branches.iter().map(|branch| branch.share).sum();
        let mut left = draws.uniform() * total;
        let chosen = branches.iter().find(|branch| {
            left -= branch.share;
            left < 0.0
        });
        chosen.unwrap_or(&branches[branches.len() - 1]).time(draws.uniform())
    }

    /// Its mean, in ms.
    pub fn mean_ms(&self) -> f64 {
        match self {
            Self::Time(time) => time.distribution().mean(),
            Self::Fitted(branches) => {
                let total: f64 = branches.iter().map(|branch| branch.share).sum();
                branches.iter().map(|branch| branch.share / total * branch.mean_ms()).sum()
            }
        }
    }

    /// Returns this time with its samples read; `None` if there is something wrong with it, which is noted.
    pub fn checked(&self, at: &mut Lowering) -> Option<Self> {
        match self {
            Self::Time(time) => at.time("load", time).map(Self::Time),
            Self::Fitted(_) => Some(self.clone()),
        }
    }

    /// Returns the error of invalid branches; `None` if they are valid.
    pub fn problem(&self) -> Option<Invalid> {
        let Self::Fitted(branches) = self else { return None };
        if !branches.iter().any(|branch| branch.share > 0.0) {
            return Some(Invalid::new("", "one `share` must be above zero"));
        }
        let is_empty = |branch: &Branch| branch.to.is_some_and(|to| to <= branch.from);
        branches.iter().any(is_empty).then(|| Invalid::new("", "`to` of a branch must be above its `from`"))
    }
}

impl Branch {
    fn mean_ms(&self) -> f64 {
        let mean = self.exponential.ms();
        let beyond = self.to.map_or(0.0, |to| {
            let width = (to - self.from).ms();
            let above = libm::exp(-width / mean.max(1e-9));
            width * above / (1.0 - above)
        });
        self.from.ms() + mean - beyond
    }

    /// The time that a share `u` of draws do not exceed.
    fn time(&self, u: f64) -> Nanos {
        let mean = self.exponential.secs();
        let width = self.to.map_or(f64::INFINITY, |to| (to - self.from).secs());
        let below = -libm::expm1(-width / mean.max(1e-12));
        self.from + Nanos::from_secs(-mean * libm::log1p(-u * below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_has_the_quantiles_of_a_cut_off_exponential_law() {
        let seconds = |s: u64| Nanos(s * 1_000_000_000);
        let free = Branch { share: 1.0, from: seconds(120), exponential: seconds(30), to: None };
        assert!((free.time(0.5).secs() - (120.0 + 30.0 * std::f64::consts::LN_2)).abs() < 1e-6);
        let cut = Branch { from: seconds(60), exponential: seconds(21), to: Some(seconds(120)), ..free };
        assert_eq!(cut.time(0.0), seconds(60));
        let steps = (0..100_000).map(|at| cut.time((f64::from(at) + 0.5) / 1e5).ms()).sum::<f64>() / 1e5;
        assert!((cut.mean_ms() - steps).abs() < 1.0, "{} {steps}", cut.mean_ms());
        assert!(cut.time(1.0 - 1e-12) <= seconds(120));
        let share = |t: f64| (1.0 - libm::exp(-t / 21.0)) / (1.0 - libm::exp(-60.0 / 21.0));
        assert!((cut.time(share(25.0)).secs() - 85.0).abs() < 1e-6);
    }
}
