//! Components within others of which there is exactly one, and what others know of components.

use headrace_units::Bytes;
use headrace_work::NodeId;

use super::Lowering;
use crate::core::graph::document::NameStep;
use crate::{AnyPlan, ComponentSpec, Of};

impl Lowering<'_> {
    /// A component of its own within the one that is being lowered, such as a controller's bus.
    pub fn inner(&mut self, name: &'static str, spec: &ComponentSpec) -> Option<NodeId> {
        let outer = self.context.clone();
        let mut field = outer.field.clone();
        field.push(name.to_owned());
        let spot = outer.part(field, name, name);
        let node = self.at(NameStep::Written(name), spot, spec);
        self.context = outer;
        node
    }

    /// A component of `system` that `field` names, which must be of one kind.
    pub fn shared_of_kind(&mut self, field: &str, name: &str, kind: &str) -> Option<NodeId> {
        match self.named_in_system(name).map(ComponentSpec::kind) {
            Some(other) if other != kind => {
                self.refuse(field, format!("`{name}` is a `{other}`; a `{kind}` belongs here"), None)
            }
            _ => self.shared(field, name),
        }
    }

    /// Returns the plan that a node has become, if it is of the kind `P`.
    pub(crate) fn plan<P>(&self, id: NodeId) -> Option<&P>
    where
        P: Of<AnyPlan>,
    {
        self.drafts[id.index()].plan.as_ref()?.get()
    }

    /// Returns what has been lowered so far: the nodes, their plans, and what each uses.
    pub(crate) fn lowered(&self) -> impl Iterator<Item = (NodeId, &AnyPlan, &[NodeId])> {
        let all = self.drafts.iter().enumerate();
        all.filter_map(|(at, draft)| Some((NodeId(at as u32), draft.plan.as_ref()?, &*draft.uses)))
    }

    /// Returns the path of a node.
    pub(crate) fn path_of(&self, id: NodeId) -> &str {
        &self.drafts[id.index()].spot.path
    }

    /// Returns the unit in which a component reads and writes: a sector of its own, or of a component that it uses.
    pub fn sector(&self, id: NodeId) -> Option<Bytes> {
        let draft = &self.drafts[id.index()];
        let below = || draft.uses.iter().filter_map(|used| self.sector(*used)).max();
        draft.plan.as_ref()?.theory().features().sector.or_else(below)
    }
}
