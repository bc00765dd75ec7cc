//! Laws of service time.

use num_complex::Complex64;

use crate::grid::Grid;

/// The law of a time that is never negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always this.
    Fixed(f64),
    /// The sum of `stages` exponential times; their mean is `mean` together. One stage: the exponential law.
    Erlang {
        /// How many exponential stages.
        stages: u32,
        /// The mean of the sum.
        mean: f64,
    },
    /// Equally likely anywhere in between.
    Uniform {
        /// The least value.
        from: f64,
        /// The largest value.
        to: f64,
    },
    /// Given by its cdf.
    Grid(Grid),
    /// One of several, each with its probability; they sum to one.
    Mixture(Vec<(f64, Law)>),
}

impl Law {
    /// The exponential law.
    pub fn exponential(mean: f64) -> Self {
        Self::Erlang { stages: 1, mean }
    }

    /// The Erlang law of so many stages.
    pub fn erlang(stages: u32, mean: f64) -> Self {
        Self::Erlang { stages, mean }
    }

    /// The law of the largest of independent times, tabulated.
    pub fn largest(laws: &[&Self]) -> Self {
        let most = laws.iter().map(|law| law.most()).fold(0.0, f64::max);
        Self::Grid(Grid::tabulate(most, |t| laws.iter().map(|law| law.cdf(t)).product()))
    }

    /// Whether this is the exponential law.
    pub fn is_exponential(&self) -> bool {
        matches!(self, Self::Erlang { stages: 1, .. })
    }

    /// E[X], E[X²], E[X³].
    pub fn moments(&self) -> [f64; 3] {
        match self {
            Self::Fixed(t) => [*t, t * t, t * t * t],
            Self::Erlang { stages, mean } => {
                let (n, stage) = (f64::from(*stages), mean / f64::from(*stages));
                [*mean, n * (n + 1.0) * stage * stage, n * (n + 1.0) * (n + 2.0) * stage * stage * stage]
            }
            Self::Uniform { from: a, to: b } => {
                [(a + b) / 2.0, (a * a + a * b + b * b) / 3.0, (a + b) * (a * a + b * b) / 4.0]
            }
            Self::Grid(grid) => grid.moments(),
            Self::Mixture(parts) => parts.iter().fold([0.0; 3], |sum, (p, law)| {
                let [a, b, c] = law.moments();
                [sum[0] + p * a, sum[1] + p * b, sum[2] + p * c]
            }),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.moments()[0]
    }

    /// The standard deviation.
    pub fn sd(&self) -> f64 {
        let [mean, second, _] = self.moments();
        (second - mean * mean).max(0.0).sqrt()
    }

    /// P(X ≤ t).
    pub fn cdf(&self, t: f64) -> f64 {
        match self {
            Self::Fixed(at) => f64::from(t >= *at),
            Self::Erlang { stages, mean } => erlang_cdf(*stages, t * f64::from(*stages) / mean),
            Self::Uniform { from, to } => ((t - from) / (to - from)).clamp(0.0, 1.0),
            Self::Grid(grid) => grid.cdf(t),
            Self::Mixture(parts) => parts.iter().map(|(p, law)| p * law.cdf(t)).sum(),
        }
    }

    /// E[e^−sX].
    pub fn transform(&self, s: Complex64) -> Complex64 {
        match self {
            Self::Fixed(t) => (-s * *t).exp(),
            Self::Erlang { stages, mean } => (1.0 + s * (mean / f64::from(*stages))).powi(-(*stages as i32)),
            Self::Uniform { from, to } => ((-s * *from).exp() - (-s * *to).exp()) / (s * (to - from)),
            Self::Grid(grid) => grid.transform(s),
            Self::Mixture(parts) => parts.iter().map(|(p, law)| law.transform(s) * *p).sum(),
        }
    }

    /// A value that is (all but) never exceeded: the chance is below 10⁻¹² where there is no largest value.
    pub fn most(&self) -> f64 {
        match self {
            Self::Fixed(t) => *t,
            Self::Erlang { stages, mean } => mean * (30.0 + f64::from(*stages)) / f64::from(*stages).sqrt(),
            Self::Uniform { to, .. } => *to,
            Self::Grid(grid) => grid.most(),
            Self::Mixture(parts) => parts.iter().map(|(_, law)| law.most()).fold(0.0, f64::max),
        }
    }
}

/// P(sum of n unit exponentials ≤ x) = 1 − e^−x Σ_{i<n} xⁱ/i!.
fn erlang_cdf(stages: u32, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for i in 0..stages {
        sum += term;
        term *= x / f64::from(i + 1);
    }
    (1.0 - libm::exp(-x) * sum).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_and_moments_belong_to_the_cdf() {
        let laws = [
            Law::erlang(3, 2.0),
            Law::Uniform { from: 1.0, to: 4.0 },
            Law::Mixture(vec![(0.25, Law::exponential(1.0)), (0.75, Law::erlang(2, 3.0))]),
        ];
        for law in laws {
            let grid = Grid::tabulate(law.most(), |t| law.cdf(t));
            for (exact, tabulated) in law.moments().iter().zip(grid.moments()) {
                assert!((exact / tabulated - 1.0).abs() < 2e-3, "{law:?}: {exact} {tabulated}");
            }
            let s = Complex64::new(0.3, 0.8);
            assert!((law.transform(s) - grid.transform(s)).norm() < 2e-3, "{law:?}");
        }
    }

    #[test]
    fn the_largest_of_k_exponentials_has_the_harmonic_mean() {
        let largest = Law::largest(&[&Law::exponential(1.0); 4]);
        assert!((largest.mean() - (1.0 + 0.5 + 1.0 / 3.0 + 0.25)).abs() < 1e-3, "{}", largest.mean());
    }
}
