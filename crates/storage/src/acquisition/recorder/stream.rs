//! One stream of a recorder: what it has collected, and its writes.

use std::cell::Cell;

use headrace_kernel::{Pool, Resource, subkey};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, DaqEvent, DriveUse, FileAct, FileOp, Op, Request};

use super::Recorder;
use super::spec::{Affinity, REGIONS};

/// A stream.
pub(super) struct RecorderStream<'m> {
    number: u64,
    /// Its memory.
    pub room: Pool<'m>,
    /// Its writes, one after another.
    writer: Resource<'m>,
    /// Bytes collected for the next write.
    collected: Cell<u64>,
    since: Cell<Nanos>,
    /// Number of writes begun, and how far it has written in its region.
    writes: Cell<u64>,
    written: Cell<u64>,
}

impl<'m> RecorderStream<'m> {
    pub fn new(number: u64, sim: &'m headrace_kernel::Sim<'m>, buffer: u64) -> Self {
        Self {
            number,
            room: Pool::new(sim, buffer, buffer),
            writer: Resource::fcfs(sim, 1),
            collected: Cell::new(0),
            since: Cell::new(Nanos::ZERO),
            writes: Cell::new(0),
            written: Cell::new(0),
        }
    }

    /// Bytes in its memory.
    pub fn held(&self) -> u64 {
        self.room.capacity() - self.room.held()
    }
}

/// A write that is ready.
struct Write {
    number: u64,
    bytes: u64,
    offset: u64,
    closed: Nanos,
}

impl<'m> Recorder<'m> {
    /// Puts the bytes of an event into the memory of a stream, after waiting for room, and starts the writes that are full.
    pub(super) async fn collect(
        &'m self,
        request: &Request<DaqEvent>,
        stream: &'m RecorderStream<'m>,
        bytes: u64,
    ) {
        let (sim, write) = (self.context.shared.sim, self.plan.spec.write.0);
        let mut left = bytes;
        while left > 0 {
            let part = left.min(write - stream.collected.get());
            stream.room.take(part).await;
            if stream.collected.get() == 0 {
                stream.since.set(sim.now());
            }
            self.taken_in.set(self.taken_in.get() + part);
            stream.collected.set(stream.collected.get() + part);
            left -= part;
            if stream.collected.get() == write {
                self.close(request, stream);
            }
        }
    }

    /// Writes the collected data.
    fn close(&'m self, request: &Request<DaqEvent>, stream: &'m RecorderStream<'m>) {
        let now = self.context.shared.sim.now();
        let (number, bytes) = (stream.writes.get(), stream.collected.replace(0));
        let write = Write { number, bytes, offset: stream.written.get(), closed: now };
        stream.writes.set(number + 1);
        stream.written.set(stream.written.get() + bytes);
        self.collecting.set(self.collecting.get() + u128::from((now - stream.since.get()).0));
        self.closed.set(self.closed.get() + 1);
        self.context.shared.sim.spawn(self.write(request.child(number, request.work), stream, write));
    }

    async fn write(&'m self, request: Request<DaqEvent>, stream: &'m RecorderStream<'m>, write: Write) {
        let turn = stream.writer.acquire(()).await;
        let mut breakdown = Breakdown::from(self.context.shared.sim.now());
        if self.plan.is_archive {
            self.put(&request, stream, &write, &mut breakdown).await;
        } else {
            self.write_to_volume(&request, stream, &write, &mut breakdown).await;
        }
        drop(turn);
        let counter = if breakdown.has_failed() { &self.failed } else { &self.writes };
        counter.set(counter.get() + 1);
        let lasted = self.context.shared.sim.now() - write.closed;
        self.writing.set(self.writing.get() + u128::from(lasted.0));
        self.written.set(self.written.get() + write.bytes);
        stream.room.put(write.bytes);
    }

    async fn put(
        &'m self,
        request: &Request<DaqEvent>,
        stream: &RecorderStream<'m>,
        write: &Write,
        breakdown: &mut Breakdown,
    ) {
        let builder = u64::from(request.work.builder);
        let file = subkey(self.files, (stream.number << 40) | write.number);
        let op = FileOp {
            act: FileAct::Put,
            file,
            bytes: write.bytes,
            user: builder,
            host: builder,
            drive: DriveUse::default(),
        };
        self.targets[0].serve(&request.with(op), breakdown).await;
    }

    async fn write_to_volume(
        &'m self,
        request: &Request<DaqEvent>,
        stream: &RecorderStream<'m>,
        write: &Write,
        breakdown: &mut Breakdown,
    ) {
        let all = self.targets.len() as u64;
        let stream = u64::from(request.work.builder) * u64::from(self.plan.spec.streams) + stream.number;
        let volume = match self.plan.spec.affinity {
            Affinity::Stream => stream % all,
            Affinity::None => (stream + write.number) % all,
        };
        let region = self.plan.capacities[volume as usize] / REGIONS / write.bytes * write.bytes;
        let address = stream / all % REGIONS * region + write.offset % region;
        let block = Block { op: Op::Write, address, bytes: write.bytes };
        self.targets[volume as usize].serve(&request.with(block), breakdown).await;
    }
}
