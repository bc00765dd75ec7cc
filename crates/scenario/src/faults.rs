//! Faults: components that fail during a run, return or are replaced.

use headrace_storage::{Change, Graph, PathTransfer};
use headrace_units::Nanos;
use headrace_work::{Block, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Path, Problem};

/// A component that fails during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// The component, by its path in results: `volume/spindle[2]`, or the name of a link. Of an archive: a drive or a robot arm of a tape
    /// library (`library/drive[3]`, `library/arm[0]`), or a volume of a disk pool (`pool/volume[5]`).
    pub component: String,
    /// When it fails. It stops answering, and requests in it are lost. A drive, an arm or a volume finishes what it does.
    pub fails: Moment,
    /// When it works again with its data intact. An array then writes what it missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Moment>,
    /// When an empty replacement takes its place. An array then rebuilds its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Moment>,
}

/// When something happens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Moment {
    /// At this instant.
    At(Nanos),
    /// After a number of requests.
    After(AfterSpec),
}

/// A moment counted in requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterSpec {
    /// Number of requests answered, dropped, expired or failed, of all streams together.
    pub after: u64,
}

/// A change of a component's health, and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// When.
    pub when: Moment,
    /// To which component.
    pub node: NodeId,
    /// To which piece of it, by its running number; none for the whole.
    pub piece: Option<u32>,
    /// What.
    pub change: Change,
}

impl Moment {
    /// Returns true if it comes before or with `other`, where both are of one kind.
    fn is_not_before(self, other: Self) -> bool {
        match (self, other) {
            (Self::At(this), Self::At(other)) => this >= other,
            (Self::After(this), Self::After(other)) => this.after >= other.after,
            _ => true,
        }
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::At(time) => write!(f, "at {time}"),
            Self::After(AfterSpec { after }) => write!(f, "after {after} requests"),
        }
    }
}

impl FaultSpec {
    /// The events of the fault, each with its verb.
    pub fn moments(&self) -> Vec<(&'static str, Moment)> {
        let later = [("returns", self.returns), ("is replaced", self.replaced)];
        let later = later.into_iter().filter_map(|(event, moment)| Some((event, moment?)));
        [("fails", self.fails)].into_iter().chain(later).collect()
    }
}

/// The faults of a scenario, in the order in which they are written; what is wrong with them goes to `problems`.
pub fn of(specs: &[FaultSpec], graph: &Graph, problems: &mut Vec<Problem>) -> Vec<Fault> {
    let all = specs.iter().enumerate().filter_map(|(number, spec)| {
        let path = Path::of(&["faults"]).index(number);
        let found = of_one(spec, graph, &path);
        found.map_err(|problem| problems.push(problem)).ok()
    });
    all.flatten().collect()
}

/// Returns the component, or the piece of one, that is called `name` at `path`, if it can fail.
///
/// # Errors
/// There is no such component, or it cannot fail.
pub fn that_fails(graph: &Graph, name: &str, path: &Path) -> Result<(NodeId, Option<u32>), Problem> {
    let (node, piece) = found(graph, name).ok_or_else(|| {
        let known: Vec<String> = graph.ids().flat_map(|id| names(graph, id)).collect();
        let problem = Problem::at(path.clone(), format!("there is no component `{name}`"));
        problem.nearest(name, known.iter().map(String::as_str))
    })?;
    let pieces = graph.nodes[node.index()].plan.theory().features().pieces;
    if let (None, [(kind, number), ..]) = (piece, &pieces[..]) {
        let message = format!("`{name}` fails in parts, not as a whole");
        let help = format!("name a part, from `{name}/{kind}[0]` to `{name}/{kind}[{}]`", number - 1);
        return Err(Problem::at(path.clone(), message).help(help));
    }
    let view = graph.view(node);
    if piece.is_none() && !view.serves::<Block>() && !view.serves::<PathTransfer>() {
        let message =
            format!("`{name}` neither serves nor carries blocks; only components that do can fail yet");
        return Err(Problem::at(path.clone(), message).help("remove it: it would change nothing"));
    }
    Ok((node, piece))
}

/// Returns true if an empty replacement can take the place of a component.
pub fn is_replaceable(graph: &Graph, (node, piece): (NodeId, Option<u32>)) -> bool {
    piece.is_none() && graph.view(node).capacity().0 > 0
}

fn of_one(spec: &FaultSpec, graph: &Graph, path: &Path) -> Result<Vec<Fault>, Problem> {
    let (node, piece) = that_fails(graph, &spec.component, &path.key("component"))?;
    let end = match (spec.returns, spec.replaced) {
        (Some(_), Some(_)) => {
            let problem = Problem::at(path.key("replaced"), "a replaced component does not return");
            return Err(problem.help("remove `returns` or `replaced`"));
        }
        (Some(when), None) => Some(("returns", when, Change::Returns)),
        (None, when) => when.map(|when| ("replaced", when, Change::Replaced)),
    };
    if spec.replaced.is_some() && !is_replaceable(graph, (node, piece)) {
        let message = format!("`{}` holds no data, so it cannot be `replaced`", spec.component);
        return Err(Problem::at(path.key("replaced"), message).help("write `returns` instead"));
    }
    if let Some((field, when, _)) = end.filter(|(_, when, _)| !when.is_not_before(spec.fails)) {
        let message = format!("`{}` would return before it fails", spec.component);
        _ = when;
        return Err(Problem::at(path.key(field), message).help("use a later time than `fails`"));
    }
    let fails = Fault { when: spec.fails, node, piece, change: Change::Fails };
    let end = end.map(|(_, when, change)| Fault { when, node, piece, change });
    Ok(std::iter::once(fails).chain(end).collect())
}

/// The component of this name, or the piece of one: `library/drive[3]`.
fn found(graph: &Graph, name: &str) -> Option<(NodeId, Option<u32>)> {
    let node = |path: &str| graph.ids().find(|id| graph.nodes[id.index()].path == path);
    if let Some(node) = node(name) {
        return Some((node, None));
    }
    let (path, piece) = name.rsplit_once('/')?;
    let (kind, number) = piece.strip_suffix(']')?.split_once('[')?;
    let (node, number) = (node(path)?, number.parse::<u32>().ok()?);
    let mut before = 0;
    for (known, all) in graph.nodes[node.index()].plan.theory().features().pieces {
        if known == kind {
            return (number < all).then_some((node, Some(before + number)));
        }
        before += all;
    }
    None
}

/// The names by which a component, or the first and last pieces of it, can fail.
fn names(graph: &Graph, id: NodeId) -> Vec<String> {
    let node = &graph.nodes[id.index()];
    let pieces = node.plan.theory().features().pieces.into_iter();
    let ends = pieces.flat_map(|(kind, all)| [0, all - 1].map(|at| format!("{}/{kind}[{at}]", node.path)));
    std::iter::once(node.path.clone()).chain(ends).collect()
}

/// The name of a piece by its running number: `drive[3]`.
pub fn piece_name(pieces: &[(&'static str, u32)], piece: u32) -> String {
    let mut number = piece;
    for (kind, all) in pieces {
        if number < *all {
            return format!("{kind}[{number}]");
        }
        number -= all;
    }
    format!("part {piece}")
}
