//! Controllers that share their cache memory: which, and whether two are always paired alike.

use std::collections::{BTreeMap, BTreeSet};

use headrace_work::NodeId;

use super::ControllerSpec;
use crate::block::array::ArrayPlan;
use crate::block::array::cache::ArrayCacheSpec;
use crate::core::graph::Lowering;

impl Lowering<'_> {
    /// Returns true if a node is a controller.
    pub(crate) fn is_controller(&self, id: NodeId) -> bool {
        self.plan::<ControllerSpec>(id).is_some()
    }

    /// The cache that controllers share among their arrays; refuses two with different ones.
    pub(crate) fn shared_cache(&mut self, controllers: &[NodeId]) -> Option<Option<ArrayCacheSpec>> {
        let of = |id: &NodeId| self.plan::<ControllerSpec>(*id)?.cache.clone();
        let caches: Vec<_> = controllers.iter().map(of).collect();
        if caches.windows(2).any(|two| two[0] != two[1]) {
            let names: Vec<_> = controllers.iter().map(|id| self.path_of(*id)).collect();
            let message = format!(
                "the caches of `{}` and `{}` differ: each holds a copy of the other's data",
                names[0], names[1]
            );
            return self.refuse("controllers", message, Some("give both controllers the same `cache`"));
        }
        Some(caches.into_iter().next().flatten())
    }
}

/// The arrays that share the cache of controllers, each with its controllers.
fn sharing(at: &Lowering) -> Vec<(NodeId, BTreeSet<NodeId>)> {
    let arrays = at.lowered().filter(|(_, plan, _)| plan.get().is_some_and(ArrayPlan::shares_cache));
    let controllers = |uses: &[NodeId]| uses.iter().copied().filter(|id| at.is_controller(*id)).collect();
    arrays.map(|(id, _, uses)| (id, controllers(uses))).collect()
}

/// Refuses controllers with a cache that are paired in several ways. Only the whole system shows it.
pub(crate) fn check(at: &mut Lowering) {
    let mut pairs: BTreeMap<NodeId, (BTreeSet<NodeId>, NodeId)> = BTreeMap::new();
    for (array, pair) in sharing(at) {
        for controller in &pair {
            let (other, first) = pairs.entry(*controller).or_insert_with(|| (pair.clone(), array)).clone();
            if other != pair {
                refuse(at, array, *controller, first);
            }
        }
    }
}

fn refuse(at: &mut Lowering, array: NodeId, controller: NodeId, first: NodeId) {
    let message = format!(
        "`{}` shares its cache memory with another controller for `{}` than for `{}`",
        at.path_of(controller),
        at.path_of(array),
        at.path_of(first)
    );
    let help = "name the same controllers, or give the array a `cache` of its own";
    at.say_at(array, "controllers", message, help);
}
