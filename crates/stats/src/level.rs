//! A number that changes with time: servers busy, requests waiting, items in a store.

use headrace_units::Nanos;

/// A level and the exact area under it, from which its average over any span follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauge {
    value: u64,
    since: Nanos,
    area: u128,
    max: u64,
}

impl Gauge {
    /// Raises the level by `by` at `now`.
    #[inline]
    pub fn up(&mut self, now: Nanos, by: u64) {
        self.advance(now);
        self.value += by;
        self.max = self.max.max(self.value);
    }

    /// Lowers the level by `by` at `now`.
    #[inline]
    pub fn down(&mut self, now: Nanos, by: u64) {
        self.advance(now);
        self.value -= by;
    }

    /// Adds what a level of one for `span` adds to the area, whenever it was.
    #[inline]
    pub fn add(&mut self, span: Nanos) {
        self.area += u128::from(span.0);
    }

    #[inline]
    fn advance(&mut self, now: Nanos) {
        self.area += u128::from(self.value) * u128::from(now.0 - self.since.0);
        self.since = now;
    }

    /// The level now.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The highest level so far.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The area under the level up to `now`, in units × nanoseconds.
    pub fn area(&self, now: Nanos) -> u128 {
        self.area + u128::from(self.value) * u128::from(now.0 - self.since.0)
    }
}
