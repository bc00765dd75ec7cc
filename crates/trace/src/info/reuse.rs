//! How often an LRU cache would have the pages that are asked for, for all its sizes in one pass: by the number of other pages that were asked for
//! since (stack distances: Mattson, Gecsei, Slutz and Traiger 1970). Where there are many pages, a sample of them is followed (SHARDS: Waldspurger,
//! Park, Garthwaite and Ahmad 2015).

use hashbrown::HashTable;
use headrace_work::Op;
use serde::Serialize;

use super::pages::{PAGE, mixed};

/// Pages that are followed at most. Twice as many halve the sample. The mean error of a hit ratio is below a percentage point from a quarter of this on
/// (SHARDS, section 5).
const MOST_PAGES: usize = 1 << 15;
/// Uses in order, of which each page has its last. They are numbered again when all are taken.
const SLOTS: usize = 4 * MOST_PAGES;
/// A request for more than this streams past the cache: nothing of it is kept, nor found. It bounds the time for one line.
const STREAMS: u64 = 1 << 26;

/// Distances are counted by octave, in eighths of one: a distance below 16 has a count of its own.
const EIGHTHS: u32 = 8;
const COUNTS: usize = (u64::BITS * EIGHTHS) as usize;

/// Bits of a key that number the page: an address is below 2⁶³. The bits above number the device, of which a trace has at most 8192.
const PAGE_BITS: u32 = 51;

/// How often an LRU cache would have what is asked for. Pages that are written are kept, too.
#[derive(Clone, Debug, Serialize)]
pub struct LruHits {
    /// Size of a page in bytes.
    pub page: u64,
    /// Share of the pages that were followed; 1 if the hit ratios are exact.
    pub followed: f64,
    /// (size of the cache in bytes; share of the pages read that it has, `None` if none is read; share of all pages that it has).
    pub hit_ratios: Vec<(u64, Option<f64>, f64)>,
}

/// Accumulates [`LruHits`].
pub struct Reuse {
    /// The pages that are followed, by their hashes, with their last uses.
    last_uses: HashTable<(u64, u32)>,
    /// Marks of those uses.
    marks: Marks,
    next: u32,
    /// A page is followed if its hash begins with as many zeros: one of 2ⁿ is.
    zeros: u32,
    /// Pages found at a distance, of reads and of writes.
    found: [Vec<f64>; 2],
    /// Pages asked for, and those of them that the followed ones stand for.
    asked: [u64; 2],
    stand_for: [f64; 2],
}

impl Default for Reuse {
    fn default() -> Self {
        Self {
            last_uses: HashTable::new(),
            marks: Marks(vec![0; SLOTS + 1]),
            next: 0,
            zeros: 0,
            found: [vec![0.0; COUNTS], vec![0.0; COUNTS]],
            asked: [0; 2],
            stand_for: [0.0; 2],
        }
    }
}

impl Reuse {
    /// Adds a request for the bytes `begin` to `end` (exclusive) of a device.
    #[inline]
    pub fn add(&mut self, op: Op, device: u32, begin: u64, end: u64) {
        let (first, after) = (begin / PAGE, end.div_ceil(PAGE));
        let of = usize::from(op == Op::Write);
        self.asked[of] += after - first;
        if end - begin > STREAMS {
            self.stand_for[of] += (after - first) as f64;
            return;
        }
        for page in first..after {
            let hash = mixed(page | u64::from(device) << PAGE_BITS);
            if hash.leading_zeros() >= self.zeros {
                self.touch(of, hash);
            }
        }
    }

    /// Notes that a page that is followed was asked for. Its hash stands for it, as different pages have different ones.
    fn touch(&mut self, of: usize, hash: u64) {
        self.stand_for[of] += (1u64 << self.zeros) as f64;
        if self.next as usize == SLOTS {
            self.number_again();
        }
        let now = self.next;
        self.next += 1;
        self.marks.add(now, 1);
        match self.last_uses.find_mut(spread(hash), |(known, _)| *known == hash) {
            Some((_, last)) => {
                let before = std::mem::replace(last, now);
                self.marks.add(before, -1);
                // The page itself, and those whose last use came after its own.
                let distance = self.last_uses.len() as u64 - self.marks.up_to(before);
                let count = count_of(self.in_all(distance));
                self.found[of][count] += (1u64 << self.zeros) as f64;
            }
            None => {
                self.last_uses.insert_unique(spread(hash), (hash, now), |(known, _)| spread(*known));
                self.follow_fewer();
            }
        }
    }

    /// Returns the distance in pages, followed or not, that one in followed pages stands for. The page itself is one of them.
    fn in_all(&self, distance: u64) -> u64 {
        ((distance - 1) << self.zeros) + 1
    }

    /// Halves the sample until it is small enough.
    fn follow_fewer(&mut self) {
        while self.last_uses.len() > MOST_PAGES {
            self.zeros += 1;
            let zeros = self.zeros;
            self.last_uses.retain(|(hash, _)| hash.leading_zeros() >= zeros);
            self.number_again();
        }
    }

    /// Numbers the last uses again, from 0 on in their order.
    fn number_again(&mut self) {
        self.marks.0.fill(0);
        let mut uses: Vec<&mut u32> = self.last_uses.iter_mut().map(|(_, last)| last).collect();
        uses.sort_unstable();
        self.next = uses.len() as u32;
        for (at, last) in (0..).zip(uses) {
            *last = at;
            self.marks.add(at, 1);
        }
    }

    /// Returns the hit ratios for sizes that are powers of two, up to the first that has all that was asked for twice; `None` without requests.
    pub fn finish(mut self) -> Option<LruHits> {
        let asked: Vec<f64> = self.asked.iter().map(|pages| *pages as f64).collect();
        let all: f64 = asked.iter().sum();
        for (of, asked) in asked.iter().enumerate() {
            // A sample that has too much or too little of the most popular pages differs by these (SHARDS_adj).
            self.found[of][count_of(1)] += asked - self.stand_for[of];
        }
        let most = self.found.iter().flatten().sum::<f64>();
        let mut hit_ratios = Vec::new();
        for octave in 0..u64::BITS - PAGE.ilog2() {
            let pages = 1u64 << octave;
            let hits = |of: usize| self.found[of][..=count_of(pages)].iter().sum::<f64>();
            let (reads, writes) = (hits(0), hits(1));
            let ratio = |hits: f64, asked: f64| (hits / asked).clamp(0.0, 1.0);
            let of_reads = (asked[0] > 0.0).then(|| ratio(reads, asked[0]));
            hit_ratios.push((pages * PAGE, of_reads, ratio(reads + writes, all)));
            if reads + writes >= most {
                break;
            }
        }
        let followed = 1.0 / (1u64 << self.zeros) as f64;
        (all > 0.0).then_some(LruHits { page: PAGE, followed, hit_ratios })
    }
}

/// Returns a hash whose bits of all places vary, also where those of the first do not.
fn spread(hash: u64) -> u64 {
    hash.rotate_left(u64::BITS / 2)
}

/// Returns which count a distance above zero belongs to. Powers of two are the last of theirs.
fn count_of(distance: u64) -> usize {
    let below = distance - 1;
    if below < u64::from(EIGHTHS) {
        return below as usize;
    }
    let octave = below.ilog2();
    let eighth = below >> (octave - EIGHTHS.ilog2()) & u64::from(EIGHTHS - 1);
    (octave * EIGHTHS - EIGHTHS * (EIGHTHS.ilog2() - 1)) as usize + eighth as usize
}

/// Marks of slots, which are counted up to any of them in logarithmic time (Fenwick 1994).
struct Marks(Vec<i32>);

impl Marks {
    fn add(&mut self, slot: u32, mark: i32) {
        let mut at = slot as usize + 1;
        while at < self.0.len() {
            self.0[at] += mark;
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the number of marks up to a slot.
    fn up_to(&self, slot: u32) -> u64 {
        let (mut at, mut marks) = (slot as usize + 1, 0i64);
        while at > 0 {
            marks += i64::from(self.0[at]);
            at -= at & at.wrapping_neg();
        }
        marks.unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Hit ratios of all sizes are those of a list in the order of last use.
        #[test]
        fn hit_ratios_are_those_of_lists(requests in prop::collection::vec((any::<bool>(), 0u32..2, 0u64..60, 1u64..9), 1..300)) {
            let mut reuse = Reuse::default();
            let mut lists: Vec<_> =
                (0..8).map(|octave| (1usize << octave, VecDeque::<(u32, u64)>::new(), [0u64; 2])).collect();
            let mut asked = [0u64; 2];
            for (write, device, page, pages) in requests {
                let op = if write { Op::Write } else { Op::Read };
                reuse.add(op, device, page * PAGE, (page + pages) * PAGE);
                for page in page..page + pages {
                    asked[usize::from(write)] += 1;
                    for (most, list, hits) in &mut lists {
                        let at = list.iter().position(|kept| *kept == (device, page));
                        hits[usize::from(write)] += u64::from(at.is_some());
                        at.map(|at| list.remove(at));
                        list.push_front((device, page));
                        list.truncate(*most);
                    }
                }
            }
            let found = reuse.finish().unwrap();
            prop_assert_eq!(found.followed, 1.0);
            for ((most, _, hits), (bytes, reads, all)) in lists.iter().zip(&found.hit_ratios) {
                prop_assert_eq!(*bytes, *most as u64 * PAGE);
                let share = |hits: u64, asked: u64| (asked > 0).then(|| hits as f64 / asked as f64);
                prop_assert_eq!(*reads, share(hits[0], asked[0]));
                prop_assert!((all - share(hits[0] + hits[1], asked[0] + asked[1]).unwrap()).abs() < 1e-12);
            }
        }

        #[test]
        fn counts_are_in_order(distance in 1u64..1 << 62) {
            prop_assert!(count_of(distance) <= count_of(distance + 1));
            let power = distance.next_power_of_two();
            prop_assert!(count_of(power) < count_of(power + 1) && count_of(power + 1) < COUNTS);
        }
    }

    /// Half of the requests ask for 1,024 pages, and half for any of eight times as many as are followed: of these, a cache has the share that fits.
    #[test]
    fn a_sample_says_what_all_pages_would() {
        let (popular, all) = (1u64 << 10, 8 * MOST_PAGES as u64);
        let mut reuse = Reuse::default();
        for number in 0..20 * all {
            let dice = mixed(number) >> 8;
            let page =
                if dice.is_multiple_of(2) { (dice >> 1) % popular } else { popular + (dice >> 1) % all };
            reuse.add(Op::Read, 0, page * PAGE, (page + 1) * PAGE);
        }
        let found = reuse.finish().unwrap();
        assert!(found.followed < 0.2);
        for (bytes, reads, _) in found.hit_ratios.iter().filter(|(bytes, ..)| *bytes >= 8 * popular * PAGE) {
            let fits = (*bytes / PAGE - popular) as f64 / all as f64;
            let reads = reads.unwrap();
            assert!((reads - 0.5 - 0.5 * fits.min(1.0)).abs() < 0.06, "{bytes}: {reads} for {fits}");
        }
    }

    #[test]
    fn a_stream_is_never_found() {
        let mut reuse = Reuse::default();
        (0..2).for_each(|_| reuse.add(Op::Read, 0, 0, 1 << 40));
        let found = reuse.finish().unwrap();
        assert!(found.hit_ratios.iter().all(|(_, reads, all)| (*reads, *all) == (Some(0.0), 0.0)));
    }
}
