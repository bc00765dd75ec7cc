//! Laws of service time.

use num_complex::Complex64;

use crate::grid::Grid;

/// The law of a time that is never negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Constant.
    Fixed(f64),
    /// The sum of `stages` exponential times; their mean is `mean` together. One stage: the exponential law.
    Erlang {
        /// How many exponential stages.
        stages: u32,
        /// The mean of the sum.
        mean: f64,
    },
    /// Uniform between two times.
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

    /// The Erlang law with this number of stages.
    pub fn erlang(stages: u32, mean: f64) -> Self {
        Self::Erlang { stages, mean }
    }

    /// One of several laws, each with its probability; they sum to one. Tabulated ones make one table.
    pub fn mixed(mut parts: Vec<(f64, Self)>) -> Self {
        if parts.len() == 1 {
            return parts.remove(0).1;
        }
        let mixture = Self::Mixture(parts);
        let tabulated = |law: &Self| matches!(law, Self::Grid(_));
        match &mixture {
            Self::Mixture(parts) if parts.iter().all(|(_, law)| tabulated(law)) => {
                Self::Grid(Grid::tabulate(mixture.most(), |t| mixture.cdf(t)))
            }
            _ => mixture,
        }
    }

    /// The law of the largest of independent times, given laws and the number of times of each, tabulated.
    pub fn largest(laws: &[(u32, Self)]) -> Self {
        let most = laws.iter().map(|(_, law)| law.most()).fold(0.0, f64::max);
        let below = |t| laws.iter().map(|(many, law)| libm::pow(law.cdf(t), f64::from(*many))).product();
        Self::Grid(Grid::tabulate(most, below))
    }

    /// Whether this is the exponential law.
    pub fn is_exponential(&self) -> bool {
        matches!(self, Self::Erlang { stages: 1, .. })
    }

    /// The first three moments: `E[X]`, `E[X²]`, `E[X³]`.
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

    /// `E[e^−sX]`.
    pub fn transform(&self, s: Complex64) -> Complex64 {
        match self {
            Self::Fixed(t) => exp(-s * *t),
            Self::Erlang { stages, mean } => (1.0 + s * (mean / f64::from(*stages))).powi(-(*stages as i32)),
            Self::Uniform { from, to } => (exp(-s * *from) - exp(-s * *to)) / (s * (to - from)),
            Self::Grid(grid) => grid.transform(s),
            Self::Mixture(parts) => parts.iter().map(|(p, law)| law.transform(s) * *p).sum(),
        }
    }

    /// A value that is (all but) never exceeded: the chance is below 10⁻¹² where there is no largest value.
    pub fn most(&self) -> f64 {
        match self {
            Self::Fixed(t) => *t,
            Self::Erlang { stages, mean } => {
                let n = f64::from(*stages);
                mean * (1.0 + 9.0 / n.sqrt() + 30.0 / n)
            }
            Self::Uniform { to, .. } => *to,
            Self::Grid(grid) => grid.most(),
            Self::Mixture(parts) => parts.iter().map(|(_, law)| law.most()).fold(0.0, f64::max),
        }
    }
}

/// P(sum of n unit exponentials ≤ x) = 1 − Σ_{i<n} e^−x xⁱ/i!, the terms by their logarithms, for many stages make large
/// powers.
fn erlang_cdf(stages: u32, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (log_x, mut log_term, mut sum) = (libm::log(x), -x, 0.0);
    for i in 0..stages {
        sum += libm::exp(log_term);
        log_term += log_x - libm::log(f64::from(i + 1));
    }
    (1.0 - sum).clamp(0.0, 1.0)
}

/// e^z. Not the one that comes with complex numbers: that takes the platform's functions, which differ between machines.
pub(crate) fn exp(z: Complex64) -> Complex64 {
    let (sin, cos) = libm::sincos(z.im);
    Complex64::new(cos, sin) * libm::exp(z.re)
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

    /// With a thousand stages the powers of x leave the range of numbers; the law does not.
    #[test]
    fn many_stages_are_no_trouble() {
        let law = Law::erlang(1000, 1.0);
        assert!((law.cdf(1.0) - 0.5042).abs() < 1e-3, "{}", law.cdf(1.0));
        let largest = Law::largest(&[(2, law.clone())]);
        assert!((largest.mean() - (1.0 + 0.5642 * law.sd())).abs() < 1e-3, "{}", largest.mean());
    }

    #[test]
    fn the_largest_of_k_exponentials_has_the_harmonic_mean() {
        let largest = Law::largest(&[(4, Law::exponential(1.0))]);
        assert!((largest.mean() - (1.0 + 0.5 + 1.0 / 3.0 + 0.25)).abs() < 1e-3, "{}", largest.mean());
    }
}
