//! Specification of an array.

use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bitmap::BitmapSpec;
use super::cache::ArrayCacheSpec;
use super::eviction::EvictSlowSpec;
use super::layout::{
    ArrayLayout, Declustered, Mirror, Pairing, Parity, Rotation, SmallWrites, Stripes, UnitPlacement,
};
use super::recovery::{DeclusteredSpec, RebuildSpec};
use super::scrub::ScrubSpec;
use super::{Access, ArrayPlan};
use crate::core::component::Spec;
use crate::core::graph::{Copies, Lowering, MAX_BYTES};

/// The grain of RAID 1 where none is given.
const MIRROR_UNIT: Bytes = Bytes(64 * 1024);

/// Several devices that answer as one: striped, mirrored, or protected by parity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    /// RAID level: how data is distributed over the disks.
    pub level: Level,
    /// Its disks: copies of a part, by name or written in place, or a list of components of `system`.
    pub of: Copies,
    /// Number of disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub disks: Option<u32>,
    /// Number of consecutive bytes on one disk before the next disk follows. Required except for RAID 1, which does not stripe:
    /// there it is the granularity in which copies are tracked and rebuilt, 64 KiB by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_unit: Option<Bytes>,
    /// Overlap of consecutive requests.
    #[serde(default)]
    pub queueing: Queueing,
    /// Disk on which a request starts. RAID 0 only.
    #[serde(default)]
    pub first_unit: FirstUnit,
    /// Placement of parity. Only for levels that rotate parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Policy that selects the copy to read. Mirrors only. Default: `round_robin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_from: Option<ReadFrom>,
    /// Time after which a read that is not answered is sent again, to other disks than those that are late: to another copy, or to those that the
    /// data can be computed from. The first answer counts; the other still takes its disks' time. Redundant levels only. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Nanos>,
    /// Eviction of a member that takes longer than the others for a while but has not failed: a spare takes its place where there is one.
    /// Redundant levels only. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evict_slow: Option<EvictSlowSpec>,
    /// Failed disks, numbered from 0: the array runs degraded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u32>,
    /// Server that an array of listed components belongs to; it sends requests to each component through the
    /// fabric. A server other than that of the stream acts as a virtualisation engine. Default: the
    /// components are attached directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Number of hot spares: additional copies of the part, or the last of the listed components.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 1_000))]
    pub spares: u32,
    /// Declustering: stripes narrower than the array, spread over all disks. RAID 5, 6 and erasure codes
    /// only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declustered: Option<DeclusteredSpec>,
    /// Rebuild of lost or outdated data of a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildSpec>,
    /// Scrub of all data, once. Redundant levels only. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubSpec>,
    /// Path between the array and its disks: a `link`, `fc_loop`, `scsi_bus` or `sas` of `system`, or several,
    /// used in turn. Default: transfers take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// One or two controllers of `system` that run the array. Default: none; controller work takes no time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<String>,
    /// Sharing of requests by two controllers.
    #[serde(default)]
    pub access: Access,
    /// Write-intent bitmap, as Linux md has it: writes to a region not marked wait until its mark is on all disks. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<BitmapSpec>,
    /// Number of rows of 4 KiB (a page of each disk) in which writes can be in progress at a time: the stripe cache of Linux
    /// md, whose `stripe_cache_size` is 256 by default. Further writes wait. Levels with parity only. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32_768))]
    pub stripe_cache: Option<u32>,
    /// Cache of its own, in each of its controllers. Default: the `cache` of its controllers, shared with their
    /// other arrays; none where they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<ArrayCacheSpec>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The path from an array to its disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Via {
    /// One path by its name in `system`.
    One(String),
    /// Several paths to all disks.
    Several(Vec<String>),
}

impl Via {
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// RAID level: how data is distributed over the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Striped, without redundancy.
    Raid0,
    /// Mirrored: every disk holds the same data.
    Raid1,
    /// Striped over mirrored pairs.
    Raid10,
    /// Two mirrored striped sides; a side with a failed disk is out of use.
    Raid01,
    /// One dedicated parity disk.
    Raid4,
    /// One parity unit per stripe, rotated over the disks.
    Raid5,
    /// Two parity units per stripe, rotated over the disks.
    Raid6,
    /// Any number of parity units per stripe, rotated over the disks.
    Erasure {
        /// Number of parity units, which is the number of disks that can fail without loss.
        #[schemars(range(min = 1, max = 255))]
        parity: u32,
    },
}

/// Overlap of consecutive requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// A queue per disk: a disk proceeds to the next request while others still work on this one.
    #[default]
    ForkJoin,
    /// One queue in front of the array: the next request starts when every part of this one has finished.
    SplitMerge,
}

/// Disk on which a request starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FirstUnit {
    /// The disk that holds its address.
    #[default]
    Addressed,
    /// The first disk, whatever the address, as in the split-merge paper (Eq. 1: block j is on disk j mod n).
    FirstDisk,
}

/// Policy that selects the copy to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadFrom {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// The disk with the fewest accesses in flight.
    ShortestQueue,
    /// The disk whose last access ended nearest.
    Nearest,
}

impl Level {
    /// Its name in documents.
    pub fn name(self) -> String {
        match self {
            Self::Raid0 => "raid0".to_owned(),
            Self::Raid1 => "raid1".to_owned(),
            Self::Raid10 => "raid10".to_owned(),
            Self::Raid01 => "raid01".to_owned(),
            Self::Raid4 => "raid4".to_owned(),
            Self::Raid5 => "raid5".to_owned(),
            Self::Raid6 => "raid6".to_owned(),
            Self::Erasure { parity } => format!("erasure with {parity} of parity"),
        }
    }

    /// Returns the minimum number of disks, and the number of which it must be a multiple.
    pub(super) fn needs(self) -> (u64, u64) {
        match self {
            Self::Raid0 => (1, 1),
            Self::Raid1 => (2, 1),
            Self::Raid10 => (2, 2),
            Self::Raid01 => (4, 2),
            Self::Raid4 | Self::Raid5 => (3, 1),
            Self::Raid6 => (4, 1),
            Self::Erasure { parity } => (u64::from(parity) + 1, 1),
        }
    }

    pub(super) const fn redundant(self) -> Option<u64> {
        match self {
            Self::Raid4 | Self::Raid5 => Some(1),
            Self::Raid6 => Some(2),
            Self::Erasure { parity } => Some(parity as u64),
            Self::Raid0 | Self::Raid1 | Self::Raid10 | Self::Raid01 => None,
        }
    }

    pub(super) const fn is_mirrored(self) -> bool {
        matches!(self, Self::Raid1 | Self::Raid10 | Self::Raid01)
    }
}

impl Spec for ArraySpec {
    type Plan = ArrayPlan;

    fn lower(&self, at: &mut Lowering) -> Option<ArrayPlan> {
        self.check_count(at)?;
        let mut uses = self.members(at)?;
        let each = self.check_disks(at, &uses)?;
        let disks = self.check_spares(at, uses.len() as u64)?;
        self.check_level(at, disks)?;
        self.check_declustered(at, disks)?;
        let layout = self.layout(disks);
        let failed = self.check_failed(at, &layout)?;
        self.check_bitmap(at)?;
        let distributed = self.check_rebuild(at, &layout)?;
        self.check_scrub(at)?;
        self.check_eviction(at)?;
        let capacity = layout.capacity(each);
        if capacity.0 == 0 {
            let message = "the disks are too small for one round of the declustered placement";
            return at.refuse(
                "declustered",
                message,
                Some("choose larger disks, or a smaller `declustered.row` or `stripe_unit`"),
            );
        }
        if capacity.0 > MAX_BYTES {
            let message = format!("it would hold {capacity}; at most 1 EiB can be addressed");
            return at.refuse("disks", message, None);
        }
        let paths = self.paths(at)?;
        let controllers = self.controllers(at)?;
        let cache = self.cache_plan(at, &controllers, &layout)?;
        let plan = ArrayPlan {
            level: self.level,
            layout,
            queueing: self.queueing,
            read_from: self.read_from.unwrap_or_default(),
            hedge: self.hedge,
            evict_slow: self.evict_slow,
            each,
            failed,
            spares: self.spares as usize,
            rebuild: self.rebuild.unwrap_or_default(),
            scrub: self.scrub,
            distributed,
            copies: !matches!(self.of, Copies::Shared(_)),
            paths: paths.len(),
            controllers: controllers.len(),
            access: self.access,
            bitmap: self.bitmap,
            stripe_cache: self.stripe_cache,
            cache,
        };
        uses.extend(paths);
        uses.extend(controllers);
        at.uses(uses);
        at.holds(capacity);
        Some(plan)
    }

    fn host(&self) -> Option<&str> {
        self.from.as_deref()
    }
}

impl ArraySpec {
    /// An array with the defaults of all that is optional.
    pub fn new(level: Level, of: Copies, disks: Option<u32>, stripe_unit: Bytes) -> Self {
        Self {
            level,
            of,
            disks,
            stripe_unit: Some(stripe_unit),
            queueing: Queueing::default(),
            first_unit: FirstUnit::default(),
            rotation: None,
            read_from: None,
            hedge: None,
            evict_slow: None,
            failed: Vec::new(),
            from: None,
            spares: 0,
            declustered: None,
            rebuild: None,
            scrub: None,
            via: None,
            controllers: Vec::new(),
            access: Access::default(),
            bitmap: None,
            stripe_cache: None,
            cache: None,
        }
    }

    /// Returns the nodes of its members, or of the routes to them.
    fn members(&self, at: &mut Lowering) -> Option<Vec<NodeId>> {
        let Some(from) = &self.from else {
            return match &self.of {
                Copies::Shared(names) => at.all_reached("of", names),
                of => at.copies::<Block>("of", of, self.disks.map(|disks| disks + self.spares)),
            };
        };
        let Copies::Shared(names) = &self.of else {
            let help = "list them: `of: [tds1, tds2]`, or leave `from` out";
            return at.refuse("from", "copies of a part stand at their array, not in a fabric", Some(help));
        };
        at.all_paths(names).iter().map(|name| at.route(("from", from), ("of", name))).collect()
    }

    /// Its stripe unit, or the default of RAID 1.
    pub(super) fn unit(&self) -> Bytes {
        self.stripe_unit.unwrap_or(MIRROR_UNIT)
    }

    fn layout(&self, disks: u64) -> ArrayLayout {
        let unit = self.unit().0;
        let stripes = |disks| Stripes { disks, unit, first_unit: self.first_unit };
        let mirror = |copies, pairing| {
            ArrayLayout::Mirrored(Mirror { columns: stripes(disks / copies), copies, pairing })
        };
        let width = self.declustered.map_or(disks, |declustered| u64::from(declustered.width));
        let parity = |rotation, redundant| {
            let placement = self.declustered.map_or(UnitPlacement::Rotated(rotation), |declustered| {
                let units = declustered.row.map_or(1, |row| row.0 / unit.max(1)).max(1);
                let placement = Declustered::new(disks, width, u64::from(declustered.spares));
                UnitPlacement::Declustered(placement.in_rows_of(units))
            });
            ArrayLayout::Parity(Parity {
                width,
                unit,
                redundant,
                placement,
                small_writes: SmallWrites::Cheaper,
            })
        };
        match self.level {
            Level::Raid0 => ArrayLayout::Striped(stripes(disks)),
            Level::Raid1 => mirror(disks, Pairing::Neighbours),
            Level::Raid10 => mirror(2, Pairing::Neighbours),
            Level::Raid01 => mirror(2, Pairing::Sides),
            Level::Raid4 => parity(Rotation::Fixed, 1),
            Level::Raid5 | Level::Raid6 | Level::Erasure { .. } => {
                parity(self.rotation.unwrap_or_default(), self.level.redundant().unwrap_or_default())
            }
        }
    }
}
