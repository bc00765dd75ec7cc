//! Two response times of the same request: the measured one and the simulated one.

use headrace_units::Nanos;

use crate::series::Series;
use crate::tally::Tally;

/// Measured and simulated response times, request by request, in flat memory.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The measured ones.
    pub measured: Series,
    /// The simulated ones.
    pub simulated: Series,
    squared_errors: f64,
    products: f64,
}

impl Pairs {
    /// Adds a request.
    #[inline]
    pub fn record(&mut self, measured: Nanos, simulated: Nanos) {
        let (x, y) = (measured.0 as f64, simulated.0 as f64);
        self.measured.record(measured);
        self.simulated.record(simulated);
        self.squared_errors += (x - y) * (x - y);
        self.products += x * y;
    }

    /// The root mean square of simulated − measured, in ns, over all of `pairs`; zero where there are none.
    pub fn rms_ns(pairs: &[&Self]) -> f64 {
        let squares: f64 = pairs.iter().map(|pairs| pairs.squared_errors).sum();
        (squares / Self::count(pairs).max(1.0)).sqrt()
    }

    /// Pearson's correlation of measured and simulated over all of `pairs`; `None` where one of them does not vary.
    pub fn correlation(pairs: &[&Self]) -> Option<f64> {
        let all =
            |of: fn(&Self) -> &Tally| Tally::all(&pairs.iter().map(|pairs| of(pairs)).collect::<Vec<_>>());
        let (x, y) = (all(|pairs| pairs.measured.tally()), all(|pairs| pairs.simulated.tally()));
        let products: f64 = pairs.iter().map(|pairs| pairs.products).sum();
        let covariance = products / Self::count(pairs).max(1.0) - x.mean_ns() * y.mean_ns();
        let spread = x.sd_ns() * y.sd_ns();
        (spread > 0.0).then(|| covariance / spread)
    }

    fn count(pairs: &[&Self]) -> f64 {
        pairs.iter().map(|pairs| pairs.measured.tally().count() as f64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_correlation_are_by_request() {
        let mut pairs = Pairs::default();
        for (measured, simulated) in [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)] {
            pairs.record(Nanos::from_ms(measured), Nanos::from_ms(simulated));
        }
        assert!((Pairs::correlation(&[&pairs]).unwrap() - 1.0).abs() < 1e-9);
        assert!((Pairs::rms_ns(&[&pairs, &pairs]) - (14.0f64 / 3.0).sqrt() * 1e6).abs() < 1e-3);
        assert_eq!(Pairs::correlation(&[]), None);
    }
}
