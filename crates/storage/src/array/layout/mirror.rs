//! Mirroring: several disks hold the same bytes.

use headrace_work::Block;

use super::{Parts, Stripes};

/// Columns of data striped as in RAID 0, each on several disks. RAID 1 has one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// How the columns are striped.
    pub columns: Stripes,
    /// How many disks hold each column.
    pub copies: u64,
    /// Which disks hold the same column.
    pub pairing: Pairing,
}

/// Which disks hold the same column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Neighbours, so that each pair fails by itself: stripes over mirrors (RAID 10).
    Neighbours,
    /// Disks of whole striped sides; a side with a failed disk is out of use: mirrors of stripes (RAID 01).
    Sides,
}

impl Mirror {
    /// The disk with a copy of a column.
    pub fn disk(&self, column: u64, copy: u64) -> usize {
        (match self.pairing {
            Pairing::Neighbours => column * self.copies + copy,
            Pairing::Sides => copy * self.columns.disks + column,
        }) as usize
    }

    /// Whether a copy of a column can be used.
    fn is_usable(&self, column: u64, copy: u64, failed: &[bool]) -> bool {
        match self.pairing {
            Pairing::Neighbours => !failed[self.disk(column, copy)],
            Pairing::Sides => (0..self.columns.disks).all(|other| !failed[self.disk(other, copy)]),
        }
    }

    /// The usable copies of a column, each with its disk.
    pub fn holders<'f>(self, column: u64, failed: &'f [bool]) -> impl Iterator<Item = (u64, usize)> + 'f {
        let usable = (0..self.copies).filter(move |copy| self.is_usable(column, *copy, failed));
        usable.map(move |copy| (copy, self.disk(column, copy)))
    }

    /// Whether every column is on a usable disk.
    pub fn survives(&self, failed: &[bool]) -> bool {
        (0..self.columns.disks).all(|column| self.holders(column, failed).next().is_some())
    }

    /// A write: each part of it to every usable disk that holds it.
    pub fn write(&self, request: Block, failed: &[bool]) -> Parts {
        let copies = |(column, part): (usize, Block)| {
            self.holders(column as u64, failed).map(move |(_, disk)| (disk, part))
        };
        self.columns.parts(request).flat_map(copies).collect()
    }

    /// A read: each part of it from the disk that `choose` takes for its column and its address there.
    pub fn read(&self, request: Block, choose: impl Fn(u64, u64) -> usize) -> Parts {
        let chosen = |(column, part): (usize, Block)| (choose(column as u64, part.address), part);
        self.columns.parts(request).map(chosen).collect()
    }
}
