//! A drive: its electronics and its cache in front of its mechanics.
//!
//! What a drive does by itself (reading ahead, bringing written data to the platter) needs no events: it is reckoned up to now
//! when the next command comes, for nothing else can disturb it in between. So one request costs a few hundred nanoseconds,
//! however long the drive was left alone.

use headrace_kernel::Stream;
use headrace_units::{Fraction, Nanos};
use headrace_workload::{Op, Request};

use super::cache::{CacheSpec, ReadAhead, Writes};
use super::electronics::Electronics;
use super::layout::{Apart, SECTOR, Track};
use super::platter::{Access, Platter};
use super::schedule::{Chooser, Scheduling, Waiting};
use super::{DiskNumbers, Mechanism, Positioning};

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

/// When a drive can turn to the next command, and when it has done what this one asks: the last of its data may be on its way
/// to the host while the arm moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// It takes the next command.
    pub ready: Nanos,
    /// It says that this one is done.
    pub done: Nanos,
}

/// A drive in a simulation.
#[derive(Clone, Debug)]
pub struct Drive {
    platter: Platter,
    cache: Option<CacheSpec>,
    electronics: Electronics,
    /// What a choice by positioning time adds to the arm's way, as a share of it.
    margin: f64,
    /// The arm's track, and from when on it is free.
    arm: Track,
    free_at: f64,
    /// From when on data can go between drive and host.
    bus_free_at: f64,
    segments: Vec<Segment>,
    ahead: Option<Ahead>,
    /// Written to the cache and not yet to the platter, in the order in which it came.
    dirty: Vec<Waiting>,
    drain: Chooser,
    /// On its way from the cache to the platter: so many sectors, there at that time.
    leaving: (u64, f64),
    before: Op,
    /// One more than the last sector of the last read, and of the last write.
    read_end: u64,
    write_end: u64,
    story: Story,
    /// Which writes to the platter lose a turn, by their number.
    luck: Stream,
    written: u64,
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

impl Drive {
    /// A drive of these numbers at rest, its platter at `phase` (a share of a turn) at time zero; `luck` tells which writes lose
    /// a turn, where some do.
    pub fn of(numbers: &DiskNumbers, phase: f64, luck: Stream) -> Self {
        let mechanism = Mechanism::new(numbers, Positioning::Mechanical);
        let curve = mechanism.read_seek.points();
        let platter = Platter::new(&numbers.mechanics(), mechanism.revolution_ns, phase, curve);
        let drain = numbers.cache.as_ref().map_or(Scheduling::Fcfs, |cache| cache.drain);
        Self {
            arm: platter.track_of(0),
            platter,
            cache: numbers.cache.clone(),
            electronics: Electronics::new(
                &numbers.interface.clone().unwrap_or_default(),
                numbers.overhead.get(),
            ),
            margin: numbers.queue.as_ref().and_then(|queue| queue.margin).map_or(0.0, Fraction::get),
            free_at: 0.0,
            bus_free_at: 0.0,
            segments: Vec::new(),
            ahead: None,
            dirty: Vec::new(),
            drain: Chooser::new(drain),
            leaving: (0, 0.0),
            before: Op::Read,
            read_end: u64::MAX,
            write_end: u64::MAX,
            story: Story::default(),
            luck,
            written: 0,
        }
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

    /// How long from `now` until the data of `request` is under the head, as the drive reckons it; not at all where the cache
    /// answers.
    pub fn positioning_ns(&self, now: Nanos, request: &Request) -> f64 {
        let (first, end) = sectors(request);
        let cached = |segment: &Segment| segment.first <= first && end <= segment.end;
        let now = now.0 as f64;
        match request.op {
            Op::Read if self.segments.iter().any(cached) => return 0.0,
            Op::Write if self.writes_back() => return self.until_room_ns(now, end - first),
            _ => {}
        }
        let begin = (now + self.overhead_of_miss(request.op, first)).max(self.free_at);
        begin - now + self.platter.positioning_ns(begin, self.arm, first, request.op, self.margin)
    }

    /// Does what `request` asks, which it gets at `now` with nothing else to do but to send data.
    pub fn serve(&mut self, now: Nanos, request: &Request) -> Served {
        let now = now.0 as f64;
        let (first, end) = sectors(request);
        self.work_until(now);
        self.story = Story::default();
        let (ready, done) = match request.op {
            Op::Read => self.read(now, first, end),
            Op::Write => self.write(now, first, end),
        };
        match request.op {
            Op::Read => self.read_end = end,
            Op::Write => self.write_end = end,
        }
        self.before = request.op;
        let whole = |time: f64| Nanos((time + 0.5) as u64);
        Served { ready: whole(ready.min(done)), done: whole(done) }
    }

    /// What a command takes that the cache does not answer, and that does not follow the one before.
    fn overhead_of_miss(&self, op: Op, first: u64) -> f64 {
        let anew = self.electronics.elsewhere.map_or(0.0, |elsewhere| elsewhere[self.apart(first) as usize]);
        self.overhead(op, true) + anew
    }

    fn overhead(&self, op: Op, miss: bool) -> f64 {
        self.electronics.overhead[op as usize][usize::from(miss)][self.before as usize]
    }

    /// How far `sector` is apart from the last one of the command before.
    fn apart(&self, sector: u64) -> Apart {
        let end = if self.before == Op::Read { self.read_end } else { self.write_end };
        // Before the first command the arm is where the disk begins.
        let last = if end == u64::MAX { 0 } else { end - 1 };
        self.platter.apart(last, sector)
    }

    /// How far the data of `request` is apart from that of the command before.
    pub fn apart_from_last(&self, request: &Request) -> Apart {
        self.apart(request.address / SECTOR)
    }

    /// Does what the drive does by itself until `now`: brings written data to the platter, reads on.
    fn work_until(&mut self, now: f64) {
        while self.drain_one(now) {}
        self.read_on(now);
    }

    /// Brings one written thing from the cache to the platter, if that begins before `until`.
    fn drain_one(&mut self, until: f64) -> bool {
        let Some(oldest) = self.dirty.first() else { return false };
        let at = self.free_at.max(oldest.since.0 as f64);
        if at >= until {
            return false;
        }
        let mut drain = self.drain;
        let Some(chosen) = self.next_drained(&mut drain, at) else { return false };
        self.drain = drain;
        let (first, end) = sectors(&self.dirty.remove(chosen).request);
        self.ahead = None;
        self.leaving = (end - first, self.access(at, first, end, Op::Write).end());
        true
    }

    /// Which of what is written goes to the platter next, at `at`.
    fn next_drained(&self, drain: &mut Chooser, at: f64) -> Option<usize> {
        let held = &self.dirty[..self.dirty.partition_point(|written| written.since.0 as f64 <= at)];
        let positioning = |written: &Waiting| self.to_platter_ns(at, written);
        (!held.is_empty()).then(|| drain.next(held, self.arm, Nanos(at as u64), positioning))
    }

    fn to_platter_ns(&self, at: f64, written: &Waiting) -> f64 {
        self.platter.positioning_ns(at, self.arm, written.request.address / SECTOR, Op::Write, self.margin)
    }

    /// Reads or writes at the platter, from `now` on or as soon as the arm is free.
    fn access(&mut self, now: f64, first: u64, end: u64, op: Op) -> Access {
        let lost = if op == Op::Write { self.turns_lost() } else { 0.0 };
        let access = self.platter.access(now.max(self.free_at), self.arm, first, end - first, op, lost);
        (self.free_at, self.arm) = (access.end(), access.track);
        access
    }

    /// How long the next write waits beyond the first time its sector comes by.
    fn turns_lost(&mut self) -> f64 {
        self.written += 1;
        self.platter.turn_lost_ns(|share| self.luck.of(self.written).chance(share))
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

    /// When the next command can come, and when all data has gone to the host.
    fn read(&mut self, now: f64, first: u64, end: u64) -> (f64, f64) {
        let sequential = first == self.read_end;
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
            self.ahead = None;
        }
        if end > segment.end {
            return self.read_from_platter(now, first, end, segment.end, sequential);
        }
        self.extend_reading(end, sequential);
        let begin = now + self.overhead(Op::Read, false);
        let each = self.electronics.read_sector;
        let sent = self.over_bus(begin + (end - first) as f64 * each, end - first, each);
        (begin, sent + self.electronics.completion[0])
    }

    /// Answers a read whose data, or the end of it, is being read ahead.
    fn read_as_it_comes(&mut self, now: f64, first: u64, end: u64, sequential: bool) -> (f64, f64) {
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
        let sent = self.over_bus(transfer.max(self.free_at + read_sector), end - first, read_sector);
        (self.free_at, sent + completion[0])
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
        let (Some(limit), Some(ahead)) = (self.reads_on_to(end, sequential), &mut self.ahead) else { return };
        ahead.limit = ahead.limit.max(limit);
    }

    /// Where the drive stops that reads on behind a read to `end`, if it does.
    fn reads_on_to(&self, end: u64, sequential: bool) -> Option<u64> {
        let cache = self.cache.as_ref()?;
        let most = match cache.read_ahead {
            ReadAhead::Never => 0,
            ReadAhead::Sequential if !sequential => 0,
            ReadAhead::Always | ReadAhead::Sequential => self.platter.sectors() - end,
            ReadAhead::Track => self.platter.on_track_after(end - 1),
        };
        (most > 0).then(|| end + most.min(cache.read_ahead_most.unwrap_or(cache.segment_size).0 / SECTOR))
    }

    /// Answers a read whose sectors from `missing` on are on the platter only.
    fn read_from_platter(
        &mut self,
        now: f64,
        first: u64,
        end: u64,
        missing: u64,
        sequential: bool,
    ) -> (f64, f64) {
        let access = self.access(now + self.overhead_of_miss(Op::Read, first), missing, end, Op::Read);
        self.tell(Way::Platter, &access);
        let held = self
            .segments
            .last()
            .filter(|segment| segment.end == missing)
            .map_or(first, |segment| segment.first);
        let first_kept = held.min(first) - self.passed(&access, missing).min(held.min(first));
        self.keep(Segment { first: first_kept, end });
        self.ahead = self.reads_on_to(end, sequential).map(|limit| Ahead { next: end, limit });
        let Electronics { read_sector, reselect, completion, .. } = self.electronics;
        let sent = self.over_bus(self.transferred(&access, end - first), end - first, read_sector);
        (access.end(), sent + reselect + completion[0])
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

    /// When the last of `sectors` has gone over the bus that would be over at `end` if the bus were free: it may still be busy
    /// with the data of a command before.
    fn over_bus(&mut self, end: f64, sectors: u64, each: f64) -> f64 {
        self.bus_free_at = end.max(self.bus_free_at + sectors as f64 * each);
        self.bus_free_at
    }

    fn writes_back(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.writes == Writes::Back)
    }

    /// When the next command can come, and when this one is done.
    fn write(&mut self, now: f64, first: u64, end: u64) -> (f64, f64) {
        let overhead = if first == self.write_end {
            self.overhead(Op::Write, false)
        } else {
            self.overhead_of_miss(Op::Write, first)
        };
        let begin = (now + overhead).max(self.bus_free_at);
        self.ahead = None;
        self.segments.retain(|segment| segment.end <= first || end <= segment.first);
        if self.writes_back() {
            self.keep(Segment { first, end });
            self.write_to_cache(begin, first, end)
        } else {
            self.write_to_platter(begin, first, end)
        }
    }

    fn write_to_platter(&mut self, begin: f64, first: u64, end: u64) -> (f64, f64) {
        let sectors = (end - first) as f64;
        let Electronics { write_sector, write_watermark, write_data_delay, reselect, completion, .. } =
            self.electronics;
        // Not so early that the data would not keep up with the platter.
        let keeps_up = write_sector + (write_sector - self.platter.sector_ns(first)).max(0.0) * sectors;
        let data_at = begin + write_data_delay + keeps_up.max(sectors * write_watermark * write_sector);
        let target = self.platter.track_of(first);
        let moved_ns = self.platter.move_ns(self.arm, target, Op::Write);
        // The arm moves while data comes.
        let on_track = (begin.max(self.free_at) + moved_ns).max(data_at);
        self.arm = target;
        let access = self.access(on_track, first, end, Op::Write);
        self.story = Story { way: Way::Platter, moved_ns, waited_ns: access.waited_ns };
        let sent = self.over_bus(begin + sectors * write_sector, end - first, write_sector);
        (access.end(), access.end().max(sent) + reselect + completion[1])
    }

    /// Takes the data of a write into the cache, in pieces where it is larger than the room there is.
    fn write_to_cache(&mut self, begin: f64, first: u64, end: u64) -> (f64, f64) {
        let room = self.write_room().max(1);
        let (mut time, mut next) = (begin, first);
        while next < end {
            let piece = (end - next).min(room);
            time = self.room_at(time, piece, room);
            time = self.over_bus(
                time + piece as f64 * self.electronics.write_sector,
                piece,
                self.electronics.write_sector,
            );
            self.hold(next, piece, time);
            next += piece;
        }
        (time, time + self.electronics.completion[1])
    }

    /// How many sectors may be written here and not yet to the platter.
    fn write_room(&self) -> u64 {
        let of = |cache: &CacheSpec| cache.write_room.unwrap_or(cache.segment_size).0 / SECTOR;
        self.cache.as_ref().map_or(0, of)
    }

    /// Holds a piece of a write until it is on the platter; together with the one before it where they follow each other.
    fn hold(&mut self, first: u64, sectors: u64, time: f64) {
        let bytes = sectors * SECTOR;
        match self.dirty.last_mut().filter(|last| last.request.address + last.request.bytes == first * SECTOR)
        {
            Some(last) => last.request.bytes += bytes,
            None => {
                let request = Request { key: 0, op: Op::Write, address: first * SECTOR, bytes };
                let track = self.platter.track_of(first);
                self.dirty.push(Waiting { request, since: Nanos(time as u64), track });
            }
        }
    }

    /// How long from `now` until there is room for `sectors` more, as the drive reckons it: where there is none, until what
    /// is written next is under the head.
    fn until_room_ns(&self, now: f64, sectors: u64) -> f64 {
        let room = self.write_room();
        if self.has_room(now, sectors.min(room), room) {
            return 0.0;
        }
        let begin = now.max(self.free_at);
        let mut drain = self.drain;
        let next = self.next_drained(&mut drain, begin).map(|chosen| &self.dirty[chosen]);
        begin - now + next.map_or(0.0, |written| self.to_platter_ns(begin, written))
    }

    /// When there is room for `sectors` more, from `time` on: what is written waits for what was written before it to reach
    /// the platter.
    fn room_at(&mut self, time: f64, sectors: u64, room: u64) -> f64 {
        let mut time = time;
        while !self.has_room(time, sectors, room) {
            if self.leaving.1 <= time && !self.drain_one(f64::INFINITY) {
                return time;
            }
            time = time.max(self.leaving.1);
        }
        time
    }

    fn has_room(&self, time: f64, sectors: u64, room: u64) -> bool {
        let (leaving, until) = self.leaving;
        let (writes, held) = if until > time { (1, leaving) } else { (0, 0) };
        let held: u64 = held + self.dirty.iter().map(|written| written.request.bytes / SECTOR).sum::<u64>();
        let most =
            self.cache.as_ref().and_then(|cache| cache.writes_held).map_or(usize::MAX, |most| most as usize);
        self.dirty.len() + writes < most && held + sectors <= room
    }
}

/// The first sector of a request, and one more than its last.
fn sectors(request: &Request) -> (u64, u64) {
    (request.address / SECTOR, (request.address + request.bytes).div_ceil(SECTOR))
}
