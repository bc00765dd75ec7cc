//! Confidence intervals of quantiles, from independent replications.

use crate::histogram::Histogram;
use crate::interval::{standard_error, student_975};

/// Half the width of the 95 % interval of the quantile `p` of all replications together, in nanoseconds: the longer side of
/// Woodruff's interval (1952).
///
/// The shares of values at or below the quantile vary from replication to replication; the quantiles at `p` ± their interval are
/// the ends. (An interval of the quantiles of each replication would be biased: that of few values is not that of many.) `None`
/// for fewer than two replications, and where an end lies beyond what was seen. `widen` is a factor on the interval of the
/// shares, 1 unless the number of replications was chosen by looking at them.
pub fn half_width(replications: &[&Histogram], together: &Histogram, p: f64, widen: f64) -> Option<f64> {
    if replications.len() < 2 {
        return None;
    }
    let quantile = together.quantile(p);
    let shares: Vec<f64> = replications.iter().map(|one| one.cdf(quantile)).collect();
    let half = widen * student_975(shares.len() - 1) * standard_error(&shares);
    let unseen = 1.0 / together.count().max(1) as f64;
    let ends = [p - half, p + half];
    let seen = ends[0] >= unseen && ends[1] <= 1.0 - unseen;
    seen.then(|| {
        let [low, high] = ends.map(|end| together.quantile(end).0 as f64);
        (high - quantile.0 as f64).max(quantile.0 as f64 - low)
    })
}

#[cfg(test)]
mod tests {
    use headrace_units::Nanos;

    use super::*;
    use crate::histogram::Segments;

    fn of(values: impl Iterator<Item = u64>) -> Histogram {
        let mut segments = Segments::default();
        values.for_each(|value| segments.record(Nanos(value)));
        segments.from(0)
    }

    #[test]
    fn replications_that_agree_leave_no_doubt_and_those_that_differ_do() {
        let same = of(1..=1000);
        let together = same.merged(&same);
        assert_eq!(half_width(&[&same, &same], &together, 0.5, 1.0), Some(0.0));
        let (fast, slow) = (of(1..=1000), of(11..=1010));
        let half = half_width(&[&fast, &slow], &fast.merged(&slow), 0.5, 1.0).unwrap();
        // The shares at the median, 506, are .506 and .496: a standard error of .005, and 12.7 of those on either side.
        assert!((62.0..66.0).contains(&half), "{half}");
    }

    #[test]
    fn a_quantile_whose_end_was_never_seen_has_no_interval() {
        let (fast, slow) = (of(1..=1000), of(11..=1010));
        assert_eq!(half_width(&[&fast, &slow], &fast.merged(&slow), 0.99, 1.0), None);
        assert_eq!(half_width(&[&fast], &fast, 0.5, 1.0), None);
    }
}
