//! What a user may write of spares and rebuilds.

use headrace_units::{Bytes, BytesPerSecond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How data that a disk has lost or missed is computed again and written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RebuildSpec {
    /// Maximum rate at which it writes. Default: as fast as the disks can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Minimum rate at which it goes on while hosts keep the array busy. Only of `foreground_first`. The default is that of Linux md.
    pub at_least: BytesPerSecond,
    /// Where the data of a failed disk goes. Default: to the distributed spare where the layout has one, else to a hot spare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Target>,
    /// Who goes first while hosts use the array.
    pub priority: Precedence,
    /// Bytes of a disk that are read together, and then written together. Two such chunks are under way at a time. The default is an
    /// estimate: controllers differ.
    pub chunk: Bytes,
}

impl Default for RebuildSpec {
    fn default() -> Self {
        Self {
            rate: None,
            at_least: BytesPerSecond(1e6),
            to: None,
            priority: Precedence::default(),
            chunk: Bytes(1 << 20),
        }
    }
}

/// Where the data of a failed disk goes. Without a spare it waits until the disk is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// To a disk that stood idle until then (`spares`).
    HotSpare,
    /// To the free units on all disks (`declustered.spares`).
    DistributedSpare,
}

/// Who goes first while hosts use the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precedence {
    /// The rebuild competes with hosts for the disks.
    #[default]
    Equal,
    /// The rebuild goes on while no request of a host is in flight at the array, and otherwise only at the rate `at_least`.
    ForegroundFirst,
}

/// Stripes narrower than the array, over all of its disks by permutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclusteredSpec {
    /// Number of units in a stripe, parity included.
    #[schemars(range(min = 2, max = 10_000))]
    pub width: u32,
    /// Number of units in each row that are left free for rebuilds: the distributed spare.
    #[serde(default)]
    #[schemars(range(max = 1_000))]
    pub spares: u32,
}
