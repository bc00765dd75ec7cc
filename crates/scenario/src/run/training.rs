//! Training in steps: which batches are asked for and fetched, and where accelerators wait for them and for each other.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Round, Sim};
use headrace_units::Bytes;
use headrace_work::Op;
use headrace_workload::{DataSet, Fetch, StepSpec, StreamSpec};

/// The training of a stream while it runs.
pub struct Training<'m> {
    pub steps: StepSpec,
    pub data: DataSet,
    pub accelerators: Vec<Accelerator<'m>>,
    pub barrier: Barrier<'m>,
    /// Accelerators that have not ended their last epoch.
    pub left: Cell<u32>,
}

/// The batches of an accelerator: those that it asked for, and those that its threads fetch.
pub struct Accelerator<'m> {
    /// Batches asked for so far.
    asked: Cell<u64>,
    /// A batch was asked for.
    pub asks: Round<'m>,
    /// The first batch of which samples are missing, and how many are of it and of each that follows.
    missing: RefCell<(u64, VecDeque<u64>)>,
    /// A batch was fetched.
    fetched: Round<'m>,
    /// Where those that write its checkpoint, or read it back, wait for each other.
    written: Barrier<'m>,
    restored: Barrier<'m>,
}

/// All accelerators meet here.
pub struct Barrier<'m> {
    all: u32,
    here: Cell<u32>,
    round: Round<'m>,
}

impl<'m> Barrier<'m> {
    fn new(all: u32, sim: &'m Sim<'m>) -> Self {
        Self { all, here: Cell::new(0), round: Round::new(sim) }
    }

    /// Waits until all are here.
    pub async fn meet(&'m self) {
        self.here.set(self.here.get() + 1);
        if self.here.get() < self.all {
            return self.round.wait().await;
        }
        self.here.set(0);
        self.round.end();
    }
}

impl<'m> Training<'m> {
    /// The training that `spec` describes, on a component that holds `capacity`; `None` for another stream.
    pub fn new(
        spec: &StreamSpec,
        capacity: u64,
        (seed, name): (u64, &str),
        sim: &'m Sim<'m>,
    ) -> Option<Self> {
        let steps = spec.steps()?.clone();
        let data = DataSet::new(spec, &steps, Bytes(capacity), (seed, name));
        let data = data.unwrap_or_else(|invalid| panic!("a plan was made of this: {invalid:?}"));
        let lanes = |op| Barrier::new(steps.checkpoint.map_or(1, |checkpoint| checkpoint.at_once(op)), sim);
        let accelerator = |_| Accelerator {
            asked: Cell::new(0),
            asks: Round::new(sim),
            missing: RefCell::default(),
            fetched: Round::new(sim),
            written: lanes(Op::Write),
            restored: lanes(Op::Read),
        };
        let all = steps.accelerators;
        let barrier = Barrier::new(all, sim);
        let accelerators = (0..all).map(accelerator).collect();
        Some(Self { steps, data, accelerators, barrier, left: Cell::new(all) })
    }

    /// Steps of an epoch.
    pub fn epoch(&self) -> u64 {
        self.steps.epoch(self.data.share())
    }

    /// Returns true if a batch may be fetched by now: within those that are prefetched, and not before its epoch begins.
    pub fn may_fetch(&self, accelerator: &Accelerator, batch: u64) -> bool {
        let asked = accelerator.asked.get();
        batch < asked + u64::from(self.steps.prefetch) && batch / self.epoch() < asked.div_ceil(self.epoch())
    }

    /// Samples that a thread fetches at a time.
    pub fn at_a_time(&self) -> u64 {
        match self.steps.fetch {
            Fetch::Batch => u64::from(self.steps.batch),
            Fetch::Sample => 1,
        }
    }

    /// Returns true if batches of this number come after the last epoch.
    pub fn is_over(&self, batch: u64) -> bool {
        self.steps.epochs.is_some_and(|epochs| batch >= u64::from(epochs) * self.epoch())
    }
}

impl<'m> Accelerator<'m> {
    /// Where those that write its checkpoint, or read it back, wait for each other.
    pub fn lanes(&self, op: Op) -> &Barrier<'m> {
        if op == Op::Write { &self.written } else { &self.restored }
    }

    /// Notes that `samples` of a batch, which has `of`, are there.
    pub fn fetch(&self, batch: u64, samples: u64, of: u64) {
        let (first, missing) = &mut *self.missing.borrow_mut();
        let at = (batch - *first) as usize;
        missing.resize(missing.len().max(at + 1), of);
        missing[at] -= samples;
        while missing.front() == Some(&0) {
            missing.pop_front();
            *first += 1;
            self.fetched.end();
        }
    }

    /// Asks for a batch, and waits until it and all before it are there.
    pub async fn get(&'m self, batch: u64) {
        self.asked.set(batch + 1);
        self.asks.end();
        while self.missing.borrow().0 <= batch {
            self.fetched.wait().await;
        }
    }
}
