//! Priorities without preemption.

use headrace_units::Nanos;

use super::Rank;

/// By priority, and then by time of arrival.
pub fn rank(priority: u8, since: Nanos) -> Rank {
    (u64::from(priority), since.0)
}
