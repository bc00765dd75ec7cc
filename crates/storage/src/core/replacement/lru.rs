//! Least recently used.

use super::lists::Lists;
use super::{Item, Replacement};

/// The items, the one used least recently first.
#[derive(Clone, Debug)]
pub struct Lru(Lists<1>);

impl Replacement for Lru {
    fn new(_: usize) -> Self {
        Self(Lists::new())
    }

    #[inline]
    fn holds(&self, item: Item) -> bool {
        self.0.of(item).is_some()
    }

    #[inline]
    fn touch(&mut self, item: Item) -> bool {
        let holds = self.holds(item);
        if holds {
            self.0.push(0, item);
        }
        holds
    }

    #[inline]
    fn insert(&mut self, item: Item) {
        self.0.push(0, item);
    }

    fn evict(&mut self, _: Option<Item>, may_go: impl FnMut(Item) -> bool) -> Option<Item> {
        let item = self.0.oldest_that(0, may_go)?;
        self.0.remove(item);
        Some(item)
    }

    fn remove(&mut self, item: Item) -> bool {
        self.0.remove(item).is_some()
    }
}
