//! What a drive's cache is: segments, reading ahead, when a write counts as done and when it goes to the platter.

use headrace_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::schedule::Scheduling;

/// The cache of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Where these numbers were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How many places it holds data of at once.
    #[schemars(range(min = 1, max = 100_000))]
    pub segments: u32,
    /// How much each holds.
    pub segment_size: Bytes,
    /// When it reads on behind what was asked for.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// At most so far. Default: a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_most: Option<Bytes>,
    /// At least so far behind a read that continues a stream, whatever waits meanwhile, but no further than that stream has been
    /// read (the minimum prefetch of SCSI's caching page). Default: 0 B, it stops as soon as its arm is wanted elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_least: Option<Bytes>,
    /// Whether a read that the cache answers sets a drive that reads nothing ahead reading on behind that segment.
    #[serde(default)]
    pub read_ahead_on_hit: bool,
    /// Whether it keeps what passes under the head while the drive waits for the first sector of a read.
    #[serde(default)]
    pub keeps_passing: bool,
    /// When a write counts as done.
    #[serde(default)]
    pub writes: Writes,
    /// Whether reads find in the cache what was written. Default: with `writes: back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps_written: Option<bool>,
    /// With `writes: back`: how much may be here that is not yet on the platter. A write comes in a segment at a time, each of
    /// which waits for room. Default: a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_room: Option<Bytes>,
    /// With `writes: back`: how many writes may be here that are not yet on the platter, those that follow each other counted as
    /// one. Default: as many as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub writes_held: Option<u32>,
    /// With `writes: back`: which of them goes to the platter next.
    #[serde(default)]
    pub drain: Scheduling,
    /// With `writes: back`: how the paper on the ALICE storage area network can be read to have its drives write. Default: as
    /// above.
    #[serde(default, skip_serializing_if = "AliceReading::is_none")]
    pub alice_reading: AliceReading,
}

/// Four rules of a drive's write cache under which the bandwidth of an array falls once the stripe units of all streams together
/// fill the caches of its disks: a reading of "Storage area network simulation … ALICE" (Vickovic et al.), whose text reports that
/// fall and says only that requests are split to match the cache. All are off by default. No manual of a drive wholly supports
/// them: use them to study that paper, not to predict a drive. They apply to data that crosses the bus of a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AliceReading {
    /// No data of a write moves before there is room for all of it, or for a segment of a larger one. A manual of Maxtor says
    /// otherwise: data is accepted until the buffer is full.
    pub reserves_commands: bool,
    /// The platter waits until all of a write has come, or a segment of a larger one. Weakly supported: manuals of IBM have drives
    /// write to the platter "subsequently" to receiving all data.
    pub starts_with_all: bool,
    /// A write that is no smaller than its segment is reported when it is on the platter. A hypothesis: manuals of Seagate have a
    /// drive return status once data is in the cache, without a word on larger commands.
    pub reports_large_late: bool,
    /// Each stream of writes that is open keeps a segment as large as its writes, and the one that writes now has the rest. Partly
    /// supported: Seagate's circular segments keep what was written.
    pub keeps_stream_segments: bool,
}

impl AliceReading {
    /// Whether no rule applies.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// When a drive reads on behind what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadAhead {
    /// Never.
    Never,
    /// After every read.
    #[default]
    Always,
    /// After a read that begins where the one before it ended.
    Sequential,
    /// After every read, to the end of its track.
    Track,
    /// After every read, to the end of the track on which the sector behind it lies, and a track further where the segment holds
    /// data of an earlier track; however large the segment is, and whatever `read_ahead_most` says.
    NextTrack,
}

/// When a write counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// When it is on the platter.
    #[default]
    Through,
    /// When it is in the cache; the drive brings it to the platter when it has nothing else to do.
    Back,
}
