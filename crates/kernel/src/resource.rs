//! A resource: servers, and a queue before them with a discipline.

use std::cell::{Ref, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use headrace_stats::{Gauge, Tally};
use headrace_units::Nanos;

use crate::discipline::{Discipline, Fcfs};
use crate::sim::Sim;
use crate::tasks::TaskId;

/// Servers that are held one at a time, with a queue before them.
///
/// [`acquire`](Resource::acquire) waits for a server and holds it until its guard drops;
/// [`serve`](Resource::serve) holds one for a span. Every wait and every service is recorded.
pub struct Resource<'m, D: Discipline = Fcfs> {
    pub(crate) sim: &'m Sim<'m>,
    pub(crate) state: RefCell<ResourceState<D>>,
}

pub(crate) struct ResourceState<D> {
    servers: u64,
    /// Number of servers when none is out of use.
    all: u64,
    /// When each server that was used is free again, for those who pass without events; the longest free first.
    free_at: BinaryHeap<Reverse<Nanos>>,
    queue: D,
    pub waiters: Vec<QueuedRequest>,
    pub free: Vec<u32>,
    usage: Usage,
}

#[derive(Clone, Copy)]
pub(crate) struct QueuedRequest {
    pub task: TaskId,
    pub since: Nanos,
    /// Time from the grant until the process is woken; once granted, the time at which that is.
    pub end: Nanos,
    pub stage: GrantStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantStage {
    Waiting,
    Granted,
    /// Its process gave up; the queue still names it and will pass it over.
    Gone,
}

/// Use of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Servers in use.
    pub busy: Gauge,
    /// Requests waiting.
    pub queue: Gauge,
    /// The waits of those that got a server, zero where one was free.
    pub waits: Tally,
    /// Times for which servers were held, of services that ended.
    pub services: Tally,
    /// The time waited by those that gave up.
    pub given_up: Tally,
    /// Servers out of use that have finished what they did.
    pub away: Gauge,
}

/// When a request that passed without events began and ended its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Time at which the request got a server.
    pub start: Nanos,
    /// Time at which the request released the server.
    pub end: Nanos,
}

impl Usage {
    #[inline]
    fn record_pass(&mut self, wait: Nanos, service: Nanos) {
        self.waits.record(wait);
        self.services.record(service);
        self.queue.add(wait);
        self.busy.add(service);
    }
}

impl<'m> Resource<'m, Fcfs> {
    /// `servers` servers, first come, first served.
    pub fn fcfs(sim: &'m Sim<'m>, servers: u64) -> Self {
        Self::new(sim, servers, Fcfs::default())
    }

    /// Does without any event what [`acquire`](Resource::acquire) and holding do: the request that comes at `now` begins
    /// when a server is free, `end_of` says when its service ends, and that gives the next its turn (Lindley's
    /// recursion). Requests must be passed in the order of their arrival, and none may use the resource otherwise.
    #[inline(always)] // Requests pass in a loop, where a call costs as much as a third of this.
    pub fn pass(&self, now: Nanos, end_of: impl FnOnce(Nanos) -> Nanos) -> Pass {
        let mut state = self.state.borrow_mut();
        let unused = (state.free_at.len() as u64) < state.servers;
        let free_at = if unused { None } else { state.free_at.peek() };
        let start = free_at.map_or(now, |Reverse(free_at)| now.max(*free_at));
        let end = end_of(start);
        if unused {
            state.free_at.push(Reverse(end));
        } else if let Some(mut free_at) = state.free_at.peek_mut() {
            *free_at = Reverse(end);
        }
        state.usage.record_pass(start - now, end - start);
        Pass { start, end }
    }
}

impl<'m, D: Discipline> Resource<'m, D> {
    /// `servers` servers, and `queue` to choose who is next.
    ///
    /// # Panics
    /// If there is no server: nothing would ever be served.
    pub fn new(sim: &'m Sim<'m>, servers: u64, queue: D) -> Self {
        assert!(servers > 0, "a resource needs at least one server");
        let state = ResourceState {
            servers,
            all: servers,
            free_at: BinaryHeap::new(),
            queue,
            waiters: Vec::new(),
            free: Vec::new(),
            usage: Usage::default(),
        };
        Self { sim, state: RefCell::new(state) }
    }

    /// Waits for a server and holds it until the guard drops. `key` is what the discipline chooses by.
    #[inline]
    pub fn acquire(&'m self, key: D::Key) -> Acquire<'m, D> {
        Acquire { resource: self, key: Some(key), waiter: None }
    }

    /// Returns the number of servers.
    pub fn servers(&self) -> u64 {
        self.state.borrow().servers
    }

    /// Returns the number of servers and their use so far.
    pub fn recorded(&self) -> (u64, Usage) {
        let state = self.state.borrow();
        (state.servers, state.usage)
    }

    /// From now on `servers` of them are in use, or none. Those beyond finish what they do; nobody that waits gets one of them.
    pub fn set_servers(&self, servers: u64) {
        let now = self.sim.now();
        for (time, task) in self.state.borrow_mut().set_servers(servers, now) {
            self.sim.put_off(time, task);
        }
    }

    /// Returns the use so far.
    pub fn usage(&self) -> Ref<'_, Usage> {
        Ref::map(self.state.borrow(), |state| &state.usage)
    }

    #[inline]
    pub(crate) fn release(&self, held_since: Nanos) {
        if self.sim.is_finished() {
            return;
        }
        let now = self.sim.now();
        if let Some((time, task)) = self.state.borrow_mut().release(held_since, now) {
            self.sim.put_off(time, task);
        }
    }

    /// Removes a waiter before it was polled with its server: from the queue, or from what was granted to it, which is returned
    /// then.
    pub(crate) fn leave(&self, waiter: u32) -> Option<QueuedRequest> {
        self.state.borrow_mut().leave(waiter, self.sim.now())
    }
}

impl<D: Discipline> ResourceState<D> {
    /// The waiter the discipline chooses, passing over those that gave up.
    #[inline]
    fn next_waiter(&mut self) -> Option<u32> {
        loop {
            let waiter = self.queue.pop()?;
            if self.waiters[waiter as usize].stage == GrantStage::Waiting {
                return Some(waiter);
            }
            self.free.push(waiter);
        }
    }

    /// Takes a server that is free.
    #[inline]
    pub fn take_server(&mut self, now: Nanos) -> bool {
        if self.usage.busy.value() >= self.servers {
            return false;
        }
        self.usage.busy.up(now, 1);
        self.usage.waits.record(Nanos::ZERO);
        true
    }

    /// Ends a service and grants the server to the next waiter. Gives when that is to be woken.
    #[inline(always)] // As a call it gives that in pieces of memory, and who takes it up at once waits for them.
    pub fn release(&mut self, held_since: Nanos, now: Nanos) -> Option<(Nanos, TaskId)> {
        self.usage.services.record(now - held_since);
        if self.usage.busy.value() > self.servers {
            self.usage.busy.down(now, 1);
            self.usage.away.up(now, 1);
            return None;
        }
        let Some(waiter) = self.next_waiter() else {
            self.usage.busy.down(now, 1);
            return None;
        };
        Some(self.grant(waiter, now))
    }

    /// Gives a server to a waiter. Gives when that is to be woken.
    #[inline(always)]
    fn grant(&mut self, waiter: u32, now: Nanos) -> (Nanos, TaskId) {
        self.usage.queue.down(now, 1);
        let waiter = &mut self.waiters[waiter as usize];
        self.usage.waits.record(now - waiter.since);
        waiter.stage = GrantStage::Granted;
        waiter.end = now + waiter.end;
        (waiter.end, waiter.task)
    }

    /// Sets the number of servers in use. Returns the tasks to be woken, and when.
    fn set_servers(&mut self, servers: u64, now: Nanos) -> Vec<(Nanos, TaskId)> {
        self.servers = servers;
        let mut granted = Vec::new();
        while self.usage.busy.value() < servers
            && let Some(waiter) = self.next_waiter()
        {
            self.usage.busy.up(now, 1);
            granted.push(self.grant(waiter, now));
        }
        let away = self.all.saturating_sub(servers.max(self.usage.busy.value()));
        let before = self.usage.away.value();
        self.usage.away.up(now, away.saturating_sub(before));
        self.usage.away.down(now, before.saturating_sub(away));
        granted
    }

    /// Queues a request that comes at `since`. Once it is granted, its process is woken after `hold`.
    #[inline]
    pub fn enqueue(&mut self, task: TaskId, since: Nanos, hold: Nanos, key: D::Key) -> u32 {
        let entry = QueuedRequest { task, since, end: hold, stage: GrantStage::Waiting };
        let waiter = match self.free.pop() {
            Some(free) => {
                self.waiters[free as usize] = entry;
                free
            }
            None => {
                self.waiters.push(entry);
                (self.waiters.len() - 1) as u32
            }
        };
        self.usage.queue.up(since, 1);
        self.queue.push(waiter, key);
        waiter
    }

    fn leave(&mut self, number: u32, now: Nanos) -> Option<QueuedRequest> {
        let waiter = &mut self.waiters[number as usize];
        if waiter.stage == GrantStage::Granted {
            self.free.push(number);
            return Some(*waiter);
        }
        waiter.stage = GrantStage::Gone;
        self.usage.queue.down(now, 1);
        self.usage.given_up.record(now - waiter.since);
        None
    }
}

/// A wait for a server: see [`Resource::acquire`]. Dropped before it is over, it leaves the queue.
#[must_use = "a server is acquired only when this is awaited"]
pub struct Acquire<'m, D: Discipline> {
    resource: &'m Resource<'m, D>,
    key: Option<D::Key>,
    waiter: Option<u32>,
}

impl<D: Discipline> Unpin for Acquire<'_, D> {}

impl<'m, D: Discipline> Future for Acquire<'m, D> {
    type Output = ServerGuard<'m, D>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<ServerGuard<'m, D>> {
        let this = &mut *self;
        let resource = this.resource;
        let now = resource.sim.now();
        let mut state = resource.state.borrow_mut();
        let Some(waiter) = this.waiter else {
            let key = this.key.take().expect("an acquired server is not acquired again");
            if state.take_server(now) {
                return Poll::Ready(ServerGuard { resource, since: now, waited: Nanos::ZERO });
            }
            this.waiter = Some(state.enqueue(resource.sim.current(), now, Nanos::ZERO, key));
            return Poll::Pending;
        };
        let QueuedRequest { stage, since, .. } = state.waiters[waiter as usize];
        if stage != GrantStage::Granted {
            return Poll::Pending;
        }
        state.free.push(waiter);
        this.waiter = None;
        Poll::Ready(ServerGuard { resource, since: now, waited: now - since })
    }
}

impl<D: Discipline> Drop for Acquire<'_, D> {
    #[inline]
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter
            && !self.resource.sim.is_finished()
            && self.resource.leave(waiter).is_some()
        {
            // Granted and never polled again: the server is for the next.
            self.resource.release(self.resource.sim.now());
        }
    }
}

/// A server held; dropping it lets the next request in.
#[must_use = "a server dropped at once serves nobody"]
pub struct ServerGuard<'m, D: Discipline> {
    resource: &'m Resource<'m, D>,
    since: Nanos,
    /// Time for which this server was waited for.
    pub waited: Nanos,
}

impl<D: Discipline> Drop for ServerGuard<'_, D> {
    #[inline]
    fn drop(&mut self) {
        self.resource.release(self.since);
    }
}
