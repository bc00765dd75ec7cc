//! A gate: open, and all pass; closed, and all wait.

use std::cell::Cell;

use crate::signal::{Signal, Waits};
use crate::sim::Sim;

/// Lets processes pass while it is open. Those that waited go on in the order they came.
pub struct Gate<'m> {
    open: Cell<bool>,
    signal: Signal<'m>,
}

impl<'m> Gate<'m> {
    /// A gate that begins open or closed.
    pub fn new(sim: &'m Sim<'m>, open: bool) -> Self {
        Self { open: Cell::new(open), signal: Signal::new(sim) }
    }

    /// Passes at once when the gate is open, else waits for it to open.
    pub async fn pass(&'m self) {
        self.signal.wait(|| self.open.get().then_some(())).await;
    }

    /// Opens the gate; all who wait go on at this instant, unless it is closed again before their turn.
    pub fn open(&self) {
        self.open.set(true);
        self.signal.notify_first();
    }

    /// Closes the gate to those who come from now on.
    pub fn close(&self) {
        self.open.set(false);
    }

    /// What was recorded of the waits so far.
    pub fn waits(&self) -> Waits {
        self.signal.waits()
    }
}
