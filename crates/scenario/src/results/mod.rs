//! Results: what a run says, in the form that `--json` prints. The form is a contract: `docs/results.md` describes it and a
//! test holds it to that.

mod answer;
mod measured;
mod notes;

use headrace_stats::histogram::QUANTILE_ERROR;
use headrace_stats::{Distribution, Interval, Tally};
use headrace_units::Nanos;
use serde::Serialize;

use crate::plan::{Plan, StreamPlan};
use crate::run::{ComponentOutcome, End, Outcome, SeriesOutcome};
use crate::spec::{Engine, ScenarioSpec};
use crate::theory::{self, SHARES, Theory};

pub use measured::{Comparison, Measured};

/// A server this busy may as well be asked for several times what it can do.
pub(crate) const SATURATED: f64 = 0.995;

/// How many points a cdf has.
const CDF_POINTS: usize = 500;

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
    /// Of each component.
    pub components: Vec<ComponentResults>,
    /// The component that is busiest.
    pub bottleneck: Option<Bottleneck>,
    /// What theory says beside it.
    pub theory: Vec<Theory>,
    /// Over time, of the first replication.
    pub series: Vec<PointResults>,
    /// The scenario, defaults filled in: with it, the version and the seed anyone can run it again.
    pub scenario: ScenarioSpec,
}

/// What a run says of one stream.
#[derive(Clone, Debug, Serialize)]
pub struct StreamResults {
    /// Its name.
    pub name: String,
    /// Where its requests go.
    pub to: String,
    /// Requests made, warm-up included.
    pub made: u64,
    /// Requests answered, warm-up included.
    pub answered: u64,
    /// Requests under way at the end.
    pub in_flight: u64,
    /// Answers a second.
    pub requests_per_s: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Response times of all requests.
    pub response: ResponseResults,
    /// Of reads, where there are writes too.
    pub reads: Option<ResponseResults>,
    /// Of writes, where there are reads too.
    pub writes: Option<ResponseResults>,
    /// Where the time went: mean waiting and service of a request along its path. They add up to the mean response.
    pub path: Vec<LegResults>,
    /// The cdf of the response time: (ms, share), at equal steps of the share.
    pub cdf: Vec<(f64, f64)>,
    /// What was measured on a real device, for a replayed trace.
    pub measured: Option<Measured>,
}

/// Response times.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseResults {
    /// How many, warm-up left out.
    pub count: u64,
    /// Their mean, in ms.
    pub mean_ms: f64,
    /// Half the width of its 95 % interval, in ms; none where the run was too short for one.
    pub half_width_ms: Option<f64>,
    /// How the interval was obtained, and whether it can be trusted.
    pub interval: Option<IntervalResults>,
    /// Their standard deviation, in ms.
    pub sd_ms: f64,
    /// The longest, in ms, warm-up included.
    pub max_ms: f64,
    /// Quantiles, with a relative error of at most `quantile_error`.
    pub quantiles_ms: Vec<QuantileResults>,
    /// The largest relative error of a quantile as a number read off this run.
    pub quantile_error: f64,
}

/// How an interval was obtained.
#[derive(Clone, Debug, Serialize)]
pub struct IntervalResults {
    /// By batch means or by replications.
    pub method: headrace_stats::Method,
    /// False where batches are still correlated, or too few.
    pub trusted: bool,
}

/// A quantile.
#[derive(Clone, Debug, Serialize)]
pub struct QuantileResults {
    /// The share of requests.
    pub share: f64,
    /// Answered within so many ms.
    pub ms: f64,
    /// Half the width of its 95 % interval, from replications.
    pub half_width_ms: Option<f64>,
}

/// One component on the path of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegResults {
    /// The component; disks of one array together.
    pub component: String,
    /// Mean wait of a request, in ms.
    pub waiting_ms: f64,
    /// Mean service of a request, in ms.
    pub service_ms: f64,
}

/// What a run says of one component.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentResults {
    /// Its path.
    pub path: String,
    /// Its path without the numbers of disks: what is alike has one group.
    pub group: String,
    /// Its kind.
    pub kind: &'static str,
    /// Share of the time its servers were in use; none where it has no queue of its own.
    pub utilisation: Option<f64>,
    /// Mean number of requests waiting.
    pub queue: Option<f64>,
    /// Bytes a second asked of it.
    pub bytes_per_s: f64,
    /// Requests that got a server.
    pub visits: u64,
    /// The mean size of what it was asked for, in bytes; none where it has no queue of its own.
    pub bytes_per_visit: Option<f64>,
    /// Their mean wait, in ms.
    pub waiting_ms: f64,
    /// The mean time a server was held, in ms.
    pub service_ms: f64,
}

/// The component that is busiest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// Its path.
    pub component: String,
    /// How busy it is.
    pub utilisation: f64,
    /// Whether it was so busy that it never rested.
    pub saturated: bool,
    /// At how many times the load it saturates, if nothing else does before; below one where it was never idle, by how much of
    /// the load was answered. None where a stream waits for answers.
    pub saturates_at: Option<f64>,
}

/// One segment of the run.
#[derive(Clone, Debug, Serialize)]
pub struct PointResults {
    /// Its end, in simulated seconds.
    pub time_s: f64,
    /// Requests answered in it, by stream.
    pub answered: Vec<u64>,
    /// Their mean response in ms, by stream.
    pub mean_ms: Vec<f64>,
    /// Utilisation, by component.
    pub utilisation: Vec<f64>,
}

/// Draws up the results of all replications of a plan; what `theory` says only where it is wanted.
///
/// # Errors
/// A law that every run must keep was broken: the program is wrong, and so would be its results.
pub fn of(plan: &Plan, engine: Engine, outcomes: &[Outcome], theory: bool) -> Result<Results, String> {
    if let Some(broken) = outcomes.iter().flat_map(|outcome| &outcome.broken).next() {
        return Err(format!("this is a defect of headrace, please report it with the scenario: {broken}"));
    }
    let ended = outcomes.iter().map(|outcome| outcome.end).max().unwrap_or(End::Cancelled);
    let all = outcomes;
    // One that was cut short would count as much as the others in an interval; it is left out unless there is no other.
    let whole: Vec<Outcome> = outcomes.iter().filter(|outcome| is_complete(outcome.end)).cloned().collect();
    let outcomes = if whole.is_empty() { outcomes } else { &whole[..] };
    let seconds: f64 = outcomes.iter().map(|outcome| (outcome.ended_at - outcome.warm_up).secs()).sum();
    let streams: Vec<StreamResults> =
        (0..plan.streams.len()).map(|i| stream(plan, i, outcomes, seconds)).collect();
    let components = components(outcomes, seconds);
    let bottleneck = bottleneck(plan, &streams, &components);
    let times: Vec<Vec<f64>> =
        streams.iter().map(|stream| stream.cdf.iter().map(|(ms, _)| *ms).collect()).collect();
    let mut results = Results {
        headrace: env!("CARGO_PKG_VERSION"),
        answer: String::new(),
        notes: notes::of(plan, all, &streams),
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
        theory: if theory { theory::predict(plan, &times) } else { Vec::new() },
        series: outcomes.first().map_or_else(Vec::new, points),
        scenario: plan.spec.clone(),
    };
    results.answer = answer::in_words(&results);
    Ok(results)
}

fn is_complete(end: End) -> bool {
    matches!(end, End::Done | End::TimeUp)
}

fn stream(plan: &Plan, index: usize, outcomes: &[Outcome], seconds: f64) -> StreamResults {
    let stream = &plan.streams[index];
    let found = || outcomes.iter().map(|outcome| &outcome.streams[index]);
    let all: Vec<&SeriesOutcome> = found().map(|stream| &stream.all).collect();
    let of_op = |op: usize| {
        let series: Option<Vec<&SeriesOutcome>> =
            found().map(|s| s.by_op.as_ref().map(|by| &by[op])).collect();
        series.map(|series| response(&series))
    };
    let answered_after: u64 = all.iter().map(|series| series.tally.count()).sum();
    let distribution = merged(&all);
    StreamResults {
        name: stream.name.clone(),
        to: stream.spec.to.clone(),
        made: found().map(|stream| stream.born).sum(),
        answered: found().map(|stream| stream.answered).sum(),
        in_flight: found().map(|stream| stream.in_flight).sum(),
        requests_per_s: answered_after as f64 / seconds.max(1e-9),
        bytes_per_s: found().map(|stream| stream.bytes as f64).sum::<f64>() / seconds.max(1e-9),
        response: response(&all),
        reads: of_op(0),
        writes: of_op(1),
        path: path(outcomes, index, answered_after),
        cdf: cdf(&distribution),
        measured: measured::against(found()),
    }
}

fn merged(series: &[&SeriesOutcome]) -> Distribution {
    let distributions = series.iter().map(|series| &series.distribution);
    distributions.fold(Distribution::default(), |sum, distribution| sum.merged(distribution))
}

fn cdf(distribution: &Distribution) -> Vec<(f64, f64)> {
    let times = distribution.representatives(CDF_POINTS);
    times.iter().enumerate().map(|(i, time)| (time.ms(), (i as f64 + 0.5) / CDF_POINTS as f64)).collect()
}

/// The results of one series: with several replications the interval is from their means, with one from its batches.
fn response(series: &[&SeriesOutcome]) -> ResponseResults {
    let tallies: Vec<&Tally> = series.iter().map(|series| &series.tally).collect();
    let total = Tally::all(&tallies);
    let distribution = merged(series);
    let interval = match series {
        [only] => only.interval,
        _ => Interval::by_replications(&tallies.iter().map(|tally| tally.mean_ns()).collect::<Vec<_>>()),
    };
    let quantile = |share: f64| QuantileResults {
        share,
        ms: distribution.quantile(share).ms(),
        half_width_ms: Interval::by_replications(
            &series.iter().map(|series| series.distribution.quantile(share).ms()).collect::<Vec<_>>(),
        )
        .map(|interval| interval.half_width),
    };
    ResponseResults {
        count: total.count(),
        mean_ms: total.mean_ns() * 1e-6,
        half_width_ms: interval.map(|interval| interval.half_width * 1e-6),
        interval: interval
            .map(|interval| IntervalResults { method: interval.method, trusted: interval.trusted }),
        sd_ms: total.sd_ns() * 1e-6,
        max_ms: total.max().ms(),
        quantiles_ms: SHARES.iter().map(|&share| quantile(share)).collect(),
        quantile_error: QUANTILE_ERROR,
    }
}

/// The name of a component's kind within its array: `tds/spindle[3]` → `tds/spindle`.
pub fn group(path: &str) -> String {
    let mut name = String::new();
    let mut inside = false;
    for c in path.chars() {
        inside |= c == '[';
        if !inside {
            name.push(c);
        }
        inside &= c != ']';
    }
    name
}

fn path(outcomes: &[Outcome], index: usize, answered: u64) -> Vec<LegResults> {
    let mut legs: Vec<LegResults> = Vec::new();
    let ms = |ns: u128| ns as f64 * 1e-6 / answered.max(1) as f64;
    for outcome in outcomes {
        for (component, (waiting, service)) in outcome.components.iter().zip(&outcome.streams[index].legs) {
            let name = group(&component.path);
            let at = legs.iter().position(|leg| leg.component == name).unwrap_or_else(|| {
                legs.push(LegResults { component: name, waiting_ms: 0.0, service_ms: 0.0 });
                legs.len() - 1
            });
            legs[at].waiting_ms += ms(*waiting);
            legs[at].service_ms += ms(*service);
        }
    }
    legs.retain(|leg| leg.waiting_ms + leg.service_ms > 0.0);
    legs
}

fn components(outcomes: &[Outcome], seconds: f64) -> Vec<ComponentResults> {
    let first = outcomes.first().map_or(&[][..], |outcome| &outcome.components);
    (0..first.len())
        .map(|i| {
            let all: Vec<&ComponentOutcome> = outcomes.iter().map(|outcome| &outcome.components[i]).collect();
            let tally = |of: fn(&ComponentOutcome) -> &Tally| {
                Tally::all(&all.iter().map(|c| of(c)).collect::<Vec<_>>())
            };
            let area =
                |of: fn(&ComponentOutcome) -> u128| all.iter().map(|c| of(c) as f64).sum::<f64>() * 1e-9;
            let servers = first[i].servers;
            let waits = tally(|component| &component.waits);
            let time = seconds.max(1e-9);
            ComponentResults {
                path: first[i].path.clone(),
                group: group(&first[i].path),
                kind: first[i].kind,
                utilisation: (servers > 0).then(|| area(|c| c.busy_area) / time / servers as f64),
                queue: (servers > 0).then(|| area(|c| c.queue_area) / time),
                bytes_per_s: all.iter().map(|c| c.bytes as f64).sum::<f64>() / time,
                bytes_per_visit: (waits.count() > 0)
                    .then(|| all.iter().map(|c| c.bytes as f64).sum::<f64>() / waits.count() as f64),
                visits: waits.count(),
                waiting_ms: waits.mean_ns() * 1e-6,
                service_ms: tally(|component| &component.services).mean_ns() * 1e-6,
            }
        })
        .collect()
}

fn bottleneck(plan: &Plan, streams: &[StreamResults], components: &[ComponentResults]) -> Option<Bottleneck> {
    let busiest = components.iter().filter(|component| component.utilisation.is_some()).max_by(|a, b| {
        let by = |component: &ComponentResults| component.utilisation.unwrap_or(0.0);
        by(a).total_cmp(&by(b))
    })?;
    let utilisation = busiest.utilisation.filter(|utilisation| *utilisation > 0.0)?;
    let saturated = utilisation >= SATURATED;
    let open = plan.streams.iter().all(StreamPlan::is_open);
    // A server that is never idle does not tell how much less it could bear; what was left undone at the end does.
    let (made, answered) =
        streams.iter().fold((0, 0), |(made, answered), of| (made + of.made, answered + of.answered));
    let bears = if saturated { answered as f64 / made.max(1) as f64 } else { 1.0 / utilisation };
    let saturates_at = open.then_some(bears);
    Some(Bottleneck { component: busiest.path.clone(), utilisation, saturated, saturates_at })
}

fn points(outcome: &Outcome) -> Vec<PointResults> {
    let results = outcome.series.iter().map(|point| PointResults {
        time_s: point.time.secs(),
        answered: point.answered.clone(),
        mean_ms: point.mean_ns.iter().map(|ns| Nanos(*ns as u64).ms()).collect(),
        utilisation: point.utilisation.clone(),
    });
    results.collect()
}
