//! What a user may write of an experiment. Points are made of it, and run, in Python: they take seconds each, not nanoseconds.

use headrace_units::Fraction;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// The experiment.
    pub experiment: ExperimentSpec,
}

/// A scenario, what is varied in it, and how sure the answer is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// The file of the scenario, beside that of the experiment.
    pub scenario: String,
    /// Fields of the scenario that vary (`system.tds.disks`), with their values.
    pub vary: IndexMap<String, Axis>,
    /// Which of the combinations are run.
    #[serde(default)]
    pub design: Design,
    /// Values that follow from those: a place, and a formula of places (`system.tds.stripe_unit * 4`).
    #[serde(default)]
    pub derive: IndexMap<String, String>,
    /// Number of independent runs of each point; with `precision`, of each round.
    #[serde(default = "few")]
    #[schemars(range(min = 1, max = 10_000))]
    pub replications: u32,
    /// Adds replications until the confidence interval is this narrow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionSpec>,
}

const fn few() -> u32 {
    5
}

/// The values of a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Axis {
    /// One by one.
    Values(Vec<Scalar>),
    /// From one to another.
    Range(RangeSpec),
}

/// Values from one to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeSpec {
    /// The first.
    pub from: Scalar,
    /// The last.
    pub to: Scalar,
    /// Number of values.
    #[serde(default = "few")]
    #[schemars(range(min = 2, max = 100_000))]
    pub points: u32,
    /// Spacing of the values.
    #[serde(default)]
    pub scale: Scale,
}

/// Spacing of values between two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// At equal differences.
    #[default]
    Linear,
    /// At equal ratios.
    Log,
}

/// A number, yes or no, a text, or a quantity as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A text, or a quantity (`64 KiB`).
    Text(String),
}

/// Which combinations of values are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Design {
    /// Each with each.
    #[default]
    Grid,
    /// The first of each together, the second of each together, and so on.
    List,
    /// Points spread evenly over all ranges at once.
    LatinHypercube {
        /// Number of values.
        #[schemars(range(min = 1, max = 1_000_000))]
        points: u32,
    },
}

/// Precision of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrecisionSpec {
    /// Half the width of each 95 % interval is at most this share of its middle.
    pub within: Fraction,
    /// Which metrics (`readers.mean_ms`). Default: the mean response of every stream.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Maximum number of replications of a point.
    #[serde(default = "many")]
    #[schemars(range(min = 2, max = 100_000))]
    pub budget: u32,
}

const fn many() -> u32 {
    50
}
