//! Demand of a request to a mirrored array, or one with parity, on its disks: the accesses of its layout, averaged over all positions at
//! which a request can start.

use std::collections::BTreeMap;

use headrace_work::{Block, Op};

use super::demand::{
    AccessPattern, DiskShares, MOST_SIZES, distribution_of, few_sizes, last_of, part_demands, wait_for_last,
};
use super::{Accesses, ArrayLayout, ArrayPlan, Mirror, Queueing, ReadFrom};
use crate::core::graph::View;
use crate::core::theory::{Demand, Load};

/// Places at which requests begin, at most: beyond it, some evenly spread stand for all.
const MOST_PLACES: u64 = 4096;

/// Accesses that are alike: (whether they write, bytes).
type Alike = (bool, u64);

/// The accesses of one phase, alike ones together, and how many.
type PhaseAccesses = BTreeMap<Alike, u32>;

/// A phase with its probability.
type Weighted = (PhaseAccesses, f64);

/// Merges phases of many sizes: neighbours with the same number of accesses of each operation become one phase of their mean sizes.
fn few_phases(joins: BTreeMap<PhaseAccesses, f64>) -> Vec<Weighted> {
    let mut shapes: BTreeMap<Vec<(bool, u32)>, Vec<Weighted>> = BTreeMap::new();
    for (phase, p) in joins {
        let shape = phase.iter().map(|((writes, _), many)| (*writes, *many)).collect();
        shapes.entry(shape).or_default().push((phase, p));
    }
    let of_shape = |alike: Vec<Weighted>| {
        let each = alike.len().div_ceil(MOST_SIZES);
        alike.chunks(each).map(mean_phase).collect::<Vec<_>>()
    };
    shapes.into_values().flat_map(of_shape).collect()
}

/// Returns one phase for neighbours of one shape: each access has the mean of their sizes.
fn mean_phase(neighbours: &[Weighted]) -> Weighted {
    let all: f64 = neighbours.iter().map(|(_, p)| p).sum();
    let mut sizes: Vec<(bool, f64, u32)> =
        neighbours[0].0.iter().map(|(of, many)| (of.0, 0.0, *many)).collect();
    for (phase, p) in neighbours {
        for (size, (_, bytes)) in sizes.iter_mut().zip(phase.keys()) {
            size.1 += p / all * *bytes as f64;
        }
    }
    let mut phase = PhaseAccesses::new();
    for (writes, bytes, many) in sizes {
        *phase.entry((writes, libm::round(bytes) as u64)).or_default() += many;
    }
    (phase, all)
}

/// Accesses counted over all positions.
#[derive(Default)]
struct AccessTally {
    /// The accesses that come to each disk.
    disks: Vec<DiskShares>,
    /// How probable each phase is that has several accesses, of a request.
    joins: BTreeMap<PhaseAccesses, f64>,
    /// Accesses of reads and of writes.
    accesses: [f64; 2],
    /// The phases that these are in.
    phases: [f64; 2],
}

impl AccessTally {
    /// Returns the mean number of accesses of reads, or of writes, that go on side by side.
    fn beside(&self, writes: bool) -> f64 {
        let at = usize::from(writes);
        if self.phases[at] > 0.0 { self.accesses[at] / self.phases[at] } else { 1.0 }
    }
}

impl ArrayPlan {
    /// Returns the demand on its disks, and the accesses.
    pub(super) fn redundant(
        &self,
        view: View,
        load: &Load,
    ) -> Result<(Vec<Demand>, Vec<AccessPattern>), String> {
        let name = view.path();
        if self.queueing == Queueing::SplitMerge {
            return Err(format!("requests to a redundant array overlap: those to `{name}` do not"));
        }
        if !load.uniform {
            return Err(format!("every address is equally likely: those of `{}` are not", load.stream));
        }
        let disks: Vec<View> = view.uses().take(self.layout.disks() as usize).collect();
        let mut all = AccessTally { disks: vec![DiskShares::new(); disks.len()], ..AccessTally::default() };
        let mut patterns = Vec::new();
        for &(p, op, bytes) in &load.kinds {
            let (accesses, computed) = self.count(p, (op, bytes), load, view.capacity().0, &mut all);
            patterns.push(AccessPattern { p, accesses, computed });
        }
        let mut demands = Vec::new();
        for (at, (disk, parts)) in disks.iter().zip(&all.disks).enumerate() {
            let arrivals_cv2 = self.arrivals_cv2(at, parts);
            for writes in [false, true] {
                let own = parts.iter().filter(|(_, op, _)| (*op != Op::Read) == writes).copied().collect();
                let found = part_demands(*disk, load, &few_sizes(own), all.beside(writes))?;
                demands.extend(found.into_iter().map(|demand| Demand { arrivals_cv2, ..demand }));
            }
        }
        for (phase, p) in few_phases(all.joins) {
            demands.push(join(view, disks[0], load, &phase)?.times(p, 1.0));
        }
        if let Some(first) = demands.first_mut() {
            first.fails.extend(self.fails(name, load));
        }
        Ok((demands, patterns))
    }

    /// Returns the assumption that fails, if any: writes wait for a bitmap or each other's parity, and reads that are shared out among copies reach
    /// each more regularly than at random.
    fn fails(&self, name: &str, load: &Load) -> Option<String> {
        if self.bitmap.is_some() && load.writes() {
            return Some(format!(
                "no write waits for anything but its disks: those to `{name}` wait for its bitmap"
            ));
        }
        if self.scrub.is_some() {
            return Some(format!("disks serve hosts only: those of `{name}` are read by its scrub too"));
        }
        let reads = load.kinds.iter().any(|(_, op, _)| *op == Op::Read);
        if self.hedge.is_some() && reads {
            return Some(format!("each read is sent once: `{name}` sends some to other disks too (`hedge`)"));
        }
        let is_shared = |mirror| self.copies_in_use(mirror).any(|copies| copies.len() > 1);
        match &self.layout {
            ArrayLayout::Parity(_) if load.writes() => Some(format!(
                "no request waits for another's stripe: writes that change the same parity of `{name}` do"
            )),
            ArrayLayout::Mirrored(mirror) if !is_shared(mirror) => None,
            ArrayLayout::Mirrored(_) if reads && self.read_from == ReadFrom::RoundRobin => Some(format!(
                "requests come to each copy at random: reads of `{name}` come to copies in turn (the wait is that of Krämer and \
                 Langenbach-Belz for regular arrivals)"
            )),
            ArrayLayout::Mirrored(_) if reads => Some(format!(
                "requests come to each copy at random: `{name}` chooses the copy that it reads, and reads wait less than in turn (the \
                 wait is that of copies in turn)"
            )),
            _ => None,
        }
    }

    /// The squared coefficient of variation of the time between accesses to a disk. Reads that come to n copies in turn are every n-th of
    /// a Poisson stream: Erlang, 1/n. Writes come to all copies, as they come to the array.
    fn arrivals_cv2(&self, disk: usize, parts: &DiskShares) -> f64 {
        let ArrayLayout::Mirrored(mirror) = &self.layout else { return 1.0 };
        let sum = |reads: bool| -> f64 {
            parts.iter().filter(|(_, op, _)| (*op == Op::Read) == reads).map(|(p, ..)| p).sum()
        };
        let (reads, writes) = (sum(true), sum(false));
        let mut columns = self.copies_in_use(mirror);
        let copies = columns.find(|copies| copies.contains(&disk)).map_or(1, |copies| copies.len());
        if reads > 0.0 { (reads / copies as f64 + writes) / (reads + writes) } else { 1.0 }
    }

    /// Returns the disks in use that hold each column of a mirror.
    fn copies_in_use(&self, mirror: &Mirror) -> impl Iterator<Item = Vec<usize>> {
        let of = |column| mirror.holders(column, 0, self.failed.as_slice()).map(|(_, disk)| disk).collect();
        (0..mirror.columns.disks).map(of)
    }

    /// Counts the accesses of one kind of request, over the places at which it may begin and the copies whose turn it may be. Gives them,
    /// by their mean numbers, and how many bytes parity or lost data is computed from, by their probabilities.
    fn count(
        &self,
        p: f64,
        (op, bytes): (Op, u64),
        load: &Load,
        capacity: u64,
        all: &mut AccessTally,
    ) -> (DiskShares, BTreeMap<u64, f64>) {
        let (places, align) = (self.places(bytes, load, capacity), load.align.0.max(1));
        let some = places.min(MOST_PLACES);
        let turns = match (&self.layout, op) {
            (ArrayLayout::Mirrored(mirror), Op::Read) => mirror.copies,
            _ => 1,
        };
        let share = 1.0 / (some * turns) as f64;
        let (mut found, mut computing) = (DiskShares::new(), BTreeMap::new());
        for (nth, turn) in (0..some).flat_map(|nth| (0..turns).map(move |turn| (nth, turn))) {
            let address = nth * places / some * align;
            let Accesses { first, then, computed, .. } = self.accesses(Block { op, address, bytes }, turn);
            *computing.entry(computed).or_default() += share;
            for phase in [first, then].into_iter().filter(|phase| !phase.is_empty()) {
                let mut alike = PhaseAccesses::new();
                for (disk, block) in &phase {
                    all.disks[*disk].push((p * share, block.op, block.bytes));
                    found.push((share, block.op, block.bytes));
                    *alike.entry((block.op == Op::Write, block.bytes)).or_default() += 1;
                    let at = usize::from(block.op != Op::Read);
                    all.accesses[at] += p * share;
                    all.phases[at] += p * share / phase.len() as f64;
                }
                if phase.len() > 1 {
                    *all.joins.entry(alike).or_default() += p * share;
                }
            }
        }
        (few_sizes(found), computing)
    }

    /// Number of places at which a request may begin that differ: addresses are multiples of `align`, and what lies where repeats.
    fn places(&self, bytes: u64, load: &Load, capacity: u64) -> u64 {
        let align = load.align.0.max(1);
        let period = self.layout.stripe_bytes().saturating_mul(self.layout.disks());
        (capacity.saturating_sub(bytes) / align + 1).min(period / gcd(period, align))
    }

    /// The accesses of one request; a mirror reads from each of its copies in turn.
    fn accesses(&self, request: Block, turn: u64) -> Accesses {
        let failed = self.failed.as_slice();
        let at_once = |then| Accesses { then, ..Accesses::default() };
        let of_mirror = |mirror: &Mirror| {
            mirror.read(request, |column, _| {
                let holders: Vec<usize> = mirror.holders(column, 0, failed).map(|(_, disk)| disk).collect();
                holders[(turn % holders.len() as u64) as usize]
            })
        };
        let accesses = match (&self.layout, request.op) {
            (ArrayLayout::Striped(stripes), _) => Some(at_once(stripes.parts(request).collect())),
            (_, Op::Flush) => Some(Accesses::default()),
            (ArrayLayout::Mirrored(mirror), Op::Write | Op::Discard) => mirror.write(request, failed),
            (ArrayLayout::Mirrored(mirror), Op::Read) => Some(at_once(of_mirror(mirror))),
            (ArrayLayout::Parity(parity), Op::Write | Op::Discard) => parity.write(request, failed),
            (ArrayLayout::Parity(parity), Op::Read) => parity.read(request, failed),
        };
        accesses.expect("an array that loses data is refused")
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the wait for the last access of a phase, beyond the mean one.
fn join(view: View, disk: View, load: &Load, phase: &PhaseAccesses) -> Result<Demand, String> {
    let op = |writes: bool| if writes { Op::Write } else { Op::Read };
    let distribution = |(&(writes, bytes), &many): (&Alike, &u32)| {
        Ok((many, distribution_of(disk, load, op(writes), bytes)?))
    };
    let distributions = phase.iter().map(distribution).collect::<Result<Vec<_>, String>>()?;
    let branches: u32 = distributions.iter().map(|(many, _)| many).sum();
    let mean =
        distributions.iter().map(|(many, distribution)| f64::from(*many) * distribution.mean()).sum::<f64>()
            / f64::from(branches);
    let more = (last_of(&distributions) - mean).max(0.0);
    let part = distributions
        .into_iter()
        .max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()))
        .expect("a phase has accesses")
        .1;
    let (writes, bytes) = *phase.keys().next_back().expect("a phase has accesses");
    Ok(wait_for_last(view, disk, load, (op(writes), bytes), (branches, part, more)))
}
