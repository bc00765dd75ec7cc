//! The busiest stretch of a run: where it says what means over the whole run do not.

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

use crate::alike;
use crate::plan::Plan;
use crate::run::{Outcome, RunSegment};

/// The segment of the first replication in which a component is busiest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BusiestStretch {
    /// Start, in simulated time.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// Path of the component that is busiest in it.
    pub component: String,
    /// Group of the component.
    pub group: String,
    /// Utilisation of the component in the stretch.
    #[schemars(range(min = 0, max = 1))]
    pub utilisation: f64,
    /// Utilisation of the component over the run, without warm-up.
    #[schemars(range(min = 0, max = 1))]
    pub mean_utilisation: f64,
    /// One entry per stream.
    pub streams: Vec<StretchStream>,
}

/// A stream in the stretch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StretchStream {
    /// Name.
    pub name: String,
    /// Throughput.
    pub requests_per_s: f64,
    /// Mean number of requests in flight, of those completed in the stretch, by Little's law.
    #[schemars(extend("x-unit" = "requests"))]
    pub in_flight: f64,
    /// Mean response time; null if no request completed.
    pub mean_ms: Option<f64>,
    /// P99 of the response time.
    pub p99_ms: Option<f64>,
}

/// A stretch differs from the mean by this share of it at least, for a reader to be told.
const LEAST: f64 = 0.25;

/// … and by this many standard deviations of what chance makes of a segment: of as many exponential services at Poisson arrivals
/// as it has requests, which the copies of a component share, whose work varies by √(2/n).
const DEVIATIONS: f64 = 5.0;

/// Returns the busiest stretch; none where it does not differ from the run as a whole by more than chance.
pub(super) fn of(plan: &Plan, outcome: &Outcome) -> Option<BusiestStretch> {
    let kept: Vec<(f64, &RunSegment)> = outcome
        .segments()
        .filter(|(begin, segment)| *begin >= outcome.warm_up && segment.time > *begin)
        .map(|(begin, segment)| ((segment.time - begin).secs(), segment))
        .collect();
    let all: f64 = kept.iter().map(|(seconds, _)| seconds).sum();
    let (component, busiest) = busiest(&kept)?;
    let (seconds, segment) = kept[busiest];
    let mean = kept.iter().map(|(seconds, one)| one.utilisation[component] * seconds).sum::<f64>() / all;
    let peak = segment.utilisation[component].min(1.0);
    let of_group = plan.graph.nodes.iter().filter(|node| node.group == plan.graph.nodes[component].group);
    let requests = segment.completed.iter().sum::<u64>() as f64 / of_group.count() as f64;
    let chance = DEVIATIONS * (2.0 / requests.max(1.0)).sqrt();
    (peak > mean * (1.0 + LEAST.max(chance))).then(|| BusiestStretch {
        from_s: segment.time.secs() - seconds,
        to_s: segment.time.secs(),
        component: plan.graph.nodes[component].path.clone(),
        group: plan.graph.groups[plan.graph.nodes[component].group as usize].clone(),
        utilisation: peak,
        mean_utilisation: mean,
        streams: (0..plan.streams.len()).map(|at| of_stream(plan, segment, seconds, at)).collect(),
    })
}

/// Returns the component that is busiest in any of the segments, and the place of the segment; of equally busy ones, that with the most
/// requests in flight.
fn busiest(kept: &[(f64, &RunSegment)]) -> Option<(usize, usize)> {
    let every = kept.iter().flat_map(|(_, segment)| segment.utilisation.iter().enumerate());
    let (component, peak) = every.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
    let is_as_busy = |at: &usize| kept[*at].1.utilisation[component] >= AS_BUSY * peak;
    let most = (0..kept.len()).filter(is_as_busy).max_by(|a, b| held(kept[*a]).total_cmp(&held(kept[*b])));
    most.map(|at| (component, at))
}

/// Segments whose utilisation is at least this share of the largest are equally busy.
const AS_BUSY: f64 = 0.99;

/// Returns the mean number of requests in flight in a segment, by Little's law.
fn held((seconds, segment): (f64, &RunSegment)) -> f64 {
    let of_stream = |(completed, mean_ns): (&u64, &f64)| *completed as f64 * mean_ns * 1e-9;
    segment.completed.iter().zip(&segment.mean_ns).map(of_stream).sum::<f64>() / seconds
}

fn of_stream(plan: &Plan, segment: &RunSegment, seconds: f64, at: usize) -> StretchStream {
    let requests_per_s = segment.completed[at] as f64 / seconds;
    let some = segment.completed[at] > 0;
    StretchStream {
        name: plan.streams[at].name.clone(),
        requests_per_s,
        in_flight: requests_per_s * segment.mean_ns[at] * 1e-9,
        mean_ms: some.then(|| segment.mean_ns[at] * 1e-6),
        p99_ms: some.then(|| segment.p99[at].ms()),
    }
}

/// Returns the sentence on the stretch.
pub(super) fn in_words(stretch: &BusiestStretch) -> String {
    let time = |seconds: f64| Nanos::from_secs(seconds);
    let slowest = stretch.streams.iter().filter_map(|stream| Some((stream, stream.p99_ms?)));
    let slowest = slowest.max_by(|a, b| a.1.total_cmp(&b.1));
    let p99 = slowest.map_or_else(String::new, |(stream, p99)| {
        format!(", p99 of {} {}", stream.name, Nanos::from_ms(p99))
    });
    format!(
        "Busiest from {} to {}: {} {:.0} % busy{p99}.",
        if stretch.from_s > 0.0 { time(stretch.from_s).to_string() } else { "the start".to_owned() },
        time(stretch.to_s),
        alike::limit(&stretch.group, None),
        stretch.utilisation * 100.0
    )
}
