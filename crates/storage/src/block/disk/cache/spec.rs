//! Specification of a drive's cache: segments, read-ahead, completion of writes and destaging.

use headrace_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::disk::schedule::Scheduling;

/// The cache of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Source of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Number of segments.
    #[schemars(range(min = 1, max = 100_000))]
    pub segments: u32,
    /// Size of a segment.
    pub segment_size: Bytes,
    /// Condition for reading ahead.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// Maximum read-ahead. Default: one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_most: Option<Bytes>,
    /// Minimum read-ahead after a read that continues a stream, even if other commands wait, but never more
    /// than the stream has read so far (the minimum prefetch of SCSI's caching page). Default: 0 B;
    /// read-ahead stops as soon as another command needs the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_least: Option<Bytes>,
    /// If true, a cache hit restarts read-ahead behind that segment when the drive is not reading ahead.
    #[serde(default)]
    pub read_ahead_on_hit: bool,
    /// If true, the cache keeps sectors that pass under the head while the drive waits for the first sector of a read.
    #[serde(default)]
    pub keeps_passing: bool,
    /// Time at which a write completes.
    #[serde(default)]
    pub writes: Writes,
    /// If true, reads hit written data in the cache. Default: true with `writes: back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps_written: Option<bool>,
    /// With `writes: back`: maximum amount of dirty data. Write data arrives one segment at a time; each
    /// segment waits for space. Default: one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_room: Option<Bytes>,
    /// With `writes: back`: maximum number of dirty writes, contiguous ones counted as one. Default: limited
    /// by space only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub writes_held: Option<u32>,
    /// With `writes: back`: order in which dirty data is written.
    #[serde(default)]
    pub drain: Scheduling,
    /// With `writes: back`: time without commands after which the drive begins to write dirty data; until then, commands find
    /// its arm free. Earlier, it writes only what must make room. Default: 0 s, whenever it is idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_after: Option<Nanos>,
    /// With `writes: back`: rules of a drive's write cache as read from the paper on the ALICE storage area
    /// network. Default: off.
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
    /// Write data is not transferred until there is space for all of it, or for a segment of a larger write.
    /// A Maxtor manual says otherwise: data is accepted until the buffer is full.
    pub reserves_commands: bool,
    /// The drive starts to write to the platter when all data has arrived, or a segment of a larger write.
    /// Weakly supported: IBM manuals have drives write to the platter "subsequently" to receiving all data.
    pub starts_with_all: bool,
    /// A write at least as large as its segment completes when it is on the platter. A hypothesis: in Seagate
    /// manuals a drive returns status once data is in the cache; larger commands are not mentioned.
    pub reports_large_late: bool,
    /// Each open write stream keeps a segment as large as its writes; the active one has the rest. Partly
    /// supported: Seagate's circular segments keep written data.
    pub keeps_stream_segments: bool,
}

impl AliceReading {
    /// Returns true if no rule applies.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Condition under which a drive reads ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadAhead {
    /// Never.
    Never,
    /// After every read.
    #[default]
    Always,
    /// After a read that starts where the previous one ended.
    Sequential,
    /// After every read, to the end of its track.
    Track,
    /// After every read, to the end of the track of the next sector, and one track further if the segment
    /// holds data of an earlier track; regardless of segment size and `read_ahead_most`.
    NextTrack,
}

/// Time at which a write completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// When the data is on the platter.
    #[default]
    Through,
    /// When the data is in the cache; the drive writes it to the platter when idle.
    Back,
}
