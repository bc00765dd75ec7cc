//! Nodes on their way into a graph.

use std::fmt::Display;

use headrace_units::Bytes;
use headrace_work::NodeId;

use crate::AnyPlan;

/// Position in the document of the component that is being lowered.
#[derive(Clone, Default)]
pub(super) struct LoweringSite {
    /// The number of its draft.
    pub(super) id: usize,
    /// Its place in the document.
    pub(super) field: Vec<String>,
    pub(super) path: String,
    pub(super) group: String,
    /// The path and the group of what it leads to, of a node that nobody wrote.
    pub(super) leads_to: Option<(String, String)>,
    pub(super) within: Option<usize>,
    /// The component of `system` that it belongs to, by its place there.
    pub(super) root: usize,
}

impl LoweringSite {
    /// The spot of a part within this one; `named` is its name in the path, with a number where there are several.
    pub(super) fn part(&self, field: Vec<String>, name: impl Display, named: impl Display) -> Self {
        Self {
            field,
            path: format!("{}/{named}", self.path),
            group: format!("{}/{name}", self.group),
            within: Some(self.id),
            root: self.root,
            ..Self::default()
        }
    }
}

/// A node that may not be finished.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) spot: LoweringSite,
    /// `None` while it is being lowered, and where that failed.
    pub(super) plan: Option<AnyPlan>,
    pub(super) uses: Vec<NodeId>,
    pub(super) capacity: Bytes,
    /// Components on the longest way through it.
    pub(super) depth: usize,
}
