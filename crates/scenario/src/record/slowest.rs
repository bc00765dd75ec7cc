//! A sample of the slowest requests, with where their time went.

use headrace_units::Nanos;
use headrace_work::{Breakdown, TimeKind};

use super::totals::Legs;

/// At most this many requests are kept of a series: times of one in a hundred of a long run are known to a few percent.
const MOST_KEPT: usize = 2048;

/// Share of all requests, one in this many, that is kept at least, or stood for, when the faster ones are left out: twice that of the slowest.
const LEAST_SHARE: u64 = 50;

/// Multiples of this spread evenly over all numbers, whatever their order (Knuth 1998, section 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A request that was slow when it was answered: when that was, how long it took, and where, by group of components.
#[derive(Clone, Debug)]
struct SlowRequest {
    number: u64,
    until: Nanos,
    took: Nanos,
    spans: Box<[(u32, TimeKind, Nanos)]>,
}

/// Requests that took longer than 99 % of those before them, as far as that was known: all of them, or a sample where they are many. Which
/// of them are among the slowest of the whole run is known at its end.
#[derive(Clone, Debug)]
pub struct SlowSample {
    /// The response time from which a request may be one of them.
    from: Nanos,
    /// Number of requests that might be.
    seen: u64,
    /// One of this many is kept.
    every: u64,
    kept: Vec<SlowRequest>,
}

impl Default for SlowSample {
    /// Nothing is slow before anything is known.
    fn default() -> Self {
        Self { from: Nanos::MAX, seen: 0, every: 1, kept: Vec::new() }
    }
}

impl SlowSample {
    /// Returns true if a request that took this long may be among the slowest.
    #[inline]
    pub fn takes(&self, took: Nanos) -> bool {
        took >= self.from
    }

    /// Adds a request that may be one of them, of `answered` so far; `groups` has the group of each component.
    #[cold]
    pub fn add(&mut self, breakdown: &Breakdown, groups: &[u32], answered: u64) {
        let number = self.seen;
        self.seen += 1;
        if !is_kept(number, self.every) {
            return;
        }
        let spans = breakdown.spans().map(|(at, what, span)| (groups[at.index()], what, span));
        let (until, took) = (breakdown.until(), breakdown.total());
        self.kept.push(SlowRequest { number, until, took, spans: spans.collect() });
        if self.kept.len() > MOST_KEPT {
            self.keep_fewer(answered);
        }
    }

    /// Leaves out the faster half, if the others stand for enough; otherwise every other one.
    fn keep_fewer(&mut self, answered: u64) {
        let middle = self.kept.len() / 2;
        let median =
            self.kept.select_nth_unstable_by_key(middle, |request| (request.took, request.number)).1.took;
        if median > self.from && middle as u64 * self.every >= answered / LEAST_SHARE {
            return self.begin_at(median);
        }
        self.every *= 2;
        let every = self.every;
        self.kept.retain(|request| is_kept(request.number, every));
    }

    /// From now on requests that take `from` or longer may be among the slowest.
    pub fn begin_at(&mut self, from: Nanos) {
        self.from = from;
        self.kept.retain(|request| request.took >= from);
    }

    /// Leaves out what was answered before the end of the warm-up.
    pub fn after(&self, warm_up: Nanos) -> Self {
        let kept = self.kept.iter().filter(|request| request.until > warm_up || warm_up == Nanos::ZERO);
        Self { kept: kept.cloned().collect(), ..*self }
    }

    /// Returns the number of requests that took `from` or longer, and their time: estimates, where not all are kept.
    pub fn at_least(&self, from: Nanos) -> (u64, Legs) {
        let (mut count, mut legs) = (0, Legs::default());
        for request in self.kept.iter().filter(|request| request.took >= from) {
            count += self.every;
            request.spans.iter().for_each(|&(group, what, span)| legs.charge(group, what, span, self.every));
        }
        (count, legs)
    }
}

/// Returns true if a request is one of the share that is kept. What is kept of fewer is kept of more.
fn is_kept(number: u64, every: u64) -> bool {
    number.wrapping_mul(GOLDEN) <= u64::MAX / every
}

#[cfg(test)]
mod tests {
    use headrace_work::NodeId;

    use super::*;

    fn took(ns: u64, until: u64) -> Breakdown {
        let mut breakdown = Breakdown::from(Nanos(until - ns));
        breakdown.served(NodeId(0), Nanos(until));
        breakdown
    }

    /// However responses drift, the mean of the slowest is not below where they begin, and their number is right on average.
    #[test]
    fn the_slowest_are_those_of_the_whole_run() {
        let mut sample = SlowSample::default();
        sample.begin_at(Nanos(1));
        let many = 400_000;
        for at in 1..=many {
            if sample.takes(Nanos(at)) {
                sample.add(&took(at, 10 * many + at), &[0], at);
            }
        }
        assert!(sample.kept.len() <= MOST_KEPT && sample.kept.len() > MOST_KEPT / 3);
        let (count, legs) = sample.at_least(Nanos(many / 100 * 99));
        assert!((count as f64 / (many as f64 / 100.0) - 1.0).abs() < 0.1, "{count} of {}", many / 100);
        let mean = legs.total() as f64 / count as f64;
        assert!((mean / (many as f64 * 0.995) - 1.0).abs() < 0.001, "{mean}");
    }

    /// What was kept with a lower threshold, or before the warm-up ended, is left out.
    #[test]
    fn what_is_no_longer_slow_is_left_out() {
        let mut sample = SlowSample::default();
        assert!(!sample.takes(Nanos(u64::MAX - 1)));
        sample.begin_at(Nanos(10));
        assert!(sample.takes(Nanos(10)) && !sample.takes(Nanos(9)));
        for (ns, until) in [(10, 100), (30, 200), (40, 300)] {
            sample.add(&took(ns, until), &[0], 3);
        }
        assert_eq!(sample.at_least(Nanos(10)).0, 3);
        assert_eq!(sample.after(Nanos(200)).at_least(Nanos(10)).0, 1);
        sample.begin_at(Nanos(20));
        assert_eq!(sample.at_least(Nanos::ZERO).1.total(), 70);
    }
}
