//! Random orders that take no memory.

use super::subkey;

/// A random order of `many` things: one to one, by a Feistel network of four rounds (Luby and Rackoff 1988) on the next even power of
/// two, walked until it is within (Black and Rogaway 2002).
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    many: u64,
    half: u32,
    key: u64,
}

impl Shuffle {
    /// The order of this key.
    pub fn new(many: u64, key: u64) -> Self {
        let half = (u64::BITS - many.saturating_sub(1).leading_zeros()).div_ceil(2);
        Self { many, half, key }
    }

    /// The thing at `place`, which is below `many`.
    #[inline]
    pub fn at(&self, place: u64) -> u64 {
        self.walk(place, |(left, right), n| (right, left ^ self.round(n, right)), [0, 1, 2, 3])
    }

    /// The place of `thing`, which is below `many`.
    #[inline]
    pub fn place(&self, thing: u64) -> u64 {
        self.walk(thing, |(left, right), n| (right ^ self.round(n, left), left), [3, 2, 1, 0])
    }

    #[inline]
    fn round(&self, n: u64, half: u64) -> u64 {
        subkey(self.key ^ n, half) & self.mask()
    }

    #[inline]
    fn mask(&self) -> u64 {
        (1 << self.half) - 1
    }

    #[inline]
    fn walk(&self, from: u64, step: impl Fn((u64, u64), u64) -> (u64, u64), rounds: [u64; 4]) -> u64 {
        let mut at = from;
        loop {
            let (left, right) = rounds.into_iter().fold((at >> self.half, at & self.mask()), &step);
            at = left << self.half | right;
            if at < self.many {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_thing_has_one_place(many in 1u64..3000, key in any::<u64>()) {
            let order = |key| (0..many).map(|place| Shuffle::new(many, key).at(place)).collect::<Vec<_>>();
            let found: BTreeSet<u64> = order(key).into_iter().collect();
            prop_assert_eq!(found, (0..many).collect::<BTreeSet<u64>>());
            prop_assert!(many < 20 || order(key) != order(key ^ 1));
            let back = order(key).into_iter().map(|thing| Shuffle::new(many, key).place(thing));
            prop_assert!(back.eq(0..many));
        }
    }
}
