//! Which blocks are on the cache device: their slots, and the sectors of each that are valid and dirty. It has no clock.

use std::collections::{BTreeMap, BTreeSet};

use headrace_kernel::subkey;
use headrace_work::Block;

use super::spec::CacheStart;
use crate::core::replacement::{AnyReplacement, ReplacementSpec};

/// Maximum number of sectors of a block: the bits of a mask.
const MOST_SECTORS: u64 = 64;

/// Smallest sector of which the state is kept.
const LEAST_SECTOR: u64 = 512;

/// Blocks on the cache device. Clean ones give way, as a replacement policy chooses, which knows no others; dirty ones stay until they are
/// written back, and count as used then.
pub struct CachedBlocks {
    /// Bytes of a block, a power of two, and of a sector.
    block: u64,
    sector: u64,
    /// Number of blocks that the device holds.
    slots: u64,
    order: AnyReplacement,
    held: BTreeMap<u64, CachedBlock>,
    /// The first slot that never had a block.
    fresh: u64,
    untouched: Untouched,
    /// Blocks with dirty sectors, and the number of these sectors.
    dirty: BTreeSet<u64>,
    dirty_sectors: u64,
    /// Where the last run that was written back ends.
    swept: u64,
}

/// Blocks that are here from the start and have not been used since: nothing else has been unused for longer.
struct Untouched {
    begins: CacheStart,
    /// Number of slots that they had at the start, and have left.
    slots: u64,
    left: u64,
    /// Blocks that are among them no more: used since, or gone.
    moved: BTreeSet<u64>,
}

impl Untouched {
    fn new(begins: CacheStart, slots: u64) -> Self {
        let slots = if begins == CacheStart::Empty { 0 } else { slots };
        Self { begins, slots, left: slots, moved: BTreeSet::new() }
    }

    /// Takes a block out that is used; returns its slot, or `None` if it is not among them.
    fn take(&mut self, number: u64) -> Option<u64> {
        let (is_here, slot) = match self.begins {
            CacheStart::Empty => return None,
            CacheStart::Full => (number < self.left, number),
            CacheStart::Hits(share) => {
                let chance = share.get() * self.left as f64 / self.slots as f64;
                let drawn = subkey(0, number);
                ((drawn >> 11) as f64 / (1u64 << 53) as f64 <= chance, drawn % self.slots)
            }
        };
        (is_here && self.moved.insert(number)).then_some(slot)
    }

    /// Has the last of them give way; returns its slot, or `None` if there are none.
    fn evict(&mut self) -> Option<u64> {
        while let Some(last) = self.left.checked_sub(1) {
            self.left = last;
            if self.begins != CacheStart::Full || !self.moved.remove(&last) {
                return Some(last);
            }
        }
        None
    }
}

/// A block on the cache device.
#[derive(Clone, Copy, Debug)]
struct CachedBlock {
    slot: u64,
    valid: u64,
    dirty: u64,
    /// Sectors whose data was read from the target, is on its way here, and has not been written since.
    coming: u64,
    /// Number of accesses in flight; the block stays until they end.
    pins: u32,
}

/// What a request finds: parts of cached blocks, each within one block, and the rest, in consecutive ranges.
#[derive(Debug, Default)]
pub struct Found {
    pub cached: Vec<Block>,
    pub rest: Vec<Block>,
}

impl Found {
    fn misses(&mut self, part: Block) {
        match self.rest.last_mut() {
            Some(last) if last.end() == part.address => last.bytes += part.bytes,
            _ => self.rest.push(part),
        }
    }
}

impl CachedBlocks {
    /// A cache of `slots` blocks.
    pub fn new(block: u64, slots: u64, begins: CacheStart, policy: ReplacementSpec) -> Self {
        let untouched = Untouched::new(begins, slots);
        Self {
            block,
            sector: (block / MOST_SECTORS).max(LEAST_SECTOR),
            slots,
            order: policy.of(slots as usize),
            held: BTreeMap::new(),
            fresh: untouched.slots,
            untouched,
            dirty: BTreeSet::new(),
            dirty_sectors: 0,
            swept: 0,
        }
    }

    /// Divides an access by blocks.
    fn by_block(&self, work: Block) -> impl Iterator<Item = (u64, Block)> + use<> {
        let block = self.block;
        (work.address / block..work.end().div_ceil(block)).map(move |number| {
            let address = work.address.max(number * block);
            (number, Block { address, bytes: work.end().min((number + 1) * block) - address, ..work })
        })
    }

    /// The sectors of a block that an access touches.
    fn mask(&self, part: Block) -> u64 {
        let within = part.address % self.block;
        let (first, end) = (within / self.sector, (within + part.bytes).div_ceil(self.sector));
        bits(first, end - first)
    }

    /// Looks a read up, and pins the blocks that it finds. Where a block has only some of the sectors, it comes from both.
    pub fn read(&mut self, work: Block) -> Found {
        let mut found = Found::default();
        for (number, part) in self.by_block(work) {
            let mask = self.mask(part);
            let valid = self.used(number).map_or(0, |block| block.valid & mask);
            if valid != 0 {
                self.pin(number);
                found.cached.push(part);
            }
            if valid != mask {
                found.misses(part);
            }
        }
        found
    }

    /// Takes a write in, as far as there are blocks or room for them, and pins these.
    pub fn write(&mut self, work: Block, makes_dirty: bool) -> Found {
        let mut found = Found::default();
        for (number, part) in self.by_block(work) {
            if self.admit(number) {
                self.validate(part, makes_dirty);
                found.cached.push(part);
            } else {
                found.misses(part);
            }
        }
        found
    }

    /// Gives a block a slot, if it has none, and pins it. Returns false if all blocks are dirty or in use.
    pub fn admit(&mut self, number: u64) -> bool {
        if self.used(number).is_none() {
            let Some(slot) = self.room(number) else { return false };
            self.hold(number, CachedBlock { slot, valid: 0, dirty: 0, coming: 0, pins: 0 });
        }
        self.pin(number);
        true
    }

    /// Notes that data of a block that has a slot is on its way to the device.
    pub fn expect(&mut self, part: Block) {
        let mask = self.mask(part);
        if let Some(block) = self.held.get_mut(&(part.address / self.block)) {
            block.coming |= mask;
        }
    }

    /// Notes that data has arrived, or failed to. What was written since it was read is not what arrived.
    pub fn arrive(&mut self, part: Block, has_failed: bool) {
        let mask = self.mask(part);
        if let Some(block) = self.held.get_mut(&(part.address / self.block)) {
            block.valid |= if has_failed { 0 } else { block.coming & mask };
            block.coming &= !mask;
            block.pins -= 1;
        }
    }

    /// Notes that data within one block is on the device, dirty or as the target has it.
    pub fn validate(&mut self, part: Block, dirty: bool) {
        let (number, mask) = (part.address / self.block, self.mask(part));
        let Some(block) = self.held.get_mut(&number) else { return };
        block.valid |= mask;
        block.coming &= !mask;
        if dirty {
            self.dirty_sectors += u64::from((mask & !block.dirty).count_ones());
            block.dirty |= mask;
            if self.dirty.insert(number) {
                self.order.remove((0, number));
            }
        }
    }

    /// Forgets what is written or discarded elsewhere.
    pub fn invalidate(&mut self, work: Block) {
        for (number, part) in self.by_block(work) {
            let mask = self.mask(part);
            let Some(block) = self.used(number) else { continue };
            block.valid &= !mask;
            block.coming &= !mask;
            let cleaned = block.dirty & mask;
            block.dirty &= !mask;
            let is_clean = block.dirty == 0;
            self.dirty_sectors -= u64::from(cleaned.count_ones());
            if is_clean {
                self.is_clean(number);
            }
        }
    }

    /// Returns true if a sector of the block of an access has not reached the target.
    pub fn is_dirty(&self, part: Block) -> bool {
        self.held.get(&(part.address / self.block)).is_some_and(|block| block.dirty & self.mask(part) != 0)
    }

    /// Returns where an access within a block lies on the device.
    pub fn location(&self, part: Block) -> Option<Block> {
        let slot = self.held.get(&(part.address / self.block))?.slot;
        Some(Block { address: slot * self.block + part.address % self.block, ..part })
    }

    pub fn unpin(&mut self, part: Block) {
        if let Some(block) = self.held.get_mut(&(part.address / self.block)) {
            block.pins -= 1;
        }
    }

    /// Takes the next dirty sectors, upwards from the last that were taken, and those that follow them, up to `most` bytes. They are clean
    /// from now on, and their blocks pinned: the parts of each block, in the order of addresses.
    pub fn take_run(&mut self, most: u64) -> Vec<Block> {
        let next = self.dirty.range(self.swept / self.block..).next().or_else(|| self.dirty.first());
        let Some(&first) = next else { return Vec::new() };
        let (mut number, mut bytes, mut run) = (first, 0, Vec::new());
        while let Some(part) = self.take_part(number, run.is_empty()) {
            bytes += part.bytes;
            run.push(part);
            number += 1;
            if part.end() % self.block != 0 || bytes + self.block > most {
                break;
            }
        }
        self.swept = run.last().map_or(0, Block::end);
        run
    }

    /// Takes the first dirty sectors of a block that follow one another: any, or those at its beginning.
    fn take_part(&mut self, number: u64, anywhere: bool) -> Option<Block> {
        let block = self.held.get_mut(&number).filter(|block| block.dirty != 0)?;
        let first = u64::from(block.dirty.trailing_zeros());
        if first > 0 && !anywhere {
            return None;
        }
        let many = u64::from((block.dirty >> first).trailing_ones());
        block.dirty &= !bits(first, many);
        block.pins += 1;
        let is_clean = block.dirty == 0;
        self.dirty_sectors -= many;
        if is_clean {
            self.is_clean(number);
        }
        let address = number * self.block + first * self.sector;
        Some(Block { op: headrace_work::Op::Write, address, bytes: many * self.sector })
    }

    /// Notes that a block has no dirty sectors.
    fn is_clean(&mut self, number: u64) {
        if self.dirty.remove(&number) {
            self.order.insert((0, number));
        }
    }

    /// Number of blocks with dirty sectors.
    pub fn dirty_blocks(&self) -> usize {
        self.dirty.len()
    }

    /// Number of dirty bytes.
    pub fn dirty_bytes(&self) -> u64 {
        self.dirty_sectors * self.sector
    }

    /// Number of blocks on the device.
    pub fn held(&self) -> u64 {
        self.fresh
    }

    /// Notes the use of a block; `None` if it is not here.
    fn used(&mut self, number: u64) -> Option<&mut CachedBlock> {
        if let Some(slot) = self.untouched.take(number) {
            let valid = bits(0, self.block / self.sector);
            self.hold(number, CachedBlock { slot, valid, dirty: 0, coming: 0, pins: 0 });
        }
        let block = self.held.get_mut(&number)?;
        if block.dirty == 0 {
            self.order.touch((0, number));
        }
        Some(block)
    }

    fn hold(&mut self, number: u64, block: CachedBlock) {
        self.order.insert((0, number));
        self.held.insert(number, block);
    }

    fn pin(&mut self, number: u64) {
        if let Some(block) = self.held.get_mut(&number) {
            block.pins += 1;
        }
    }

    /// Returns a slot for a block: a fresh one, or that of a block that gives way.
    fn room(&mut self, incoming: u64) -> Option<u64> {
        if self.fresh < self.slots {
            self.fresh += 1;
            return Some(self.fresh - 1);
        }
        if let Some(slot) = self.untouched.evict() {
            return Some(slot);
        }
        let held = &self.held;
        let may_go = |(_, number)| held.get(&number).is_some_and(|block| block.pins == 0);
        let (_, number) = self.order.evict(Some((0, incoming)), may_go)?;
        self.held.remove(&number).map(|block| block.slot)
    }
}

/// A mask of `many` bits from `first` on.
fn bits(first: u64, many: u64) -> u64 {
    (u64::MAX >> (MOST_SECTORS - many)) << first
}
