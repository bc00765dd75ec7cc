//! A set of numbers as ranges: millions of stripes that follow each other take as little memory as one.

use std::collections::BTreeMap;

/// Numbers, kept as ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// The first number of each, and one more than its last.
    ends: BTreeMap<u64, u64>,
    count: u64,
}

impl Ranges {
    /// Returns true if the range is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of integers in the range.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns true if the range contains `number`.
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        self.ends.range(..=number).next_back().is_some_and(|(_, end)| number < *end)
    }

    /// Returns true if one of the numbers from `from` to before `to` is in it.
    pub fn touches(&self, from: u64, to: u64) -> bool {
        self.next(from).is_some_and(|next| next < to)
    }

    /// Adds the numbers `from` to before `to`.
    pub fn insert(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (mut from, mut to) = (from, to);
        let first = self.ends.range(..=from).next_back().filter(|(_, end)| **end >= from);
        let begin = first.map_or(from, |(begin, _)| *begin);
        let near: Vec<(u64, u64)> = self.ends.range(begin..=to).map(|(a, b)| (*a, *b)).collect();
        for (a, b) in near {
            self.ends.remove(&a);
            self.count -= b - a;
            (from, to) = (from.min(a), to.max(b));
        }
        self.put(from, to);
    }

    /// Takes away the numbers `from` to before `to`.
    pub fn remove(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let first = self.ends.range(..=from).next_back().filter(|(_, end)| **end > from);
        let begin = first.map_or(from, |(begin, _)| *begin);
        let near: Vec<(u64, u64)> = self.ends.range(begin..to).map(|(a, b)| (*a, *b)).collect();
        for (a, b) in near {
            self.ends.remove(&a);
            self.count -= b - a;
            self.put(a, from);
            self.put(to, b);
        }
    }

    fn put(&mut self, from: u64, to: u64) {
        if from < to {
            self.ends.insert(from, to);
            self.count += to - from;
        }
    }

    /// The first number at `from` or after it.
    pub fn next(&self, from: u64) -> Option<u64> {
        if self.contains(from) {
            return Some(from);
        }
        self.ends.range(from..).next().map(|(begin, _)| *begin)
    }

    /// The first number at `from` or after it that is not in it.
    pub fn next_gap(&self, from: u64) -> u64 {
        let around = self.ends.range(..=from).next_back();
        around.map_or(from, |(_, end)| from.max(*end))
    }

    /// The first number after `number` that is in it while the one before is not, or the other way round.
    pub fn next_border(&self, number: u64) -> Option<u64> {
        let around = self.ends.range(..=number).next_back().map(|(_, end)| *end).filter(|end| *end > number);
        around.or_else(|| self.ends.range(number + 1..).next().map(|(begin, _)| *begin))
    }

    /// The numbers in it, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ends.iter().flat_map(|(from, to)| *from..*to)
    }

    /// Each range: its first number, and one more than its last.
    pub fn each(&self, mut act: impl FnMut(u64, u64)) {
        self.ends.iter().for_each(|(from, to)| act(*from, *to));
    }

    /// Returns the numbers from `from` to before `to` that are in it.
    pub fn within(&self, from: u64, to: u64) -> Self {
        let (mut within, mut next) = (Self::default(), from);
        while let Some(begin) = self.next(next).filter(|begin| *begin < to) {
            next = self.next_gap(begin).min(to);
            within.insert(begin, next);
        }
        within
    }

    /// Returns the numbers that are in both.
    pub fn intersect(&self, other: &Self) -> Self {
        let mut both = Self::default();
        self.each(|from, to| other.within(from, to).each(|from, to| both.insert(from, to)));
        both
    }

    /// Keeps the numbers that `keep` says.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let gone: Vec<u64> = self.iter().filter(|number| !keep(*number)).collect();
        gone.into_iter().for_each(|number| self.remove(number, number + 1));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Ranges;

    proptest! {
        /// Ranges behave as a set of numbers, and do not touch each other.
        #[test]
        fn ranges_are_a_set(steps in prop::collection::vec((any::<bool>(), 0u64..60, 0u64..9), 0..40), from in 0u64..70) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (adds, from, many) in steps {
                if adds {
                    ranges.insert(from, from + many);
                    set.extend(from..from + many);
                } else {
                    ranges.remove(from, from + many);
                    (from..from + many).for_each(|number| {
                        set.remove(&number);
                    });
                }
            }
            prop_assert_eq!(ranges.iter().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(ranges.count(), set.len() as u64);
            prop_assert!((0..80).all(|number| ranges.contains(number) == set.contains(&number)));
            prop_assert_eq!(ranges.next(from), set.range(from..).next().copied());
            let border = (from + 1..100).find(|number| set.contains(number) != set.contains(&(number - 1)));
            prop_assert_eq!(ranges.next_border(from), border);
            prop_assert_eq!(ranges.next_gap(from), (from..).find(|number| !set.contains(number)).unwrap());
            let ends: Vec<(u64, u64)> = ranges.ends.iter().map(|(a, b)| (*a, *b)).collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", ends);
            let within: Vec<u64> = ranges.within(from, from + 9).iter().collect();
            prop_assert_eq!(within, set.range(from..from + 9).copied().collect::<Vec<_>>());
            let mut evens = Ranges::default();
            (0..40).for_each(|number| evens.insert(2 * number, 2 * number + 1));
            let both: Vec<u64> = ranges.intersect(&evens).iter().collect();
            prop_assert_eq!(both, set.iter().copied().filter(|number| number % 2 == 0).collect::<Vec<_>>());
            ranges.retain(|number| number % 3 > 0);
            prop_assert_eq!(ranges.count() as usize, set.iter().filter(|number| *number % 3 > 0).count());
        }
    }
}
