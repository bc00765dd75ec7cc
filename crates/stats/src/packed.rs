//! Counts by bucket in few bytes, for segments that are closed: a run keeps many and reads them once. Neighbouring buckets are
//! mostly both in use and counts are mostly small, so the distance from the bucket before and the count take a byte each.

/// Counts by bucket: for each bucket in use its distance from the one before, then its count, seven bits a byte (LEB128).
#[derive(Clone, Debug, Default)]
pub struct Packed(Box<[u8]>);

/// Packs buckets with their counts, which come in ascending order.
#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    before: usize,
}

impl Packer {
    #[inline]
    fn add(&mut self, bucket: usize, count: u64) {
        let gap = (bucket - self.before) as u64;
        self.before = bucket;
        if gap | count < 0x80 {
            self.bytes.extend([gap as u8, count as u8]);
        } else {
            put(gap, &mut self.bytes);
            put(count, &mut self.bytes);
        }
    }
}

impl Packed {
    /// Packs buckets with their counts, in ascending order.
    pub fn new(counts: impl Iterator<Item = (usize, u64)>) -> Self {
        let mut packer = Packer::default();
        counts.for_each(|(bucket, count)| packer.add(bucket, count));
        Self(packer.bytes.into())
    }

    /// Returns the sum of two histograms.
    pub fn merged(&self, other: &Self) -> Self {
        let mut packer = Packer { bytes: Vec::with_capacity(self.0.len() + other.0.len()), before: 0 };
        let (mut mine, mut others) = (self.counts(), other.counts());
        let (mut a, mut b) = (mine.next(), others.next());
        while let (Some((at, count)), Some((other_at, other_count))) = (a, b) {
            if at <= other_at {
                let both = at == other_at;
                packer.add(at, if both { count + other_count } else { count });
                a = mine.next();
                b = if both { others.next() } else { b };
            } else {
                packer.add(other_at, other_count);
                b = others.next();
            }
        }
        let rest = a.into_iter().chain(mine).chain(b).chain(others);
        rest.for_each(|(at, count)| packer.add(at, count));
        Self(packer.bytes.into())
    }

    /// The buckets with their counts, in ascending order.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (mut rest, mut bucket) = (self.0.iter(), 0);
        std::iter::from_fn(move || {
            bucket += take(&mut rest)? as usize;
            Some((bucket, take(&mut rest)?))
        })
    }
}

#[cold]
fn put(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn take(bytes: &mut std::slice::Iter<u8>) -> Option<u64> {
    let first = *bytes.next()?;
    if first < 0x80 { Some(first.into()) } else { take_more(first, bytes) }
}

#[cold]
fn take_more(first: u8, bytes: &mut std::slice::Iter<u8>) -> Option<u64> {
    let (mut number, mut shift) = (u64::from(first & 0x7f), 7);
    loop {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn what_is_packed_comes_back(counts in prop::collection::btree_map(0usize..70_000, any::<u64>(), 0..200)) {
            let packed = Packed::new(counts.iter().map(|(bucket, count)| (*bucket, *count)));
            prop_assert!(packed.counts().eq(counts));
        }

        #[test]
        fn two_hold_together_what_each_holds(
            mine in prop::collection::btree_map(0usize..300, 1u64..1000, 0..200),
            others in prop::collection::btree_map(0usize..300, 1u64..1000, 0..200),
        ) {
            let of = |counts: &BTreeMap<usize, u64>| Packed::new(counts.iter().map(|(at, n)| (*at, *n)));
            let mut sums = mine.clone();
            others.iter().for_each(|(at, n)| *sums.entry(*at).or_default() += n);
            prop_assert!(of(&mine).merged(&of(&others)).counts().eq(sums));
        }
    }

    #[test]
    fn neighbouring_buckets_with_small_counts_take_two_bytes_each() {
        assert_eq!(Packed::new((100..1100).map(|bucket| (bucket, 3))).0.len(), 2000);
    }
}
