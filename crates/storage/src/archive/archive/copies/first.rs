//! The copy of the first pool.

use super::{Readiness, TapeCopy};

/// The first of them.
pub fn choose<'c>(mut copies: impl Iterator<Item = &'c (TapeCopy, Readiness)>) -> TapeCopy {
    copies.next().expect("a file on tape has a copy").0
}
