//! Summary of values seen one at a time: count, sum, spread, maximum.

use headrace_units::Nanos;

/// Count, sum, sum of squares and maximum of spans of time. The sum is an exact integer, so that identities such as
/// Little's law can be checked to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    count: u64,
    sum_ns: u128,
    sum_squares: f64,
    max: Nanos,
}

impl Tally {
    /// Adds one span.
    #[inline]
    pub fn record(&mut self, span: Nanos) {
        self.count += 1;
        self.sum_ns += u128::from(span.0);
        self.sum_squares += span.ns() * span.ns();
        self.max = self.max.max(span);
    }

    /// Returns the number of recorded spans.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The mean in nanoseconds; zero when nothing was recorded.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// The standard deviation in nanoseconds (divisor n); zero when nothing was recorded.
    pub fn sd_ns(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean_ns();
        (self.sum_squares / self.count as f64 - mean * mean).max(0.0).sqrt()
    }

    /// The largest span recorded.
    pub fn max(&self) -> Nanos {
        self.max
    }

    /// All of them together.
    pub fn all(tallies: &[&Self]) -> Self {
        tallies.iter().fold(Self::default(), |sum, tally| Self {
            count: sum.count + tally.count,
            sum_ns: sum.sum_ns + tally.sum_ns,
            sum_squares: sum.sum_squares + tally.sum_squares,
            max: sum.max.max(tally.max),
        })
    }

    /// Returns the values recorded since `earlier`, a copy of this tally taken before. The maximum is that of the whole.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            count: self.count - earlier.count,
            sum_ns: self.sum_ns - earlier.sum_ns,
            sum_squares: self.sum_squares - earlier.sum_squares,
            max: self.max,
        }
    }
}
