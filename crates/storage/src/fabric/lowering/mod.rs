//! What lowering knows of the fabric: the ways through its switches, and routes, nodes that nobody writes.

mod neighbours;
mod ways;

use std::collections::BTreeMap;
use std::rc::Rc;

use headrace_work::{Block, NodeId};

use crate::AnyPlan;
use crate::core::graph::{Lowering, Member, System, WantedWay};
use crate::fabric::dispatcher::DispatcherPlan;
use crate::fabric::route::{RoutePlan, SwitchHop};
use crate::fabric::server::ServerSpec;
use ways::{Crossed, Fabric, SwitchPath};

/// The ways from each wire of one component to each wire of another.
pub(crate) type Mesh = Vec<Vec<Vec<Vec<SwitchHop>>>>;

/// The servers that each component is attached to, by their paths.
struct Attachments(BTreeMap<String, Vec<String>>);

impl Attachments {
    fn of(system: &System) -> Self {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for server in system.members() {
            let attached = server.spec.get().map_or(&[][..], |spec: &ServerSpec| &spec.attached);
            for number in attached.iter().flat_map(|name| system.means(&server.scope, name)) {
                let servers = found.entry(system.member(*number).path.clone()).or_default();
                if !servers.contains(&server.path) {
                    servers.push(server.path.clone());
                }
            }
        }
        Self(found)
    }
}

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
        let server = self.server(from_field, from)?;
        let target = self.asked::<Block>(to_field, to)?;
        let (from, to) = (&*self.path_of(server).to_owned(), &*self.path_of(target).to_owned());
        if let Some(known) = self.routes.get(&(from.to_owned(), to.to_owned())) {
            return Some(*known);
        }
        if self.capacity(target).0 == 0 {
            let message = format!("`{to}` holds no data; servers send requests to components that do");
            return self.refuse(to_field, message, None);
        }
        let stands_at = self.stands_at(to);
        let ways = if stands_at == from || self.attached_to(to).iter().any(|server| server == from) {
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

    /// The component that a field names, to which blocks go; where the component being lowered is attached to a server, and the other stands
    /// elsewhere, the route there from that server.
    pub(crate) fn reached(&mut self, field: &str, name: &str) -> Option<NodeId> {
        let own = self.path().to_owned();
        let servers = self.attached_to(&own);
        let is_one = self.members(name).count() == 1;
        if servers.is_empty() || !is_one || self.is_at(&servers, name) {
            return self.asked::<Block>(field, name);
        }
        if let [server] = &servers[..] {
            return self.route((field, server), (field, name));
        }
        let message = format!(
            "`{own}` is attached to {} servers, and `{name}` to none of them: nothing says which of them sends the requests",
            servers.len()
        );
        self.refuse(
            field,
            message,
            Some("attach a component of its own to each server, as a `group` of both"),
        )
    }

    /// The components that a field lists, to which blocks go, as [`reached`](Self::reached) finds each.
    pub(crate) fn all_reached(&mut self, field: &str, names: &[String]) -> Option<Vec<NodeId>> {
        self.all_paths(names).iter().map(|name| self.reached(field, name)).collect()
    }

    /// Returns true if what is attached to these servers reaches a component without a network: that one is attached to one of them or belongs
    /// to it, or stands nowhere that is written.
    fn is_at(&mut self, servers: &[String], name: &str) -> bool {
        let path = self.paths(name).swap_remove(0);
        let (stands_at, others) = (self.stands_at(&path), self.attached_to(&path));
        if servers.iter().any(|server| *server == stands_at || others.contains(server)) {
            return true;
        }
        stands_at == path && others.is_empty() && !self.is_connected(&path)
    }

    /// The servers that a component is attached to without a switch, by their paths.
    fn attached_to(&mut self, path: &str) -> Vec<String> {
        let attachments = self.once(Attachments::of);
        attachments.0.get(path).cloned().unwrap_or_default()
    }

    /// The server that a field names.
    fn server(&mut self, field: &str, name: &str) -> Option<NodeId> {
        match self.named_in_system(name) {
            Some(spec) if spec.get::<ServerSpec>().is_some() => self.shared(field, name),
            Some(other) => {
                let message = format!("`{name}` is a {}; requests come from a server", other.kind());
                self.refuse(field, message, Some("name a component of `type: server`"))
            }
            None => {
                let servers = |lowering: &Self| {
                    let is_server = |name: &String| lowering.server_spec(name).is_some();
                    lowering.names().into_iter().filter(is_server).collect()
                };
                self.unknown(field, format!("there is no server `{name}`"), name, servers)
            }
        }
    }

    fn server_spec(&self, name: &str) -> Option<&ServerSpec> {
        self.named_in_system(name)?.get()
    }

    /// The path at which one comes to a component: of the server that it belongs to, or its own.
    fn stands_at(&self, path: &str) -> String {
        let host = self.members(path).find_map(|member| {
            let host = member.spec.host()?;
            Some(self.seen_from(member, host).next().map_or_else(|| host.to_owned(), |at| at.path.clone()))
        });
        host.unwrap_or_else(|| path.to_owned())
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
        let paths = self.paths(name);
        let fabric = self.fabric();
        paths.iter().any(|path| fabric.wires(path) > 0)
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
        let [from, to] = [from, to].map(|name| self.paths(name).swap_remove(0));
        let (from, to) = (&*from, &*to);
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

/// Most pairs of servers and components that one stream goes between.
const MOST_PAIRS: usize = 10_000;

impl Lowering<'_> {
    /// What a stream goes through: the component that it goes to, the route there from a server, or a dispatcher before the components of
    /// several copies, or the routes there.
    fn way_of(&mut self, WantedWay { from, to, .. }: &WantedWay) -> Option<NodeId> {
        let tos: Vec<&Member> = self.members(to).collect();
        let froms: Vec<&Member> = from.iter().flat_map(|from| self.members(from)).collect();
        let mut one_for_each_server = false;
        let nodes: Option<Vec<NodeId>> = match from {
            None if tos.len() == 1 => return self.component(to),
            Some(from) if tos.len() == 1 && froms.len() < 2 => return self.route(("from", from), ("to", to)),
            None => tos.iter().map(|to| self.asked::<Block>("to", &to.path)).collect(),
            Some(from) => {
                if froms.is_empty() {
                    return self.server("from", from);
                }
                let pairs = match pairs(&froms, &tos) {
                    Ok(pairs) => pairs,
                    Err(many) => {
                        let message = format!(
                            "`{from}` and `{to}` are {many} pairs; at most {MOST_PAIRS} are possible"
                        );
                        return self.refuse("to", message, Some("name fewer: the components of one copy"));
                    }
                };
                one_for_each_server =
                    pairs.iter().map(|(from, _)| from).eq(froms.iter().map(|from| &from.path));
                pairs.iter().map(|(from, to)| self.route(("from", from), ("to", to))).collect()
            }
        };
        let plan = DispatcherPlan { one_for_each_server };
        self.dispatched(plan, (from.as_deref(), to), nodes?)
    }

    /// A dispatcher of the requests from servers, if they come from any, to components, as both are written, to these nodes.
    fn dispatched(
        &mut self,
        plan: DispatcherPlan,
        (from, to): (Option<&str>, &str),
        nodes: Vec<NodeId>,
    ) -> Option<NodeId> {
        let capacity = nodes.iter().map(|node| self.capacity(*node)).min()?;
        let path = from.map_or_else(|| format!("all {to}"), |from| format!("{from}→all {to}"));
        Some(self.entry(&path, to, (AnyPlan::Dispatcher(plan.into()), nodes, capacity)))
    }
}

/// The servers and components that requests go between: each of the one to each of the other, or, where both have components in the same
/// copies of a group, each server to those of its own copy. The number of pairs, if they are too many.
fn pairs(froms: &[&Member], tos: &[&Member]) -> Result<Vec<(String, String)>, usize> {
    let mut copies: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for to in tos.iter().filter(|to| !to.scope.is_empty()) {
        copies.entry(&to.scope).or_default().push(&to.path);
    }
    let is_within =
        froms.len() > 1 && tos.len() > 1 && froms.iter().any(|from| copies.contains_key(&*from.scope));
    let all: Vec<&str> = tos.iter().map(|to| &*to.path).collect();
    let asked = |from: &Member| {
        if is_within { copies.get(&*from.scope).map_or(&[][..], Vec::as_slice) } else { &all }
    };
    let many = froms.iter().map(|from| asked(from).len()).sum();
    if many > MOST_PAIRS {
        return Err(many);
    }
    let of = |from: &&Member| {
        asked(from).iter().map(|to| (from.path.clone(), (*to).to_owned())).collect::<Vec<_>>()
    };
    Ok(froms.iter().flat_map(of).collect())
}

/// Finds or makes what streams go through. What is wrong with a way is noted at its stream.
pub(crate) fn stream_ways(at: &mut Lowering, streams: &[WantedWay]) {
    for way in streams {
        let ends = (way.from.clone().unwrap_or_default(), way.to.clone());
        // A component that is missing is noted with the stream itself.
        if at.named_in_system(&way.to).is_some() && !at.routes.contains_key(&ends) {
            let found = at.for_stream(&way.stream, |at| at.way_of(way));
            at.routes.extend(found.map(|id| (ends, id)));
        }
    }
}
