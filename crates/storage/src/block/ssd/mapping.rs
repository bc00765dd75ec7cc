//! The mapping between logical pages and flash pages, both ways, in 32 bits each.
//!
//! A flash page is valid where the two ways agree, so overwriting data clears nothing. An entry of zero stands for the state at the start
//! of the run, which is computed. Memory grows with the number of pages written.

use hashbrown::HashTable;

use super::scattered::Scattered;

/// Location of a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLocation {
    /// Nowhere: it was never written, or discarded since.
    Nowhere,
    /// In the buffer.
    Buffer,
    /// On this flash page.
    Flash(u32),
}

/// Where data lies at the start of the run.
#[derive(Clone, Debug)]
pub enum Initial {
    /// The first pages, this many, lie in sequence.
    Sequential(u32),
    /// The capacity was overwritten at random.
    Scattered(Box<Scattered>),
}

impl Initial {
    #[inline]
    fn flash(&self, logical: u32) -> Option<u32> {
        match self {
            Self::Sequential(filled) => (logical < *filled).then_some(logical),
            Self::Scattered(data) => data.flash(logical),
        }
    }

    #[inline]
    fn owner(&self, flash: u32) -> Option<u32> {
        match self {
            Self::Sequential(filled) => (flash < *filled).then_some(flash),
            Self::Scattered(data) => data.owner(flash),
        }
    }
}

/// The two ways.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// Of each logical page: zero, or one more than its flash page, [`BUFFERED`], or [`DISCARDED`].
    locations: Sparse,
    /// Of each flash page: zero, or one more than the logical page that was written there last.
    owners: Sparse,
    initial: Initial,
}

/// Entries in a line: those that share 64 bytes.
const LINE: u32 = 16;

/// A table that is zero until written, and takes memory by the lines that were: a drive of terabytes has billions of entries, and a cluster
/// hundreds of drives.
#[derive(Clone, Debug, Default)]
struct Sparse {
    /// Of each line that was written, its number and its index in `lines`. No one goes through it, so its order does not matter.
    written: HashTable<(u32, u32)>,
    lines: Vec<[u32; LINE as usize]>,
}

impl Sparse {
    #[inline]
    fn get(&self, at: u32) -> u32 {
        let line = at / LINE;
        let found = self.written.find(hash(line), |(number, _)| *number == line);
        found.map_or(0, |(_, index)| self.lines[*index as usize][(at % LINE) as usize])
    }

    #[inline]
    fn set(&mut self, at: u32, entry: u32) {
        let line = at / LINE;
        let found =
            self.written.entry(hash(line), |(number, _)| *number == line, |(number, _)| hash(*number));
        let (_, index) = *found
            .or_insert_with(|| {
                self.lines.push([0; LINE as usize]);
                (line, self.lines.len() as u32 - 1)
            })
            .get();
        self.lines[index as usize][(at % LINE) as usize] = entry;
    }
}

/// Both halves of a product with an odd number of mixed bits (2⁶⁴ over the golden ratio; Knuth, volume 3, section 6.4), so that all bits of
/// a line's number count in all bits of the hash.
#[inline]
fn hash(line: u32) -> u64 {
    let product = u128::from(line) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
}

const BUFFERED: u32 = u32::MAX;
const DISCARDED: u32 = u32::MAX - 1;

impl Mapping {
    /// The largest number of flash pages that 32 bits can tell apart.
    pub const MOST: u64 = (DISCARDED - 1) as u64;

    /// A mapping that is as at the start.
    pub fn new(initial: Initial) -> Self {
        Self { locations: Sparse::default(), owners: Sparse::default(), initial }
    }

    /// Returns the location of a logical page.
    #[inline]
    pub fn location(&self, logical: u32) -> PageLocation {
        match self.locations.get(logical) {
            0 => self.initial.flash(logical).map_or(PageLocation::Nowhere, PageLocation::Flash),
            BUFFERED => PageLocation::Buffer,
            DISCARDED => PageLocation::Nowhere,
            entry => PageLocation::Flash(entry - 1),
        }
    }

    /// The logical page whose data a flash page holds; none where it holds none that is valid.
    #[inline]
    pub fn owner(&self, flash: u32) -> Option<u32> {
        let logical = match self.owners.get(flash) {
            0 => return self.initial.owner(flash).filter(|logical| self.locations.get(*logical) == 0),
            entry => entry - 1,
        };
        (self.location(logical) == PageLocation::Flash(flash)).then_some(logical)
    }

    /// A logical page's data is in the buffer.
    #[inline]
    pub fn buffer(&mut self, logical: u32) {
        self.locations.set(logical, BUFFERED);
    }

    /// A logical page's data is nowhere.
    pub fn discard(&mut self, logical: u32) {
        self.locations.set(logical, DISCARDED);
    }

    /// A logical page's data is on a flash page.
    #[inline]
    pub fn put(&mut self, logical: u32, flash: u32) {
        self.locations.set(logical, flash + 1);
        self.owners.set(flash, logical + 1);
    }
}
