//! The fabric: what switches connect, and the shortest ways through them.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::core::graph::{Member, System};
use crate::fabric::switch::{Connection, SwitchSpec};
use crate::fabric::wire::WireFields;

/// Maximum number of ways between two ends.
const MOST_WAYS: usize = 64;

/// The switches of a system and their ports, own neighbours first.
#[derive(Default)]
pub(crate) struct Fabric {
    switches: Vec<(String, Vec<Socket>)>,
}

/// A port of a switch before it is built.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    /// Its neighbour as the switch has it, with a number where several wires lead there.
    pub name: String,
    /// The name of the port's group: that of the neighbour without numbers.
    pub like: String,
    pub to_switch: bool,
    pub line: WireFields,
    /// Path of its neighbour.
    pub neighbour: String,
    /// The other end of a wire between switches: the switch, and its port.
    peer: Option<(usize, usize)>,
}

/// A switch on a way, and the ports by which a request comes in and leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossed {
    pub switch: usize,
    pub enter: usize,
    pub leave: usize,
}

/// The switches on a way, in order.
pub(super) type SwitchPath = Vec<Crossed>;

/// A switch, and all that it lists: a name can stand for several components.
struct Listing<'s> {
    member: &'s Member<'s>,
    spec: &'s SwitchSpec,
    to: Vec<(&'s Member<'s>, &'s Connection)>,
}

impl<'s> Listing<'s> {
    fn of(system: &'s System<'s>, member: &'s Member<'s>) -> Option<Self> {
        let spec: &SwitchSpec = member.spec.get()?;
        let each = |connection: &'s Connection| {
            let all = system.means(&member.scope, connection.name()).iter();
            all.map(move |number| (system.member(*number), connection))
        };
        Some(Self { member, spec, to: spec.connects.iter().flat_map(each).collect() })
    }
}

/// The number of wires from each switch to each other that it lists, by their paths.
pub(super) struct WiresListed(BTreeMap<(String, String), u32>);

impl WiresListed {
    pub fn of(system: &System) -> Self {
        let mut listed = BTreeMap::new();
        for switch in system.members().filter_map(|member| Listing::of(system, member)) {
            for (to, connection) in switch.to.iter().filter(|(to, _)| to.spec.get::<SwitchSpec>().is_some()) {
                let ends = (switch.member.path.clone(), to.path.clone());
                *listed.entry(ends).or_default() += connection.links();
            }
        }
        Self(listed)
    }

    pub fn between(&self, from: &str, to: &str) -> u32 {
        self.0.get(&(from.to_owned(), to.to_owned())).copied().unwrap_or(0)
    }
}

impl Fabric {
    pub fn of(system: &System) -> Self {
        let listed = WiresListed::of(system);
        let all: Vec<Listing> = system.members().filter_map(|member| Listing::of(system, member)).collect();
        let numbers: BTreeMap<&str, usize> =
            all.iter().enumerate().map(|(at, switch)| (&*switch.member.path, at)).collect();
        let empty = all.iter().map(|switch| (switch.member.path.clone(), Vec::new())).collect();
        let mut fabric = Self { switches: empty };
        for (at, switch) in all.iter().enumerate() {
            for (to, connection) in &switch.to {
                let other = numbers.get(&*to.path).copied();
                let lists_it =
                    |other: usize| listed.between(&all[other].member.path, &switch.member.path) > 0;
                let is_first = |other| other != at && !(other < at && lists_it(other));
                if other.is_none_or(is_first) {
                    let ends = [(at, switch.member), (other.unwrap_or(at), *to)];
                    fabric.link(ends, other.is_some(), (connection.links(), switch.spec.line(connection)));
                }
            }
        }
        fabric.number();
        fabric
    }

    /// Adds the wires between a switch and its neighbour, a switch too or not.
    fn link(
        &mut self,
        [near, far]: [(usize, &Member); 2],
        to_switch: bool,
        (links, line): (u32, WireFields),
    ) {
        let socket = |scope: &Member, to: &Member, peer| Socket {
            name: to.path.strip_prefix(&scope.scope).unwrap_or(&to.path).to_owned(),
            like: to.group.strip_prefix(&*scope_group(scope)).unwrap_or(&to.group).to_owned(),
            neighbour: to.path.clone(),
            to_switch,
            line,
            peer,
        };
        for _ in 0..links {
            let ends = to_switch.then(|| (self.switches[near.0].1.len(), self.switches[far.0].1.len()));
            let here = socket(near.1, far.1, ends.map(|(_, port)| (far.0, port)));
            let there = socket(far.1, near.1, ends.map(|(port, _)| (near.0, port)));
            self.switches[near.0].1.push(here);
            if to_switch {
                self.switches[far.0].1.push(there);
            }
        }
    }

    /// Numbers the wires to one neighbour where there are several.
    fn number(&mut self) {
        for (_, sockets) in &mut self.switches {
            let mut wires: IndexMap<String, Vec<&mut Socket>> = IndexMap::new();
            for socket in sockets {
                wires.entry(socket.neighbour.clone()).or_default().push(socket);
            }
            for wires in wires.into_values().filter(|wires| wires.len() > 1) {
                let numbered = wires.into_iter().enumerate();
                numbered.for_each(|(at, socket)| socket.name = format!("{}[{at}]", socket.name));
            }
        }
    }

    pub fn name(&self, switch: usize) -> &str {
        &self.switches[switch].0
    }

    pub fn sockets(&self, name: &str) -> Option<&Vec<Socket>> {
        self.switches.iter().find(|(switch, _)| switch == name).map(|(_, sockets)| sockets)
    }

    /// The ports at which a component is connected.
    fn ports_of(&self, name: &str) -> Vec<(usize, usize)> {
        let of = |(at, (_, sockets)): (usize, &(String, Vec<Socket>))| {
            let here = sockets.iter().enumerate().filter(|(_, socket)| socket.neighbour == name);
            here.map(|(port, _)| (at, port)).collect::<Vec<_>>()
        };
        self.switches.iter().enumerate().flat_map(of).collect()
    }

    /// The switches that a component is connected to.
    pub fn switches_of(&self, name: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.ports_of(name).into_iter().map(|(at, _)| self.name(at)).collect();
        names.dedup();
        names
    }

    /// Returns the number of wires between each and `switch`.
    fn distances(&self, switch: usize) -> Vec<Option<usize>> {
        let mut far = vec![None; self.switches.len()];
        far[switch] = Some(0);
        let mut next = std::collections::VecDeque::from([switch]);
        while let Some(at) = next.pop_front() {
            for (other, _) in self.switches[at].1.iter().filter_map(|socket| socket.peer) {
                if far[other].is_none() {
                    far[other] = far[at].map(|far| far + 1);
                    next.push_back(other);
                }
            }
        }
        far
    }

    /// The ways from one component to another: from each port of the first over the fewest switches to the nearest ports of the
    /// second. `None` where there are more than can be kept apart.
    pub fn ways(&self, from: &str, to: &str) -> Option<Vec<SwitchPath>> {
        let ends = self.ports_of(to);
        let mut ways = Vec::new();
        for (first, enter) in self.ports_of(from) {
            let far = self.distances(first);
            let nearest = ends.iter().filter_map(|(last, _)| far[*last]).min();
            for (last, leave) in ends.iter().filter(|(last, _)| nearest.is_some() && far[*last] == nearest) {
                let begun = Crossed { switch: first, enter, leave: *leave };
                self.extend(&self.distances(*last), &mut Vec::new(), begun, &mut ways);
                if ways.len() > MOST_WAYS {
                    return None;
                }
            }
        }
        Some(ways)
    }

    /// Of each wire of one component, the shortest ways to each wire of another. `None` where a wire does not reach one, or by more
    /// ways than can be kept apart.
    pub fn mesh(&self, from: &str, to: &str) -> Option<Vec<Vec<Vec<SwitchPath>>>> {
        let end = |(last, leave): (usize, usize)| (self.distances(last), leave);
        let ends: Vec<_> = self.ports_of(to).into_iter().map(end).collect();
        let each = |(switch, enter): (usize, usize)| -> Option<Vec<Vec<SwitchPath>>> {
            let to_end = |(to_last, leave): &(Vec<Option<usize>>, usize)| {
                let mut ways = Vec::new();
                to_last[switch]?;
                self.extend(to_last, &mut Vec::new(), Crossed { switch, enter, leave: *leave }, &mut ways);
                (ways.len() <= MOST_WAYS).then_some(ways)
            };
            ends.iter().map(to_end).collect()
        };
        self.ports_of(from).into_iter().map(each).collect()
    }

    /// Number of wires of a component.
    pub fn wires(&self, name: &str) -> usize {
        self.ports_of(name).len()
    }

    /// Adds every shortest way that goes on from `here`; its last port is the one that `here` names.
    fn extend(
        &self,
        to_last: &[Option<usize>],
        way: &mut SwitchPath,
        here: Crossed,
        ways: &mut Vec<SwitchPath>,
    ) {
        if to_last[here.switch] == Some(0) {
            ways.push(way.iter().copied().chain([here]).collect());
            return;
        }
        for (port, socket) in self.switches[here.switch].1.iter().enumerate() {
            let Some((other, enter)) = socket.peer else { continue };
            if to_last[other].map(|far| far + 1) == to_last[here.switch] && ways.len() <= MOST_WAYS {
                way.push(Crossed { leave: port, ..here });
                self.extend(to_last, way, Crossed { switch: other, enter, ..here }, ways);
                way.pop();
            }
        }
    }

    /// All switches that one comes to from a component, by name.
    pub fn reached(&self, from: &str) -> Vec<&str> {
        let starts: Vec<Vec<Option<usize>>> =
            self.ports_of(from).into_iter().map(|(at, _)| self.distances(at)).collect();
        let reached = |at: &usize| starts.iter().any(|far| far[*at].is_some());
        (0..self.switches.len()).filter(reached).map(|at| self.name(at)).collect()
    }
}

/// The scope of a component without the numbers of copies.
fn scope_group(member: &Member) -> String {
    member.group[..member.group.rfind('/').map_or(0, |at| at + 1)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::graph::SystemSpec;
    use proptest::prelude::*;

    fn system(switches: &[Vec<usize>], links: &[(usize, usize)]) -> IndexMap<String, SystemSpec> {
        let switch = |at: usize, ends: &Vec<usize>| {
            let ends = ends.iter().map(|end| format!("\"c{end}\""));
            let peers = links.iter().filter(|(a, b)| *a == at && a != b).map(|(_, b)| format!("\"s{b}\""));
            let connects: Vec<String> = ends.chain(peers).collect();
            let text =
                format!(r#"{{"type": "switch", "rate": "1 GB/s", "connects": [{}]}}"#, connects.join(","));
            (format!("s{at}"), serde_json::from_str(&text).unwrap())
        };
        let end = |end: usize| (format!("c{end}"), serde_json::from_str(r#"{"type": "server"}"#).unwrap());
        (0..6).map(end).chain(switches.iter().enumerate().map(|(at, ends)| switch(at, ends))).collect()
    }

    /// All distances between switches, by Floyd and Warshall.
    fn all_distances(n: usize, links: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut far = vec![vec![usize::MAX / 4; n]; n];
        (0..n).for_each(|at| far[at][at] = 0);
        links.iter().filter(|(a, b)| a != b).for_each(|&(a, b)| (far[a][b], far[b][a]) = (1, 1));
        for k in 0..n {
            for a in 0..n {
                for b in 0..n {
                    far[a][b] = far[a][b].min(far[a][k] + far[k][b]);
                }
            }
        }
        far
    }

    proptest! {
        /// Over random fabrics every way is whole, as short as can be, none is there twice, and there is one wherever there can be.
        #[test]
        fn ways_are_shortest_and_whole(
            ends in prop::collection::vec(prop::collection::vec(0usize..6, 0..4), 1..6),
            links in prop::collection::vec((0usize..6, 0usize..6), 0..10),
        ) {
            let n = ends.len();
            let links: Vec<(usize, usize)> =
                links.into_iter().map(|(a, b)| (a.min(b) % n, a.max(b) % n)).collect();
            let (parts, system) = (IndexMap::new(), system(&ends, &links));
            let fabric = Fabric::of(&System::of(&parts, &system));
            let far = all_distances(n, &links);
            let at = |end: usize| (0..n).filter(|at| ends[*at].contains(&end)).collect::<Vec<_>>();
            let between = |a: usize, b: usize| {
                at(a).iter().flat_map(|x| at(b).iter().map(|y| far[*x][*y]).collect::<Vec<_>>()).min()
            };
            for (a, b) in [(0, 1), (2, 3), (4, 5)] {
                let Some(ways) = fabric.ways(&format!("c{a}"), &format!("c{b}")) else { continue };
                let nearest = between(a, b).filter(|far| *far < n);
                prop_assert_eq!(ways.iter().map(Vec::len).min(), nearest.map(|far| far + 1));
                for (number, way) in ways.iter().enumerate() {
                    prop_assert!(!ways[..number].contains(way));
                    prop_assert_eq!(&fabric.switches[way[0].switch].1[way[0].enter].neighbour, &format!("c{a}"));
                    let last = way[way.len() - 1];
                    prop_assert_eq!(&fabric.switches[last.switch].1[last.leave].neighbour, &format!("c{b}"));
                    prop_assert_eq!(far[way[0].switch][last.switch] + 1, way.len());
                    for pair in way.windows(2) {
                        let peer = fabric.switches[pair[0].switch].1[pair[0].leave].peer;
                        prop_assert_eq!(peer, Some((pair[1].switch, pair[1].enter)));
                    }
                }
            }
        }
    }
}
