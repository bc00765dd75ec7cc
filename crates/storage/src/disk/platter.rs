//! The mechanics of a disk, exactly: the platter turns in virtual time, so the wait for a sector follows from where the head
//! is and when.
//!
//! Times are nanoseconds since the beginning of the run, as floating point: a turn is some ten million of them, and the
//! platter's place is kept to better than that for years of simulated time.

use headrace_units::{Fraction, Nanos};
use headrace_workload::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::layout::{Apart, Layout, LayoutSpec, Track};

/// What is known of the mechanics beyond a data sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanicsSpec {
    /// Where these numbers were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// From one surface to another of the same cylinder. Default: as long as a seek to the next cylinder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_switch: Option<Nanos>,
    /// How much longer the arm settles before it writes. Default: by how much `seek_write` is slower to the next cylinder than
    /// `seek_read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_settle: Option<Nanos>,
    /// What share of writes lose a turn, as the head is not steady enough when their sector comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_retries: Option<Fraction>,
    /// Whether a read or write of a track begins at whichever of its sectors comes first, and not at the first.
    #[serde(default)]
    pub zero_latency: bool,
    /// By how much longer a seek inwards takes than `seek` says: what pushes the arm (the air, its cable) helps it one way only.
    #[serde(default)]
    pub inward_more: Nanos,
    /// By how much longer a seek outwards takes.
    #[serde(default)]
    pub outward_more: Nanos,
    /// Seek times: (cylinders, time), distances rising; in between on straight lines. Default: the curve of `seek_read`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seek: Vec<(u32, Nanos)>,
    /// Where sectors lie. Default: in sixteen zones, as many surfaces as the capacity takes, and skews just long enough for
    /// switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutSpec>,
}

impl MechanicsSpec {
    /// What cannot be: (field, what is wrong).
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.seek.windows(2).any(|pair| pair[0].0 >= pair[1].0)
            || self.seek.first().is_some_and(|(d, _)| *d == 0)
        {
            return Some((
                "mechanics",
                "the distances of `seek` are to begin at 1 or more and rise".to_owned(),
            ));
        }
        let (zone, problem) = self.layout.as_ref()?.problem()?;
        Some(("mechanics", format!("zone {zone} of the layout: {problem}")))
    }
}

/// The mechanics of a drive, complete: what was told, and what follows from its data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanics {
    /// From one surface to another of the same cylinder.
    pub head_switch: Nanos,
    /// How much longer the arm settles before it writes.
    pub write_settle: Nanos,
    /// What share of writes lose a turn.
    pub write_retries: f64,
    /// Whether a track is read or written from whichever sector comes first.
    pub zero_latency: bool,
    /// By how much longer a seek takes inwards, and outwards.
    pub more: [Nanos; 2],
    /// Seek times as points; none where those of the data sheet hold.
    pub seek: Vec<(u32, Nanos)>,
    /// Where sectors lie.
    pub layout: LayoutSpec,
}

/// Platters, arm and heads.
#[derive(Clone, Debug)]
pub struct Platter {
    layout: Layout,
    revolution_ns: f64,
    /// Where the platter stands at time zero, as a share of a turn.
    phase: f64,
    head_switch_ns: f64,
    write_settle_ns: f64,
    write_retries: f64,
    zero_latency: bool,
    inward_more_ns: f64,
    outward_more_ns: f64,
    seek: Vec<(f64, f64)>,
}

/// Sectors read or written one after another without a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// How many.
    pub sectors: u64,
    /// When the first of them began to pass.
    pub begin: f64,
    /// What each takes.
    pub each: f64,
}

impl Sweep {
    /// When the last of them has passed.
    pub fn end(&self) -> f64 {
        self.begin + self.sectors as f64 * self.each
    }
}

/// An access: what was swept, and where that leaves the arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// In the order of sectors.
    pub sweeps: SmallVec<[Sweep; 2]>,
    /// The last track.
    pub track: Track,
    /// What the arm took to the first of them, in ns.
    pub moved_ns: f64,
    /// How long it then waited for the platter, in ns.
    pub waited_ns: f64,
}

impl Access {
    /// When it is over.
    pub fn end(&self) -> f64 {
        self.sweeps.last().map_or(0.0, Sweep::end)
    }

    /// When the first `many` sectors had passed.
    pub fn time_of(&self, many: u64) -> f64 {
        let mut left = many;
        for sweep in &self.sweeps {
            if left <= sweep.sectors {
                return sweep.begin + left as f64 * sweep.each;
            }
            left -= sweep.sectors;
        }
        self.end()
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
            layout: Layout::new(&spec.layout),
            revolution_ns,
            phase,
            head_switch_ns: spec.head_switch.0 as f64,
            write_settle_ns: spec.write_settle.0 as f64,
            write_retries: spec.write_retries,
            zero_latency: spec.zero_latency,
            inward_more_ns: spec.more[0].0 as f64,
            outward_more_ns: spec.more[1].0 as f64,
            seek: if spec.seek.is_empty() { seek } else { own.collect() },
        }
    }

    /// How many sectors there are.
    pub fn sectors(&self) -> u64 {
        self.layout.sectors()
    }

    /// The track a sector lies on.
    pub fn track_of(&self, sector: u64) -> Track {
        self.layout.run(sector).track
    }

    /// How many sectors lie before this one on its track.
    pub fn on_track_before(&self, sector: u64) -> u64 {
        let track = self.layout.run(sector).track;
        furthest(sector, |back| self.layout.run(sector - back).track == track)
    }

    /// How many sectors lie behind this one on its track.
    pub fn on_track_after(&self, sector: u64) -> u64 {
        let track = self.layout.run(sector).track;
        furthest(self.sectors() - 1 - sector, |on| self.layout.run(sector + on).track == track)
    }

    /// How far two sectors are apart.
    pub fn apart(&self, one: u64, other: u64) -> Apart {
        self.layout.apart(one, other)
    }

    /// How long a sector takes to pass under the head, in ns.
    pub fn sector_ns(&self, sector: u64) -> f64 {
        self.layout.run(sector).width * self.revolution_ns
    }

    /// The time of a seek over `distance` cylinders, in ns.
    #[inline]
    pub fn seek_ns(&self, distance: u32) -> f64 {
        let distance = f64::from(distance);
        let above = self.seek.partition_point(|(d, _)| *d < distance);
        match (above.checked_sub(1).map(|below| self.seek[below]), self.seek.get(above)) {
            (None, Some((_, time))) => *time,
            (Some((d0, t0)), Some((d1, t1))) => t0 + (t1 - t0) * (distance - d0) / (d1 - d0),
            (Some((_, t0)), None) => t0,
            (None, None) => 0.0,
        }
    }

    /// How long from one track to another before `op` can begin.
    #[inline]
    pub fn move_ns(&self, from: Track, to: Track, op: Op) -> f64 {
        let distance = from.cylinder.abs_diff(to.cylinder);
        let moved = match (distance, from.surface == to.surface) {
            (0, true) => return 0.0,
            (0, false) => self.head_switch_ns,
            _ => {
                let inward = to.cylinder > from.cylinder;
                let more = if inward { self.inward_more_ns } else { self.outward_more_ns };
                let switch = if from.surface == to.surface { 0.0 } else { self.head_switch_ns };
                (self.seek_ns(distance) + more).max(switch)
            }
        };
        moved + if op == Op::Write { self.write_settle_ns } else { 0.0 }
    }

    /// How long from `now` until the place at `angle` is under the head.
    #[inline]
    fn turn_ns(&self, now: f64, angle: f64) -> f64 {
        let ahead = angle - (now / self.revolution_ns + self.phase);
        let wait = (ahead - ahead.floor()) * self.revolution_ns;
        if wait > self.revolution_ns - JUST_REACHED_NS { 0.0 } else { wait }
    }

    /// How long from `now`, the arm at `from`, until `sector` is under the head, if the arm's way is reckoned to take longer than it
    /// does by the share `margin`.
    pub fn positioning_ns(&self, now: f64, from: Track, sector: u64, op: Op, margin: f64) -> f64 {
        let run = self.layout.run(sector);
        let moved = self.move_ns(from, run.track, op) * (1.0 + margin);
        moved + self.turn_ns(now + moved, run.angle)
    }

    /// One turn, if by `chance` a write loses one.
    pub fn turn_lost_ns(&self, chance: impl FnOnce(f64) -> bool) -> f64 {
        if self.write_retries > 0.0 && chance(self.write_retries) { self.revolution_ns } else { 0.0 }
    }

    /// Reads or writes `count` sectors from `sector` on, the arm free at `now` and standing at `from`, the first of them not at
    /// once when it comes by but `lost` later.
    pub fn access(&self, now: f64, from: Track, sector: u64, count: u64, op: Op, lost: f64) -> Access {
        let (mut time, mut track, mut lost) = (now, from, lost);
        let mut sweeps = SmallVec::new();
        let (mut next, end) = (sector, sector + count);
        let (mut moved_ns, mut waited_ns) = (0.0, 0.0);
        while next < end {
            let run = self.layout.run(next);
            let (sectors, each) = (run.sectors.min(end - next), run.width * self.revolution_ns);
            let moved = self.move_ns(track, run.track, op);
            let waited =
                self.wait_ns(time + moved, run.angle, sectors as f64 * each) + std::mem::take(&mut lost);
            if sweeps.is_empty() {
                (moved_ns, waited_ns) = (moved, waited);
            }
            let sweep = Sweep { sectors, begin: time + moved + waited, each };
            (time, track, next) = (sweep.end(), run.track, next + sectors);
            sweeps.push(sweep);
        }
        Access { sweeps, track, moved_ns, waited_ns }
    }

    /// How long from `now` until what begins at `angle` and takes `transfer` can pass. With zero-latency access a head that
    /// comes down amid it begins there and is through after one turn, as if it had waited a turn less `transfer`.
    fn wait_ns(&self, now: f64, angle: f64, transfer: f64) -> f64 {
        let wait = self.turn_ns(now, angle);
        if self.zero_latency { wait.min(self.revolution_ns - transfer) } else { wait }
    }

    /// Reads on from `sector` at `now`, the arm at `from`, until `until` or `limit`: the next sector to be read, when the last
    /// was, and where the arm is then.
    pub fn read_on(&self, now: f64, from: Track, sector: u64, limit: u64, until: f64) -> (u64, f64, Track) {
        let (mut time, mut track, mut next) = (now, from, sector);
        while next < limit && time < until {
            let run = self.layout.run(next);
            let ready = time + self.move_ns(track, run.track, Op::Read);
            let begin = ready + self.turn_ns(ready, run.angle);
            let each = run.width * self.revolution_ns;
            let fit = ((until - begin) / each).floor().max(0.0) as u64;
            let read = run.sectors.min(limit - next).min(fit);
            if ready <= until {
                track = run.track;
            }
            if read == 0 {
                break;
            }
            (next, time) = (next + read, begin + read as f64 * each);
            if fit == read && read < run.sectors.min(limit + read - next) {
                break;
            }
        }
        (next, time, track)
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

#[cfg(test)]
mod tests {
    use super::super::layout::{Spares, TrackOrder, ZoneSpec};
    use super::*;

    /// Ten sectors a track, two surfaces, one turn of 10 ms; a head switch takes 1 ms, the skew is two sectors.
    fn platter() -> Platter {
        let zone = ZoneSpec {
            first_cylinder: 0,
            last_cylinder: 99,
            sectors: 10,
            offset: 0.0,
            track_skew: 2.0,
            cylinder_skew: 3.0,
            reserved: 0,
            spares: 0,
            slips: Vec::new(),
            remaps: Vec::new(),
        };
        let spec = Mechanics {
            head_switch: Nanos::from_ms(1.0),
            write_settle: Nanos::from_ms(0.5),
            write_retries: 0.0,
            zero_latency: false,
            more: [Nanos::ZERO; 2],
            seek: vec![(1, Nanos::from_ms(2.0)), (99, Nanos::from_ms(9.0))],
            layout: LayoutSpec {
                surfaces: 2,
                order: TrackOrder::Conventional,
                spares: Spares::None,
                slips_use_spares: true,
                zones: vec![zone],
            },
        };
        Platter::new(&spec, 10e6, 0.0, Vec::new())
    }

    const HOME: Track = Track { cylinder: 0, surface: 0 };

    #[test]
    fn a_sector_knows_what_lies_before_and_behind_it_on_its_track() {
        let platter = platter();
        assert_eq!((platter.on_track_before(13), platter.on_track_after(13)), (3, 6));
        let last = platter.sectors() - 1;
        assert_eq!((platter.on_track_before(last), platter.on_track_after(last)), (9, 0));
    }

    #[test]
    fn the_wait_follows_from_where_the_platter_is() {
        let platter = platter();
        assert_eq!(
            platter.access(0.0, HOME, 3, 2, Op::Read, 0.0).end(),
            5e6,
            "three sectors to wait, two to read"
        );
        assert_eq!(platter.access(4e6, HOME, 3, 1, Op::Read, 0.0).end(), 14e6, "just missed: the next turn");
        // A seek of two cylinders takes about 2.07 ms; sector 40 lies at angle 4 · 2 + 2 · 3 - 2 · 2 = 10 → 0.
        let far = platter.access(0.0, HOME, 40, 1, Op::Read, 0.0);
        assert_eq!((far.track.cylinder, far.end()), (2, 11e6));
    }

    #[test]
    fn skews_hide_switches() {
        let platter = platter();
        let access = platter.access(0.0, HOME, 0, 20, Op::Read, 0.0);
        let ms = |ns: f64| (ns * 1e-3).round() * 1e-3;
        assert_eq!(ms(access.end()), 22.0, "two tracks and the skew between them");
        assert_eq!(ms(access.time_of(10)), 10.0);
        assert_eq!(ms(access.time_of(11)), 13.0);
    }

    /// Six of ten sectors, the head in the midst of them: from there to the end, and the beginning when it comes by.
    #[test]
    fn zero_latency_access_begins_anywhere() {
        let waits = platter();
        let begins = Platter { zero_latency: true, ..platter() };
        let end = |platter: &Platter, now| platter.access(now, HOME, 0, 6, Op::Read, 0.0).end();
        assert_eq!((end(&waits, 2e6), end(&begins, 2e6)), (16e6, 12e6), "one turn is enough");
        assert_eq!((end(&waits, 7e6), end(&begins, 7e6)), (16e6, 16e6), "not amid them: as ever");
    }

    #[test]
    fn reading_on_stops_when_it_is_told() {
        let platter = platter();
        assert_eq!(platter.read_on(0.0, HOME, 0, 100, 4.5e6).0, 4);
        assert_eq!(platter.read_on(0.0, HOME, 0, 100, 14e6).0, 12, "a track, the skew, two more");
        assert_eq!(platter.read_on(0.0, HOME, 0, 5, 14e6), (5, 5e6, HOME), "up to its limit");
    }

    /// The time of every access is at least what its parts take, and less than a turn longer for each track.
    #[test]
    fn an_access_waits_less_than_a_turn_for_each_track() {
        let platter = platter();
        for (sector, count, now) in (0..500u64).map(|i| (i * 37 % 1900, 1 + i * 7 % 60, i as f64 * 1.37e6)) {
            let access = platter.access(now, HOME, sector, count, Op::Write, 0.0);
            let transfer = count as f64 * 1e6;
            let tracks = access.sweeps.len() as f64;
            let took = access.end() - now;
            assert!(
                took >= transfer && took < transfer + tracks * (10e6 + 9.5e6),
                "{sector} {count}: {took}"
            );
        }
    }
}
