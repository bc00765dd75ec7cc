//! Coverage of the intervals of replicated runs, for the mean and the 99th percentile, and the bias of the mean over many
//! experiments.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::ResponseResults;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

use crate::sized;

const MM1: &str = "
system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {customers: {to: clerk, arrivals: {poisson: 1 /s}}}
";

/// Half the load of M/M/1 at ρ = 0.8 comes in bursts.
const BURSTY: &str = "
system: {clerk: {type: station, service: {exponential: 1 s}}}
workload:
  customers:
    to: clerk
    arrivals: {bursty: {calm: 0.5 /s, burst: 1.1 /s, calm_for: 100 s, burst_for: 100 s}}
";

const CLOSED: &str = "
system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {customers: {to: clerk, arrivals: {closed: {depth: 10, think: {exponential: 10 s}}}}}
";

/// Number of experiments of each case.
const EXPERIMENTS: u64 = sized(150);

/// What is true of a case: the mean and the 99th percentile, in ms.
#[derive(Clone, Copy)]
struct Truth {
    mean: f64,
    p99: f64,
}

impl Truth {
    /// Of M/M/1 at this utilisation, with a mean service of 1 s.
    fn of_mm1(rho: f64) -> Self {
        let mean = 1000.0 / (1.0 - rho);
        Self { mean, p99: mean * libm::log(100.0) }
    }
}

/// What became of the experiments of a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// Experiments.
    pub all: f64,
    /// Those whose intervals call themselves trusted.
    pub trusted: f64,
    /// Of those, how many intervals of the mean contain it.
    pub mean: f64,
    /// How many of the 99th percentile.
    pub p99: f64,
    /// The relative errors of the trusted means, summed.
    pub off: f64,
}

impl Cell {
    fn and(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            trusted: self.trusted + other.trusted,
            mean: self.mean + other.mean,
            p99: self.p99 + other.p99,
            off: self.off + other.off,
        }
    }
}

/// M/M/1 at ρ = 0.8 and 0.9, 20,000 and 100,000 requests, 10 and 30 replications: each case by name.
pub fn mm1() -> Vec<(String, Cell)> {
    let mut cells = Vec::new();
    for (rho, requests, replications) in [0.8, 0.9]
        .into_iter()
        .flat_map(|rho| [20_000, 100_000].map(|requests| (rho, requests)))
        .flat_map(|(rho, requests)| [10, 30].map(|replications| (rho, requests, replications)))
    {
        let name = format!("M/M/1, ρ {rho}, {replications} × {requests}");
        cells.push((name, cell(MM1, &[at(rho)], requests, replications, Truth::of_mm1(rho))));
    }
    cells
}

/// M/M/1 at ρ = 0.8 and 0.9, 10⁶ requests that are split into replications.
pub fn split() -> Vec<(String, Cell)> {
    let split = ("run.split".to_owned(), "true".to_owned());
    let of = |rho| cell(MM1, &[at(rho), split.clone()], 1_000_000, 1, Truth::of_mm1(rho));
    [0.8, 0.9].map(|rho| (format!("M/M/1, ρ {rho}, split 1000000"), of(rho))).into()
}

fn at(rho: f64) -> (String, String) {
    ("workload.customers.arrivals.poisson".to_owned(), format!("{rho} /s"))
}

/// Bursty arrivals and a closed network, 10 and 30 replications of 20,000 requests. The truth is taken from a run of 10⁸ requests.
pub fn others() -> Vec<(String, Cell)> {
    let mut cells = Vec::new();
    for (name, text) in [("bursty", BURSTY), ("closed", CLOSED)] {
        let long = response(text, &set(&[], 100_000_000, 1, 0));
        let truth = Truth { mean: long.mean_ms, p99: p99(&long).0 };
        for replications in [10, 30] {
            let named = format!("{name}, {replications} × 20000");
            cells.push((named, cell(text, &[], 20_000, replications, truth)));
        }
    }
    cells
}

/// All cases together.
pub fn together(cells: &[(String, Cell)]) -> Cell {
    cells.iter().fold(Cell::default(), |sum, (_, cell)| sum.and(*cell))
}

fn cell(text: &str, sets: &[(String, String)], requests: u64, replications: u64, truth: Truth) -> Cell {
    let experiments = (1..=EXPERIMENTS).map(|seed| {
        let found = response(text, &set(sets, requests, replications, seed));
        let trusted = found.interval.as_ref().is_some_and(|interval| interval.trusted);
        let (slow, half) = p99(&found);
        let contains =
            |found: f64, half: f64, truth: f64| f64::from(trusted && (found - truth).abs() <= half);
        Cell {
            all: 1.0,
            trusted: f64::from(trusted),
            mean: contains(found.mean_ms, found.half_width_ms.unwrap_or(0.0), truth.mean),
            p99: contains(slow, half.unwrap_or(f64::INFINITY), truth.p99),
            off: f64::from(trusted) * (found.mean_ms / truth.mean - 1.0),
        }
    });
    experiments.fold(Cell::default(), Cell::and)
}

fn set(sets: &[(String, String)], requests: u64, replications: u64, seed: u64) -> Vec<(String, String)> {
    let run = [("requests", sized(requests)), ("replications", replications), ("seed", seed)];
    let run = run.map(|(field, value)| (format!("run.{field}"), value.to_string()));
    sets.iter().cloned().chain(run).collect()
}

fn response(text: &str, sets: &[(String, String)]) -> ResponseResults {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { threads, theory: false, ..Options::default() };
    let found = simulate(text, "bench.yaml", sets, &options, &Progress::default());
    let found = found.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    found.results.streams[0].response.clone()
}

/// The 99th percentile and half the width of its interval.
fn p99(response: &ResponseResults) -> (f64, Option<f64>) {
    let found = response.quantiles_ms.iter().find(|quantile| quantile.share == 0.99);
    found.map_or((0.0, None), |quantile| (quantile.ms, quantile.half_width_ms))
}
