//! Who is served next: first come first served, by priority, or the shortest by a key chosen at service time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A queue of waiters with a rule for who comes next. Among equals the first to come is the first to go.
pub trait Discipline {
    /// What the rule chooses by.
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

/// The waiter whose cost is smallest at the moment of choosing: the nearest cylinder from where the arm is now, say.
/// `pop` is O(n), for the costs may all have changed since the last.
#[derive(Debug)]
pub struct ShortestFirst<K, C> {
    queue: Vec<(u32, K)>,
    cost: C,
}

impl<K, C: Fn(&K) -> u64> ShortestFirst<K, C> {
    /// Chooses by `cost`, which is asked about every waiter each time a server becomes free.
    pub fn by(cost: C) -> Self {
        Self { queue: Vec::new(), cost }
    }
}

impl<K, C: Fn(&K) -> u64> Discipline for ShortestFirst<K, C> {
    type Key = K;

    fn push(&mut self, waiter: u32, key: K) {
        self.queue.push((waiter, key));
    }

    fn pop(&mut self) -> Option<u32> {
        let (at, _) = self.queue.iter().enumerate().min_by_key(|(_, (_, key))| (self.cost)(key))?;
        Some(self.queue.remove(at).0)
    }
}
