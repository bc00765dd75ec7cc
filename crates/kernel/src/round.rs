//! A round: those who take part wait until it ends, and then all go on.

use std::cell::Cell;

use crate::signal::Signal;
use crate::sim::Sim;

/// Rounds that follow each other. Who waits takes part in the present one.
pub struct Round<'m> {
    number: Cell<u64>,
    signal: Signal<'m>,
}

impl<'m> Round<'m> {
    /// The first round.
    pub fn new(sim: &'m Sim<'m>) -> Self {
        Self { number: Cell::new(0), signal: Signal::new(sim) }
    }

    /// Waits until the present round ends.
    pub async fn wait(&'m self) {
        let mine = self.number.get();
        self.signal.wait(|| (self.number.get() > mine).then_some(())).await;
    }

    /// Ends the present round: all who wait go on at this instant, in the order in which they came.
    pub fn end(&self) {
        self.number.set(self.number.get() + 1);
        self.signal.notify_first();
    }
}
