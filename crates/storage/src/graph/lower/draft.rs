//! Nodes on their way into a graph.

use crate::AnyPlan;
use crate::room::Lowered;

/// Where a component is being lowered.
#[derive(Clone, Default)]
pub(super) struct Spot {
    /// The number of its draft.
    pub(super) id: usize,
    /// Its place in the document.
    pub(super) field: Vec<String>,
    pub(super) path: String,
    pub(super) group: String,
    pub(super) within: Option<usize>,
    /// The component of `system` that it belongs to, by its place there.
    pub(super) root: usize,
}

/// A node that may not be finished.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) spot: Spot,
    pub(super) lowered: Option<Lowered<AnyPlan>>,
    /// Components on the longest way through it.
    pub(super) depth: usize,
}
