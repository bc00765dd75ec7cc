//! First come, first served.

/// In order of arrival.
pub fn order(number: usize) -> Vec<usize> {
    (0..number).collect()
}
