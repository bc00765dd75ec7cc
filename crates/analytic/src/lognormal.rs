//! The lognormal distribution.

use num_complex::Complex64;

use crate::complex::exp;

/// A time whose logarithm is normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lognormal {
    mu: f64,
    sigma: f64,
}

/// Beyond this many standard deviations nothing is left that a sum in doubles would notice.
const REACH: f64 = 9.0;
/// Largest turn of the path of integration, in σ: its Gaussian then grows by e^(5.5²/2), seven digits of sixteen.
const TURN: f64 = 5.5;

impl Lognormal {
    /// The distribution with this mean and coefficient of variation: σ² = ln(1 + cv²), μ = ln mean − σ²/2.
    pub fn new(mean: f64, cv: f64) -> Self {
        let variance = libm::log1p(cv * cv);
        Self { mu: libm::log(mean) - variance / 2.0, sigma: variance.sqrt() }
    }

    /// The first three moments: `E[Xⁿ]` = e^(nμ + n²σ²/2).
    pub fn moments(&self) -> [f64; 3] {
        [1.0, 2.0, 3.0].map(|n| libm::exp(n * self.mu + n * n * self.sigma * self.sigma / 2.0))
    }

    /// P(X ≤ t).
    pub fn cdf(&self, t: f64) -> f64 {
        if t <= 0.0 {
            return 0.0;
        }
        libm::erfc((self.mu - libm::log(t)) / self.sigma * std::f64::consts::FRAC_1_SQRT_2) / 2.0
    }

    /// The value that is exceeded with a probability of 10⁻¹²: 7.03 standard deviations above the median.
    pub fn most(&self) -> f64 {
        libm::exp(self.mu + 7.035 * self.sigma)
    }

    /// `E[e^−sX]` = ∫ φ(z) e^(−s e^(μ + σz)) dz, by the trapezoidal rule. Where `s` is nearly imaginary e^−sX turns fast, so z leaves the
    /// real line by as much as turns s·e^σz back; the integrand is entire, and the integral does not depend on the path. The rule's error
    /// falls with e^(−2πd/step), d the width of the strip in which the integrand is bounded (Trefethen and Weideman 2014).
    pub fn transform(&self, s: Complex64) -> Complex64 {
        let turn = libm::atan2(s.im, s.re).clamp(-TURN * self.sigma, TURN * self.sigma) / self.sigma;
        let step = (0.4 / self.sigma).min(0.25);
        let side = (REACH / step) as i32;
        let at = |k: i32| {
            let z = Complex64::new(f64::from(k) * step, -turn);
            exp(-z * z / 2.0 - s * exp(self.mu + self.sigma * z))
        };
        let sum: Complex64 = (-side..=side).map(at).sum();
        sum * (step / (2.0 * std::f64::consts::PI).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the plain integral over x by quantiles: 2·10⁵ of them, on which e^−sX turns by little.
    #[test]
    fn the_transform_is_the_integral() {
        for cv in [0.05, 0.3, 1.0, 3.0, 30.0] {
            let law = Lognormal::new(2.0, cv);
            for s in [Complex64::new(0.1, 0.0), Complex64::new(0.9, 2.0), Complex64::new(0.5, 7.7)] {
                let n = 200_000;
                let step = 18.0 / f64::from(n);
                let term = |k: i32| {
                    let z = (f64::from(k) + 0.5) * step - 9.0;
                    let x = libm::exp(law.mu + law.sigma * z);
                    exp(-s * x) * libm::exp(-z * z / 2.0)
                };
                let plain =
                    (0..n).map(term).sum::<Complex64>() * (step / (2.0 * std::f64::consts::PI).sqrt());
                assert!(
                    (law.transform(s) - plain).norm() < 1e-8,
                    "cv {cv}, s {s}: {} {plain}",
                    law.transform(s)
                );
            }
        }
    }

    #[test]
    fn mean_and_variation_are_those_asked_for() {
        let [mean, second, _] = Lognormal::new(8.0, 2.0).moments();
        assert!((mean - 8.0).abs() < 1e-12 && (second - 8.0 * 8.0 * 5.0).abs() < 1e-9, "{mean} {second}");
        let law = Lognormal::new(8.0, 2.0);
        assert!((law.cdf(law.most()) - 1.0).abs() < 2e-12);
        assert!((law.cdf(libm::exp(law.mu)) - 0.5).abs() < 1e-15, "half is below the median");
    }
}
