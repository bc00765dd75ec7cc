//! Shortest seek time first.

use super::Waiting;
use crate::block::disk::layout::Track;

/// The nearest; of those equally near the one that came first.
pub fn next(held: &[Waiting], arm: Track) -> usize {
    let distance = |waiting: &Waiting| waiting.track.cylinder.abs_diff(arm.cylinder);
    held.iter().enumerate().min_by_key(|(_, waiting)| distance(waiting)).map_or(0, |(at, _)| at)
}
