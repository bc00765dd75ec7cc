//! The state of a drive that was written for long: its capacity overwritten at random, in no simulated time.
//!
//! To overwrite a drive takes longer than many a run after it. Which state that leaves depends on the drive and the seed, not on the
//! load, so a few of the last states are kept: the next point of a sweep, or the next change of a load, begins with a copy.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use headrace_kernel::RngStream;

use super::ftl::Ftl;
use super::geometry::Geometry;
use super::victims::Collection;

/// Flash pages of the states kept, in all: at most 100 MiB.
const MOST_PAGES: u64 = 1 << 23;

/// All that the state depends on.
#[derive(Clone, Copy, PartialEq)]
pub struct Past {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// Pages that hosts see.
    pub logical: u32,
    /// Those of them that were first written in sequence.
    pub filled: u32,
    /// Number of times that the capacity was overwritten.
    pub overwritten: f64,
    /// Choice of the blocks to erase.
    pub collection: Collection,
    /// Random numbers of that choice.
    pub choices: RngStream,
    /// Random numbers of the pages that were overwritten.
    pub writes: RngStream,
}

static LAST: Mutex<VecDeque<(Past, Arc<Ftl>)>> = Mutex::new(VecDeque::new());

impl Past {
    /// The drive after it. Any state once the run `is_interrupted`.
    pub fn state(&self, is_interrupted: &dyn Fn() -> bool) -> Ftl {
        if self.overwritten == 0.0 {
            return self.overwrite(is_interrupted);
        }
        if let Some(kept) = self.kept() {
            return Ftl::clone(&kept);
        }
        let state = self.overwrite(is_interrupted);
        if self.geometry.pages() <= MOST_PAGES && !is_interrupted() {
            self.keep(&state);
        }
        state
    }

    fn kept(&self) -> Option<Arc<Ftl>> {
        let mut last = LAST.lock().expect("nobody panics with it");
        let at = last.iter().position(|(past, _)| past == self)?;
        let found = last.remove(at)?;
        let state = Arc::clone(&found.1);
        last.push_back(found);
        Some(state)
    }

    fn keep(&self, state: &Ftl) {
        let copy = Arc::new(state.clone());
        let mut last = LAST.lock().expect("nobody panics with it");
        last.push_back((*self, copy));
        while last.iter().map(|(past, _)| past.geometry.pages()).sum::<u64>() > MOST_PAGES {
            last.pop_front();
        }
    }

    fn overwrite(&self, is_interrupted: &dyn Fn() -> bool) -> Ftl {
        let mut ftl = Ftl::new(self.geometry, self.logical, self.filled, self.collection, self.choices);
        overwrite(&mut ftl, self.overwritten, self.writes, is_interrupted);
        ftl
    }
}

/// Number of writes between two looks whether a run is interrupted.
const LOOK: u64 = 1 << 14;

/// Overwrites the capacity this number of times, each page as likely as any other, the dies in turn. Ends early once the run
/// `is_interrupted`.
pub fn overwrite(ftl: &mut Ftl, times: f64, stream: RngStream, is_interrupted: &dyn Fn() -> bool) {
    let (logical, dies) = (ftl.logical(), ftl.geometry().dies);
    let (mut draws, mut die) = (stream.draws(), 0);
    for write in 0..(times * f64::from(logical)) as u64 {
        if write % LOOK == 0 && is_interrupted() {
            break;
        }
        ftl.write(draws.below(u64::from(logical)) as u32, die);
        die = if die + 1 == dies { 0 } else { die + 1 };
    }
    ftl.begin();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::ssd::ftl::DieWork;

    fn past() -> Past {
        let geometry = Geometry { dies: 4, unit: 2, read: 1, rows: 4, blocks: 20 };
        let (collection, stream) = (Collection::Greedy, RngStream::named(1, "drive", "test"));
        Past {
            geometry,
            logical: 500,
            filled: 500,
            overwritten: 2.5,
            collection,
            choices: stream,
            writes: stream,
        }
    }

    fn works(mut ftl: Ftl) -> Vec<DieWork> {
        (0..2000).map(|n| ftl.write(n * 7 % 500, n % 4)).collect()
    }

    /// A state that was kept goes on as the one that it was copied from, and another past is another state.
    #[test]
    fn a_kept_state_is_the_state() {
        let fresh = works(past().overwrite(&|| false));
        for _ in 0..3 {
            assert_eq!(works(past().state(&|| false)), fresh);
        }
        assert!(past().kept().is_some());
        let longer = Past { overwritten: 3.0, ..past() };
        assert_ne!(works(longer.state(&|| false)), fresh);
    }
}
