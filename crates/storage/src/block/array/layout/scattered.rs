//! Writes of several pieces of a stripe together, as a cache destages them: what each unit needs is read and written once.

use headrace_work::{Block, Op};

use super::{Accesses, DiskAccesses, Parity, Units};

/// Clean data between two pieces of a unit is read and written with them up to this size: an estimate. A disk passes it in less than a
/// tenth of the time of a seek, a solid-state drive in about that of an access.
const BRIDGED: u64 = 64 << 10;

/// Ranges of offsets, apart from each other and in order.
type Ranges = Vec<(u64, u64)>;

/// Adds a range that begins behind those that are there; one that is near enough to the last makes that one longer.
fn bridge(ranges: &mut Ranges, (from, to): (u64, u64)) {
    match ranges.last_mut() {
        Some(last) if from <= last.1 + BRIDGED => last.1 = last.1.max(to),
        _ => ranges.push((from, to)),
    }
}

/// Returns the parts of a range that are outside of others, as one range for each whose gaps are small.
fn outside((low, high): (u64, u64), others: &Ranges) -> Ranges {
    let (mut found, mut from) = (Ranges::new(), low);
    for &(begin, end) in others.iter().filter(|(begin, end)| *begin < high && *end > low) {
        if begin > from {
            bridge(&mut found, (from, begin));
        }
        from = from.max(end);
    }
    if from < high {
        bridge(&mut found, (from, high));
    }
    found
}

/// What is written of a stripe.
struct Pieces {
    stripe: u64,
    /// Of each unit of data, by its number: what is written, and the ranges that hold it.
    units: Vec<(Ranges, Ranges)>,
    /// The ranges of parity that change.
    parity: Ranges,
}

impl Pieces {
    fn of(layout: &Parity, pieces: &[Block]) -> Self {
        let (unit, size) = (layout.unit, layout.unit * layout.data());
        let mut units = vec![(Ranges::new(), Ranges::new()); layout.data() as usize];
        let mut changed = Ranges::new();
        let mut sorted = pieces.to_vec();
        sorted.sort_by_key(|piece| piece.address);
        let stripe = sorted[0].address / size;
        for piece in &sorted {
            let (mut from, to) = (piece.address - stripe * size, piece.end() - stripe * size);
            while from < to {
                let (n, end) = (from / unit, to.min((from / unit + 1) * unit));
                let range = (from - n * unit, end - n * unit);
                let (exact, held) = &mut units[n as usize];
                exact.push(range);
                bridge(held, range);
                changed.push(range);
                from = end;
            }
        }
        changed.sort_unstable();
        let mut parity = Ranges::new();
        changed.into_iter().for_each(|range| bridge(&mut parity, range));
        Self { stripe, units, parity }
    }

    /// Units of data with something that is written, and the ranges that hold it.
    fn written(&self) -> impl Iterator<Item = (u64, &Ranges)> {
        (0..).zip(&self.units).filter(|(_, (exact, _))| !exact.is_empty()).map(|(n, (_, held))| (n, held))
    }

    /// Units of data with something that stays where parity changes, and its ranges.
    fn kept(&self) -> Vec<(u64, Ranges)> {
        let of = |exact: &Ranges| self.parity.iter().flat_map(|range| outside(*range, exact)).collect();
        let all = (0..).zip(&self.units).map(|(n, (exact, _))| (n, of(exact)));
        all.filter(|(_, ranges): &(u64, Ranges)| !ranges.is_empty()).collect()
    }
}

impl Parity {
    /// A write of several pieces of one stripe: what must be read first, what is written, and which disks miss it. `None` where the stripe has
    /// lost more than its parity makes good.
    pub fn write_together(&self, pieces: &[Block], units: &(impl Units + ?Sized)) -> Option<Accesses> {
        let (stripe, mut accesses) = (Pieces::of(self, pieces), Accesses::default());
        self.read_around(&stripe, units, &mut accesses.first)?;
        if self.parities().any(|n| !self.is_lost(stripe.stripe, n, units)) {
            let read: u64 = accesses.first.iter().map(|(_, block)| block.bytes).sum();
            accesses.computed = read + pieces.iter().map(|piece| piece.bytes).sum::<u64>();
        }
        let mut write = |n: u64, ranges: &Ranges| {
            ranges.iter().for_each(|range| self.put_or_miss(&mut accesses, stripe.stripe, n, *range, units));
        };
        stripe.written().for_each(|(n, ranges)| write(n, ranges));
        self.parities().for_each(|n| write(n, &stripe.parity));
        Some(accesses)
    }

    /// Adds the reads before the pieces are written: of old data and parity, or of what stays, as a write of one piece does.
    fn read_around(
        &self,
        pieces: &Pieces,
        units: &(impl Units + ?Sized),
        parts: &mut DiskAccesses,
    ) -> Option<()> {
        let lost = |n: u64| self.is_lost(pieces.stripe, n, units);
        let parity: Vec<u64> = self.parities().filter(|n| !lost(*n)).collect();
        let data = (0..self.data()).filter(|n| !lost(*n)).count();
        if ((parity.len() + data) as u64) < self.data() {
            return None;
        }
        let mut read = |n: u64, ranges: &Ranges| {
            let unit = self.now(pieces.stripe, n, units);
            ranges.iter().for_each(|(from, to)| self.put(parts, Op::Read, unit, *from, *to));
        };
        if parity.is_empty() {
            // Only what lies between pieces is needed.
            pieces
                .written()
                .filter(|(n, held)| pieces.units[*n as usize].0 != **held)
                .for_each(|(n, held)| read(n, held));
            return Some(());
        }
        let kept = pieces.kept();
        let old = pieces.written().map(|(_, ranges)| ranges.len()).sum::<usize>();
        let modify = (old + parity.len() * pieces.parity.len()) as u64;
        let reconstruct = kept.iter().map(|(_, ranges)| ranges.len() as u64).sum();
        let (modifies, reconstructs) =
            (!pieces.written().any(|(n, _)| lost(n)), !kept.iter().any(|(n, _)| lost(*n)));
        match (modifies, reconstructs) {
            (true, true) if self.modifies_rather(modify, reconstruct) => {
                self.read_all_old(pieces, &parity, read)
            }
            (true, false) => self.read_all_old(pieces, &parity, read),
            (_, true) => kept.iter().for_each(|(n, ranges)| read(*n, ranges)),
            (false, false) => {
                let usable = (0..self.width).filter(|n| !lost(*n)).take(self.data() as usize);
                usable.for_each(|n| read(n, &pieces.parity));
            }
        }
        Some(())
    }

    fn read_all_old(&self, pieces: &Pieces, parity: &[u64], mut read: impl FnMut(u64, &Ranges)) {
        pieces.written().for_each(|(n, ranges)| read(n, ranges));
        parity.iter().for_each(|n| read(*n, &pieces.parity));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::{Rotation, SmallWrites, UnitPlacement};
    use super::*;

    const PAGE: u64 = 4096;
    const PAGES: u64 = 64;

    /// The units of these numbers cannot be used.
    struct Without(Vec<bool>);

    impl Units for Without {
        fn device(&self, _: u64, disk: usize, _: u64) -> Option<usize> {
            (!self.0[disk]).then_some(disk)
        }

        fn are_all_usable(&self) -> bool {
            false
        }
    }

    fn layout(data: u64, redundant: u64, small_writes: SmallWrites) -> Parity {
        let (width, unit) = (data + redundant, PAGES * PAGE);
        let placement = UnitPlacement::Rotated(Rotation::LeftSymmetric);
        Parity { width, unit, redundant, placement, small_writes }
    }

    /// The pages, by the number of the unit and the page within it, of accesses to one stripe.
    fn pages(layout: &Parity, stripe: u64, parts: &DiskAccesses, op: Op) -> BTreeSet<(u64, u64)> {
        let unit_on = |disk: usize| (0..layout.width).find(|n| layout.at(stripe, *n).0 == disk).unwrap();
        let of = |(disk, block): &(usize, Block)| {
            let from = (block.address - stripe * layout.unit) / PAGE;
            let n = unit_on(*disk);
            (from..from + block.bytes / PAGE).map(move |page| (n, page))
        };
        parts.iter().filter(|(_, block)| block.op == op).flat_map(of).collect()
    }

    proptest! {
        /// What is read is enough to know all that is written, and all that changes is written where it can be.
        #[test]
        fn parity_is_known_and_nothing_is_left_out(
            (data, redundant) in (1u64..6, 1u64..3),
            dirty in proptest::collection::btree_set((0u64..5, 0u64..PAGES), 2..40),
            lost in proptest::collection::vec(0usize..8, 0..3),
            way in 0usize..3,
            stripe in 0u64..9,
        ) {
            let way = [SmallWrites::Cheaper, SmallWrites::Reconstruct, SmallWrites::Modify][way];
            let layout = layout(data, redundant, way);
            let dirty: BTreeSet<(u64, u64)> = dirty.into_iter().map(|(n, page)| (n % data, page)).collect();
            let begin = stripe * data * layout.unit;
            let piece = |(n, page): &(u64, u64)| {
                Block { op: Op::Write, address: begin + n * layout.unit + page * PAGE, bytes: PAGE }
            };
            let pieces: Vec<Block> = dirty.iter().map(piece).collect();
            let mut without = vec![false; layout.width as usize];
            lost.iter().for_each(|disk| without[disk % layout.width as usize] = true);
            let usable = |n: u64| !without[layout.at(stripe, n).0];
            let found = layout.write_together(&pieces, &Without(without.clone()));
            prop_assert_eq!(found.is_some(), (0..layout.width).filter(|n| usable(*n)).count() as u64 >= data);
            let Some(found) = found else { return Ok(()) };
            let read = pages(&layout, stripe, &found.first, Op::Read);
            let written = pages(&layout, stripe, &found.then, Op::Write);
            prop_assert!(dirty.iter().all(|(n, page)| !usable(*n) || written.contains(&(*n, *page))));
            for page in 0..PAGES {
                let is_dirty = |n: u64| dirty.contains(&(n, page));
                let has = |n: u64| read.contains(&(n, page));
                let all_old = (0..layout.width).filter(|n| has(*n)).count() as u64 >= data;
                let all_new = (0..data).all(|n| is_dirty(n) || has(n));
                let all_changes = (0..data).all(|n| !is_dirty(n) || has(n));
                for n in (0..layout.width).filter(|n| usable(*n)) {
                    let (is_written, is_parity) = (written.contains(&(n, page)), n >= data);
                    if is_parity && (0..data).any(is_dirty) {
                        prop_assert!(is_written, "page {} of parity {} is not written", page, n);
                    }
                    let is_known = match is_parity {
                        true => all_old || all_new || all_changes && has(n),
                        false => is_dirty(n) || has(n) || all_old,
                    };
                    prop_assert!(!is_written || is_known, "page {} of unit {} is not known", page, n);
                }
            }
        }
    }

    /// Two pages of different units, of RAID 6 with six units of data: two pages of data and two of parity are read and written, where a page for
    /// itself takes six accesses.
    #[test]
    fn two_pages_of_a_stripe_share_their_parity() {
        let layout = layout(6, 2, SmallWrites::Cheaper);
        let page = |at: u64| Block { op: Op::Write, address: at * PAGE, bytes: PAGE };
        let both = layout.write_together(&[page(0), page(PAGES + 1)], &super::super::Whole).unwrap();
        assert_eq!((both.first.len(), both.then.len()), (4, 4));
        // Pages of one unit that are far apart are two accesses each.
        let far = layout.write_together(&[page(0), page(PAGES - 1)], &super::super::Whole).unwrap();
        assert_eq!((far.first.len(), far.then.len()), (6, 6));
    }

    /// Every other page of a stripe is dirty: what stays is read from each of the units of data, once, and each unit is written once.
    #[test]
    fn half_a_stripe_is_one_access_a_unit() {
        let layout = layout(6, 2, SmallWrites::Cheaper);
        let pieces: Vec<Block> =
            (0..3 * PAGES).map(|at| Block { op: Op::Write, address: 2 * at * PAGE, bytes: PAGE }).collect();
        let found = layout.write_together(&pieces, &super::super::Whole).unwrap();
        assert_eq!((found.first.len(), found.then.len()), (6, 8));
    }
}
