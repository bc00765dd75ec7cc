//! Specification and plan of an archive.

use headrace_units::{Bytes, Fraction, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::purge::VARIABLES;
use crate::core::component::{Spec, Theory};
use crate::core::graph::{Lowering, Resolved, View};
use crate::core::theory::Load;
use headrace_expression::Expression;

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
    /// Name of the tape library. Default: none; files are kept only in the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Migration to tape. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrate: Option<MigrateSpec>,
    /// Purge policy: which files leave the pool, and when. Default: nothing is purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<PurgeSpec>,
}

/// Migration to tape: one process that sleeps, lists files, and copies them one by one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// Order in which files are copied to tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MigrateOrder {
    /// By volume.
    #[default]
    ByVolume,
    /// Longest time in the pool first.
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
    pub(super) purge: Option<(PurgeSpec, Expression)>,
}

impl Spec for ArchiveSpec {
    type Plan = ArchivePlan;

    fn lower(&self, at: &mut Lowering) -> Option<Resolved<ArchivePlan>> {
        let pool = at.shared_of_kind("pool", &self.pool, "disk_pool");
        let capacity = pool.map_or(Bytes(0), |pool| at.capacity(pool));
        let optional = [
            ("front", &self.front, "front"),
            ("network", &self.network, "network"),
            ("library", &self.library, "tape_library"),
        ];
        let mut uses = vec![pool];
        for (field, name, kind) in optional {
            uses.extend(name.as_ref().map(|name| at.shared_of_kind(field, name, kind)));
        }
        let purge = self.purge.as_ref().map(|purge| purge.lower(at));
        if self.migrate.is_some() && self.library.is_none() {
            return at.refuse("migrate", "files are stored to tape, and the archive has no `library`", None);
        }
        if self.migrate.is_some_and(|migrate| migrate.every == Nanos::ZERO) {
            return at.refuse(
                "migrate.every",
                "a migration that never sleeps lists files for ever",
                Some("give a time above 0 s"),
            );
        }
        let plan = ArchivePlan {
            has_library: self.library.is_some(),
            migrate: self.migrate,
            purge: match purge {
                Some(purge) => Some(purge?),
                None => None,
            },
        };
        Some(Resolved { plan, uses: uses.into_iter().collect::<Option<_>>()?, capacity })
    }
}

impl PurgeSpec {
    fn lower(&self, at: &mut Lowering) -> Option<(Self, Expression)> {
        if self.low > self.high {
            let message = format!("`low` ({}) must not be above `high` ({})", self.low, self.high);
            return at.refuse("purge.low", message, None);
        }
        match Expression::parse(&self.weight, &VARIABLES) {
            Ok(weight) => Some((self.clone(), weight)),
            Err(error) => at.refuse("purge.weight", error.to_string(), None),
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
