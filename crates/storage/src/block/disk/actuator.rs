//! The actuator: where the arm is, and from when on it is free.

use headrace_kernel::RngStream;
use headrace_work::Op;

use super::layout::{SectorSpan, Track};
use super::platter::{Platter, PlatterAccess, ReadProgress};

/// The number before that of the first read.
const READS: u64 = 1 << 63;

/// An arm over a platter.
#[derive(Clone, Copy, Debug)]
pub struct Actuator {
    track: Track,
    free_at: f64,
    /// End of its last access, in ns.
    last_access: f64,
    /// Margin added to an estimated seek when commands are chosen by positioning time, as a share of the seek.
    margin: f64,
    /// Random stream that decides which accesses lose a revolution, by their numbers.
    luck: RngStream,
    writes: u64,
    reads: u64,
}

impl Actuator {
    /// An arm at rest where the disk begins.
    pub fn new(platter: &Platter, margin: f64, luck: RngStream) -> Self {
        Self { track: platter.track_of(0), free_at: 0.0, last_access: 0.0, margin, luck, writes: 0, reads: 0 }
    }

    /// Sets the stream that decides which accesses lose a revolution.
    pub fn set_luck(&mut self, luck: RngStream) {
        self.luck = luck;
    }

    /// The track it is on.
    pub fn track(&self) -> Track {
        self.track
    }

    /// From when on it is free.
    #[inline]
    pub fn free_at(&self) -> f64 {
        self.free_at
    }

    /// Returns the end of the last access, in ns.
    pub fn last_access(&self) -> f64 {
        self.last_access
    }

    /// Keeps the arm idle before `time`.
    pub fn rest_until(&mut self, time: f64) {
        self.free_at = self.free_at.max(time);
    }

    /// Returns the estimated time from `at` until `sector` is under the head, as used for scheduling, in ns.
    pub fn positioning_ns(&self, platter: &Platter, at: f64, sector: u64, op: Op) -> f64 {
        platter.positioning_ns(at, self.track, sector, op, self.margin)
    }

    /// Seeks to `target` for `op`. Returns how long that takes.
    pub fn seek(&mut self, platter: &Platter, target: Track, op: Op) -> f64 {
        self.last_access = f64::INFINITY;
        let from = std::mem::replace(&mut self.track, target);
        platter.move_ns(from, target, op)
    }

    /// Reads or writes `span`, from `now` on or as soon as the arm is free.
    #[inline]
    pub fn access(&mut self, platter: &Platter, now: f64, span: SectorSpan, op: Op) -> PlatterAccess {
        let lost = self.turn_lost_ns(platter, op);
        let access = platter.access(now.max(self.free_at), self.track, span, op, lost);
        (self.free_at, self.last_access, self.track) = (access.end, access.end, access.track);
        access
    }

    /// Returns the additional wait of the next access after the first pass of its sector, in ns.
    fn turn_lost_ns(&mut self, platter: &Platter, op: Op) -> f64 {
        // Reads are numbered apart from writes, so that neither changes the luck of the other.
        let (count, apart) = if op == Op::Read { (&mut self.reads, READS) } else { (&mut self.writes, 0) };
        *count += 1;
        let number = apart + *count;
        platter.turn_lost_ns(op, |share| self.luck.of(number).chance(share))
    }

    /// Reads on from sector `next` until `until`, or up to `limit`. Returns the next sector to read.
    #[inline]
    pub fn read_on(&mut self, platter: &Platter, next: u64, limit: u64, until: f64) -> u64 {
        let begin = ReadProgress { next, time: self.free_at, track: self.track };
        let reading = platter.read_on(begin, limit, until);
        (self.free_at, self.last_access, self.track) = (reading.time, reading.time, reading.track);
        reading.next
    }
}
