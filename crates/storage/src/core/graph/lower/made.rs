//! Nodes that nobody writes: parts of a component, and what stands between two.

use headrace_units::Bytes;
use headrace_work::NodeId;

use super::{Draft, Lowering, LoweringSite, NameStep};
use crate::AnyPlan;

impl Lowering<'_> {
    /// Adds a node that nobody wrote, as a part of the component that is being lowered.
    pub fn part(&mut self, name: &str, plan: AnyPlan) -> NodeId {
        self.part_of(name, name, plan)
    }

    /// Adds such a node as one of the group `like`.
    pub fn part_of(&mut self, like: &str, name: &str, plan: AnyPlan) -> NodeId {
        let field = self.context.field.iter().cloned().chain([name.to_owned()]).collect();
        let spot = self.context.part(field, like, name);
        self.made(spot, plan, Vec::new(), Bytes(0))
    }

    /// Adds a node between two components of `system`, by their paths, after all others.
    pub(crate) fn between(
        &mut self,
        (from, to): (&str, &str),
        plan: AnyPlan,
        uses: Vec<NodeId>,
        capacity: Bytes,
    ) -> NodeId {
        let path = format!("{from}→{to}");
        let [(from_group, field), (to_group, _)] = [from, to].map(|name| {
            let member = self.members(name).next();
            member.map_or_else(Default::default, |member| (member.group.clone(), member.field.clone()))
        });
        let spot = LoweringSite {
            field,
            group: format!("{from_group}→{to_group}"),
            path,
            leads_to: Some((to.to_owned(), to_group)),
            root: self.system.len(),
            ..LoweringSite::default()
        };
        self.made(spot, plan, uses, capacity)
    }

    /// Adds a node, after all others, through which a stream comes to components, named as it is written there.
    pub(crate) fn entry(
        &mut self,
        path: &str,
        to: &str,
        (plan, uses, capacity): (AnyPlan, Vec<NodeId>, Bytes),
    ) -> NodeId {
        let spot = LoweringSite {
            field: self.context.field.clone(),
            group: path.to_owned(),
            path: path.to_owned(),
            leads_to: Some((to.to_owned(), to.to_owned())),
            root: self.system.len(),
            ..LoweringSite::default()
        };
        self.made(spot, plan, uses, capacity)
    }

    fn made(&mut self, spot: LoweringSite, plan: AnyPlan, uses: Vec<NodeId>, capacity: Bytes) -> NodeId {
        let id = self.drafts.len();
        let spot = LoweringSite { id, ..spot };
        self.drafts.push(Draft { spot, plan: Some(plan), depth: self.depth_above(&uses), uses, capacity });
        self.order.push(id);
        NodeId(id as u32)
    }

    /// Lowers what a stream wants; what is wrong with it is noted at the stream.
    pub(crate) fn for_stream<T>(&mut self, stream: &str, lower: impl FnOnce(&mut Self) -> T) -> T {
        let field = vec!["workload".to_owned(), stream.to_owned()];
        let root = self.system.len();
        self.context = LoweringSite { field, path: stream.to_owned(), root, ..LoweringSite::default() };
        self.chain = vec![NameStep::Written("stream")];
        let lowered = lower(self);
        self.chain.clear();
        lowered
    }
}
