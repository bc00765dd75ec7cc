//! One of several times, with weights.

use headrace_analytic::Distribution;
use headrace_kernel::Draws;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ReadsSample, TimeSpec};
use crate::invalid::Invalid;

/// One time of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeShare {
    /// The time, fixed or drawn.
    pub time: TimeSpec,
    /// Relative frequency.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub weight: f64,
}

impl TimeShare {
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { time: self.time.scaled(factor), weight: self.weight }
    }
}

fn total(shares: &[TimeShare]) -> f64 {
    shares.iter().map(|share| share.weight).sum()
}

pub(super) fn draw(shares: &[TimeShare], draws: &mut Draws) -> Nanos {
    let mut left = draws.uniform() * total(shares);
    let chosen = shares.iter().find(|share| {
        left -= share.weight;
        left < 0.0
    });
    chosen.unwrap_or(&shares[shares.len() - 1]).time.draw(draws)
}

pub(super) fn distribution(shares: &[TimeShare]) -> Distribution {
    let all = total(shares);
    let drawn = shares.iter().filter(|share| share.weight > 0.0);
    Distribution::mixed(drawn.map(|share| (share.weight / all, share.time.distribution())).collect())
}

pub(super) fn checked(shares: &[TimeShare], read: &ReadsSample) -> Result<Vec<TimeShare>, Invalid> {
    let valid = |share: &TimeShare| share.weight >= 0.0 && share.weight.is_finite();
    if !shares.iter().all(valid) || total(shares) <= 0.0 {
        let message = "weights must be at least zero, and one of them above zero";
        return Err(Invalid::new("", message));
    }
    let one = |(at, share): (usize, &TimeShare)| {
        let time = share.time.checked(read).map_err(|problem| problem.within(&format!("{at}.time")))?;
        Ok(TimeShare { time, weight: share.weight })
    };
    shares.iter().enumerate().map(one).collect()
}
