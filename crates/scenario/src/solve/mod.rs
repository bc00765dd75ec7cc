//! A scenario as a network of queues, solved by formulas: throughput, response and utilisation against load, and what limits it.
//!
//! Every component says what a request asks of it ([`Demand`](headrace_storage::Demand)). Streams whose requests come whatever became of
//! those before them make an open network, streams of clients a closed one. The load that varies is the rate of all streams together,
//! or the number of all clients; streams keep their shares of it.

mod assumptions;
mod closed;
mod limits;
mod loads;
mod messages;
mod network;
mod open;
mod words;

use headrace_analytic::network::bounds::Bounds;
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Path, Problem};
use crate::plan::{Plan, StreamPlan};
use crate::progress::Progress;
use crate::theory::NetworkTheory;

use network::QueueNetwork;

/// Solution of a scenario by formulas.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Solved {
    /// The answer in a few sentences.
    pub answer: String,
    /// True if requests come whatever became of those before them, and the load is a rate; else it is a number of clients.
    pub open: bool,
    /// The formulas used.
    pub method: String,
    /// The assumptions of the formulas that fail, one a sentence: without any, the answer is exact.
    pub fails: Vec<String>,
    /// Where assumptions fail, a short simulation of the scenario's own load, and the error of the formulas by it. `None` where it is
    /// not known.
    pub measured: Option<FormulaError>,
    /// The load that the scenario has: requests per second, or clients.
    pub load: f64,
    /// The maximum number of requests per second that the system can answer, at the scenario's mix of streams.
    pub sustains_per_s: f64,
    /// The number of clients beyond which requests mostly wait: where the two asymptotic bounds of throughput meet. None for an
    /// open network.
    pub knee_clients: Option<f64>,
    /// Stations in the order in which they limit the system: the bottleneck, and where it would move next.
    pub stations: Vec<StationLimit>,
    /// The answer at several loads, the smallest first.
    pub points: Vec<SolvedPoint>,
}

/// A group of alike components as a station.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StationLimit {
    /// The group's name: paths without the numbers of copies.
    pub component: String,
    /// Its kind.
    pub kind: &'static str,
    /// Number of components that requests come to.
    pub count: u32,
    /// Number of servers of each.
    pub servers: u32,
    /// The mean work that one request of the mix brings the busiest of them, visits × mean service time, in ms.
    pub demand_ms: f64,
    /// The number of requests per second at which it is always busy.
    pub saturates_at_per_s: f64,
}

/// The answer at one load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SolvedPoint {
    /// Offered requests/s, or clients.
    pub load: f64,
    /// True if this is the load that the scenario has.
    pub own: bool,
    /// Requests answered a second. None where more come than can be answered.
    pub throughput_per_s: Option<f64>,
    /// Mean response time, in ms. None where more come than can be answered.
    pub response_ms: Option<f64>,
    /// Utilisation of the busiest of each of the [stations](Solved::stations), in the same order.
    pub utilisation: Vec<f64>,
    /// Every stream, in the order of the scenario.
    pub streams: Vec<StreamPoint>,
    /// Bounds of throughput for any distributions of service, in requests per second. For one stream of clients.
    pub asymptotic: Option<Between>,
    /// The narrower bounds of balanced networks, in requests per second. They hold where mean value analysis is exact.
    pub balanced: Option<Between>,
    /// Throughput by Bard and Schweitzer's approximation, in requests per second. For a closed network.
    pub bard_schweitzer_per_s: Option<f64>,
    /// Throughput by linearizer.
    pub linearizer_per_s: Option<f64>,
    /// Fields to set in the scenario for this load: (path, value). `None` if its arrivals cannot be scaled.
    pub sets: Option<Vec<(String, String)>>,
    /// A simulation of this load, where one was asked for: formulas leave it `None`.
    pub simulated: Option<SimulatedPoint>,
}

/// A simulation of one load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimulatedPoint {
    /// Requests answered a second.
    pub throughput_per_s: f64,
    /// Mean response time, in ms.
    pub response_ms: f64,
    /// Half-width of its 95 % interval, in ms. None where the run was too short for one.
    pub half_width_ms: Option<f64>,
}

/// A short simulation of the scenario's own load, and the error of the formulas against it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FormulaError {
    /// Number of requests simulated.
    pub requests: u64,
    /// Their mean response, in ms.
    pub response_ms: f64,
    /// Half-width of its 95 % interval, in ms.
    pub half_width_ms: f64,
    /// The formulas' mean response over the simulated one, less 1.
    pub error: f64,
}

/// One stream at one load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamPoint {
    /// Its name.
    pub name: String,
    /// Requests answered a second. None where more come than can be answered.
    pub throughput_per_s: Option<f64>,
    /// Mean response time, in ms. None where more come than can be answered.
    pub response_ms: Option<f64>,
}

/// Bounds of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Between {
    /// At least this.
    pub from: f64,
    /// At most this.
    pub to: f64,
}

impl Between {
    fn per_s(bounds: Bounds) -> Self {
        Self { from: bounds.from * 1e3, to: bounds.to * 1e3 }
    }
}

/// Solves a plan at the loads between `range`, or from little to saturation where that is not given. Where assumptions fail, `measure` is
/// asked how far the answer at the scenario's own load is off.
///
/// # Errors
/// It is no network of queues: which assumption fails, stream by stream.
pub fn solve(
    plan: &Plan,
    range: Option<(f64, f64)>,
    progress: &Progress,
    measure: impl FnOnce(&SolvedPoint) -> Option<FormulaError>,
) -> Result<Solved, Vec<Problem>> {
    let network = QueueNetwork::of(plan)?;
    let (own, open) = (network.load(), network.is_open());
    let stations = limits::of(&network, &network.mix());
    let sustains_per_s = stations[0].saturates_at_per_s;
    let knee_clients = (!open).then(|| closed::knee(&network));
    let usual = loads::usual(&network, sustains_per_s, knee_clients);
    let loads = loads::points(&network, range.map_or(Ok(usual), |range| loads::checked(&network, range))?);
    let goes_on = |_: &f64| !progress.is_cancelled();
    let mut points: Vec<SolvedPoint> =
        loads.into_iter().take_while(goes_on).map(|load| point(&network, &stations, load)).collect();
    // Clients are whole, so that several loads may come to the same.
    points.dedup_by(|later, kept| {
        let same = later.load == kept.load;
        if same && later.own {
            std::mem::swap(later, kept);
        }
        same
    });
    let (fails, at_own) = (assumptions::that_fail(&network), point(&network, &stations, own));
    let measured = if fails.is_empty() { None } else { measure(&at_own) };
    let mut solved = Solved {
        answer: String::new(),
        open,
        method: network.method(),
        fails,
        measured,
        load: own,
        sustains_per_s,
        knee_clients,
        stations,
        points,
    };
    solved.answer = words::answer(&solved, &at_own);
    Ok(solved)
}

/// Returns the component that saturates first by the formulas, and the multiple of an open scenario's own load at which it does.
pub fn multiple(plan: &Plan) -> Option<(String, f64)> {
    let network = QueueNetwork::of(plan).ok().filter(QueueNetwork::is_open)?;
    let first = limits::of(&network, &network.mix()).into_iter().next()?;
    Some((first.component, first.saturates_at_per_s / network.load()))
}

/// Returns a note for an open scenario of which formulas sustain a part alone in the long run: a short run may end before that shows.
pub fn beyond(plan: &Plan) -> Option<String> {
    let few = plan.graph.nodes.len() <= MOST_OF_RUN;
    let (component, times) = few.then(|| multiple(plan)).flatten().filter(|(_, times)| *times < 1.0)?;
    Some(format!(
        "{component} sustains {:.1} % of this load in the long run, by formulas (`headrace solve`)",
        libm::floor(1000.0 * times) / 10.0
    ))
}

/// Largest number of components with which a run asks for formulas: with more, they may cost more than the run.
const MOST_OF_RUN: usize = 1000;

/// Returns the formulas, their answer at the scenario's own load, and the assumptions that fail. `None` where there is no formula, and
/// where these cost more than many a run: with many components, where requests of several kinds are spread over them, and where clients or
/// parts of requests are approximated.
pub fn at_own_load(plan: &Plan) -> Option<NetworkTheory> {
    if plan.graph.nodes.len() > MOST_OF_RUN || plan.streams.iter().any(|stream| spreads_kinds(plan, stream)) {
        return None;
    }
    let network = QueueNetwork::of(plan).ok().filter(|network| !plan.has_phases() && !network.has_joins())?;
    let fails = assumptions::that_fail(&network);
    if !network.is_open() && !fails.is_empty() {
        return None;
    }
    let own = point(&network, &limits::of(&network, &network.mix()), network.load());
    Some(NetworkTheory {
        method: network.method(),
        fails,
        utilisation: own.utilisation.first().copied(),
        means_ms: own.streams.iter().map(|stream| stream.response_ms).collect(),
    })
}

/// Returns true if requests of several kinds come to a component that spreads them over others.
fn spreads_kinds(plan: &Plan, stream: &StreamPlan) -> bool {
    let mut reached = plan.graph.reached(stream.target).into_iter();
    stream.load().kinds.len() > 1 && reached.any(|id| plan.graph.view(id).features().spreads)
}

fn point(network: &QueueNetwork, stations: &[StationLimit], load: f64) -> SolvedPoint {
    let mut point = if network.is_open() { open::point(network, load) } else { closed::point(network, load) };
    let rates: Option<Vec<f64>> = point.streams.iter().map(|stream| stream.throughput_per_s).collect();
    point.utilisation = limits::utilisation(network, stations, &rates.unwrap_or(network.rates_at(load)));
    point
}

/// Why there is no answer, told at a stream.
fn refused(stream: &str, fails: &str) -> Problem {
    let message = format!("no formula for this scenario; the assumption that fails: {fails}");
    Problem::at(Path::of(&["workload", stream]), message).help("simulate it: `headrace run`")
}
