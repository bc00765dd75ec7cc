//! Work of a component beside its hosts, such as a rebuild, a scrub or a copy: how fast it may go, and how long it takes.

use std::cell::Cell;

use headrace_kernel::{RngStream, Round, Sim};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Block, Cause, Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time that a chunk takes whose devices fail at once, a rule of ours: background work would otherwise try all chunks at one instant.
pub(crate) const RETRY: Nanos = Nanos(1_000);

/// Priority of background work against host requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precedence {
    /// It competes with hosts for the disks.
    #[default]
    Equal,
    /// It proceeds while no host request is in flight at its component, otherwise only at the rate `at_least`.
    ForegroundFirst,
}

/// How fast background work may go, in bytes of each disk, and beside whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub rate: Option<BytesPerSecond>,
    pub at_least: BytesPerSecond,
    pub priority: Precedence,
    pub cause: Cause,
}

impl Pace {
    /// Work that competes with hosts for the disks, at no rate of its own.
    pub const fn unlimited(cause: Cause) -> Self {
        Self { rate: None, at_least: BytesPerSecond(0.0), priority: Precedence::Equal, cause }
    }
}

/// Background work in chunks, several of them in progress at a time.
pub(crate) struct PacedWork<'m> {
    sim: &'m Sim<'m>,
    pace: Pace,
    /// Chunks in progress.
    pub workers: Cell<u32>,
    /// Start of the work in progress; `None` if there is none.
    began: Cell<Option<Nanos>>,
    /// The time it took, without the work in progress.
    took: Cell<Nanos>,
    /// Before this instant the next chunk would exceed the rate.
    not_before: Cell<Nanos>,
    /// Accesses so far, by which requests have keys.
    accesses: Cell<u64>,
    /// Ends when no request of a host is left in flight.
    idle: Round<'m>,
}

impl<'m> PacedWork<'m> {
    pub fn new(sim: &'m Sim<'m>, pace: Pace) -> Self {
        Self {
            sim,
            pace,
            workers: Cell::new(0),
            began: Cell::new(None),
            took: Cell::default(),
            not_before: Cell::default(),
            accesses: Cell::new(0),
            idle: Round::new(sim),
        }
    }

    /// No request of a host is in flight any more.
    pub fn hosts_are_idle(&self) {
        if self.workers.get() > 0 {
            self.idle.end();
        }
    }

    /// Returns the total time of the work up to `now`.
    pub fn took(&self, now: Nanos) -> Nanos {
        self.took.get() + self.began.get().map_or(Nanos::ZERO, |began| now - began)
    }

    /// Returns true if work is in progress.
    pub fn is_running(&self) -> bool {
        self.began.get().is_some()
    }

    /// Work is in progress from now on; returns true if none was before.
    pub fn begin(&self) -> bool {
        let begins = !self.is_running();
        if begins {
            self.began.set(Some(self.sim.now()));
        }
        begins
    }

    /// No work is in progress from now on; returns true if some was before.
    pub fn end(&self) -> bool {
        self.took.set(self.took(self.sim.now()));
        self.began.take().is_some()
    }

    /// A worker has nothing to do; returns true if it was the last.
    pub fn leave(&self) -> bool {
        self.workers.set(self.workers.get() - 1);
        self.workers.get() == 0
    }

    /// Waits until the rate allows for a chunk of `bytes` and, where hosts go first, until they leave room for it. `hosts` is the number
    /// of their requests in flight.
    pub async fn give_way(&'m self, bytes: Bytes, hosts: &Cell<u64>) {
        while self.sim.now() < self.not_before.get() {
            self.sim.until(self.not_before.get()).await;
        }
        if self.pace.priority == Precedence::Equal {
            return;
        }
        let latest = self.sim.now() + self.pace.at_least.time_for(bytes);
        while hosts.get() > 0 && self.sim.now() < latest {
            self.sim.within(latest, self.idle.wait()).await;
        }
    }

    /// Counts `bytes` against the rate.
    pub fn spend(&self, bytes: Bytes) {
        if let Some(rate) = self.pace.rate {
            self.not_before.set(self.sim.now().max(self.not_before.get()) + rate.time_for(bytes));
        }
    }

    /// Returns a request of this work, with a key of `stream` that lasts until its disks are asked.
    pub fn request(&self, stream: RngStream) -> Request<Block> {
        let block = Block { op: Op::Read, address: 0, bytes: 0 };
        let mut request = Request::new(stream.key(self.accesses.get()), block).because(self.pace.cause);
        if self.pace.priority == Precedence::ForegroundFirst {
            request.priority = u8::MAX;
        }
        request
    }

    /// Returns a request as [`Self::request`] does, for the disks: the next one has another key.
    pub fn access(&self, stream: RngStream) -> Request<Block> {
        let request = self.request(stream);
        self.accesses.set(self.accesses.get() + 1);
        request
    }
}
