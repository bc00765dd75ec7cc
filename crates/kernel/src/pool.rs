//! A pool: a counted amount of something, such as bytes, tokens or credits.

use std::cell::{Cell, RefCell};

use headrace_stats::Gauge;
use headrace_units::Nanos;

use crate::signal::{Signal, Waits};
use crate::sim::Sim;

/// A container of bytes, tokens or credits, from which processes take and to which they give back.
///
/// Those who wait are served first come, first served: a large request at the head of the queue blocks smaller ones
/// behind it. A [`take`](Pool::take) that is dropped leaves the queue.
pub struct Pool<'m> {
    sim: &'m Sim<'m>,
    capacity: u64,
    held: Cell<u64>,
    level: RefCell<Gauge>,
    signal: Signal<'m>,
}

impl<'m> Pool<'m> {
    /// A pool with room for `capacity` units, which holds `held` of them now.
    ///
    /// # Panics
    /// If it holds more than its capacity.
    pub fn new(sim: &'m Sim<'m>, capacity: u64, held: u64) -> Self {
        assert!(held <= capacity, "a pool of {capacity} units does not hold {held}");
        let mut level = Gauge::default();
        level.up(sim.now(), held);
        Self { sim, capacity, held: Cell::new(held), level: RefCell::new(level), signal: Signal::new(sim) }
    }

    /// Takes `n` units, after waiting until it is their turn and they are there. Gives how long the wait was.
    ///
    /// # Panics
    /// If `n` exceeds the capacity: the wait would have no end.
    pub async fn take(&'m self, n: u64) -> Nanos {
        assert!(n <= self.capacity, "{n} units are never in a pool of {}", self.capacity);
        let since = self.sim.now();
        self.signal.wait(|| self.remove(n).then_some(())).await;
        self.sim.now() - since
    }

    /// Takes `n` units if they are there and nobody waits. Returns true if it did.
    pub fn try_take(&self, n: u64) -> bool {
        !self.signal.is_awaited() && self.remove(n)
    }

    /// Adds `n` units. The first who waits goes on at this instant if there is enough.
    ///
    /// # Panics
    /// If the pool would hold more than its capacity.
    pub fn put(&self, n: u64) {
        let held = self.held.get().saturating_add(n);
        assert!(held <= self.capacity, "a pool of {} units does not hold {held}", self.capacity);
        self.held.set(held);
        self.level.borrow_mut().up(self.sim.now(), n);
        self.signal.notify_first();
    }

    fn remove(&self, n: u64) -> bool {
        let Some(left) = self.held.get().checked_sub(n) else { return false };
        self.held.set(left);
        self.level.borrow_mut().down(self.sim.now(), n);
        true
    }

    /// The most units that it can hold.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The units that it holds now.
    pub fn held(&self) -> u64 {
        self.held.get()
    }

    /// The units held, over time.
    pub fn level(&self) -> Gauge {
        *self.level.borrow()
    }

    /// The waits of those who took.
    pub fn waits(&self) -> Waits {
        self.signal.waits()
    }
}
