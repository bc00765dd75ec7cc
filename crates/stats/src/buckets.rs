//! A histogram of values with a bounded relative error, after HdrHistogram (Tene): buckets of equal width between powers of
//! two. Every response of a run is recorded here, so recording is a shift, an addition and two comparisons; the crate
//! `hdrhistogram` takes five times as many instructions, and is the oracle of the tests.

use crate::packed::Packed;

/// Values below this have a bucket each; above, 1024 buckets lie between a power of two and the next.
const EXACT: u64 = 1 << 11;

/// The first values are listed, and counted by bucket only when there are more, so that each of many streams with few
/// requests costs what it holds.
const LISTED: usize = 256;

/// Number of buckets between a power of two and the next.
const OCTAVE: usize = 1 << 10;

/// Counts of values by bucket.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// The buckets of the first values, in their order; empty once values are counted.
    listed: Vec<u32>,
    /// From bucket `first` on, a power of two's buckets after another: most values lie within a few of these.
    counts: Vec<u64>,
    first: usize,
    /// A bit for each bucket that holds something, so that a short segment costs what it holds, not what it could hold.
    used: Vec<u64>,
}

/// The bucket of a value.
#[inline]
fn bucket(value: u64) -> usize {
    let shift = 63 - (value | (EXACT - 1)).leading_zeros() - 10;
    ((u64::from(shift) << 10) + (value >> shift)) as usize
}

/// The numbers of the bits that are one, in order.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let without_lowest = |bits: &u64| Some(bits & (bits - 1)).filter(|rest| *rest != 0);
    words.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(move |(word, &bits)| {
        std::iter::successors(Some(bits), without_lowest)
            .map(move |rest| word * 64 + rest.trailing_zeros() as usize)
    })
}

/// The middle of a bucket.
pub(crate) fn middle(bucket: usize) -> u64 {
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

    /// Gives what it holds, in few bytes, and empties it.
    pub fn take(&mut self) -> Packed {
        let packed = Packed::new(self.held());
        self.listed.clear();
        ones(&self.used).for_each(|at| self.counts[at] = 0);
        self.used.fill(0);
        packed
    }

    #[inline]
    fn count(&mut self, at: usize, times: u64) {
        match self.counts.get_mut(at.wrapping_sub(self.first)) {
            Some(count) if *count > 0 => *count += times,
            _ => self.begin(at, times),
        }
    }

    /// Counts the first value of a bucket.
    #[inline(never)]
    fn begin(&mut self, at: usize, times: u64) {
        if self.counts.is_empty() && times == 1 && self.listed.len() < LISTED {
            return self.listed.push(at as u32);
        }
        if at.wrapping_sub(self.first) >= self.counts.len() {
            self.widen(at / OCTAVE * OCTAVE);
        }
        self.counts[at - self.first] += times;
        self.used[(at - self.first) / 64] |= 1 << (at % 64);
        std::mem::take(&mut self.listed).into_iter().for_each(|at| self.count(at as usize, 1));
    }

    /// Makes room for the buckets from `octave` to the next power of two.
    #[cold]
    fn widen(&mut self, octave: usize) {
        let held = self.counts.len();
        let before = if held == 0 { octave } else { self.first };
        let first = before.min(octave);
        let (below, room) = (before - first, (before + held).max(octave + OCTAVE) - first);
        let (mut counts, mut used) = (vec![0; room], vec![0; room / 64]);
        counts[below..below + held].copy_from_slice(&self.counts);
        used[below / 64..(below + held) / 64].copy_from_slice(&self.used);
        (self.counts, self.first, self.used) = (counts, first, used);
    }

    /// Returns each bucket that holds something and its count, in ascending order.
    fn held(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut listed = self.listed.clone();
        listed.sort_unstable();
        let listed: Vec<_> =
            listed.chunk_by(|a, b| a == b).map(|of| (of[0] as usize, of.len() as u64)).collect();
        listed.into_iter().chain(ones(&self.used).map(|at| (self.first + at, self.counts[at])))
    }

    /// Returns the middle of each bucket and its count, in ascending order.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.held().map(|(at, count)| (middle(at), count))
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
            prop_assert_eq!(mine.counts().collect::<Vec<_>>(), theirs.clone());
            let held: Vec<_> = mine.take().counts().map(|(at, count)| (middle(at), count)).collect();
            prop_assert_eq!(held, theirs);
            prop_assert_eq!(mine.counts().count(), 0);
        }

        /// Values are counted alike whether they are listed or have become too many for a list, and after each `take`.
        #[test]
        fn a_list_holds_what_buckets_hold(takes in prop::collection::vec(prop::collection::vec(0u64..9000, 0..600), 1..4)) {
            let mut mine = Buckets::default();
            for values in takes {
                values.iter().for_each(|value| mine.record(*value));
                let mut counted = std::collections::BTreeMap::new();
                values.iter().for_each(|value| *counted.entry(bucket(*value)).or_insert(0u64) += 1);
                prop_assert!(mine.held().eq(counted.iter().map(|(at, times)| (*at, *times))));
                prop_assert!(mine.take().counts().eq(counted));
            }
        }
    }
}
