//! Specification of a tape library.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cells::Cells;
use super::device::{Tape, TapeDriveNumbers};
use super::failures::TapeFailures;
use super::load::LoadTime;
use super::locate::Locate;
use super::maintenance::{RepackSpec, VerifySpec};
use super::queue::DriveQueue;
use super::recall::Recall;
use super::shares::{DriveShare, ShareTable};
use super::streaming::Streaming;
use super::travel::Travel;
use crate::core::component::Spec;
use crate::core::device::DeviceRef;
use crate::core::graph::Lowering;

/// Cartridges in silos, and drives in groups. Each cartridge has a home silo, given by a log of sessions or else random, and is mounted in
/// a drive of the group that serves this silo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapeLibrarySpec {
    /// The groups of drives.
    #[schemars(length(min = 1))]
    pub groups: Vec<DriveGroup>,
    /// Tape drive of the catalogue, which sets `cartridge`, `drive_rate`, `load`, `first_load`, `locate`, `rewind`, `wraps` and `unload`
    /// as far as they are not given. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceRef<TapeDriveNumbers>>,
    /// Capacity of a cartridge. Files are appended; one that does not fit continues on the next cartridge. Default: that of `device`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cartridge: Option<Bytes>,
    /// Number of cartridges that hold files older than the log. Each such file is at a random position of a
    /// random cartridge.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub cartridges: u32,
    /// Maximum rate of one drive. Default: that of `device`, or the rate of its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_rate: Option<BytesPerSecond>,
    /// Time from insertion of a cartridge until the drive is ready: constant, or drawn from a law or from branches that were fitted to a
    /// log. Default: that of `device`, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadTime>,
    /// Time of the first load of a new cartridge: LTO-9 drives characterise it for 40 minutes on average. Default: that of `device`, or as
    /// any load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_load: Option<Nanos>,
    /// Locate time from one end of the tape to the other, measured times by distance, or a fit that knows wraps and bands. Default: that
    /// of `device`, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locate: Option<Locate>,
    /// Rewind time from the far end of the tape, or measured times by distance. Default: that of `device`, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Travel>,
    /// Number of wraps: passes from one end of the tape to the other by which a serpentine tape is filled, 208 for LTO-8. Data
    /// half-way through the capacity then lies anywhere along the tape. Default: that of `device`, or one, a linear tape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub wraps: Option<u32>,
    /// Back-hitches of a drive that is starved. Default: none; the tape moves at any rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<Streaming>,
    /// Time from rewound until the robot can remove the cartridge. Default: that of `device`, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unload: Option<Nanos>,
    /// Robot time to move a cartridge to or from a drive.
    #[serde(default, rename = "move")]
    pub robot_move: Nanos,
    /// Time that the library's software takes before an arm brings a cartridge to a drive. The arm is reserved meanwhile.
    #[serde(default)]
    pub prepare: Nanos,
    /// Cells of the cartridges, which arms travel to beside `move`. Default: `move` is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
    /// Number of drives of each group that are kept empty: once a cartridge was brought to one, another that is unused is dismounted, the
    /// one unused longest. A mount then need not wait for a dismount.
    #[serde(default)]
    #[schemars(range(max = 100_000))]
    pub free_drives: u32,
    /// Deferred dismount: how long an unused cartridge stays mounted. It is dismounted earlier if another
    /// needs the drive. Default: dismounted at once.
    #[serde(default)]
    pub hold: Nanos,
    /// Cleaning of drives. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleaning: Option<Cleaning>,
    /// Failures of drives, arms and cartridges by use, beside the `faults` of a scenario. Default: none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failures: TapeFailures,
    /// Order of recalls when a drive becomes free.
    #[serde(default)]
    pub recall: Recall,
    /// Which of the requests that wait gets a drive, where none is for its mounted cartridge.
    #[serde(default)]
    pub queue: DriveQueue,
    /// Shares of the drives by group of users: how many each may use at a time, and its priority or deadline. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<DriveShare>,
    /// Delay before an unmounted cartridge is requested, to collect further requests for it. One mount serves all of them; `recall` must
    /// not be `arrival`. Default: no delay.
    #[serde(default)]
    pub accumulate: Nanos,
    /// Number of recalls for the mounted cartridge that are put in order together, those that have waited longest first. Those that come
    /// meanwhile are for the next batch.
    #[serde(default = "list")]
    #[schemars(range(min = 1, max = 500))]
    pub batch: u32,
    /// After a batch, a recall for another cartridge that has waited longer than this gets the drive. Default: no limit; the cartridge stays
    /// as long as recalls for it wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_wait: Option<Nanos>,
    /// Repack: old cartridges are copied to new ones. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repack: Option<RepackSpec>,
    /// Verification of cartridges. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifySpec>,
    /// Time of an elevator or pass-through port between two groups. With it, a cartridge whose own group has no free drive goes to the
    /// nearest group (in the order of the list) that has one; arms of both groups move it. Default: cartridges stay in their group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_through: Option<Nanos>,
}

/// Cleaning of drives: once its cartridge is put away, an arm brings a drive that is due a cleaning cartridge, and takes it away afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cleaning {
    /// Number of mounts after which a drive is cleaned. The simulator of ECMWF's library has 123, a median of its log.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub mounts: u32,
    /// Time of a cleaning; 340 s there.
    pub time: Nanos,
}

/// Drives that share one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveGroup {
    /// Number of drives.
    #[schemars(range(min = 1, max = 100_000))]
    pub drives: u32,
    /// Tape drive of the catalogue, where this group has others than the library: its numbers are those of the drives and of the cartridges
    /// in their silos. A cartridge goes to drives of another group only if they read its format, or write it. Default: the library's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceRef<TapeDriveNumbers>>,
    /// Number of these reserved for reading. Some drive must be left to write the cartridges of each group.
    #[serde(default)]
    pub for_reads: u32,
    /// Number of these reserved for writing. Some drive must be left to read the cartridges of each group.
    #[serde(default)]
    pub for_writes: u32,
    /// Rate that they share: that of their chain or network. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Number of silos that they serve.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub silos: u32,
    /// Number of robot arms.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub arms: u32,
}

/// More than drives transfer, in bytes a second.
pub(super) const UNLIMITED: BytesPerSecond = BytesPerSecond(1e18);

const fn one() -> u32 {
    1
}

const fn thousand() -> u32 {
    1000
}

fn is_none(failures: &TapeFailures) -> bool {
    *failures == TapeFailures::default()
}

/// As many files as CTA asks for at once (`BulkRequestRecallMaxFiles`).
const fn list() -> u32 {
    500
}

impl TapeLibrarySpec {
    /// Refuses an order of requests that cannot be kept.
    fn check_order(&self, at: &mut Lowering) -> Option<()> {
        if self.queue == DriveQueue::Deadline && self.shares.iter().all(|share| share.within.is_none()) {
            let message = "requests are served by deadline, and none has one";
            return at.refuse("queue", message, Some("give a share `within`: `shares: [{within: 4 h}]`"));
        }
        if self.queue == DriveQueue::Aged(Nanos::ZERO) {
            return at.refuse(
                "queue",
                "a wait of no time counts as a level of priority",
                Some("give a time above 0 s"),
            );
        }
        if self.accumulate > Nanos::ZERO && self.recall == Recall::Arrival {
            let message = "requests that accumulate for a cartridge are served by one mount only if they are served together";
            return at.refuse("accumulate", message, Some("set `recall: by_cartridge`"));
        }
        if self.longest_wait.is_some() && self.recall == Recall::Arrival {
            let message =
                "recalls are served in order of arrival: none for the mounted cartridge goes before others";
            return at.refuse("longest_wait", message, Some("set `recall: by_cartridge`, or remove it"));
        }
        Some(())
    }

    /// Refuses groups of drives whose cartridges cannot be read or written.
    fn check_groups(&self, at: &mut Lowering) -> Option<()> {
        if self.groups.iter().any(|group| group.for_reads.saturating_add(group.for_writes) > group.drives) {
            let message = "more drives of a group are reserved for reads and writes than it has";
            return at.refuse(
                "groups",
                message,
                Some("lower `for_reads` or `for_writes`, or raise `drives`"),
            );
        }
        if let Some(problem) = self.unusable() {
            let help = "leave a drive that does both, reserve fewer, or set `pass_through`";
            return at.refuse("groups", problem, Some(help));
        }
        Some(())
    }
}

impl TapeLibrarySpec {
    /// Refuses fields of drives and cartridges that no group uses, because each has a device of its own.
    fn check_devices(&self, at: &mut Lowering) -> Option<()> {
        let unused = [
            ("device", self.device.is_some()),
            ("cartridge", self.cartridge.is_some()),
            ("drive_rate", self.drive_rate.is_some()),
            ("load", self.load.is_some()),
            ("first_load", self.first_load.is_some()),
            ("locate", self.locate.is_some()),
            ("rewind", self.rewind.is_some()),
            ("wraps", self.wraps.is_some()),
            ("unload", self.unload.is_some()),
        ];
        let first = unused.into_iter().find(|(_, is_set)| *is_set);
        match first.filter(|_| self.groups.iter().all(|group| group.device.is_some())) {
            None => Some(()),
            Some((field, _)) => {
                let message = format!("`{field}` is not used: each group has a `device` of its own");
                let help = "remove it, or give the library the `device`, whose numbers its fields override";
                at.refuse(field, message, Some(help))
            }
        }
    }
}

impl Spec for TapeLibrarySpec {
    type Plan = TapeLibraryPlan;

    fn lower(&self, at: &mut Lowering) -> Option<TapeLibraryPlan> {
        let rates = self.groups.iter().map(|group| group.rate).chain([self.drive_rate]).flatten();
        if rates.into_iter().any(|rate| rate.get() <= 0.0) {
            return at.refuse("groups", "the rate of a group of drives must be above zero", None);
        }
        if self.cartridge.is_some_and(|cartridge| cartridge.0 == 0) {
            return at.refuse("cartridge", "the capacity of a cartridge must be above zero", None);
        }
        let fields = [
            ("load", self.load.as_ref().and_then(LoadTime::problem)),
            ("locate", self.locate.as_ref().and_then(Locate::problem)),
            ("rewind", self.rewind.as_ref().and_then(Travel::problem)),
            ("cells", self.cells.as_ref().and_then(Cells::problem)),
            ("failures", self.failures.problem()),
            ("shares", DriveShare::problem(&self.shares)),
            ("repack", self.repack.as_ref().and_then(|repack| repack.problem(self))),
            ("verify", self.verify.as_ref().and_then(|verify| verify.problem(self))),
        ];
        if let Some(invalid) = fields.into_iter().find_map(|(field, invalid)| Some(invalid?.within(field))) {
            return at.invalid(invalid);
        }
        if let Some(streaming) = self.streaming {
            let message = "a drive streams at `min_rate` above zero, at most `drive_rate`, from a buffer of at least one byte";
            let most = self.drive_rate.map_or(f64::INFINITY, BytesPerSecond::get);
            if streaming.min_rate.get() <= 0.0 || streaming.min_rate.get() > most || streaming.buffer.0 == 0 {
                return at.refuse("streaming", message, None);
            }
        }
        self.check_order(at)?;
        self.check_groups(at)?;
        self.check_devices(at)?;
        let tapes: Vec<Tape> =
            self.groups.iter().map(|group| Tape::of(self, group, at)).collect::<Option<_>>()?;
        if let Some(invalid) = self.repack.as_ref().and_then(|repack| repack.lacks_drives(self, &tapes)) {
            return at.invalid(invalid.within("repack"));
        }
        let plan = TapeLibraryPlan { spec: self.clone(), tapes, shares: ShareTable::of(&self.shares) };
        Some(plan)
    }
}

/// A library whose drives and cartridges are known.
#[derive(Clone, Debug)]
pub struct TapeLibraryPlan {
    /// What the document says.
    pub spec: TapeLibrarySpec,
    /// The drives and cartridges of each group.
    pub tapes: Vec<Tape>,
    pub(super) shares: ShareTable,
}

impl TapeLibrarySpec {
    /// The first group whose cartridges no drive may read, or write: those of other groups can only where cartridges pass to them.
    fn unusable(&self) -> Option<String> {
        let group_without = |act: &str, others: &dyn Fn(&DriveGroup) -> u32| {
            let mut cannot = self.groups.iter().map(|group| others(group) >= group.drives);
            let group = match self.pass_through {
                None => cannot.position(|cannot| cannot),
                Some(_) => cannot.all(|cannot| cannot).then_some(0),
            };
            group.map(|group| format!("no drive may {act} the cartridges of `groups[{group}]`"))
        };
        group_without("read", &|group| group.for_writes)
            .or_else(|| group_without("write", &|group| group.for_reads))
    }

    /// Number of silos of all groups.
    pub fn all_silos(&self) -> u32 {
        self.groups.iter().map(|group| group.silos).sum()
    }
}
