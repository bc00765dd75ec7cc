//! The commands that wait before a drive: a discipline of its arm's queue, which asks the drive who is next.

use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;
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

/// The requests that wait before a drive: those that it holds, of which it chooses, and those behind them in the host.
pub struct CommandQueue<'m> {
    sim: &'m Sim<'m>,
    drive: Rc<RefCell<Drive>>,
    chooser: Chooser,
    /// Those that the drive holds, at most `depth`, in the order in which they came; who waits, and whether the command flushes the cache.
    held: Vec<Waiting>,
    waiters: Vec<(u32, bool)>,
    behind: VecDeque<(u32, QueuedCommand)>,
    depth: usize,
}

impl<'m> CommandQueue<'m> {
    /// An empty queue before `drive`.
    pub fn new(sim: &'m Sim<'m>, drive: Rc<RefCell<Drive>>, spec: &QueueSpec) -> Self {
        let (chooser, depth) = (Chooser::new(spec.scheduling, spec.longest_wait), spec.depth as usize);
        Self { sim, drive, chooser, held: Vec::new(), waiters: Vec::new(), behind: VecDeque::new(), depth }
    }

    /// The drive takes a command. From now on it waits there: a drive does not know how long it was on its way.
    fn take(&mut self, waiter: u32, QueuedCommand { block, flushes }: QueuedCommand) {
        let track = self.drive.borrow().track_of(&block);
        self.held.push(Waiting { block, since: self.sim.now(), track });
        self.waiters.push((waiter, flushes));
    }

    /// Returns the number of commands, in the order in which they came, of which the drive chooses. A flush of the cache is not
    /// queued with others (as in ATA): what came before it is served first, and what came after it waits.
    fn choice(&self) -> usize {
        let before = self.waiters.iter().position(|(_, flushes)| *flushes);
        before.map_or(self.held.len(), |before| before.max(1))
    }
}

impl Discipline for CommandQueue<'_> {
    type Key = QueuedCommand;

    fn push(&mut self, waiter: u32, command: QueuedCommand) {
        if self.held.len() < self.depth {
            self.take(waiter, command);
        } else {
            self.behind.push_back((waiter, command));
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let held = &self.held[..self.choice()];
        if held.is_empty() {
            return None;
        }
        let now = self.sim.now();
        let arm = self.drive.borrow_mut().arm_at(now);
        let drive = self.drive.borrow();
        let until_room = OnceCell::new();
        let positioning = |waiting: &Waiting| drive.positioning_ns(now, &waiting.block, &until_room);
        let at = self.chooser.next(held, arm, now, positioning);
        drop(drive);
        self.held.remove(at);
        let (waiter, _) = self.waiters.remove(at);
        if let Some((next, command)) = self.behind.pop_front() {
            self.take(next, command);
        }
        Some(waiter)
    }
}
