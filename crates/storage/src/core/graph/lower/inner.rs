//! Components within others of which there is exactly one, and what others know of components.

use std::collections::{BTreeMap, BTreeSet};

use headrace_units::Bytes;
use headrace_work::NodeId;

use super::Lowering;
use crate::block::array::cache::ArrayCacheSpec;
use crate::core::graph::document::NameStep;
use crate::{AnyPlan, ComponentSpec};

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
        lowered.plan.theory().sector().or_else(below)
    }

    /// The cache that controllers share among their arrays; refuses two with different ones.
    pub fn shared_cache(&mut self, controllers: &[NodeId]) -> Option<Option<ArrayCacheSpec>> {
        let of = |id: &NodeId| match self.plan_of(*id) {
            Some(AnyPlan::Controller(spec)) => spec.cache.clone(),
            _ => None,
        };
        let caches: Vec<_> = controllers.iter().map(of).collect();
        if caches.windows(2).any(|two| two[0] != two[1]) {
            let names: Vec<_> = controllers.iter().map(|id| &self.drafts[id.index()].spot.path).collect();
            let message = format!(
                "the caches of `{}` and `{}` differ: each holds a copy of the other's data",
                names[0], names[1]
            );
            return self.refuse("controllers", message, Some("give both controllers the same `cache`"));
        }
        Some(caches.into_iter().next().flatten())
    }

    /// Refuses controllers with a cache that are paired in several ways. Only the whole system shows it.
    pub(super) fn check_caches(&mut self) {
        let mut pairs: BTreeMap<NodeId, (BTreeSet<NodeId>, usize)> = BTreeMap::new();
        let mut wrong = Vec::new();
        for at in 0..self.drafts.len() {
            let Some(lowered) =
                self.drafts[at].lowered.as_ref().filter(|lowered| lowered.plan.theory().shares_cache())
            else {
                continue;
            };
            let pair: BTreeSet<NodeId> =
                lowered.uses.iter().copied().filter(|id| self.is_controller(*id)).collect();
            for controller in &pair {
                let (other, first) = pairs.entry(*controller).or_insert_with(|| (pair.clone(), at));
                if *other != pair {
                    wrong.push((at, *controller, *first));
                }
            }
        }
        for (at, controller, first) in wrong {
            let path = |at: usize| self.drafts[at].spot.path.clone();
            let message = format!(
                "`{}` shares its cache memory with another controller for `{}` than for `{}`",
                path(controller.index()),
                path(at),
                path(first)
            );
            self.say_at(
                at,
                "controllers",
                message,
                "name the same controllers, or give the array a `cache` of its own",
            );
        }
    }
}
