//! How a drive writes.

use headrace_work::Op;

use super::outcome::{DataSource, Handled, Times};
use super::{Drive, MediaUse};
use crate::block::disk::cache::WriteBuffer;
use crate::block::disk::layout::SectorSpan;

/// Times at which the parts of a write to the platter begin, and the time to report its completion to the host.
struct Connected {
    arm: f64,
    data: f64,
    reselect: f64,
}

impl Drive {
    /// Answers a write.
    pub(super) fn write(&mut self, now: f64, span: SectorSpan) -> Times {
        let begin = (now + self.overhead_of_write(span)).max(self.bus.free_at());
        if self.buffer.is_none() {
            self.finish_owed();
        }
        self.disturb_reading_ahead(now, span);
        if self.buffer.is_none() {
            return self.write_to_platter(self.connected(now, begin, span), span);
        }
        let time = self.write_to_cache(begin + self.electronics.data_preparation, span);
        Times { ready: time, done: time + self.electronics.write.completion }
    }

    /// Answers a durable write: the cache is drained, and then it goes to the platter.
    pub(super) fn write_durably(&mut self, now: f64, span: SectorSpan) -> Times {
        self.finish_owed();
        self.disturb_reading_ahead(now, span);
        let drained = self.drained_at(now);
        let begin = (drained + self.overhead_of_write(span)).max(self.bus.free_at());
        self.write_to_platter(self.connected(drained, begin, span), span)
    }

    /// Returns the time from `now` on when all that the cache holds is on the platter.
    pub(super) fn drained_at(&mut self, now: f64) -> f64 {
        match &mut self.buffer {
            Some(buffer) => buffer.drained_at(&mut self.actuator, &self.platter, now),
            None => now,
        }
    }

    /// A write comes at `now`, up to which the arm may have read ahead. It reads no further than it must, and not at all where the data
    /// is that the write changes.
    pub(super) fn disturb_reading_ahead(&mut self, now: f64, write: SectorSpan) {
        if self.cache.ahead().is_some() {
            self.actuator.rest_until(now);
        }
        self.cache.cut_reading_ahead();
        self.cache.write(write);
    }

    pub(super) fn overhead_of_write(&self, span: SectorSpan) -> f64 {
        if self.history.continues(Op::Write, span.first) {
            self.overhead(Op::Write, MediaUse::Hit)
        } else {
            self.overhead_of_miss(Op::Write, span.first)
        }
    }

    /// Returns the times at which the arm and the data of a write begin; the write came at `now` and would begin at `begin`.
    fn connected(&self, now: f64, begin: f64, span: SectorSpan) -> Connected {
        let electronics = &self.electronics;
        let again = self.history.before() == Op::Write && !self.history.continues(Op::Write, span.first);
        match electronics.reconnected_write.as_ref().filter(|_| again) {
            Some(late) => {
                let data = (now + late.data_after).max(self.bus.free_at()) + electronics.data_preparation;
                Connected { arm: now + late.seek_after, data, reselect: late.reselect }
            }
            None => Connected {
                arm: begin,
                data: begin + electronics.data_preparation,
                reselect: electronics.reselect,
            },
        }
    }

    fn write_to_platter(&mut self, from: Connected, span: SectorSpan) -> Times {
        let data_at = self.data_at(from.data, span);
        // The arm seeks while data comes.
        let free = from.arm.max(self.actuator.free_at());
        let moved_ns = self.actuator.seek(&self.platter, self.platter.track_of(span.first), Op::Write);
        let access = self.access((free + moved_ns).max(data_at), span, Op::Write);
        self.handled = Handled { moved_ns, ..Handled::by(DataSource::Platter, &access) };
        let (sectors, each, end) = (span.sectors(), self.electronics.write.sector, access.end);
        let sent = self.bus.carry(from.data + sectors as f64 * each, sectors, each);
        let done = end.max(sent) + from.reselect + self.electronics.write.completion;
        Times { ready: end, done }
    }

    /// Returns the time at which enough of a write's data has arrived, from `begin` on, for the rest to keep up with the platter.
    fn data_at(&self, begin: f64, span: SectorSpan) -> f64 {
        let (sectors, timing) = (span.sectors() as f64, &self.electronics.write);
        let slower = (timing.sector - self.platter.sector_ns(span.first)).max(0.0);
        let keeps_up = timing.sector + slower * (sectors - 1.0);
        let wanted = (sectors * timing.watermark).max(sectors.min(self.electronics.write_start));
        begin + keeps_up.max(wanted * timing.sector)
    }

    /// Takes the data of a write into the cache, a segment or less at a time: what has come goes to the platter while the rest
    /// comes. Returns when all of it is there.
    fn write_to_cache(&mut self, begin: f64, span: SectorSpan) -> f64 {
        let piece = self.buffer.as_ref().map_or(u64::MAX, WriteBuffer::piece);
        let (each, mut time, mut left) = (self.electronics.write.sector, begin, span);
        while left.first < left.end {
            let sectors = left.sectors().min(piece);
            let comes = SectorSpan { first: left.first, end: left.first + sectors };
            time = self.room_at(time, comes);
            time = self.bus.carry(time + sectors as f64 * each, sectors, each);
            self.work_until(time);
            if let Some(buffer) = &mut self.buffer {
                buffer.hold(&self.platter, comes, time);
            }
            left.first = comes.end;
        }
        time
    }

    /// Returns the time from `time` on when the cache has space for a write of `span`.
    fn room_at(&mut self, time: f64, span: SectorSpan) -> f64 {
        if self.buffer.as_ref().is_some_and(|buffer| !buffer.has_room(time, span)) {
            self.finish_owed();
        }
        let Some(buffer) = &mut self.buffer else { return time };
        buffer.room_at(&mut self.actuator, &self.platter, time, span)
    }
}
