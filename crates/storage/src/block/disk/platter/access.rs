//! Sectors that pass under the head in an access, and their times.

use std::mem::take;

use headrace_work::Op;
use smallvec::SmallVec;

use super::Platter;
use crate::block::disk::layout::{SectorSpan, Track};

/// Sectors of one track, read or written without a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Number of sectors.
    pub sectors: u64,
    /// Number of sectors that pass from `begin` on; the rest, which lie behind these, passed before.
    pub to_pass: u64,
    /// Time at which the first sector began to pass, in ns.
    pub begin: f64,
    /// Time for each sector, in ns.
    pub each: f64,
}

impl Sweep {
    /// Returns the time at which the last sector has passed, in ns.
    #[inline]
    pub fn end(&self) -> f64 {
        self.begin + self.to_pass as f64 * self.each
    }
}

/// An access: what was swept, and where that leaves the arm.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatterAccess {
    /// In the order of sectors.
    pub sweeps: SmallVec<[Sweep; 2]>,
    /// The last track.
    pub track: Track,
    /// Time for the arm to reach the first sector, in ns.
    pub moved_ns: f64,
    /// Rotational delay after that, in ns.
    pub waited_ns: f64,
    /// End of the access, in ns.
    pub end: f64,
}

impl PlatterAccess {
    /// Returns the number of sectors.
    pub fn sectors(&self) -> u64 {
        self.sweeps.iter().map(|sweep| sweep.sectors).sum()
    }

    /// Returns the time at which the first `many` sectors have passed, in ns.
    pub fn time_of(&self, many: u64) -> f64 {
        let mut left = many;
        for sweep in &self.sweeps {
            if left <= sweep.sectors {
                return sweep.begin + left.min(sweep.to_pass) as f64 * sweep.each;
            }
            left -= sweep.sectors;
        }
        self.end
    }
}

/// Progress of reading ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadProgress {
    /// The next sector.
    pub next: u64,
    /// Time at which the last sector passed, in ns.
    pub time: f64,
    /// Position of the arm.
    pub track: Track,
}

impl Platter {
    /// Reads or writes `span`, with the arm free at `now` and on `from`. The first sector waits `lost` longer than until it comes
    /// by.
    #[inline]
    pub fn access(&self, now: f64, from: Track, span: SectorSpan, op: Op, lost: f64) -> PlatterAccess {
        let mut access =
            PlatterAccess { sweeps: SmallVec::new(), track: from, moved_ns: 0.0, waited_ns: 0.0, end: now };
        let (mut next, mut lost) = (span.first, lost);
        while next < span.end {
            let run = self.layout.run(next);
            let (sectors, each) = (run.sectors.min(span.end - next), run.width * self.revolution_ns);
            let moved = self.move_ns(access.track, run.track, op);
            let on_track = access.end + moved;
            let wait = self.turn_ns(on_track, run.angle);
            let to_pass = self.still_to_pass(wait, sectors, each, op);
            let waited = wait + take(&mut lost);
            if access.sweeps.is_empty() {
                (access.moved_ns, access.waited_ns) = (moved, waited);
            }
            let sweep = Sweep { sectors, to_pass, begin: on_track + waited, each };
            access.sweeps.push(sweep);
            (access.end, access.track, next) = (sweep.end(), run.track, next + sectors);
        }
        access
    }

    /// Returns the number of `sectors` that still pass if the first comes `wait` after the head is on their track. With zero-latency
    /// access, a head that settles among them has passed the others by then.
    #[inline]
    fn still_to_pass(&self, wait: f64, sectors: u64, each: f64, op: Op) -> u64 {
        let anywhere = if op == Op::Read { self.zero_latency_reads } else { self.zero_latency_writes };
        if !anywhere {
            return sectors;
        }
        // The sector in which it comes down is lost to it.
        let before_head = ((self.revolution_ns - wait) / each).ceil() as u64;
        sectors.min(before_head)
    }

    /// Reads on until `until`, or up to sector `limit`.
    #[inline]
    pub fn read_on(&self, from: ReadProgress, limit: u64, until: f64) -> ReadProgress {
        let mut reading = from;
        while reading.next < limit && reading.time < until {
            if !self.read_track(&mut reading, limit, until) {
                break;
            }
        }
        reading
    }

    /// Reads to the end of a track, or up to `limit`. Returns whether it came so far before `until`.
    #[inline]
    fn read_track(&self, reading: &mut ReadProgress, limit: u64, until: f64) -> bool {
        let run = self.layout.run(reading.next);
        let ready = reading.time + self.move_ns(reading.track, run.track, Op::Read);
        let begin = ready + self.turn_ns(ready, run.angle);
        let each = run.width * self.revolution_ns;
        let wanted = run.sectors.min(limit - reading.next);
        let read = wanted.min(((until - begin) / each).max(0.0) as u64);
        // The arm has arrived, even if the sector has not come by: it does not arrive again.
        if ready <= until {
            (reading.time, reading.track) = (ready, run.track);
        }
        if read > 0 {
            (reading.next, reading.time) = (reading.next + read, begin + read as f64 * each);
        }
        read == wanted
    }
}
