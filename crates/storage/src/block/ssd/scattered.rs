//! Where data lies that was written at random: each block holds a random part of it, at random places. A few numbers for each block say
//! which, so that a drive of terabytes takes kilobytes.

use headrace_kernel::{RngStream, Shuffle};

use super::geometry::{FlashAddress, Geometry};

/// Data that was written at random.
#[derive(Clone, Debug)]
pub struct Scattered {
    geometry: Geometry,
    /// Of each block, one die's behind the other's, how many pages the blocks before it hold; in the end, all pages.
    before: Vec<u32>,
    /// The block of each die that is being written. Its valid pages come first.
    open: Vec<u32>,
    /// Logical pages below this one hold data; of the others, some do.
    filled: u32,
    /// The order in which the others were written.
    others: Shuffle,
    /// The order in which the pages that hold data lie in the blocks.
    order: Shuffle,
    /// The key of the order within each block.
    within: RngStream,
}

impl Scattered {
    /// Data in `held` pages of each block of each die. It is that of the first `filled` logical pages and of some others.
    pub fn new(
        geometry: Geometry,
        logical: u32,
        filled: u32,
        held: impl Iterator<Item = u32>,
        open: Vec<u32>,
        stream: RngStream,
    ) -> Self {
        let sums = held.scan(0, |sum, held| {
            *sum += held;
            Some(*sum)
        });
        let before: Vec<u32> = std::iter::once(0).chain(sums).collect();
        let order = Shuffle::new(u64::from(before[before.len() - 1]), stream.key(0));
        let others = Shuffle::new(u64::from(logical - filled), stream.key(1));
        Self { geometry, before, open, filled, others, order, within: stream }
    }

    /// The flash page that holds a logical page.
    pub fn flash(&self, logical: u32) -> Option<u32> {
        let page = match logical.checked_sub(self.filled) {
            None => logical,
            Some(other) => self.filled + self.others.place(u64::from(other)) as u32,
        };
        let rank = (page < self.held()).then(|| self.order.place(u64::from(page)) as u32)?;
        let number = self.before.partition_point(|before| *before <= rank) - 1;
        let (die, block) = (number as u32 / self.geometry.blocks, number as u32 % self.geometry.blocks);
        let nth = rank - self.before[number];
        let page = if self.open[die as usize] == block {
            nth
        } else {
            self.places(number).at(u64::from(nth)) as u32
        };
        Some(self.geometry.number(FlashAddress { die, block, page }))
    }

    /// The logical page that a flash page holds.
    pub fn owner(&self, flash: u32) -> Option<u32> {
        let FlashAddress { die, block, page } = self.geometry.spot(flash);
        let number = (die * self.geometry.blocks + block) as usize;
        let is_open = self.open[die as usize] == block;
        let nth = if is_open { page } else { self.places(number).place(u64::from(page)) as u32 };
        let rank = self.before[number] + nth;
        let page = (rank < self.before[number + 1]).then(|| self.order.at(u64::from(rank)) as u32)?;
        let other = page.checked_sub(self.filled);
        Some(other.map_or(page, |other| self.filled + self.others.at(u64::from(other)) as u32))
    }

    /// Number of pages that hold data.
    fn held(&self) -> u32 {
        self.before[self.before.len() - 1]
    }

    /// The order of the pages of a block, of which the first are valid.
    fn places(&self, number: usize) -> Shuffle {
        Shuffle::new(u64::from(self.geometry.block_pages()), self.within.key(2 + number as u64))
    }
}
