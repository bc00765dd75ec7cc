//! Specification of spares and rebuilds.

use headrace_units::{Bytes, BytesPerSecond};
use headrace_work::Cause;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::paced_work::{Pace, Precedence};

/// How lost or outdated data of a disk is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RebuildSpec {
    /// Maximum write rate of the rebuild. Default: limited by the disks only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Minimum rate while hosts keep the array busy. Only for `foreground_first`. The default is that of
    /// Linux md.
    pub at_least: BytesPerSecond,
    /// Destination of the data of a failed disk. Default: the distributed spare if the layout has one,
    /// otherwise a hot spare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Target>,
    /// Priority of the rebuild against host requests.
    pub priority: Precedence,
    /// Number of bytes of a disk that are read, then written, together. The default is an estimate; controllers
    /// differ.
    pub chunk: Bytes,
    /// Number of chunks in progress at a time. Default: two, one read while the other is written; with a
    /// distributed spare two for every `width` disks, because all disks take part. An estimate: Linux md and
    /// OpenZFS limit the bytes in flight instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: Option<u32>,
}

impl Default for RebuildSpec {
    fn default() -> Self {
        Self {
            rate: None,
            at_least: BytesPerSecond(1e6),
            to: None,
            priority: Precedence::default(),
            chunk: Bytes(1 << 20),
            in_flight: None,
        }
    }
}

impl RebuildSpec {
    pub(super) const fn pace(&self) -> Pace {
        Pace { rate: self.rate, at_least: self.at_least, priority: self.priority, cause: Cause::Rebuild }
    }
}

/// Destination of the data of a failed disk. Without a spare the rebuild waits for a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// An idle disk (`spares`).
    HotSpare,
    /// Reserved units on all disks (`declustered.spares`).
    DistributedSpare,
}

/// Declustering: stripes narrower than the array, spread over all disks by permutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclusteredSpec {
    /// Number of units in a stripe, parity included.
    #[schemars(range(min = 2, max = 10_000))]
    pub width: u32,
    /// Number of disks that each row leaves free for rebuilds (distributed spare).
    #[serde(default)]
    #[schemars(range(max = 1_000))]
    pub spares: u32,
    /// Bytes of each disk that consecutive stripes fill before the next ones lie on other disks, so that rebuilds read and write long runs. A
    /// multiple of `stripe_unit`. Default: `stripe_unit`; ZFS's dRAID has 16 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<Bytes>,
}
