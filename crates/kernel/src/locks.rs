//! Locks by number, of which only those in use take memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::queue::TaskId;
use crate::sim::Sim;

/// Locks by number. Those who wait for one get it first come, first served.
///
/// Who takes several takes them in the order of their numbers; then nobody can wait in a circle.
///
/// ```
/// use headrace_kernel::{Locks, Sim};
/// use headrace_units::Nanos;
///
/// let sim = Sim::new();
/// let stripes = Locks::new(&sim);
/// let (sim, stripes) = (&sim, &stripes);
/// for _ in 0..2 {
///     sim.spawn(async move {
///         let _held = stripes.lock(7).await;
///         sim.delay(Nanos(5)).await;
///     });
/// }
/// sim.run(Nanos::MAX, u64::MAX);
/// assert_eq!(sim.now(), Nanos(10));
/// sim.finish();
/// ```
pub struct Locks<'m> {
    sim: &'m Sim<'m>,
    taken: RefCell<BTreeMap<u64, Taken>>,
}

/// A lock that is held.
#[derive(Default)]
struct Taken {
    /// The ticket of who holds it; tickets are numbered from zero while it is held.
    holder: u64,
    tickets: u64,
    waiting: VecDeque<(u64, TaskId)>,
}

impl<'m> Locks<'m> {
    /// Locks of which none is held.
    pub fn new(sim: &'m Sim<'m>) -> Self {
        Self { sim, taken: RefCell::default() }
    }

    /// Waits for the lock `number`, and holds it until what this gives is dropped.
    pub fn lock(&'m self, number: u64) -> Locking<'m> {
        Locking { locks: self, number, ticket: None }
    }

    /// How many locks are held.
    pub fn held(&self) -> usize {
        self.taken.borrow().len()
    }

    /// Hands a lock to the first who waits for it.
    fn release(&self, number: u64) {
        let mut taken = self.taken.borrow_mut();
        let Some(lock) = taken.get_mut(&number) else { return };
        match lock.waiting.pop_front() {
            Some((ticket, task)) => {
                lock.holder = ticket;
                self.sim.wake(task);
            }
            None => {
                taken.remove(&number);
            }
        }
    }

    /// Ends a wait that is dropped: it leaves the queue, or hands on what it was given and never saw.
    fn give_up(&self, number: u64, ticket: u64) {
        let mut taken = self.taken.borrow_mut();
        let Some(lock) = taken.get_mut(&number) else { return };
        if lock.holder == ticket {
            drop(taken);
            self.release(number);
        } else if let Ok(at) = lock.waiting.binary_search_by_key(&ticket, |(waiting, _)| *waiting) {
            lock.waiting.remove(at);
        }
    }
}

/// A wait for a lock. One that is dropped leaves the queue.
#[must_use = "nothing is waited for unless this is awaited"]
pub struct Locking<'m> {
    locks: &'m Locks<'m>,
    number: u64,
    ticket: Option<u64>,
}

impl<'m> Future for Locking<'m> {
    type Output = Lock<'m>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Lock<'m>> {
        let (locks, number) = (self.locks, self.number);
        let mut taken = locks.taken.borrow_mut();
        let is_new = !taken.contains_key(&number);
        let lock = taken.entry(number).or_default();
        let ticket = self.ticket.unwrap_or_else(|| {
            lock.tickets += 1;
            lock.tickets - 1
        });
        if is_new || lock.holder == ticket {
            lock.holder = ticket;
            self.ticket = None;
            return Poll::Ready(Lock { locks, number });
        }
        if self.ticket.is_none() {
            lock.waiting.push_back((ticket, locks.sim.current()));
            self.ticket = Some(ticket);
        }
        Poll::Pending
    }
}

impl Drop for Locking<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket
            && !self.locks.sim.is_finished()
        {
            self.locks.give_up(self.number, ticket);
        }
    }
}

/// A lock held; dropping it lets the next in.
#[must_use = "a lock dropped at once protects nothing"]
pub struct Lock<'m> {
    locks: &'m Locks<'m>,
    number: u64,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if !self.locks.sim.is_finished() {
            self.locks.release(self.number);
        }
    }
}
