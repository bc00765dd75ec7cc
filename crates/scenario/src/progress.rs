//! What a run and whoever watches it share while it goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Progress of a run, and the request to end it. Shared between the threads that run and the one that watches.
#[derive(Default)]
pub struct Progress {
    /// Requests read from a trace before the run.
    pub traced: AtomicU64,
    /// Requests answered, in all replications; of an estimate of durability, rebuilds simulated.
    pub answered: AtomicU64,
    /// Requests (or rebuilds) wanted of all replications, estimated for a run of given time; zero before the scenario is understood.
    pub wanted: AtomicU64,
    /// Set to end the run: it stops within some thousands of events and keeps what it has.
    pub cancelled: Arc<AtomicBool>,
    /// Set by a watcher who wants to see `queues` again.
    pub wants_queues: AtomicBool,
    /// The longest queues: where, and how many requests wait.
    pub queues: Mutex<Vec<(String, u64)>>,
}

impl Progress {
    /// A function to call now and then while a trace is read, with the number of requests so far. It returns true to go on.
    pub fn reads_traces(&self) -> impl Fn(u64) -> bool + '_ {
        |read| {
            self.traced.store(read, Ordering::Relaxed);
            !self.is_cancelled()
        }
    }

    /// Returns true if the run is to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
