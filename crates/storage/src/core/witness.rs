//! Facts that components report to whoever checks them: what happened, without the reasons.

use std::any::Any;

use headrace_units::Nanos;
use headrace_work::NodeId;

/// A checker that components inform of facts, of whatever type a wing has for them.
pub trait Witness {
    /// Takes a fact that concerns the component `of`.
    fn saw(&self, of: NodeId, fact: &dyn Any, now: Nanos);

    /// Returns what was wrong, in words.
    fn broken(&self) -> Vec<String>;
}
