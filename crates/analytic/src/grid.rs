//! A distribution given by its cdf at equal steps.

use num_complex::Complex64;

use crate::complex::exp;

/// A distribution on [0, (n − 1)·step]: its cdf at 0, step, 2·step …, straight in between.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    step: f64,
    cdf: Vec<f64>,
    /// The probability of each step: what the cdf grows by.
    masses: Vec<f64>,
}

/// Number of steps of a grid: quantiles are then good to about 1/2000 of the largest value, moments far better.
const STEPS: usize = 2000;

impl Grid {
    /// The distribution whose cdf is `cdf` and which never exceeds `most`.
    pub fn tabulate(most: f64, cdf: impl Fn(f64) -> f64) -> Self {
        // A value that is always zero is as good as always below a billionth.
        let step = most.max(1e-9) / STEPS as f64;
        let mut table: Vec<f64> = (0..=STEPS).map(|i| cdf(i as f64 * step).clamp(0.0, 1.0)).collect();
        table[STEPS] = 1.0;
        let masses = table.windows(2).map(|pair| pair[1] - pair[0]).collect();
        Self { step, cdf: table, masses }
    }

    /// The sum of this and an independent uniform variable on [0, `width`].
    pub fn plus_uniform(&self, width: f64) -> Self {
        // F_{X+U}(t) = (1/w) ∫_{t−w}^{t} F_X: exact for a piecewise linear F_X.
        let integral = self.integral();
        let integral_to = |t: f64| {
            let place = t / self.step;
            let i = (place.max(0.0) as usize).min(self.cdf.len() - 1);
            let past = t.max(0.0) - i as f64 * self.step;
            let slope = self.cdf.get(i + 1).map_or(0.0, |next| (next - self.cdf[i]) / self.step);
            integral[i] + past * (self.cdf[i] + 0.5 * slope * past)
        };
        Self::tabulate(self.most() + width, |t| (integral_to(t) - integral_to(t - width)) / width)
    }

    /// The sum of this and the constant `by`.
    pub fn shifted(&self, by: f64) -> Self {
        if by == 0.0 { self.clone() } else { Self::tabulate(self.most() + by, |t| self.cdf(t - by)) }
    }

    /// ∫₀ F at each point of the grid.
    fn integral(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let steps = self.cdf.windows(2).map(|pair| {
            sum += 0.5 * self.step * (pair[0] + pair[1]);
            sum
        });
        std::iter::once(0.0).chain(steps).collect()
    }

    /// No value exceeds this.
    pub fn most(&self) -> f64 {
        self.step * (self.cdf.len() - 1) as f64
    }

    /// P(X ≤ t).
    pub fn cdf(&self, t: f64) -> f64 {
        let place = t / self.step;
        if place < 0.0 {
            return 0.0;
        }
        let i = place as usize;
        match self.cdf.get(i + 1) {
            Some(next) => self.cdf[i] + (place - i as f64) * (next - self.cdf[i]),
            None => 1.0,
        }
    }

    /// The first three moments: `E[X]`, `E[X²]`, `E[X³]`.
    pub fn moments(&self) -> [f64; 3] {
        let mut moments = [0.0; 3];
        for (i, mass) in self.masses.iter().enumerate() {
            let (a, b) = (i as f64 * self.step, (i + 1) as f64 * self.step);
            moments[0] += mass * (a + b) / 2.0;
            moments[1] += mass * (a * a + a * b + b * b) / 3.0;
            moments[2] += mass * (a + b) * (a * a + b * b) / 4.0;
        }
        moments
    }

    /// `E[e^−sX]`.
    pub fn transform(&self, s: Complex64) -> Complex64 {
        let x = s * self.step;
        let turn = exp(-x);
        // (1 − e^−x)/x, by its series where the quotient would lose its digits.
        let spread =
            if x.norm() < 1e-3 { 1.0 - x / 2.0 + x * x / 6.0 - x * x * x / 24.0 } else { (1.0 - turn) / x };
        self.cdf[0] + spread * polynomial(&self.masses, turn)
    }
}

/// Number of Horner's schemes that run side by side, each on every eighth coefficient: one alone waits for its own products.
const LANES: usize = 8;

/// Σ `coefficients[k]`·`z`^k.
fn polynomial(coefficients: &[f64], z: Complex64) -> Complex64 {
    let leap = z.powu(LANES as u32);
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    let (blocks, rest) = coefficients.as_chunks::<LANES>();
    let last: [f64; LANES] = std::array::from_fn(|lane| rest.get(lane).copied().unwrap_or(0.0));
    for block in std::iter::once(&last).chain(blocks.iter().rev()) {
        for lane in 0..LANES {
            let turned = re[lane] * leap.re - im[lane] * leap.im;
            im[lane] = re[lane] * leap.im + im[lane] * leap.re;
            re[lane] = turned + block[lane];
        }
    }
    (0..LANES).rev().fold(Complex64::new(0.0, 0.0), |sum, lane| sum * z + Complex64::new(re[lane], im[lane]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_give_the_polynomial(coefficients in prop::collection::vec(-1.0f64..1.0, 0..50), re in -0.7f64..0.7, im in -0.7f64..0.7) {
            let z = Complex64::new(re, im);
            let zero = Complex64::new(0.0, 0.0);
            let expected = coefficients.iter().rev().fold(zero, |sum, coefficient| sum * z + coefficient);
            prop_assert!((polynomial(&coefficients, z) - expected).norm() < 1e-12);
        }
    }

    #[test]
    fn the_sum_of_two_uniforms_is_the_triangle() {
        let sum = Grid::tabulate(2.0, |t| t / 2.0).plus_uniform(2.0);
        assert!((sum.cdf(1.0) - 0.125).abs() < 1e-5);
        assert!((sum.cdf(2.0) - 0.5).abs() < 1e-6);
        let [mean, second, third] = sum.moments();
        assert!((mean - 2.0).abs() < 1e-6 && (second - 4.0 - 2.0 / 3.0).abs() < 1e-5, "{mean} {second}");
        assert!((third - 12.0).abs() < 1e-4, "{third}");
        let s = Complex64::new(0.7, 1.3);
        let half = (1.0 - (-s * 2.0).exp()) / (s * 2.0);
        assert!((sum.transform(s) - half * half).norm() < 1e-6);
    }
}
