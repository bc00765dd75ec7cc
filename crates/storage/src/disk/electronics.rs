//! A drive's interface and electronics: rates, and what commands take beside.

use headrace_units::{BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::SECTOR;

/// The interface of a drive, and what its electronics take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceSpec {
    /// Where these numbers were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How fast data goes to the host. Default: in no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<BytesPerSecond>,
    /// How fast data comes from the host. Default: in no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<BytesPerSecond>,
    /// How much of a read must be in the cache before its transfer begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_watermark: Option<f64>,
    /// Before a read that is answered from the cache. Default of this and the next three: the drive's `overhead`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_hit: Option<Command>,
    /// Before any other read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_miss: Option<Command>,
    /// Before a write that follows the one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_hit: Option<Command>,
    /// Before any other write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_miss: Option<Command>,
    /// By how much longer a command takes, unless the cache answers it or it follows the one before it, whose data is elsewhere:
    /// its place is worked out anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// From the command to the data of a write, where the drive lets go of the bus in between.
    pub write_data_delay: Nanos,
    /// How much of a write must be in the cache before its data goes to the platter. In any case so much that the rest keeps up
    /// with the platter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_watermark: Option<f64>,
    /// To take up again what was laid aside while the platter was waited for: before the data of a read, after that of a write.
    pub reselect: Nanos,
    /// After the data of a read.
    pub read_completion: Nanos,
    /// After the data of a write.
    pub write_completion: Nanos,
}

/// What a command takes, by the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// After a read.
    pub after_read: Nanos,
    /// After a write.
    pub after_write: Nanos,
}

/// What a command takes longer whose first sector is not where the last one of the command before was. What applies adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Elsewhere {
    /// On another track.
    pub other_track: Nanos,
    /// In another cylinder.
    pub other_cylinder: Nanos,
    /// In another zone.
    pub other_zone: Nanos,
}

/// Overheads and rates in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Electronics {
    pub read_sector: f64,
    pub write_sector: f64,
    pub read_watermark: f64,
    pub write_watermark: f64,
    pub write_data_delay: f64,
    /// By operation, hit or miss, operation before.
    pub overhead: [[[f64; 2]; 2]; 2],
    /// What is worked out anew, by how far the data is [apart](super::layout::Apart) from that of the command before.
    pub elsewhere: Option<[f64; 4]>,
    pub reselect: f64,
    pub completion: [f64; 2],
}

impl Electronics {
    /// The electronics of this interface; `overhead` where it does not say what a command takes.
    pub fn new(spec: &InterfaceSpec, overhead: Nanos) -> Self {
        let each = |rate: Option<BytesPerSecond>| rate.map_or(0.0, |rate| SECTOR as f64 * 1e9 / rate.get());
        let command = |command: Option<Command>| match command {
            Some(Command { after_read, after_write }) => [after_read.0 as f64, after_write.0 as f64],
            None => [overhead.0 as f64; 2],
        };
        Self {
            read_sector: each(spec.read_rate),
            write_sector: each(spec.write_rate),
            read_watermark: spec.read_watermark.unwrap_or(0.0),
            write_watermark: spec.write_watermark.unwrap_or(0.0),
            write_data_delay: spec.write_data_delay.0 as f64,
            overhead: [
                [command(spec.read_hit), command(spec.read_miss)],
                [command(spec.write_hit), command(spec.write_miss)],
            ],
            elsewhere: spec.elsewhere.map(|Elsewhere { other_track, other_cylinder, other_zone }| {
                let in_cylinder = other_track.0 as f64;
                let in_zone = in_cylinder + other_cylinder.0 as f64;
                [0.0, in_cylinder, in_zone, in_zone + other_zone.0 as f64]
            }),
            reselect: spec.reselect.0 as f64,
            completion: [spec.read_completion.0 as f64, spec.write_completion.0 as f64],
        }
    }
}
