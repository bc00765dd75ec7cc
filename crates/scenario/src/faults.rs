//! Faults: components that fail during a run, return or are replaced.

use headrace_storage::{Change, Graph};
use headrace_units::Nanos;
use headrace_work::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Path, Problem};

/// A component that fails during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// The component, by its path in results: `volume/spindle[2]`, or the name of a link.
    pub component: String,
    /// When it fails. It stops answering, and requests in it are lost.
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

/// What happens to a component, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// When.
    pub when: Moment,
    /// To which component.
    pub node: NodeId,
    /// What.
    pub change: Change,
}

impl Moment {
    /// Whether it comes before or with `other`, where both are of one kind.
    fn is_not_before(self, other: Self) -> bool {
        match (self, other) {
            (Self::At(this), Self::At(other)) => this >= other,
            (Self::After(this), Self::After(other)) => this.after >= other.after,
            _ => true,
        }
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

fn of_one(spec: &FaultSpec, graph: &Graph, path: &Path) -> Result<Vec<Fault>, Problem> {
    let node = graph.ids().find(|id| graph.nodes[id.index()].path == spec.component).ok_or_else(|| {
        let message = format!("there is no component `{}`", spec.component);
        let known = graph.nodes.iter().map(|node| node.path.as_str());
        Problem::at(path.key("component"), message).nearest(&spec.component, known)
    })?;
    if !graph.nodes[node.index()].plan.known().serves_blocks() {
        let message = format!("`{}` serves no blocks; only components that do can fail yet", spec.component);
        return Err(Problem::at(path.key("component"), message).help("remove it: it would change nothing"));
    }
    let end = match (spec.returns, spec.replaced) {
        (Some(_), Some(_)) => {
            let problem = Problem::at(path.key("replaced"), "a replaced component does not return");
            return Err(problem.help("remove `returns` or `replaced`"));
        }
        (Some(when), None) => Some(("returns", when, Change::Returns)),
        (None, when) => when.map(|when| ("replaced", when, Change::Replaced)),
    };
    if spec.replaced.is_some() && graph.view(node).capacity().0 == 0 {
        let message = format!("`{}` holds no data, so it cannot be `replaced`", spec.component);
        return Err(Problem::at(path.key("replaced"), message).help("write `returns` instead"));
    }
    if let Some((field, when, _)) = end.filter(|(_, when, _)| !when.is_not_before(spec.fails)) {
        let message = format!("`{}` would return before it fails", spec.component);
        _ = when;
        return Err(Problem::at(path.key(field), message).help("use a later time than `fails`"));
    }
    let fails = Fault { when: spec.fails, node, change: Change::Fails };
    let end = end.map(|(_, when, change)| Fault { when, node, change });
    Ok(std::iter::once(fails).chain(end).collect())
}
