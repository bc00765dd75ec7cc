//! A list of those who wait for something that others choose to give them.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use headrace_units::Nanos;

use crate::signal::Waits;
use crate::sim::Sim;
use crate::tasks::TaskId;

/// Processes that wait, in the order in which they came, each with a key that says what it wants. Whoever has something
/// to give [offers](WaitList::offer) it down the list: the first whose key suits gets it.
///
/// A wait that is dropped leaves the list; a gift it was given and never saw is dropped with it, so gifts that must be returned
/// are guards.
///
/// ```
/// use headrace_kernel::{Sim, WaitList};
/// use headrace_units::Nanos;
///
/// let sim = Sim::new();
/// let seats = WaitList::<u32, &str>::new(&sim);
/// let (sim, seats) = (&sim, &seats);
/// for party in [6, 2] {
///     sim.spawn(async move { assert_eq!(seats.wait(party).await, "the small table"); });
/// }
/// sim.run(Nanos::MAX, u64::MAX);
/// assert!(seats.offer(|party| (*party <= 4).then_some("the small table")));
/// sim.run(Nanos::MAX, u64::MAX);
/// assert_eq!(seats.len(), 1);
/// sim.finish();
/// ```
pub struct WaitList<'m, K, G> {
    sim: &'m Sim<'m>,
    state: RefCell<WaitListState<K, G>>,
}

struct WaitListState<K, G> {
    /// In order of tickets. Those that are gone stay until they are half of all: to close up after each would take as long as the list is.
    waiting: VecDeque<Waiter<K>>,
    gone: usize,
    /// Items given and not yet seen, by ticket.
    given: Vec<(u64, G)>,
    tickets: u64,
    waits: Waits,
}

struct Waiter<K> {
    ticket: u64,
    key: K,
    task: TaskId,
    since: Nanos,
    is_gone: bool,
}

impl<'m, K, G> WaitList<'m, K, G> {
    /// Nobody waits.
    pub fn new(sim: &'m Sim<'m>) -> Self {
        let (waiting, given) = (VecDeque::new(), Vec::new());
        Self {
            sim,
            state: RefCell::new(WaitListState {
                waiting,
                gone: 0,
                given,
                tickets: 0,
                waits: Waits::default(),
            }),
        }
    }

    /// Waits at the end of the list until something is given.
    pub fn wait(&'m self, key: K) -> Wait<'m, K, G> {
        Wait { list: self, key: Some(key), ticket: 0 }
    }

    /// Gives something to the first for whose key `choose` has it. Returns true if there is one.
    pub fn offer(&self, choose: impl FnMut(&K) -> Option<G>) -> bool {
        let mut state = self.state.borrow_mut();
        let mut choose = choose;
        let mut waiting = state.waiting.iter().enumerate().filter(|(_, waiter)| !waiter.is_gone);
        let found = waiting.find_map(|(at, waiter)| Some((at, choose(&waiter.key)?)));
        let Some((at, gift)) = found else { return false };
        state.give(at, gift, self.sim);
        true
    }

    /// Like `offer`, for the first waiter alone: the head of the list blocks those behind it.
    pub fn offer_first(&self, choose: impl FnOnce(&K) -> Option<G>) -> bool {
        let mut state = self.state.borrow_mut();
        let Some(gift) = state.waiting.front().and_then(|first| choose(&first.key)) else { return false };
        state.give(0, gift, self.sim);
        true
    }

    /// Looks at the keys of those who wait, in order.
    pub fn any(&self, is: impl FnMut(&K) -> bool) -> bool {
        let mut is = is;
        self.state.borrow().waiting.iter().any(|waiter| !waiter.is_gone && is(&waiter.key))
    }

    /// Returns the ticket of who waits next. Tickets increase.
    pub fn next_ticket(&self) -> u64 {
        self.state.borrow().tickets + 1
    }

    /// Gives something to the one with this ticket, without looking at the others. Returns true if it still waits.
    pub fn offer_to(&self, ticket: u64, choose: impl FnOnce(&K) -> G) -> bool {
        let mut state = self.state.borrow_mut();
        let Some(at) = state.place(ticket) else { return false };
        let gift = choose(&state.waiting[at].key);
        state.give(at, gift, self.sim);
        true
    }

    /// Gives something to the one whose key compares equal, in a list whose keys come in order. Returns true if it still waits.
    pub fn offer_in_order(&self, compare: impl FnMut(&K) -> Ordering, gift: G) -> bool {
        let (mut state, mut compare) = (self.state.borrow_mut(), compare);
        let found = state.waiting.binary_search_by(|waiter| compare(&waiter.key)).ok();
        let Some(at) = found.filter(|at| !state.waiting[*at].is_gone) else { return false };
        state.give(at, gift, self.sim);
        true
    }

    /// Returns the number of waiting requests.
    pub fn len(&self) -> usize {
        let state = self.state.borrow();
        state.waiting.len() - state.gone
    }

    /// Returns true if nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the waiting times of those that were given an item.
    pub fn waits(&self) -> Waits {
        self.state.borrow().waits
    }
}

impl<K, G> WaitListState<K, G> {
    fn give(&mut self, at: usize, gift: G, sim: &Sim) {
        let Waiter { ticket, task, since, .. } = self.waiting[at];
        self.remove(at);
        self.waits.queue.down(sim.now(), 1);
        self.waits.waits.record(sim.now() - since);
        self.given.push((ticket, gift));
        sim.wake(task);
    }

    fn take(&mut self, ticket: u64) -> Option<G> {
        let at = self.given.iter().position(|(given, _)| *given == ticket)?;
        Some(self.given.swap_remove(at).1)
    }

    /// Removes a waiter from the list.
    fn leave(&mut self, ticket: u64, now: Nanos) {
        if let Some(at) = self.place(ticket) {
            self.waits.queue.down(now, 1);
            self.waits.given_up.record(now - self.waiting[at].since);
            self.remove(at);
        }
    }

    /// Returns the place of one who waits.
    fn place(&self, ticket: u64) -> Option<usize> {
        let at = self.waiting.binary_search_by_key(&ticket, |waiter| waiter.ticket).ok()?;
        (!self.waiting[at].is_gone).then_some(at)
    }

    fn remove(&mut self, at: usize) {
        self.waiting[at].is_gone = true;
        self.gone += 1;
        while self.waiting.front().is_some_and(|first| first.is_gone) {
            self.waiting.pop_front();
            self.gone -= 1;
        }
        if 2 * self.gone > self.waiting.len() {
            self.waiting.retain(|waiter| !waiter.is_gone);
            self.gone = 0;
        }
    }
}

/// A wait for something: see [`WaitList::wait`].
#[must_use = "nothing is waited for unless this is awaited"]
pub struct Wait<'m, K, G> {
    list: &'m WaitList<'m, K, G>,
    key: Option<K>,
    /// Its place in the list, once its key is there; zero before that and after the end.
    ticket: u64,
}

impl<K, G> Unpin for Wait<'_, K, G> {}

impl<K, G> Future for Wait<'_, K, G> {
    type Output = G;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<G> {
        let (sim, mut state) = (self.list.sim, self.list.state.borrow_mut());
        let Some(key) = self.key.take() else {
            let gift = state.take(self.ticket);
            if gift.is_some() {
                self.ticket = 0;
            }
            return gift.map_or(Poll::Pending, Poll::Ready);
        };
        state.tickets += 1;
        self.ticket = state.tickets;
        state.waits.queue.up(sim.now(), 1);
        let (ticket, task, since) = (self.ticket, sim.current(), sim.now());
        state.waiting.push_back(Waiter { ticket, key, task, since, is_gone: false });
        Poll::Pending
    }
}

impl<K, G> Drop for Wait<'_, K, G> {
    fn drop(&mut self) {
        if self.ticket == 0 || self.list.sim.is_finished() {
            return;
        }
        let mut state = self.list.state.borrow_mut();
        let unseen = state.take(self.ticket);
        state.leave(self.ticket, self.list.sim.now());
        // What is dropped may offer something in turn.
        drop(state);
        drop(unseen);
    }
}
