//! Confidence intervals for means: within one run by batch means, across runs by replications.

use schemars::JsonSchema;
use serde::Serialize;

use crate::independence::independent_groups;

/// Method by which an interval was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// From the means of successive batches of one run.
    BatchMeans,
    /// From the means of independent runs.
    Replications,
}

/// A mean with its 95 % confidence interval: mean ± half_width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate, in the unit of the values it was made from.
    pub mean: f64,
    /// Half the width of the 95 % interval, in the same unit.
    pub half_width: f64,
    /// Method by which the interval was computed.
    pub method: Method,
    /// False where batches are still correlated or too few, or replications too short for the bias of their beginning: the interval
    /// then contains the mean less often than it says.
    pub trusted: bool,
}

/// Number of batches that an interval is computed from: more would be correlated sooner, fewer make wide intervals
/// (Schmeiser 1982 finds little to gain beyond 30).
pub(crate) const GROUPS: usize = 32;

/// The fewest groups of independent batches that make an interval trusted: below five, Student's distribution widens it by half and more.
const FEWEST_INDEPENDENT: usize = 5;

impl Interval {
    /// From the means of successive small batches of one run, warm-up left out. `None` below four batches.
    ///
    /// They are merged into 32 groups. The variance is that of the groups; Student's distribution has the degrees of freedom of as many
    /// groups as hold 80 independent batches each, so that short runs have wider intervals. Below five
    /// such groups the interval is not trusted.
    pub fn by_batch_means(batch_means: &[f64]) -> Option<Self> {
        if batch_means.len() < 4 {
            return None;
        }
        let groups = merged(batch_means, GROUPS);
        let independent = independent_groups(batch_means, &groups);
        let freedom = independent.max(FEWEST_INDEPENDENT).min(groups.len()) - 1;
        let half_width = student_975(freedom) * standard_error(&groups);
        let trusted = independent >= FEWEST_INDEPENDENT;
        Some(Self { mean: mean(&groups), half_width, method: Method::BatchMeans, trusted })
    }

    /// From the means of successive segments of one run, warm-up left out, merged into at most 16 groups. `None` below eight segments.
    /// Whether groups are still correlated is not judged, so it is not trusted.
    pub fn by_segments(means: &[f64]) -> Option<Self> {
        (means.len() >= 8).then(|| {
            let groups = merged(means, 16);
            let half_width = student_975(groups.len() - 1) * standard_error(&groups);
            Self { mean: mean(means), half_width, method: Method::BatchMeans, trusted: false }
        })
    }

    /// From the means of independent replications, which have settled or not: see [`settling::is_settled`]. `None` for fewer than
    /// two.
    ///
    /// [`settling::is_settled`]: crate::settling::is_settled
    pub fn by_replications(means: &[f64], settled: bool) -> Option<Self> {
        (means.len() >= 2).then(|| Self {
            mean: mean(means),
            half_width: student_975(means.len() - 1) * standard_error(means),
            method: Method::Replications,
            trusted: settled,
        })
    }

    /// Half the width of the interval of this number of replications, at least two, in standard deviations of one.
    pub fn half_width_of(replications: usize) -> f64 {
        student_975(replications - 1) / libm::sqrt(replications as f64)
    }
}

/// The 97.5 % points of Student's distribution for 1, 2, 3 … degrees of freedom (any table of it).
const STUDENT_975: [f64; 30] = [
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
    2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555,
    2.0518, 2.0484, 2.0452, 2.0423,
];

/// The 97.5 % point of Student's distribution: by the table, and beyond it by Fisher's expansion around the normal one,
/// good to five digits there.
pub(crate) fn student_975(freedom: usize) -> f64 {
    if let Some(point) = STUDENT_975.get(freedom - 1) {
        return *point;
    }
    let (z, n) = (1.959_964, freedom as f64);
    let (z3, z5) = (z * z * z, z * z * z * z * z);
    z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
}

/// The upper 95 % limit of a variance over its estimate from this many degrees of freedom: from the 5 % point of χ², by Wilson and Hilferty (1931), good to 3 % from two degrees on.
pub(crate) fn variance_limit(freedom: usize) -> f64 {
    let spread = 2.0 / (9.0 * freedom as f64);
    let root = 1.0 - spread - 1.644_854 * spread.sqrt();
    1.0 / (root * root * root)
}

/// The standard error of the mean of independent values.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    (variance(values) / values.len() as f64).sqrt()
}

/// `groups` means of equally many successive values each; the oldest are left out where the division leaves a rest.
pub(crate) fn merged(values: &[f64], groups: usize) -> Vec<f64> {
    let size = (values.len() / groups).max(1);
    let rest = values.len().saturating_sub(size * groups);
    values[rest..].chunks_exact(size).map(|chunk| chunk.iter().sum::<f64>() / size as f64).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crude sequence in [0, 1) that is uniform enough for these tests.
    fn noise(n: usize) -> impl Iterator<Item = f64> {
        let mut x = 0x2545_f491_4f6c_dd1du64;
        (0..n).map(move |_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 11) as f64 / (1u64 << 53) as f64
        })
    }

    #[test]
    fn two_replications_have_the_t_distribution_of_one_degree() {
        let interval = Interval::by_replications(&[1.0, 3.0], true).unwrap();
        assert_eq!(interval.mean, 2.0);
        assert!((interval.half_width - 12.7062).abs() < 1e-3, "t(1) = 12.706 and the standard error is 1");
        assert_eq!(Interval::by_replications(&[1.0], true), None);
    }

    #[test]
    fn the_expansion_meets_the_table_and_the_normal_law() {
        assert!((student_975(31) - 2.0395).abs() < 1e-4);
        assert!((student_975(120) - 1.9799).abs() < 1e-4);
        assert!((student_975(1_000_000) - 1.96).abs() < 1e-4);
    }

    #[test]
    fn the_limit_of_a_variance_is_that_of_the_tables() {
        // 5 % points of χ²: 1.635 of 6 degrees, 19.281 of 31, 77.929 of 100.
        for (freedom, point) in [(6, 1.635), (31, 19.281), (100, 77.929)] {
            let limit = freedom as f64 / point;
            assert!((variance_limit(freedom) / limit - 1.0).abs() < 0.01, "{freedom}");
        }
    }

    #[test]
    fn independent_batches_are_trusted_and_correlated_ones_are_not() {
        let independent: Vec<f64> = noise(3200).collect();
        let interval = Interval::by_batch_means(&independent).unwrap();
        assert!(interval.trusted);
        assert!((interval.mean - 0.5).abs() < interval.half_width * 1.5);
        let mut level = 0.0;
        let slow: Vec<f64> = noise(3200)
            .map(|x| {
                level = 0.995 * level + x - 0.5;
                level
            })
            .collect();
        assert!(!Interval::by_batch_means(&slow).unwrap().trusted);
    }

    #[test]
    fn groups_that_drift_apart_are_not_trusted() {
        let drifting: Vec<f64> = noise(3200).enumerate().map(|(i, x)| x + i as f64 / 1000.0).collect();
        assert!(!Interval::by_batch_means(&drifting).unwrap().trusted);
    }

    #[test]
    fn few_batches_give_an_interval_that_is_not_trusted() {
        assert_eq!(Interval::by_batch_means(&[1.0; 3]), None);
        assert!(!Interval::by_batch_means(&[1.0, 2.0, 1.0, 2.0, 1.0]).unwrap().trusted);
    }
}
