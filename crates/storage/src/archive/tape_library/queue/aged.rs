//! Priorities that grow with the time waited (accumulating priorities at one rate: Kleinrock, "A delay dependent queue discipline", 1964).

use headrace_units::Nanos;

use super::Rank;

/// All requests age alike, so the order of two never changes: each level of priority counts as an arrival that much later.
pub fn rank(priority: u8, since: Nanos, level: Nanos) -> Rank {
    (0, since.0.saturating_add(level.0.saturating_mul(u64::from(priority))))
}
