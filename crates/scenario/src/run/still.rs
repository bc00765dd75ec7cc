//! Time that stands still: clients whose requests take no time ask again and again at one instant.

use std::cell::Cell;

use headrace_units::Nanos;

/// Requests answered at one instant, at least and at most, beyond which time is taken to stand still: a cache may answer many in a row.
const BOUNDS: (u64, u64) = (1_000, 100_000);

/// Counts the requests of closed streams that took no time since time last advanced.
pub struct Still {
    most: u64,
    at: Cell<Nanos>,
    count: Cell<u64>,
    stream: Cell<usize>,
}

impl Still {
    /// Counts for a run of `wanted` requests: half of them at one instant are too many.
    pub fn new(wanted: u64) -> Self {
        let (at, count, stream) = Default::default();
        Self { most: (wanted / 2).clamp(BOUNDS.0, BOUNDS.1), at, count, stream }
    }

    /// Notes a request of `stream` that took no time. Returns true if there were too many at this instant.
    pub fn note(&self, stream: usize, now: Nanos) -> bool {
        let before = if self.at.replace(now) == now { self.count.get() } else { 0 };
        self.count.set(before + 1);
        self.stream.set(stream);
        before >= self.most
    }

    /// Returns true if requests took no time and the run, which ends at `now`, none either.
    pub fn is_all(&self, now: Nanos) -> bool {
        now == Nanos::ZERO && self.count.get() > 0
    }

    /// The last stream whose request took no time.
    pub fn stream(&self) -> usize {
        self.stream.get()
    }
}
