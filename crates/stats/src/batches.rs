//! Means of successive batches, and where the warm-up ends in them.

/// Maximum number of batches kept; when one more would come, neighbours are merged and each holds twice as many.
pub const MOST: usize = 4096;

/// Minimum number of batches in which a warm-up is sought.
pub const FEWEST: usize = 400;

/// Number of observations in each of the first batches: five, as in MSER-5.
const FIRST_SIZE: u64 = 5;

/// Sums of successive batches of equal size, in flat memory.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchSums {
    size: u64,
    sums: Vec<f64>,
    filling: f64,
    filled: u64,
}

impl Default for BatchSums {
    fn default() -> Self {
        Self { size: FIRST_SIZE, sums: Vec::new(), filling: 0.0, filled: 0 }
    }
}

impl BatchSums {
    /// Adds one observation.
    #[inline]
    pub fn record(&mut self, value: f64) {
        self.filling += value;
        self.filled += 1;
        if self.filled == self.size {
            self.close();
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        if self.sums.len() == MOST {
            self.merge_neighbours();
            return; // The batch just filled is half of one of the new size.
        }
        self.sums.push(self.filling);
        (self.filling, self.filled) = (0.0, 0);
    }

    fn merge_neighbours(&mut self) {
        self.sums = self.sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        self.size *= 2;
    }

    /// Returns the number of observations in each batch.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The means of the full batches, in order.
    pub fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.size as f64).collect()
    }

    /// Returns the number of observations of warm-up by MSER-5 (White 1997): the cut that makes the standard
    /// error of what remains smallest, sought over cuts that leave at least five batches. `None` when it lies beyond
    /// the middle: the series has no steady state, as far as can be seen. Nothing is left out of fewer than
    /// [`FEWEST`] batches: the rule then too often takes chance for a transient.
    pub fn warm_up(&self) -> Option<u64> {
        if self.sums.len() < FEWEST {
            return Some(0);
        }
        let means = self.means();
        let (half, last) = (means.len() / 2, means.len().saturating_sub(6));
        let cut = match mser(&means, last) {
            cut if cut <= half => Some(cut),
            _ if stays(&means) => Some(0),
            // A transient, and then hardly any variation: any cut behind the transient does, within the first quarter.
            _ => stays(&means[half / 2..]).then(|| mser(&means, half / 2)),
        };
        cut.map(|cut| cut as u64 * self.size)
    }
}

/// A drift of the mean that nobody needs to know of, as a share of it.
const SLIGHT: f64 = 1e-3;

/// Returns true if the means of both halves are equal, but for [`SLIGHT`] differences: where service hardly varies, the rule finds
/// drifts of a few hundred-thousandths of the mean, or differences of rounding.
fn stays(means: &[f64]) -> bool {
    let (first, second) = means.split_at(means.len() / 2);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    (mean(first) - mean(second)).abs() <= SLIGHT * mean(second).abs()
}

/// The number of leading batches to leave out, at most `most`.
fn mser(means: &[f64], most: usize) -> usize {
    let batches = means.len();
    // From the back, so that every cut's mean and squared deviations come from one pass (Welford's update).
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for cut in (0..batches).rev() {
        let kept = (batches - cut) as f64;
        let step = means[cut] - mean;
        mean += step / kept;
        squares += step * (means[cut] - mean);
        let error = squares / (kept * kept);
        if cut <= most && error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word for word: d* = argmin (m − d)⁻² Σ (Z_j − mean_d)² over 0 ≤ d < m − 5.
    fn by_definition(means: &[f64]) -> usize {
        let error = |cut: usize| {
            let kept = &means[cut..];
            let mean = kept.iter().sum::<f64>() / kept.len() as f64;
            kept.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / (kept.len() * kept.len()) as f64
        };
        (0..means.len() - 5).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap()
    }

    #[test]
    fn a_transient_is_cut_and_a_steady_start_is_not() {
        let steady: Vec<f64> = (0..200).map(|i| 10.0 + f64::from(i * 7 % 11)).collect();
        assert!(mser(&steady, 194) < 10);
        let transient: Vec<f64> =
            (0..200).map(|i| steady[i] + 100.0 * libm::exp(-(i as f64) / 8.0)).collect();
        assert!((20..80).contains(&mser(&transient, 194)));
        let growing: Vec<f64> = (0..200).map(f64::from).collect();
        assert!(mser(&growing, 194) > 100);
    }

    fn warm_up(observations: impl Iterator<Item = f64>) -> Option<u64> {
        let mut batches = BatchSums::default();
        observations.for_each(|of| batches.record(of));
        batches.warm_up()
    }

    /// Sixty-four clients begin together, and then each waits for the same time but for differences of rounding.
    #[test]
    fn a_series_that_hardly_varies_is_steady_after_its_transient() {
        let wait = |i: u32| if i < 64 { f64::from(i) / 64.0 } else { 1.0 - 1e-9 / f64::from(i) };
        let found = warm_up((0..30_000).map(wait)).expect("it is steady");
        assert!((64..=7_500).contains(&found), "{found}: after the transient, and within a quarter");
        assert_eq!(warm_up((0..30_000).map(f64::from)), None);
    }

    #[test]
    fn merging_keeps_the_sum_and_the_number_flat() {
        let mut batches = BatchSums::default();
        let n = 5 * 4096 * 8 + 35;
        (0..n).for_each(|i| batches.record(f64::from(i)));
        assert!(batches.sums.len() <= MOST && batches.sums.len() > MOST / 2);
        let held = batches.sums.len() as u64 * batches.size + batches.filled;
        assert_eq!(held, n as u64);
        let sum = batches.sums.iter().sum::<f64>() + batches.filling;
        assert_eq!(sum, (0..n).map(f64::from).sum::<f64>());
    }

    proptest! {
        #[test]
        fn one_pass_finds_what_the_definition_finds(means in prop::collection::vec(0.0f64..100.0, 6..60)) {
            let expected = by_definition(&means);
            prop_assert_eq!(mser(&means, means.len() - 6), expected);
        }
    }
}
