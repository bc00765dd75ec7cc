//! What lowering knows of the fabric: the ways through its switches, and routes, nodes that nobody writes.

mod neighbours;
mod ways;

use std::rc::Rc;

use headrace_work::{Block, NodeId};

use crate::core::graph::{Lowering, WantedRoute};
use crate::fabric::route::{RoutePlan, SwitchHop};
use crate::fabric::server::ServerSpec;
use crate::{AnyPlan, ComponentSpec};
use ways::{Crossed, Fabric, SwitchPath};

/// The ways from each wire of one component to each wire of another.
pub(crate) type Mesh = Vec<Vec<Vec<Vec<SwitchHop>>>>;

impl Lowering<'_> {
    /// Returns the switches of the system and their ports.
    fn fabric(&mut self) -> Rc<Fabric> {
        self.once(Fabric::of)
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
        let target = self.asked::<Block>(to_field, to)?;
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
        match self.named_in_system(name) {
            Some(spec) if spec.get::<ServerSpec>().is_some() => self.component(name),
            Some(other) => {
                let message = format!("`{name}` is a {}; requests come from a server", other.kind());
                self.refuse(field, message, Some("name a component of `type: server`"))
            }
            None => {
                let is_server = |name: &&String| self.server_spec(name).is_some();
                let known = self.names().filter(is_server).cloned().collect();
                self.unknown(field, format!("there is no server `{name}`"), name, known)
            }
        }
    }

    /// Returns true if a component is attached to a server without a switch.
    fn is_attached(&self, server: &str, to: &str) -> bool {
        self.server_spec(server).is_some_and(|spec| spec.attached.iter().any(|name| name == to))
    }

    fn server_spec(&self, name: &str) -> Option<&ServerSpec> {
        self.named_in_system(name)?.get()
    }

    /// Where one comes to a component: at the server that it belongs to, or at itself.
    fn stands_at<'n>(&'n self, name: &'n str) -> &'n str {
        self.named_in_system(name).and_then(ComponentSpec::host).unwrap_or(name)
    }

    /// The ways through the fabric; refused where there are none, with those that were looked for.
    fn ways(&mut self, field: &str, from: &str, to: &str) -> Option<Vec<SwitchPath>> {
        let fabric = self.fabric();
        let Some(ways) = fabric.ways(from, to) else {
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
        let (reached, at) = (listed(fabric.reached(from)), listed(fabric.switches_of(to)));
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
        let fabric = self.fabric();
        let mut hop = |crossed: &Crossed| {
            let switch = self.component(fabric.name(crossed.switch))?;
            let edge = uses.iter().position(|used| *used == switch).unwrap_or_else(|| {
                uses.push(switch);
                uses.len() - 1
            });
            Some(SwitchHop { edge, enter: crossed.enter as u32, leave: crossed.leave as u32 })
        };
        way.iter().map(&mut hop).collect()
    }

    /// Returns true if a switch connects a component of `system`.
    pub(crate) fn is_connected(&mut self, name: &str) -> bool {
        self.fabric().wires(name) > 0
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
            let wires = self.fabric().wires(name);
            if wires > members as usize {
                let message = format!("{wires} wires lead to `{name}`, which needs at most {members}");
                return self.refuse(field, message, Some("reduce `links` in the `connects` of its switch"));
            }
        }
        let Some(found) = self.fabric().mesh(from, to) else {
            self.ways(field, from, to)?;
            let message = format!("some wires of `{from}` do not reach all wires of `{to}`");
            return self.refuse(field, message, Some("connect the switches, with at most 64 shortest paths"));
        };
        let mut hops_of = |ways: &Vec<SwitchPath>| ways.iter().map(|way| self.hops(way, uses)).collect();
        let mut row = |ends: &Vec<Vec<SwitchPath>>| ends.iter().map(&mut hops_of).collect();
        found.iter().map(&mut row).collect()
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
        let spec = self.server_spec(from)?;
        let engine = engine.map(|_| 2);
        let plan = RoutePlan {
            ways: hops,
            engine,
            policy: spec.paths,
            depth: spec.adapter.queue_depth,
            timeout: spec.path_timeout,
        };
        let capacity = self.capacity(target);
        Some(self.between((from, to), AnyPlan::Route(plan.into()), uses, capacity))
    }
}

/// Makes the routes of streams. What is wrong with one is noted at its stream.
pub(crate) fn stream_routes(at: &mut Lowering, streams: &[WantedRoute]) {
    for WantedRoute { stream, from, to } in streams {
        // A component that is missing is noted with the stream itself.
        if at.named_in_system(to).is_some() {
            at.for_stream(stream, |at| at.route(("from", from), ("to", to)));
        }
    }
}
