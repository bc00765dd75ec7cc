//! Which addresses are asked for.

use headrace_kernel::Draws;

use crate::spec::PatternSpec;

/// Chooses an address for each request, in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Pattern {
    rule: Rule,
    /// Addresses lie below this …
    footprint: u64,
    /// … and are multiples of this.
    align: u64,
    /// The size of the last request, and how many places there are for one of that size: most streams have one size, and a
    /// division costs as much as a draw.
    places: (u64, u64),
}

#[derive(Clone, Debug)]
enum Rule {
    Uniform,
    Sequential { next: u64 },
    HotSpot { cumulated: Vec<f64>, stride: u64 },
    Runs { length: f64, left: u64, next: u64 },
}

impl Pattern {
    /// A pattern over the first `footprint` bytes, in steps of `align`.
    ///
    /// # Panics
    /// If `align` is zero: there would be no address.
    pub fn new(spec: PatternSpec, footprint: u64, align: u64) -> Self {
        assert!(align > 0, "addresses need an alignment of at least one byte");
        let rule = match spec {
            PatternSpec::Uniform => Rule::Uniform,
            PatternSpec::Sequential => Rule::Sequential { next: 0 },
            PatternSpec::HotSpot { skew, spots } => {
                Rule::HotSpot { cumulated: zipf(skew, spots), stride: scattering_stride(u64::from(spots)) }
            }
            PatternSpec::Runs { length } => Rule::Runs { length, left: 0, next: 0 },
        };
        Self { rule, footprint, align, places: (0, footprint / align + 1) }
    }

    /// The address of the next request, which is `bytes` long and ends within the footprint.
    #[inline]
    pub fn address(&mut self, bytes: u64, draws: &mut Draws) -> u64 {
        if self.places.0 != bytes {
            self.places = (bytes, self.footprint.saturating_sub(bytes) / self.align + 1);
        }
        let places = self.places.1;
        match &mut self.rule {
            Rule::Uniform => draws.below(places) * self.align,
            Rule::Sequential { next } => advance(next, bytes, self.footprint, self.align),
            Rule::HotSpot { cumulated, stride } => {
                let spots = cumulated.len() as u64;
                let share = draws.uniform();
                let rank = cumulated.partition_point(|&below| below <= share) as u64;
                let spot = rank.min(spots - 1) * *stride % spots;
                let first = (u128::from(spot) * u128::from(places) / u128::from(spots)) as u64;
                let end = (u128::from(spot + 1) * u128::from(places) / u128::from(spots)) as u64;
                (first + draws.below((end - first).max(1))) * self.align
            }
            Rule::Runs { length, left, next } => {
                if *left == 0 {
                    *left = draws.geometric(*length);
                    *next = draws.below(places) * self.align;
                }
                *left -= 1;
                advance(next, bytes, self.footprint, self.align)
            }
        }
    }
}

/// The first aligned place after the last request, or the beginning where this one would pass the end.
fn advance(next: &mut u64, bytes: u64, footprint: u64, align: u64) -> u64 {
    let aligned = next.next_multiple_of(align);
    let address = if aligned + bytes <= footprint { aligned } else { 0 };
    *next = address + bytes;
    address
}

/// P(rank ≤ r) for Zipf's law.
fn zipf(skew: f64, spots: u32) -> Vec<f64> {
    let mut sum = 0.0;
    let weights = (1..=spots).map(|rank| libm::pow(f64::from(rank), -skew));
    let sums: Vec<f64> = weights
        .map(|weight| {
            sum += weight;
            sum
        })
        .collect();
    sums.iter().map(|below| below / sum).collect()
}

/// The greatest common divisor of two numbers (Euclid).
pub fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A step near the golden section of `spots` that visits each of them once: neighbours in popularity lie far apart.
fn scattering_stride(spots: u64) -> u64 {
    let golden = (spots as f64 * 0.618_033_988_749_894_9) as u64;
    (golden.max(1)..)
        .find(|&stride| common_divisor(stride, spots) == 1)
        .expect("one is coprime to every number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_kernel::RngStream;
    use proptest::prelude::*;

    fn addresses(spec: PatternSpec, footprint: u64, align: u64, bytes: u64, n: usize) -> Vec<u64> {
        let mut pattern = Pattern::new(spec, footprint, align);
        let mut draws = RngStream::named(1, "users", "addresses").draws();
        (0..n).map(|_| pattern.address(bytes, &mut draws)).collect()
    }

    #[test]
    fn sequential_goes_around() {
        assert_eq!(addresses(PatternSpec::Sequential, 1000, 100, 300, 5), [0, 300, 600, 0, 300]);
    }

    #[test]
    fn popularity_follows_zipf() {
        let spots = 10;
        let n = 200_000;
        let found = addresses(PatternSpec::HotSpot { skew: 1.0, spots }, 10_000, 1, 1, n);
        let mut counts = [0u32; 10];
        found.iter().for_each(|address| counts[(address / 1000) as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let harmonic: f64 = (1..=10).map(|r| 1.0 / f64::from(r)).sum();
        for (rank, count) in (1..).zip(counts) {
            let expected = n as f64 / harmonic / f64::from(rank);
            assert!(
                (f64::from(count) - expected).abs() < 6.0 * expected.sqrt(),
                "rank {rank}: {count} for {expected}"
            );
        }
    }

    #[test]
    fn runs_have_the_length_asked_for() {
        let found = addresses(PatternSpec::Runs { length: 8.0 }, 1 << 40, 4096, 4096, 100_000);
        let jumps = found.windows(2).filter(|pair| pair[1] != pair[0] + 4096).count();
        assert!((100_000.0 / jumps as f64 - 8.0).abs() < 0.4, "{jumps} jumps");
    }

    proptest! {
        #[test]
        fn every_request_lies_within_the_footprint_and_aligned(
            which in 0usize..4, blocks in 4u64..1000, size in 1u64..4, align in 1u64..5, skew in 0.0f64..2.0, spots in 1u32..50
        ) {
            let spec = [
                PatternSpec::Uniform,
                PatternSpec::Sequential,
                PatternSpec::HotSpot { skew, spots },
                PatternSpec::Runs { length: 3.0 },
            ][which];
            for address in addresses(spec, blocks * 512, align * 512, size * 512, 200) {
                prop_assert!(address + size * 512 <= blocks * 512, "{address}");
                prop_assert_eq!(address % (align * 512), 0);
            }
        }
    }
}
