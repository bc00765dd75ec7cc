//! The copy that is likely to be read soonest.

use super::{Readiness, TapeCopy};

/// The first that is mounted and that no stream writes, or else where least waits; one that is being written, if all are.
pub fn choose<'c>(copies: impl Iterator<Item = &'c (TapeCopy, Readiness)>) -> TapeCopy {
    let waits = |readiness: &Readiness| if readiness.is_mounted { -1.0 } else { readiness.waiting };
    let soonest =
        copies.min_by(|(_, a), (_, b)| a.is_kept.cmp(&b.is_kept).then(waits(a).total_cmp(&waits(b))));
    soonest.expect("a file on tape has a copy").0
}
