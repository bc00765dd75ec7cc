//! LOOK: the arm sweeps to and fro, as far as there is something to do.

use super::Waiting;
use crate::block::disk::layout::Track;

/// The nearest in the direction of the arm; where there is none, in the other, which is then the arm's.
pub fn next(held: &[Waiting], arm: Track, inwards: &mut bool) -> usize {
    nearest(held, arm, *inwards)
        .or_else(|| {
            *inwards = !*inwards;
            nearest(held, arm, *inwards)
        })
        .unwrap_or(0)
}

fn nearest(held: &[Waiting], arm: Track, inwards: bool) -> Option<usize> {
    let ahead = |waiting: &Waiting| match inwards {
        true => waiting.track.cylinder.checked_sub(arm.cylinder),
        false => arm.cylinder.checked_sub(waiting.track.cylinder),
    };
    let distances = held.iter().enumerate().filter_map(|(at, waiting)| Some((ahead(waiting)?, at)));
    distances.min().map(|(_, at)| at)
}
