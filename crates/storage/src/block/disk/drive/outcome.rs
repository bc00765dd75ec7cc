//! Outcome of a command: its completion, and the source of its data.

use headrace_units::Nanos;
use headrace_work::Op;

use crate::block::disk::platter::PlatterAccess;

/// Times at which a drive can turn to the next command and at which it completes this one: the last of its data can be on its way to the
/// host while the arm moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Time at which the drive accepts the next command.
    pub ready: Nanos,
    /// Time at which this command completes.
    pub done: Nanos,
}

/// Handling of a command by a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Handled {
    /// Source or destination of the data.
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

/// Source of a read's data, or destination of a write's.
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

/// Number of commands served, by source of their data.
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
            (Op::Flush, _) => return,
        };
        *count += 1;
    }
}

/// Times of [`Served`], in ns.
pub(super) struct Times {
    pub ready: f64,
    pub done: f64,
}
