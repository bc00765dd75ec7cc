//! The mapping between logical pages and flash pages, both ways, in 32 bits each.
//!
//! A flash page is valid where the two ways agree, so overwriting data clears nothing. An entry of zero stands for the state at the start
//! of the run, which is computed. Memory grows with the number of pages written.

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

/// A table that is zero until written. A line is allocated when the first of its entries is written: random requests to a drive of
/// several terabytes would otherwise touch a new page of memory each, and spend their time in page faults. A bit says first if a line was
/// written: bits stay in the cache of a processor where indices, 32 times as many, do not.
#[derive(Clone, Debug)]
struct Sparse {
    written: Vec<u64>,
    /// Of each line that was written, its index in `lines`.
    directory: Vec<u32>,
    lines: Vec<[u32; LINE as usize]>,
}

impl Sparse {
    fn new(entries: u32) -> Self {
        let lines = entries.div_ceil(LINE) as usize;
        Self { written: vec![0; lines.div_ceil(64)], directory: vec![0; lines], lines: Vec::new() }
    }

    #[inline]
    fn is_written(&self, line: u32) -> bool {
        self.written[(line / 64) as usize] >> (line % 64) & 1 == 1
    }

    #[inline]
    fn get(&self, at: u32) -> u32 {
        let line = at / LINE;
        if !self.is_written(line) {
            return 0;
        }
        self.lines[self.directory[line as usize] as usize][(at % LINE) as usize]
    }

    #[inline]
    fn set(&mut self, at: u32, entry: u32) {
        let line = at / LINE;
        if !self.is_written(line) {
            self.written[(line / 64) as usize] |= 1 << (line % 64);
            self.directory[line as usize] = self.lines.len() as u32;
            self.lines.push([0; LINE as usize]);
        }
        self.lines[self.directory[line as usize] as usize][(at % LINE) as usize] = entry;
    }
}

const BUFFERED: u32 = u32::MAX;
const DISCARDED: u32 = u32::MAX - 1;

impl Mapping {
    /// The largest number of flash pages that 32 bits can tell apart.
    pub const MOST: u64 = (DISCARDED - 1) as u64;

    /// `logical` pages on `flash` pages.
    pub fn new(logical: u32, flash: u32, initial: Initial) -> Self {
        Self { locations: Sparse::new(logical), owners: Sparse::new(flash), initial }
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
