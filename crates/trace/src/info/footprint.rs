//! Footprint: the number of distinct bytes accessed. Exact while they form at most 2²⁰ disjoint extents, then estimated.

use super::pages::{DistinctPages, PAGE};

/// Up to this many disjoint extents are kept.
const MOST_EXTENTS: usize = 1 << 20;

/// Smallest and largest batch of one device. With 8192 devices, the smallest take 32 MiB together.
const BATCH: (usize, usize) = (1 << 8, 1 << 18);

/// Accumulates the bytes accessed on all devices.
#[derive(Default)]
pub struct Footprint {
    devices: Vec<ByteExtents>,
    /// Merged extents of all devices.
    extents: usize,
    /// Replaces the extents once there are too many.
    pages: Option<Box<DistinctPages>>,
}

impl Footprint {
    #[inline]
    pub fn add(&mut self, device: u32, begin: u64, end: u64) {
        if let Some(pages) = &mut self.pages {
            return pages.add(device, begin, end);
        }
        let at = device as usize;
        if self.devices.len() <= at {
            self.devices.resize_with(at + 1, ByteExtents::default);
        }
        if self.devices[at].add(begin, end) {
            self.merge(at);
        }
    }

    fn merge(&mut self, device: usize) {
        let extents = &mut self.devices[device];
        self.extents -= extents.merged.len();
        extents.merge();
        self.extents += extents.merged.len();
        if self.extents > MOST_EXTENTS {
            self.estimate();
        }
    }

    /// Goes on with pages instead of extents.
    fn estimate(&mut self) {
        let mut pages = Box::<DistinctPages>::default();
        for (device, extents) in (0..).zip(std::mem::take(&mut self.devices)) {
            let all = extents.merged.into_iter().chain(extents.batch);
            all.for_each(|(begin, end)| pages.add(device, begin, end));
        }
        self.pages = Some(pages);
    }

    /// The footprint and its resolution, in bytes.
    pub fn finish(mut self) -> (u64, u64) {
        for device in 0..self.devices.len() {
            // Devices are gone once their extents were replaced.
            if self.pages.is_none() {
                self.merge(device);
            }
        }
        match &self.pages {
            Some(pages) => ((pages.count() as u64).saturating_mul(PAGE), PAGE),
            None => (self.devices.iter().map(ByteExtents::bytes).fold(0, u64::saturating_add), 1),
        }
    }
}

/// The bytes accessed on one device. Extents are [begin, end).
#[derive(Default)]
struct ByteExtents {
    /// Sorted, neither overlapping nor adjacent.
    merged: Vec<(u64, u64)>,
    /// Not merged yet. Sorting a batch and merging it reads memory in order; inserting each extent into a tree takes
    /// several cache misses.
    batch: Vec<(u64, u64)>,
}

impl ByteExtents {
    /// Returns true if the batch is full and must be merged.
    #[inline]
    fn add(&mut self, begin: u64, end: u64) -> bool {
        match self.batch.last_mut() {
            Some(last) if (last.0..=last.1).contains(&begin) => last.1 = last.1.max(end),
            _ => self.batch.push((begin, end)),
        }
        self.batch.len() >= (self.merged.len() / 2).clamp(BATCH.0, BATCH.1)
    }

    fn merge(&mut self) {
        self.batch.sort_unstable_by_key(|(begin, _)| *begin);
        coalesce(&mut self.batch);
        self.merged.append(&mut self.batch);
        // The stable sort merges two sorted runs in linear time.
        self.merged.sort_by_key(|(begin, _)| *begin);
        coalesce(&mut self.merged);
    }

    /// The size of the merged extents; less than 2⁶³, as they are disjoint and end there.
    fn bytes(&self) -> u64 {
        self.merged.iter().map(|(begin, end)| end - begin).sum()
    }
}

/// Joins extents that overlap or are adjacent, of which `extents` has those that begin first in front.
fn coalesce(extents: &mut Vec<(u64, u64)>) {
    extents.dedup_by(|next, kept| {
        let joins = next.0 <= kept.1;
        kept.1 = if joins { kept.1.max(next.1) } else { kept.1 };
        joins
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The extents are the bytes accessed, however they overlap.
        #[test]
        fn the_footprint_is_what_was_touched(
            requests in prop::collection::vec((0u32..2, 0u64..200, 1u64..30), 1..60),
            every in 1usize..20,
        ) {
            let mut footprint = Footprint::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (at, (device, begin, length)) in requests.into_iter().enumerate() {
                footprint.add(device, begin, begin + length);
                bytes.extend((begin..begin + length).map(|byte| (device, byte)));
                if at % every == 0 {
                    footprint.merge(device as usize);
                }
            }
            (0..footprint.devices.len()).for_each(|device| footprint.merge(device));
            for extents in footprint.devices.iter().map(|device| &device.merged) {
                prop_assert!(extents.is_sorted_by(|a, b| a.1 < b.0), "extents are disjoint");
            }
            let kept: usize = footprint.devices.iter().map(|device| device.merged.len()).sum();
            prop_assert_eq!(footprint.extents, kept);
            prop_assert_eq!(footprint.finish(), (bytes.len() as u64, 1));
        }
    }

    /// Scattered over more extents than are kept, the bytes accessed are estimated within a few percent.
    #[test]
    fn a_scattered_footprint_is_estimated() {
        let mut footprint = Footprint::default();
        let touched = MOST_EXTENTS as u64 * 3 / 2;
        (0..touched).for_each(|i| footprint.add(0, i * 5 * PAGE, i * 5 * PAGE + PAGE));
        let (bytes, grain) = footprint.finish();
        let off = bytes as f64 / (touched * PAGE) as f64 - 1.0;
        assert!(grain == PAGE && off.abs() < 0.03, "{off}");
    }

    /// The limit holds for all devices together, also when the last batches exceed it.
    #[test]
    fn extents_are_limited_over_all_devices() {
        let footprint_of = |extents: u64| {
            let mut footprint = Footprint::default();
            (0..extents).for_each(|i| footprint.add(i as u32 % 3, i * 2 * PAGE, i * 2 * PAGE + PAGE));
            footprint.finish()
        };
        assert_eq!(footprint_of(MOST_EXTENTS as u64), (PAGE << 20, 1));
        assert_eq!(footprint_of(MOST_EXTENTS as u64 + 1).1, PAGE);
    }
}
