//! The commands that wait before a drive: a discipline of its arm's queue, which asks the drive who is next.

use std::cell::RefCell;
use std::rc::Rc;

use headrace_kernel::{Discipline, Sim};
use headrace_work::Block;

use super::drive::Drive;
use super::schedule::{Chooser, QueueSpec, Waiting};

/// The requests that wait before a drive, of which it chooses.
pub struct CommandQueue<'m> {
    sim: &'m Sim<'m>,
    drive: Rc<RefCell<Drive>>,
    chooser: Chooser,
    /// In the order in which they came, with who waits.
    waiting: Vec<Waiting>,
    waiters: Vec<u32>,
    depth: usize,
}

impl<'m> CommandQueue<'m> {
    /// An empty queue before `drive`.
    pub fn new(sim: &'m Sim<'m>, drive: Rc<RefCell<Drive>>, spec: &QueueSpec) -> Self {
        let (chooser, depth) = (Chooser::new(spec.scheduling, spec.longest_wait), spec.depth as usize);
        Self { sim, drive, chooser, waiting: Vec::new(), waiters: Vec::new(), depth }
    }
}

impl Discipline for CommandQueue<'_> {
    type Key = Block;

    fn push(&mut self, waiter: u32, block: Block) {
        let track = self.drive.borrow().track_of(&block);
        self.waiting.push(Waiting { block, since: self.sim.now(), track });
        self.waiters.push(waiter);
    }

    fn pop(&mut self) -> Option<u32> {
        let held = &self.waiting[..self.waiting.len().min(self.depth)];
        if held.is_empty() {
            return None;
        }
        let now = self.sim.now();
        let arm = self.drive.borrow_mut().arm_at(now);
        let drive = self.drive.borrow();
        let at = self.chooser.next(held, arm, now, |waiting| drive.positioning_ns(now, &waiting.block));
        self.waiting.remove(at);
        Some(self.waiters.remove(at))
    }
}
