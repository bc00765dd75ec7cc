//! Which of the waiting requests a drive serves next: one policy, one file.

mod clook;
mod fcfs;
mod look;
mod sptf;
mod sstf;

use std::cell::RefCell;
use std::rc::Rc;

use headrace_kernel::{Discipline, Sim};
use headrace_units::Nanos;
use headrace_workload::Request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drive::Drive;
use super::layout::Track;

/// Which of the waiting requests a drive serves next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scheduling {
    /// The one that came first.
    #[default]
    Fcfs,
    /// The one on the nearest cylinder (shortest seek time first).
    Sstf,
    /// The nearest in the direction in which the arm moves; where there is none, it turns round.
    Look,
    /// The nearest further in; where there is none, the outermost (cyclic LOOK).
    CLook,
    /// The one whose data is under the head soonest (shortest positioning time first).
    Sptf,
    /// The same, but what has waited long is preferred.
    AgedSptf {
        /// For each unit of time waited, so much less positioning time is reckoned.
        #[schemars(range(min = 0.0, max = 1000.0))]
        weight: f64,
    },
}

/// A request that waits in the drive.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The request.
    pub request: Request,
    /// Since when.
    pub since: Nanos,
    /// Where its data begins.
    pub track: Track,
    waiter: u32,
}

/// The requests that wait in a drive, and how the next is chosen.
pub struct Queue<'m> {
    sim: &'m Sim<'m>,
    drive: Rc<RefCell<Drive>>,
    scheduling: Scheduling,
    /// Whether the arm moves inwards.
    inwards: bool,
    /// In the order in which they came.
    waiting: Vec<Waiting>,
    /// The drive holds so many commands; those behind them wait for their turn.
    depth: usize,
}

impl<'m> Queue<'m> {
    /// An empty queue before `drive`, which holds `depth` commands.
    pub fn new(sim: &'m Sim<'m>, drive: Rc<RefCell<Drive>>, scheduling: Scheduling, depth: u32) -> Self {
        Self { sim, drive, scheduling, inwards: true, waiting: Vec::new(), depth: depth as usize }
    }

    fn choose(&mut self) -> usize {
        let held = &self.waiting[..self.waiting.len().min(self.depth)];
        let (mut drive, now) = (self.drive.borrow_mut(), self.sim.now());
        let arm = drive.arm_at(now);
        match self.scheduling {
            Scheduling::Fcfs => fcfs::next(),
            Scheduling::Sstf => sstf::next(held, arm),
            Scheduling::Look => look::next(held, arm, &mut self.inwards),
            Scheduling::CLook => clook::next(held, arm),
            Scheduling::Sptf => sptf::next(held, &drive, now, 0.0),
            Scheduling::AgedSptf { weight } => sptf::next(held, &drive, now, weight),
        }
    }
}

impl Discipline for Queue<'_> {
    type Key = Request;

    fn push(&mut self, waiter: u32, request: Request) {
        let track = self.drive.borrow().track_of(&request);
        self.waiting.push(Waiting { request, since: self.sim.now(), track, waiter });
    }

    fn pop(&mut self) -> Option<u32> {
        if self.waiting.is_empty() {
            return None;
        }
        let at = if self.waiting.len() == 1 { 0 } else { self.choose() };
        Some(self.waiting.remove(at).waiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_workload::Op;

    fn waiting(cylinders: &[u32]) -> Vec<Waiting> {
        let request = Request { key: 0, op: Op::Read, address: 0, bytes: 512 };
        let on = |cylinder: &u32| Waiting {
            request,
            since: Nanos::ZERO,
            track: Track { cylinder: *cylinder, surface: 0 },
            waiter: 0,
        };
        cylinders.iter().map(on).collect()
    }

    /// The order in which all of them are served, each leaving the arm on its cylinder.
    fn order(cylinders: &[u32], arm: u32, mut next: impl FnMut(&[Waiting], Track) -> usize) -> Vec<u32> {
        let (mut left, mut arm, mut order) =
            (waiting(cylinders), Track { cylinder: arm, surface: 0 }, Vec::new());
        while !left.is_empty() {
            let chosen = next(&left, arm);
            arm = left.remove(chosen).track;
            order.push(arm.cylinder);
        }
        order
    }

    /// The example of every textbook: requests for 98, 183, 37, 122, 14, 124, 65, 67 with the arm on 53.
    #[test]
    fn policies_do_what_textbooks_say() {
        let queue = [98, 183, 37, 122, 14, 124, 65, 67];
        assert_eq!(order(&queue, 53, |_, _| fcfs::next()), queue);
        assert_eq!(order(&queue, 53, sstf::next), [65, 67, 37, 14, 98, 122, 124, 183]);
        let mut inwards = false;
        assert_eq!(
            order(&queue, 53, |held, arm| look::next(held, arm, &mut inwards)),
            [37, 14, 65, 67, 98, 122, 124, 183]
        );
        assert_eq!(order(&queue, 53, clook::next), [65, 67, 98, 122, 124, 183, 14, 37]);
    }
}
