//! Tape pools: which cartridges hold the files of which users, and so how many copies of a file there are.

use std::collections::BTreeMap;

use headrace_units::Nanos;
use headrace_work::{Invalid, number_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::{MigrateSpec, one};

/// A tape pool: cartridges for the files of some users, filled by streams of its own. A file is stored once in each pool that takes it: two
/// pools for the same users keep two copies, on different cartridges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapePoolSpec {
    /// Users whose files it takes, as the log names those who put them. Default: those that no pool names, and files that are older than
    /// the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Name of the tape library. Default: that of the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Maximum number of streams, and so of drives that write to it at a time.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub streams: u32,
}

/// Number of tape pools of an archive, at most.
pub(super) const MOST_POOLS: usize = 32;

/// A tape pool with names looked up.
#[derive(Clone, Debug)]
pub(super) struct TapePool {
    /// Its library, by its place among those of the archive.
    pub library: usize,
    pub streams: u32,
    /// The number of its first stream among all that write to the library.
    pub first_stream: usize,
    /// The user for whom it writes: the first that it names.
    pub user: u64,
}

/// The tape pools of an archive, and the users that each is for.
#[derive(Clone, Debug, Default)]
pub(super) struct PoolTable {
    pub pools: Vec<TapePool>,
    by_user: BTreeMap<u64, Vec<u8>>,
    others: Vec<u8>,
}

impl PoolTable {
    /// The pools of a specification, or the one pool of one that has none; the libraries are those of each.
    pub fn of(spec: &MigrateSpec, libraries: &[usize]) -> Self {
        let mut table = Self::default();
        let all = [TapePoolSpec { users: Vec::new(), library: None, streams: spec.streams }];
        let pools = if spec.pools.is_empty() { &all[..] } else { &spec.pools };
        for (at, (pool, library)) in pools.iter().zip(libraries).enumerate() {
            table.add(at as u8, pool, *library);
        }
        table
    }

    fn add(&mut self, at: u8, pool: &TapePoolSpec, library: usize) {
        let number = |user: &String| number_of(user.as_bytes());
        let of_library = self.pools.iter().filter(|other| other.library == library);
        let first_stream = of_library.map(|other| other.streams as usize).sum();
        let user = pool.users.first().map_or(NOBODY, number);
        self.pools.push(TapePool { library, streams: pool.streams, first_stream, user });
        if pool.users.is_empty() {
            self.others.push(at);
        }
        pool.users.iter().for_each(|user| self.by_user.entry(number(user)).or_default().push(at));
    }

    /// Returns the pools that take the files of a user, at least one.
    pub fn of_user(&self, user: u64) -> &[u8] {
        self.by_user.get(&user).unwrap_or(&self.others)
    }
}

/// The number of no user: files that are older than the log are nobody's.
pub(super) const NOBODY: u64 = u64::MAX;

impl MigrateSpec {
    /// Returns the error of invalid values; `None` if they are valid.
    pub(super) fn problem(&self) -> Option<Invalid> {
        if self.every == Nanos::ZERO {
            let message = "a migration that never sleeps lists files for ever";
            return Some(Invalid::new("every", message).help("give a time above 0 s"));
        }
        if self.mount == Some(super::MountRule::default()) {
            let problem = Invalid::new("mount", "no condition for a mount");
            return Some(problem.help("give `bytes`, `files` or `age`"));
        }
        if self.pools.is_empty() {
            return None;
        }
        if self.streams != one() {
            let message = "each of the `pools` has streams of its own";
            return Some(Invalid::new("streams", message).help("give `streams` of each pool"));
        }
        let for_others = self.pools.iter().any(|pool| pool.users.is_empty());
        (!for_others).then(|| {
            let message = "no pool takes files of users that none of them names, or files older than the log";
            Invalid::new("pools", message).help("leave `users` out of one of them")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_stored_once_in_each_pool_that_takes_it() {
        let pool = |users: &[&str], streams| TapePoolSpec {
            users: users.iter().map(|user| (*user).to_owned()).collect(),
            library: None,
            streams,
        };
        let pools = vec![pool(&["atlas", "7"], 2), pool(&[], 1), pool(&["atlas"], 3)];
        let spec = MigrateSpec { pools, ..MigrateSpec::every(Nanos(1)) };
        let table = PoolTable::of(&spec, &[0, 0, 1]);
        let of = |user: &str| table.of_user(number_of(user.as_bytes())).to_vec();
        assert_eq!([of("atlas"), of("7"), of("cms")], [vec![0, 2], vec![0], vec![1]]);
        assert_eq!(table.of_user(NOBODY), [1]);
        let first: Vec<usize> = table.pools.iter().map(|pool| pool.first_stream).collect();
        assert_eq!(first, [0, 2, 0], "streams are numbered by library");
    }
}
