//! What comes of a command: when the drive is done with it, and where its data was.

use headrace_units::Nanos;
use headrace_work::Op;

use crate::block::disk::platter::PlatterAccess;

/// When a drive can turn to the next command, and when it has done what this one asks: the last of its data may be on its way
/// to the host while the arm moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// It takes the next command.
    pub ready: Nanos,
    /// It completes this one.
    pub done: Nanos,
}

/// What a drive did for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Handled {
    /// Where it found the data, or put it.
    pub from: DataSource,
    /// The seek to the first sector, in ns; zero where the arm had nothing to do.
    pub moved_ns: f64,
    /// The wait for the platter after that, in ns.
    pub waited_ns: f64,
}

impl Handled {
    /// A command whose data was at `from`, by an access.
    pub(super) fn by(from: DataSource, access: &PlatterAccess) -> Self {
        Self { from, moved_ns: access.moved_ns, waited_ns: access.waited_ns }
    }
}

/// Where a drive found the data of a command, or put it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataSource {
    /// In the cache.
    #[default]
    Cache,
    /// On its way into the cache: the drive was reading it ahead.
    ReadAhead,
    /// On the platter.
    Platter,
}

/// How many commands a drive has served, by where their data was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// Reads from the cache.
    pub read_hits: u64,
    /// Reads of what the drive was reading ahead.
    pub read_ahead_hits: u64,
    /// Reads from the platter.
    pub read_misses: u64,
    /// Writes to the cache.
    pub cached_writes: u64,
    /// Writes to the platter.
    pub platter_writes: u64,
    /// Write-backs from the cache to the platter, from when they begin. One may bring the data of several writes.
    pub destaged: u64,
}

impl CommandCounts {
    /// Counts a command.
    #[inline]
    pub(super) fn add(&mut self, op: Op, from: DataSource) {
        let count = match (op, from) {
            (Op::Read, DataSource::Cache) => &mut self.read_hits,
            (Op::Read, DataSource::ReadAhead) => &mut self.read_ahead_hits,
            (Op::Read, DataSource::Platter) => &mut self.read_misses,
            (Op::Write | Op::Discard, DataSource::Platter) => &mut self.platter_writes,
            (Op::Write | Op::Discard, _) => &mut self.cached_writes,
        };
        *count += 1;
    }
}

/// The same as [`Served`], in ns.
pub(super) struct Times {
    pub ready: f64,
    pub done: f64,
}
