//! The bounded Pareto distribution.

use num_complex::Complex64;

use crate::complex::exp;

/// A time between two bounds with a density proportional to x^(−shape − 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedPareto {
    shape: f64,
    from: f64,
    to: f64,
}

impl BoundedPareto {
    /// The distribution between `from` and `to`, both above zero; the smaller `shape`, the heavier its tail.
    pub fn new(shape: f64, from: f64, to: f64) -> Self {
        Self { shape, from, to }
    }

    /// (from/to)^shape: the part of the unbounded distribution that lies beyond `to`.
    fn beyond(&self) -> f64 {
        libm::pow(self.from / self.to, self.shape)
    }

    /// The first three moments: `E[Xⁿ]` = shape·fromⁿ · ∫₁^(to/from) y^(n − shape − 1) dy / (1 − beyond).
    pub fn moments(&self) -> [f64; 3] {
        let within = -libm::expm1(self.shape * libm::log(self.from / self.to));
        [1.0, 2.0, 3.0].map(|n| {
            let integral = power_integral(n - self.shape, libm::log(self.to / self.from));
            self.shape * libm::pow(self.from, n) * integral / within
        })
    }

    /// P(X ≤ t).
    pub fn cdf(&self, t: f64) -> f64 {
        if t <= self.from {
            return 0.0;
        }
        let below = 1.0 - libm::pow(self.from / t, self.shape);
        (below / (1.0 - self.beyond())).min(1.0)
    }

    /// The largest value.
    pub fn most(&self) -> f64 {
        self.to
    }

    /// `E[e^−sX]`: shape·(E(s·from) − beyond·E(s·to))/(1 − beyond), E the exponential integral of order shape + 1.
    pub fn transform(&self, s: Complex64) -> Complex64 {
        let (order, beyond) = (self.shape + 1.0, self.beyond());
        let [near, far] = [s * self.from, s * self.to].map(|z| exponential_integral(order, z));
        (near - far * beyond) * (self.shape / (1.0 - beyond))
    }
}

/// ∫₁^(e^log) y^(power − 1) dy = (e^(power·log) − 1)/power; log where the power is zero.
fn power_integral(power: f64, log: f64) -> f64 {
    let exponent = power * log;
    if exponent.abs() < 1e-12 { log } else { libm::expm1(exponent) / power }
}

/// From here on the continued fraction is used.
const NEAR: f64 = 2.0;
/// Terms of the series, whose k-th is below 2ᵏ/k!, and steps of the fraction, which needs some sixty at [`NEAR`].
const TERMS: u32 = 40;
const STEPS: u32 = 500;

/// ∫₁^∞ e^(−zt) t^(−order) dt for Re z > 0, order > 1. Up to the t at which |zt| = 2 by the power series of e^(−zt); from there on by
/// the continued fraction (Abramowitz and Stegun 1964, 5.1.22), evaluated by Lentz's method.
fn exponential_integral(order: f64, z: Complex64) -> Complex64 {
    let size = libm::hypot(z.re, z.im);
    if size >= NEAR {
        return fraction(order, z);
    }
    let stretch = NEAR / size;
    let log = libm::log(stretch);
    let mut power = Complex64::new(1.0, 0.0);
    let mut sum = Complex64::new(0.0, 0.0);
    for k in 0..TERMS {
        sum += power * power_integral(f64::from(k) + 1.0 - order, log);
        power *= -z / f64::from(k + 1);
    }
    sum + fraction(order, z * stretch) * libm::exp((1.0 - order) * log)
}

fn fraction(order: f64, z: Complex64) -> Complex64 {
    let mut b = z + order;
    let mut c = Complex64::new(1e300, 0.0);
    let mut d = 1.0 / b;
    let mut all = d;
    for i in 1..=STEPS {
        let i = f64::from(i);
        let a = -i * (order - 1.0 + i);
        b += 2.0;
        d = 1.0 / (d * a + b);
        c = b + a / c;
        let change = c * d;
        all *= change;
        if (change - 1.0).norm() < 1e-15 {
            break;
        }
    }
    all * exp(-z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(law: &BoundedPareto, of: impl Fn(f64) -> Complex64) -> Complex64 {
        // By quantiles of equal probability, the middle of each: smooth in the logarithm of x.
        let n = 400_000;
        let span = libm::log(law.to / law.from);
        let density = |x: f64| law.shape * libm::pow(law.from / x, law.shape) / (1.0 - law.beyond());
        let at = |k: i32| law.from * libm::exp((f64::from(k) + 0.5) / f64::from(n) * span);
        (0..n).map(|k| of(at(k)) * density(at(k))).sum::<Complex64>() * (span / f64::from(n))
    }

    #[test]
    fn the_transform_is_the_integral() {
        for shape in [0.4, 1.0, 1.5, 2.0, 3.0, 7.5] {
            let law = BoundedPareto::new(shape, 0.5, 300.0);
            for s in [Complex64::new(0.01, 0.0), Complex64::new(0.1, 1.9), Complex64::new(3.0, 40.0)] {
                let (found, wanted) = (law.transform(s), plain(&law, |x| exp(-s * x)));
                assert!((found - wanted).norm() < 1e-7, "shape {shape}, s {s}: {found} {wanted}");
            }
        }
    }

    /// Whole shapes, of which a moment is a logarithm, are no exception.
    #[test]
    fn moments_are_those_of_the_density() {
        for shape in [0.4, 1.0, 1.1, 2.0, 2.0 + 1e-13, 3.0, 5.0] {
            let law = BoundedPareto::new(shape, 0.5, 300.0);
            for (n, found) in law.moments().into_iter().enumerate() {
                let wanted = plain(&law, |x| libm::pow(x, n as f64 + 1.0).into()).re;
                assert!((found / wanted - 1.0).abs() < 1e-8, "shape {shape}, moment {n}: {found} {wanted}");
            }
            assert_eq!((law.cdf(0.5), law.cdf(300.0), law.cdf(1e9)), (0.0, 1.0, 1.0));
        }
    }
}
