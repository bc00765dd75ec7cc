//! Request sizes: the most frequent ones and the cdf.

use serde::Serialize;

use super::counts::Occurrences;

/// Up to this many distinct sizes are counted exactly; beyond, sizes are rounded down to eight significant bits.
const MOST_SIZES: usize = 100_000;

/// Number of most frequent sizes reported.
const MOST_FREQUENT: usize = 8;

/// Maximum number of points of the cdf.
const POINTS: usize = 128;

/// Request sizes.
#[derive(Clone, Debug, Serialize)]
pub struct Sizes {
    /// Smallest size, in bytes.
    pub least: u64,
    /// Mean size, in bytes.
    pub mean: f64,
    /// Largest size, in bytes.
    pub most: u64,
    /// The most frequent sizes: (bytes, share of requests).
    pub frequent: Vec<(u64, f64)>,
    /// The cdf: (bytes, share of requests of at most that size), at sizes that occur.
    pub cdf: Vec<(u64, f64)>,
}

/// Accumulates [`Sizes`].
#[derive(Default)]
pub struct SizeCounts {
    counts: Occurrences,
    /// True once there were more than [`MOST_SIZES`] distinct sizes.
    rounded: bool,
    least: Option<u64>,
}

impl SizeCounts {
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.least = Some(self.least.map_or(bytes, |least| least.min(bytes)));
        if self.counts.add(if self.rounded { rounded(bytes) } else { bytes }) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.counts.merge();
        if self.counts.table().len() > MOST_SIZES && !self.rounded {
            self.rounded = true;
            self.counts.replace(rounded);
        }
    }

    /// The sizes of all `n` requests, whose mean and maximum are known.
    pub fn finish(mut self, mean: f64, most: u64, n: f64) -> Sizes {
        self.merge();
        let table = self.counts.table().iter();
        let mut frequent: Vec<(u64, f64)> = table.map(|(size, count)| (*size, *count as f64 / n)).collect();
        let cdf = cdf(&frequent);
        frequent.sort_by(|a, b| b.1.total_cmp(&a.1));
        frequent.truncate(MOST_FREQUENT);
        Sizes { least: self.least.unwrap_or(0), mean, most, frequent, cdf }
    }
}

/// Cumulated shares, thinned to at most [`POINTS`] of which the last is the largest size.
fn cdf(shares: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let mut below = 0.0;
    let steps = shares.iter().map(|(size, share)| {
        below += share;
        (*size, below)
    });
    let all: Vec<(u64, f64)> = steps.collect();
    all.iter().rev().step_by(all.len().div_ceil(POINTS).max(1)).rev().copied().collect()
}

/// `bytes` rounded down to eight significant bits.
fn rounded(bytes: u64) -> u64 {
    let rest = (u64::BITS - bytes.leading_zeros()).saturating_sub(8);
    bytes >> rest << rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With very many sizes, none is counted as a much smaller one.
    #[test]
    fn sizes_are_kept_within_a_percent() {
        let mut sizes = SizeCounts::default();
        (0..MOST_SIZES as u64 * 2).for_each(|i| sizes.add(if i % 2 == 0 { 1_000_000_000 } else { 1000 + i }));
        let found = sizes.finish(0.0, 1_000_000_000, MOST_SIZES as f64 * 2.0);
        assert_eq!(found.least, 1001);
        let (size, share) = found.frequent[0];
        assert!((share - 0.5).abs() < 1e-9 && size.abs_diff(1_000_000_000) < 10_000_000, "{size} {share}");
    }
}
