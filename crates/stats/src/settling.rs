//! Replications begin empty and settle: whether they still move, and how much the beginning may weigh in what is kept.

use crate::interval::{mean, standard_error, student_975, variance, variance_limit};

/// Shares of a replication that may be left out at its beginning, the smallest first. The smallest leaves ten times as much as
/// it takes (Banks, Carson, Nelson, Nicol, *Discrete-Event System Simulation*, 11.5.2).
pub const CUTS: [f64; 3] = [1.0 / 11.0, 0.25, 0.5];

/// A bias of this share of the standard error costs a 95 % interval less than 0.2 % of its coverage.
const NEGLIGIBLE: f64 = 0.1;

/// The means of quarters estimate a correlation time only if quarters are several times as long.
const LONGEST: f64 = 1.0 / 16.0;

/// Returns true if replications still move, judged by the means of the four quarters that each kept: if the first quarter differs
/// from the other three, in a paired t-test at 5 %.
///
/// A cut found from the averages of replications does not take the excursions of one of them for a transient (Welch 1983).
pub fn moves(quarters: &[[f64; 4]]) -> bool {
    if quarters.len() < 2 {
        return false;
    }
    let steps: Vec<f64> = quarters.iter().map(|[first, rest @ ..]| first - mean(rest)).collect();
    mean(&steps).abs() > student_975(steps.len() - 1) * standard_error(&steps)
}

/// The correlation time of a replication's values, as a share of their number: by how much the means of its quarters vary more
/// than a single value. Of a correlation that decays as exp(−t/τ), a mean of n values has the variance 2τ/n of one value.
pub fn settling(quarters: &[f64; 4], sd: f64) -> f64 {
    if sd > 0.0 { variance(quarters) / (8.0 * sd * sd) } else { 0.0 }
}

/// Returns true if the remaining bias of the beginning is negligible beside the chance in the mean of all replications.
///
/// Of each replication `means` has the mean, `settlings` its [`settling`]; of what each kept, the share `left_out` was left out
/// before it. A system that begins empty is off by its whole mean at most, and that decays as correlations do: with τ as a share
/// of what is kept, τ·exp(−left_out/τ) of the mean remains. τ is taken at its upper 95 % limit, since settlings are estimates.
/// False for fewer than two replications, and where τ is longer than a sixteenth of what is kept: then it is not known.
pub fn is_settled(means: &[f64], settlings: &[f64], left_out: f64) -> bool {
    if means.len() < 2 {
        return false;
    }
    let longest = mean(settlings) * variance_limit(3 * settlings.len());
    if longest > LONGEST {
        return false;
    }
    let remains = if longest > 0.0 { longest * libm::exp(-left_out / longest) } else { 0.0 };
    mean(means).abs() * remains <= NEGLIGIBLE * standard_error(means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_quarter_that_differs_in_every_replication_moves() {
        let steady = [[5.0, 4.0, 6.0, 5.0], [4.0, 5.0, 4.0, 6.0], [6.0, 5.0, 5.0, 5.0], [5.0, 6.0, 4.0, 5.0]];
        assert!(!moves(&steady));
        let filling = steady.map(|[first, rest @ ..]| [first - 3.0, rest[0], rest[1], rest[2]]);
        assert!(moves(&filling));
        assert!(!moves(&filling[..1]), "one run alone shows no chance to compare with");
        assert!(!moves(&[[1.0; 4]; 3]), "what never varies does not move");
    }

    #[test]
    fn independent_values_settle_at_once() {
        // The variance of a mean of 100 values is a hundredth of one's: τ = 1/2 of a value, of 400.
        let tenth = libm::sqrt(1.5) / 10.0;
        let quarters = [1.0 - tenth, 1.0 + tenth, 1.0, 1.0];
        assert!((settling(&quarters, 1.0) - 0.5 / 400.0).abs() < 1e-12);
        assert_eq!(settling(&[1.0; 4], 0.0), 0.0);
    }

    #[test]
    fn a_bias_is_negligible_only_beside_the_chance_there_is() {
        let (wide, narrow) = ([0.9, 1.1, 1.0, 1.0], [0.9999, 1.0001, 1.0, 1.0]);
        let settlings = [0.01; 4];
        assert!(is_settled(&wide, &settlings, 0.1));
        assert!(!is_settled(&narrow, &settlings, 0.1));
        assert!(is_settled(&narrow, &settlings, 1.0), "half of the run left out is enough");
        assert!(!is_settled(&wide, &[0.2; 4], 0.1), "a tenth of the run is less than a correlation time");
        assert!(!is_settled(&wide[..1], &settlings[..1], 0.1));
    }
}
