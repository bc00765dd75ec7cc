//! How often intervals contain the exact mean: that of theory, over many runs with seeds of their own.
//!
//! Claim: of the intervals of single runs that call themselves trusted, at least 93 % contain the mean, in every case of which at
//! least half of the runs are trusted.

use std::sync::atomic::{AtomicU64, Ordering};

use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

use crate::sized;

const MM1: &str = "
system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {customers: {to: clerk, arrivals: {poisson: 0.8 /s}}}
run: {requests: 1000000}
";

const RAID0: &str = include_str!("../../examples/raid0-split-merge.yaml");

/// Number of runs of each.
const RUNS: u64 = sized(2000);

/// What became of the intervals of many runs, as shares.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    /// Of all intervals: how many contain the exact mean.
    pub all: f64,
    /// Of those that call themselves trusted.
    pub trusted: f64,
    /// How many do.
    pub trusting: f64,
}

/// Coverage of M/M/1 at this utilisation, by runs of this many customers.
pub fn mm1(utilisation: f64, customers: u64) -> Coverage {
    coverage(MM1, "workload.customers.arrivals.poisson", &format!("{utilisation} /s"), customers)
}

/// Coverage of the split-merge RAID 0 example at this utilisation, by runs of this many requests.
pub fn raid0(utilisation: f64, requests: u64) -> Coverage {
    let place = "workload.readers.arrivals.poisson";
    // A request holds the array for as long as its slowest part takes; alone it waits for nothing.
    let alone = exact_mean_ms(RAID0, &[(place.into(), "1 /h".into()), ("run.requests".into(), "100".into())]);
    coverage(RAID0, place, &format!("{} /ms", utilisation / alone), requests)
}

fn exact_mean_ms(text: &str, sets: &[(String, String)]) -> f64 {
    let found = simulate(text, "bench.yaml", sets, &Options::default(), &Progress::default());
    let found = found.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    let theory = &found.results.theory[0];
    assert!(theory.exact, "coverage wants an exact mean: {:?}", theory.fails);
    theory.mean_ms.expect("what is exact has a mean")
}

fn coverage(text: &str, place: &str, rate: &str, requests: u64) -> Coverage {
    let set = |requests: &str| {
        vec![(place.to_owned(), rate.to_owned()), ("run.requests".to_owned(), requests.to_owned())]
    };
    let (exact, sets) = (exact_mean_ms(text, &set("100")), set(&requests.to_string()));
    let [next, covered, trusted, both] = [const { AtomicU64::new(0) }; 4];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= RUNS {
                        return;
                    }
                    let (covers, trusts) = one(text, &sets, run, exact);
                    covered.fetch_add(u64::from(covers), Ordering::Relaxed);
                    trusted.fetch_add(u64::from(trusts), Ordering::Relaxed);
                    both.fetch_add(u64::from(covers && trusts), Ordering::Relaxed);
                }
            });
        }
    });
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    Coverage {
        all: count(&covered) / RUNS as f64,
        trusted: count(&both) / count(&trusted).max(1.0),
        trusting: count(&trusted) / RUNS as f64,
    }
}

/// Whether the interval of a run contains the exact mean, and whether it calls itself trusted.
fn one(text: &str, sets: &[(String, String)], run: u64, exact: f64) -> (bool, bool) {
    let sets = [sets, &[("run.seed".to_owned(), (run + 1).to_string())]].concat();
    let options = Options { theory: false, ..Options::default() };
    let found = simulate(text, "bench.yaml", &sets, &options, &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    let response = &found.results.streams[0].response;
    let half = response.half_width_ms.unwrap_or(0.0);
    let trusted = response.interval.as_ref().is_some_and(|interval| interval.trusted);
    ((response.mean_ms - exact).abs() <= half, trusted)
}
