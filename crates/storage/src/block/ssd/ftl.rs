//! The flash translation layer: where written pages go, and which valid pages move so that a block can be erased. It knows no time.

use std::collections::VecDeque;

use headrace_kernel::RngStream;

use super::geometry::{FlashAddress, Geometry};
use super::mapping::{Initial, Mapping, PageLocation};
use super::victims::{Collection, Victims};

mod overwritten;

pub use overwritten::{Own, Past};

/// Work of a die that must precede a program of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DieWork {
    /// Flash pages read, to move what is valid in them.
    pub reads: u32,
    /// Pages moved.
    pub moved: u32,
    /// Blocks erased.
    pub erases: u32,
}

impl DieWork {
    /// Returns the sum of this work and other work.
    pub const fn and(self, other: Self) -> Self {
        let Self { reads, moved, erases } = other;
        Self { reads: self.reads + reads, moved: self.moved + moved, erases: self.erases + erases }
    }
}

/// Work of a die that has chosen a block to erase, spread evenly over the pages that hosts write to the open block: each program waits for
/// its part, none for all of it.
#[derive(Clone, Copy, Debug)]
pub struct CollectionDebt {
    all: DieWork,
    /// Pages of the open block that were free at first.
    room: u32,
}

impl CollectionDebt {
    /// Returns what is left when this number of pages is free. Each page is read before it moves, and pages move before the block that
    /// held them is erased.
    fn left(&self, free: u32) -> DieWork {
        let part = |all: u32, part: u32, of: u32| u64::from(all) * u64::from(part) / u64::from(of.max(1));
        let moved = part(self.all.moved, free, self.room) as u32;
        let reads = part(self.all.reads, moved, self.all.moved) as u32;
        DieWork { reads, moved, erases: if free > 0 { self.all.erases } else { 0 } }
    }

    /// Returns what precedes the next page when this number of pages is free.
    fn next(&self, free: u32) -> DieWork {
        let (before, after) = (self.left(free), self.left(free - 1));
        DieWork {
            reads: before.reads - after.reads,
            moved: before.moved - after.moved,
            erases: before.erases - after.erases,
        }
    }
}

/// Numbers of pages written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagesWritten {
    /// Pages that hosts wrote and that went to flash.
    pub host: u64,
    /// Pages that garbage collection moved.
    pub moved: u64,
    /// Blocks erased.
    pub erased: u64,
}

/// The blocks of one die.
#[derive(Clone, Debug)]
struct DieBlocks {
    /// The block that is being written, and how many of its pages are.
    open: u32,
    used: u32,
    /// Of each block, its valid pages.
    valid: Vec<u32>,
    /// Valid pages of all its blocks.
    held: u32,
    /// Blocks without data.
    empty: VecDeque<u32>,
    victims: Victims,
    /// Work that precedes the next pages, if a block had to be emptied to open this one; `None` if there was an empty one.
    paced: Option<CollectionDebt>,
}

/// The translation layer of a drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    mapping: Mapping,
    dies: Vec<DieBlocks>,
    written: PagesWritten,
}

impl Ftl {
    /// A drive whose first `filled` logical pages hold data that was written in sequence.
    pub fn new(geometry: Geometry, filled: u32, collection: Collection, stream: RngStream) -> Self {
        let die = |die| DieBlocks::new(&geometry, die, filled, collection, stream);
        let dies = (0..geometry.dies).map(die).collect();
        let mapping = Mapping::new(Initial::Sequential(filled));
        Self { geometry, mapping, dies, written: PagesWritten::default() }
    }

    /// Returns the location of a logical page.
    #[inline]
    pub fn location(&self, logical: u32) -> PageLocation {
        self.mapping.location(logical)
    }

    /// Which part of a die reads a flash page, and what that one read gives.
    #[inline]
    pub fn read_of(&self, flash: u32) -> (u32, u32) {
        self.geometry.read_of(flash)
    }

    /// A host has written a page that is now in the buffer; what lay on flash is no longer valid.
    #[inline]
    pub fn take(&mut self, logical: u32) {
        self.invalidate(logical);
        self.mapping.buffer(logical);
    }

    /// A host no longer needs what a page holds on flash.
    pub fn discard(&mut self, logical: u32) {
        if self.invalidate(logical) {
            self.mapping.discard(logical);
        }
    }

    /// Invalidates the flash page that holds a logical page; returns true if there was one.
    #[inline]
    fn invalidate(&mut self, logical: u32) -> bool {
        let PageLocation::Flash(flash) = self.mapping.location(logical) else { return false };
        let FlashAddress { die, block, .. } = self.geometry.spot(flash);
        self.dies[die as usize].invalidate(block);
        true
    }

    /// A page of a host goes to a die; gives what the die has to do first.
    #[inline]
    pub fn write(&mut self, logical: u32, die: u32) -> DieWork {
        // It must not move as a valid page while room is made for it.
        self.take(logical);
        let die = self.with_room(die);
        if self.dies[die as usize].used == self.geometry.block_pages() {
            self.open_block(die);
        }
        let work = self.next_work(die);
        self.append(logical, die);
        self.dies[die as usize].held += 1;
        self.written.host += 1;
        work
    }

    /// Counts and returns what a die has to do before the next page.
    #[inline]
    fn next_work(&mut self, die: u32) -> DieWork {
        let at = &self.dies[die as usize];
        let Some(paced) = at.paced else { return DieWork::default() };
        let work = paced.next(self.geometry.block_pages() - at.used);
        self.written.moved += u64::from(work.moved);
        self.written.erased += u64::from(work.erases);
        work
    }

    /// Returns true if every die has had to empty a block to open another.
    pub fn collects(&self) -> bool {
        self.dies.iter().all(|die| die.paced.is_some())
    }

    /// The die, or where it is nearly full of valid pages the one with the fewest: on each a block must be left to erase.
    #[inline]
    fn with_room(&self, die: u32) -> u32 {
        let most = (self.geometry.blocks - 2) * self.geometry.block_pages();
        if self.dies[die as usize].held < most {
            return die;
        }
        let least = (0..self.geometry.dies).min_by_key(|die| self.dies[*die as usize].held);
        least.expect("a drive has dies")
    }

    /// Puts a page behind the last one of the open block of a die.
    #[inline]
    fn append(&mut self, logical: u32, die: u32) {
        let at = &mut self.dies[die as usize];
        let spot = FlashAddress { die, block: at.open, page: at.used };
        at.used += 1;
        at.valid[at.open as usize] += 1;
        self.mapping.put(logical, self.geometry.number(spot));
    }

    /// Closes the full block of a die and opens an empty one. Where that was the last, a victim's valid pages are mapped there first.
    fn open_block(&mut self, die: u32) {
        let (pages, mut work, mut is_paced) = (self.geometry.block_pages(), DieWork::default(), false);
        while self.dies[die as usize].used == pages {
            let at = &mut self.dies[die as usize];
            at.turn();
            if at.empty.is_empty() {
                let victim = at.victims.take(&at.valid).expect("a die has more blocks than data fills");
                self.empty(die, victim, &mut work);
                is_paced = true;
            }
        }
        let at = &mut self.dies[die as usize];
        at.paced = is_paced.then_some(CollectionDebt { all: work, room: pages - at.used });
    }

    /// Moves what is valid in a block to the open one, and erases it.
    fn empty(&mut self, die: u32, block: u32, work: &mut DieWork) {
        let mut last = None;
        for page in 0..self.geometry.block_pages() {
            let flash = self.geometry.number(FlashAddress { die, block, page });
            if let Some(logical) = self.mapping.owner(flash) {
                let read = Some(page / self.geometry.read);
                work.reads += u32::from(read != last);
                last = read;
                work.moved += 1;
                self.append(logical, die);
            }
        }
        let at = &mut self.dies[die as usize];
        at.valid[block as usize] = 0;
        at.empty.push_back(block);
        work.erases += 1;
    }

    /// Returns the numbers of pages written so far.
    pub fn written(&self) -> PagesWritten {
        self.written
    }

    /// Forgets what was written so far.
    #[cfg(test)]
    pub fn begin(&mut self) {
        self.written = PagesWritten::default();
    }

    /// Every one of the `logical` pages with its flash page, for tests: data is nowhere twice, and counts agree.
    #[cfg(test)]
    pub fn audit(&self, logical: u32) -> Vec<(u32, u32)> {
        let on_flash = |logical: u32| match self.mapping.location(logical) {
            PageLocation::Flash(flash) => Some((logical, flash)),
            PageLocation::Nowhere | PageLocation::Buffer => None,
        };
        let all: Vec<(u32, u32)> = (0..logical).filter_map(on_flash).collect();
        let mut counts = vec![vec![0; self.geometry.blocks as usize]; self.geometry.dies as usize];
        for &(logical, flash) in &all {
            assert_eq!(self.mapping.owner(flash), Some(logical), "both ways agree");
            let spot = self.geometry.spot(flash);
            counts[spot.die as usize][spot.block as usize] += 1;
        }
        let valid: Vec<_> = self.dies.iter().map(|die| die.valid.clone()).collect();
        assert!(self.dies.iter().all(|die| die.held == die.valid.iter().sum::<u32>()));
        assert_eq!(counts, valid, "valid pages are counted");
        all
    }
}

impl DieBlocks {
    fn new(geometry: &Geometry, die: u32, filled: u32, collection: Collection, stream: RngStream) -> Self {
        let pages = geometry.block_pages();
        let draws = stream.of(u64::from(die));
        let victims = Victims::new(collection, geometry.blocks, draws);
        let valid: Vec<u32> =
            (0..geometry.blocks).map(|block| Self::filled(geometry, die, block, filled)).collect();
        let empty = (0..geometry.blocks).filter(|block| valid[*block as usize] == 0).collect();
        // A block that was filled in part is closed: what is left of it waits for its erasure. The last one stands for the open block.
        let full: Vec<u32> = (0..geometry.blocks).filter(|block| valid[*block as usize] > 0).collect();
        match full.split_last() {
            Some((open, others)) => Self::of(*open, pages, valid, empty, others, victims),
            None => Self::of(0, 0, valid, (1..geometry.blocks).collect(), &[], victims),
        }
    }

    /// An open block, of which pages are used; empty blocks, and full ones, in the order in which they were closed.
    fn of(
        open: u32,
        used: u32,
        valid: Vec<u32>,
        empty: VecDeque<u32>,
        full: &[u32],
        mut victims: Victims,
    ) -> Self {
        full.iter().for_each(|block| victims.add(*block));
        let held = valid.iter().sum();
        Self { open, used, valid, held, empty, victims, paced: None }
    }

    /// Returns the number of the first `filled` pages that lie in a block.
    fn filled(geometry: &Geometry, die: u32, block: u32, filled: u32) -> u32 {
        let (unit, across) = (u64::from(geometry.unit), u64::from(geometry.unit * geometry.dies));
        let first = u64::from(block * geometry.rows) * across + u64::from(die) * unit;
        let rest = u64::from(filled).saturating_sub(first);
        let (rows, more) = (rest / across, (rest % across).min(unit));
        (rows * unit + more).min(u64::from(geometry.block_pages())) as u32
    }

    #[inline]
    fn invalidate(&mut self, block: u32) {
        self.valid[block as usize] -= 1;
        self.held -= 1;
        if block != self.open {
            self.victims.lower(block);
        }
    }

    /// Closes the open block, and opens an empty one.
    fn turn(&mut self) {
        self.victims.add(self.open);
        self.open = self.empty.pop_front().expect("a block is erased before the last empty one is full");
        self.used = 0;
    }
}

#[cfg(test)]
mod tests;
