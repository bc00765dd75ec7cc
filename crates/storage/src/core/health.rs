//! Health: whether a component works, and as fast as usual, and what happened to it.

use std::cell::Cell;

use headrace_units::Nanos;
use headrace_work::NodeId;

/// Health of a component.
#[derive(Debug, Default)]
pub struct Health {
    down: Cell<bool>,
    failures: Cell<u32>,
    /// Percentage of its usual time by which all takes longer.
    longer: Cell<u32>,
}

/// Change of a component's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It completes nothing from now on, not even requests received before.
    Fails,
    /// It works again. Its data is still there, but not what was to be written in the meantime.
    Returns,
    /// Another one works in its place, and holds nothing.
    Replaced,
    /// What it begins from now on takes this percentage of its usual time; 100 or less for the usual time.
    Slow(u32),
}

/// Event of a component's health during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthEvent {
    /// Time of the event.
    pub at: Nanos,
    /// To which component.
    pub node: NodeId,
    /// The event.
    pub what: Event,
}

/// Kinds of health events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its health changes.
    Changes(Change),
    /// The health of one of its pieces changes, by its running number.
    PieceChanges(u32, Change),
    /// An array uses this component no more, because it is slow.
    Evicts(NodeId),
    /// It begins work beside its hosts, by a word that is a noun and a verb: `rebuild`, `scrub`, `copy`.
    Begins(&'static str),
    /// All of that work that could be done is.
    Ends(&'static str),
    /// An array has lost this number of stripes for good.
    LosesData(u64),
}

impl Health {
    /// Returns true if the component is up.
    #[inline]
    pub fn is_up(&self) -> bool {
        !self.down.get()
    }

    /// Returns the number of failures. Work that begins at one count and ends at another was lost in between.
    #[inline]
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }

    /// Returns the time that it takes now for what usually takes `time`.
    #[inline]
    pub fn slowed(&self, time: Nanos) -> Nanos {
        match self.longer.get() {
            0 => time,
            longer => Self::lengthened(time, longer),
        }
    }

    /// Out of the way of the usual.
    #[cold]
    fn lengthened(time: Nanos, percent: u32) -> Nanos {
        time + Nanos((u128::from(time.0) * u128::from(percent) / 100) as u64)
    }

    /// Applies a change; returns true if it changes anything.
    pub fn change(&self, change: Change) -> bool {
        if let Change::Slow(percent) = change {
            let longer = percent.saturating_sub(100);
            return self.longer.replace(longer) != longer;
        }
        if change == Change::Replaced {
            self.longer.set(0);
        }
        let fails = change == Change::Fails;
        let changes = self.down.replace(fails) != fails;
        // A disk may be replaced that had not failed: what it was asked before is lost too.
        let pulled = change == Change::Replaced && !changes;
        self.failures.set(self.failures.get() + u32::from((fails && changes) || pulled));
        changes || pulled
    }
}
