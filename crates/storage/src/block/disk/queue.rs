//! The commands that wait before a drive: a discipline of its arm's queue, which asks the drive who is next.

use std::cell::RefCell;
use std::rc::Rc;

use headrace_kernel::{Discipline, Sim};
use headrace_work::{Block, Request};

use super::drive::Drive;
use super::schedule::{Chooser, QueueSpec, Waiting};

/// What the drive knows of a command that waits.
#[derive(Clone, Copy, Debug)]
pub struct QueuedCommand {
    block: Block,
    flushes: bool,
}

impl QueuedCommand {
    /// The command of a request.
    pub fn of(request: &Request<Block>) -> Self {
        Self { block: request.work, flushes: request.flushes() }
    }
}

/// The requests that wait before a drive, of which it chooses.
pub struct CommandQueue<'m> {
    sim: &'m Sim<'m>,
    drive: Rc<RefCell<Drive>>,
    chooser: Chooser,
    /// In the order in which they came, with who waits and whether the command flushes the cache.
    waiting: Vec<Waiting>,
    waiters: Vec<(u32, bool)>,
    /// Number of commands that wait and flush the cache.
    flushes: usize,
    depth: usize,
}

impl<'m> CommandQueue<'m> {
    /// An empty queue before `drive`.
    pub fn new(sim: &'m Sim<'m>, drive: Rc<RefCell<Drive>>, spec: &QueueSpec) -> Self {
        let (chooser, depth) = (Chooser::new(spec.scheduling, spec.longest_wait), spec.depth as usize);
        Self { sim, drive, chooser, waiting: Vec::new(), waiters: Vec::new(), flushes: 0, depth }
    }

    /// Returns the number of commands, in the order in which they came, of which the drive chooses. A flush of the cache is not
    /// queued with others (as in ATA): what came before it is served first, and what came after it waits.
    fn choice(&self) -> usize {
        let held = self.waiting.len().min(self.depth);
        if self.flushes == 0 {
            return held;
        }
        let before = self.waiters[..held].iter().position(|(_, flushes)| *flushes);
        before.map_or(held, |before| before.max(1))
    }
}

impl Discipline for CommandQueue<'_> {
    type Key = QueuedCommand;

    fn push(&mut self, waiter: u32, QueuedCommand { block, flushes }: QueuedCommand) {
        let track = self.drive.borrow().track_of(&block);
        self.waiting.push(Waiting { block, since: self.sim.now(), track });
        self.waiters.push((waiter, flushes));
        self.flushes += usize::from(flushes);
    }

    fn pop(&mut self) -> Option<u32> {
        let held = &self.waiting[..self.choice()];
        if held.is_empty() {
            return None;
        }
        let now = self.sim.now();
        let arm = self.drive.borrow_mut().arm_at(now);
        let drive = self.drive.borrow();
        let at = self.chooser.next(held, arm, now, |waiting| drive.positioning_ns(now, &waiting.block));
        self.waiting.remove(at);
        let (waiter, flushes) = self.waiters.remove(at);
        self.flushes -= usize::from(flushes);
        Some(waiter)
    }
}
