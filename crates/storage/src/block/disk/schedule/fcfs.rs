//! First come, first served.

/// The first.
pub fn next() -> usize {
    0
}
