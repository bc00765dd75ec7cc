//! Settings of the replay of a trace in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::TraceFormat;

/// A trace to replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// Path of the file, relative to the scenario. Plain, or compressed with gzip, zstd or bzip2.
    pub trace: String,
    /// Format of the file. Default: detected from its first lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TraceFormat>,
    /// When requests are issued. Default: by think times if the trace has them, otherwise at its timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Replay speed relative to the recording: times between requests are divided by it.
    #[serde(default = "as_recorded")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub speed: f64,
    /// Devices of the trace to replay. Required if there is more than one; several are concatenated in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// Handling of addresses beyond the end of the component.
    #[serde(default)]
    pub fit: Fit,
    /// Replay only the first N requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u64>,
    /// Skip and count bad lines instead of refusing the file.
    #[serde(default)]
    pub skip_bad: bool,
}

impl ReplaySpec {
    /// The whole of this trace, as recorded.
    pub fn of(trace: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            format: None,
            timing: None,
            speed: as_recorded(),
            devices: Vec::new(),
            fit: Fit::Refuse,
            first: None,
            skip_bad: false,
        }
    }
}

const fn as_recorded() -> f64 {
    1.0
}

/// When the requests of a trace are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Open loop: each at its timestamp, regardless of earlier completions.
    Timestamps,
    /// Closed loop with one request outstanding: each follows the completion of the one before it after a think time.
    Think,
}

/// Handling of addresses beyond the end of the component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Refuse the trace.
    #[default]
    Refuse,
    /// Wrap around: addresses are taken modulo the capacity.
    Wrap,
    /// Scale all addresses down in proportion, to multiples of 512 bytes.
    Scale,
}
