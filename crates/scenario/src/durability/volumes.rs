//! The volumes of a system: what loses data by itself when too many drives are lost.

use std::collections::BTreeSet;

use headrace_storage::{Graph, Redundancy, View};
use headrace_work::NodeId;

use crate::document::{Path, Problem};
use crate::plan::Plan;

/// An array, a pool, or a drive by itself.
#[derive(Clone, Debug)]
pub struct Volume {
    pub node: NodeId,
    pub name: String,
    /// Number of equal ones, for which this one stands.
    pub count: u32,
    pub redundancy: Redundancy,
    /// Its drives.
    pub drives: Vec<NodeId>,
}

/// Returns the volumes that the streams of a plan come to, equal ones together.
///
/// # Errors
/// There is none, or one whose losses are not known.
pub fn of(plan: &Plan) -> Result<Vec<Volume>, Problem> {
    let mut seen = BTreeSet::new();
    let mut all: Vec<Volume> = Vec::new();
    for target in plan.targets() {
        for volume in below(&plan.graph, target, &mut seen)? {
            match all.iter_mut().find(|known| is_copy(&plan.graph, known, &volume)) {
                Some(known) => known.count += 1,
                None => all.push(volume),
            }
        }
    }
    if all.is_empty() {
        let problem = Problem::at(Path::of(&["workload"]), "no stream comes to a drive");
        return Err(problem.help("durability is that of data on drives"));
    }
    for volume in all.iter_mut().filter(|volume| volume.count > 1) {
        volume.name = plan.graph.group(volume.node).to_owned();
    }
    Ok(all)
}

fn is_copy(graph: &Graph, known: &Volume, other: &Volume) -> bool {
    graph.nodes[known.node.index()].group == graph.nodes[other.node.index()].group
        && known.redundancy == other.redundancy
}

/// The volumes that requests to a component come to, each once.
fn below(graph: &Graph, id: NodeId, seen: &mut BTreeSet<NodeId>) -> Result<Vec<Volume>, Problem> {
    if !seen.insert(id) {
        return Ok(Vec::new());
    }
    let view = graph.view(id);
    let found = view.redundancy().map_err(|message| Problem::at(Path::of(&["system"]), message))?;
    let Some(redundancy) = found else {
        let uses = &graph.nodes[id.index()].uses;
        let holders = view.features().stands_before.map_or(&uses[..], |at| &uses[at..=at]);
        let mut all = Vec::new();
        for used in holders {
            all.extend(below(graph, *used, seen)?);
        }
        if all.is_empty() && view.capacity().0 > 0 {
            known_to_be_a_drive(view)?;
            let redundancy = Redundancy::none(vec![0], view.capacity().0 as f64);
            all.push(Volume {
                node: id,
                name: view.path().to_owned(),
                count: 1,
                redundancy,
                drives: vec![id],
            });
        }
        return Ok(all);
    };
    let uses = &graph.nodes[id.index()].uses;
    let drives: Vec<NodeId> =
        redundancy.drives.iter().map(|drive| behind(graph, uses[*drive as usize])).collect();
    let mut within = Vec::new();
    for drive in &drives {
        within.extend(below(graph, *drive, seen)?);
    }
    match within.iter().find(|volume| volume.drives != [volume.node]) {
        Some(_) if redundancy.tolerates == 0 => Ok(within),
        Some(inner) => {
            let message = format!(
                "`{}` protects `{}`, which spreads its data over drives itself: durability of one within the other is not known",
                view.path(),
                inner.name
            );
            Err(Problem::at(Path::of(&["system"]), message)
                .help("ask for each of them in a scenario of its own"))
        }
        None => Ok(vec![Volume { node: id, name: view.path().to_owned(), count: 1, redundancy, drives }]),
    }
}

/// Refuses what holds data in a way of its own, such as a volume of a cloud or the disk pool of an archive.
fn known_to_be_a_drive(view: View) -> Result<(), Problem> {
    if view.features().is_drive {
        return Ok(());
    }
    let message = format!("`{}` does not say which failures its data survives", view.path());
    let problem = Problem::at(Path::of(&["system"]), message);
    Err(problem.help("durability is that of data on disks, solid-state drives and stations, in arrays and pools or by themselves"))
}

/// The component that fails where another stands before it, such as a route.
fn behind(graph: &Graph, id: NodeId) -> NodeId {
    let view = graph.view(id);
    match view.features().stands_before.and_then(|at| graph.nodes[id.index()].uses.get(at)) {
        Some(next) => behind(graph, *next),
        None => id,
    }
}
