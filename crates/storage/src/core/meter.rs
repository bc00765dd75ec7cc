//! Measurements of components: numbers that only grow, so that the change over a span is a difference.

use std::cell::{Cell, RefCell};

use headrace_kernel::{LABELS, LinkUsage, LockUse, Pool, Sim, Usage};
use headrace_stats::Gauge;
use headrace_units::{Nanos, counted};
use headrace_work::Cause;

/// A measure of a component's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meter {
    /// Number of occurrences.
    Count(u64),
    /// Number of rare occurrences, such as purges of a pool; results show them over time.
    Marked(u64),
    /// The largest number seen so far.
    Peak(u64),
    /// A part and its whole: occurrences and occasions, as of a hit ratio, or a time and all of it.
    Share(u64, u64),
    /// The area under a level, in units × ns: how full a buffer was.
    Area(u128),
    /// How full something was that has a capacity: for how many ns it would have been full with the area under its level, of how
    /// many. Results show it over time too.
    Fill(u64, u64),
}

/// Adds `n` to a component's counter.
pub(crate) fn add(counter: &Cell<u64>, n: u64) {
    counter.set(counter.get() + n);
}

/// That a number of requests wait for something; none where none does.
pub(crate) fn waits(number: u64, request: &str, what: &str) -> Option<String> {
    let wait = if number == 1 { "waits" } else { "wait" };
    (number > 0).then(|| format!("{} {wait} for {what}", counted(number, request)))
}

/// Bytes that a write-back cache took in, destaged and lost, and the use of its space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Written data that came, without what was written over while it was still here.
    pub taken_in: u64,
    /// Bytes that have reached the disks.
    pub destaged: u64,
    /// Bytes that have not reached the disks.
    pub dirty: u64,
    /// Room taken: dirty data, what is kept for reads, and what is on its way here.
    pub used: u64,
    /// Room that is free.
    pub free: u64,
    /// All room.
    pub size: u64,
}

/// The events that came to a component and what became of them, each counted where it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventBooks {
    /// Events that came.
    pub came: u64,
    /// Events that were handed on, or done.
    pub gone: u64,
    /// Events that were lost here.
    pub lost: u64,
    /// Events that are here now.
    pub held: u64,
}

/// The servers and the queue of a component, up to some instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Activity {
    /// Number of servers.
    pub servers: u64,
    /// Server-ns in use, by [`Cause`].
    pub busy: [u128; Cause::ALL.len()],
    /// Server-ns of these for which servers were held by requests that waited for another component, and did nothing.
    pub stalled: [u128; Cause::ALL.len()],
    /// Request-ns waited, those that still wait included.
    pub queue: u128,
    /// Requests that wait now.
    pub waiting: u64,
    /// Requests that got a server.
    pub visits: u64,
    /// Their waits, in ns.
    pub waited: u128,
    /// Requests that let go of their server.
    pub served: u64,
    /// Time for which they were held, in ns.
    pub service: u128,
    /// Server-ns for which servers had failed and were not in use. Utilisation is that of the others.
    pub away: u128,
}

/// Servers of a component that stand in for no others: a class of ports, the drives of a group. They can be all in use while others are free.
#[derive(Clone, Debug, PartialEq)]
pub struct Portion {
    /// Name within the component: `ports[1]`.
    pub name: String,
    /// Number of servers.
    pub servers: u64,
    /// Server-ns in use since the run began.
    pub busy: u128,
    /// Server-ns for which some of them had failed and were not in use.
    pub away: u128,
    /// Request-ns waited for them; none where that is counted for all servers of the component alone.
    pub queue: Option<u128>,
}

/// The busy time of a server that only hosts use, by cause.
pub fn by_hosts(busy: u128) -> [u128; Cause::ALL.len()] {
    Cause::ALL.map(|cause| if cause == Cause::Host { busy } else { 0 })
}

impl Activity {
    /// Returns the activity of a resource that only hosts use.
    pub fn of(servers: u64, usage: &Usage, now: Nanos) -> Self {
        Self {
            servers,
            busy: by_hosts(usage.busy.area(now)),
            queue: usage.queue.area(now),
            waiting: usage.queue.value(),
            visits: usage.waits.count(),
            waited: usage.waits.sum_ns(),
            served: usage.services.count(),
            service: usage.services.sum_ns(),
            away: usage.away.area(now),
            ..Self::default()
        }
    }

    /// Returns the activity of the places of a pool that hosts take one by one: places taken, and requests that wait for one.
    pub(crate) fn of_places(pool: &Pool, now: Nanos) -> Self {
        let (places, waits) = (u128::from(pool.capacity()), pool.waits());
        let taken = places * u128::from(now.0) - pool.level().area(now);
        let served = waits.waits.count() - (pool.capacity() - pool.held());
        Self {
            servers: pool.capacity(),
            busy: by_hosts(taken),
            queue: waits.queue.area(now),
            waiting: waits.queue.value(),
            visits: waits.waits.count(),
            waited: waits.waits.sum_ns(),
            served,
            service: taken,
            ..Self::default()
        }
    }

    /// Returns the activity of locks: they are in use while someone waits for the most contended of them.
    pub fn of_locks(used: &LockUse, now: Nanos) -> Self {
        Self {
            servers: 1,
            busy: by_hosts(u128::from(used.contended_ns)),
            queue: used.waits.queue.area(now),
            waiting: used.waits.queue.value(),
            visits: used.waits.waits.count(),
            waited: used.waits.waits.sum_ns(),
            served: used.holds.count(),
            service: used.holds.sum_ns(),
            ..Self::default()
        }
    }

    /// Adds `ns` of work for hosts.
    pub(crate) fn with_hosts(mut self, ns: u64) -> Self {
        self.busy[Cause::Host as usize] += u128::from(ns);
        self
    }

    /// Returns the activity of links shared by transfers: time lost by sharing counts as waiting.
    pub(crate) fn of_links(usages: impl Iterator<Item = LinkUsage>) -> Self {
        const { assert!(LABELS == Cause::ALL.len(), "the use of links is counted by cause") };
        let of = |usage: LinkUsage| Self {
            servers: 1,
            busy: usage.busy,
            queue: usage.waited,
            waiting: 0,
            visits: usage.ended,
            waited: usage.waited,
            served: usage.ended,
            service: usage.service,
            ..Self::default()
        };
        usages.map(of).fold(Self::default(), Self::and)
    }

    /// Returns the sum of two sets of servers.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            servers: self.servers + other.servers,
            busy: std::array::from_fn(|cause| self.busy[cause] + other.busy[cause]),
            stalled: std::array::from_fn(|cause| self.stalled[cause] + other.stalled[cause]),
            queue: self.queue + other.queue,
            waiting: self.waiting + other.waiting,
            visits: self.visits + other.visits,
            waited: self.waited + other.waited,
            served: self.served + other.served,
            service: self.service + other.service,
            away: self.away + other.away,
        }
    }

    /// The server-ns in use, for whatever cause.
    pub fn busy_in_all(&self) -> u128 {
        self.busy.iter().sum()
    }
}

/// Servers of a component in use for causes other than a host's, over time.
#[derive(Default)]
pub(crate) struct ByCause {
    levels: RefCell<[Gauge; Cause::ALL.len()]>,
}

impl ByCause {
    /// Waits for what a server does for `cause`.
    pub async fn during<T>(&self, cause: Cause, sim: &Sim<'_>, service: impl Future<Output = T>) -> T {
        self.begin(cause, sim);
        let done = service.await;
        self.end(cause, sim);
        done
    }

    /// A server begins to work for `cause`. Hosts' work is what is left of the whole, and is not counted.
    #[inline]
    pub fn begin(&self, cause: Cause, sim: &Sim<'_>) {
        if cause != Cause::Host {
            self.levels.borrow_mut()[cause as usize].up(sim.now(), 1);
        }
    }

    /// Ends a use.
    #[inline]
    pub fn end(&self, cause: Cause, sim: &Sim<'_>) {
        if cause != Cause::Host {
            self.levels.borrow_mut()[cause as usize].down(sim.now(), 1);
        }
    }

    /// Splits `activity`, all of it recorded as a host's, by cause.
    pub fn of(&self, activity: Activity, now: Nanos) -> Activity {
        let mut busy = self.levels.borrow().map(|level| level.area(now));
        busy[Cause::Host as usize] = activity.busy_in_all() - busy.iter().sum::<u128>();
        Activity { busy, ..activity }
    }
}
