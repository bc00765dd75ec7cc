//! Faults in time: components fail, return and are replaced, at an instant or after a number of requests.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_storage::Arena;

use crate::faults::{Fault, Moment};

/// The faults that come after a number of requests, in that order.
pub struct FaultsByCount {
    left: RefCell<VecDeque<(u64, Fault)>>,
    /// The number after which the next comes; none comes after the largest.
    next: Cell<u64>,
}

impl FaultsByCount {
    /// Those of `faults` that come after a number of requests.
    pub fn of(faults: &[Fault]) -> Self {
        let after = |fault: &Fault| match fault.when {
            Moment::After(spec) => Some((spec.after, *fault)),
            Moment::At(_) => None,
        };
        let mut left: Vec<(u64, Fault)> = faults.iter().filter_map(after).collect();
        left.sort_by_key(|(after, _)| *after);
        let counted = Self { left: RefCell::new(left.into()), next: Cell::new(u64::MAX) };
        counted.look();
        counted
    }

    fn look(&self) {
        self.next.set(self.left.borrow().front().map_or(u64::MAX, |(after, _)| *after));
    }

    /// The next fault that is due once `finished` requests have ended.
    pub fn take(&self, finished: u64) -> Option<Fault> {
        if finished < self.next.get() {
            return None;
        }
        let fault = self.left.borrow_mut().pop_front().map(|(_, fault)| fault);
        self.look();
        fault
    }
}

impl Fault {
    /// Changes the health of its component, or of a piece of it.
    pub fn happen(&self, arena: Arena) {
        match self.piece {
            Some(piece) => arena.change_piece(self.node, piece, self.change),
            None => arena.change(self.node, self.change),
        }
    }
}
