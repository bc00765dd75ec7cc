//! Sizes that are fixed or drawn.

use headrace_kernel::Draws;
use headrace_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;

/// A size, either fixed (`64 KiB`) or drawn for each request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SizeSpec {
    /// Constant.
    Fixed(Bytes),
    /// Drawn for each request.
    Drawn(DrawnSize),
}

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DrawnSize {
    /// One of several sizes with weights.
    Mix(#[schemars(length(min = 1))] Vec<Share>),
    /// Uniform over `from`, `from` + `step`, …, `to`.
    Uniform {
        /// The smallest size.
        from: Bytes,
        /// The largest size.
        to: Bytes,
        /// Distance between sizes.
        step: Bytes,
    },
}

/// One size of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The size.
    pub size: Bytes,
    /// Relative frequency.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub weight: f64,
}

impl SizeSpec {
    /// The sizes that occur, with their probabilities; of uniform sizes at most `most`, evenly spread.
    pub fn support(&self, most: u64) -> Vec<(f64, Bytes)> {
        match self {
            Self::Fixed(size) => vec![(1.0, *size)],
            Self::Drawn(DrawnSize::Mix(shares)) => {
                let total: f64 = shares.iter().map(|share| share.weight).sum();
                shares.iter().map(|share| (share.weight / total, share.size)).collect()
            }
            Self::Drawn(DrawnSize::Uniform { from, to, step }) => {
                let sizes = (to.0 - from.0) / step.0 + 1;
                let some = sizes.min(most);
                let nth = |i: u64| (u128::from(2 * i + 1) * u128::from(sizes) / u128::from(2 * some)) as u64;
                (0..some).map(|i| (1.0 / some as f64, Bytes(from.0 + nth(i) * step.0))).collect()
            }
        }
    }

    /// The smallest and the largest size that occur.
    pub fn bounds(&self) -> (Bytes, Bytes) {
        match self {
            Self::Fixed(size) => (*size, *size),
            Self::Drawn(DrawnSize::Uniform { from, to, step }) => {
                (*from, Bytes(from.0 + (to.0 - from.0) / step.0 * step.0))
            }
            Self::Drawn(DrawnSize::Mix(shares)) => {
                let sizes = || shares.iter().filter(|share| share.weight > 0.0).map(|share| share.size);
                (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default())
            }
        }
    }

    /// A size by this distribution.
    #[inline]
    pub fn draw(&self, draws: &mut Draws) -> Bytes {
        match self {
            Self::Fixed(size) => *size,
            Self::Drawn(DrawnSize::Mix(shares)) => {
                let total: f64 = shares.iter().map(|share| share.weight).sum();
                let mut left = draws.uniform() * total;
                let chosen = shares.iter().find(|share| {
                    left -= share.weight;
                    left < 0.0
                });
                chosen.unwrap_or(&shares[shares.len() - 1]).size
            }
            Self::Drawn(DrawnSize::Uniform { from, to, step }) => {
                Bytes(from.0 + step.0 * draws.below((to.0 - from.0) / step.0 + 1))
            }
        }
    }

    /// Returns the reason why this size is invalid; `None` if it is valid.
    pub fn problem(&self) -> Option<Invalid> {
        match self {
            Self::Fixed(Bytes(0)) => Some(Invalid::new("", "a request needs at least one byte")),
            Self::Drawn(DrawnSize::Mix(shares)) => {
                let positive = shares.iter().any(|share| share.weight > 0.0);
                if shares.iter().any(|share| share.size.0 == 0) {
                    Some(Invalid::new("", "a request needs at least one byte"))
                } else if positive
                    && shares.iter().all(|share| share.weight >= 0.0 && share.weight.is_finite())
                {
                    None
                } else {
                    Some(Invalid::new("", "weights must be at least zero, and one of them above zero"))
                }
            }
            Self::Drawn(DrawnSize::Uniform { from, to, step }) if from > to || step.0 == 0 || from.0 == 0 => {
                let message =
                    "`from` must be at least one byte and at most `to`, and `step` at least one byte";
                Some(Invalid::new("", message))
            }
            _ => None,
        }
    }
}
