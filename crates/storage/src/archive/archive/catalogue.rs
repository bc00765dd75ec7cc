//! The files of an archive: where each is, and who uses it.

use headrace_units::Nanos;
use headrace_work::FileTable;

use crate::archive::tape_library::TapePosition;

/// A file by its number: the place of its entry.
pub(super) type FileNumber = u32;

/// Facts about a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub bytes: u64,
    /// Time of its last read or write by a user.
    pub used: Nanos,
    /// Time at which its data came to the pool.
    pub stored: Nanos,
    /// Its start on tape, in the first pool that takes it, once it is in all of them whole; and that pool.
    pub tape: Option<TapePosition>,
    pub tape_pool: u8,
    /// Number of tape pools that it is not in yet, of those that take it.
    pub copies_left: u8,
    /// The disk pool that has its data, or had it last.
    pub buffer: u8,
    /// Its first volume in that pool.
    pub volume: u32,
    /// Number of accesses by users.
    pub accesses: u32,
    /// Number of users of its data that keep it in the pool.
    pub pins: u32,
    /// True if all of its data is in the pool.
    pub on_disk: bool,
    /// True if a user deleted or replaced it.
    pub is_unwanted: bool,
    /// True if its put failed: the pool never held its data.
    pub is_lost: bool,
    /// Its place in the lists of the purge.
    pub list: ListPosition,
}

/// A place in a doubly linked list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListPosition {
    /// Number of the list.
    pub class: u32,
    pub before: Option<Neighbour>,
    pub after: Option<Neighbour>,
}

/// A file number that takes four bytes where there may be none.
pub(super) type Neighbour = std::num::NonZeroU32;

/// All files, wanted or not, in the order in which they came into being.
#[derive(Default)]
pub(super) struct FileCatalogue {
    entries: Vec<Entry>,
    by_name: FileTable,
}

impl FileCatalogue {
    /// The wanted file of this name.
    pub fn find(&self, name: u64) -> Option<FileNumber> {
        self.by_name.get(name).filter(|file| !self.entries[*file as usize].is_unwanted)
    }

    /// Returns true if the last put of a file of this name failed.
    pub fn is_lost(&self, name: u64) -> bool {
        self.by_name.get(name).is_some_and(|file| self.entries[file as usize].is_lost)
    }

    /// A new file of this name, which is nowhere yet. Gives it, and the one that had the name before.
    pub fn create(&mut self, name: u64, bytes: u64, now: Nanos) -> (FileNumber, Option<FileNumber>) {
        let file = self.entries.len() as FileNumber;
        let entry = Entry {
            bytes,
            used: now,
            stored: now,
            tape: None,
            tape_pool: 0,
            copies_left: 0,
            buffer: 0,
            volume: 0,
            accesses: 0,
            pins: 0,
            on_disk: false,
            is_unwanted: false,
            is_lost: false,
            list: ListPosition::default(),
        };
        self.entries.push(entry);
        (file, self.by_name.insert(name, file).filter(|before| !self.entries[*before as usize].is_unwanted))
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (FileNumber, &Entry)> + '_ {
        (0..).zip(&self.entries)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl std::ops::Index<FileNumber> for FileCatalogue {
    type Output = Entry;

    fn index(&self, file: FileNumber) -> &Entry {
        &self.entries[file as usize]
    }
}

impl std::ops::IndexMut<FileNumber> for FileCatalogue {
    fn index_mut(&mut self, file: FileNumber) -> &mut Entry {
        &mut self.entries[file as usize]
    }
}

impl Entry {
    /// Returns true if a purge may remove its data from the pool.
    pub fn may_go(&self) -> bool {
        self.on_disk && self.tape.is_some() && self.pins == 0
    }
}
