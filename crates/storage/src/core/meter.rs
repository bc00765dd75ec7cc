//! What components record: numbers that only grow, so that what happened in a span is a difference.

use std::cell::{Cell, RefCell};

use headrace_kernel::{LABELS, LinkUsage, LockUse, Pool, Sim, Usage};
use headrace_stats::Gauge;
use headrace_units::{Nanos, counted};
use headrace_work::Cause;

/// A measure of a component's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meter {
    /// How often something happened.
    Count(u64),
    /// The same of what happens seldom, so that results show over time when it did: purges of a pool.
    Marked(u64),
    /// The largest number seen so far.
    Peak(u64),
    /// How often something happened, of how many occasions: a hit ratio.
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

/// What a write-back cache took in and what became of it, and what takes up its room: all in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Written data that came, without what was written over while it was still here.
    pub taken_in: u64,
    /// What has arrived on the disks.
    pub destaged: u64,
    /// What has not.
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
    /// How long they held it, in ns.
    pub service: u128,
    /// Server-ns for which servers had failed and were not in use. Utilisation is that of the others.
    pub away: u128,
}

/// Servers of a component that stand in for no others: a class of ports, the drives of a group. They can be all in use while others are free.
#[derive(Clone, Debug, PartialEq)]
pub struct Portion {
    /// What they are, within the component: `ports[1]`.
    pub name: String,
    /// How many they are.
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
    /// What a resource used by hosts alone recorded.
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
        }
    }

    /// What the places of a pool recorded that hosts take one by one: how many are taken, and who waits for one.
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
            away: 0,
        }
    }

    /// What locks recorded: they are in use while somebody waits for the most contended of them.
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
            away: 0,
        }
    }

    /// The same of a server that worked for hosts besides.
    pub(crate) fn with_hosts(mut self, ns: u64) -> Self {
        self.busy[Cause::Host as usize] += u128::from(ns);
        self
    }

    /// What links recorded that transfers share: what is lost by sharing counts as waiting.
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
            away: 0,
        };
        usages.map(of).fold(Self::default(), Self::and)
    }

    /// What two sets of servers recorded together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            servers: self.servers + other.servers,
            busy: std::array::from_fn(|cause| self.busy[cause] + other.busy[cause]),
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

/// How many servers of a component are in use for other causes than a host's, over time.
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

    /// It ends.
    #[inline]
    pub fn end(&self, cause: Cause, sim: &Sim<'_>) {
        if cause != Cause::Host {
            self.levels.borrow_mut()[cause as usize].down(sim.now(), 1);
        }
    }

    /// What the servers did, by cause, where `activity` has all of it as a host's.
    pub fn of(&self, activity: Activity, now: Nanos) -> Activity {
        let mut busy = self.levels.borrow().map(|level| level.area(now));
        busy[Cause::Host as usize] = activity.busy_in_all() - busy.iter().sum::<u128>();
        Activity { busy, ..activity }
    }
}
