//! Components within others of which there is exactly one, and what others know of components.

use headrace_units::Bytes;
use headrace_work::NodeId;

use super::Lowering;
use crate::graph::document::Step;
use crate::{AnyPlan, ComponentSpec};

impl Lowering<'_> {
    /// A component of its own within the one that is being lowered, such as a controller's bus.
    pub fn inner(&mut self, name: &'static str, spec: &ComponentSpec) -> Option<NodeId> {
        let outer = self.place.clone();
        let mut field = outer.field.clone();
        field.push(name.to_owned());
        let spot = outer.part(field, name, name);
        let node = self.at(Step::Written(name), spot, spec);
        self.place = outer;
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

    /// What a node that has been lowered has become.
    pub(crate) fn plan_of(&self, id: NodeId) -> Option<&AnyPlan> {
        self.drafts[id.index()].lowered.as_ref().map(|lowered| &lowered.plan)
    }

    /// Whether a node is a controller.
    pub fn is_controller(&self, id: NodeId) -> bool {
        let lowered = self.drafts[id.index()].lowered.as_ref();
        lowered.is_some_and(|lowered| matches!(lowered.plan, AnyPlan::Controller(_)))
    }

    /// What a component reads and writes as a whole: a sector of its own, or of what it uses.
    pub fn sector(&self, id: NodeId) -> Option<Bytes> {
        let lowered = self.drafts[id.index()].lowered.as_ref()?;
        let below = || lowered.uses.iter().filter_map(|used| self.sector(*used)).max();
        lowered.plan.known().sector().or_else(below)
    }

    /// Refuses controllers whose arrays set aside more memory for caches than they have. Only the whole system shows it.
    pub(super) fn check_memory(&mut self) {
        let short: Vec<(usize, Bytes, Bytes)> = (0..self.drafts.len())
            .filter_map(|at| {
                let memory = self.drafts[at].known()?.memory()?;
                let wanted = self.cached_by(at);
                (wanted > memory).then_some((at, memory, wanted))
            })
            .collect();
        for (at, memory, wanted) in short {
            let message = format!(
                "the caches of the arrays of `{}` take {wanted} together; it has {memory} of memory",
                self.drafts[at].spot.path
            );
            self.say_at(at, "memory", message, "increase `memory`, or use smaller caches");
        }
    }

    /// What the caches of all arrays take that use a node.
    fn cached_by(&self, node: usize) -> Bytes {
        let users = self.drafts.iter().filter(|draft| {
            draft.lowered.as_ref().is_some_and(|lowered| lowered.uses.iter().any(|used| used.index() == node))
        });
        Bytes(users.filter_map(|draft| draft.known()?.cached()).map(|size| size.0).sum())
    }
}
