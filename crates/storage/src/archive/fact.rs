//! What happens to files, told to whoever checks it: physical facts, without the reasons.

use headrace_units::Nanos;
use headrace_work::NodeId;

/// Something that happened to a file of an archive. Files are known by the archive's own numbers, in the order in which they came
/// into being: a file that is put again is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Space of the pool is taken for it.
    SpaceTaken {
        /// The component that has the space.
        pool: NodeId,
        /// The file.
        file: u32,
        /// How much.
        bytes: u64,
    },
    /// That space is given back, because its data did not come.
    SpaceGiven {
        /// The component that had the space.
        pool: NodeId,
        /// The file.
        file: u32,
    },
    /// Its data is whole in the pool.
    OnDisk(u32),
    /// Its data is whole in a tape pool.
    Copied {
        /// The file.
        file: u32,
        /// The place of the pool in the archive's list.
        pool: u8,
    },
    /// Its data is whole on tape, in all tape pools that take it.
    OnTape(u32),
    /// Someone begins to read or copy its data in the pool.
    ReadBegins(u32),
    /// That ends.
    ReadEnds(u32),
    /// A purge takes its data out of the pool, and its space is free.
    Purged {
        /// The component that had the data.
        pool: NodeId,
        /// The file.
        file: u32,
    },
    /// A pin keeps it in its pool until this time: no purge takes it before.
    Pinned {
        /// The file.
        file: u32,
        /// When the pin expires.
        until: Nanos,
    },
    /// A user deletes or replaces it: its data need be nowhere any more.
    Unwanted(u32),
    /// The data of an unwanted file leaves the pool.
    Freed {
        /// The component that had the data.
        pool: NodeId,
        /// The file.
        file: u32,
    },
}
