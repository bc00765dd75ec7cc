//! Shortest positioning time first, aged or not (Jacobson and Wilkes 1991; Seltzer, Chen and Ousterhout 1990).

use headrace_units::Nanos;

use super::Waiting;
use crate::disk::drive::Drive;

/// The one whose data is under the head soonest, less `weight` times what it has waited.
pub fn next(held: &[Waiting], drive: &Drive, now: Nanos, weight: f64) -> usize {
    let cost = |waiting: &Waiting| {
        drive.positioning_ns(now, &waiting.request) - weight * (now - waiting.since).0 as f64
    };
    let costs = held.iter().map(cost).enumerate();
    costs.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at)
}
