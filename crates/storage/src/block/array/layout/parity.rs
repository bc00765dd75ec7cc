//! Parity: of each stripe some units are computed from the others, so that as many disks may fail.

use std::ops::RangeInclusive;

use headrace_work::{Block, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Accesses, Declustered, DiskAccesses, Units, add};

/// Stripes with units of parity: RAID 4, 5, 6, and erasure codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parity {
    /// Units in a stripe: those of data first, then those of parity.
    pub width: u64,
    /// Bytes in a stripe unit.
    pub unit: u64,
    /// Units of parity in a stripe.
    pub redundant: u64,
    /// Placement of units on disks.
    pub placement: UnitPlacement,
    /// Reads before writes of less than a stripe.
    pub small_writes: SmallWrites,
}

/// Reads before a write of less than a stripe, where both ways are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SmallWrites {
    /// Whichever takes fewer accesses.
    #[default]
    Cheaper,
    /// The data of the stripe that stays (reconstruct-write, a partial write of Ceph).
    Reconstruct,
    /// The old data and parity (read-modify-write, a parity delta of Ceph).
    Modify,
}

/// On which disks the units of a stripe lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitPlacement {
    /// Each stripe on all disks; parity moves from disk to disk.
    Rotated(Rotation),
    /// Each stripe on some of the disks.
    Declustered(Declustered),
}

/// Placement of parity, with the names of Linux md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotation {
    /// Parity moves from the last disk to the first; data starts after the parity.
    #[default]
    LeftSymmetric,
    /// Parity moves from the last disk to the first; data starts on the first disk.
    LeftAsymmetric,
    /// Parity moves from the first disk to the last; data starts after the parity.
    RightSymmetric,
    /// Parity moves from the first disk to the last; data starts on the first disk.
    RightAsymmetric,
    /// Always on the last disks.
    Fixed,
}

fn bytes_of(parts: &DiskAccesses) -> u64 {
    parts.iter().map(|(_, block)| block.bytes).sum()
}

/// Data bytes of one stripe, from its beginning: which are asked for.
#[derive(Clone, Copy)]
struct StripeSpan {
    stripe: u64,
    from: u64,
    to: u64,
}

impl Rotation {
    /// The first of `width` disks with one of `redundant` units of parity of a stripe; the others follow it, round the end.
    fn first_parity(self, stripe: u64, width: u64, redundant: u64) -> u64 {
        match self {
            Self::LeftSymmetric | Self::LeftAsymmetric => width - 1 - stripe % width,
            Self::RightSymmetric | Self::RightAsymmetric => stripe % width,
            Self::Fixed => width - redundant,
        }
    }

    /// The disk with the `n`-th unit of a stripe.
    fn disk(self, stripe: u64, n: u64, width: u64, redundant: u64) -> u64 {
        let (first, data) = (self.first_parity(stripe, width, redundant), width - redundant);
        if n >= data {
            return (first + n - data) % width;
        }
        let behind = first + redundant;
        match self {
            Self::LeftSymmetric | Self::RightSymmetric => (behind + n) % width,
            // Parity that goes round the end takes the first disks too.
            _ if behind > width => n + behind - width,
            _ => n + if n < first { 0 } else { redundant },
        }
    }
}

impl Parity {
    /// Units of data in a stripe.
    pub fn data(&self) -> u64 {
        self.width - self.redundant
    }

    /// Returns the number of disks.
    pub fn disks(&self) -> u64 {
        match &self.placement {
            UnitPlacement::Rotated(_) => self.width,
            UnitPlacement::Declustered(placement) => placement.disks(),
        }
    }

    /// Returns the number of stripes on disks of `each` bytes.
    pub fn stripes_on(&self, each: u64) -> u64 {
        match &self.placement {
            UnitPlacement::Rotated(_) => each / self.unit,
            UnitPlacement::Declustered(placement) => placement.stripes(each / self.unit),
        }
    }

    /// The disk and the row of the `n`-th unit of a stripe.
    #[inline]
    pub fn at(&self, stripe: u64, n: u64) -> (usize, u64) {
        match &self.placement {
            UnitPlacement::Rotated(rotation) => {
                (rotation.disk(stripe, n, self.width, self.redundant) as usize, stripe)
            }
            UnitPlacement::Declustered(placement) => placement.at(stripe, n),
        }
    }

    /// The device and the row of the `n`-th unit of a stripe; `None` where it cannot be used.
    #[inline]
    pub(super) fn now(&self, stripe: u64, n: u64, units: &(impl Units + ?Sized)) -> Option<(usize, u64)> {
        let (disk, row) = self.at(stripe, n);
        Some((units.device(stripe, disk, row)?, row))
    }

    /// Returns true if the `n`-th unit of a stripe cannot be used.
    #[inline]
    pub(super) fn is_lost(&self, stripe: u64, n: u64, units: &(impl Units + ?Sized)) -> bool {
        !units.are_all_usable() && self.now(stripe, n, units).is_none()
    }

    /// The numbers of the units of parity.
    pub(super) fn parities(&self) -> std::ops::Range<u64> {
        self.data()..self.width
    }

    /// Devices and rows of as many units of a stripe as it takes to compute all others, from one on that changes with the stripe, so that
    /// all disks have their share of a rebuild. `None` where there are too few.
    pub fn survivors(&self, stripe: u64, units: &(impl Units + ?Sized)) -> Option<Vec<(usize, u64)>> {
        let all = (0..self.width).map(|n| (stripe + n) % self.width);
        let usable = all.filter_map(|n| self.now(stripe, n, units)).take(self.data() as usize);
        let usable: Vec<(usize, u64)> = usable.collect();
        (usable.len() as u64 == self.data()).then_some(usable)
    }

    /// The first and the last stripe of a request.
    pub fn stripes(&self, request: Block) -> (u64, u64) {
        let size = self.unit * self.data();
        (request.address / size, (request.address + request.bytes - 1) / size)
    }

    /// The offsets of parity that a write changes, counted through all stripes: from, and to before. Writes that share none of them
    /// do not have to wait for each other.
    pub fn changed(&self, request: Block) -> (u64, u64) {
        let (size, end) = (self.unit * self.data(), request.address + request.bytes);
        let (first, last) = self.stripes(request);
        let head = StripeSpan {
            stripe: first,
            from: request.address - first * size,
            to: size.min(end - first * size),
        };
        let tail = StripeSpan {
            stripe: last,
            from: request.address.saturating_sub(last * size),
            to: end - last * size,
        };
        (first * self.unit + self.offsets(head).0, last * self.unit + self.offsets(tail).1)
    }

    /// Returns true if a request covers whole stripes.
    pub fn is_whole(&self, request: Block) -> bool {
        let size = self.unit * self.data();
        request.address.is_multiple_of(size) && request.bytes.is_multiple_of(size)
    }

    fn spans(&self, request: Block) -> impl Iterator<Item = StripeSpan> + use<> {
        let (size, end) = (self.unit * self.data(), request.address + request.bytes);
        let (first, last) = self.stripes(request);
        (first..=last).map(move |stripe| StripeSpan {
            stripe,
            from: request.address.saturating_sub(stripe * size),
            to: size.min(end - stripe * size),
        })
    }

    /// A read. Units that cannot be used are computed from as many others of their stripe; `None` where there are too few.
    pub fn read(&self, request: Block, units: &(impl Units + ?Sized)) -> Option<Accesses> {
        let mut accesses = Accesses::default();
        for span in self.spans(request) {
            if self.touched(span).any(|n| self.is_lost(span.stripe, n, units)) {
                let before = bytes_of(&accesses.then);
                self.read_to_compute(span, units, &mut accesses.then)?;
                accesses.computed += bytes_of(&accesses.then) - before;
            } else {
                self.read_touched(span, units, &mut accesses.then);
            }
        }
        Some(accesses)
    }

    /// A write: of each stripe what must be read first, what is written, and which disks miss it. `None` where a stripe has lost more
    /// than its parity makes good.
    pub fn write(&self, request: Block, units: &(impl Units + ?Sized)) -> Option<Accesses> {
        let mut accesses = Accesses::default();
        for span in self.spans(request) {
            let before = bytes_of(&accesses.first);
            self.read_before(span, units, &mut accesses.first)?;
            // New parity is the sum of what was read and what is written (Chen, Lee, Gibson, Katz and Patterson, 1994): of old data,
            // old parity and new data, or of all data.
            if self.parities().any(|n| !self.is_lost(span.stripe, n, units)) {
                accesses.computed += bytes_of(&accesses.first) - before + (span.to - span.from);
            }
            self.each_unit(span, |n, from, to| {
                self.put_or_miss(&mut accesses, span.stripe, n, (from, to), units)
            });
            let offsets = self.offsets(span);
            self.parities().for_each(|n| self.put_or_miss(&mut accesses, span.stripe, n, offsets, units));
        }
        Some(accesses)
    }

    /// Adds the reads before a span is written: none for a whole stripe; otherwise the old data and parity (read-modify-write), or the
    /// remaining data (reconstruct-write), as `small_writes` says.
    fn read_before(
        &self,
        span: StripeSpan,
        units: &(impl Units + ?Sized),
        parts: &mut DiskAccesses,
    ) -> Option<()> {
        let lost = |n: u64| self.is_lost(span.stripe, n, units);
        let parity = self.parities().filter(|n| !lost(*n)).count() as u64;
        let data = (0..self.data()).filter(|n| !lost(*n)).count() as u64;
        if parity + data < self.data() {
            return None;
        }
        let size = self.unit * self.data();
        if span.to - span.from == size || parity == 0 {
            return Some(());
        }
        let written = self.touched(span);
        let (modifies, reconstructs) =
            (!written.clone().any(lost), (0..self.data()).filter(|n| !written.contains(n)).all(|n| !lost(n)));
        let kept = self.kept(span);
        let modify = written.clone().count() as u64 + parity;
        // A unit that is lost and written in part is known only from all others.
        let partly = kept.clone().any(|(n, ..)| lost(n));
        match (modifies, reconstructs && !partly) {
            (true, true) if self.modifies_rather(modify, kept.clone().count() as u64) => {
                self.read_old(span, units, parts)
            }
            (true, false) => self.read_old(span, units, parts),
            (_, true) => kept.for_each(|(n, from, to)| {
                self.put(parts, Op::Read, self.now(span.stripe, n, units), from, to);
            }),
            (false, false) => self.read_to_compute(span, units, parts)?,
        }
        Some(())
    }

    /// Returns true if a small write reads old data and parity, which takes `modify` accesses, rather than the data that stays, which takes
    /// `reconstruct`.
    pub(super) fn modifies_rather(&self, modify: u64, reconstruct: u64) -> bool {
        match self.small_writes {
            SmallWrites::Cheaper => modify < reconstruct,
            SmallWrites::Reconstruct => false,
            SmallWrites::Modify => true,
        }
    }

    /// The old data and parity.
    fn read_old(&self, span: StripeSpan, units: &(impl Units + ?Sized), parts: &mut DiskAccesses) {
        self.read_touched(span, units, parts);
        let (low, high) = self.offsets(span);
        self.parities().for_each(|n| self.put(parts, Op::Read, self.now(span.stripe, n, units), low, high));
    }

    fn read_touched(&self, span: StripeSpan, units: &(impl Units + ?Sized), parts: &mut DiskAccesses) {
        self.each_unit(span, |n, from, to| {
            self.put(parts, Op::Read, self.now(span.stripe, n, units), from, to);
        });
    }

    /// The data whose parity is written and which stays: unit, from, to.
    fn kept(&self, span: StripeSpan) -> impl Iterator<Item = (u64, u64, u64)> + Clone + use<> {
        let ((low, high), size) = (self.offsets(span), self.unit);
        (0..self.data()).flat_map(move |unit| {
            let begin = unit * size;
            let from = span.from.clamp(begin + low, begin + high) - begin;
            let to = span.to.clamp(begin + low, begin + high) - begin;
            // What is written lies at one end of the unit, or nowhere in it.
            let [before, after] = [(low, from), (to, high)];
            let ends = if from >= to { [(low, high), (0, 0)] } else { [before, after] };
            ends.into_iter().filter(|(a, b)| a < b).map(move |(a, b)| (unit, a, b))
        })
    }

    /// As many units of a stripe as it takes to compute all others, at the offsets of the span.
    fn read_to_compute(
        &self,
        span: StripeSpan,
        units: &(impl Units + ?Sized),
        parts: &mut DiskAccesses,
    ) -> Option<()> {
        let (low, high) = self.offsets(span);
        let usable =
            (0..self.width).filter_map(|n| self.now(span.stripe, n, units)).take(self.data() as usize);
        let found = usable.map(|unit| self.put(parts, Op::Read, Some(unit), low, high)).count();
        (found as u64 == self.data()).then_some(())
    }

    /// The units of data of a stripe that a span touches.
    fn touched(&self, span: StripeSpan) -> RangeInclusive<u64> {
        span.from / self.unit..=(span.to - 1) / self.unit
    }

    /// Each unit that a span touches, with the offsets in it.
    fn each_unit(&self, span: StripeSpan, mut act: impl FnMut(u64, u64, u64)) {
        for n in self.touched(span) {
            let begin = n * self.unit;
            act(n, span.from.max(begin) - begin, span.to.min(begin + self.unit) - begin);
        }
    }

    /// The offsets within a unit at which parity changes: those of the span, or the whole unit where it touches two.
    fn offsets(&self, span: StripeSpan) -> (u64, u64) {
        let touched = self.touched(span);
        let begin = touched.start() * self.unit;
        if touched.start() == touched.end() { (span.from - begin, span.to - begin) } else { (0, self.unit) }
    }

    pub(super) fn put(
        &self,
        parts: &mut DiskAccesses,
        op: Op,
        unit: Option<(usize, u64)>,
        from: u64,
        to: u64,
    ) {
        if let Some((device, row)) = unit {
            add(parts, device, op, row * self.unit + from, to - from);
        }
    }

    /// Writes a unit, or notes that its disk misses it.
    pub(super) fn put_or_miss(
        &self,
        accesses: &mut Accesses,
        stripe: u64,
        n: u64,
        (from, to): (u64, u64),
        units: &(impl Units + ?Sized),
    ) {
        match self.now(stripe, n, units) {
            None => accesses.missed.push((self.at(stripe, n).0, stripe)),
            unit => self.put(&mut accesses.then, Op::Write, unit, from, to),
        }
    }
}
