//! Comparison of numbers, for the tests of this crate and of those above it.

/// Asserts that a number differs from the expected one by at most `tolerance`.
#[track_caller]
pub fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, expected {expected} ± {tolerance}");
}

/// Asserts that a number differs from the expected one by at most this share of it, in percent.
#[track_caller]
pub fn close(found: f64, expected: f64, percent: f64, what: &str) {
    assert!((found / expected - 1.0).abs() * 100.0 <= percent, "{what}: {found}, expected {expected}");
}
