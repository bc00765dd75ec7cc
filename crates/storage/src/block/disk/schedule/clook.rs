//! Cyclic LOOK: the arm sweeps inwards only, and goes back to the outermost request.

use super::Waiting;
use crate::block::disk::layout::Track;

/// The nearest at or inside the arm; where there is none, the outermost.
pub fn next(held: &[Waiting], arm: Track) -> usize {
    let order = |waiting: &Waiting| (waiting.track.cylinder < arm.cylinder, waiting.track.cylinder);
    held.iter().enumerate().min_by_key(|(_, waiting)| order(waiting)).map_or(0, |(at, _)| at)
}
