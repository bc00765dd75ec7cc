//! Occurrences of numbers, counted in sorted batches.

/// Smallest and largest batch. A batch in between is half as large as the table, so that merging costs a constant per
/// number.
const BATCH: (usize, usize) = (1 << 12, 1 << 18);

/// The number of occurrences of each number. Sorting a batch and merging it into a sorted table reads memory in order; a
/// tree or hash table of a million entries takes a cache miss or several for each number.
#[derive(Default)]
pub struct Occurrences {
    /// (number, occurrences), sorted; each number once.
    table: Vec<(u64, u64)>,
    batch: Vec<u64>,
}

impl Occurrences {
    /// Counts `number`. Returns true if the batch is full and must be [merged](Self::merge).
    #[inline]
    #[must_use]
    pub fn add(&mut self, number: u64) -> bool {
        self.batch.push(number);
        self.batch.len() >= (self.table.len() / 2).clamp(BATCH.0, BATCH.1)
    }

    /// Merges the batch into the table.
    pub fn merge(&mut self) {
        self.batch.sort_unstable();
        self.table.extend(self.batch.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)));
        self.batch.clear();
        // The stable sort merges two sorted runs in linear time.
        self.table.sort_by_key(|(number, _)| *number);
        self.add_up();
    }

    /// Replaces each number of the table by `image`, which must preserve order.
    pub fn replace(&mut self, image: impl Fn(u64) -> u64) {
        self.table.iter_mut().for_each(|(number, _)| *number = image(*number));
        self.add_up();
    }

    /// Combines neighbours with the same number.
    fn add_up(&mut self) {
        self.table.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
    }

    /// The merged table: (number, occurrences), sorted by number.
    pub fn table(&self) -> &[(u64, u64)] {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_agree_with_a_tree(numbers in prop::collection::vec(0u64..500, 0..600), every in 1usize..50, divisor in 1u64..20) {
            let (mut counts, mut tree) = (Occurrences::default(), BTreeMap::new());
            for (at, number) in numbers.into_iter().enumerate() {
                *tree.entry(number / divisor).or_insert(0) += 1;
                if counts.add(number) || at % every == 0 {
                    counts.merge();
                }
            }
            counts.merge();
            counts.replace(|number| number / divisor);
            prop_assert_eq!(counts.table(), tree.into_iter().collect::<Vec<_>>());
        }
    }
}
