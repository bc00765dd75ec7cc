//! Replays that keep gaps: each operation on a file comes its gap after the end of the one before it.

use std::cell::RefCell;

use headrace_kernel::{Lock, Locks, Sim};
use headrace_trace::Follows;
use headrace_units::Nanos;

/// Whose turn it is, file by file.
pub struct Turns<'m> {
    sim: &'m Sim<'m>,
    locks: Locks<'m>,
    /// When the last operation on each file ended.
    ends: RefCell<Vec<Nanos>>,
}

/// The turn of an operation: the next on its file waits until this is dropped, and then its gap.
pub struct FileTurn<'m> {
    turns: &'m Turns<'m>,
    file: u32,
    _lock: Lock<'m>,
}

impl Drop for FileTurn<'_> {
    fn drop(&mut self) {
        self.turns.ends.borrow_mut()[self.file as usize] = self.turns.sim.now();
    }
}

impl<'m> Turns<'m> {
    pub fn new(sim: &'m Sim<'m>) -> Self {
        Self { sim, locks: Locks::new(sim, 1), ends: RefCell::default() }
    }

    /// Waits for the turn of an operation.
    pub async fn next(&'m self, follows: Follows) -> FileTurn<'m> {
        let number = u64::from(follows.file);
        let lock = self.locks.lock(number, number + 1).await;
        let end = {
            let mut ends = self.ends.borrow_mut();
            let known = ends.len().max(follows.file as usize + 1);
            ends.resize(known, Nanos::ZERO);
            ends[follows.file as usize]
        };
        if let Some(gap) = follows.gap {
            self.sim.until(end + gap).await;
        }
        FileTurn { turns: self, file: follows.file, _lock: lock }
    }
}
