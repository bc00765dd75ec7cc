//! Parity: of each stripe some units are computed from the others, so that as many disks may fail.

use headrace_work::{Block, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Accesses, Parts, add};

/// Stripes with units of parity: RAID 4, 5, 6, and erasure codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parity {
    /// How many disks.
    pub disks: u64,
    /// Bytes in a stripe unit.
    pub unit: u64,
    /// Units of parity in a stripe.
    pub redundant: u64,
    /// Which disks have them.
    pub rotation: Rotation,
}

/// On which disks the parity of a stripe lies. The names are those of Linux md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotation {
    /// On the last disk first, then on the one before; data begins behind the parity.
    #[default]
    LeftSymmetric,
    /// On the last disk first, then on the one before; data begins on the first disk.
    LeftAsymmetric,
    /// On the first disk first, then on the next; data begins behind the parity.
    RightSymmetric,
    /// On the first disk first, then on the next; data begins on the first disk.
    RightAsymmetric,
    /// Always on the last disks.
    Fixed,
}

/// Data bytes of one stripe, from its beginning: which are asked for.
#[derive(Clone, Copy)]
struct Span {
    stripe: u64,
    from: u64,
    to: u64,
}

impl Parity {
    /// Units of data in a stripe.
    pub fn data(&self) -> u64 {
        self.disks - self.redundant
    }

    /// The first disk with parity of a stripe; the others follow it, round the end.
    fn first_parity(&self, stripe: u64) -> u64 {
        match self.rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => self.disks - 1 - stripe % self.disks,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => stripe % self.disks,
            Rotation::Fixed => self.disks - self.redundant,
        }
    }

    /// The disk with the `n`-th unit of parity of a stripe.
    pub fn parity_disk(&self, stripe: u64, n: u64) -> usize {
        ((self.first_parity(stripe) + n) % self.disks) as usize
    }

    /// The disk with the `n`-th unit of data of a stripe.
    pub fn data_disk(&self, stripe: u64, n: u64) -> usize {
        let first = self.first_parity(stripe);
        let behind = first + self.redundant;
        (match self.rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => (behind + n) % self.disks,
            // Parity that goes round the end takes the first disks too.
            _ if behind > self.disks => n + behind - self.disks,
            _ => n + if n < first { 0 } else { self.redundant },
        }) as usize
    }

    /// The first and the last stripe of a request.
    pub fn stripes(&self, request: Block) -> (u64, u64) {
        let size = self.unit * self.data();
        (request.address / size, (request.address + request.bytes - 1) / size)
    }

    /// Whether a request covers whole stripes.
    pub fn is_whole(&self, request: Block) -> bool {
        let size = self.unit * self.data();
        request.address.is_multiple_of(size) && request.bytes.is_multiple_of(size)
    }

    fn spans(&self, request: Block) -> impl Iterator<Item = Span> + use<> {
        let (size, end) = (self.unit * self.data(), request.address + request.bytes);
        let (first, last) = self.stripes(request);
        (first..=last).map(move |stripe| Span {
            stripe,
            from: request.address.saturating_sub(stripe * size),
            to: size.min(end - stripe * size),
        })
    }

    /// A read. Units on failed disks are computed from as many others of their stripe.
    pub fn read(&self, request: Block, failed: &[bool]) -> Parts {
        let mut parts = Parts::new();
        for span in self.spans(request) {
            if self.units(span).any(|unit| failed[self.data_disk(span.stripe, unit)]) {
                self.read_to_compute(span, failed, &mut parts);
            } else {
                self.each_unit(span, |unit, from, to| {
                    self.put(&mut parts, Op::Read, span.stripe, self.data_disk(span.stripe, unit), from, to);
                });
            }
        }
        parts
    }

    /// A write: of each stripe what must be read first, and what is written.
    pub fn write(&self, request: Block, failed: &[bool]) -> Accesses {
        let mut accesses = Accesses::default();
        for span in self.spans(request) {
            self.read_before(span, failed, &mut accesses.first);
            self.each_unit(span, |unit, from, to| {
                let disk = self.data_disk(span.stripe, unit);
                self.put_unless_failed(&mut accesses.then, Op::Write, span.stripe, disk, (from, to), failed);
            });
            self.each_parity(span, Op::Write, failed, &mut accesses.then);
        }
        accesses
    }

    /// What must be read before a span is written: nothing for a whole stripe; else the old data and parity
    /// (read-modify-write), or the data that stays (reconstruct-write), whichever are fewer accesses.
    fn read_before(&self, span: Span, failed: &[bool], parts: &mut Parts) {
        let size = self.unit * self.data();
        if span.to - span.from == size || self.has_no_parity(span.stripe, failed) {
            return;
        }
        let lost = |unit: u64| failed[self.data_disk(span.stripe, unit)];
        let written = self.units(span);
        let (modifies, reconstructs) = (
            !written.clone().any(lost),
            (0..self.data()).filter(|unit| !written.contains(unit)).all(|unit| !lost(unit)),
        );
        let kept = self.kept(span);
        let usable =
            (0..self.redundant).filter(|n| !failed[self.parity_disk(span.stripe, *n)]).count() as u64;
        let modify = written.clone().count() as u64 + usable;
        // A unit that is lost and written in part is known only from all others.
        let partly = kept.iter().any(|(unit, ..)| lost(*unit));
        match (modifies, reconstructs && !partly) {
            (true, true) if modify < kept.len() as u64 => self.read_old(span, failed, parts),
            (true, false) => self.read_old(span, failed, parts),
            (_, true) => kept.iter().for_each(|&(unit, from, to)| {
                self.put(parts, Op::Read, span.stripe, self.data_disk(span.stripe, unit), from, to);
            }),
            (false, false) => self.read_to_compute(span, failed, parts),
        }
    }

    fn has_no_parity(&self, stripe: u64, failed: &[bool]) -> bool {
        (0..self.redundant).all(|n| failed[self.parity_disk(stripe, n)])
    }

    /// The old data and parity.
    fn read_old(&self, span: Span, failed: &[bool], parts: &mut Parts) {
        self.each_unit(span, |unit, from, to| {
            self.put(parts, Op::Read, span.stripe, self.data_disk(span.stripe, unit), from, to);
        });
        self.each_parity(span, Op::Read, failed, parts);
    }

    /// The data whose parity is written and which stays: unit, from, to.
    fn kept(&self, span: Span) -> Vec<(u64, u64, u64)> {
        let (low, high) = self.offsets(span);
        let mut kept = Vec::new();
        for unit in 0..self.data() {
            let begin = unit * self.unit;
            let from = span.from.clamp(begin + low, begin + high) - begin;
            let to = span.to.clamp(begin + low, begin + high) - begin;
            // What is written lies at one end of the unit, or nowhere in it.
            let [before, after] = [(low, from), (to, high)];
            let ends = if from >= to { [(low, high), (0, 0)] } else { [before, after] };
            kept.extend(ends.into_iter().filter(|(a, b)| a < b).map(|(a, b)| (unit, a, b)));
        }
        kept
    }

    /// As many units of a stripe as it takes to compute all others, at the offsets of the span.
    fn read_to_compute(&self, span: Span, failed: &[bool], parts: &mut Parts) {
        let (low, high) = self.offsets(span);
        let data = (0..self.data()).map(|unit| self.data_disk(span.stripe, unit));
        let parity = (0..self.redundant).map(|n| self.parity_disk(span.stripe, n));
        let usable = data.chain(parity).filter(|disk| !failed[*disk]).take(self.data() as usize);
        usable.for_each(|disk| self.put(parts, Op::Read, span.stripe, disk, low, high));
    }

    fn each_parity(&self, span: Span, op: Op, failed: &[bool], parts: &mut Parts) {
        let offsets = self.offsets(span);
        for n in 0..self.redundant {
            let disk = self.parity_disk(span.stripe, n);
            self.put_unless_failed(parts, op, span.stripe, disk, offsets, failed);
        }
    }

    /// The units of a stripe that a span touches.
    fn units(&self, span: Span) -> std::ops::RangeInclusive<u64> {
        span.from / self.unit..=(span.to - 1) / self.unit
    }

    /// Each unit that a span touches, with the offsets in it.
    fn each_unit(&self, span: Span, mut act: impl FnMut(u64, u64, u64)) {
        for unit in self.units(span) {
            let begin = unit * self.unit;
            act(unit, span.from.max(begin) - begin, span.to.min(begin + self.unit) - begin);
        }
    }

    /// The offsets within a unit at which parity changes: those of the span, or the whole unit where it touches two.
    fn offsets(&self, span: Span) -> (u64, u64) {
        let units = self.units(span);
        let begin = units.start() * self.unit;
        if units.start() == units.end() { (span.from - begin, span.to - begin) } else { (0, self.unit) }
    }

    fn put(&self, parts: &mut Parts, op: Op, stripe: u64, disk: usize, from: u64, to: u64) {
        add(parts, disk, op, stripe * self.unit + from, to - from);
    }

    fn put_unless_failed(
        &self,
        parts: &mut Parts,
        op: Op,
        stripe: u64,
        disk: usize,
        (from, to): (u64, u64),
        failed: &[bool],
    ) {
        if !failed[disk] {
            self.put(parts, op, stripe, disk, from, to);
        }
    }
}
