//! Random numbers from named streams.
//!
//! A stream is named by the root seed, the path of the component that draws, and the purpose of the drawing. So adding
//! a component changes nobody else's numbers, and two designs are compared with the same random numbers. What belongs to one
//! request is drawn from [`RngStream::of`] its number, so it is the same whatever order requests are served in.
//!
//! The distributions are written on `libm`: `rand_distr` takes the platform's `ln` and `exp` as soon as any crate in the
//! build enables the standard library's floats, and then the same seed gives other bits on another machine.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

mod normal;
mod shuffle;
mod ziggurat;

pub use shuffle::Shuffle;

/// A generator at some point of its sequence, and what can be drawn from it.
#[derive(Clone, Debug)]
pub struct Draws(Pcg64Mcg);

/// A named source of independent [`Draws`], one for each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RngStream {
    key: u64,
}

/// Scatters the bits of `x`, one to one (the finaliser of SplitMix64, Steele, Lea and Flood 2014).
#[inline]
fn scatter(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The `n`-th of the keys derived from `key`, each as good as drawn.
#[inline]
pub fn subkey(key: u64, n: u64) -> u64 {
    scatter(key ^ scatter(n.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

impl RngStream {
    /// The stream of `purpose` at `path` in a simulation of this seed.
    pub fn named(seed: u64, path: &str, purpose: &str) -> Self {
        let names = path.bytes().chain([0xff]).chain(purpose.bytes());
        Self {
            key: names.fold(scatter(seed), |key, byte| scatter(key ^ u64::from(byte)).wrapping_add(0x9e37)),
        }
    }

    /// A number of its own for each `number`, by which other streams may draw what belongs to the same thing.
    #[inline]
    pub fn key(self, number: u64) -> u64 {
        scatter(self.key ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The draws that belong to `number`.
    #[inline]
    pub fn of(self, number: u64) -> Draws {
        let low = self.key(number);
        let high = low.wrapping_mul(0xd1b5_4a32_d192_ed03) ^ self.key;
        Draws(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low)))
    }

    /// The draws of a process that goes on: arrival after arrival.
    pub fn draws(self) -> Draws {
        self.of(u64::MAX)
    }
}

impl Draws {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), in steps of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on the whole numbers below `bound` (by multiplication; the bias is below `bound`/2⁶⁴).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with mean one.
    #[inline(always)]
    pub fn exponential(&mut self) -> f64 {
        ziggurat::exponential(self)
    }

    /// Uniform on (0, 1): the middles of steps of 2⁻⁵², so neither end is drawn.
    #[inline]
    pub fn inner(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Normal with mean zero and variance one, by inversion.
    pub fn normal(&mut self) -> f64 {
        normal::quantile(self.inner())
    }

    /// Geometric on 1, 2, 3 … with this mean (at least one), by inversion.
    pub fn geometric(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        let fail = libm::log1p(-1.0 / mean);
        ((libm::log(1.0 - self.uniform()) / fail) as u64).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_seeds_and_numbers_make_streams_apart() {
        let first = |stream: RngStream, number| stream.of(number).bits();
        let base = RngStream::named(1, "array[0]", "seek");
        for other in [
            RngStream::named(2, "array[0]", "seek"),
            RngStream::named(1, "array[1]", "seek"),
            RngStream::named(1, "array[0]", "turn"),
        ] {
            assert_ne!(first(base, 7), first(other, 7));
        }
        assert_ne!(first(base, 7), first(base, 8));
        assert_eq!(first(base, 7), first(RngStream::named(1, "array[0]", "seek"), 7));
    }

    /// Each number's first draw must look uniform and independent of its neighbour's: they come from separate seeds.
    #[test]
    fn first_draws_of_neighbouring_numbers_are_uniform_and_uncorrelated() {
        let stream = RngStream::named(3, "disk", "turn");
        let n = 1_000_000;
        let draws: Vec<f64> = (0..n).map(|number| stream.of(number).uniform()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let pairs = draws.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12f64).sqrt() / 1000.0, "mean {mean}");
        assert!((pairs * 12.0).abs() < 5.0 / 1000.0, "lag-1 correlation {}", pairs * 12.0);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut draws = RngStream::named(5, "", "").draws();
        let n = 4_000_000;
        let (mut mean, mut square, mut tail) = (0.0, 0.0, 0u64);
        for _ in 0..n {
            let x = draws.exponential();
            mean += x / n as f64;
            square += x * x / n as f64;
            tail += u64::from(x > 8.0);
        }
        assert!((mean - 1.0).abs() < 5.0 / 2000.0, "mean {mean}");
        assert!((square - 2.0).abs() < 5.0 * 20f64.sqrt() / 2000.0, "second moment {square}");
        let expected = n as f64 * libm::exp(-8.0);
        assert!(
            (tail as f64 - expected).abs() < 5.0 * expected.sqrt(),
            "{tail} beyond 8, expected {expected}"
        );
        let (mut normal, mut fourth) = (0.0, 0.0);
        for _ in 0..n {
            let x = draws.normal();
            normal += x / n as f64;
            fourth += x * x * x * x / n as f64;
        }
        assert!(normal.abs() < 5.0 / 2000.0, "normal mean {normal}");
        assert!((fourth - 3.0).abs() < 5.0 * 96f64.sqrt() / 2000.0, "fourth moment {fourth}");
        let geometric = (0..n).map(|_| draws.geometric(4.0)).sum::<u64>() as f64 / n as f64;
        assert!((geometric - 4.0).abs() < 5.0 * 12f64.sqrt() / 2000.0, "geometric mean {geometric}");
    }

    /// Another machine, compiler or release must give these bits, or saved seeds lose their meaning.
    #[test]
    fn golden_bits() {
        let mut draws = RngStream::named(1, "disk", "seek").of(42);
        let bits =
            [draws.bits(), draws.uniform().to_bits(), draws.exponential().to_bits(), draws.below(1000)];
        assert_eq!(bits, GOLDEN);
    }

    const GOLDEN: [u64; 4] = [5169846951005572520, 4602875027261833826, 4607384005836649399, 252];
}
