//! A long run that is split into replications: how many there are, and which questions have the same answer from them.

use headrace_storage::Graph;
use headrace_workload::PatternSpec;

use super::Plan;
use super::stream::StreamPlan;
use crate::document::{Path, Problem};
use crate::spec::WarmUp;

/// Numbers of replications that a run can be split into, the largest first: 2, 4 or 8 processors share them evenly. As with batch means,
/// more than about 30 would only be shorter (Schmeiser 1982).
pub const PARTS: [u32; 2] = [32, 8];

/// Maximum number of components: each replication keeps about a kilobyte for every one of them.
const MOST_COMPONENTS: usize = 10_000;

/// Division of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Number of replications that the run is split into; 1 for a run that is not split.
    pub parts: u32,
    /// Why a run was not split although that was asked for.
    pub refused: Option<String>,
}

impl Split {
    /// A run that is not split.
    pub const NONE: Self = Self { parts: 1, refused: None };

    /// Returns the number of the replication that is cut for itself: the pilot, which has random numbers that no other has, or the only one.
    pub fn pilot(&self) -> u64 {
        if self.parts == 1 { 0 } else { u64::from(self.parts) }
    }
}

/// Returns why a plan cannot be split, although its scenario asks for that: its question is not about a steady state, or a
/// replication does not begin like any other stretch of the run.
pub(super) fn problem(plan: &Plan) -> Option<Problem> {
    let why = plan.run().split.then(|| reason(plan)).flatten()?;
    let message = format!("this run cannot be split into equal replications: {why}");
    Some(Problem::at(Path::of(&["run", "split"]), message).help("remove `split`, or set `replications`"))
}

fn reason(plan: &Plan) -> Option<String> {
    let run = plan.run();
    if run.time.is_some() {
        return Some("`time` ends it; give `requests` instead".to_owned());
    }
    if run.warm_up == WarmUp::None {
        return Some("`warm_up: none` keeps its beginning".to_owned());
    }
    if plan.has_phases() {
        return Some("components fail, or do work that ends, such as a rebuild".to_owned());
    }
    let components = plan.graph.nodes.len();
    if components > MOST_COMPONENTS {
        return Some(format!(
            "the results of {components} components are too many to keep several times (at most {MOST_COMPONENTS})"
        ));
    }
    plan.streams.iter().find_map(|stream| of_stream(stream).or_else(|| of_components(&plan.graph, stream)))
}

/// Returns why the requests of a stream differ from one part of the run to the next.
fn of_stream(stream: &StreamPlan) -> Option<String> {
    let name = &stream.name;
    if stream.is_recorded() {
        return Some(format!("`{name}` is a recording"));
    }
    if stream.curve().is_some() {
        return Some(format!("the rate of `{name}` follows a curve"));
    }
    if stream.spec.steps().is_some() {
        return Some(format!("`{name}` trains in steps and epochs"));
    }
    let proceeds = stream.spec.pattern == PatternSpec::Sequential;
    proceeds.then(|| {
        format!("the requests of `{name}` are sequential, so their addresses advance during the run")
    })
}

/// Returns which component that a stream reaches keeps something that builds up during a run, nobody knows for how long.
fn of_components(graph: &Graph, stream: &StreamPlan) -> Option<String> {
    let reached = graph.reached(stream.target);
    let fills = reached.iter().map(|id| graph.view(*id)).find(|view| view.features().fills.is_none())?;
    Some(format!("the state of `{}` builds up during the run", fills.path()))
}
