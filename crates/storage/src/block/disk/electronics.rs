//! A drive's interface and electronics: rates, and what commands take beside.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{SECTOR, SectorDistance};

/// The interface of a drive and its overheads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceSpec {
    /// Source of these values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Transfer rate to the host. Default: no transfer time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<BytesPerSecond>,
    /// Transfer rate from the host. Default: no transfer time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<BytesPerSecond>,
    /// Amount of a read that must be in the cache before its transfer starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_watermark: Option<f64>,
    /// Overhead of a read that hits the cache. Default of this and the next three: the drive's `overhead`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_hit: Option<Command>,
    /// Overhead of any other read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_miss: Option<Command>,
    /// Overhead of a write that continues the previous one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_hit: Option<Command>,
    /// Overhead of any other write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_miss: Option<Command>,
    /// Repositioning overhead: additional time of a command whose data is elsewhere, unless the cache answers
    /// it or it continues the previous command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// Time before the data of every command, once the drive has the bus.
    pub data_preparation: Nanos,
    /// Overhead of a write to the platter that follows a write without continuing it, if the drive
    /// disconnects before it accepts the data; replaces `write_miss` and `reselect`. Default: as for any
    /// other write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconnected_write: Option<ReconnectedWrite>,
    /// Amount of a write that must be in the cache before it is written to the platter; always enough for the
    /// rest to keep up with the platter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_watermark: Option<f64>,
    /// Amount of a write (all of a shorter one) that must be in the cache before it is written to the
    /// platter.
    pub write_start: Bytes,
    /// Reselection overhead: before the data of a read, after the data of a write.
    pub reselect: Nanos,
    /// Time after the data of a read.
    pub read_completion: Nanos,
    /// Time after the data of a write.
    pub write_completion: Nanos,
}

/// Overhead of a command by the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// After a read.
    pub after_read: Nanos,
    /// After a write.
    pub after_write: Nanos,
}

/// A write for which the drive disconnects before the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReconnectedWrite {
    /// Time from the command until the arm starts to move.
    pub seek_after: Nanos,
    /// Time from the command until the drive has the bus again for the data.
    pub data_after: Nanos,
    /// Time to reselect when the data is on the platter.
    pub reselect: Nanos,
}

/// Additional time of a command by the distance between its first sector and the last sector of the previous
/// command. All that apply are added.
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

/// Use of the platter by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaUse {
    /// The cache answers the read, or the write follows the one before it.
    Hit,
    /// Any other command.
    Miss,
}

/// Overheads and rates in nanoseconds.
#[derive(Clone, Debug)]
pub struct Electronics {
    /// Of reads.
    pub read: CommandTiming,
    /// Of writes.
    pub write: CommandTiming,
    /// Before the data of a command.
    pub data_preparation: f64,
    /// Number of sectors of a write that must have arrived before it begins on the platter.
    pub write_start: f64,
    /// Overhead of writes that release the bus before their data.
    pub reconnected_write: Option<Late>,
    /// To take up a command again that waited for the platter.
    pub reselect: f64,
    /// To work out a new place, by how far it is [apart](super::layout::Apart) from that of the command before.
    elsewhere: Option<[f64; 4]>,
}

/// [`ReconnectedWrite`], in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    pub seek_after: f64,
    pub data_after: f64,
    pub reselect: f64,
}

impl Late {
    fn new(spec: &ReconnectedWrite) -> Self {
        let [seek_after, data_after, reselect] =
            [spec.seek_after, spec.data_after, spec.reselect].map(|time| time.0 as f64);
        Self { seek_after, data_after, reselect }
    }
}

/// Overheads of one kind of command.
#[derive(Clone, Copy, Debug)]
pub struct CommandTiming {
    /// A sector over the bus.
    pub sector: f64,
    /// Share of the data that must be in the cache before the transfer continues.
    pub watermark: f64,
    /// After the data.
    pub completion: f64,
    hit: After,
    miss: After,
}

/// An overhead, by the command before.
#[derive(Clone, Copy, Debug)]
struct After {
    read: f64,
    write: f64,
}

impl After {
    fn new(command: Option<Command>, overhead: Nanos) -> Self {
        let Command { after_read, after_write } =
            command.unwrap_or(Command { after_read: overhead, after_write: overhead });
        Self { read: after_read.0 as f64, write: after_write.0 as f64 }
    }

    #[inline]
    fn of(&self, before: Op) -> f64 {
        match before {
            Op::Read => self.read,
            Op::Write | Op::Discard | Op::Flush => self.write,
        }
    }
}

impl Elsewhere {
    /// Returns the sums of all overheads that apply: on the same track, in the same cylinder, in the same zone, in another zone.
    fn sums(&self) -> [f64; 4] {
        let in_cylinder = self.other_track.0 as f64;
        let in_zone = in_cylinder + self.other_cylinder.0 as f64;
        [0.0, in_cylinder, in_zone, in_zone + self.other_zone.0 as f64]
    }
}

impl Electronics {
    /// The electronics of this interface; `overhead` where it does not say what a command takes.
    pub fn new(spec: &InterfaceSpec, overhead: Nanos) -> Self {
        let sector = |rate: Option<BytesPerSecond>| rate.map_or(0.0, |rate| SECTOR as f64 * 1e9 / rate.get());
        Self {
            read: CommandTiming {
                sector: sector(spec.read_rate),
                watermark: spec.read_watermark.unwrap_or(0.0),
                completion: spec.read_completion.0 as f64,
                hit: After::new(spec.read_hit, overhead),
                miss: After::new(spec.read_miss, overhead),
            },
            write: CommandTiming {
                sector: sector(spec.write_rate),
                watermark: spec.write_watermark.unwrap_or(0.0),
                completion: spec.write_completion.0 as f64,
                hit: After::new(spec.write_hit, overhead),
                miss: After::new(spec.write_miss, overhead),
            },
            write_start: (spec.write_start.0 / SECTOR) as f64,
            data_preparation: spec.data_preparation.0 as f64,
            reconnected_write: spec.reconnected_write.as_ref().map(Late::new),
            reselect: spec.reselect.0 as f64,
            elsewhere: spec.elsewhere.as_ref().map(Elsewhere::sums),
        }
    }

    /// Returns the overhead of a command before anything else, by the previous command, in ns.
    #[inline]
    pub fn overhead(&self, op: Op, lookup: MediaUse, before: Op) -> f64 {
        let timing = match op {
            Op::Read => &self.read,
            Op::Write | Op::Discard | Op::Flush => &self.write,
        };
        match lookup {
            MediaUse::Hit => timing.hit.of(before),
            MediaUse::Miss => timing.miss.of(before),
        }
    }

    /// Returns the overhead of a new position, in ns.
    #[inline]
    pub fn new_place(&self, apart: impl FnOnce() -> SectorDistance) -> f64 {
        self.elsewhere.map_or(0.0, |by| by[apart() as usize])
    }
}
