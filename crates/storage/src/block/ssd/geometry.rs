//! Location of flash pages: rows of pages across all dies, rows in blocks.

/// The number of bytes that the drive maps as one.
pub const PAGE: u64 = 4096;

/// The shape of a drive's flash, in pages of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of dies.
    pub dies: u32,
    /// Pages of a row of a die, one flash page of each plane: what one program writes.
    pub unit: u32,
    /// Number of parts of a row that are read independently of each other: 1, or one of each plane.
    pub parts: u32,
    /// Pages of a flash page: what one read of garbage collection gives.
    pub read: u32,
    /// Rows in a block.
    pub rows: u32,
    /// Blocks on each die.
    pub blocks: u32,
}

/// A place on flash. Its number grows along a row, then across dies, then along a block, so that data written in sequence uses all dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashAddress {
    /// On which die.
    pub die: u32,
    /// In which of its blocks.
    pub block: u32,
    /// Page within that block.
    pub page: u32,
}

impl Geometry {
    /// Number of all parts of dies that read independently.
    pub const fn read_parts(&self) -> u32 {
        self.dies * self.parts
    }

    /// Pages in a block.
    pub const fn block_pages(&self) -> u32 {
        self.rows * self.unit
    }

    /// The part of a die that reads a page, among those of all dies, and what that one read gives, among all rows' parts.
    #[inline]
    pub const fn read_of(&self, page: u32) -> (u32, u32) {
        let part = page / (self.unit / self.parts);
        (page / self.unit % self.dies * self.parts + part % self.parts, part)
    }

    /// All pages.
    pub const fn pages(&self) -> u64 {
        self.blocks as u64 * self.rows as u64 * self.dies as u64 * self.unit as u64
    }

    /// Returns the address of a page by its number.
    #[inline]
    pub const fn spot(&self, number: u32) -> FlashAddress {
        let (within, row) = (number % self.unit, number / self.unit);
        let (die, row) = (row % self.dies, row / self.dies);
        FlashAddress { die, block: row / self.rows, page: row % self.rows * self.unit + within }
    }

    /// The number of the page at a place.
    #[inline]
    pub const fn number(&self, FlashAddress { die, block, page }: FlashAddress) -> u32 {
        let row = block * self.rows + page / self.unit;
        (row * self.dies + die) * self.unit + page % self.unit
    }
}
