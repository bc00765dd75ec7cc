//! Health: whether a component works, and what happened to it.

use std::cell::Cell;

use headrace_units::Nanos;
use headrace_work::NodeId;

/// Whether the component at a place works.
#[derive(Debug, Default)]
pub struct Health {
    down: Cell<bool>,
    failures: Cell<u32>,
}

/// What happens to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It answers nothing from now on, what it was asked before included.
    Fails,
    /// It works again. What it held is still there; what it was to write meanwhile is not.
    Returns,
    /// Another one works in its place, and holds nothing.
    Replaced,
}

/// What happened to a component during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthEvent {
    /// When.
    pub at: Nanos,
    /// To which component.
    pub node: NodeId,
    /// What.
    pub what: Event,
}

/// What can happen to a component during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its health changes.
    Changes(Change),
    /// The health of one of its pieces changes, by its running number.
    PieceChanges(u32, Change),
    /// An array begins to rebuild a disk, or to write what it missed.
    RebuildBegins,
    /// All that could be rebuilt is.
    RebuildEnds,
    /// An array has lost this number of stripes for good.
    LosesData(u64),
}

impl Health {
    /// Whether it works.
    #[inline]
    pub fn is_up(&self) -> bool {
        !self.down.get()
    }

    /// How often it failed. Work that was begun at one count and ends at another was lost in between.
    #[inline]
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }

    /// What happens to it; gives whether that changes anything.
    pub fn change(&self, change: Change) -> bool {
        let fails = change == Change::Fails;
        let changes = self.down.replace(fails) != fails;
        // A disk may be replaced that had not failed: what it was asked before is lost too.
        let pulled = change == Change::Replaced && !changes;
        self.failures.set(self.failures.get() + u32::from((fails && changes) || pulled));
        changes || pulled
    }
}
