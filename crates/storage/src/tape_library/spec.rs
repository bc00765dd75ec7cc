//! What a user writes of a tape library.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::Lowering;
use crate::room::{Lowered, Spec};

/// Cartridges in silos, and drives in groups. A cartridge lies in one silo, chosen at random, and goes to a drive of the group
/// that serves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapeLibrarySpec {
    /// The groups of drives.
    #[schemars(length(min = 1))]
    pub groups: Vec<DriveGroup>,
    /// Capacity of a cartridge. Files are appended; one that does not fit continues on the next cartridge.
    pub cartridge: Bytes,
    /// Number of cartridges that hold the files older than the log, each at a random position of a random
    /// cartridge.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub cartridges: u32,
    /// Maximum rate of one drive. Default: the rate of its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_rate: Option<BytesPerSecond>,
    /// Time from insertion of a cartridge until the drive is ready.
    #[serde(default)]
    pub load: Nanos,
    /// Locate time from one end of the tape to the other; shorter distances take proportionally less.
    #[serde(default)]
    pub locate: Nanos,
    /// Rewind time from the end of the tape; shorter distances take proportionally less.
    #[serde(default)]
    pub rewind: Nanos,
    /// Time from rewound until the robot can remove the cartridge.
    #[serde(default)]
    pub unload: Nanos,
    /// Robot time to move a cartridge to or from a drive.
    #[serde(default, rename = "move")]
    pub robot_move: Nanos,
    /// Deferred dismount: how long an unused cartridge stays mounted. It is dismounted earlier if another
    /// needs the drive. Default: dismounted at once.
    #[serde(default)]
    pub hold: Nanos,
    /// Order of recalls when a drive becomes free.
    #[serde(default)]
    pub recall: Recall,
}

/// Drives that share one path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveGroup {
    /// Number of drives.
    #[schemars(range(min = 1, max = 100_000))]
    pub drives: u32,
    /// Their total transfer rate: that of their chain or network.
    pub rate: BytesPerSecond,
    /// Number of silos whose cartridges they mount.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub silos: u32,
    /// Number of robot arms.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub arms: u32,
}

/// Order of recalls when a drive becomes free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recall {
    /// The longest-waiting recall.
    #[default]
    Arrival,
    /// A recall for the mounted cartridge, if any: recalls are batched by cartridge.
    ByCartridge,
}

const fn one() -> u32 {
    1
}

const fn thousand() -> u32 {
    1000
}

impl Spec for TapeLibrarySpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<Self>> {
        if self.groups.iter().any(|group| group.rate.get() <= 0.0)
            || self.drive_rate.is_some_and(|rate| rate.get() <= 0.0)
        {
            return at.refuse("groups", "the rate of a group of drives must be above zero", None);
        }
        if self.cartridge.0 == 0 {
            return at.refuse("cartridge", "the capacity of a cartridge must be above zero", None);
        }
        Some(Lowered { plan: self.clone(), uses: Vec::new(), capacity: Bytes(0) })
    }
}
