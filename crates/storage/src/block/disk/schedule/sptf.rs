//! Shortest positioning time first, aged or not (Jacobson and Wilkes 1991; Seltzer, Chen and Ousterhout 1990).

use headrace_units::Nanos;

use super::Waiting;

/// The one whose `positioning` is shortest, less `weight` times what it has waited.
pub fn next(held: &[Waiting], positioning: impl Fn(&Waiting) -> f64, now: Nanos, weight: f64) -> usize {
    let cost = |waiting: &Waiting| positioning(waiting) - weight * (now - waiting.since).0 as f64;
    let costs = held.iter().map(cost).enumerate();
    costs.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at)
}
