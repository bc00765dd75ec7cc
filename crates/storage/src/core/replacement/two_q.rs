//! 2Q, the full version, of Johnson and Shasha (VLDB 1994, figure 2).

use super::lists::Lists;
use super::{Item, Replacement};

/// Items used once, a queue; items that have left it, of which only the numbers are known; items used again, by use. The paper's names.
const A1_IN: usize = 0;
const A1_OUT: usize = 1;
const AM: usize = 2;

/// The queues.
#[derive(Clone, Debug)]
pub struct TwoQ {
    lists: Lists<3>,
    /// Number of items in `A1_IN` from which it gives way, and maximum number in `A1_OUT`: a quarter and half of the cache, as the authors
    /// recommend.
    k_in: usize,
    k_out: usize,
    /// The incoming item, if it was in `A1_OUT`.
    returning: Option<Item>,
}

impl TwoQ {
    fn trim(&mut self) {
        if self.lists.len(A1_OUT) > self.k_out {
            self.lists.pop(A1_OUT);
        }
    }
}

impl Replacement for TwoQ {
    fn new(capacity: usize) -> Self {
        let (k_in, k_out) = ((capacity / 4).max(1), (capacity / 2).max(1));
        Self { lists: Lists::new(), k_in, k_out, returning: None }
    }

    #[inline]
    fn holds(&self, item: Item) -> bool {
        matches!(self.lists.of(item), Some(A1_IN | AM))
    }

    #[inline]
    fn touch(&mut self, item: Item) -> bool {
        match self.lists.of(item) {
            Some(AM) => self.lists.push(AM, item),
            Some(A1_IN) => {}
            _ => return false,
        }
        true
    }

    fn insert(&mut self, item: Item) {
        let returns = self.returning.take() == Some(item) || self.lists.of(item) == Some(A1_OUT);
        self.lists.push(if returns { AM } else { A1_IN }, item);
    }

    fn evict(&mut self, incoming: Option<Item>, mut may_go: impl FnMut(Item) -> bool) -> Option<Item> {
        self.returning = incoming.filter(|item| self.lists.of(*item) == Some(A1_OUT));
        let order = if self.lists.len(A1_IN) > self.k_in { [A1_IN, AM] } else { [AM, A1_IN] };
        let item = order.into_iter().find_map(|list| self.lists.oldest_that(list, &mut may_go))?;
        match self.lists.of(item) {
            Some(A1_IN) => self.lists.push(A1_OUT, item),
            _ => {
                self.lists.remove(item);
            }
        }
        self.trim();
        Some(item)
    }

    fn remove(&mut self, item: Item) -> bool {
        let was_held = self.holds(item);
        if was_held {
            self.lists.remove(item);
        }
        was_held
    }
}
