//! A log-structured merge tree as it is written.

use std::iter::{once, successors};

use headrace_units::{Bytes, BytesPerSecond, Fraction};
use headrace_work::{Invalid, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LsmTreePlan;
use super::levels::{Rooms, Shape};
use crate::core::component::Spec;
use crate::core::graph::Lowering;

/// A store of keys and values as a log-structured merge tree with leveled compaction, such as RocksDB, whose defaults it has. A write is a
/// put of a value of a key, uniform over all keys, at whatever address; a read is a get. Puts gather in memtables, which become tables of level
/// 0; compactions merge tables into the next level. Puts are slowed down, and stopped, where compactions fall behind. Filters and indexes
/// are in memory and never wrong: a get reads one table, unless a memtable has its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LsmTreeSpec {
    /// Component that holds the tables. It needs room for all levels, and for as much again as `keys`.
    pub to: String,
    /// First byte of the tables there. Default: 0.
    #[serde(default)]
    pub at: Bytes,
    /// Component to which each put is written first, one after another: a `write_ahead_log`, or a device. Default: puts are not logged, and
    /// a flush waits until all memtables are tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Faster component for the first levels: `db_paths`, BlueStore's `block.db`. Default: all tables are on `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast: Option<FastSpec>,
    /// Size of all keys and values.
    pub keys: Bytes,
    /// Share of them that is stored when the run begins, in levels as large as they may be, as after many overwrites: each key may be in several.
    /// Default: all.
    #[serde(default = "all")]
    pub written: Fraction,
    /// Size of a memtable: RocksDB's `write_buffer_size`. Default: 64 MiB.
    #[serde(default = "mib::<64>")]
    pub memtable: Bytes,
    /// Number of memtables, the one that is written to included; puts stop when all are full: `max_write_buffer_number`. Default: 2.
    #[serde(default = "two")]
    #[schemars(range(min = 2, max = 1000))]
    pub memtables: u32,
    /// Size of a table: `target_file_size_base`. Default: 64 MiB.
    #[serde(default = "mib::<64>")]
    pub table: Bytes,
    /// Size of level 1: `max_bytes_for_level_base`. Levels are as large as the next one divided by `fan_out`, down to one that is no larger
    /// than this: `level_compaction_dynamic_level_bytes`. With `fast`, level 1 has this size and each other the one before times `fan_out`, up
    /// to `keys`: with several paths RocksDB has no dynamic levels. Default: 256 MiB.
    #[serde(default = "mib::<256>")]
    pub level1: Bytes,
    /// How many times as large as the level before a level is: `max_bytes_for_level_multiplier`. Default: 10.
    #[serde(default = "ten")]
    #[schemars(range(min = 2, max = 100))]
    pub fan_out: u32,
    /// Numbers of tables in level 0 that matter.
    #[serde(default)]
    pub level0: Level0Spec,
    /// Bytes that compactions have yet to move.
    #[serde(default)]
    pub debt: DebtSpec,
    /// Rate of all puts together while they are slowed down: `delayed_write_rate`. Default: 16 MiB/s.
    #[serde(default = "delayed_rate")]
    pub slow_rate: BytesPerSecond,
    /// Number of compactions at once: `max_background_jobs`, less one for flushes. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 256))]
    pub compactions: u32,
    /// Processor's rate of one compaction, in bytes read. Default: no limit; it takes as long as its reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_rate: Option<BytesPerSecond>,
    /// Size of reads and writes of compactions and flushes: `compaction_readahead_size`. Default: 2 MiB.
    #[serde(default = "mib::<2>")]
    pub request: Bytes,
    /// Size of blocks, the unit of gets. Default: 4 KiB.
    #[serde(default = "four_kib")]
    pub block: Bytes,
}

/// A faster component for the first levels of a store. Level 0 belongs there, and as many others as fit together when each is as large as it may
/// be, and level 0 as large as level 1, which is RocksDB's rule for `db_paths`. A table that finds no room there goes to `to`, as in BlueFS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FastSpec {
    /// Component that holds these tables.
    pub to: String,
    /// First byte of the tables there. Default: 0.
    #[serde(default)]
    pub at: Bytes,
    /// Space for tables there.
    pub size: Bytes,
}

/// Numbers of tables in level 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Level0Spec {
    /// From which on they are compacted: `level0_file_num_compaction_trigger`. Default: 4.
    #[schemars(range(min = 1, max = 10_000))]
    pub compact_at: u32,
    /// From which on puts are slowed down: `level0_slowdown_writes_trigger`. Default: 20.
    #[schemars(range(min = 1, max = 10_000))]
    pub slow_at: u32,
    /// From which on puts stop: `level0_stop_writes_trigger`. Default: 36.
    #[schemars(range(min = 1, max = 10_000))]
    pub stop_at: u32,
}

/// Sizes of what compactions have yet to move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DebtSpec {
    /// From which on puts are slowed down: `soft_pending_compaction_bytes_limit`. Default: 64 GiB.
    pub slow_at: Bytes,
    /// From which on puts stop: `hard_pending_compaction_bytes_limit`. Default: 256 GiB.
    pub stop_at: Bytes,
}

impl Default for Level0Spec {
    fn default() -> Self {
        Self { compact_at: 4, slow_at: 20, stop_at: 36 }
    }
}

impl Default for DebtSpec {
    fn default() -> Self {
        Self { slow_at: Bytes(64 << 30), stop_at: Bytes(256 << 30) }
    }
}

/// The most tables that a store may have: each step of a compaction looks at a level's.
const MOST_TABLES: u64 = 200_000;

/// The most reads that a compaction may have: all of them are put in order at once.
const MOST_PIECES: u64 = 1_000_000;

impl Spec for LsmTreeSpec {
    type Plan = LsmTreePlan;

    fn lower(&self, at: &mut Lowering) -> Option<LsmTreePlan> {
        let target = at.reached("to", &self.to)?;
        let log = match &self.log {
            Some(log) => Some(at.reached("log", log)?),
            None => None,
        };
        let fast = match &self.fast {
            Some(fast) => Some(fast.lower(at, target)?),
            None => None,
        };
        if let Some(invalid) = self.problem() {
            return at.invalid(invalid);
        }
        let (room, needed) = (at.capacity(target).0.saturating_sub(self.at.0), self.room());
        if room < needed {
            let (room, needed) = (Bytes(room), Bytes(needed));
            let message =
                format!("this store needs up to {needed}, and `{}` has {room} from there on", self.to);
            let help = "that is all levels, `keys` again for compactions, and level 0 twice; give fewer keys, or a larger component";
            return at.refuse("keys", message, Some(help));
        }
        let plan = LsmTreePlan {
            spec: self.clone(),
            shape: self.shape(),
            log: log.map_or(0, |log| at.capacity(log).0),
        };
        let uses = [Some(target), log, fast].into_iter().flatten().collect();
        at.uses(uses);
        at.holds(self.keys);
        Some(plan)
    }
}

impl FastSpec {
    /// Finds the component, which must be another than that of all tables, and have the space that is asked for.
    fn lower(&self, at: &mut Lowering, of_all: NodeId) -> Option<NodeId> {
        let target = at.reached("fast.to", &self.to)?;
        if target == of_all {
            let message = format!("`{}` holds the other tables already", self.to);
            return at.refuse("fast.to", message, Some("name a faster component"));
        }
        let room = Bytes(at.capacity(target).0.saturating_sub(self.at.0));
        if room < self.size {
            let message = format!("{} are asked for, and `{}` has {room} from there on", self.size, self.to);
            return at.refuse("fast.size", message, None);
        }
        Some(target)
    }
}

impl LsmTreeSpec {
    /// Returns the field at fault, and why.
    fn problem(&self) -> Option<Invalid> {
        let sizes = [("keys", self.keys), ("memtable", self.memtable), ("table", self.table)];
        let more = [("level1", self.level1), ("request", self.request), ("block", self.block)];
        let small = sizes.into_iter().chain(more).find(|(_, size)| size.0 < 512);
        let level0 = &self.level0;
        match small {
            Some((field, size)) => Some(Invalid::new(field, format!("must be at least 512 B, not {size}"))),
            None if level0.slow_at < level0.compact_at || level0.stop_at < level0.slow_at => {
                Some(Invalid::new("level0", "needs `compact_at` ≤ `slow_at` ≤ `stop_at`"))
            }
            None if self.pieces() > MOST_PIECES => {
                let message =
                    format!("a compaction has up to {} of them, and {MOST_PIECES} may be", self.pieces());
                Some(Invalid::new("request", message))
            }
            None if self.debt.stop_at < self.debt.slow_at => {
                Some(Invalid::new("debt", "needs `slow_at` ≤ `stop_at`"))
            }
            None if self.slots() > MOST_TABLES => Some(Invalid::new(
                "table",
                format!("{} tables, and as many as {MOST_TABLES} may be", self.slots()),
            )),
            None => None,
        }
    }

    /// Reads of the largest compaction, of level 0 and level 1.
    fn pieces(&self) -> u64 {
        let level0 = (u64::from(self.level0.stop_at) + u64::from(self.memtables)).saturating_mul(self.slot());
        level0.saturating_add(self.targets()[0]) / self.request.0
    }

    /// Room for one table, also for one of level 0.
    fn slot(&self) -> u64 {
        self.table.0.max(self.memtable.0).next_multiple_of(self.block.0)
    }

    /// Room for the tables of all levels, and for those that compactions make of them. Tables may be half empty.
    fn room(&self) -> u64 {
        self.slots().saturating_mul(self.slot())
    }

    /// Number of tables that there may be at once.
    fn slots(&self) -> u64 {
        let tables = |bytes: u64| bytes.div_ceil(self.table.0);
        let level0 = u64::from(self.level0.stop_at) + u64::from(self.memtables);
        let levels: u64 = self.targets().into_iter().map(tables).sum();
        levels + tables(self.keys.0) + level0 * (1 + tables(self.slot()))
    }

    /// Sizes of levels from level 1 on.
    fn targets(&self) -> Vec<u64> {
        if self.fast.is_some() {
            let next = |size: &u64| {
                (*size < self.keys.0).then(|| size.saturating_mul(self.fan_out.into()).min(self.keys.0))
            };
            return successors(Some(self.level1.0.min(self.keys.0)), next).collect();
        }
        let mut targets = vec![self.keys.0];
        while targets[0] > self.level1.0 {
            targets.insert(0, (targets[0] / u64::from(self.fan_out)).max(1));
        }
        targets
    }

    /// Number of levels, with level 0, that belong on the fast component. RocksDB looks at how large the last one may become, not at how large
    /// it is.
    fn fast_levels(&self) -> usize {
        let Some(fast) = &self.fast else { return 0 };
        let mut left = fast.size.0;
        let fits = |size: &u64| left.checked_sub(*size).map(|rest| left = rest).is_some();
        self.may_become().take_while(fits).count().max(1)
    }

    /// How large each level may become, from level 0 on, as RocksDB places them.
    fn may_become(&self) -> impl Iterator<Item = u64> {
        let fan_out = u64::from(self.fan_out);
        let sizes = successors(Some(self.level1.0), move |size| Some(size.saturating_mul(fan_out)));
        once(self.level1.0).chain(sizes).take(self.targets().len() + 1)
    }

    /// Returns what is on the fast component, if the store has one and not all levels are there.
    pub fn partly_fast(&self) -> Option<String> {
        let (fast, levels) = (self.fast.as_ref()?, self.fast_levels());
        let next = Bytes(self.may_become().nth(levels)?);
        let used = Bytes(self.may_become().take(levels).sum());
        let (there, size) = (&fast.to, fast.size);
        let held = match levels {
            1 => format!("level 0 alone is on `{there}`, with {size} for tables"),
            _ => format!(
                "levels 0 to {} are on `{there}`, with up to {used} of the {size} for tables",
                levels - 1
            ),
        };
        Some(format!("{held}; level {levels} may become {next}, and is on `{}`", self.to))
    }

    fn shape(&self) -> Shape {
        let fast = self.fast.as_ref();
        Shape {
            keys: self.keys.0,
            written: self.written.0,
            table: self.table.0,
            slot: self.slot(),
            main: Rooms { first: self.at.0, many: self.slots() as u32 },
            fast: fast.map_or(Rooms::default(), |fast| Rooms {
                first: fast.at.0,
                many: (fast.size.0 / self.slot()).min(self.slots()) as u32,
            }),
            fast_levels: self.fast_levels(),
            compact_at: self.level0.compact_at as usize,
            targets: self.targets(),
        }
    }
}

const fn mib<const N: u64>() -> Bytes {
    Bytes(N << 20)
}

const fn four_kib() -> Bytes {
    Bytes(4096)
}

const fn all() -> Fraction {
    Fraction(1.0)
}

const fn delayed_rate() -> BytesPerSecond {
    BytesPerSecond((16 << 20) as f64)
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn ten() -> u32 {
    10
}
