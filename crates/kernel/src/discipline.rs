//! Order of service: first come, first served, or by priority.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A queue of waiters with a rule for who comes next. Among equals the first to come is the first to go.
pub trait Discipline {
    /// Key by which the discipline chooses.
    type Key;

    /// Adds a waiter.
    fn push(&mut self, waiter: u32, key: Self::Key);

    /// Takes the waiter to be served next, at the instant a server is free for it.
    fn pop(&mut self) -> Option<u32>;
}

/// First come, first served. Both operations O(1).
#[derive(Debug, Default)]
pub struct Fcfs {
    queue: VecDeque<u32>,
}

impl Discipline for Fcfs {
    type Key = ();

    #[inline]
    fn push(&mut self, waiter: u32, (): ()) {
        self.queue.push_back(waiter);
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        self.queue.pop_front()
    }
}

/// The smallest number first, without preemption. Both operations O(log n).
#[derive(Debug, Default)]
pub struct Priority {
    heap: BinaryHeap<Reverse<(u32, u64, u32)>>,
    arrived: u64,
}

impl Discipline for Priority {
    type Key = u32;

    fn push(&mut self, waiter: u32, priority: u32) {
        self.heap.push(Reverse((priority, self.arrived, waiter)));
        self.arrived += 1;
    }

    fn pop(&mut self) -> Option<u32> {
        self.heap.pop().map(|Reverse((_, _, waiter))| waiter)
    }
}
