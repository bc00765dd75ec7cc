//! Training in steps: the lives of reader threads, which fetch batches, and of accelerators.

use headrace_kernel::{Draws, Sim, subkey};
use headrace_units::Bytes;
use headrace_work::{Block, Request};

use super::options::End;
use super::replication::{Hosts, Replication};
use super::training::{Accelerator, Training};
use crate::record::{Step, StepTotals};

/// Starts the accelerators of a stream, and their threads.
pub fn start<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, index: usize, training: &'m Training<'m>) {
    for number in 0..training.steps.accelerators {
        let work = Work { of, hosts, index, training, number };
        for thread in 0..training.steps.threads {
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
        let mut preprocess = self.draws("preprocessing", thread);
        for turn in (u64::from(thread)..).step_by(steps.threads as usize) {
            let of = turn * at_a_time / batch;
            if self.training.is_over(of) {
                return;
            }
            while !self.training.may_fetch(self.accelerator(), of) {
                self.accelerator().asks.wait().await;
            }
            for n in turn * at_a_time..(turn + 1) * at_a_time {
                self.read_sample(thread, n).await;
                self.sim().delay(steps.preprocess.draw(&mut preprocess)).await;
                if self.is_ended() {
                    return;
                }
            }
            self.accelerator().fetch(of, at_a_time, batch);
        }
    }

    async fn read_sample(self, thread: u32, n: u64) {
        let sample = self.training.data.sample(self.number, n);
        self.in_pieces(thread, sample, self.training.steps.read, u64::from(self.number) << 40 | n).await;
    }

    /// Reads or writes bytes, a piece after another, each a request.
    async fn in_pieces(self, thread: u32, whole: Block, piece: Option<Bytes>, key: u64) {
        let source = &self.of.sources[self.index];
        let keys = self.of.stream(&self.of.plan.streams[self.index], "requests");
        let (end, piece) = (whole.address + whole.bytes, piece.map_or(whole.bytes, |piece| piece.0));
        let mut address = whole.address;
        while address < end && !self.is_ended() {
            let block = Block { address, bytes: piece.min(end - address), ..whole };
            let request = Request::new(subkey(keys.key(key), address), block);
            source.recorded.borrow_mut().push_back((request, None));
            let thread = source.thread(self.number * self.training.steps.threads + thread);
            self.of.request(self.hosts, self.index, thread).await;
            address += block.bytes;
        }
    }

    /// The life of the accelerator: step after step.
    async fn train(self) {
        let epoch = self.training.epoch();
        let mut draws = (self.draws("hand-over", 0), self.draws("computing", 0));
        let mut is_first = true;
        for batch in (0..).take_while(|batch| !self.training.is_over(*batch)) {
            let began = self.sim().now();
            self.step(batch, is_first || batch % epoch == 0, &mut draws).await;
            is_first = self.checkpoint(batch + 1).await;
            if self.is_ended() {
                return;
            }
            if self.sim().now() == began {
                self.of.took_no_time(self.index, false).await;
            }
        }
        self.of.note_step(self.index, |totals| totals.trained += 1);
        self.training.left.set(self.training.left.get() - 1);
        if self.training.left.get() == 0 {
            self.of.stop(End::Done);
        }
    }

    /// Waits for a batch, computes on it, and waits for the others.
    async fn step(self, batch: u64, is_first: bool, (hand_over, computing): &mut (Draws, Draws)) {
        let (sim, steps) = (self.sim(), &self.training.steps);
        let began = sim.now();
        self.accelerator().get(batch).await;
        sim.delay(steps.hand_over.draw(hand_over)).await;
        let loaded = sim.now();
        sim.delay(steps.compute.draw(computing)).await;
        let compute = sim.now() - loaded;
        if steps.barrier {
            self.training.barrier.meet().await;
        }
        let stall = sim.now() - began - compute;
        let step = Step { is_first, samples: u64::from(steps.batch), compute, stall };
        self.of.note_step(self.index, |totals| totals.step(&step));
    }

    /// Writes a checkpoint, if one is due after these steps, when all have come so far. Returns true if so.
    async fn checkpoint(self, steps: u64) -> bool {
        let Some(checkpoint) = self.training.steps.checkpoint.filter(|one| one.is_due(steps)) else {
            return false;
        };
        self.training.barrier.meet().await;
        let began = self.sim().now();
        if self.number < checkpoint.writers.unwrap_or(u32::MAX) {
            let whole = self.training.data.checkpoint(self.number, checkpoint.size);
            let key = 1 << 63 | u64::from(self.number) << 40 | steps;
            self.in_pieces(0, whole, Some(checkpoint.write), key).await;
        }
        self.training.barrier.meet().await;
        if self.number == 0 {
            let took = self.sim().now() - began;
            self.of.note_step(self.index, |totals| totals.checkpoint(took));
        }
        true
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
