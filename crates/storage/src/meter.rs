//! What rooms record: numbers that only grow, so that what happened in a span is a difference.

use headrace_kernel::{LABELS, LinkUsage, Usage};
use headrace_units::Nanos;
use headrace_work::Cause;

use crate::disk::Background;

/// A measure of a room's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meter {
    /// How often something happened.
    Count(u64),
    /// How often something happened, of how many occasions: a hit ratio.
    Share(u64, u64),
    /// The area under a level, in units × ns: how full a buffer was.
    Area(u128),
    /// How full something was that has a capacity: for how many ns it would have been full with the area under its level, of how
    /// many. Results show it over time too.
    Fill(u64, u64),
}

/// The servers and the queue of a room, up to some instant.
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
}

impl Activity {
    /// What a resource used by hosts alone recorded.
    pub fn of(servers: u64, usage: &Usage, now: Nanos) -> Self {
        Self {
            servers,
            busy: [usage.busy.area(now), 0, 0, 0],
            queue: usage.queue.area(now),
            waiting: usage.queue.value(),
            visits: usage.waits.count(),
            waited: usage.waits.sum_ns(),
            served: usage.services.count(),
            service: usage.services.sum_ns(),
        }
    }

    /// The same of a drive that destages besides: its work in the background that no command saw, and that which commands
    /// waited for.
    pub(crate) fn beside(self, background: Background) -> Self {
        let Background { alone_ns, within_ns } = background;
        let [host, ..] = self.busy;
        let destage = u128::from(alone_ns) + u128::from(within_ns);
        Self { busy: [host - host.min(u128::from(within_ns)), destage, 0, 0], ..self }
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
        }
    }

    /// The server-ns in use, for whatever cause.
    pub fn busy_in_all(&self) -> u128 {
        self.busy.iter().sum()
    }
}
