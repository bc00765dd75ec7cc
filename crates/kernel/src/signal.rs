//! The waiting component that [`Pool`](crate::Pool) and [`Round`](crate::Round) share: processes that wait, in order, to be
//! told to look again.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use headrace_stats::{Gauge, Tally};
use headrace_units::Nanos;

use crate::sim::Sim;
use crate::tasks::TaskId;

/// Number of waiting processes, and their waiting times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits {
    /// Processes waiting.
    pub queue: Gauge,
    /// Waits that ended by going on, zero where there was none.
    pub waits: Tally,
    /// The time waited by those that gave up.
    pub given_up: Tally,
}

#[derive(Default)]
struct Room {
    queue: VecDeque<(u64, TaskId)>,
    tickets: u64,
    waits: Waits,
}

pub(crate) struct Signal<'m> {
    sim: &'m Sim<'m>,
    room: RefCell<Room>,
}

impl<'m> Signal<'m> {
    pub fn new(sim: &'m Sim<'m>) -> Self {
        Self { sim, room: RefCell::default() }
    }

    /// Waits, first come first served, until `attempt` gives something. It is tried at once when nobody waits.
    pub fn wait<T, A: FnMut() -> Option<T> + Unpin>(&'m self, attempt: A) -> Attempt<'m, A> {
        Attempt { signal: self, attempt, ticket: None, since: self.sim.now() }
    }

    /// Wakes the first waiter, to check its condition again.
    pub fn notify_first(&self) {
        if let Some(&(_, task)) = self.room.borrow().queue.front() {
            self.sim.wake(task);
        }
    }

    /// Returns true if a process waits.
    pub fn is_awaited(&self) -> bool {
        !self.room.borrow().queue.is_empty()
    }

    pub fn waits(&self) -> Waits {
        self.room.borrow().waits
    }
}

impl Room {
    /// Leaves the queue, wherever in it. Tickets are in order.
    fn leave(&mut self, ticket: u64, now: Nanos) {
        if let Ok(place) = self.queue.binary_search_by_key(&ticket, |&(waiting, _)| waiting) {
            self.queue.remove(place);
        }
        self.waits.queue.down(now, 1);
    }

    fn is_first(&self, ticket: Option<u64>) -> bool {
        self.queue.front().map(|&(first, _)| first) == ticket
    }
}

#[must_use = "nothing is waited for unless this is awaited"]
pub(crate) struct Attempt<'m, A> {
    signal: &'m Signal<'m>,
    attempt: A,
    ticket: Option<u64>,
    since: Nanos,
}

impl<T, A: FnMut() -> Option<T> + Unpin> Future for Attempt<'_, A> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let now = this.signal.sim.now();
        let mut room = this.signal.room.borrow_mut();
        if room.is_first(this.ticket)
            && let Some(got) = (this.attempt)()
        {
            room.waits.waits.record(now - this.since);
            if let Some(ticket) = this.ticket.take() {
                room.leave(ticket, now);
                drop(room);
                this.signal.notify_first(); // There may be enough for the next one too.
            }
            return Poll::Ready(got);
        }
        if this.ticket.is_none() {
            let ticket = room.tickets;
            room.tickets += 1;
            room.queue.push_back((ticket, this.signal.sim.current()));
            room.waits.queue.up(now, 1);
            this.ticket = Some(ticket);
        }
        Poll::Pending
    }
}

impl<A> Drop for Attempt<'_, A> {
    fn drop(&mut self) {
        let signal = self.signal;
        if let Some(ticket) = self.ticket
            && !signal.sim.is_finished()
        {
            let now = signal.sim.now();
            let mut room = signal.room.borrow_mut();
            room.leave(ticket, now);
            room.waits.given_up.record(now - self.since);
            drop(room);
            signal.notify_first();
        }
    }
}
