//! First come, first served.

use headrace_units::Nanos;

use super::Rank;

/// By time of arrival.
pub fn rank(since: Nanos) -> Rank {
    (0, since.0)
}
