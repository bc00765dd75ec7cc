//! Threads of a server: each does one thing at a time, on one core at a time, and sleeps when nothing is left to do.

use std::cell::{Cell, OnceCell};

use headrace_kernel::{Resource, Round, Sim, WorkerPool};
use headrace_units::Nanos;
use headrace_work::Breakdown;

use super::Server;
use crate::core::context::StreamThreads;
use crate::core::meter::{Portion, add};

/// The threads of a server. Each is made when it first has something to do.
pub struct Threads<'m> {
    sim: &'m Sim<'m>,
    all: Vec<OnceCell<Box<Thread<'m>>>>,
    /// Threads that had something to do.
    number: Cell<u64>,
    /// Those of each stream.
    streams: Vec<StreamThreads>,
    /// Workers that run on cores, each a thread by its number.
    shifts: OnceCell<WorkerPool<'m, usize>>,
}

/// A thread.
pub struct Thread<'m> {
    number: usize,
    /// Whose turn it is.
    turn: Resource<'m>,
    state: Cell<ThreadState>,
    /// Time for which it worked, or was woken, in ns.
    busy: Cell<u64>,
    /// Ends when the thread has a core and is awake.
    awake: Round<'m>,
    /// Something is done, perhaps the last there was to do.
    done: Round<'m>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadState {
    Asleep,
    Waking,
    Awake,
}

impl<'m> Threads<'m> {
    /// Room for the threads of these streams.
    pub fn new(sim: &'m Sim<'m>, streams: &[StreamThreads]) -> Self {
        let most: u32 = streams.iter().map(|stream| stream.number).sum();
        let all = (0..most).map(|_| OnceCell::new()).collect();
        Self { sim, all, number: Cell::new(0), streams: streams.to_vec(), shifts: OnceCell::new() }
    }

    /// The threads of each stream, as far as they had something to do here: they can all be busy while cores are free.
    pub fn portions(&self) -> Vec<Portion> {
        let mut left = &self.all[..];
        let portion = |stream: &StreamThreads| {
            let (own, others) = left.split_at(stream.number as usize);
            left = others;
            let made = || own.iter().filter_map(OnceCell::get);
            Portion {
                name: format!("threads of {}", stream.stream),
                servers: made().count() as u64,
                busy: made().map(|thread| u128::from(thread.busy.get())).sum(),
                away: 0,
                queue: None,
            }
        };
        self.streams.iter().filter(|stream| stream.number > 0).map(portion).collect()
    }

    /// Starts the threads of a server on its cores.
    pub fn begin(&'m self, server: &'m Server<'m>) {
        if !self.all.is_empty() {
            self.shifts.get_or_init(|| WorkerPool::new(self.sim, move |number: usize| server.shift(number)));
        }
    }

    /// A thread by its number, counted from 1; none for 0.
    pub fn get(&'m self, number: u32) -> Option<&'m Thread<'m>> {
        let number = (number as usize).checked_sub(1)?;
        let thread = || {
            self.number.set(self.number.get() + 1);
            Box::new(Thread::new(self.sim, number))
        };
        self.all.get(number).map(|cell| &**cell.get_or_init(thread))
    }

    /// Returns the number of other threads.
    fn others(&self) -> u64 {
        self.number.get().saturating_sub(1)
    }
}

impl<'m> Thread<'m> {
    fn new(sim: &'m Sim<'m>, number: usize) -> Self {
        let (awake, done) = (Round::new(sim), Round::new(sim));
        let state = Cell::new(ThreadState::Asleep);
        Self { number, turn: Resource::fcfs(sim, 1), state, busy: Cell::new(0), awake, done }
    }

    fn is_idle(&self) -> bool {
        self.turn.usage().busy.value() == 0
    }
}

impl<'m> Server<'m> {
    /// A thread works for a while, when it is its turn and the thread is awake.
    pub(super) async fn work_of(&'m self, thread: &'m Thread<'m>, time: Nanos, breakdown: &mut Breakdown) {
        let turn = thread.turn.acquire(()).await;
        self.rouse(thread).await;
        breakdown.waited(self.context.id, self.sim.now());
        let time = self.contended(time);
        self.sim.delay(time).await;
        add(&thread.busy, time.0);
        breakdown.served(self.context.id, self.sim.now());
        drop(turn);
        thread.done.end();
    }

    /// Wakes a thread that sleeps.
    async fn rouse(&'m self, thread: &'m Thread<'m>) {
        if thread.state.get() == ThreadState::Asleep {
            thread.state.set(ThreadState::Waking);
            if let Some(shifts) = self.threads.shifts.get() {
                shifts.start(thread.number);
            }
        }
        if thread.state.get() == ThreadState::Waking {
            thread.awake.wait().await;
        }
    }

    /// A thread on a core: woken there, until nothing is left to do.
    pub(super) async fn shift(&'m self, number: usize) {
        let Some(thread) = self.threads.get(number as u32 + 1) else { return };
        let core = self.cores.acquire(()).await;
        let spec = &self.plan.spec;
        let wake = Nanos(spec.wake.0 + spec.wake_per_thread.0 * self.threads.others());
        let wake = self.contended(wake);
        self.sim.delay(wake).await;
        add(&thread.busy, wake.0);
        thread.state.set(ThreadState::Awake);
        thread.awake.end();
        loop {
            thread.done.wait().await;
            // What follows from what was done comes at this instant: the next command.
            self.sim.settled().await;
            if thread.is_idle() {
                break;
            }
        }
        thread.state.set(ThreadState::Asleep);
        drop(core);
    }
}
