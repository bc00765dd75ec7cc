//! A drive: its electronics in front of its mechanics. Cache segments, read-ahead, immediate report of writes, overheads and
//! the interface.
//!
//! What a drive does by itself (reading ahead, bringing written data to the platter) needs no events: it is reckoned up to now
//! when the next command comes, for nothing else can disturb it in between. So one request costs a few hundred nanoseconds,
//! however long the drive was left alone.

use std::collections::VecDeque;

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_workload::{Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{SECTOR, Track};
use super::platter::{Access, Platter};
use super::{DiskNumbers, Mechanism, Positioning};

/// The cache of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Where these numbers were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How many places it holds data of at once.
    #[schemars(range(min = 1, max = 100_000))]
    pub segments: u32,
    /// How much each holds.
    pub segment_size: Bytes,
    /// When it reads on behind what was asked for.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// At most so far. Default: a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_most: Option<Bytes>,
    /// Whether it keeps what passes under the head while the drive waits for the first sector of a read.
    #[serde(default)]
    pub keeps_passing: bool,
    /// When a write counts as done.
    #[serde(default)]
    pub writes: Writes,
}

/// When a drive reads on behind what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadAhead {
    /// Never.
    Never,
    /// After every read.
    #[default]
    Always,
    /// After a read that begins where the one before it ended.
    Sequential,
}

/// When a write counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// When it is on the platter.
    #[default]
    Through,
    /// When it is in the cache; the drive brings it to the platter when it has nothing else to do.
    Back,
}

/// The interface of a drive, and what its electronics take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceSpec {
    /// Where these numbers were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How fast data goes to the host. Default: in no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<BytesPerSecond>,
    /// How fast data comes from the host. Default: in no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<BytesPerSecond>,
    /// How much of a read must be in the cache before its transfer begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_watermark: Option<f64>,
    /// Before a read that is answered from the cache. Default of this and the next three: the drive's `overhead`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_hit: Option<Command>,
    /// Before any other read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_miss: Option<Command>,
    /// Before a write that follows the one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_hit: Option<Command>,
    /// Before any other write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_miss: Option<Command>,
    /// From the command to the data of a write, where the drive lets go of the bus in between.
    pub write_data_delay: Nanos,
    /// How much of a write must be in the cache before its data goes to the platter. In any case so much that the rest keeps up
    /// with the platter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_watermark: Option<f64>,
    /// To take up again what was laid aside while the platter was waited for: before the data of a read, after that of a write.
    pub reselect: Nanos,
    /// After the data of a read.
    pub read_completion: Nanos,
    /// After the data of a write.
    pub write_completion: Nanos,
}

/// What a command takes, by the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// After a read.
    pub after_read: Nanos,
    /// After a write.
    pub after_write: Nanos,
}

/// What a drive did for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Story {
    /// Where it found the data, or put it.
    pub way: Way,
    /// What the arm took to the first sector, in ns; zero where it had nothing to do.
    pub moved_ns: f64,
    /// How long it then waited for the platter, in ns.
    pub waited_ns: f64,
}

/// Where a drive found the data of a request, or put it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// It was in the cache, or went there.
    #[default]
    Cache,
    /// It was being read ahead.
    ReadAhead,
    /// It was on the platter, or went there.
    Platter,
}

/// A drive in a simulation.
#[derive(Clone, Debug)]
pub struct Drive {
    platter: Platter,
    cache: Option<CacheSpec>,
    electronics: Electronics,
    /// The arm's track, and from when on it is free.
    arm: Track,
    free_at: f64,
    segments: Vec<Segment>,
    ahead: Option<Ahead>,
    /// Written to the cache and not yet to the platter: (first sector, one more than the last, since when).
    dirty: VecDeque<(u64, u64, f64)>,
    before: Op,
    /// One more than the last sector of the last read, and of the last write.
    read_end: u64,
    write_end: u64,
    story: Story,
}

/// Overheads and rates in nanoseconds.
#[derive(Clone, Debug)]
struct Electronics {
    read_sector: f64,
    write_sector: f64,
    read_watermark: f64,
    write_watermark: f64,
    write_data_delay: f64,
    /// By operation, hit or miss, operation before.
    overhead: [[[f64; 2]; 2]; 2],
    reselect: f64,
    completion: [f64; 2],
}

/// Data in the cache: sectors from `first` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    first: u64,
    end: u64,
}

/// The drive reads on: from where, and how far at most; into the newest segment.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    next: u64,
    limit: u64,
}

impl Electronics {
    fn new(spec: &InterfaceSpec, overhead: Nanos) -> Self {
        let each = |rate: Option<BytesPerSecond>| rate.map_or(0.0, |rate| SECTOR as f64 * 1e9 / rate.get());
        let command = |command: Option<Command>| match command {
            Some(Command { after_read, after_write }) => [after_read.0 as f64, after_write.0 as f64],
            None => [overhead.0 as f64; 2],
        };
        Self {
            read_sector: each(spec.read_rate),
            write_sector: each(spec.write_rate),
            read_watermark: spec.read_watermark.unwrap_or(0.0),
            write_watermark: spec.write_watermark.unwrap_or(0.0),
            write_data_delay: spec.write_data_delay.0 as f64,
            overhead: [
                [command(spec.read_hit), command(spec.read_miss)],
                [command(spec.write_hit), command(spec.write_miss)],
            ],
            reselect: spec.reselect.0 as f64,
            completion: [spec.read_completion.0 as f64, spec.write_completion.0 as f64],
        }
    }
}

impl Drive {
    /// A drive at rest.
    pub fn new(
        platter: Platter,
        cache: Option<CacheSpec>,
        interface: &InterfaceSpec,
        overhead: Nanos,
    ) -> Self {
        Self {
            arm: platter.track_of(0),
            platter,
            cache,
            electronics: Electronics::new(interface, overhead),
            free_at: 0.0,
            segments: Vec::new(),
            ahead: None,
            dirty: VecDeque::new(),
            before: Op::Read,
            read_end: u64::MAX,
            write_end: u64::MAX,
            story: Story::default(),
        }
    }

    /// A drive of these numbers at rest, its platter at `phase` (a share of a turn) at time zero.
    pub fn of(numbers: &DiskNumbers, phase: f64) -> Self {
        let mechanism = Mechanism::new(numbers, Positioning::Mechanical);
        let curve = mechanism.read_seek.points();
        let platter = Platter::new(&numbers.mechanics(), mechanism.revolution_ns, phase, curve);
        let interface = numbers.interface.clone().unwrap_or_default();
        Self::new(platter, numbers.cache.clone(), &interface, numbers.overhead.get())
    }

    /// What it did for the request it served last.
    pub fn story(&self) -> Story {
        self.story
    }

    fn tell(&mut self, way: Way, access: &Access) {
        self.story = Story { way, moved_ns: access.moved_ns, waited_ns: access.waited_ns };
    }

    /// The track on which the data of `request` begins.
    pub fn track_of(&self, request: &Request) -> Track {
        self.platter.track_of(request.address / SECTOR)
    }

    /// Where the arm is at `now`.
    pub fn arm_at(&mut self, now: Nanos) -> Track {
        self.work_until(now.0 as f64);
        self.arm
    }

    /// How long from `now` until the data of `request` is under the head; not at all where it is in the cache.
    pub fn positioning_ns(&self, now: Nanos, request: &Request) -> f64 {
        let (now, first) = (now.0 as f64, request.address / SECTOR);
        let end = (request.address + request.bytes).div_ceil(SECTOR);
        let cached = |segment: &Segment| segment.first <= first && end <= segment.end;
        if request.op == Op::Read && self.segments.iter().any(cached) {
            return 0.0;
        }
        let begin = (now + self.overhead(request.op, true)).max(self.free_at);
        let access = self.platter.access(begin, self.arm, first, 1, request.op);
        access.time_of(0) - now
    }

    /// When the drive has done what `request` asks, which it gets at `now` with nothing else to do.
    pub fn serve(&mut self, now: Nanos, request: &Request) -> Nanos {
        let now = now.0 as f64;
        let first = request.address / SECTOR;
        let end = (request.address + request.bytes).div_ceil(SECTOR);
        self.work_until(now);
        self.story = Story::default();
        let done = match request.op {
            Op::Read => self.read(now, first, end),
            Op::Write => self.write(now, first, end),
        };
        self.before = request.op;
        Nanos((done + 0.5) as u64)
    }

    fn overhead(&self, op: Op, miss: bool) -> f64 {
        self.electronics.overhead[op as usize][usize::from(miss)][self.before as usize]
    }

    /// Does what the drive does by itself until `now`: brings written data to the platter, reads on.
    fn work_until(&mut self, now: f64) {
        while let Some((first, end, since)) = self.dirty.front().copied()
            && self.free_at.max(since) < now
        {
            self.stop_reading();
            self.access(since, first, end, Op::Write);
            self.dirty.pop_front();
        }
        self.read_on(now);
    }

    /// Reads or writes at the platter, from `now` on or as soon as the arm is free.
    fn access(&mut self, now: f64, first: u64, end: u64, op: Op) -> Access {
        let access = self.platter.access(now.max(self.free_at), self.arm, first, end - first, op);
        (self.free_at, self.arm) = (access.end(), access.track);
        access
    }

    /// Reads on until `until`, if the drive does.
    fn read_on(&mut self, until: f64) {
        let Some(ahead) = self.ahead.filter(|_| self.free_at < until) else { return };
        let (next, time, track) =
            self.platter.read_on(self.free_at, self.arm, ahead.next, ahead.limit, until);
        (self.free_at, self.arm) = (time, track);
        self.grow_newest(next);
        self.ahead = (next < ahead.limit).then_some(Ahead { next, ..ahead });
    }

    fn stop_reading(&mut self) {
        self.ahead = None;
    }

    fn read(&mut self, now: f64, first: u64, end: u64) -> f64 {
        let sequential = first == self.read_end;
        self.read_end = end;
        let begins = |segment: &Segment| segment.first <= first && first < segment.end;
        let at = self.segments.iter().rposition(begins);
        let newest = at.is_some_and(|at| at + 1 == self.segments.len());
        if self.ahead.is_some_and(|ahead| (newest && end > ahead.next) || first == ahead.next) {
            return self.read_as_it_comes(now, first, end, sequential);
        }
        let Some(at) = at else { return self.read_from_platter(now, first, end, first, sequential) };
        let segment = self.segments.remove(at);
        self.segments.push(segment);
        if !newest {
            self.stop_reading();
        }
        if end > segment.end {
            return self.read_from_platter(now, first, end, segment.end, sequential);
        }
        self.extend_reading(end, sequential);
        let begin = now + self.overhead(Op::Read, false);
        begin + (end - first) as f64 * self.electronics.read_sector + self.electronics.completion[0]
    }

    /// Answers a read whose data, or the end of it, is being read ahead.
    fn read_as_it_comes(&mut self, now: f64, first: u64, end: u64, sequential: bool) -> f64 {
        self.extend_reading(end, sequential);
        let Some(ahead) = &mut self.ahead else { unreachable!("it is called while the drive reads ahead") };
        ahead.limit = ahead.limit.max(end);
        let next = std::mem::replace(&mut ahead.next, end);
        let access = self.access(self.free_at, next, end, Op::Read);
        self.tell(Way::ReadAhead, &access);
        self.grow_newest(end);
        self.ahead = self.ahead.filter(|ahead| ahead.next < ahead.limit);
        let Electronics { read_sector, completion, .. } = self.electronics;
        let transfer = now + self.overhead(Op::Read, false) + (end - first) as f64 * read_sector;
        transfer.max(self.free_at + read_sector) + completion[0]
    }

    /// The newest segment reaches to `end` now. It holds no more than it can: what was read first gives way.
    fn grow_newest(&mut self, end: u64) {
        let room = self.segment_sectors();
        if let Some(segment) = self.segments.last_mut() {
            *segment = Segment { first: segment.first.max(end.saturating_sub(room)), end };
        }
    }

    fn segment_sectors(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.segment_size.0 / SECTOR)
    }

    /// How many sectors before `first` passed under the head while the drive waited for it, if it keeps them.
    fn passed(&self, access: &Access, first: u64) -> u64 {
        let keeps = self.cache.as_ref().is_some_and(|cache| cache.keeps_passing);
        let Some(sweep) = access.sweeps.first().filter(|_| keeps) else { return 0 };
        let passed = (access.waited_ns / sweep.each) as u64;
        passed.min(self.platter.on_track_before(first))
    }

    /// What is read ahead moves on with what is asked for.
    fn extend_reading(&mut self, end: u64, sequential: bool) {
        let (Some(most), Some(ahead)) = (self.reads_ahead(sequential), &mut self.ahead) else { return };
        ahead.limit = ahead.limit.max((end + most).min(self.platter.sectors()));
    }

    /// How far the drive reads on behind a read, if it does.
    fn reads_ahead(&self, sequential: bool) -> Option<u64> {
        let cache = self.cache.as_ref()?;
        let reads = match cache.read_ahead {
            ReadAhead::Never => false,
            ReadAhead::Always => true,
            ReadAhead::Sequential => sequential,
        };
        reads.then(|| cache.read_ahead_most.unwrap_or(cache.segment_size).0 / SECTOR)
    }

    /// Answers a read whose sectors from `missing` on are on the platter only.
    fn read_from_platter(&mut self, now: f64, first: u64, end: u64, missing: u64, sequential: bool) -> f64 {
        let access = self.access(now + self.overhead(Op::Read, true), missing, end, Op::Read);
        self.tell(Way::Platter, &access);
        let held = self
            .segments
            .last()
            .filter(|segment| segment.end == missing)
            .map_or(first, |segment| segment.first);
        let first_kept = held.min(first) - self.passed(&access, missing).min(held.min(first));
        self.keep(Segment { first: first_kept, end });
        let limit = |most: u64| (end + most).min(self.platter.sectors());
        self.ahead = self.reads_ahead(sequential).map(|most| Ahead { next: end, limit: limit(most) });
        self.transferred(&access, end - first) + self.electronics.reselect + self.electronics.completion[0]
    }

    /// When data read by `access` has all gone to the host: transfer begins at the watermark, and no sector goes before it was
    /// read.
    fn transferred(&self, access: &Access, sectors: u64) -> f64 {
        let each = self.electronics.read_sector;
        let read_now: u64 = access.sweeps.iter().map(|sweep| sweep.sectors).sum();
        let mut read = sectors - read_now;
        let watermark = ((sectors as f64 * self.electronics.read_watermark) as u64).max(1);
        let mut done = access.time_of(watermark.saturating_sub(read)) + sectors as f64 * each;
        for sweep in &access.sweeps {
            read += sweep.sectors;
            done = done.max(sweep.end() + (sectors - read + 1) as f64 * each);
        }
        done
    }

    /// Puts a segment into the cache in the place of the one used least recently, and of what it overlaps.
    fn keep(&mut self, segment: Segment) {
        let Some(cache) = &self.cache else { return };
        self.segments.retain(|other| other.end <= segment.first || segment.end <= other.first);
        if self.segments.len() >= cache.segments as usize {
            self.segments.remove(0);
        }
        self.segments.push(segment);
        self.grow_newest(segment.end);
    }

    fn write(&mut self, now: f64, first: u64, end: u64) -> f64 {
        let begin = now + self.overhead(Op::Write, first != self.write_end);
        self.write_end = end;
        self.stop_reading();
        self.segments.retain(|segment| segment.end <= first || end <= segment.first);
        if self.cache.as_ref().is_some_and(|cache| cache.writes == Writes::Back) {
            self.keep(Segment { first, end });
            self.write_to_cache(begin, first, end)
        } else {
            self.write_to_platter(begin, first, end)
        }
    }

    fn write_to_platter(&mut self, begin: f64, first: u64, end: u64) -> f64 {
        let target = self.platter.track_of(first);
        let moved_ns = self.platter.move_ns(self.arm, target, Op::Write);
        let on_track = begin.max(self.free_at) + moved_ns;
        let sectors = (end - first) as f64;
        let Electronics { write_sector, write_watermark, write_data_delay, .. } = self.electronics;
        // Not so early that the data would not keep up with the platter.
        let keeps_up = write_sector + (write_sector - self.platter.sector_ns(first)).max(0.0) * sectors;
        let data_at = begin + write_data_delay + keeps_up.max(sectors * write_watermark * write_sector);
        let access = self.platter.access(on_track.max(data_at), target, first, end - first, Op::Write);
        (self.free_at, self.arm) = (access.end(), access.track);
        self.story = Story { way: Way::Platter, moved_ns, waited_ns: access.waited_ns };
        let Electronics { write_sector, reselect, completion, .. } = self.electronics;
        access.end().max(begin + sectors * write_sector) + reselect + completion[1]
    }

    /// Takes the data of a write into the cache, in pieces where it is larger than the room there is.
    fn write_to_cache(&mut self, begin: f64, first: u64, end: u64) -> f64 {
        let room = self.segment_sectors().max(1);
        let (mut time, mut next) = (begin, first);
        while next < end {
            let piece = (end - next).min(room);
            time = self.room_at(time, piece, room) + piece as f64 * self.electronics.write_sector;
            match self.dirty.back_mut().filter(|(_, last, _)| *last == next) {
                Some(last) => last.1 += piece,
                None => self.dirty.push_back((next, next + piece, time)),
            }
            next += piece;
        }
        time + self.electronics.completion[1]
    }

    /// When there is room for `sectors` more, from `time` on: what is written waits for what was written before it to reach
    /// the platter.
    fn room_at(&mut self, time: f64, sectors: u64, room: u64) -> f64 {
        let mut time = time;
        while self.dirty.iter().map(|(first, end, _)| end - first).sum::<u64>() + sectors > room
            && let Some((first, end, since)) = self.dirty.pop_front()
        {
            self.stop_reading();
            self.access(since, first, end, Op::Write);
            time = time.max(self.free_at);
        }
        time
    }
}
