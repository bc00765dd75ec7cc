//! Mirroring: several disks hold the same bytes.

use headrace_work::{Block, Op};

use super::{Accesses, DiskAccesses, Stripes, Units, add};

/// Columns of data striped as in RAID 0, each on several disks. RAID 1 has one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Striping of the columns.
    pub columns: Stripes,
    /// Number of disks that hold each column.
    pub copies: u64,
    /// Rule that pairs disks with the same column.
    pub pairing: Pairing,
}

/// Rule that pairs disks with the same column.
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

    /// Returns true if a copy of a column can be used in a stripe.
    fn is_usable(&self, column: u64, copy: u64, stripe: u64, units: &(impl Units + ?Sized)) -> bool {
        let can = |column: u64| units.device(stripe, self.disk(column, copy), stripe).is_some();
        match self.pairing {
            Pairing::Neighbours => can(column),
            Pairing::Sides => (0..self.columns.disks).all(can),
        }
    }

    /// The usable copies of a column in a stripe, each with its device.
    pub fn holders<'u>(
        self,
        column: u64,
        stripe: u64,
        units: &'u (impl Units + ?Sized),
    ) -> impl Iterator<Item = (u64, usize)> + 'u {
        let usable = (0..self.copies).filter(move |copy| self.is_usable(column, *copy, stripe, units));
        usable.filter_map(move |copy| Some((copy, units.device(stripe, self.disk(column, copy), stripe)?)))
    }

    /// Returns true if every column is on a usable disk.
    pub fn survives(&self, failed: &[bool]) -> bool {
        self.has(0, failed)
    }

    /// Returns true if every column of a stripe is on a usable disk.
    pub fn has(&self, stripe: u64, units: &(impl Units + ?Sized)) -> bool {
        (0..self.columns.disks).all(|column| self.holders(column, stripe, units).next().is_some())
    }

    /// Returns true if every column of a stripe exists somewhere, even on a device that is down.
    pub fn keeps(&self, stripe: u64, units: &impl Units) -> bool {
        let kept = |disk: usize| units.device(stripe, disk, stripe).is_some();
        let copies = |column: u64| (0..self.copies).any(|copy| kept(self.disk(column, copy)));
        (0..self.columns.disks).all(copies)
    }

    /// A device with the same unit as `disk`. Of a side that is out of use as a whole, disks that work still have theirs.
    pub fn source(&self, stripe: u64, disk: usize, units: &impl Units) -> Option<usize> {
        let column = match self.pairing {
            Pairing::Neighbours => disk as u64 / self.copies,
            Pairing::Sides => disk as u64 % self.columns.disks,
        };
        let copies = (0..self.copies).map(|copy| self.disk(column, copy));
        copies.filter(|copy| *copy != disk).find_map(|copy| units.device(stripe, copy, stripe))
    }

    /// A write: each part of it to every usable device that holds it. `None` where a part has no copy.
    pub fn write(&self, request: Block, units: &(impl Units + ?Sized)) -> Option<Accesses> {
        let mut accesses = Accesses::default();
        for (column, stripe, part) in self.columns.units(request) {
            let mut held = false;
            for (_, device) in self.holders(column, stripe, units) {
                add(&mut accesses.then, device, Op::Write, part.address, part.bytes);
                held = true;
            }
            if !held {
                return None;
            }
            let out = (0..self.copies).filter(|copy| !self.is_usable(column, *copy, stripe, units));
            accesses.missed.extend(out.map(|copy| (self.disk(column, copy), stripe)));
        }
        Some(accesses)
    }

    /// A read of a whole array: each part of it from the disk that `choose` takes for its column and its address there.
    pub fn read(&self, request: Block, choose: impl Fn(u64, u64) -> usize) -> DiskAccesses {
        let chosen = |(column, part): (usize, Block)| (choose(column as u64, part.address), part);
        self.columns.parts(request).map(chosen).collect()
    }

    /// Adds reads unit by unit, if copies are not all in the same state: `choose` returns a device for a column, a stripe and an address,
    /// which continues with the column's next units as far as it has them. Returns `None` if a unit has no copy.
    pub fn read_units(
        &self,
        request: Block,
        units: &(impl Units + ?Sized),
        choose: impl Fn(u64, u64, u64) -> Option<usize>,
    ) -> Option<DiskAccesses> {
        let (mut parts, mut last) = (DiskAccesses::new(), vec![None; self.columns.disks as usize]);
        for (column, stripe, part) in self.columns.units(request) {
            let has = |device: &usize| self.holders(column, stripe, units).any(|(_, it)| it == *device);
            let last = &mut last[column as usize];
            let device = last.filter(has).or_else(|| choose(column, stripe, part.address))?;
            *last = Some(device);
            add(&mut parts, device, Op::Read, part.address, part.bytes);
        }
        Some(parts)
    }
}
