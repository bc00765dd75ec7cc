//! Routes: nodes that nobody writes, made where a server asks something.

use headrace_work::NodeId;

use super::fabric::{SwitchPath, Crossed};
use super::{ComponentSpec, Draft, Lowering, LoweringSite};
use crate::AnyPlan;
use crate::acquisition::readout::Mesh;
use crate::core::component::Resolved;
use crate::core::graph::document::{NameStep, WantedRoute};
use crate::fabric::route::{SwitchHop, RoutePlan};

impl Lowering<'_> {
    /// Adds a node that nobody wrote, as a part of the component that is being lowered.
    pub fn part(&mut self, name: &str, plan: AnyPlan) -> NodeId {
        self.part_of(name, name, plan)
    }

    /// Adds such a node as one of the group `like`.
    pub fn part_of(&mut self, like: &str, name: &str, plan: AnyPlan) -> NodeId {
        let field = self.context.field.iter().cloned().chain([name.to_owned()]).collect();
        let spot = self.context.part(field, like, name);
        self.made(spot, Resolved { plan, uses: Vec::new(), capacity: headrace_units::Bytes(0) })
    }

    fn made(&mut self, spot: LoweringSite, lowered: Resolved<AnyPlan>) -> NodeId {
        let id = self.drafts.len();
        let depth = 1 + lowered.uses.iter().map(|used| self.drafts[used.index()].depth).max().unwrap_or(0);
        self.drafts.push(Draft { spot: LoweringSite { id, ..spot }, lowered: Some(lowered), depth });
        self.order.push(id);
        NodeId(id as u32)
    }

    /// The route from a server to a component; both names are written in fields of what is being lowered. There is one for each two.
    pub(crate) fn route(
        &mut self,
        (from_field, from): (&str, &str),
        (to_field, to): (&str, &str),
    ) -> Option<NodeId> {
        if let Some(known) = self.routes.get(&(from.to_owned(), to.to_owned())) {
            return Some(*known);
        }
        let server = self.server(from_field, from)?;
        let target = self.shared(to_field, to)?;
        if self.capacity(target).0 == 0 {
            let message = format!("`{to}` holds no data; servers send requests to components that do");
            return self.refuse(to_field, message, None);
        }
        let stands_at = self.stands_at(to).to_owned();
        let ways = if stands_at == from || self.is_attached(from, to) {
            vec![SwitchPath::new()]
        } else {
            self.ways(from_field, from, &stands_at)?
        };
        let engine = if stands_at == from || stands_at == to {
            None
        } else {
            Some(self.server(to_field, &stands_at)?)
        };
        let id = self.routed((server, from), (target, to), &ways, engine)?;
        self.routes.insert((from.to_owned(), to.to_owned()), id);
        Some(id)
    }

    /// The server that a field names.
    fn server(&mut self, field: &str, name: &str) -> Option<NodeId> {
        match self.system.get(name) {
            Some(ComponentSpec::Server(_)) => self.component(name),
            Some(other) => {
                let message = format!("`{name}` is a {}; requests come from a server", other.kind());
                self.refuse(field, message, Some("name a component of `type: server`"))
            }
            None => {
                let servers = self.system.iter().filter(|(_, spec)| matches!(spec, ComponentSpec::Server(_)));
                let known = servers.map(|(name, _)| name.clone()).collect();
                self.unknown(field, format!("there is no server `{name}`"), name, known)
            }
        }
    }

    /// Whether a component is attached to a server without a switch.
    fn is_attached(&self, server: &str, to: &str) -> bool {
        match self.system.get(server) {
            Some(ComponentSpec::Server(spec)) => spec.attached.iter().any(|name| name == to),
            _ => false,
        }
    }

    /// Where one comes to a component: at the server that it belongs to, or at itself.
    fn stands_at<'n>(&'n self, name: &'n str) -> &'n str {
        match self.system.get(name) {
            Some(ComponentSpec::Array(array)) => array.from.as_deref().unwrap_or(name),
            _ => name,
        }
    }

    /// The ways through the fabric; refused where there are none, with those that were looked for.
    fn ways(&mut self, field: &str, from: &str, to: &str) -> Option<Vec<SwitchPath>> {
        let Some(ways) = self.fabric.ways(from, to) else {
            let message = format!("there are more than 64 shortest paths from `{from}` to `{to}`");
            return self.refuse(field, message, Some("use fewer wires between them"));
        };
        if !ways.is_empty() {
            return Some(ways);
        }
        let listed = |names: Vec<&str>| match names.is_empty() {
            true => "no switch".to_owned(),
            false => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let (reached, at) = (listed(self.fabric.reached(from)), listed(self.fabric.switches_of(to)));
        let message =
            format!("`{from}` cannot reach `{to}`: `{from}` reaches {reached}; `{to}` is connected to {at}");
        self.refuse(
            field,
            message,
            Some("add one of the two to the `connects` of a switch, connect the switches, or attach what the server has itself: `attached`"),
        )
    }

    /// The hops of a way, by the numbers of its switches among the nodes used, to which those not there are added.
    fn hops(&mut self, way: &SwitchPath, uses: &mut Vec<NodeId>) -> Option<Vec<SwitchHop>> {
        let mut hop = |crossed: &Crossed| {
            let name = self.fabric.name(crossed.switch).to_owned();
            let switch = self.component(&name)?;
            let edge = uses.iter().position(|used| *used == switch).unwrap_or_else(|| {
                uses.push(switch);
                uses.len() - 1
            });
            Some(SwitchHop { edge, enter: crossed.enter as u32, leave: crossed.leave as u32 })
        };
        way.iter().map(&mut hop).collect()
    }

    /// Whether a switch connects a component of `system`.
    pub(crate) fn is_connected(&self, name: &str) -> bool {
        self.fabric.wires(name) > 0
    }

    /// The ways from each of the `members` parts of one component to each of another, both connected to switches, which are added to
    /// `uses`. The wires of a component are shared out among its parts in order.
    pub(crate) fn mesh(
        &mut self,
        field: &str,
        (from, froms): (&str, u32),
        (to, tos): (&str, u32),
        uses: &mut Vec<NodeId>,
    ) -> Option<Mesh> {
        for (name, members) in [(from, froms), (to, tos)] {
            let wires = self.fabric.wires(name);
            if wires > members as usize {
                let message = format!("{wires} wires lead to `{name}`, which needs at most {members}");
                return self.refuse(field, message, Some("reduce `links` in the `connects` of its switch"));
            }
        }
        let Some(found) = self.fabric.mesh(from, to) else {
            self.ways(field, from, to)?;
            let message = format!("some wires of `{from}` do not reach all wires of `{to}`");
            return self.refuse(field, message, Some("connect the switches, with at most 64 shortest paths"));
        };
        let mut hops_of = |ways: &Vec<SwitchPath>| ways.iter().map(|way| self.hops(way, uses)).collect();
        let mut row = |ends: &Vec<Vec<SwitchPath>>| ends.iter().map(&mut hops_of).collect();
        Some(Mesh { froms, tos, ways: found.iter().map(&mut row).collect::<Option<_>>()? })
    }

    fn routed(
        &mut self,
        (server, from): (NodeId, &str),
        (target, to): (NodeId, &str),
        ways: &[SwitchPath],
        engine: Option<NodeId>,
    ) -> Option<NodeId> {
        let mut uses = vec![server, target];
        uses.extend(engine);
        let hops = ways.iter().map(|way| self.hops(way, &mut uses)).collect::<Option<_>>()?;
        let Some(ComponentSpec::Server(spec)) = self.system.get(from) else { return None };
        let engine = engine.map(|_| 2);
        let plan = RoutePlan {
            ways: hops,
            engine,
            policy: spec.paths,
            depth: spec.adapter.queue_depth,
            timeout: spec.path_timeout,
        };
        let path = format!("{from}→{to}");
        let field = vec!["system".to_owned(), from.to_owned()];
        let spot = LoweringSite { field, group: path.clone(), path, root: self.system.len(), ..LoweringSite::default() };
        let capacity = self.capacity(target);
        Some(self.made(spot, Resolved { plan: AnyPlan::Route(plan.into()), uses, capacity }))
    }

    /// Makes the routes of streams. What is wrong with one is noted at its stream.
    pub(super) fn stream_routes(&mut self, streams: &[WantedRoute]) {
        for WantedRoute { stream, from, to } in streams {
            if !self.system.contains_key(to) {
                continue; // That is noted with the stream itself.
            }
            let field = vec!["workload".to_owned(), stream.clone()];
            self.context = LoweringSite { field, path: stream.clone(), root: self.system.len(), ..LoweringSite::default() };
            self.chain = vec![NameStep::Written("stream")];
            self.route(("from", from), ("to", to));
            self.chain.clear();
        }
    }
}
