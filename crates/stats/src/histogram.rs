//! The distribution of response times, in segments of which the first can be left out as warm-up.

use headrace_units::Nanos;

use crate::buckets::{Buckets, middle};
use crate::packed::Packed;

/// A run's histograms are kept in at most this many segments.
pub const SEGMENTS: usize = 64;

/// The largest relative error of a quantile: half the width of a bucket.
pub const QUANTILE_ERROR: f64 = 0.0005;

/// Counts of values: pairs of (value in nanoseconds, how many), by value. Each stands for the middle of its bucket.
type Counts = Vec<(u64, u64)>;

/// Response times in successive segments. The one being filled is a histogram; those closed keep only what they hold.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    closed: Vec<Packed>,
    filling: Buckets,
}

impl Segments {
    /// Adds one observation.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.filling.record(value.0);
    }

    /// Ends the segment being filled and begins the next.
    pub fn close(&mut self) {
        self.closed.push(self.filling.take());
    }

    /// Merges neighbouring closed segments, two into one.
    pub fn merge_neighbours(&mut self) {
        self.closed = self.closed.chunks_exact(2).map(|pair| pair[0].merged(&pair[1])).collect();
    }

    /// Returns the values recorded in a closed segment.
    pub fn only(&self, segment: usize) -> Histogram {
        Histogram { counts: self.closed[segment].counts().map(|(at, count)| (middle(at), count)).collect() }
    }

    /// Returns the values recorded from segment `first` on.
    pub fn from(&self, first: usize) -> Histogram {
        let mut all = together(&self.closed[first.min(self.closed.len())..]);
        self.filling.counts().for_each(|(value, count)| all.record_times(value, count));
        Histogram { counts: all.counts().collect() }
    }
}

/// The counts of several segments.
fn together(segments: &[Packed]) -> Buckets {
    let mut all = Buckets::default();
    segments.iter().for_each(|segment| all.add(segment));
    all
}

/// All of them together: counts of one value become one.
fn merged(counts: impl Iterator<Item = (u64, u64)>) -> Counts {
    let mut all = Buckets::default();
    counts.for_each(|(value, count)| all.record_times(value, count));
    all.counts().collect()
}

/// A distribution of response times, accurate to [`QUANTILE_ERROR`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    counts: Counts,
}

impl Histogram {
    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// The smallest value that at least the share `p` of all do not exceed; zero when it holds none.
    pub fn quantile(&self, p: f64) -> Nanos {
        let rank = ((p * self.count() as f64).ceil() as u64).max(1);
        let mut below = 0;
        for &(value, count) in &self.counts {
            below += count;
            if below >= rank {
                return Nanos(value);
            }
        }
        Nanos(self.counts.last().map_or(0, |&(value, _)| value))
    }

    /// The share of values at or below `value`.
    pub fn cdf(&self, value: Nanos) -> f64 {
        let below: u64 =
            self.counts.iter().take_while(|(at, _)| *at <= value.0).map(|(_, count)| count).sum();
        below as f64 / self.count().max(1) as f64
    }

    /// The largest vertical distance of the two cdfs (Kolmogorov and Smirnov's), up to the width of a bucket.
    pub fn distance(&self, other: &Self) -> f64 {
        let (mine, others) = (self.count().max(1) as f64, other.count().max(1) as f64);
        let steps = self.counts.iter().map(|&(value, count)| (value, count as f64 / mine));
        let downs = other.counts.iter().map(|&(value, count)| (value, -(count as f64) / others));
        let mut steps: Vec<(u64, f64)> = steps.chain(downs).collect();
        steps.sort_unstable_by_key(|(value, _)| *value);
        let (mut apart, mut most) = (0.0f64, 0.0f64);
        for alike in steps.chunk_by(|a, b| a.0 == b.0) {
            apart += alike.iter().map(|(_, step)| step).sum::<f64>();
            most = most.max(apart.abs());
        }
        most
    }

    /// Both together.
    pub fn merged(&self, other: &Self) -> Self {
        Self { counts: merged(self.counts.iter().chain(&other.counts).copied()) }
    }

    /// The values at the ranks (i + ½)/n: n equally likely representatives, sorted.
    pub fn representatives(&self, n: usize) -> Vec<Nanos> {
        let total = self.count() as f64;
        let mut walk = self.counts.iter();
        let (mut below, mut value) = (0.0, 0);
        (0..if self.counts.is_empty() { 0 } else { n })
            .map(|i| {
                while below <= (i as f64 + 0.5) / n as f64 * total {
                    match walk.next() {
                        Some(&(next, count)) => (below, value) = (below + count as f64, next),
                        None => break,
                    }
                }
                Nanos(value)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_segments_can_be_left_out() {
        let mut segments = Segments::default();
        for segment in 1..=4u64 {
            (0..10).for_each(|_| segments.record(Nanos(segment * 1000)));
            segments.close();
        }
        assert_eq!(segments.from(0).count(), 40);
        assert_eq!(segments.from(3).quantile(0.5).0 / 1000, 4);
        segments.merge_neighbours();
        assert_eq!(segments.from(1).count(), 20);
        segments.record(Nanos(9000));
        assert_eq!(segments.from(2).count(), 1);
    }

    #[test]
    fn the_distance_is_that_of_the_cdfs() {
        let of = |values: &[u64]| {
            let mut segments = Segments::default();
            values.iter().for_each(|&value| segments.record(Nanos(value)));
            segments.from(0)
        };
        assert_eq!(of(&[1, 2, 3, 4]).distance(&of(&[1, 2, 3, 4])), 0.0);
        assert_eq!(of(&[1, 2]).distance(&of(&[5, 6, 7])), 1.0);
        assert_eq!(of(&[1, 2, 3, 4]).distance(&of(&[3, 4, 5, 6])), 0.5);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(mut values in prop::collection::vec(1u64..10_000_000_000, 1..300), p in 0.0f64..1.0) {
            let mut segments = Segments::default();
            values.iter().for_each(|&value| segments.record(Nanos(value)));
            values.sort_unstable();
            let rank = ((p * values.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (values[rank - 1] as f64, segments.from(0).quantile(p).0 as f64);
            prop_assert!((found - exact).abs() <= exact * QUANTILE_ERROR + 1.0, "{} for {}", found, exact);
        }

        #[test]
        fn representatives_are_the_quantiles(values in prop::collection::vec(1u64..2000, 1..100)) {
            let mut segments = Segments::default();
            values.iter().for_each(|&value| segments.record(Nanos(value)));
            let distribution = segments.from(0);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let found: Vec<u64> = distribution.representatives(values.len()).iter().map(|n| n.0).collect();
            prop_assert_eq!(found, sorted); // Below 2048 ns every bucket holds one value.
        }
    }
}
