//! Counts by bucket in few bytes, for segments that are closed: a run keeps many and reads them once. Neighbouring buckets are
//! mostly both in use and counts are mostly small, so the distance from the bucket before and the count take a byte each.

/// Counts by bucket: for each bucket in use its distance from the one before, then its count, seven bits a byte (LEB128).
#[derive(Clone, Debug, Default)]
pub struct Packed(Box<[u8]>);

impl Packed {
    /// Packs buckets with their counts, in ascending order.
    pub fn new(counts: impl Iterator<Item = (usize, u64)>) -> Self {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for (bucket, count) in counts {
            let gap = (bucket - before) as u64;
            if gap | count < 0x80 {
                bytes.extend([gap as u8, count as u8]);
            } else {
                put(gap, &mut bytes);
                put(count, &mut bytes);
            }
            before = bucket;
        }
        Self(bytes.into())
    }

    /// What two of them hold together.
    pub fn merged(&self, other: &Self) -> Self {
        let (mut mine, mut others) = (self.counts().peekable(), other.counts().peekable());
        Self::new(std::iter::from_fn(|| match (mine.peek(), others.peek()) {
            (Some(a), Some(b)) if a.0 == b.0 => {
                let (bucket, sum) = (a.0, a.1 + b.1);
                mine.next();
                others.next();
                Some((bucket, sum))
            }
            (Some(a), Some(b)) if b.0 < a.0 => others.next(),
            (Some(_), _) => mine.next(),
            (None, _) => others.next(),
        }))
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
