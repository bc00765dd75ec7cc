//! Earliest deadline first.

use headrace_units::Nanos;

use super::Rank;

/// By when it is due; those without a deadline by time of arrival, after all others.
pub fn rank(since: Nanos, within: Option<Nanos>) -> Rank {
    match within {
        Some(within) => (0, since.0.saturating_add(within.0)),
        None => (1, since.0),
    }
}
