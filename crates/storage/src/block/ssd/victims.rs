//! Choice of the block of a die that is erased next.

use std::collections::VecDeque;

use headrace_kernel::Draws;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule by which garbage collection chooses the block to erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Collection {
    /// The block with the fewest valid pages.
    #[default]
    Greedy,
    /// The block that was written first.
    Fifo,
    /// The block with the fewest valid pages among this number of blocks drawn at random.
    Choices(#[schemars(range(min = 1, max = 1000))] u32),
}

/// The full blocks of a die, by who is next. It learns of each block when it is full, and when one of its pages becomes invalid.
#[derive(Clone, Debug)]
pub enum Victims {
    Greedy(VictimLists),
    Fifo(VecDeque<u32>),
    Choices { full: Vec<u32>, many: u32, draws: Box<Draws> },
}

impl Victims {
    /// For a die of `blocks` blocks of `pages` pages.
    pub fn new(collection: Collection, blocks: u32, pages: u32, draws: Draws) -> Self {
        match collection {
            Collection::Greedy => Self::Greedy(VictimLists::new(blocks, pages)),
            Collection::Fifo => Self::Fifo(VecDeque::new()),
            Collection::Choices(many) => Self::Choices { full: Vec::new(), many, draws: Box::new(draws) },
        }
    }

    /// A block is full.
    pub fn add(&mut self, block: u32, valid: u32) {
        match self {
            Self::Greedy(buckets) => buckets.add(block, valid),
            Self::Fifo(queue) => queue.push_back(block),
            Self::Choices { full, .. } => full.push(block),
        }
    }

    /// A full block has now this number of valid pages, one less than before.
    #[inline]
    pub fn lower(&mut self, block: u32, valid: u32) {
        if let Self::Greedy(buckets) = self {
            buckets.lower(block, valid);
        }
    }

    /// Takes the next victim out; `valid` has the valid pages of each block.
    pub fn take(&mut self, valid: &[u32]) -> Option<u32> {
        match self {
            Self::Greedy(buckets) => buckets.take_least(),
            Self::Fifo(queue) => queue.pop_front(),
            Self::Choices { full, many, draws } => {
                let mut draw = |_| draws.below(full.len().max(1) as u64) as usize;
                let drawn = (0..*many).map(&mut draw);
                let at = drawn.min_by_key(|at| full.get(*at).map(|block| valid[*block as usize]))?;
                (at < full.len()).then(|| full.swap_remove(at))
            }
        }
    }
}

const NONE: u32 = u32::MAX;

/// Blocks in lists by their number of valid pages, so that the least is found at once; of several the one that came to that number first.
#[derive(Clone, Debug)]
pub struct VictimLists {
    /// The first and the last block of each list.
    ends: Vec<[u32; 2]>,
    /// Of each block the one before it and the one behind it in its list.
    links: Vec<[u32; 2]>,
    /// No list before this one has a block.
    least: usize,
}

impl VictimLists {
    fn new(blocks: u32, pages: u32) -> Self {
        let ends = vec![[NONE; 2]; pages as usize + 1];
        Self { least: ends.len(), ends, links: vec![[NONE; 2]; blocks as usize] }
    }

    #[inline]
    fn add(&mut self, block: u32, valid: u32) {
        let last = std::mem::replace(&mut self.ends[valid as usize][1], block);
        self.links[block as usize] = [last, NONE];
        match last {
            NONE => self.ends[valid as usize][0] = block,
            last => self.links[last as usize][1] = block,
        }
        self.least = self.least.min(valid as usize);
    }

    #[inline]
    fn remove(&mut self, block: u32, valid: u32) {
        let [before, behind] = self.links[block as usize];
        match before {
            NONE => self.ends[valid as usize][0] = behind,
            before => self.links[before as usize][1] = behind,
        }
        match behind {
            NONE => self.ends[valid as usize][1] = before,
            behind => self.links[behind as usize][0] = before,
        }
    }

    #[inline]
    fn lower(&mut self, block: u32, valid: u32) {
        self.remove(block, valid + 1);
        self.add(block, valid);
    }

    fn take_least(&mut self) -> Option<u32> {
        while self.ends.get(self.least)?[0] == NONE {
            self.least += 1;
        }
        let block = self.ends[self.least][0];
        self.remove(block, self.least as u32);
        Some(block)
    }
}
