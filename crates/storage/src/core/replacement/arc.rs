//! ARC, of Megiddo and Modha (FAST 2003, figure 4).

use super::lists::Lists;
use super::{Item, Replacement};

/// Items used once and items used again, by use; of those that left them only the numbers are known. The paper's names.
const T1: usize = 0;
const T2: usize = 1;
const B1: usize = 2;
const B2: usize = 3;

/// The lists.
#[derive(Clone, Debug)]
pub struct Arc {
    lists: Lists<4>,
    capacity: usize,
    /// Target size of `T1`, the paper's *p*.
    target: f64,
    /// The incoming item, and whether it was in `B1` or `B2`.
    returning: Option<Item>,
}

impl Arc {
    /// Moves the target towards the list whose lost item was wanted again, and forgets that it was lost.
    fn adapt(&mut self, item: Item, lost_from: usize) {
        let (b1, b2) = (self.lists.len(B1) as f64, self.lists.len(B2) as f64);
        self.target = match lost_from {
            B1 => (self.target + (b2 / b1).max(1.0)).min(self.capacity as f64),
            _ => (self.target - (b1 / b2).max(1.0)).max(0.0),
        };
        self.lists.remove(item);
        self.returning = Some(item);
    }

    /// Makes room in the lists of lost items for one more (case IV). Returns true if the oldest of `T1` is lost without a trace.
    fn forget_one(&mut self) -> bool {
        let first = self.lists.len(T1) + self.lists.len(B1);
        if first >= self.capacity {
            return self.lists.pop(B1).is_none();
        }
        if first + self.lists.len(T2) + self.lists.len(B2) >= 2 * self.capacity {
            self.lists.pop(B2);
        }
        false
    }

    fn lost_from(&self, item: Item) -> Option<usize> {
        self.lists.of(item).filter(|list| [B1, B2].contains(list))
    }
}

impl Replacement for Arc {
    fn new(capacity: usize) -> Self {
        Self { lists: Lists::new(), capacity: capacity.max(1), target: 0.0, returning: None }
    }

    #[inline]
    fn holds(&self, item: Item) -> bool {
        matches!(self.lists.of(item), Some(T1 | T2))
    }

    #[inline]
    fn touch(&mut self, item: Item) -> bool {
        let holds = self.holds(item);
        if holds {
            self.lists.push(T2, item);
        }
        holds
    }

    fn insert(&mut self, item: Item) {
        if let Some(list) = self.lost_from(item) {
            self.adapt(item, list);
        }
        let returns = self.returning.take() == Some(item);
        self.lists.push(if returns { T2 } else { T1 }, item);
    }

    fn evict(&mut self, incoming: Option<Item>, mut may_go: impl FnMut(Item) -> bool) -> Option<Item> {
        let lost_from = incoming.and_then(|item| Some((item, self.lost_from(item)?)));
        let without_trace = match lost_from {
            Some((item, list)) => {
                self.adapt(item, list);
                false
            }
            None => self.forget_one(),
        };
        let t1 = self.lists.len(T1) as f64;
        let was_in_b2 = matches!(lost_from, Some((_, B2)));
        let first = t1 > self.target || (was_in_b2 && t1 == self.target);
        let order = if first || without_trace { [T1, T2] } else { [T2, T1] };
        let item = order.into_iter().find_map(|list| self.lists.oldest_that(list, &mut may_go))?;
        match self.lists.of(item) {
            Some(T1) if without_trace => {
                self.lists.remove(item);
            }
            Some(T1) => self.lists.push(B1, item),
            _ => self.lists.push(B2, item),
        }
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
