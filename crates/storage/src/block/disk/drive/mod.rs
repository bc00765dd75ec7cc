//! A drive: its electronics and its cache in front of its mechanics.
//!
//! Background work (reading ahead, destaging) needs no events: nothing interrupts it between two commands, so the drive catches up when
//! the next one comes. A command costs a few hundred nanoseconds, however long the drive was idle.

mod outcome;
mod pieces;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::cell::OnceCell;

use headrace_kernel::RngStream;
use headrace_units::{Fraction, Nanos};
use headrace_work::{Block, Op};

use super::actuator::Actuator;
use super::background::{Background, UsefulAhead, whole};
use super::bus::Bus;
use super::cache::{Ahead, CacheLookup, DiskCache, WriteBuffer};
use super::electronics::{Electronics, MediaUse};
use super::history::History;
use super::layout::{SECTOR, SectorDistance, SectorSpan, Track};
use super::platter::{Platter, PlatterAccess};
use super::{DiskNumbers, Mechanism, Positioning};
use crate::core::ranges::Ranges;

use outcome::Times;
pub use outcome::{CommandCounts, DataSource, Handled, Served};
pub(super) use pieces::WriteInTransit;

/// A drive in a simulation.
#[derive(Clone, Debug)]
pub struct Drive {
    platter: Platter,
    actuator: Actuator,
    cache: DiskCache,
    /// Buffer of writes that are in the cache and not on the platter; `None` without write-back.
    buffer: Option<WriteBuffer>,
    electronics: Electronics,
    bus: Bus,
    history: History,
    ahead: UsefulAhead,
    /// True if it accepts a command while data of the previous one still goes to the host.
    overlapping: bool,
    /// True for a further piece of the previous command: it costs no overhead and counts as no command.
    goes_on: bool,
    /// True if the data of its command moves in pieces.
    in_pieces: bool,
    /// True if its command is a host's.
    for_host: bool,
    handled: Handled,
    counts: CommandCounts,
}

impl Drive {
    /// A drive of these numbers at rest, its platter at `phase` (a share of a turn) at time zero. `luck` decides which writes
    /// lose a turn, where some do.
    pub fn of(numbers: &DiskNumbers, phase: f64, luck: RngStream) -> Self {
        let numbers = &numbers.with_full_tracks();
        let mechanism = Mechanism::new(numbers, Positioning::Mechanical);
        let curve = mechanism.read_seek.points();
        let platter = Platter::new(&numbers.mechanics(), mechanism.revolution_ns, phase, curve);
        let margin = numbers.queue.as_ref().and_then(|queue| queue.margin).map_or(0.0, Fraction::get);
        let interface = numbers.interface.clone().unwrap_or_default();
        Self {
            actuator: Actuator::new(&platter, margin, luck),
            platter,
            cache: DiskCache::new(numbers.cache.as_ref()),
            buffer: WriteBuffer::new(numbers.cache.as_ref()),
            electronics: Electronics::new(&interface, numbers.overhead.get()),
            bus: Bus::default(),
            history: History::new(),
            ahead: UsefulAhead::default(),
            overlapping: true,
            goes_on: false,
            in_pieces: false,
            for_host: true,
            handled: Handled::default(),
            counts: CommandCounts::default(),
        }
    }

    /// Returns a drive like this one at rest, with another `phase` and `luck`; both share their tables.
    pub fn like(&self, phase: f64, luck: RngStream) -> Self {
        let mut drive = self.clone();
        drive.platter.set_phase(phase);
        drive.actuator.set_luck(luck);
        drive
    }

    /// Sets whether the drive accepts the next command while data of the previous one still goes to the host; default: true. If not, it
    /// is [ready](Served::ready) for the next when it is done with this one.
    #[must_use]
    pub fn overlapping(self, yes: bool) -> Self {
        Self { overlapping: yes, ..self }
    }

    /// Sets whether the next commands are a host's; default: true.
    pub fn set_for_host(&mut self, yes: bool) {
        self.for_host = yes;
    }

    /// Returns the drive's handling of the last command.
    pub fn handled(&self) -> Handled {
        self.handled
    }

    /// Returns the number of commands served, and of write-backs begun when the last command came.
    pub fn counts(&self) -> CommandCounts {
        CommandCounts { destaged: self.buffer.as_ref().map_or(0, WriteBuffer::destaged), ..self.counts }
    }

    /// Returns the time for which the arm destaged up to `now`, which must be no earlier than the last command. An idle drive goes on
    /// destaging. Read-ahead does not count: see [`read_ahead_ns`](Self::read_ahead_ns).
    pub fn background(&self, now: Nanos) -> Background {
        let of = |buffer: &WriteBuffer| buffer.background(self.free_arm(now.0 as f64), &self.platter, now);
        self.buffer.as_ref().map_or_else(Background::default, of)
    }

    /// Returns the bytes that the cache took in and that are not on the platter at `now`, no earlier than the last command. What is being
    /// written counts.
    pub fn unwritten(&self, now: Nanos) -> Ranges {
        let of = |buffer: &WriteBuffer| buffer.unwritten(self.free_arm(now.0 as f64), &self.platter, now);
        self.buffer.as_ref().map_or_else(Ranges::default, of)
    }

    /// Power fails at `now`, no earlier than the last command: the cache is empty.
    pub fn lose_power(&mut self, now: Nanos) {
        self.work_until(now.0 as f64);
        self.buffer.iter_mut().for_each(WriteBuffer::clear);
        self.cache.clear();
    }

    /// Returns the time up to `now` for which it read ahead, beside commands, data that commands then asked for, in ns.
    pub fn read_ahead_ns(&self, now: Nanos) -> u64 {
        self.ahead.until(now.0, self.background(now).alone_ns)
    }

    /// Returns the time for which the arm destaged alone up to `now`, when a command comes, in ns.
    fn destaged_alone(&self, now: u64) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| buffer.destaged_until(now).alone_ns)
    }

    /// A command comes at `now`, when the drive has done what it does by itself until then.
    #[inline]
    fn begin(&mut self, now: Nanos) {
        if self.ahead.owes() {
            self.ahead.begin(now.0, self.destaged_alone(now.0));
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.begin_service(now, self.for_host);
        }
    }

    /// The arm when it has read ahead as far as it must, if that is before `now`.
    fn free_arm(&self, now: f64) -> Option<Actuator> {
        let (arm, is_done) = self.arm_behind_owed(now);
        is_done.then_some(arm)
    }

    /// The arm when it has read ahead as far as it must, or as far as it comes before `until`, and whether it has.
    fn arm_behind_owed(&self, until: f64) -> (Actuator, bool) {
        let mut arm = self.actuator;
        let Some(ahead) = self.cache.ahead().filter(Ahead::is_owed) else { return (arm, true) };
        let next = arm.read_on(&self.platter, ahead.next, ahead.least, until);
        (arm, next >= ahead.least)
    }

    /// The track on which the data of a command begins.
    pub fn track_of(&self, block: &Block) -> Track {
        self.platter.track_of(block.address / SECTOR)
    }

    /// Returns the position of the arm at `now`.
    pub fn arm_at(&mut self, now: Nanos) -> Track {
        self.work_until(now.0 as f64);
        self.actuator.track()
    }

    /// Returns the distance of a command's data from that of the previous command.
    pub fn apart_from_last(&self, block: &Block) -> SectorDistance {
        self.platter.apart(self.history.last_sector(), block.address / SECTOR)
    }

    /// Returns the drive's estimate of the time from `now` until the data of a command is under the head, in ns; zero if the cache
    /// answers or the drive reads it ahead next. `until_room` keeps the time until a full buffer has space, which is that of all writes.
    pub fn positioning_ns(&self, now: Nanos, block: &Block, until_room: &OnceCell<f64>) -> f64 {
        let (now, span) = (now.0 as f64, SectorSpan::of(block));
        match (block.op, &self.buffer) {
            (Op::Read, _) => match self.cache.find(span) {
                CacheLookup::All => 0.0,
                CacheLookup::Coming => self.until_coming_ns(span),
                CacheLookup::Before(missing) => self.to_platter_ns(now, span, missing, Op::Read),
            },
            // It is never served before what came before it, nor after what came after it.
            (Op::Flush, _) => 0.0,
            (Op::Write | Op::Discard, Some(buffer)) if buffer.has_room_to_begin(now, span) => 0.0,
            (Op::Write | Op::Discard, Some(buffer)) => {
                *until_room.get_or_init(|| buffer.until_room_ns(&self.actuator, &self.platter, now))
            }
            (Op::Write | Op::Discard, None) => self.to_platter_ns(now, span, span.first, Op::Write),
        }
    }

    /// Returns the time for the sectors that the drive reads ahead before the first of a read to pass under the head, in ns.
    fn until_coming_ns(&self, span: SectorSpan) -> f64 {
        let next = self.cache.ahead().map_or(span.first, |ahead| ahead.next);
        span.first.saturating_sub(next) as f64 * self.platter.sector_ns(span.first)
    }

    /// Returns the estimate for a command that needs the platter from sector `missing` on, after the read-ahead that the drive must
    /// finish, in ns.
    fn to_platter_ns(&self, now: f64, span: SectorSpan, missing: u64, op: Op) -> f64 {
        let (arm, _) = self.arm_behind_owed(f64::INFINITY);
        let begin = (now + self.overhead_of_miss(op, span.first)).max(arm.free_at());
        begin - now + arm.positioning_ns(&self.platter, begin, missing, op)
    }

    /// Serves a command that comes at `now`, when the drive has nothing else to do but to send data.
    pub fn serve(&mut self, now: Nanos, block: &Block) -> Served {
        self.do_command(now, block, |drive, at, span| match block.op {
            Op::Read => drive.read(at, span),
            Op::Write | Op::Discard | Op::Flush => drive.write(at, span),
        })
    }

    /// Serves a flush: it completes when all that the cache holds is on the platter. Its command takes as long as that of a write which the
    /// cache takes in, a rule of ours.
    pub fn flush(&mut self, now: Nanos) -> Served {
        let at = now.0 as f64;
        self.work_until(at);
        if !self.in_pieces {
            self.begin(now);
        }
        self.handled = Handled::default();
        self.finish_owed();
        let done = self.drained_at(at) + self.overhead(Op::Write, MediaUse::Hit);
        self.settle(now, Op::Flush, Times { ready: done, done })
    }

    /// Serves a write that completes when it and all that the cache holds are on the platter.
    pub fn serve_durably(&mut self, now: Nanos, write: &Block) -> Served {
        self.do_command(now, write, Self::write_durably)
    }

    #[inline]
    fn do_command(
        &mut self,
        now: Nanos,
        block: &Block,
        work: impl FnOnce(&mut Self, f64, SectorSpan) -> Times,
    ) -> Served {
        let (at, span) = (now.0 as f64, SectorSpan::of(block));
        self.work_until(at);
        if !self.in_pieces {
            self.begin(now);
        }
        self.handled = Handled::default();
        let times = work(self, at, span);
        self.history.remember(block.op, span.end);
        self.settle(now, block.op, times)
    }

    /// Accounts for a command that came at `now`.
    #[inline]
    fn settle(&mut self, now: Nanos, op: Op, times: Times) -> Served {
        let Times { ready, done } = times;
        let ready = if self.overlapping { ready.min(done) } else { done };
        let served = Served { ready: Nanos(whole(ready)), done: Nanos(whole(done)) };
        self.ahead.serve(now.0, served.ready.0);
        if !self.goes_on {
            self.counts.add(op, self.handled.from);
        }
        if let Some(buffer) = self.buffer.as_mut().filter(|_| !self.in_pieces) {
            buffer.end_service(served.ready);
        }
        served
    }

    /// Does what the drive does by itself until `now`: reads ahead as far as it must, destages, reads further ahead.
    fn work_until(&mut self, now: f64) {
        self.read_ahead_until(now, |ahead| ahead.least);
        if self.cache.ahead().is_some_and(|ahead| ahead.is_owed()) {
            return;
        }
        if let Some(buffer) = &mut self.buffer
            && buffer.destage_until(&mut self.actuator, &self.platter, now)
        {
            self.cache.cut_reading_ahead();
        }
        self.read_ahead_until(now, |ahead| ahead.limit);
    }

    /// Reads ahead until `now`, or up to the limit that is asked for.
    fn read_ahead_until(&mut self, now: f64, limit: impl Fn(&Ahead) -> u64) {
        let Some(ahead) = self.cache.ahead().filter(|_| self.actuator.free_at() < now) else { return };
        if ahead.next < limit(&ahead) {
            let next = self.actuator.read_on(&self.platter, ahead.next, limit(&ahead), now);
            self.cache.has_read_ahead(next);
        }
    }

    /// Reads ahead as far as it must, as the arm is wanted elsewhere.
    fn finish_owed(&mut self) {
        self.read_ahead_until(f64::INFINITY, |ahead| ahead.least);
    }

    fn access(&mut self, now: f64, span: SectorSpan, op: Op) -> PlatterAccess {
        self.actuator.access(&self.platter, now, span, op)
    }

    /// The overhead of a command that goes to the platter, unless it follows the one before.
    fn overhead_of_miss(&self, op: Op, first: u64) -> f64 {
        if self.goes_on {
            return 0.0;
        }
        let apart = || self.platter.apart(self.history.last_sector(), first);
        self.overhead(op, MediaUse::Miss) + self.electronics.new_place(apart)
    }

    fn overhead(&self, op: Op, lookup: MediaUse) -> f64 {
        if self.goes_on { 0.0 } else { self.electronics.overhead(op, lookup, self.history.before()) }
    }
}
