//! Effective number of independent values among the correlated batches of one run.
//!
//! This is judged from ranks. A long busy period raises the mean, the variance and the estimated correlation together, so a rule
//! that reads values trusts the runs that had none of them: those whose mean is low and whose interval is narrow. In ranks an
//! excursion counts by its length alone.

use crate::interval::{GROUPS, mean, merged, variance, variance_limit};

/// In how many parts a group is divided to see how much varies within it.
const QUARTERS: usize = 4;

/// Independent batches, by rank, for one degree of freedom. Responses of a busy queue are correlated for longer in their values than
/// in their ranks, and skewed, so it takes more than the 30 that are enough for independent values.
const PER_GROUP: f64 = 80.0;

/// Batches that count for this share of their number are independent themselves, and so are their groups.
const INDEPENDENT_SHARE: f64 = 0.6;

/// Groups must count for this many independent batches by value too: below, one excursion longer than a group makes the variance,
/// which ranks do not show.
const LEAST_BY_VALUE: f64 = 3.0;

/// The number of groups of 80 independent batches, at most 32; 0 where groups are too short to judge by, or drift apart.
pub(crate) fn independent_groups(batch_means: &[f64], groups: &[f64]) -> usize {
    if batch_means.len() < GROUPS * QUARTERS {
        return 0;
    }
    let by_rank = ranks(batch_means);
    let number = GROUPS as f64 * counts_for(&by_rank, &merged(&by_rank, GROUPS));
    if counts_for(batch_means, groups) < LEAST_BY_VALUE {
        0
    } else if number >= INDEPENDENT_SHARE * batch_means.len() as f64 {
        GROUPS
    } else {
        GROUPS.min((number / PER_GROUP) as usize)
    }
}

/// For how many independent values a group counts at least: by how much the quarters within groups vary, at the upper 95 % limit,
/// and the groups, at the lower one.
fn counts_for(values: &[f64], groups: &[f64]) -> f64 {
    let size = values.len() / GROUPS;
    let quarters = within_groups(values, size) / QUARTERS as f64 * variance_limit(GROUPS * (QUARTERS - 1));
    let varies = quarters.max(variance(groups) / variance_limit(GROUPS - 1));
    if varies > 0.0 { variance(values) / varies } else { f64::INFINITY }
}

/// The variance of the quarters of groups of `size` values about the mean of their group.
fn within_groups(values: &[f64], size: usize) -> f64 {
    let rest = values.len() - size * GROUPS;
    let groups = values[rest..].chunks_exact(size);
    mean(&groups.map(|group| variance(&merged(group, QUARTERS))).collect::<Vec<_>>())
}

/// The rank of each value; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        equal.iter().for_each(|&at| ranks[at] = first as f64 + (equal.len() - 1) as f64 / 2.0);
        first += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups_of(values: &[f64]) -> usize {
        independent_groups(values, &merged(values, GROUPS))
    }

    /// Numbers in [0, 1) that fill it evenly and do not follow one another.
    fn scattered(n: usize) -> Vec<f64> {
        (0..n as u32)
            .map(|i| {
                f64::from(i.wrapping_mul(2_654_435_769).reverse_bits().wrapping_mul(0x9e37_79b1))
                    / 4_294_967_296.0
            })
            .collect()
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [1.5, 0.0, 1.5, 3.0]);
    }

    #[test]
    fn independent_and_constant_values_make_all_groups_and_few_make_none() {
        assert_eq!(groups_of(&scattered(4096)), GROUPS);
        assert_eq!(groups_of(&[7.0; 1000]), GROUPS);
        assert_eq!(groups_of(&scattered(127)), 0);
    }

    #[test]
    fn values_that_stay_for_a_while_make_fewer_groups() {
        let held: Vec<f64> = scattered(256).into_iter().flat_map(|value| [value; 16]).collect();
        assert!((1..5).contains(&groups_of(&held)), "{}", groups_of(&held));
    }

    #[test]
    fn one_excursion_longer_than_a_group_is_seen_in_the_values() {
        let mut values = scattered(4096);
        values[1000..1200].iter_mut().for_each(|value| *value += 1000.0);
        assert_eq!(groups_of(&values), 0);
    }
}
