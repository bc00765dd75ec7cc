//! The distribution of a sample: each value with its probability.

use std::sync::Arc;

use num_complex::Complex64;

use crate::complex::exp;

/// Finitely many values with their probabilities.
#[derive(Clone, Debug)]
pub struct Empirical(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// In ascending order, with the probability of each and of all up to it.
    values: Vec<(f64, f64, f64)>,
    moments: [f64; 3],
    /// The same with at most [`FEW`] values.
    few: Vec<(f64, f64)>,
}

/// Number of values by which transforms are computed: neighbours of more are replaced by their mean. What is inverted for quantiles takes
/// every value fifty times; means are not computed by transforms.
const FEW: usize = 1000;

/// A sample is equal to itself, which is asked for each point of a cdf.
impl PartialEq for Empirical {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.values == other.0.values
    }
}

impl Empirical {
    /// The distribution of values with weights, of which one is above zero.
    pub fn new(weighted: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut weighted: Vec<(f64, f64)> =
            weighted.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let mut below = 0.0;
        let values = weighted.iter().map(|(value, weight)| {
            below += weight;
            (*value, weight / all, below / all)
        });
        let values: Vec<_> = values.collect();
        let moment = |n: i32| values.iter().map(|(x, p, _)| p * (0..n).map(|_| x).product::<f64>()).sum();
        let (moments, few) = ([1, 2, 3].map(moment), few(&values));
        Self(Arc::new(Table { values, moments, few }))
    }

    /// The distribution of a time below `most` whose cdf is given, by values at equal ratios: for tails that equal steps would miss.
    /// Each value stands for those within 0.4 % of it.
    pub fn tabulate(most: f64, cdf: impl Fn(f64) -> f64) -> Self {
        const STEPS: i32 = 8000;
        let ratio = libm::exp(1.0 / 256.0);
        let (mut upper, mut above, mut values) = (most, 1.0, Vec::new());
        for _ in 0..STEPS {
            let lower = upper / ratio;
            let below = cdf(lower);
            values.push(((lower + upper) / 2.0, above - below));
            (upper, above) = (lower, below);
        }
        Self::new(values.into_iter().chain([(upper / 2.0, above)]))
    }

    /// The first three moments: `E[X]`, `E[X²]`, `E[X³]`.
    pub fn moments(&self) -> [f64; 3] {
        self.0.moments
    }

    /// P(X ≤ t).
    pub fn cdf(&self, t: f64) -> f64 {
        let values = &self.0.values;
        match values.partition_point(|(value, ..)| *value <= t) {
            0 => 0.0,
            many if many == values.len() => 1.0,
            many => values[many - 1].2,
        }
    }

    /// The largest value.
    pub fn most(&self) -> f64 {
        self.0.values.last().map_or(0.0, |(value, ..)| *value)
    }

    /// `E[e^−sX]`, of many values by a thousand that stand for them.
    pub fn transform(&self, s: Complex64) -> Complex64 {
        self.0.few.iter().map(|(value, p)| exp(-s * *value) * *p).sum()
    }
}

/// Neighbours together, about as many probabilities each, with their mean.
fn few(values: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let group = |(_, p, upto): &(f64, f64, f64)| ((upto - p / 2.0) * FEW as f64) as usize;
    let mean = |alike: &[(f64, f64, f64)]| {
        let p: f64 = alike.iter().map(|(_, p, _)| p).sum();
        (alike.iter().map(|(value, p, _)| value * p).sum::<f64>() / p, p)
    };
    if values.len() <= FEW {
        return values.iter().map(|(value, p, _)| (*value, *p)).collect();
    }
    values.chunk_by(|a, b| group(a) == group(b)).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_probabilities() {
        let law = Empirical::new([(4.0, 1.0), (1.0, 3.0), (9.0, 0.0)]);
        assert_eq!(law.moments(), [1.75, 4.75, 16.75]);
        assert_eq!([0.9, 1.0, 3.9, 4.0, 9.0].map(|t| law.cdf(t)), [0.0, 0.75, 0.75, 1.0, 1.0]);
        assert_eq!(law.most(), 4.0);
        let s = Complex64::new(0.2, 1.0);
        assert!((law.transform(s) - (0.75 * exp(-s) + 0.25 * exp(-4.0 * s))).norm() < 1e-15);
    }

    /// The mean of values that stand for others is theirs, and the transform is near.
    #[test]
    fn many_values_are_represented_by_few() {
        let n = 50_000;
        let law = Empirical::new((0..n).map(|k| (-libm::log((f64::from(k) + 0.5) / f64::from(n)), 1.0)));
        let few = &law.0.few;
        assert!(few.len() <= FEW + 1);
        let mean: f64 = few.iter().map(|(value, p)| value * p).sum();
        assert!((mean - law.moments()[0]).abs() < 1e-12);
        let s = Complex64::new(0.5, 3.0);
        assert!((law.transform(s) - 1.0 / (1.0 + s)).norm() < 1e-4, "{}", law.transform(s));
    }

    #[test]
    fn a_tail_is_tabulated() {
        let law = Empirical::tabulate(1e6, |t| 1.0 - libm::pow(t.max(1.0), -1.2));
        // ∫ x f(x) from 1 to 10⁶, and what is beyond at its end: of that, 1 % of the mean, the last step takes its middle.
        let exact = 6.0 * (1.0 - libm::pow(1e6, -0.2)) + libm::pow(1e6, -0.2);
        assert!((law.moments()[0] / exact - 1.0).abs() < 4e-5, "{} {exact}", law.moments()[0]);
    }
}
