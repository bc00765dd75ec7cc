//! Times that are fixed or drawn: of service, of thinking, between arrivals. Each law is a file: what a user writes, how it is drawn, and
//! what theory knows of it.

mod bounded_pareto;
mod empirical;
mod hyperexponential;
mod lognormal;
mod mix;
#[cfg(test)]
mod tests;

use headrace_analytic::Distribution;
use headrace_kernel::Draws;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;

pub use bounded_pareto::BoundedParetoSpec;
pub use empirical::{EmpiricalSpec, MOST_VALUES};
pub use hyperexponential::HyperexponentialSpec;
pub use lognormal::LognormalSpec;
pub use mix::TimeShare;

/// A time, either fixed (`8.5 ms`) or drawn for each request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TimeSpec {
    /// Constant.
    Fixed(Nanos),
    /// Drawn for each request.
    Drawn(DrawnTime),
}

/// A distribution of times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DrawnTime {
    /// Exponential with this mean.
    Exponential(Nanos),
    /// The sum of several exponential stages.
    Erlang {
        /// Number of stages.
        #[schemars(range(min = 1, max = 1000))]
        stages: u32,
        /// Mean of the sum.
        mean: Nanos,
    },
    /// Uniform between two times.
    Uniform {
        /// Minimum.
        from: Nanos,
        /// Maximum.
        to: Nanos,
    },
    /// Lognormal: the logarithm is normal.
    Lognormal(LognormalSpec),
    /// Hyperexponential with two phases: more variable than exponential.
    Hyperexponential(HyperexponentialSpec),
    /// Bounded Pareto: a heavy tail up to a largest value.
    BoundedPareto(BoundedParetoSpec),
    /// Values of a sample, such as measured times.
    Empirical(Box<EmpiricalSpec>),
    /// One of several times, with weights.
    Mix(#[schemars(length(min = 1))] Vec<TimeShare>),
}

/// Reads the file of a sample that lies beside the scenario: its values with their weights, or why they cannot be read.
pub type ReadsSample<'r> = dyn Fn(&EmpiricalSpec) -> Result<Vec<(Nanos, f64)>, Invalid> + 'r;

impl Default for TimeSpec {
    fn default() -> Self {
        Self::Fixed(Nanos::ZERO)
    }
}

impl TimeSpec {
    /// A time by this distribution.
    ///
    /// # Panics
    /// It has a sample that was not read: see [`TimeSpec::checked`].
    #[inline(always)] // As a call, the generator would be written to memory and read back.
    pub fn draw(&self, draws: &mut Draws) -> Nanos {
        match self {
            Self::Fixed(time) => *time,
            Self::Drawn(DrawnTime::Exponential(mean)) => exponential(*mean, draws),
            Self::Drawn(DrawnTime::Uniform { from, to }) => uniform(*from, *to, draws),
            Self::Drawn(other) => other.draw(draws),
        }
    }

    /// The distribution in theory's terms, in milliseconds.
    ///
    /// # Panics
    /// As [`TimeSpec::draw`].
    pub fn distribution(&self) -> Distribution {
        match self {
            Self::Fixed(time) => Distribution::Fixed(time.ms()),
            Self::Drawn(drawn) => drawn.distribution(),
        }
    }

    /// Returns this time with all samples read, from files by `read`.
    ///
    /// # Errors
    /// Its field that is invalid, or a sample that cannot be read.
    pub fn checked(&self, read: &ReadsSample) -> Result<Self, Invalid> {
        Ok(match self {
            Self::Fixed(_) => self.clone(),
            Self::Drawn(drawn) => Self::Drawn(drawn.checked(read)?),
        })
    }

    /// Returns this time multiplied by a factor, with samples as they were read.
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Fixed(time) => Self::Fixed(time.scaled(factor)),
            Self::Drawn(law) => Self::Drawn(law.scaled(factor)),
        }
    }

    /// The field that scales it, below its own; empty for a fixed time, `None` where there is no such field.
    pub fn mean_field(&self) -> Option<&'static str> {
        match self {
            Self::Fixed(_) => Some(""),
            Self::Drawn(DrawnTime::Exponential(_)) => Some("exponential"),
            Self::Drawn(DrawnTime::Erlang { .. }) => Some("erlang.mean"),
            Self::Drawn(DrawnTime::Lognormal(_)) => Some("lognormal.mean"),
            Self::Drawn(DrawnTime::Hyperexponential(_)) => Some("hyperexponential.mean"),
            Self::Drawn(_) => None,
        }
    }
}

impl DrawnTime {
    fn scaled(&self, factor: f64) -> Self {
        let times = |time: &Nanos| time.scaled(factor);
        match self {
            Self::Exponential(mean) => Self::Exponential(times(mean)),
            Self::Erlang { stages, mean } => Self::Erlang { stages: *stages, mean: times(mean) },
            Self::Uniform { from, to } => Self::Uniform { from: times(from), to: times(to) },
            Self::Lognormal(law) => Self::Lognormal(LognormalSpec { mean: times(&law.mean), ..*law }),
            Self::Hyperexponential(law) => {
                Self::Hyperexponential(HyperexponentialSpec { mean: times(&law.mean), ..*law })
            }
            Self::BoundedPareto(law) => {
                let (from, to) = (times(&law.from), times(&law.to));
                Self::BoundedPareto(BoundedParetoSpec { from, to, ..*law })
            }
            Self::Empirical(sample) => Self::Empirical(Box::new(sample.scaled(factor))),
            Self::Mix(shares) => Self::Mix(shares.iter().map(|share| share.scaled(factor)).collect()),
        }
    }

    /// The laws whose draws cost more than a call.
    #[inline(never)]
    fn draw(&self, draws: &mut Draws) -> Nanos {
        match self {
            Self::Exponential(mean) => exponential(*mean, draws),
            Self::Uniform { from, to } => uniform(*from, *to, draws),
            Self::Erlang { stages, mean } => erlang(*stages, *mean, draws),
            Self::Lognormal(law) => law.draw(draws),
            Self::Hyperexponential(law) => law.draw(draws),
            Self::BoundedPareto(law) => law.draw(draws),
            Self::Empirical(sample) => sample.draw(draws),
            Self::Mix(shares) => mix::draw(shares, draws),
        }
    }

    fn distribution(&self) -> Distribution {
        match self {
            Self::Exponential(mean) => Distribution::exponential(mean.ms()),
            Self::Erlang { stages, mean } => Distribution::erlang(*stages, mean.ms()),
            Self::Uniform { from, to } => Distribution::Uniform { from: from.ms(), to: to.ms() },
            Self::Lognormal(law) => law.distribution(),
            Self::Hyperexponential(law) => law.distribution(),
            Self::BoundedPareto(law) => law.distribution(),
            Self::Empirical(sample) => sample.distribution(),
            Self::Mix(shares) => mix::distribution(shares),
        }
    }

    fn checked(&self, read: &ReadsSample) -> Result<Self, Invalid> {
        match self {
            Self::Uniform { from, to } if from >= to => {
                Err(Invalid::new("", format!("`from` ({from}) must be less than `to` ({to})")))
            }
            Self::BoundedPareto(law) => law.problem().map_or_else(|| Ok(self.clone()), Err),
            Self::Empirical(sample) => {
                let read = sample.read(read).map_err(|problem| problem.within("empirical"))?;
                Ok(Self::Empirical(Box::new(read)))
            }
            Self::Mix(shares) => {
                Ok(Self::Mix(mix::checked(shares, read).map_err(|problem| problem.within("mix"))?))
            }
            _ => Ok(self.clone()),
        }
    }
}

#[inline(always)] // For the reason of `TimeSpec::draw`.
fn exponential(mean: Nanos, draws: &mut Draws) -> Nanos {
    Nanos::from_ns(draws.exponential() * mean.ns())
}

#[inline(always)] // For the reason of `TimeSpec::draw`.
fn uniform(from: Nanos, to: Nanos, draws: &mut Draws) -> Nanos {
    Nanos::from_ns(from.0 as f64 + draws.uniform() * (to.0 as f64 - from.0 as f64))
}

/// The sum of exponential stages.
fn erlang(stages: u32, mean: Nanos, draws: &mut Draws) -> Nanos {
    let sum: f64 = (0..stages).map(|_| draws.exponential()).sum();
    Nanos::from_ns(sum * mean.0 as f64 / f64::from(stages))
}
