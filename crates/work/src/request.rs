//! A request to a component.

use headrace_kernel::subkey;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::{Block, Op};

/// Reason for which work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A host waits for the answer.
    #[default]
    Host,
    /// Data leaves a write-back cache.
    Destage,
    /// A disk is being rebuilt.
    Rebuild,
    /// Data is read to find what is unreadable or wrong.
    Scrub,
    /// Data moves between tiers.
    Migration,
    /// A solid-state drive moves data to erase blocks.
    GarbageCollection,
    /// A store merges tables.
    Compaction,
    /// Cartridges are verified, or their data is moved to others.
    Maintenance,
}

impl Cause {
    /// All causes, in the order in which tables show them.
    pub const ALL: [Self; 8] = [
        Self::Host,
        Self::Destage,
        Self::Rebuild,
        Self::Scrub,
        Self::Migration,
        Self::GarbageCollection,
        Self::Compaction,
        Self::Maintenance,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Destage => "destage",
            Self::Rebuild => "rebuild",
            Self::Scrub => "scrub",
            Self::Migration => "migration",
            Self::GarbageCollection => "garbage_collection",
            Self::Compaction => "compaction",
            Self::Maintenance => "maintenance",
        }
    }
}

/// A piece of work asked of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<W> {
    /// The key of the stream's request that this work belongs to.
    pub root: u64,
    /// A key of its own. Whatever a component draws for this work it draws by this key, so neither the order of service
    /// nor other streams change it.
    pub key: u64,
    /// When the asker gives up; [`Nanos::MAX`] for never. A component may drop work whose deadline has passed.
    pub deadline: Nanos,
    /// Reason for the work.
    pub cause: Cause,
    /// Smaller numbers are more urgent. Components whose queue has no priorities ignore it.
    pub priority: u8,
    /// The thread of its server that it belongs to, counted from 1; 0 where it belongs to none.
    pub thread: u32,
    /// True for a write that completes when it and all that the device took in before are on the medium (a flush of the device's
    /// write cache, and force unit access). A device without a volatile cache has nothing to do for it. What such a write needs to read is
    /// read as ever: see [`Request::is_durable`].
    pub durable: bool,
    /// Work to do.
    pub work: W,
}

impl Request<Block> {
    /// A request that is yet to be made.
    pub const BLANK: Self = Self {
        root: 0,
        key: 0,
        deadline: Nanos::MAX,
        cause: Cause::Host,
        priority: 0,
        thread: 0,
        durable: false,
        work: Block { op: Op::Read, address: 0, bytes: 0 },
    };

    /// Returns true if this is a write that completes when it and all before it are on the medium.
    #[inline]
    pub fn is_durable(&self) -> bool {
        self.durable && self.work.op == Op::Write
    }

    /// Returns true if what was acknowledged before it is on the medium when it completes: a flush, or a durable write.
    #[inline]
    pub fn flushes(&self) -> bool {
        self.is_durable() || self.work.op == Op::Flush
    }
}

impl<W> Request<W> {
    /// A host's request, with the key of its stream's draw.
    #[inline]
    pub fn new(key: u64, work: W) -> Self {
        let (deadline, cause) = (Nanos::MAX, Cause::Host);
        Self { root: key, key, deadline, cause, priority: 0, thread: 0, durable: false, work }
    }

    /// Returns this request with other work, to be handed on: at most one such goes to any one component, so it keeps its key.
    #[inline]
    pub fn with<V>(&self, work: V) -> Request<V> {
        let Self { root, key, deadline, cause, priority, thread, durable, .. } = *self;
        Request { root, key, deadline, cause, priority, thread, durable, work }
    }

    /// The `n`-th piece of work done for this request, with a key of its own: a component that is asked twice for one
    /// request (read the old data, then write the new) draws again.
    #[inline]
    pub fn child<V>(&self, n: u64, work: V) -> Request<V> {
        Request { key: subkey(self.key, n), ..self.with(work) }
    }

    /// Returns this request with another cause.
    #[must_use]
    pub fn because(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// Returns this request as one that completes when its data is on the medium.
    #[must_use]
    pub fn durably(self) -> Self {
        Self { durable: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_have_keys_of_their_own_and_the_same_root() {
        let request = Request::new(7, ());
        let (first, second) = (request.child(0, ()), request.child(1, ()));
        assert_eq!((first.root, second.root, request.with(()).key), (7, 7, 7));
        assert!(first.key != second.key && first.key != 7 && second.key != 7);
        assert_ne!(first.child(0, ()).key, second.child(0, ()).key);
    }
}
