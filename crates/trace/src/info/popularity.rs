//! Popularity: which share of the requests begins in the most popular regions of the address space.

use super::counts::Occurrences;

/// Initial region size, in bytes. It doubles while there are more than [`MOST_REGIONS`].
const REGION: u64 = 1 << 20;
const MOST_REGIONS: usize = 1 << 20;

/// Shares of the regions for which popularity is reported.
const SHARES: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.5];

/// Bits of a key that number the region: an address below 2⁶³ lies in one of 2⁴³ regions. The bits above number the
/// device, of which a trace has at most 8192.
const REGION_BITS: u32 = 44;
const REGION_MASK: u64 = (1 << REGION_BITS) - 1;

/// Accumulates the number of requests that begin in each region of each device.
#[derive(Default)]
pub struct Popularity {
    counts: Occurrences,
    /// Number of times that the region size was doubled.
    fold: u32,
}

impl Popularity {
    #[inline]
    pub fn add(&mut self, device: u32, address: u64) {
        let region = (address / REGION) >> self.fold;
        if self.counts.add(u64::from(device) << REGION_BITS | region) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.counts.merge();
        while self.counts.table().len() > MOST_REGIONS {
            self.counts.replace(|key| key & !REGION_MASK | (key & REGION_MASK) >> 1);
            self.fold += 1;
        }
    }

    /// The region size, and for each of [`SHARES`] that is at least one region: (share of the regions, share of all `n`
    /// requests).
    pub fn finish(mut self, n: f64) -> (u64, Vec<(f64, f64)>) {
        self.merge();
        let mut counts: Vec<u64> = self.counts.table().iter().map(|(_, count)| *count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let of_the_first = |share: f64| {
            let many = (share * counts.len() as f64).round() as usize;
            (share, counts.iter().take(many).sum::<u64>() as f64 / n)
        };
        let shares = SHARES.into_iter().filter(|share| share * counts.len() as f64 >= 1.0);
        (REGION << self.fold, shares.map(of_the_first).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_grow_when_there_are_too_many_and_keep_their_devices_apart() {
        let mut popularity = Popularity::default();
        for device in 0..2 {
            (0..MOST_REGIONS as u64).for_each(|region| popularity.add(device, region * REGION));
        }
        (0..MOST_REGIONS as u64).for_each(|_| popularity.add(1, 0));
        let (region, shares) = popularity.finish(MOST_REGIONS as f64 * 3.0);
        assert_eq!(region, REGION * 2);
        assert!((shares[0].1 - (1.0 + 0.02) / 3.0).abs() < 1e-3, "{shares:?}");
    }
}
