//! Earliest deadline first.

use headrace_units::Nanos;

use super::Rank;

/// By when it is due; those without a deadline, [`Nanos::MAX`], by time of arrival, after all others.
pub fn rank(since: Nanos, within: Nanos) -> Rank {
    (since.0.saturating_add(within.0), since.0)
}
