//! Specification and plan of an archive.

use headrace_units::{Bytes, Fraction, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::PoolContents;
use super::copies::CopyChoice;
use super::purge::VARIABLES;
use super::tape_pools::{MOST_POOLS, PoolTable, TapePoolSpec};
use crate::core::component::{Spec, Theory};
use crate::core::graph::{Lowering, View};
use crate::core::theory::Load;
use headrace_expression::Expression;
use headrace_work::NodeId;

/// A disk pool in front of a tape library. Takes streams of file operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSpec {
    /// Name of the front. Default: no limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<String>,
    /// Name of the network between clients, pool and tape. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Name of the disk pool.
    pub pool: String,
    /// A disk pool of its own for recalls (a retrieve buffer); `pool` is then for files that are put (an archive buffer). Default: `pool` is
    /// for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalls: Option<RecallPoolSpec>,
    /// Lifetime of a pin: how long a file that was staged stays in its pool, whatever a purge wants, unless it is cancelled or deleted.
    /// Default: 0 s.
    #[serde(default)]
    pub pin: Nanos,
    /// Contents of the pool when a run begins, beside the files of the log: of that for recalls, if there are two. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<PoolContents>,
    /// Name of the tape library. Default: none; files are kept only in the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Migration to tape. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrate: Option<MigrateSpec>,
    /// Purge policy: which files leave `pool`, and when. Default: nothing is purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<PurgeSpec>,
}

/// A disk pool for recalls. A file lies in one pool: a get of one that is still where it was put needs no recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallPoolSpec {
    /// Name of the disk pool.
    pub pool: String,
    /// Purge policy of this pool. Default: nothing is purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<PurgeSpec>,
}

/// Migration to tape: streams that sleep, list the files that are due, and copy one after another until none is left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MigrateSpec {
    /// Sleep time after a list is finished; above 0 s.
    pub every: Nanos,
    /// Minimum time in the pool.
    #[serde(default)]
    pub min_age: Nanos,
    /// Order in which a list is copied.
    #[serde(default)]
    pub order: MigrateOrder,
    /// Maximum number of streams. Each writes to a cartridge of its own, in a drive of its own. A file is written by one stream.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub streams: u32,
    /// Tape pools: cartridges of their own for the files of some users, and copies. Default: one pool for all files, with `streams`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_POOLS))]
    pub pools: Vec<TapePoolSpec>,
    /// Which copy of a file is read, where several pools take it.
    #[serde(default)]
    pub read: CopyChoice,
    /// What must wait for tape before a stream asks for a drive. Default: any file that is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<MountRule>,
    /// How often a drive writes out its buffer. Default: never; tape marks take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<FlushSpec>,
}

/// A rule for mounts: one of its conditions suffices. It is looked at when a list is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MountRule {
    /// Bytes that are due, for each stream that writes and one more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Number of files that are due, for each stream that writes and one more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub files: Option<u64>,
    /// Time in the pool of the oldest file that is due, while no stream writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<Nanos>,
}

/// A flush: the drive writes its buffer to tape, with a tape mark, before it takes more. Files are on tape from then on, and tape marks between
/// two flushes are buffered. A stream also flushes at the end of a cartridge, and when no file is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlushSpec {
    /// Time of a flush: the back-hitch that it causes, and the rest of the buffer.
    pub time: Nanos,
    /// Number of bytes after which a flush follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Number of files after which a flush follows. Default: one, where `bytes` is not given either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub files: Option<u64>,
}

pub(super) const fn one() -> u32 {
    1
}

impl FlushSpec {
    /// Returns true if a drive that has taken this much since the last flush writes it out.
    pub(super) fn is_due(self, files: u64, bytes: u64) -> bool {
        let at_files = self.files.or(self.bytes.is_none().then_some(1));
        at_files.is_some_and(|most| files >= most) || self.bytes.is_some_and(|most| bytes >= most.0)
    }
}

/// Order in which files are copied to tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MigrateOrder {
    /// By volume: all streams read one of them, and then the next.
    ByVolume,
    /// Longest time in the pool first.
    #[default]
    Oldest,
    /// Smallest first.
    Smallest,
    /// Largest first.
    Largest,
}

/// Purge: freeing pool space of files that are on tape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeSpec {
    /// Weight of a file, an expression; the file with the largest weight is purged first, and among equals the least
    /// recently used. Variables: `size_mb` (10⁶ B), `hours_since_access`, `hours_on_disk` and `accesses`. Example: `ceil(size_mb) *
    /// ceil(hours_since_access) ** 1.5`.
    pub weight: String,
    /// A purge starts when this share of the pool is in use.
    pub high: Fraction,
    /// Share of the pool in use below which a purge stops.
    pub low: Fraction,
    /// Minimum time since the last access.
    #[serde(default)]
    pub min_age: Nanos,
}

/// An archive with names looked up.
#[derive(Clone, Debug)]
pub struct ArchivePlan {
    has_library: bool,
    pub(super) migrate: Option<MigrateSpec>,
    pub(super) pools: PoolTable,
    pub(super) contents: Option<PoolContents>,
    /// Of each disk pool.
    pub(super) purges: Vec<Option<(PurgeSpec, Expression)>>,
    pub(super) pin: Nanos,
}

impl Spec for ArchiveSpec {
    type Plan = ArchivePlan;

    fn lower(&self, at: &mut Lowering) -> Option<ArchivePlan> {
        let pools = self.disk_pools(at);
        let capacity = |pool: &Option<NodeId>| pool.map_or(Bytes(0), |pool| at.capacity(pool));
        let capacities: Vec<Bytes> = pools.iter().map(capacity).collect();
        let optional = [
            ("front", &self.front, "front"),
            ("network", &self.network, "network"),
            ("library", &self.library, "tape_library"),
        ];
        let mut uses = pools;
        for (field, name, kind) in optional {
            uses.extend(name.as_ref().map(|name| at.shared_of_kind(field, name, kind)));
        }
        let purges = self.purges(at);
        if self.migrate.is_some() && self.library.is_none() {
            return at.refuse("migrate", "files are stored to tape, and the archive has no `library`", None);
        }
        if let Some(invalid) = self.migrate.as_ref().and_then(MigrateSpec::problem) {
            return at.invalid(invalid.within("migrate"));
        }
        if self.contents.is_some() && self.library.is_none() {
            return at.refuse(
                "contents",
                "these files are on tape too, and the archive has no `library`",
                None,
            );
        }
        if let Some(invalid) =
            self.contents.and_then(|contents| contents.problem(capacities[capacities.len() - 1]))
        {
            return at.invalid(invalid.within("contents"));
        }
        if self.pin > Nanos::ZERO && self.recalled_by().1.is_none() {
            return at.refuse(
                "pin",
                "a pin keeps files from a purge, and nothing is purged",
                Some("remove `pin`"),
            );
        }
        let pools = self.migrate.as_ref().map(|migrate| self.pools(migrate, &mut uses, at));
        let plan = ArchivePlan {
            has_library: self.library.is_some(),
            migrate: self.migrate.clone(),
            pools: pools.unwrap_or_default(),
            contents: self.contents,
            purges: purges?,
            pin: self.pin,
        };
        at.uses(uses.into_iter().collect::<Option<_>>()?);
        // A file that is put may be recalled: it fits into both.
        at.holds(capacities.into_iter().min().unwrap_or_default());
        Some(plan)
    }
}

impl ArchiveSpec {
    /// Returns the name of the disk pool that recalls go to, and its purge policy.
    fn recalled_by(&self) -> (&str, Option<&PurgeSpec>) {
        let own = self.recalls.as_ref().map(|recalls| (recalls.pool.as_str(), recalls.purge.as_ref()));
        own.unwrap_or((&self.pool, self.purge.as_ref()))
    }

    /// Looks up the disk pools: that for puts, then that for recalls where it is another.
    fn disk_pools(&self, at: &mut Lowering) -> Vec<Option<NodeId>> {
        let mut pools = vec![at.shared_of_kind("pool", &self.pool, "disk_pool")];
        if let Some(recalls) = &self.recalls {
            pools.push(if recalls.pool == self.pool {
                let message = format!("`{}` is the pool for puts too", self.pool);
                at.refuse("recalls.pool", message, Some("name another disk pool, or remove `recalls`"))
            } else {
                at.shared_of_kind("recalls.pool", &recalls.pool, "disk_pool")
            });
        }
        pools
    }

    /// Reads the purge policies of the disk pools.
    fn purges(&self, at: &mut Lowering) -> Option<Vec<Option<(PurgeSpec, Expression)>>> {
        let mut read = |purge: &Option<PurgeSpec>, field: &str| match purge {
            Some(purge) => purge.lower(field, at).map(Some),
            None => Some(None),
        };
        let puts = read(&self.purge, "purge")?;
        let recalls = self.recalls.as_ref().map(|recalls| read(&recalls.purge, "recalls.purge"));
        [Some(puts)].into_iter().chain(recalls).collect()
    }

    /// Looks up the libraries of tape pools that are not that of the archive.
    fn pools(&self, migrate: &MigrateSpec, uses: &mut Vec<Option<NodeId>>, at: &mut Lowering) -> PoolTable {
        let mut names: Vec<&str> = self.library.as_deref().into_iter().collect();
        let mut of_pools = Vec::new();
        for pool in &migrate.pools {
            let name = pool.library.as_deref().unwrap_or(names[0]);
            let known = names.iter().position(|known| *known == name);
            of_pools.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(name);
                uses.push(at.shared_of_kind("migrate.pools", name, "tape_library"));
            }
        }
        PoolTable::of(migrate, if of_pools.is_empty() { &[0] } else { &of_pools })
    }
}

#[cfg(test)]
impl MigrateSpec {
    /// A migration that looks for files this often, with all defaults.
    pub(super) fn every(every: Nanos) -> Self {
        let (order, min_age) = (MigrateOrder::default(), Nanos::ZERO);
        let (pools, read) = (Vec::new(), CopyChoice::default());
        Self { every, min_age, order, streams: one(), pools, read, mount: None, flush: None }
    }
}

impl PurgeSpec {
    fn lower(&self, field: &str, at: &mut Lowering) -> Option<(Self, Expression)> {
        if self.low > self.high {
            let message = format!("`low` ({}) must not be above `high` ({})", self.low, self.high);
            return at.refuse(&format!("{field}.low"), message, None);
        }
        match Expression::parse(&self.weight, &VARIABLES) {
            Ok(weight) => Some((self.clone(), weight)),
            Err(error) => at.refuse(&format!("{field}.weight"), error.to_string(), None),
        }
    }
}

impl Theory for ArchivePlan {
    fn note(&self, view: View, load: &Load) -> Option<String> {
        view.uses().find_map(|used| used.note(load))
    }
}

impl ArchivePlan {
    /// Returns true if files can lie on tape.
    pub fn has_library(&self) -> bool {
        self.has_library
    }
}
