//! Commands whose data crosses a controller's bus a piece at a time: the drive and the bus work side by side.

use headrace_units::Nanos;
use headrace_work::{Block, Op};

use super::outcome::{DataSource, Handled};
use super::{Drive, SectorSpan, Served, whole};
use crate::block::disk::cache::{Intake, WriteBuffer};
use crate::block::disk::layout::SECTOR;

/// A write on its way into the cache of a drive.
#[derive(Clone, Copy, Debug)]
pub struct WriteInTransit {
    intake: Intake,
    write: SectorSpan,
}

impl Drive {
    /// A command begins whose data comes or goes in pieces: all that it takes is one service.
    pub fn begin_pieces(&mut self, now: Nanos) {
        self.work_until(now.0 as f64);
        self.begin(now);
        self.ahead.hold();
        self.in_pieces = true;
    }

    /// Time that a piece of data takes to pass under the head.
    pub fn passing(&self, piece: &Block) -> Nanos {
        let span = SectorSpan::of(piece);
        Nanos(whole(self.platter.pass_ns(span.first, span.sectors())))
    }

    /// Ends a command whose data moves in pieces.
    pub fn end_pieces(&mut self, now: Nanos) {
        self.in_pieces = false;
        self.ahead.release(now.0);
        if let Some(buffer) = &mut self.buffer {
            buffer.end_service(now);
        }
    }

    /// Serves a further piece of the read before.
    pub fn go_on(&mut self, now: Nanos, piece: &Block) -> Served {
        self.goes_on = true;
        let served = self.serve(now, piece);
        self.goes_on = false;
        served
    }

    /// Begins a write that comes in pieces of at most `piece` bytes, if the drive takes it into its cache: how, and when its data may
    /// come.
    pub fn begin_write(&mut self, now: Nanos, write: &Block, piece: u64) -> Option<(WriteInTransit, Nanos)> {
        self.buffer.as_ref()?;
        let (at, span) = (now.0 as f64, SectorSpan::of(write));
        self.work_until(at);
        self.handled = Handled { from: DataSource::Cache, ..Handled::default() };
        let begin = at + self.overhead_of_write(span) + self.electronics.data_preparation;
        self.disturb_reading_ahead(at, span);
        let intake = self.buffer.as_mut()?.intake(span, (piece / SECTOR).max(1));
        Some((WriteInTransit { intake, write: span }, Nanos(whole(begin))))
    }

    /// The next bytes of a write that move together, from `address` on, and when there is room for them.
    pub fn next_load(&mut self, now: Nanos, load: &WriteInTransit, address: u64) -> (u64, Nanos) {
        let first = address / SECTOR;
        let span = SectorSpan { first, end: load.write.end.min(first + load.intake.load) };
        self.work_until(now.0 as f64);
        self.finish_owed();
        let time = self.buffer.as_mut().map_or(0.0, |buffer| {
            let room = load.intake.room;
            buffer.room_within(room, &mut self.actuator, &self.platter, now.0 as f64, span)
        });
        (span.sectors() * SECTOR, Nanos(whole(time)).max(now))
    }

    /// Returns the time at which a piece that crossed the bus by `now` is in the cache. Unless the whole load must arrive first, it can
    /// go to the platter from then on.
    pub fn take_in(&mut self, now: Nanos, load: &WriteInTransit, piece: &Block) -> Nanos {
        let (span, each) = (SectorSpan::of(piece), self.electronics.write.sector);
        let time = now.0 as f64 + span.sectors() as f64 * each;
        if !load.intake.whole {
            self.hold(span, time);
        }
        Nanos(whole(time))
    }

    /// All of a load is in the cache.
    pub fn end_load(&mut self, now: Nanos, load: &WriteInTransit, came: &Block) {
        if load.intake.whole {
            self.hold(SectorSpan::of(came), now.0 as f64);
        }
    }

    /// Returns the time at which a write whose data is all in the cache is reported.
    pub fn end_write(&mut self, now: Nanos, load: &WriteInTransit) -> Nanos {
        let mut time = now.0 as f64;
        if let Some(buffer) = self.buffer.as_mut().filter(|_| load.intake.late) {
            time = buffer.drained_at(&mut self.actuator, &self.platter, time);
        }
        let done = Nanos(whole(time + self.electronics.write.completion));
        self.history.remember(Op::Write, load.write.end);
        self.counts.add(Op::Write, DataSource::Cache);
        done
    }

    fn hold(&mut self, span: SectorSpan, time: f64) {
        self.work_until(time);
        if let Some(buffer) = &mut self.buffer {
            WriteBuffer::hold(buffer, &self.platter, span, time);
        }
    }
}
