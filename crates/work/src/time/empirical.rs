//! Times of a sample.

use std::sync::Arc;

use headrace_analytic::{Distribution, Empirical};
use headrace_kernel::Draws;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReadsSample;
use crate::invalid::Invalid;

/// The values of a sample, each as often as it occurs there, and no others: the distribution is not smoothed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmpiricalSpec {
    /// The values. Leave out for a `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub values: Option<Vec<Nanos>>,
    /// File beside the scenario with a value on each line, or CSV with a header; it may be compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Column of the values in a CSV file. Default: the file has no header, and a line is a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Column of a CSV file that says how often each value occurs. Default: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Unit of numbers in the file: `1 ms`. Default: each has its unit beside it, as in `8.5 ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Nanos>,
    /// What was read.
    #[serde(skip)]
    sample: Option<Arc<Sample>>,
}

/// The largest number of values of a sample.
pub const MOST_VALUES: usize = 1_000_000;

#[derive(Debug, PartialEq)]
struct Sample {
    /// Values in ascending order, each once, with the weight of all up to it.
    values: Vec<(Nanos, f64)>,
    distribution: Empirical,
}

impl Sample {
    fn new(mut weighted: Vec<(Nanos, f64)>) -> Self {
        weighted.retain(|(_, weight)| *weight > 0.0);
        weighted.sort_by_key(|(value, _)| *value);
        let mut sum = 0.0;
        let same = weighted.chunk_by(|a, b| a.0 == b.0);
        let values = same.map(|same| {
            sum += same.iter().map(|(_, weight)| weight).sum::<f64>();
            (same[0].0, sum)
        });
        let values = values.collect();
        let distribution = Empirical::new(weighted.iter().map(|(value, weight)| (value.ms(), *weight)));
        Self { values, distribution }
    }

    fn scaled(&self, factor: f64) -> Self {
        let before = std::iter::once(0.0).chain(self.values.iter().map(|(_, sum)| *sum));
        let each = self.values.iter().zip(before);
        Self::new(each.map(|((value, sum), before)| (value.scaled(factor), sum - before)).collect())
    }
}

impl EmpiricalSpec {
    fn sample(&self) -> &Sample {
        self.sample.as_deref().expect("samples are read when a scenario is planned")
    }

    /// Returns the sample with all values multiplied.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let scaled = |sample: &Arc<Sample>| Arc::new(sample.scaled(factor));
        let values = self.values.as_ref().map(|all| all.iter().map(|value| value.scaled(factor)).collect());
        let unit = self.unit.map(|unit| unit.scaled(factor));
        Self { values, unit, sample: self.sample.as_ref().map(scaled), ..self.clone() }
    }

    /// The value up to which a uniform part of all weight lies: the distribution function inverted.
    pub(super) fn draw(&self, draws: &mut Draws) -> Nanos {
        let values = &self.sample().values;
        let (last, all) = values[values.len() - 1];
        let wanted = draws.uniform() * all;
        values.get(values.partition_point(|(_, sum)| *sum <= wanted)).map_or(last, |(value, _)| *value)
    }

    pub(super) fn distribution(&self) -> Distribution {
        Distribution::Empirical(self.sample().distribution.clone())
    }

    /// Reads the sample.
    pub(super) fn read(&self, read: &ReadsSample) -> Result<Self, Invalid> {
        let weighted = match (&self.values, &self.file) {
            (Some(values), None) => self.own(values)?,
            (None, Some(_)) => read(self)?,
            (Some(_), Some(_)) => {
                return Err(Invalid::new("file", "`values` and `file` both give the sample: remove one"));
            }
            (None, None) => {
                let help =
                    Some("write `{values: [1 ms, 2 ms]}` or `{file: times.csv, column: ms, unit: 1 ms}`");
                return Err(Invalid { help, ..Invalid::new("", "a sample needs `values` or a `file`") });
            }
        };
        if !weighted.iter().any(|(_, weight)| *weight > 0.0) {
            return Err(Invalid::new("weight", "all weights are zero"));
        }
        Ok(Self { sample: Some(Arc::new(Sample::new(weighted))), ..self.clone() })
    }

    /// The values of the scenario itself.
    fn own(&self, values: &[Nanos]) -> Result<Vec<(Nanos, f64)>, Invalid> {
        let of_file = [
            ("column", self.column.is_some()),
            ("weight", self.weight.is_some()),
            ("unit", self.unit.is_some()),
        ];
        match of_file.iter().find(|(_, is_set)| *is_set) {
            Some((field, _)) => {
                let help = Some("remove it; values with weights are a `mix`");
                Err(Invalid { help, ..Invalid::new(field, format!("`{field}` is for a `file`")) })
            }
            None => Ok(values.iter().map(|value| (*value, 1.0)).collect()),
        }
    }
}
