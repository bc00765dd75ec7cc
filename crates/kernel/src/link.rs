//! A link: one transfer at a time at a rate, and a latency on the way.

use std::cell::Cell;

use headrace_units::{Bytes, BytesPerSecond, Nanos};

use crate::discipline::{Discipline, Fcfs};
use crate::resource::Resource;
use crate::sim::Sim;

/// A channel of a given rate that carries one transfer at a time; what comes out at the far end comes `latency` later,
/// while the next transfer has begun. Arbitration is the discipline of its queue.
pub struct Link<'m, D: Discipline = Fcfs> {
    sim: &'m Sim<'m>,
    /// The wire: its usage is the link's.
    pub wire: Resource<'m, D>,
    rate: BytesPerSecond,
    latency: Nanos,
    carried: Cell<u64>,
}

impl<'m, D: Discipline> Link<'m, D> {
    /// A link that is free, with `arbitration` to choose who sends next.
    pub fn new(sim: &'m Sim<'m>, rate: BytesPerSecond, latency: Nanos, arbitration: D) -> Self {
        Self { sim, wire: Resource::new(sim, 1, arbitration), rate, latency, carried: Cell::new(0) }
    }

    /// Sends `bytes` and waits until they have arrived at the far end; returns how long the wire was waited for.
    pub async fn transfer(&'m self, bytes: Bytes, key: D::Key) -> Nanos {
        let wire = self.wire.acquire(key).await;
        self.sim.delay(self.rate.time_for(bytes)).await;
        self.carried.set(self.carried.get() + bytes.0);
        let waited = wire.waited;
        drop(wire);
        self.sim.delay(self.latency).await;
        waited
    }

    /// The bytes that have left the sender whole.
    pub fn carried(&self) -> Bytes {
        Bytes(self.carried.get())
    }
}
