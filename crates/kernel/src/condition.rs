//! A condition that becomes true when something changes.

use crate::signal::Signal;
use crate::sim::Sim;

/// Processes wait, in order, each for a condition of its own. A change wakes the first, and the next only when that goes on: however many
/// wait, those whose turn has not come cost nothing.
pub struct Condition<'m>(Signal<'m>);

impl<'m> Condition<'m> {
    /// One for which nobody waits.
    pub fn new(sim: &'m Sim<'m>) -> Self {
        Self(Signal::new(sim))
    }

    /// Waits until all who came before have gone on, and `holds` returns true.
    pub async fn wait_until(&'m self, holds: impl Fn() -> bool + Unpin) {
        self.0.wait(|| holds().then_some(())).await;
    }

    /// Has the first who waits look whether its condition holds now.
    pub fn has_changed(&self) {
        self.0.notify_first();
    }
}
