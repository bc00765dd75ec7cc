//! The page cache: which pages are in memory, which of them are dirty, and since when. It has no clock: callers pass the time.

use std::collections::{BTreeMap, VecDeque};

use headrace_units::Nanos;

const NONE: u32 = u32::MAX;

/// A page in memory, in the list of clean ones or among the dirty.
#[derive(Clone, Copy, Debug)]
struct Page {
    number: u64,
    /// Dirty since then, as the ticket that it has in the queue of dirty pages; none where it is clean.
    dirty: Option<u64>,
    /// The page used before it and the one used after it.
    links: [u32; 2],
}

/// The pages in memory. Clean ones give way, least recently used first; dirty ones stay until they are written back.
#[derive(Debug, Default)]
pub struct PageCache {
    most: usize,
    known: BTreeMap<u64, u32>,
    slots: Vec<Page>,
    free: Vec<u32>,
    /// The least and the most recently used.
    ends: Option<[u32; 2]>,
    /// Dirty pages in the order in which they became dirty: page, ticket, when. A page that is clean or dirty again is passed over.
    queue: VecDeque<(u64, u64, Nanos)>,
    tickets: u64,
    dirty: usize,
}

impl PageCache {
    /// Room for `most` pages.
    pub fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Whether a page is in memory; it is then the most recently used.
    pub fn uses(&mut self, number: u64) -> bool {
        let Some(&slot) = self.known.get(&number) else { return false };
        self.unlink(slot);
        self.link(slot);
        true
    }

    /// A page has been read.
    pub fn read(&mut self, number: u64) {
        if !self.uses(number) {
            self.insert(number);
        }
    }

    /// A page has been written to.
    pub fn write(&mut self, number: u64, now: Nanos) {
        self.read(number);
        let Some(&slot) = self.known.get(&number) else { return };
        if self.slots[slot as usize].dirty.is_none() {
            self.tickets += 1;
            self.slots[slot as usize].dirty = Some(self.tickets);
            self.queue.push_back((number, self.tickets, now));
            self.dirty += 1;
        }
    }

    /// Number of pages in memory.
    pub fn held(&self) -> usize {
        self.known.len()
    }

    /// Number of dirty pages.
    pub fn dirty(&self) -> usize {
        self.dirty
    }

    /// Since when the oldest dirty page has been.
    pub fn oldest(&mut self) -> Option<Nanos> {
        loop {
            let &(number, ticket, since) = self.queue.front()?;
            if self.ticket(number) == Some(ticket) {
                return Some(since);
            }
            self.queue.pop_front();
        }
    }

    fn ticket(&self, number: u64) -> Option<u64> {
        self.known.get(&number).and_then(|slot| self.slots[*slot as usize].dirty)
    }

    /// Takes the oldest dirty page and those that follow it without a gap, at most `most`; they are clean from now on.
    pub fn take_run(&mut self, most: u64) -> Option<(u64, u64)> {
        self.oldest()?;
        let (first, ..) = self.queue.pop_front()?;
        let mut number = first;
        while number < first + most && self.clean(number) {
            number += 1;
        }
        Some((first, number - first))
    }

    /// Makes a page clean; gives whether it was dirty.
    fn clean(&mut self, number: u64) -> bool {
        let Some(&slot) = self.known.get(&number) else { return false };
        let was = self.slots[slot as usize].dirty.take().is_some();
        self.dirty -= usize::from(was);
        was
    }

    /// Brings a page into memory, and puts the least recently used clean one out where there is no room.
    fn insert(&mut self, number: u64) {
        if self.known.len() >= self.most {
            self.evict();
        }
        let page = Page { number, dirty: None, links: [NONE; 2] };
        let slot = match self.free.pop() {
            Some(free) => {
                self.slots[free as usize] = page;
                free
            }
            None => {
                self.slots.push(page);
                (self.slots.len() - 1) as u32
            }
        };
        self.known.insert(number, slot);
        self.link(slot);
    }

    /// Puts out the least recently used clean page. Dirty pages on the way are used again: they are not asked again soon.
    fn evict(&mut self) {
        for _ in 0..self.known.len() {
            let Some([first, _]) = self.ends else { return };
            let Page { number, dirty, .. } = self.slots[first as usize];
            self.unlink(first);
            if dirty.is_none() {
                self.known.remove(&number);
                self.free.push(first);
                return;
            }
            self.link(first);
        }
    }

    /// Puts a page behind the most recently used.
    fn link(&mut self, slot: u32) {
        let last = self.ends.map_or(NONE, |[_, last]| last);
        self.slots[slot as usize].links = [last, NONE];
        if last != NONE {
            self.slots[last as usize].links[1] = slot;
        }
        self.ends = Some(self.ends.map_or([slot; 2], |[first, _]| [first, slot]));
    }

    fn unlink(&mut self, slot: u32) {
        let [before, behind] = self.slots[slot as usize].links;
        if before != NONE {
            self.slots[before as usize].links[1] = behind;
        }
        if behind != NONE {
            self.slots[behind as usize].links[0] = before;
        }
        self.ends = self.ends.and_then(|[first, last]| {
            let first = if first == slot { behind } else { first };
            let last = if last == slot { before } else { last };
            (first != NONE && last != NONE).then_some([first, last])
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_least_recently_used_clean_page_gives_way() {
        let mut pages = PageCache::new(3);
        (1..=3).for_each(|number| pages.read(number));
        assert!(pages.uses(1));
        pages.read(4);
        assert_eq!([1, 2, 3, 4].map(|number| pages.uses(number)), [true, false, true, true]);
        pages.write(3, Nanos(5));
        (5..=7).for_each(|number| pages.read(number));
        assert!(pages.uses(3), "a dirty page stays");
    }

    #[test]
    fn dirty_pages_are_taken_oldest_first_in_runs() {
        let mut pages = PageCache::new(100);
        for (at, number) in [7, 8, 20, 9, 10].into_iter().enumerate() {
            pages.write(number, Nanos(at as u64));
        }
        pages.write(7, Nanos(9));
        assert_eq!(pages.oldest(), Some(Nanos(0)), "to write it again makes it no younger");
        assert_eq!(
            [3, 9, 9, 9].map(|most| pages.take_run(most)),
            [Some((7, 3)), Some((20, 1)), Some((10, 1)), None]
        );
        assert_eq!(pages.dirty(), 0);
    }

    proptest! {
        /// Compared with a list of pages and a set of dirty ones.
        #[test]
        fn pages_are_those_of_a_plain_cache(asked in prop::collection::vec((0u64..20, 0u8..3), 0..200)) {
            let (mut pages, mut plain, mut dirty) = (PageCache::new(8), Vec::new(), std::collections::BTreeSet::new());
            for (at, (number, what)) in asked.into_iter().enumerate() {
                if what == 2 {
                    let taken = pages.take_run(4).map_or(Vec::new(), |(first, many)| (first..first + many).collect());
                    prop_assert!(taken.iter().all(|page| dirty.remove(page)));
                    continue;
                }
                let there = plain.contains(&number);
                prop_assert_eq!(pages.uses(number), there);
                plain.retain(|page| *page != number);
                let out = plain.iter().position(|page| !dirty.contains(page));
                if let (false, true, Some(out)) = (there, plain.len() >= 8, out) {
                    plain.rotate_left(out);
                    plain.remove(0);
                }
                plain.push(number);
                if what == 1 {
                    pages.write(number, Nanos(at as u64));
                    dirty.insert(number);
                } else {
                    pages.read(number);
                }
                prop_assert_eq!(pages.dirty(), dirty.len());
            }
        }
    }
}
