//! What a run says of the time before, between and after faults.

use std::collections::BTreeSet;

use headrace_stats::{Histogram, Tally};
use headrace_storage::{Change, Event};
use headrace_work::NodeId;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::faults::{self, piece_name};
use crate::plan::Plan;
use crate::run::{Outcome, PhaseOutcome};

/// A time in which the health of no component changes. Of several replications the means, as far as the same happened in all of them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseResults {
    /// Start, in simulated time.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// Events at its start: `volume/spindle[2] fails`, `volume ends its rebuild`; empty for the first.
    pub after: Vec<String>,
    /// One entry per stream.
    pub streams: Vec<PhaseStreamResults>,
    /// Its events, for sentences about them.
    #[serde(skip)]
    pub(super) events: Vec<PhaseEvent>,
}

/// An event at the start of a phase.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PhaseEvent {
    /// Path of the component that it is of.
    pub path: String,
    pub what: Event,
    /// Path of the member that an array evicts.
    pub evicted: Option<String>,
}

/// Results of a stream in a phase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseStreamResults {
    /// Name.
    pub name: String,
    /// Requests completed.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Throughput.
    pub requests_per_s: f64,
    /// Throughput in bytes.
    pub bytes_per_s: f64,
    /// Mean response time; null if no request completed.
    pub mean_ms: Option<f64>,
    /// P99 of the response time.
    pub p99_ms: Option<f64>,
}

/// The phases of all replications.
pub(super) fn of(plan: &Plan, outcomes: &[Outcome]) -> Vec<PhaseResults> {
    let fewest = outcomes.iter().map(|outcome| outcome.phases.len()).min().unwrap_or(0);
    let same = |at: &usize| {
        let after = |outcome: &Outcome| outcome.phases[*at].after.clone();
        outcomes.windows(2).all(|pair| after(&pair[0]) == after(&pair[1]))
    };
    let copies = failing_copies(plan);
    (0..fewest).take_while(same).map(|at| phase(plan, &copies, outcomes, at)).collect()
}

/// The copies of groups that faults are of, by their names, with their components.
fn failing_copies(plan: &Plan) -> IndexMap<&str, BTreeSet<NodeId>> {
    let names: BTreeSet<&str> = plan.spec.faults.iter().map(|fault| &*fault.component).collect();
    let mut copies = faults::copies(&plan.graph);
    copies.retain(|name, _| names.contains(name));
    copies
}

fn phase(
    plan: &Plan,
    copies: &IndexMap<&str, BTreeSet<NodeId>>,
    outcomes: &[Outcome],
    at: usize,
) -> PhaseResults {
    let all: Vec<&PhaseOutcome> = outcomes.iter().map(|outcome| &outcome.phases[at]).collect();
    let mean =
        |of: fn(&PhaseOutcome) -> f64| all.iter().map(|phase| of(phase)).sum::<f64>() / all.len() as f64;
    PhaseResults {
        from_s: mean(|phase| phase.span.0.secs()),
        to_s: mean(|phase| phase.span.1.secs()),
        after: in_words(plan, copies, &all[0].after),
        events: all[0].after.iter().map(|(node, what)| event(plan, *node, *what)).collect(),
        streams: (0..plan.streams.len()).map(|stream| of_stream(plan, &all, stream)).collect(),
    }
}

fn of_stream(plan: &Plan, all: &[&PhaseOutcome], stream: usize) -> PhaseStreamResults {
    let found = || all.iter().map(|phase| &phase.streams[stream]);
    let tally = Tally::all(&found().map(|(tally, ..)| tally).collect::<Vec<_>>());
    let responses = found().fold(Histogram::default(), |sum, (_, one, ..)| sum.merged(one));
    let seconds = all.iter().map(|phase| (phase.span.1 - phase.span.0).secs()).sum::<f64>().max(1e-9);
    let some = tally.count() > 0;
    PhaseStreamResults {
        name: plan.streams[stream].name.clone(),
        completed: tally.count(),
        failed: found().map(|(.., failed)| failed).sum(),
        requests_per_s: tally.count() as f64 / seconds,
        bytes_per_s: found().map(|(_, _, bytes, _)| *bytes as f64).sum::<f64>() / seconds,
        mean_ms: some.then(|| tally.mean_ns() * 1e-6),
        p99_ms: some.then(|| responses.quantile(0.99).ms()),
    }
}

/// What happened, in words: of a copy of a group that a fault is of, what happened to all of its components is one event.
fn in_words(plan: &Plan, copies: &IndexMap<&str, BTreeSet<NodeId>>, all: &[(NodeId, Event)]) -> Vec<String> {
    let mut left = all.to_vec();
    let mut said = Vec::new();
    for (name, members) in copies {
        for fails in [true, false] {
            let is_own = |(node, event): &(NodeId, Event)| members.contains(node) && is_change(*event, fails);
            let (own, others): (Vec<_>, Vec<_>) = left.iter().copied().partition(is_own);
            if own.len() == members.len() {
                left = others;
                said.push(format!("{name} {}", verb(change_of(&own))));
            }
        }
    }
    said.extend(left.iter().map(|(node, event)| event_in_words(plan, *node, *event)));
    said
}

/// What happened to a copy: it is replaced where a component of it is, others then return.
fn change_of(own: &[(NodeId, Event)]) -> Change {
    let has = |change: Change| own.iter().any(|(_, event)| *event == Event::Changes(change));
    [Change::Fails, Change::Replaced].into_iter().find(|change| has(*change)).unwrap_or(Change::Returns)
}

/// Returns true if a component fails, or if it works again.
fn is_change(event: Event, fails: bool) -> bool {
    match event {
        Event::Changes(Change::Fails) => fails,
        Event::Changes(Change::Returns | Change::Replaced) => !fails,
        _ => false,
    }
}

fn event(plan: &Plan, node: NodeId, what: Event) -> PhaseEvent {
    let path = |node: NodeId| plan.graph.nodes[node.index()].path.clone();
    let evicted = match what {
        Event::Evicts(member) => Some(path(member)),
        _ => None,
    };
    PhaseEvent { path: path(node), what, evicted }
}

fn event_in_words(plan: &Plan, node: NodeId, event: Event) -> String {
    let of = &plan.graph.nodes[node.index()];
    let path = &of.path;
    match event {
        Event::Changes(change) => format!("{path} {}", verb(change)),
        Event::PieceChanges(piece, change) => {
            format!("{path}/{} {}", piece_name(&of.plan.theory().features().pieces, piece), verb(change))
        }
        Event::Evicts(node) => {
            format!("{path} evicts {}: it is slow", plan.graph.nodes[node.index()].path)
        }
        Event::Begins(work) => format!("{path} begins to {work}"),
        Event::Ends(work) => format!("{path} ends its {work}"),
        Event::LosesData(stripes) => format!("{path} loses {stripes} stripes"),
    }
}

fn verb(change: Change) -> String {
    match change {
        Change::Fails => "fails".to_owned(),
        Change::Returns => "returns".to_owned(),
        Change::Replaced => "is replaced".to_owned(),
        Change::Slow(100) => "takes its usual time again".to_owned(),
        Change::Slow(percent) => format!("takes {} times as long", f64::from(percent) / 100.0),
    }
}
