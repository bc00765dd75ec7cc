//! Training in steps: the lives of reader threads, which fetch batches, and of accelerators.

use headrace_kernel::{Draws, Sim, subkey};
use headrace_storage::Computing;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};
use headrace_workload::{CheckpointSpec, SamplePlace};

use super::options::End;
use super::replication::{Hosts, Replication, RequestSource};
use super::training::{Accelerator, Training};
use crate::record::{Step, StepTotals};

/// Starts the accelerators of a stream, and their threads.
pub fn start<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, index: usize, training: &'m Training<'m>) {
    for number in 0..training.steps.accelerators {
        let work = Work { of, hosts, index, training, number };
        let readers = if training.steps.batch > 0 { training.steps.threads } else { 0 };
        for thread in 0..readers {
            of.shared.sim.spawn(work.read(thread));
        }
        of.shared.sim.spawn(work.train());
    }
}

/// One accelerator of a stream, and what it needs.
#[derive(Clone, Copy)]
struct Work<'m> {
    of: &'m Replication<'m>,
    hosts: &'m Hosts<'m>,
    index: usize,
    training: &'m Training<'m>,
    number: u32,
}

impl<'m> Work<'m> {
    fn sim(&self) -> &'m Sim<'m> {
        self.of.shared.sim
    }

    fn accelerator(&self) -> &'m Accelerator<'m> {
        &self.training.accelerators[self.number as usize]
    }

    fn is_ended(&self) -> bool {
        self.of.end.get().is_some()
    }

    fn draws(&self, purpose: &str, thread: u32) -> Draws {
        let number = u64::from(self.number) << 32 | u64::from(thread);
        self.of.stream(&self.of.plan.streams[self.index], purpose).of(number)
    }

    /// The life of a reader thread: its turns at the data.
    async fn read(self, thread: u32) {
        let Training { steps, .. } = self.training;
        let (at_a_time, batch) = (self.training.at_a_time(), u64::from(steps.batch));
        let (mut preprocess, mut place) = (self.draws("preprocessing", thread), SamplePlace::default());
        for turn in (u64::from(thread)..).step_by(steps.threads as usize) {
            let of = turn * at_a_time / batch;
            if self.training.is_over(of) {
                return;
            }
            while !self.training.may_fetch(self.accelerator(), of) {
                self.accelerator().asks.wait().await;
            }
            for n in turn * at_a_time..(turn + 1) * at_a_time {
                self.read_sample(thread, n, &mut place).await;
                self.compute(thread, steps.preprocess.draw(&mut preprocess)).await;
                if self.is_ended() {
                    return;
                }
            }
            self.accelerator().fetch(of, at_a_time, batch);
        }
    }

    async fn read_sample(self, thread: u32, n: u64, place: &mut SamplePlace) {
        let sample = self.training.data.sample(self.number, n, place);
        let (piece, key) = (self.training.steps.read, u64::from(self.number) << 40 | n);
        self.in_pieces(thread, sample, piece, key, (0, 1)).await;
    }

    /// A thread computes for this time, on a core of its server where it has one.
    async fn compute(self, thread: u32, time: Nanos) {
        if self.source().has_server {
            Box::pin(self.compute_on_core(thread, time)).await;
        } else {
            self.sim().delay(time).await;
        }
    }

    async fn compute_on_core(self, thread: u32, time: Nanos) {
        let thread = self.numbered(thread);
        let request = Request { thread, ..Request::new(0, Computing(time)) };
        self.source().way(thread).serve(&request, &mut Breakdown::from(self.sim().now())).await;
    }

    fn source(&self) -> &'m RequestSource<'m> {
        &self.of.sources[self.index]
    }

    /// The number of a thread of this accelerator among all.
    fn numbered(&self, thread: u32) -> u32 {
        self.source().thread(self.number * self.training.steps.threads_each() + thread)
    }

    /// Reads or writes bytes, a piece after another, each a request: the `first` and each `step` after it.
    async fn in_pieces(
        self,
        thread: u32,
        whole: Block,
        piece: Option<Bytes>,
        key: u64,
        (first, step): (u32, u32),
    ) {
        let keys = self.of.stream(&self.of.plan.streams[self.index], "requests");
        let (end, piece) = (whole.address + whole.bytes, piece.map_or(whole.bytes, |piece| piece.0));
        let mut address = whole.address.saturating_add(u64::from(first).saturating_mul(piece));
        while address < end && !self.is_ended() {
            let block = Block { address, bytes: piece.min(end - address), ..whole };
            self.wants(Request::new(subkey(keys.key(key), address), block));
            self.of.request(self.hosts, self.index, self.numbered(thread)).await;
            address = address.saturating_add(u64::from(step).saturating_mul(piece));
        }
    }

    /// Makes this request the next of the stream. The caller awaits the answer itself, so that the future of the request is not moved: there are
    /// millions of them.
    fn wants(self, request: Request<Block>) {
        self.source().recorded.borrow_mut().push_back((request, None));
    }

    /// The life of the accelerator: step after step.
    async fn train(self) {
        let epoch = self.training.epoch();
        let mut draws = (self.draws("hand-over", 0), self.draws("computing", 0));
        let mut is_first = true;
        for batch in (0..).take_while(|batch| !self.training.is_over(*batch)) {
            let began = self.sim().now();
            let of_epoch = batch % epoch;
            self.step(batch, (is_first, of_epoch == 0), &mut draws).await;
            is_first = self.checkpoint(batch + 1, of_epoch + 1).await;
            if self.is_ended() {
                return;
            }
            if self.sim().now() == began {
                self.of.took_no_time(self.index, false).await;
            }
        }
        self.restore(&mut draws.1).await;
        if self.is_ended() {
            return;
        }
        self.of.note_step(self.index, |totals| totals.trained += 1);
        self.training.left.set(self.training.left.get() - 1);
        if self.training.left.get() == 0 {
            self.of.stop(End::Done);
        }
    }

    /// Waits for a batch, computes on it, and waits for the others.
    async fn step(
        self,
        batch: u64,
        (is_first, begins_epoch): (bool, bool),
        (hand_over, computing): &mut (Draws, Draws),
    ) {
        let (sim, steps) = (self.sim(), &self.training.steps);
        let began = sim.now();
        if steps.batch > 0 {
            self.accelerator().get(batch).await;
        }
        sim.delay(steps.hand_over.draw(hand_over)).await;
        let loaded = sim.now();
        sim.delay(steps.compute.draw(computing)).await;
        let compute = sim.now() - loaded;
        if steps.barrier {
            self.training.barrier.meet().await;
        }
        let stall = sim.now() - began - compute;
        let is_first = is_first || begins_epoch;
        let step = Step { is_first, begins_epoch, samples: u64::from(steps.batch), compute, stall };
        self.of.note_step(self.index, |totals| totals.step(&step));
    }

    /// Writes a checkpoint, if one is due after these steps, the last `of_epoch` of them in this epoch, when all have come so far. Returns true
    /// if so.
    async fn checkpoint(self, steps: u64, of_epoch: u64) -> bool {
        let is_due = |one: &CheckpointSpec| one.is_due(if one.each_epoch { of_epoch } else { steps });
        let Some(checkpoint) = self.training.steps.checkpoint.filter(is_due) else {
            return false;
        };
        let took = self.all_transfer(&checkpoint, Op::Write, steps).await;
        if self.number == 0 {
            self.of.note_step(self.index, |totals| totals.checkpoint(took));
        }
        true
    }

    /// Reads the last checkpoint back as often as the stream says, and computes before each.
    async fn restore(self, computing: &mut Draws) {
        let Some(checkpoint) = self.training.steps.checkpoint else { return };
        for restore in 0..checkpoint.restores {
            let began = self.sim().now();
            self.sim().delay(self.training.steps.compute.draw(computing)).await;
            let took = self.all_transfer(&checkpoint, Op::Read, 1 << 39 | restore).await;
            if self.is_ended() {
                return;
            }
            if self.number == 0 {
                self.of.note_step(self.index, |totals| totals.restore(took));
            }
            if self.sim().now() == began {
                self.of.took_no_time(self.index, false).await;
            }
        }
    }

    /// Writes what is this accelerator's of a checkpoint, or reads it back, when all have come so far, and waits for the others.
    /// Returns how long all of them took.
    async fn all_transfer(self, checkpoint: &CheckpointSpec, op: Op, number: u64) -> Nanos {
        let came = self.sim().now();
        self.training.barrier.meet().await;
        let began = self.sim().now();
        if op == Op::Write {
            let is_first = self.number == 0;
            self.of.note_step(self.index, |totals| totals.begins_checkpoint(began - came, is_first));
        }
        let lanes = checkpoint.at_once(op);
        for lane in 1..lanes {
            self.sim().spawn(self.transfer(*checkpoint, op, number, (lane, lanes)));
        }
        self.transfer(*checkpoint, op, number, (0, lanes)).await;
        let writes = op == Op::Write && checkpoint.bytes_of(self.number).0 > 0;
        if checkpoint.sync && writes {
            self.flush(number).await;
        }
        self.training.barrier.meet().await;
        self.sim().now() - began
    }

    /// Waits until all that was written is on the medium.
    async fn flush(self, number: u64) {
        let keys = self.of.stream(&self.of.plan.streams[self.index], "flushes");
        let key = subkey(keys.key(number), u64::from(self.number));
        self.wants(Request::new(key, Block { op: Op::Flush, address: 0, bytes: 0 }));
        self.of.request(self.hosts, self.index, self.numbered(0)).await;
    }

    /// Transfers the pieces of a lane: each `lane.1`-th of a checkpoint. Waits until those of all lanes are.
    async fn transfer(self, checkpoint: CheckpointSpec, op: Op, number: u64, lane: (u32, u32)) {
        let whole = self.training.data.checkpoint(self.number, &checkpoint, op);
        let key = 1 << 63 | u64::from(self.number) << 40 | number;
        self.in_pieces(lane.0, whole, Some(checkpoint.write), key, lane).await;
        self.accelerator().lanes(op).meet().await;
    }
}

impl Replication<'_> {
    /// Writes down a step or a checkpoint of a stream.
    fn note_step(&self, stream: usize, note: impl FnOnce(&mut StepTotals)) {
        if self.end.get().is_none() {
            note(&mut self.record.borrow_mut().streams[stream].totals.steps);
        }
    }
}
