//! Lists of items from the oldest to the newest, each item in one list at most: what policies are made of.

use super::Item;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    item: Item,
    list: usize,
    /// The next older and the next newer item of the list.
    links: [u32; 2],
}

/// `N` lists. All operations take constant time.
#[derive(Clone, Debug)]
pub struct Lists<const N: usize> {
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// The oldest and the newest item of each list, and their number.
    ends: [[u32; 2]; N],
    lengths: [usize; N],
    /// Nodes by item: a hash table with linear probing, at most half full.
    table: Vec<u32>,
}

impl<const N: usize> Lists<N> {
    /// Empty lists.
    pub fn new() -> Self {
        let (ends, table) = ([[NONE; 2]; N], vec![NONE; 16]);
        Self { nodes: Vec::new(), free: Vec::new(), ends, lengths: [0; N], table }
    }

    /// Number of items in a list.
    pub fn len(&self, list: usize) -> usize {
        self.lengths[list]
    }

    /// The list that an item is in.
    #[inline]
    pub fn of(&self, item: Item) -> Option<usize> {
        self.node(item).map(|node| self.nodes[node as usize].list)
    }

    /// The oldest item of a list.
    pub fn oldest(&self, list: usize) -> Option<Item> {
        let [oldest, _] = self.ends[list];
        (oldest != NONE).then(|| self.nodes[oldest as usize].item)
    }

    /// Makes an item the newest of a list, whether or not it was in one.
    #[inline]
    pub fn push(&mut self, list: usize, item: Item) {
        let node = match self.node(item) {
            Some(node) => {
                self.unlink(node);
                node
            }
            None => self.add(item),
        };
        self.link(list, node);
    }

    /// Removes an item. Returns the list that it was in.
    pub fn remove(&mut self, item: Item) -> Option<usize> {
        let node = self.node(item)?;
        self.unlink(node);
        self.forget(item);
        self.free.push(node);
        Some(self.nodes[node as usize].list)
    }

    /// Removes the oldest item of a list.
    pub fn pop(&mut self, list: usize) -> Option<Item> {
        let oldest = self.oldest(list)?;
        self.remove(oldest);
        Some(oldest)
    }

    /// The oldest item of a list that `may_go`; those before it become the newest.
    pub fn oldest_that(&mut self, list: usize, mut may_go: impl FnMut(Item) -> bool) -> Option<Item> {
        for _ in 0..self.lengths[list] {
            let oldest = self.oldest(list)?;
            if may_go(oldest) {
                return Some(oldest);
            }
            self.push(list, oldest);
        }
        None
    }

    fn add(&mut self, item: Item) -> u32 {
        let node = Node { item, list: 0, links: [NONE; 2] };
        let number = self.free.pop().unwrap_or(self.nodes.len() as u32);
        match self.nodes.get_mut(number as usize) {
            Some(free) => *free = node,
            None => self.nodes.push(node),
        }
        if 2 * (self.nodes.len() - self.free.len()) > self.table.len() {
            self.grow();
        }
        let at = self.probe(item);
        self.table[at] = number;
        number
    }

    #[inline]
    fn link(&mut self, list: usize, node: u32) {
        let [oldest, newest] = self.ends[list];
        let linked = &mut self.nodes[node as usize];
        (linked.list, linked.links) = (list, [newest, NONE]);
        match newest {
            NONE => self.ends[list] = [node; 2],
            _ => {
                self.nodes[newest as usize].links[1] = node;
                self.ends[list] = [oldest, node];
            }
        }
        self.lengths[list] += 1;
    }

    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { list, links: [older, newer], .. } = self.nodes[node as usize];
        match older {
            NONE => self.ends[list][0] = newer,
            _ => self.nodes[older as usize].links[1] = newer,
        }
        match newer {
            NONE => self.ends[list][1] = older,
            _ => self.nodes[newer as usize].links[0] = older,
        }
        self.lengths[list] -= 1;
    }
}

/// The hash table.
impl<const N: usize> Lists<N> {
    /// The place where an item is looked for first (Fibonacci hashing).
    #[inline]
    fn home(&self, (owner, number): Item) -> usize {
        let key = number ^ u64::from(owner) << 48;
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.table.len().trailing_zeros())) as usize
    }

    /// The place of an item, or the free place where it belongs.
    #[inline]
    fn probe(&self, item: Item) -> usize {
        let mut at = self.home(item);
        while self.table[at] != NONE && self.nodes[self.table[at] as usize].item != item {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    #[inline]
    fn node(&self, item: Item) -> Option<u32> {
        Some(self.table[self.probe(item)]).filter(|node| *node != NONE)
    }

    /// Takes an item out of the table; those behind it close the gap where they would no longer be found.
    fn forget(&mut self, item: Item) {
        let mask = self.table.len() - 1;
        let mut gap = self.probe(item);
        let mut at = (gap + 1) & mask;
        while self.table[at] != NONE {
            let home = self.home(self.nodes[self.table[at] as usize].item);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.table[gap] = self.table[at];
                gap = at;
            }
            at = (at + 1) & mask;
        }
        self.table[gap] = NONE;
    }

    #[cold]
    fn grow(&mut self) {
        let nodes = std::mem::take(&mut self.table);
        self.table = vec![NONE; 2 * nodes.len()];
        for node in nodes.into_iter().filter(|node| *node != NONE) {
            let at = self.probe(self.nodes[node as usize].item);
            self.table[at] = node;
        }
    }
}
