//! The queue for drives: which of the requests that wait gets a drive that is free. One policy, one file.

mod aged;
mod arrival;
mod deadline;
mod priority;

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drives::DriveRequest;

/// Which of the requests that wait gets a drive, where none is for its mounted cartridge. It is not taken from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriveQueue {
    /// The longest-waiting one.
    #[default]
    Arrival,
    /// The one with the smallest `priority`; of equals the longest-waiting one.
    Priority,
    /// As `priority`, but each of these times that a request has waited counts as one level of priority.
    Aged(Nanos),
    /// The one that is due first, by its `within` (earliest deadline first); those without one come last.
    Deadline,
}

/// Rank of a request: the smallest is served first. It does not change while the request waits.
pub(super) type Rank = (u64, u64);

impl DriveQueue {
    pub(super) fn rank(self, request: &DriveRequest) -> Rank {
        match self {
            Self::Arrival => arrival::rank(request.since),
            Self::Priority => priority::rank(request.priority, request.since),
            Self::Aged(level) => aged::rank(request.priority, request.since, level),
            Self::Deadline => deadline::rank(request.since, request.within),
        }
    }

    /// Returns true if it heeds the priority of a request.
    pub(super) fn has_priorities(self) -> bool {
        matches!(self, Self::Priority | Self::Aged(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Nanos = Nanos(3_600_000_000_000);

    /// A request of priority 2 that came an hour before one of priority 1 is its equal where an hour counts as a level.
    #[test]
    fn each_hour_of_waiting_counts_as_a_level() {
        let at = |priority, hours: u64| aged::rank(priority, Nanos(hours * HOUR.0), HOUR);
        assert_eq!(at(2, 0), at(1, 1));
        assert!(at(2, 0) < at(1, 2) && at(1, 0) < at(2, 0));
    }

    #[test]
    fn priorities_come_before_arrivals_and_deadlines_before_those_without() {
        assert!(priority::rank(1, HOUR) < priority::rank(2, Nanos::ZERO));
        assert!(priority::rank(1, Nanos::ZERO) < priority::rank(1, HOUR));
        assert!(deadline::rank(HOUR, HOUR) < deadline::rank(Nanos::ZERO, Nanos(3 * HOUR.0)));
        assert!(deadline::rank(HOUR, Nanos(9 * HOUR.0)) < deadline::rank(Nanos::ZERO, Nanos::MAX));
        assert!(deadline::rank(Nanos::ZERO, Nanos::MAX) < deadline::rank(HOUR, Nanos::MAX));
        assert!(arrival::rank(Nanos::ZERO) < arrival::rank(HOUR));
    }
}
