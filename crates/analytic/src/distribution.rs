//! Laws of service time.

use num_complex::Complex64;

use crate::bounded_pareto::BoundedPareto;
use crate::complex::exp;
use crate::empirical::Empirical;
use crate::grid::Grid;
use crate::lognormal::Lognormal;

/// The largest value over the mean from which on a table of equal steps would be coarse; it is 40 for an exponential time.
const FAR: f64 = 50.0;

/// The distribution of a time that is never negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Constant.
    Fixed(f64),
    /// The sum of `stages` exponential times; their mean is `mean` together. One stage: the exponential distribution.
    Erlang {
        /// Number of exponential stages.
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
    /// The logarithm is normal.
    Lognormal(Lognormal),
    /// A power law between two bounds.
    BoundedPareto(BoundedPareto),
    /// That of a sample.
    Empirical(Empirical),
    /// Given by its cdf.
    Grid(Grid),
    /// One of several, each with its probability; they sum to one.
    Mixture(Vec<(f64, Distribution)>),
}

/// The probability p of the shorter phase of a hyperexponential distribution with balanced means and a coefficient of variation c ≥ 1:
/// 2p = 1 + √((c² − 1)/(c² + 1)) (Allen, "Probability, Statistics, and Queueing Theory", 1990, 5.1).
pub fn balanced(cv: f64) -> f64 {
    let square = cv * cv;
    (1.0 + ((square - 1.0) / (square + 1.0)).max(0.0).sqrt()) / 2.0
}

impl Distribution {
    /// The exponential distribution.
    pub fn exponential(mean: f64) -> Self {
        Self::Erlang { stages: 1, mean }
    }

    /// The Erlang distribution with this number of stages.
    pub fn erlang(stages: u32, mean: f64) -> Self {
        Self::Erlang { stages, mean }
    }

    /// The hyperexponential distribution of two phases with balanced means, p₁m₁ = p₂m₂: with probability p = [`balanced`] an exponential
    /// time of mean m/2p, otherwise one of m/2(1 − p).
    pub fn hyperexponential(mean: f64, cv: f64) -> Self {
        let p = balanced(cv);
        let phase = |p: f64| (p, Self::exponential(mean / (2.0 * p)));
        Self::Mixture(vec![phase(p), phase(1.0 - p)])
    }

    /// One of several distributions, each with its probability; they sum to one. Equal ones become one, tabulated ones one table.
    pub fn mixed(parts: Vec<(f64, Self)>) -> Self {
        let mut parts =
            parts.into_iter().fold(Vec::new(), |mut different: Vec<(f64, Self)>, (p, distribution)| {
                match different.iter_mut().find(|(_, other)| *other == distribution) {
                    Some((sum, _)) => *sum += p,
                    None => different.push((p, distribution)),
                }
                different
            });
        if parts.len() == 1 {
            return parts.remove(0).1;
        }
        let mixture = Self::Mixture(parts);
        let tabulated = |distribution: &Self| matches!(distribution, Self::Grid(_));
        match &mixture {
            Self::Mixture(parts) if parts.iter().all(|(_, distribution)| tabulated(distribution)) => {
                Self::Grid(Grid::tabulate(mixture.most(), |t| mixture.cdf(t)))
            }
            _ => mixture,
        }
    }

    /// The distribution of the largest of independent times, given distributions and the number of times of each, tabulated.
    /// Where some reach far beyond their mean, so that equal steps would be coarse, the steps are equal ratios.
    pub fn largest(distributions: &[(u32, Self)]) -> Self {
        let most = distributions.iter().map(|(_, distribution)| distribution.most()).fold(0.0, f64::max);
        let mean = distributions.iter().map(|(_, distribution)| distribution.mean()).fold(0.0, f64::max);
        let below = |t| {
            distributions
                .iter()
                .map(|(many, distribution)| libm::pow(distribution.cdf(t), f64::from(*many)))
                .product()
        };
        if most > FAR * mean {
            return Self::Empirical(Empirical::tabulate(most, below));
        }
        Self::Grid(Grid::tabulate(most, below))
    }

    /// Returns true for the exponential distribution.
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
            Self::Lognormal(lognormal) => lognormal.moments(),
            Self::BoundedPareto(pareto) => pareto.moments(),
            Self::Empirical(sample) => sample.moments(),
            Self::Grid(grid) => grid.moments(),
            Self::Mixture(parts) => parts.iter().fold([0.0; 3], |sum, (p, distribution)| {
                let [a, b, c] = distribution.moments();
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

    /// The coefficient of variation: the standard deviation over the mean.
    pub fn cv(&self) -> f64 {
        self.sd() / self.mean()
    }

    /// P(X ≤ t).
    pub fn cdf(&self, t: f64) -> f64 {
        match self {
            Self::Fixed(at) => f64::from(t >= *at),
            Self::Erlang { stages, mean } => erlang_cdf(*stages, t * f64::from(*stages) / mean),
            Self::Uniform { from, to } => ((t - from) / (to - from)).clamp(0.0, 1.0),
            Self::Lognormal(lognormal) => lognormal.cdf(t),
            Self::BoundedPareto(pareto) => pareto.cdf(t),
            Self::Empirical(sample) => sample.cdf(t),
            Self::Grid(grid) => grid.cdf(t),
            Self::Mixture(parts) => parts.iter().map(|(p, distribution)| p * distribution.cdf(t)).sum(),
        }
    }

    /// `E[e^−sX]`.
    pub fn transform(&self, s: Complex64) -> Complex64 {
        match self {
            Self::Fixed(t) => exp(-s * *t),
            Self::Erlang { stages, mean } => (1.0 + s * (mean / f64::from(*stages))).powi(-(*stages as i32)),
            Self::Uniform { from, to } => (exp(-s * *from) - exp(-s * *to)) / (s * (to - from)),
            Self::Lognormal(lognormal) => lognormal.transform(s),
            Self::BoundedPareto(pareto) => pareto.transform(s),
            Self::Empirical(sample) => sample.transform(s),
            Self::Grid(grid) => grid.transform(s),
            Self::Mixture(parts) => {
                parts.iter().map(|(p, distribution)| distribution.transform(s) * *p).sum()
            }
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
            Self::Lognormal(lognormal) => lognormal.most(),
            Self::BoundedPareto(pareto) => pareto.most(),
            Self::Empirical(sample) => sample.most(),
            Self::Grid(grid) => grid.most(),
            Self::Mixture(parts) => {
                parts.iter().map(|(_, distribution)| distribution.most()).fold(0.0, f64::max)
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_and_moments_belong_to_the_cdf() {
        let distributions = [
            Distribution::erlang(3, 2.0),
            Distribution::Uniform { from: 1.0, to: 4.0 },
            Distribution::Mixture(vec![
                (0.25, Distribution::exponential(1.0)),
                (0.75, Distribution::erlang(2, 3.0)),
            ]),
        ];
        for distribution in distributions {
            let grid = Grid::tabulate(distribution.most(), |t| distribution.cdf(t));
            for (exact, tabulated) in distribution.moments().iter().zip(grid.moments()) {
                assert!((exact / tabulated - 1.0).abs() < 2e-3, "{distribution:?}: {exact} {tabulated}");
            }
            let s = Complex64::new(0.3, 0.8);
            assert!((distribution.transform(s) - grid.transform(s)).norm() < 2e-3, "{distribution:?}");
        }
    }

    #[test]
    fn a_hyperexponential_has_its_mean_and_variation_and_balanced_means() {
        for cv in [1.0, 1.5, 4.0, 20.0] {
            let distribution = Distribution::hyperexponential(3.0, cv);
            assert!((distribution.mean() - 3.0).abs() < 1e-12, "{}", distribution.mean());
            assert!((distribution.cv() - cv).abs() < 1e-9, "{} for {cv}", distribution.cv());
            let Distribution::Mixture(phases) = distribution else { panic!("it has two phases") };
            assert!(phases.iter().all(|(p, phase)| (p * phase.mean() - 1.5).abs() < 1e-12));
        }
    }

    /// The bound is so far that moments are those of the unbounded distribution.
    #[test]
    fn the_largest_of_two_with_a_tail_keeps_the_tail() {
        let part = Distribution::BoundedPareto(BoundedPareto::new(3.0, 1.0, 1e5));
        let largest = Distribution::largest(&[(2, part)]);
        // E max = 2 E[X] − E min, and the smaller of two has the shape 6: 2·3/2 − 6/5.
        assert!((largest.mean() - 1.8).abs() < 1e-3, "{}", largest.mean());
    }

    /// With a thousand stages the powers of x leave the range of numbers; the distribution does not.
    #[test]
    fn many_stages_are_no_trouble() {
        let distribution = Distribution::erlang(1000, 1.0);
        assert!((distribution.cdf(1.0) - 0.5042).abs() < 1e-3, "{}", distribution.cdf(1.0));
        let largest = Distribution::largest(&[(2, distribution.clone())]);
        assert!((largest.mean() - (1.0 + 0.5642 * distribution.sd())).abs() < 1e-3, "{}", largest.mean());
    }

    #[test]
    fn the_largest_of_k_exponentials_has_the_harmonic_mean() {
        let largest = Distribution::largest(&[(4, Distribution::exponential(1.0))]);
        assert!((largest.mean() - (1.0 + 0.5 + 1.0 / 3.0 + 0.25)).abs() < 1e-3, "{}", largest.mean());
    }
}
