//! A histogram of values with a bounded relative error, after HdrHistogram (Tene): buckets of equal width between powers of
//! two. Every response of a run is recorded here, so recording is a shift, an addition and two comparisons; the crate
//! `hdrhistogram` takes five times as many instructions, and is the oracle of the tests.

use crate::packed::Packed;

/// Values below this have a bucket each; above, 1024 buckets lie between a power of two and the next.
const EXACT: u64 = 1 << 11;

/// Counts of values by bucket.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    counts: Vec<u64>,
    /// The buckets that hold something lie between these.
    first: usize,
    end: usize,
}

/// The bucket of a value.
#[inline]
fn bucket(value: u64) -> usize {
    let shift = 63 - (value | (EXACT - 1)).leading_zeros() - 10;
    ((u64::from(shift) << 10) + (value >> shift)) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let shift = (bucket >> 10).saturating_sub(1);
    let lowest = ((bucket - (shift << 10)) as u64) << shift;
    lowest + (1 << shift >> 1)
}

impl Buckets {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count(bucket(value), 1);
    }

    /// Counts a value `times` times.
    pub fn record_times(&mut self, value: u64, times: u64) {
        self.count(bucket(value), times);
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, packed: &Packed) {
        packed.counts().for_each(|(at, times)| self.count(at, times));
    }

    /// What it holds, in few bytes.
    pub fn packed(&self) -> Packed {
        Packed::new(self.held())
    }

    #[inline]
    fn count(&mut self, at: usize, times: u64) {
        match self.counts.get_mut(at) {
            Some(count) if self.first <= at && at < self.end => *count += times,
            _ => self.reach(at, times),
        }
    }

    #[cold]
    fn reach(&mut self, at: usize, times: u64) {
        if at >= self.counts.len() {
            self.counts.resize(at.next_power_of_two() + 1, 0);
        }
        self.first = if self.end == 0 { at } else { self.first.min(at) };
        self.end = self.end.max(at + 1);
        self.counts[at] += times;
    }

    /// What it holds: the middle of each bucket and its count, in order.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.held().map(|(at, count)| (middle(at), count))
    }

    fn held(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let held = (self.first..).zip(&self.counts[self.first..self.end]);
        held.filter_map(|(at, count)| (*count > 0).then_some((at, *count)))
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.counts[self.first..self.end].fill(0);
        (self.first, self.end) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    proptest! {
        /// The buckets and their middles are those of HdrHistogram with three significant digits.
        #[test]
        fn agrees_with_hdrhistogram(values in prop::collection::vec((0u32..63, any::<u64>(), 1u64..4), 1..200)) {
            let (mut mine, mut other) = (Buckets::default(), Histogram::<u64>::new(3).unwrap());
            for (shift, bits, times) in values {
                let value = bits >> (shift + 1);
                for _ in 0..times {
                    mine.record(value);
                }
                mine.record_times(value, times);
                other.record_n(value, 2 * times).unwrap();
            }
            let theirs: Vec<(u64, u64)> = other
                .iter_recorded()
                .map(|at| (other.median_equivalent(at.value_iterated_to()), at.count_at_value()))
                .collect();
            prop_assert_eq!(mine.counts().collect::<Vec<_>>(), theirs);
            mine.clear();
            prop_assert_eq!(mine.counts().count(), 0);
        }
    }
}
