//! Places in a sorted list, for lists that each command searches.

/// Number of ranges of values for each number of a list, so that most ranges contain none.
const RANGES: usize = 16;
const LEAST_RANGES: usize = 64;

/// Numbers in order, with a table of how many lie below each range of values: a search of a list of random numbers takes a branch or a load
/// for each bit, and waits for it.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    steps: Vec<u64>,
    /// Number of steps up to the beginning of each range, and all of them.
    up_to: Vec<u32>,
    /// A range has two to the power of this many values; the last one has all larger ones too.
    shift: u32,
}

impl Steps {
    /// Steps in order.
    pub fn new(steps: Vec<u64>) -> Self {
        let ranges = (steps.len() * RANGES).next_power_of_two().max(LEAST_RANGES);
        let bits = u64::BITS - steps.last().map_or(0, |last| last.leading_zeros());
        let shift = bits.saturating_sub(ranges.ilog2());
        let below = |range: usize| steps.partition_point(|step| *step <= (range as u64) << shift) as u32;
        let up_to = (0..ranges).map(below).chain([steps.len() as u32]).collect();
        Self { steps, up_to, shift }
    }

    /// Returns the number of steps that are at most `value`.
    #[inline]
    pub fn up_to(&self, value: u64) -> usize {
        let range = ((value >> self.shift) as usize).min(self.up_to.len() - 2);
        let (first, end) = (self.up_to[range] as usize, self.up_to[range + 1] as usize);
        first + self.steps[first..end].partition_point(|step| *step <= value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_table_finds_what_a_search_finds(
            mut steps in prop::collection::vec(prop_oneof![0u64..100, 0u64..1 << 40, any::<u64>()], 0..60),
            others in prop::collection::vec(any::<u64>(), 0..20),
        ) {
            steps.sort_unstable();
            let table = Steps::new(steps.clone());
            let near = steps.iter().flat_map(|step| [step.saturating_sub(1), *step, step.saturating_add(1)]);
            for value in near.chain(others).chain([0, u64::MAX]) {
                prop_assert_eq!(table.up_to(value), steps.partition_point(|step| *step <= value), "{}", value);
            }
        }
    }
}
