//! Results: what a run says, in the form that `--json` prints. The form is a contract: `docs/results.md` describes it and a
//! test holds it to that.

mod answer;
mod components;
mod filling;
mod measured;
mod notes;
mod phases;
mod response;
mod streams;

use std::collections::BTreeMap;

use headrace_units::Nanos;
use headrace_work::NodeId;
use serde::Serialize;

use crate::plan::Plan;
use crate::run::{End, Options, Outcome};
use crate::spec::{Engine, ScenarioSpec};
use crate::theory::{self, SHARES, StreamTheory};

pub use components::{Bottleneck, BusiestResults, ClosedLoad, ComponentResults, PortionResults};
pub use filling::is_filling;
pub use measured::{Comparison, Measured};
pub use notes::{of_components, of_few};
pub use phases::{PhaseResults, PhaseStreamResults};
pub use response::{IntervalResults, QuantileResults, ResponseResults, have_settled};
pub use streams::{LegResults, StreamResults};

use streams::cdf;

/// A server this busy may as well be asked for several times what it can do.
pub(crate) const SATURATED: f64 = 0.995;

/// What a run says.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The version that made them.
    pub headrace: &'static str,
    /// The answer in a sentence or two.
    pub answer: String,
    /// What a reader must know before trusting them.
    pub notes: Vec<String>,
    /// True where the run did all that was asked.
    pub complete: bool,
    /// Why it ended: `done`, `time_up`, `idle`, `too_far`, `too_many_in_flight`, `too_many_events`, `too_long`, `trace_lost`,
    /// `cancelled`.
    pub ended: End,
    /// How it was computed.
    pub engine: Engine,
    /// How many independent runs.
    pub replications: usize,
    /// Simulated seconds, of all replications, warm-up left out.
    pub simulated_s: f64,
    /// Simulated seconds left out as warm-up, of all replications.
    pub warm_up_s: f64,
    /// Events that happened; none in a recursion.
    pub events: u64,
    /// Of each stream.
    pub streams: Vec<StreamResults>,
    /// Of each component, by its number in the graph.
    pub components: Vec<ComponentResults>,
    /// The component that is busiest.
    pub bottleneck: Option<Bottleneck>,
    /// What theory says beside it.
    pub theory: Vec<StreamTheory>,
    /// What streams got before and after each fault; empty where nothing fails.
    pub phases: Vec<PhaseResults>,
    /// Over time, of the first replication.
    pub series: Vec<PointResults>,
    /// The scenario, defaults filled in: with it, the version and the seed anyone can run it again.
    pub scenario: ScenarioSpec,
}

/// One segment of the run.
#[derive(Clone, Debug, Serialize)]
pub struct PointResults {
    /// Its end, in simulated seconds.
    pub time_s: f64,
    /// Requests completed in it, by stream.
    pub completed: Vec<u64>,
    /// Their mean response in ms, by stream.
    pub mean_ms: Vec<f64>,
    /// Utilisation, by component.
    pub utilisation: Vec<f64>,
    /// How full those components were that have a capacity: the share of it, by path.
    pub fill: BTreeMap<String, f64>,
    /// How often what a component marks happened in it, by `component.what`, where it did: the purges of a pool.
    pub marked: BTreeMap<String, u64>,
}

/// Draws up the results of all replications of a plan; what theory says only where it is wanted.
///
/// # Errors
/// A law that every run must keep was broken: the program is wrong, and so would be its results.
pub fn of(plan: &Plan, engine: Engine, outcomes: &[Outcome], options: &Options) -> Result<Results, String> {
    if let Some(broken) = outcomes.iter().flat_map(|outcome| outcome.broken.iter()).next() {
        return Err(format!("this is a defect of headrace, please report it with the scenario: {broken}"));
    }
    let ended = outcomes.iter().map(|outcome| outcome.end).max().unwrap_or(End::Cancelled);
    let all = outcomes;
    // One that was cut short would count as much as the others in an interval; it is left out unless there is no other.
    let whole: Vec<Outcome> = outcomes.iter().filter(|outcome| is_complete(outcome.end)).cloned().collect();
    let outcomes = if whole.is_empty() { outcomes } else { &whole[..] };
    let seconds: f64 = outcomes.iter().map(|outcome| (outcome.ended_at - outcome.warm_up).secs()).sum();
    let streams: Vec<StreamResults> =
        (0..plan.streams.len()).map(|i| streams::stream(plan, i, outcomes, seconds, options.widen)).collect();
    let components = components::all(plan, outcomes, seconds);
    let bottleneck = components::bottleneck(plan, outcomes, &components);
    let times: Vec<Vec<f64>> =
        streams.iter().map(|stream| stream.cdf.iter().map(|(ms, _)| *ms).collect()).collect();
    let mut results = Results {
        headrace: env!("CARGO_PKG_VERSION"),
        answer: String::new(),
        notes: notes::of(plan, all, &streams, bottleneck.as_ref()),
        complete: outcomes.len() == plan.run().replications as usize && is_complete(ended),
        ended,
        engine,
        replications: outcomes.len(),
        simulated_s: seconds,
        warm_up_s: outcomes.iter().map(|outcome| outcome.warm_up.secs()).sum(),
        events: outcomes.iter().map(|outcome| outcome.events).sum(),
        streams,
        components,
        bottleneck,
        theory: if options.theory { theory::predict(plan, &times) } else { Vec::new() },
        phases: phases::of(plan, outcomes),
        series: outcomes.first().map_or_else(Vec::new, |outcome| points(plan, outcome)),
        scenario: plan.spec.clone(),
    };
    results.answer = answer::in_words(&results);
    Ok(results)
}

fn is_complete(end: End) -> bool {
    matches!(end, End::Done | End::TimeUp)
}

fn points(plan: &Plan, outcome: &Outcome) -> Vec<PointResults> {
    let path = |id: NodeId| plan.graph.view(id).path().to_owned();
    let results = outcome.series.iter().map(|point| PointResults {
        time_s: point.time.secs(),
        completed: point.completed.clone(),
        mean_ms: point.mean_ns.iter().map(|ns| Nanos(*ns as u64).ms()).collect(),
        utilisation: point.utilisation.clone(),
        fill: point.fill.iter().map(|(id, fill)| (path(*id), *fill)).collect(),
        marked: point
            .marked
            .iter()
            .map(|(id, what, times)| (format!("{}.{what}", path(*id)), *times))
            .collect(),
    });
    results.collect()
}
