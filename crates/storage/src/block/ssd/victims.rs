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
    Greedy(FewestValid),
    Fifo(VecDeque<u32>),
    Choices { full: Vec<u32>, many: u32, draws: Box<Draws> },
}

impl Victims {
    /// For a die of `blocks` blocks.
    pub fn new(collection: Collection, blocks: u32, draws: Draws) -> Self {
        match collection {
            Collection::Greedy => Self::Greedy(FewestValid { came: vec![0; blocks as usize], changes: 0 }),
            Collection::Fifo => Self::Fifo(VecDeque::new()),
            Collection::Choices(many) => Self::Choices { full: Vec::new(), many, draws: Box::new(draws) },
        }
    }

    /// A block is full.
    pub fn add(&mut self, block: u32) {
        match self {
            Self::Greedy(full) => full.change(block),
            Self::Fifo(queue) => queue.push_back(block),
            Self::Choices { full, .. } => full.push(block),
        }
    }

    /// A full block has one valid page less than before.
    #[inline]
    pub fn lower(&mut self, block: u32) {
        if let Self::Greedy(full) = self {
            full.change(block);
        }
    }

    /// Takes the next victim out; `valid` has the valid pages of each block.
    pub fn take(&mut self, valid: &[u32]) -> Option<u32> {
        match self {
            Self::Greedy(full) => full.take(valid),
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

/// The full blocks, of which the one with the fewest valid pages is next; of several the one that came to that number first. All are looked
/// at when one is taken, which is once for as many pages as a block gains by its erasure. Lists by number of valid pages would be found at
/// once, but take more memory than all else of a drive, since blocks have more pages than dies have blocks.
#[derive(Clone, Debug)]
pub struct FewestValid {
    /// Of each full block, when it came to its number of valid pages, by a running number; zero for others.
    came: Vec<u64>,
    changes: u64,
}

impl FewestValid {
    /// A block has come to its number of valid pages.
    #[inline]
    fn change(&mut self, block: u32) {
        self.changes += 1;
        self.came[block as usize] = self.changes;
    }

    fn take(&mut self, valid: &[u32]) -> Option<u32> {
        let full = (0..).zip(self.came.iter().zip(valid)).filter(|(_, (came, _))| **came > 0);
        let (block, _) = full.min_by_key(|(_, (came, valid))| (**valid, **came))?;
        self.came[block as usize] = 0;
        Some(block)
    }
}
