//! Alike components in messages: what holds for several of a group is said once.

use std::collections::BTreeSet;

use headrace_storage::{Graph, Node};
use headrace_work::NodeId;
use indexmap::IndexMap;

use crate::faults;

/// More components of a group than this are given by their number.
const MOST_NAMED: usize = 4;

/// Returns remarks on components, those of alike components that differ in nothing but numbers as one: identical ones with the number of
/// components, others as the first of them.
pub fn remarks(graph: &Graph, all: &[(NodeId, String)]) -> Vec<String> {
    let mut merged: IndexMap<(u32, String), Vec<&(NodeId, String)>> = IndexMap::new();
    for remark in all {
        let node = &graph.nodes[remark.0.index()];
        let kind = without_digits(&remark.1.replace(&node.path, ""));
        merged.entry((node.group, kind)).or_default().push(remark);
    }
    merged.values().map(|alike| one(graph, alike)).collect()
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// One remark for those of alike components.
fn one(graph: &Graph, alike: &[&(NodeId, String)]) -> String {
    let path = |(id, _): &(NodeId, String)| &graph.nodes[id.index()].path;
    let [first, others @ ..] = alike else { return String::new() };
    let (of, text) = (path(first), &first.1);
    let group = graph.group(first.0);
    if others.is_empty() || !text.starts_with(of) {
        return text.clone();
    }
    let is_same = |other: &&&(NodeId, String)| other.1.replace(path(other), "") == text.replace(of, "");
    let subject = if others.iter().filter(is_same).count() == others.len() {
        format!("{group} ({} of {})", alike.len(), size(graph, first.0))
    } else {
        format!("{of}, and alike {} others of {group}", others.len())
    };
    text.replacen(of, &subject, 1)
}

/// Number of components of a group.
fn size(graph: &Graph, one: NodeId) -> usize {
    let of = graph.nodes[one.index()].group;
    graph.nodes.iter().filter(|node| node.group == of).count()
}

/// Returns the names of components as a list: of many alike ones their number, and of all components of a copy its name.
pub fn listed(graph: &Graph, found: &[NodeId]) -> String {
    let node = |id: &NodeId| -> &Node { &graph.nodes[id.index()] };
    let (copies, left) = whole_copies(graph, found);
    let mut groups: IndexMap<u32, Vec<NodeId>> = IndexMap::new();
    for id in left {
        groups.entry(node(&id).group).or_default().push(id);
    }
    let names = groups.values().flat_map(|alike| match alike.len() {
        0..=MOST_NAMED => alike.iter().map(|id| node(id).path.clone()).collect(),
        many => vec![format!("{} ({many} of {})", graph.group(alike[0]), size(graph, alike[0]))],
    });
    copies.into_iter().chain(names).collect::<Vec<_>>().join(", ")
}

/// Returns the names of the copies of which all components are in a list, the outermost, and what else is in it.
fn whole_copies(graph: &Graph, found: &[NodeId]) -> (Vec<String>, Vec<NodeId>) {
    let mut left: BTreeSet<NodeId> = found.iter().copied().collect();
    let mut whole = Vec::new();
    for (name, members) in faults::copies(graph) {
        if members.is_subset(&left) {
            members.iter().for_each(|member| _ = left.remove(member));
            whole.push(name.to_owned());
        }
    }
    (whole, found.iter().copied().filter(|id| left.contains(id)).collect())
}

/// Returns the name of a group of components as messages have it, with which of its servers limit it: a route nobody wrote, so the limit is that
/// of its server, to what it leads to.
pub(crate) fn limit(group: &str, what: Option<&str>) -> String {
    match (group.split_once('→'), what) {
        (Some((server, to)), Some(what)) => format!("{server} ({what} to {to})"),
        (Some((_, to)), None) => to.to_owned(),
        (None, Some(what)) => format!("{group} ({what})"),
        (None, None) => group.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_storage::{DeviceCatalogue, DeviceLookup, System, lower};
    use headrace_units::Nanos;
    use headrace_work::{EmpiricalSpec, Invalid};
    use indexmap::IndexMap;

    struct NoDevices;

    impl DeviceCatalogue for NoDevices {
        fn device(&self, _: &'static str, _: &str) -> DeviceLookup {
            DeviceLookup::Unknown(Vec::new())
        }

        fn sample(&self, _: &EmpiricalSpec) -> Result<Vec<(Nanos, f64)>, Invalid> {
            Ok(Vec::new())
        }
    }

    fn six() -> Graph {
        lowered(r#"{"drive": {"type": "group", "copies": 6, "of": "disk"}}"#)
    }

    fn lowered(system: &str) -> Graph {
        let parts = serde_json::from_str(r#"{"disk": {"type": "station", "service": "1 ms"}}"#).unwrap();
        let system: IndexMap<String, _> = serde_json::from_str(system).unwrap();
        lower(&parts, &System::of(&parts, &system), &[], &NoDevices).unwrap()
    }

    #[test]
    fn remarks_on_alike_components_are_one() {
        let graph = six();
        let said = |text: &str, at: &[u32]| -> Vec<(NodeId, String)> {
            let of = |at: &u32| (NodeId(*at), format!("{}: {text}", graph.nodes[*at as usize].path));
            at.iter().map(of).collect()
        };
        assert_eq!(remarks(&graph, &said("is new", &[0, 1, 4])), ["drive (3 of 6): is new"]);
        assert_eq!(remarks(&graph, &said("is new", &[4])), ["drive[4]: is new"]);
        let differ = [said("is 3 years old", &[2]), said("is 5 years old", &[3, 5])].concat();
        assert_eq!(remarks(&graph, &differ), ["drive[2], and alike 2 others of drive: is 3 years old"]);
        let two = [said("is new", &[0, 1]), said("is slow", &[0])].concat();
        assert_eq!(remarks(&graph, &two), ["drive (2 of 6): is new", "drive[0]: is slow"]);
    }

    #[test]
    fn many_alike_components_are_a_number() {
        let graph = six();
        let ids = |many: u32| (0..many).map(NodeId).collect::<Vec<_>>();
        assert_eq!(listed(&graph, &ids(2)), "drive[0], drive[1]");
        assert_eq!(listed(&graph, &ids(5)), "drive (5 of 6)");
    }

    #[test]
    fn all_components_of_a_copy_are_the_copy() {
        let of = r#"{"cpu": {"type": "server"}, "drive": {"type": "group", "copies": 2, "of": "disk"}}"#;
        let graph = lowered(&format!(r#"{{"node": {{"type": "group", "copies": 2, "of": {of}}}}}"#));
        let ids = |all: &[u32]| all.iter().copied().map(NodeId).collect::<Vec<_>>();
        assert_eq!(listed(&graph, &ids(&[0, 1, 2])), "node[0]");
        assert_eq!(listed(&graph, &ids(&[0, 1, 4, 3, 5])), "node[1], node[0]/cpu, node[0]/drive[0]");
    }

    #[test]
    fn a_route_is_no_name() {
        assert_eq!(limit("h→node/s", Some("queue depth")), "h (queue depth to node/s)");
        assert_eq!(limit("pool", Some("ports[1]")), "pool (ports[1])");
    }
}
