//! Striping: which bytes lie on which disk.

use headrace_units::Bytes;
use headrace_work::{Block, Op};

use crate::block::array::FirstUnit;

/// Stripe units dealt out to the disks in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// Number of disks.
    pub disks: u64,
    /// Bytes in a stripe unit.
    pub unit: u64,
    /// Disk on which a request starts.
    pub first_unit: FirstUnit,
}

impl Stripes {
    /// The parts of a request, at most one a disk: units of one disk that follow each other in the stripes lie
    /// side by side on it. In the order of the request's bytes.
    #[inline]
    pub fn parts(&self, request: Block) -> impl Iterator<Item = (usize, Block)> + use<> {
        let Self { disks, unit, .. } = *self;
        let address = match self.first_unit {
            FirstUnit::Addressed => request.address,
            FirstUnit::FirstDisk => request.address / (unit * disks) * (unit * disks),
        };
        let end = address + request.bytes;
        let (first, last) = (address / unit, (end - 1) / unit);
        (first..=last.min(first + disks - 1)).map(move |from| {
            // This disk has the units from, from + disks, … up to the last one not beyond the request's.
            let to = last - (last - from) % disks;
            let head = address.saturating_sub(from * unit);
            let tail = (to * unit + unit).saturating_sub(end);
            let units = (to - from) / disks + 1;
            let part =
                Block { address: from / disks * unit + head, bytes: units * unit - head - tail, ..request };
            ((from % disks) as usize, part)
        })
    }

    /// The units that a request touches: column, stripe, and what of it lies there.
    pub fn units(&self, request: Block) -> impl Iterator<Item = (u64, u64, Block)> + use<> {
        let Self { disks, unit, .. } = *self;
        let end = request.address + request.bytes;
        (request.address / unit..=(end - 1) / unit).map(move |at| {
            let (from, to) = (request.address.max(at * unit), end.min((at + 1) * unit));
            let address = at / disks * unit + from - at * unit;
            (at % disks, at / disks, Block { address, bytes: to - from, ..request })
        })
    }

    /// The parts of a request of `bytes` that begins at a unit's beginning, alike ones together: how many, and of how many
    /// bytes each, the largest first.
    pub fn part_kinds(&self, bytes: u64) -> Vec<(u32, u64)> {
        let mut sizes = self.part_sizes(bytes);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let alike = sizes.chunk_by(|a, b| a == b);
        alike.map(|parts| (parts.len() as u32, parts[0])).collect()
    }

    /// The bytes of an array of disks that hold `each`: whole stripes only.
    pub fn capacity(&self, each: Bytes) -> Bytes {
        Bytes((each.0 / self.unit * self.unit).saturating_mul(self.disks))
    }

    /// Over how many disks such a request is spread.
    pub fn parts_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.unit).min(self.disks)
    }

    /// Returns the bytes of each disk's part of a request of `bytes` that starts at a unit boundary: disk i of the n gets ⌊k/n⌋ + \[i < k
    /// mod n\] of k whole units (the paper's Eq. 1).
    pub fn part_sizes(&self, bytes: u64) -> Vec<u64> {
        let request = Block { op: Op::Read, address: 0, bytes };
        self.parts(request).map(|(_, part)| part.bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(address: u64, bytes: u64) -> Block {
        Block { op: Op::Read, address, bytes }
    }

    /// The paper's example: 7 blocks on 3 disks are 3, 2 and 2 (T003-1).
    #[test]
    fn seven_blocks_on_three_disks() {
        let stripes = Stripes { disks: 3, unit: 128, first_unit: FirstUnit::FirstDisk };
        assert_eq!(stripes.part_sizes(7 * 128), [3 * 128, 2 * 128, 2 * 128]);
        assert_eq!(stripes.part_sizes(2 * 128), [128, 128], "k < n: the third disk has no part");
        let first: Vec<usize> = stripes.parts(request(5 * 128, 256)).map(|(disk, _)| disk).collect();
        assert_eq!(first, [0, 1], "the request begins on the first disk whatever its address");
    }

    proptest! {
        /// Every byte of a request lies in exactly one part, at the place the layout gives it.
        #[test]
        fn parts_are_the_request(disks in 1u64..9, unit in 1u64..40, address in 0u64..2000, bytes in 1u64..900) {
            let stripes = Stripes { disks, unit, first_unit: FirstUnit::Addressed };
            let mut expected: Vec<(u64, u64)> = (address..address + bytes)
                .map(|byte| (byte / unit % disks, byte / (unit * disks) * unit + byte % unit))
                .collect();
            let mut found: Vec<(u64, u64)> = stripes
                .parts(request(address, bytes))
                .flat_map(|(disk, part)| (part.address..part.address + part.bytes).map(move |byte| (disk as u64, byte)))
                .collect();
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            let mut touched: Vec<usize> = stripes.parts(request(address, bytes)).map(|(disk, _)| disk).collect();
            touched.sort_unstable();
            touched.dedup();
            prop_assert_eq!(touched.len(), stripes.parts(request(address, bytes)).count(), "one part a disk");
        }
    }
}
