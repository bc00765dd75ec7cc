//! What rooms record: numbers that only grow, so that what happened in a span is a difference.

use headrace_kernel::{LockUse, Usage};
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

    /// What locks recorded: they are in use while somebody waits for the most contended of them.
    pub fn of_locks(used: &LockUse, now: Nanos) -> Self {
        Self {
            servers: 1,
            busy: [u128::from(used.contended_ns), 0, 0, 0],
            queue: used.waits.queue.area(now),
            waiting: used.waits.queue.value(),
            visits: used.waits.waits.count(),
            waited: used.waits.waits.sum_ns(),
            served: used.holds.count(),
            service: used.holds.sum_ns(),
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

    /// The same, where so much service, by cause, was not for hosts.
    pub(crate) fn with_causes(mut self, service: [u64; Cause::ALL.len()]) -> Self {
        for (cause, ns) in service.into_iter().enumerate().skip(1) {
            let moved = u128::from(ns).min(self.busy[0]);
            self.busy[0] -= moved;
            self.busy[cause] += moved;
        }
        self
    }

    /// The server-ns in use, for whatever cause.
    pub fn busy_in_all(&self) -> u128 {
        self.busy.iter().sum()
    }
}
