//! The written data in a drive's cache that is not on the platter yet.

use headrace_units::Nanos;
use headrace_work::{Block, Op};

use super::spec::{AliceReading, CacheSpec, Writes};
use super::writers::Writers;
use crate::block::disk::actuator::Actuator;
use crate::block::disk::background::{Background, Ledger};
use crate::block::disk::layout::{SECTOR, SectorSpan};
use crate::block::disk::platter::Platter;
use crate::block::disk::schedule::{Chooser, Waiting};
use crate::core::ranges::Ranges;

/// A write-back buffer.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    /// Capacity in sectors, the number of sectors that arrive at once, and the maximum number of writes.
    room: u64,
    piece: u64,
    most: usize,
    /// In the order in which they came.
    dirty: Vec<Waiting>,
    drain: Chooser,
    /// Time without commands after which it drains, and from when on the drive has none, in ns.
    idle: f64,
    idle_since: f64,
    leaving: Leaving,
    /// Writes on their way to the platter when the last command came or since, and when each is there.
    under_way: Vec<(SectorSpan, f64)>,
    ledger: Ledger,
    reading: AliceReading,
    writers: Writers,
}

/// A write that comes over a controller's bus, on its way into the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Intake {
    /// Sectors that move at once when there is space for them.
    pub load: u64,
    /// Maximum number of sectors in the cache, including these.
    pub room: u64,
    /// True if sectors go to the platter only after the whole load has arrived.
    pub whole: bool,
    /// True if the write is reported only when it is on the platter.
    pub late: bool,
}

/// Sectors on their way to the platter: they take up room until they are there.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    sectors: u64,
    /// One more than the last of them.
    end: u64,
    until: f64,
}

impl WriteBuffer {
    /// The buffer of a cache that answers writes before they are on the platter; none for others.
    pub fn new(spec: Option<&CacheSpec>) -> Option<Self> {
        let spec = spec.filter(|cache| cache.writes == Writes::Back)?;
        let segment = spec.segment_size.0 / SECTOR;
        let room = spec.write_room.map_or(segment, |room| room.0 / SECTOR).max(1);
        Some(Self {
            room,
            piece: segment.clamp(1, room),
            most: spec.writes_held.map_or(usize::MAX, |most| most as usize),
            dirty: Vec::new(),
            drain: Chooser::new(spec.drain, None),
            idle: spec.drain_after.map_or(0.0, |after| after.0 as f64),
            idle_since: 0.0,
            leaving: Leaving::default(),
            under_way: Vec::new(),
            ledger: Ledger::default(),
            reading: spec.alice_reading,
            writers: Writers::default(),
        })
    }

    /// How to take in a write over a controller's bus, of which at most `piece` sectors come at once.
    pub fn intake(&mut self, write: SectorSpan, piece: u64) -> Intake {
        let AliceReading { reserves_commands, starts_with_all, reports_large_late, keeps_stream_segments } =
            self.reading;
        let streams = if keeps_stream_segments { self.writers.note(write) } else { 1 };
        // As many segments of other streams as leave something for this one.
        let kept = (streams - 1).min((self.room - 1) / write.sectors());
        let segment = self.room - kept * write.sectors();
        let load = if reserves_commands { write.sectors().min(segment) } else { piece.min(segment) };
        Intake {
            load,
            room: segment,
            whole: starts_with_all,
            late: reports_large_late && write.sectors() >= segment,
        }
    }

    /// Returns the time from `time` on when all buffered sectors are on the platter.
    pub fn drained_at(&mut self, actuator: &mut Actuator, platter: &Platter, time: f64) -> f64 {
        while !self.dirty.is_empty() && self.destage(actuator, platter, f64::INFINITY) {}
        time.max(self.leaving.until)
    }

    /// Returns the number of sectors accepted at once.
    pub fn piece(&self) -> u64 {
        self.piece
    }

    /// Takes in sectors that came at `time`; together with those that they follow, if these are still here.
    pub fn hold(&mut self, platter: &Platter, span: SectorSpan, time: f64) {
        let (address, bytes) = (span.first * SECTOR, span.sectors() * SECTOR);
        if let Some(before) = self.followed(address) {
            self.dirty[before].block.bytes += bytes;
            return;
        }
        let block = Block { op: Op::Write, address, bytes };
        self.dirty.push(Waiting { block, since: Nanos(time as u64), track: platter.track_of(span.first) });
    }

    /// Destages whatever the arm comes to before `until`. Returns whether it came to anything.
    #[inline]
    pub fn destage_until(&mut self, actuator: &mut Actuator, platter: &Platter, until: f64) -> bool {
        let begun = self.ledger.begun();
        while self.begins_by_itself(actuator).is_some_and(|at| at < until) {
            actuator.rest_until(self.drains_from());
            if !self.destage(actuator, platter, until) {
                break;
            }
        }
        self.ledger.begun() > begun
    }

    /// Brings one write to the platter, if that begins before `until`.
    fn destage(&mut self, actuator: &mut Actuator, platter: &Platter, until: f64) -> bool {
        let Some(at) = self.next_destage(actuator).filter(|at| *at < until) else { return false };
        let mut drain = self.drain;
        let Some(chosen) = self.choose(&mut drain, actuator, platter, at) else { return false };
        self.drain = drain;
        let span = SectorSpan::of(&self.dirty.remove(chosen).block);
        let follows = self.leaving.sectors > 0
            && self.leaving.end == span.first
            && self.leaving.until == actuator.last_access();
        let end = actuator.access(platter, at, span, Op::Write).end;
        self.leaving = Leaving { sectors: span.sectors(), end: span.end, until: end };
        self.under_way.push((span, end));
        if follows {
            self.ledger.destage_more(at, platter.pass_ns(span.first, span.sectors()).min(end - at));
        } else {
            self.ledger.destage(at, end);
        }
        true
    }

    /// Returns the time at which the arm turns to the next write if no command comes before.
    #[inline]
    fn next_destage(&self, actuator: &Actuator) -> Option<f64> {
        self.dirty.first().map(|oldest| actuator.free_at().max(oldest.since.0 as f64))
    }

    /// Like `next_destage`, where nothing has to make room.
    #[inline]
    fn begins_by_itself(&self, actuator: &Actuator) -> Option<f64> {
        self.next_destage(actuator).map(|at| at.max(self.drains_from()))
    }

    /// Returns the time from which on the drive drains if no command comes; zero if it does whenever its arm is free.
    fn drains_from(&self) -> f64 {
        if self.idle > 0.0 { self.idle_since + self.idle } else { 0.0 }
    }

    /// Returns the index of the buffered write that goes to the platter next at time `at`.
    fn choose(&self, drain: &mut Chooser, actuator: &Actuator, platter: &Platter, at: f64) -> Option<usize> {
        let held = &self.dirty[..self.dirty.partition_point(|write| write.since.0 as f64 <= at)];
        let positioning = |write: &Waiting| positioning_ns(write, actuator, platter, at);
        (!held.is_empty()).then(|| drain.next(held, actuator.track(), Nanos(at as u64), positioning))
    }

    /// Returns true if there is space for a write at `now`, or for its first sectors where all of it is larger than the buffer.
    pub fn has_room_to_begin(&self, now: f64, span: SectorSpan) -> bool {
        self.has_room(now, SectorSpan { end: span.end.min(span.first + self.room), ..span })
    }

    /// Returns the estimated time from `now` until a full buffer has space, in ns: until the next write is under the head.
    pub fn until_room_ns(&self, actuator: &Actuator, platter: &Platter, now: f64) -> f64 {
        let begin = now.max(actuator.free_at());
        let next = self.choose(&mut { self.drain }, actuator, platter, begin);
        let positioning = |at: usize| positioning_ns(&self.dirty[at], actuator, platter, begin);
        begin - now + next.map_or(0.0, positioning)
    }

    /// Returns the time from `time` on when there is space for `span`: it waits for older writes to reach the platter.
    pub fn room_at(
        &mut self,
        actuator: &mut Actuator,
        platter: &Platter,
        time: f64,
        span: SectorSpan,
    ) -> f64 {
        self.room_within(self.room, actuator, platter, time, span)
    }

    /// Like `room_at`, with at most `room` sectors in the buffer.
    pub fn room_within(
        &mut self,
        room: u64,
        actuator: &mut Actuator,
        platter: &Platter,
        time: f64,
        span: SectorSpan,
    ) -> f64 {
        let mut time = time;
        while !self.fits(room, time, span) {
            if self.leaving.until <= time && !self.destage(actuator, platter, f64::INFINITY) {
                return time;
            }
            time = time.max(self.leaving.until);
        }
        time
    }

    /// Returns true if there is space for `span` at `time`.
    pub fn has_room(&self, time: f64, span: SectorSpan) -> bool {
        self.fits(self.room, time, span)
    }

    fn fits(&self, room: u64, time: f64, span: SectorSpan) -> bool {
        let (writes, leaving) = if self.leaving.until > time { (1, self.leaving.sectors) } else { (0, 0) };
        let held: u64 = leaving + self.dirty.iter().map(|write| write.block.bytes / SECTOR).sum::<u64>();
        let one_more = self.dirty.len() + writes < self.most || self.continues(time, span.first);
        one_more && held + span.sectors() <= room
    }

    /// Returns true if a write to `first` joins a buffered one, or the one on its way to the platter.
    fn continues(&self, time: f64, first: u64) -> bool {
        let leaving = self.leaving.until > time && self.leaving.end == first;
        leaving || self.followed(first * SECTOR).is_some()
    }

    /// The write here that ends where `address` begins. The newest are looked at first: a stream goes on where it was.
    #[inline]
    fn followed(&self, address: u64) -> Option<usize> {
        self.dirty.iter().rposition(|write| write.block.end() == address)
    }

    /// The drive begins to serve a command, of a host or not.
    #[inline]
    pub fn begin_service(&mut self, now: Nanos, for_host: bool) {
        self.ledger.serve(now.0, for_host);
        self.under_way.retain(|(_, until)| *until > now.0 as f64);
    }

    /// Ends the service of the current write; the buffer is ready for the next.
    #[inline]
    pub fn end_service(&mut self, now: Nanos) {
        self.ledger.end_service(now.0);
        self.idle_since = now.0 as f64;
    }

    /// Returns the number of write-backs begun.
    pub fn destaged(&self) -> u64 {
        self.ledger.begun()
    }

    /// Background work up to `now`, by which the arm has done what it does by itself.
    pub fn destaged_until(&self, now: u64) -> Background {
        self.ledger.until(now)
    }

    /// Returns the bytes that are not on the platter at `now`, with what the arm does by itself until then; it does nothing where there is none
    /// free.
    pub fn unwritten(&self, actuator: Option<Actuator>, platter: &Platter, now: Nanos) -> Ranges {
        let (mut buffer, until, mut unwritten) = (self.clone(), now.0 as f64, Ranges::default());
        actuator.into_iter().for_each(|mut arm| {
            buffer.destage_until(&mut arm, platter, until);
        });
        let on_its_way = buffer.under_way.iter().filter(|(_, end)| *end > until).map(|(span, _)| *span);
        let waiting = buffer.dirty.iter().map(|write| SectorSpan::of(&write.block));
        on_its_way.chain(waiting).for_each(|span| unwritten.insert(span.first * SECTOR, span.end * SECTOR));
        unwritten
    }

    /// Forgets what is not on the platter.
    pub fn clear(&mut self) {
        self.dirty.clear();
        self.under_way.clear();
        self.leaving = Leaving::default();
    }

    /// Background work up to `now`, with what the arm does by itself until then; it does nothing where there is none free.
    pub fn background(&self, actuator: Option<Actuator>, platter: &Platter, now: Nanos) -> Background {
        let until = now.0 as f64;
        let begins = |actuator: &Actuator| self.begins_by_itself(actuator).is_some_and(|at| at < until);
        let Some(mut actuator) = actuator.filter(begins) else { return self.ledger.until(now.0) };
        let mut buffer = self.clone();
        buffer.destage_until(&mut actuator, platter, until);
        buffer.ledger.until(now.0)
    }
}

/// Returns the estimated time from `at` until the place of a write is under the head, as used for scheduling, in ns.
fn positioning_ns(write: &Waiting, actuator: &Actuator, platter: &Platter, at: f64) -> f64 {
    actuator.positioning_ns(platter, at, write.block.address / SECTOR, Op::Write)
}
