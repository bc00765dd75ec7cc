//! The page cache: which pages are in memory, which of them are dirty, and since when. It has no clock: callers pass the time.

use std::collections::{BTreeMap, VecDeque};

use headrace_units::Nanos;

use crate::core::replacement::{AnyReplacement, ReplacementSpec};

/// The pages in memory. Clean ones give way, as a replacement policy chooses; dirty ones stay until they are written back.
#[derive(Debug)]
pub struct PageCache {
    most: usize,
    held: usize,
    order: AnyReplacement,
    /// Dirty pages, each with its ticket in the queue.
    dirty: BTreeMap<u64, u64>,
    /// Dirty pages in the order in which they became dirty: page, ticket, when. A page that is clean or dirty again is passed over.
    queue: VecDeque<(u64, u64, Nanos)>,
    tickets: u64,
}

impl PageCache {
    /// Room for `most` pages.
    pub fn new(most: usize, replacement: ReplacementSpec) -> Self {
        let (dirty, queue) = Default::default();
        Self { most, held: 0, order: replacement.of(most), dirty, queue, tickets: 0 }
    }

    /// Notes the use of a page. Returns true if it is in memory.
    pub fn uses(&mut self, number: u64) -> bool {
        self.order.touch((0, number))
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
        self.dirty.entry(number).or_insert_with(|| {
            self.tickets += 1;
            self.queue.push_back((number, self.tickets, now));
            self.tickets
        });
    }

    /// Number of pages in memory.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Number of dirty pages.
    pub fn dirty(&self) -> usize {
        self.dirty.len()
    }

    /// Since when the oldest dirty page has been.
    pub fn oldest(&mut self) -> Option<Nanos> {
        loop {
            let &(number, ticket, since) = self.queue.front()?;
            if self.dirty.get(&number) == Some(&ticket) {
                return Some(since);
            }
            self.queue.pop_front();
        }
    }

    /// The ticket of the page that became dirty last.
    pub fn newest(&self) -> u64 {
        self.tickets
    }

    /// Returns true if a page with at most this ticket is dirty.
    pub fn has_older(&mut self, ticket: u64) -> bool {
        self.oldest().is_some() && self.queue.front().is_some_and(|(_, first, _)| *first <= ticket)
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

    /// Makes a page clean. Returns true if it was dirty.
    fn clean(&mut self, number: u64) -> bool {
        self.dirty.remove(&number).is_some()
    }

    /// Brings a page into memory, for which a clean one gives way where there is no room.
    fn insert(&mut self, number: u64) {
        let page = (0, number);
        let is_clean = |(_, number)| !self.dirty.contains_key(&number);
        if self.held < self.most || self.order.evict(Some(page), is_clean).is_none() {
            self.held += 1;
        }
        self.order.insert(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_least_recently_used_clean_page_gives_way() {
        let mut pages = PageCache::new(3, ReplacementSpec::Lru);
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
        let mut pages = PageCache::new(100, ReplacementSpec::Lru);
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
            let (mut pages, mut plain, mut dirty) = (PageCache::new(8, ReplacementSpec::Lru), Vec::new(), std::collections::BTreeSet::new());
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
