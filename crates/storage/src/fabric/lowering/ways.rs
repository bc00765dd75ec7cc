//! The fabric: what switches connect, and the shortest ways through them.

use indexmap::IndexMap;

use crate::ComponentSpec;
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
    /// Its neighbour, with a number where several wires lead there.
    pub name: String,
    pub to_switch: bool,
    pub line: WireFields,
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

fn switches(system: &IndexMap<String, ComponentSpec>) -> Vec<(&str, &SwitchSpec)> {
    system.iter().filter_map(|(name, spec)| Some((name.as_str(), spec.get::<SwitchSpec>()?))).collect()
}

impl Fabric {
    pub fn of(system: &IndexMap<String, ComponentSpec>) -> Self {
        let all = switches(system);
        let empty = all.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
        let mut fabric = Self { switches: empty };
        for (at, (_, switch)) in all.iter().enumerate() {
            for connection in &switch.connects {
                let other = all.iter().position(|(name, _)| *name == connection.name());
                if other
                    .is_none_or(|other| other != at && !(other < at && lists(all[other].1, all[at].0) > 0))
                {
                    fabric.link(at, other, connection, switch.line(connection));
                }
            }
        }
        fabric.number();
        fabric
    }

    fn link(&mut self, at: usize, other: Option<usize>, to: &Connection, line: WireFields) {
        for _ in 0..to.links() {
            let ends = other.map(|other| (self.switches[at].1.len(), self.switches[other].1.len(), other));
            let socket = |neighbour: &str, peer| Socket {
                name: neighbour.to_owned(),
                neighbour: neighbour.to_owned(),
                to_switch: other.is_some(),
                line,
                peer,
            };
            let far = socket(&self.switches[at].0, ends.map(|(near, ..)| (at, near)));
            let near = socket(to.name(), ends.map(|(_, far, other)| (other, far)));
            self.switches[at].1.push(near);
            if let Some(other) = other {
                self.switches[other].1.push(far);
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
            for (neighbour, wires) in wires.into_iter().filter(|(_, wires)| wires.len() > 1) {
                let numbered = wires.into_iter().enumerate();
                numbered.for_each(|(at, socket)| socket.name = format!("{neighbour}[{at}]"));
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

/// Returns the number of wires to a neighbour that a switch lists.
pub(super) fn lists(switch: &SwitchSpec, name: &str) -> u32 {
    switch.connects.iter().filter(|to| to.name() == name).map(Connection::links).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn system(switches: &[Vec<usize>], links: &[(usize, usize)]) -> IndexMap<String, ComponentSpec> {
        let switch = |at: usize, ends: &Vec<usize>| {
            let ends = ends.iter().map(|end| format!("\"c{end}\""));
            let peers = links.iter().filter(|(a, b)| *a == at && a != b).map(|(_, b)| format!("\"s{b}\""));
            let connects: Vec<String> = ends.chain(peers).collect();
            let text =
                format!(r#"{{"type": "switch", "rate": "1 GB/s", "connects": [{}]}}"#, connects.join(","));
            (format!("s{at}"), serde_json::from_str(&text).unwrap())
        };
        switches.iter().enumerate().map(|(at, ends)| switch(at, ends)).collect()
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
            let fabric = Fabric::of(&system(&ends, &links));
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
