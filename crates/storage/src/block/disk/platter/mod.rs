//! The mechanics of a disk, exactly: the platter turns in virtual time, so the wait for a sector follows from where the head
//! is and when.
//!
//! Times are nanoseconds since the beginning of the run, as floating point: a turn is some ten million of them, and the
//! platter's place is kept to better than that for years of simulated time.

mod access;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use headrace_work::Op;

use super::layout::{SectorDistance, SectorLayout, Track, share_of_turn};
use super::steps::Steps;

pub use access::{PlatterAccess, ReadProgress};
pub use spec::{Mechanics, MechanicsSpec};

/// Platters, arm and heads.
#[derive(Clone, Debug)]
pub struct Platter {
    /// Shared by the drives of a plan, as `seek` is: tables of their own would not fit a processor's cache.
    layout: Arc<SectorLayout>,
    revolution_ns: f64,
    /// Angle of the platter at time zero, as a share of a revolution.
    phase: f64,
    head_switch_ns: f64,
    write_settle_ns: f64,
    write_retries: f64,
    read_retries: f64,
    zero_latency_reads: bool,
    zero_latency_writes: bool,
    inward_more_ns: f64,
    outward_more_ns: f64,
    seek: Arc<SeekCurve>,
}

/// Times of seeks by their distance, in cylinders and ns, with straight lines between.
#[derive(Debug)]
struct SeekCurve {
    points: Vec<(f64, f64)>,
    /// The least distance beyond each point.
    beyond: Steps,
}

impl SeekCurve {
    /// A curve through points in the order of their distances.
    fn new(points: Vec<(f64, f64)>) -> Self {
        let beyond = Steps::new(points.iter().map(|(distance, _)| *distance as u64 + 1).collect());
        Self { points, beyond }
    }

    #[inline]
    fn time_ns(&self, distance: u32) -> f64 {
        let above = self.beyond.up_to(distance.into()).min(self.points.len().max(1) - 1);
        let distance = f64::from(distance);
        match (above.checked_sub(1).map(|below| self.points[below]), self.points.get(above)) {
            (Some((d0, t0)), Some((d1, t1))) => (t0 + (t1 - t0) * (distance - d0) / (d1 - d0)).max(0.0),
            (None, Some((_, time))) => *time,
            (_, None) => 0.0,
        }
    }
}

/// No track holds more sectors.
const MOST_ON_TRACK: u64 = 1 << 14;

/// A sector that was just reached counts as reached: a nanosecond of rounding must not cost a turn.
const JUST_REACHED_NS: f64 = 1.0;

impl Platter {
    /// Platters of these mechanics, complete, that turn once in `revolution_ns` and stand at `phase` at time zero; `seek` gives
    /// times where the specification has none.
    pub fn new(spec: &Mechanics, revolution_ns: f64, phase: f64, seek: Vec<(f64, f64)>) -> Self {
        let own = spec.seek.iter().map(|(distance, time)| (f64::from(*distance), time.0 as f64));
        Self {
            layout: Arc::new(SectorLayout::new(&spec.layout)),
            revolution_ns,
            phase,
            head_switch_ns: spec.head_switch.0 as f64,
            write_settle_ns: spec.write_settle.0 as f64,
            write_retries: spec.write_retries,
            read_retries: spec.read_retries,
            zero_latency_reads: spec.zero_latency_reads,
            zero_latency_writes: spec.zero_latency_writes,
            inward_more_ns: spec.inward_more.0 as f64,
            outward_more_ns: spec.outward_more.0 as f64,
            seek: Arc::new(SeekCurve::new(if spec.seek.is_empty() { seek } else { own.collect() })),
        }
    }

    /// Sets the place of the platter at time zero, as a share of a turn.
    pub fn set_phase(&mut self, phase: f64) {
        self.phase = phase;
    }

    /// Returns the number of sectors.
    pub fn sectors(&self) -> u64 {
        self.layout.sectors()
    }

    /// The track a sector lies on.
    pub fn track_of(&self, sector: u64) -> Track {
        self.layout.run(sector).track
    }

    /// Returns the number of sectors before this one on its track.
    pub fn on_track_before(&self, sector: u64) -> u64 {
        let track = self.layout.run(sector).track;
        furthest(sector, |back| self.layout.run(sector - back).track == track)
    }

    /// Returns the number of sectors behind this one on its track.
    pub fn on_track_after(&self, sector: u64) -> u64 {
        let track = self.layout.run(sector).track;
        furthest(self.sectors() - 1 - sector, |on| self.layout.run(sector + on).track == track)
    }

    /// Returns the distance between two sectors.
    pub fn apart(&self, one: u64, other: u64) -> SectorDistance {
        self.layout.apart(one, other)
    }

    /// Returns the number of sectors on the track of this one.
    pub fn track_sectors(&self, sector: u64) -> u64 {
        (1.0 / self.layout.run(sector).width).round() as u64
    }

    /// Returns the time for a sector to pass under the head, in ns.
    pub fn sector_ns(&self, sector: u64) -> f64 {
        self.layout.run(sector).width * self.revolution_ns
    }

    /// Returns the time for `sectors` sectors from `first` on to pass under the head, with their share of the skew to the next track, in
    /// ns.
    pub fn pass_ns(&self, first: u64, sectors: u64) -> f64 {
        let here = self.layout.run(first);
        let next = self.layout.run((first + here.sectors).min(self.sectors() - 1));
        let skew = next.angle - (here.angle + here.sectors as f64 * here.width);
        let turns = here.width + share_of_turn(skew) * here.width;
        sectors as f64 * turns * self.revolution_ns
    }

    /// The time of a seek over `distance` cylinders, in ns.
    #[inline]
    pub fn seek_ns(&self, distance: u32) -> f64 {
        self.seek.time_ns(distance)
    }

    /// Returns the time to move from one track to another before `op` can begin, in ns.
    #[inline]
    pub fn move_ns(&self, from: Track, to: Track, op: Op) -> f64 {
        if from == to {
            return 0.0;
        }
        let switch = if from.surface == to.surface { 0.0 } else { self.head_switch_ns };
        let moved = match from.cylinder == to.cylinder {
            true => switch,
            false => self.stroke_ns(from.cylinder, to.cylinder).max(switch),
        };
        // If switching surfaces takes no time, nothing needs to settle.
        if op == Op::Read || moved == 0.0 { moved } else { (moved + self.write_settle_ns).max(0.0) }
    }

    /// Returns the time to move the arm from one cylinder to another, in ns.
    #[inline]
    fn stroke_ns(&self, from: u32, to: u32) -> f64 {
        let more = if to > from { self.inward_more_ns } else { self.outward_more_ns };
        self.seek_ns(from.abs_diff(to)) + more
    }

    /// Returns the rotational delay from `now` until `angle` is under the head, in ns.
    #[inline]
    fn turn_ns(&self, now: f64, angle: f64) -> f64 {
        let ahead = angle - (now / self.revolution_ns + self.phase);
        let wait = share_of_turn(ahead) * self.revolution_ns;
        if wait > self.revolution_ns - JUST_REACHED_NS { 0.0 } else { wait }
    }

    /// Returns the estimated time from `now`, with the arm on `from`, until `sector` is under the head, in ns; the seek is lengthened by
    /// the share `margin`.
    pub fn positioning_ns(&self, now: f64, from: Track, sector: u64, op: Op, margin: f64) -> f64 {
        let run = self.layout.run(sector);
        let moved = self.move_ns(from, run.track, op) * (1.0 + margin);
        moved + self.turn_ns(now + moved, run.angle)
    }

    /// One turn, if by `chance` an access loses one.
    pub fn turn_lost_ns(&self, op: Op, chance: impl FnOnce(f64) -> bool) -> f64 {
        let retries = if op == Op::Read { self.read_retries } else { self.write_retries };
        if retries > 0.0 && chance(retries) { self.revolution_ns } else { 0.0 }
    }
}

/// The largest step, up to `most`, that stays on a track.
fn furthest(most: u64, stays: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most.min(MOST_ON_TRACK));
    while low < high {
        let middle = (low + high).div_ceil(2);
        (low, high) = if stays(middle) { (middle, high) } else { (low, middle - 1) };
    }
    low
}
