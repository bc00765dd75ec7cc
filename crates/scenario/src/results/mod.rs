//! Results: what a run says, in the form that `--json` prints. The form is a contract: `docs/results.md` describes it and a
//! test holds it to that.

mod answer;
mod components;
mod destaging;
mod evictions;
mod filling;
mod formula_error;
mod legs;
mod measured;
mod notes;
mod objectives;
mod overload;
mod phases;
mod rebuilds;
mod response;
mod steadiness;
mod steps;
mod streams;
mod stretch;
mod trials;

use std::collections::BTreeMap;

use headrace_units::Nanos;
use headrace_work::NodeId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::run::{Deadline, End, Options, Outcome};
use crate::solve;
use crate::spec::{Engine, ScenarioSpec};
use crate::theory::{self, SHARES, StreamTheory};

pub use components::{Bottleneck, BusiestResults, ClosedLoad, ComponentResults, PortionResults};
pub use filling::is_filling;
pub use formula_error::formula_error;
pub use legs::LegResults;
pub use measured::{Comparison, Measured};
pub use notes::{of_components, of_few};
pub use objectives::ObjectiveResults;
pub use phases::{PhaseResults, PhaseStreamResults};
pub use response::{IntervalResults, QuantileResults, ResponseResults, have_settled};
pub use steps::StepResults;
pub use streams::StreamResults;
pub use stretch::{BusiestStretch, StretchStream};
pub use trials::HeadroomTrials;

use streams::cdf;

/// A server this busy may as well be asked for several times what it can do.
pub(crate) const SATURATED: f64 = 0.995;

/// More streams than this are one sentence.
const MOST_STREAMS: usize = 20;

/// Results of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Results {
    /// Version of headrace.
    pub headrace: &'static str,
    /// Summary in a few sentences. It begins with `INCOMPLETE` where the run did not end, and with `FILLING` where most of what was written is still
    /// in a cache.
    pub answer: String,
    /// Warnings: limits reached, no steady state, intervals that cannot be trusted.
    pub notes: Vec<String>,
    /// True if the run finished; false if a limit or Ctrl-C ended it.
    pub complete: bool,
    /// Reason for the end of the run: `done`, `time_up`, `idle`, `time_stands_still`, `too_far`, `too_many_in_flight`,
    /// `too_many_parts`, `too_many_events`, `too_long`, `trace_lost` or `cancelled`.
    pub ended: End,
    /// Algorithm used, `events` or `recursion`. Both give the same results for streams; those of components differ by the requests in flight at the ends
    /// of the run, which a recursion does not count.
    pub engine: Engine,
    /// Number of independent runs; of a split run, the number that it was split into.
    pub replications: usize,
    /// Simulated time of all replications, without warm-up.
    pub simulated_s: f64,
    /// Simulated time discarded as warm-up, of all replications.
    pub warm_up_s: f64,
    /// Number of events processed; 0 for a recursion.
    pub events: u64,
    /// One entry per objective of the scenario.
    pub objectives: Vec<ObjectiveResults>,
    /// One entry per stream of the workload.
    pub streams: Vec<StreamResults>,
    /// One entry per component, each before the components it contains; other fields refer to a component by its index in this
    /// list.
    pub components: Vec<ComponentResults>,
    /// Component with the highest utilisation.
    pub bottleneck: Option<Bottleneck>,
    /// The busiest segment of the first replication; null if it differs from the mean by less than a quarter, or by no more than chance.
    pub busiest_stretch: Option<BusiestStretch>,
    /// Analytic solution for each stream.
    pub theory: Vec<StreamTheory>,
    /// Results before, between and after faults and rebuilds; empty without faults. For several replications: means over all of
    /// them, up to the first phase that differs.
    pub phases: Vec<PhaseResults>,
    /// Time series: one point for each of at most 64 segments of the first replication, including warm-up.
    pub series: Vec<PointResults>,
    /// The scenario with its defaults; together with the version it reproduces the run.
    pub scenario: ScenarioSpec,
}

/// One segment of the run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PointResults {
    /// End of the segment, in simulated time.
    pub time_s: f64,
    /// Requests completed, by stream.
    pub completed: Vec<u64>,
    /// Mean response time, by stream.
    #[schemars(extend("x-unit" = "list of ms"))]
    pub mean_ms: Vec<f64>,
    /// P99 of the response time, by stream; 0 where none completed.
    #[schemars(extend("x-unit" = "list of ms"))]
    pub p99_ms: Vec<f64>,
    /// Share of requests in time, by objective; null if none of its requests completed.
    #[schemars(extend("x-unit" = "list of 0 to 1"))]
    pub in_time: Vec<Option<f64>>,
    /// Utilisation, by component.
    #[schemars(extend("x-unit" = "list of 0 to 1"))]
    pub utilisation: Vec<f64>,
    /// Fill level of disk pools as a share of their capacity, and of the buckets of limiters as a share of their burst, by path.
    pub fill: BTreeMap<String, f64>,
    /// Number of marked occurrences by `component.what`, if any: `archive.purges`.
    pub marked: BTreeMap<String, u64>,
}

/// What the streams and components of a simulation that goes on did, from its beginning to now.
#[derive(Clone, Debug, Serialize)]
pub struct ResultsSoFar {
    /// Simulated time.
    pub simulated_s: f64,
    /// One entry per stream of the workload.
    pub streams: Vec<StreamResults>,
    /// One entry per component, as those of [`Results`].
    pub components: Vec<ComponentResults>,
}

impl ResultsSoFar {
    /// Returns them as JSON, as `headrace run --json` writes those of a run.
    ///
    /// # Panics
    /// Never: numbers, texts and lists of them are JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts are JSON")
    }
}

/// Draws up what a simulation that goes on has found.
///
/// # Errors
/// See [`Outcome::lawful`].
pub(crate) fn so_far(plan: &Plan, outcome: Outcome) -> Result<ResultsSoFar, String> {
    let (simulated_s, outcomes) = (outcome.ended_at.secs(), [outcome]);
    outcomes.iter().try_for_each(Outcome::lawful)?;
    let stream = |at| streams::stream(plan, at, &outcomes, simulated_s, 1.0);
    Ok(ResultsSoFar {
        simulated_s,
        streams: (0..plan.streams.len()).map(stream).collect(),
        components: components::all(plan, &outcomes, simulated_s),
    })
}

/// Draws up the results of all replications of a plan; what theory says only where it is wanted.
///
/// # Errors
/// A simulation that looked for headroom broke a law: see [`Outcome::lawful`].
pub fn of(
    plan: &Plan,
    engine: Engine,
    outcomes: &[Outcome],
    options: &Options,
    deadline: &Deadline,
) -> Result<Results, String> {
    let are_all = outcomes.len() == plan.replications() as usize;
    let ends = outcomes.iter().map(|outcome| outcome.end);
    let ended = ends.max().map_or(End::Cancelled, |end| if are_all { end } else { end.max(End::TooLong) });
    let all = outcomes;
    // One that was cut short would count as much as the others in an interval; it is left out unless there is no other.
    let whole: Vec<Outcome> = outcomes.iter().filter(|outcome| outcome.end.is_complete()).cloned().collect();
    let outcomes = if whole.is_empty() { outcomes } else { &whole[..] };
    let seconds: f64 = outcomes.iter().map(|outcome| (outcome.ended_at - outcome.warm_up).secs()).sum();
    let streams: Vec<StreamResults> =
        (0..plan.streams.len()).map(|i| streams::stream(plan, i, outcomes, seconds, options.widen)).collect();
    let components = components::all(plan, outcomes, seconds);
    let mut bottleneck = components::bottleneck(plan, outcomes, &components);
    if let Some(of) = bottleneck.as_mut().filter(|_| options.headroom && ended.is_complete()) {
        trials::refine(plan, of, (outcomes, &components), deadline)?;
    }
    // After Ctrl-C during these simulations, what the run found is kept, and says that it was interrupted.
    let is_cancelled = options.headroom && deadline.end() == Some(End::Cancelled);
    let ended = if is_cancelled { End::Cancelled } else { ended };
    let times: Vec<Vec<f64>> =
        streams.iter().map(|stream| stream.cdf.iter().map(|(ms, _)| *ms).collect()).collect();
    let mut results = Results {
        headrace: env!("CARGO_PKG_VERSION"),
        answer: String::new(),
        notes: notes::of(plan, all, &streams, bottleneck.as_ref()),
        complete: ended.is_complete(),
        ended,
        engine,
        replications: outcomes.len(),
        simulated_s: seconds,
        warm_up_s: outcomes.iter().map(|outcome| outcome.warm_up.secs()).sum(),
        events: outcomes.iter().map(|outcome| outcome.events).sum(),
        objectives: objectives::of(plan, outcomes),
        streams,
        components,
        bottleneck,
        busiest_stretch: outcomes.first().and_then(|outcome| stretch::of(plan, outcome)),
        theory: if options.theory {
            theory::predict(plan, &times, || solve::at_own_load(plan))
        } else {
            Vec::new()
        },
        phases: phases::of(plan, outcomes),
        series: outcomes.first().map_or_else(Vec::new, |outcome| points(plan, outcome)),
        scenario: plan.spec.clone(),
    };
    results.notes.extend(destaging::notes(plan, &results.components));
    results.notes.extend(rebuilds::notes(&results));
    results.answer = answer::in_words(&results);
    Ok(results)
}

fn points(plan: &Plan, outcome: &Outcome) -> Vec<PointResults> {
    let path = |id: NodeId| plan.graph.view(id).path().to_owned();
    let results = outcome.series.iter().map(|point| PointResults {
        time_s: point.time.secs(),
        completed: point.completed.clone(),
        mean_ms: point.mean_ns.iter().map(|ns| Nanos(*ns as u64).ms()).collect(),
        p99_ms: point.p99.iter().map(|p99| p99.ms()).collect(),
        in_time: point.in_time.clone(),
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
