//! Data acquisition against exact results: loss of a finite buffer, head-of-line blocking, waits at builders; and any against the laws.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;
use proptest::prelude::*;

fn try_run(text: &str) -> Result<Results, String> {
    let found = simulate(text, "daq.yaml", &[], &Options::default(), &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

fn run(text: &str) -> Results {
    try_run(text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn meter(results: &Results, path: &str, name: &str) -> f64 {
    let component = results.components.iter().find(|component| component.path == path).unwrap();
    component.meters[name].unwrap_or_else(|| panic!("{path} has no {name}"))
}

fn utilisation(results: &Results, path: &str) -> f64 {
    results.components.iter().find(|component| component.path == path).unwrap().utilisation.unwrap()
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "{found}, expected {expected} ± {tolerance}");
}

/// Triggers at ρ = 0.9 that are lost where a concentrator's buffer of `places` sub-events has no room.
fn loss(time: &str, places: u32) -> f64 {
    let results = run(&format!(
        "
system:
  ldc: {{type: readout, concentrators: 1, sub_event: 1 kB, time: {time}, buffer: {places} kB, when_full: drop, builder: gdc}}
  gdc: {{type: event_builder, builders: 1, rate: 1000 TB/s}}
workload: {{trigger: {{to: ldc, arrivals: {{poisson: 900 /s}}}}}}
run: {{requests: 600000, warm_up: none}}
"
    ));
    meter(&results, "ldc", "lost_share")
}

/// M/D/1/K and M/M/1/K: the stationary distributions of textbooks.
#[test]
fn a_finite_buffer_loses_what_theory_says() {
    for (places, constant, exponential) in [(1, 0.4737, 0.4737), (4, 0.0914, 0.1602), (8, 0.0273, 0.0703), (16, 0.0043, 0.0222)] {
        near(loss("1 ms", places), constant, 0.03 * constant + 0.0003);
        near(loss("{exponential: 1 ms}", places), exponential, 0.03 * exponential + 0.0003);
    }
}

/// The share of the time for which builders' ports are held where triggers never end.
fn saturated(concentrators: u32, builders: u32, assign: &str, overhead: &str) -> f64 {
    let results = run(&format!(
        "
system:
  ldc: {{type: readout, concentrators: {concentrators}, sub_event: 1 kB, builder: gdc}}
  gdc: {{type: event_builder, builders: {builders}, assign: {assign}, rate: 1000 TB/s, overhead: {overhead}}}
workload: {{trigger: {{to: ldc, arrivals: {{closed: {{depth: {}}}}}}}}}
run: {{requests: {}}}
",
        4 * builders,
        3_000_000 / concentrators
    ));
    utilisation(&results, "gdc")
}

/// Concentrators go round the builders as the customers of a closed network of N + M − 1: Gordon and Newell.
#[test]
fn exponential_transfers_in_turn_are_a_closed_network() {
    near(saturated(4, 4, "round_robin", "{exponential: 1 ms}"), 4.0 / 7.0, 0.004);
    near(saturated(100, 60, "round_robin", "{exponential: 1 ms}"), 100.0 / 159.0, 0.006);
}

/// Transfers of one length take turns without a clock: the barrel shifter.
#[test]
fn constant_transfers_in_turn_lose_nothing() {
    near(saturated(4, 4, "round_robin", "1 ms"), 1.0, 0.002);
    near(saturated(60, 60, "round_robin", "1 ms"), 1.0, 0.01);
}

/// Inputs that always have a sub-event for an output of its own draw (Karol, Hluchyj and Morgan 1987): N readouts of one concentrator.
fn independent(n: u32) -> f64 {
    let readouts: String = (0..n)
        .map(|i| format!("  ldc{i}: {{type: readout, concentrators: 1, sub_event: 1 kB, builder: gdc}}\n"))
        .collect();
    let streams: String =
        (0..n).map(|i| format!("  t{i}: {{to: ldc{i}, arrivals: {{closed: {{depth: 4}}}}}}\n")).collect();
    let results = run(&format!(
        "system:\n{readouts}  gdc: {{type: event_builder, builders: {n}, assign: random, rate: 1000 TB/s, overhead: 1 ms}}\nworkload:\n{streams}run: {{requests: 400000}}\n"
    ));
    utilisation(&results, "gdc")
}

#[test]
fn the_first_in_line_blocks_those_behind() {
    for (n, share) in [(2, 0.75), (3, 0.683), (4, 0.655), (8, 0.618)] {
        near(independent(n), share, 0.004);
    }
}

/// The mean wait at builders in service times, at ρ = 0.9.
fn wait(builders: u32, assign: &str) -> f64 {
    let results = run(&format!(
        "
system:
  ldc: {{type: readout, concentrators: 1, sub_event: 1 kB, builder: gdc}}
  gdc: {{type: event_builder, builders: {builders}, assign: {assign}, rate: 1000 TB/s, assemble: {{exponential: 1 s}}}}
workload: {{trigger: {{to: ldc, arrivals: {{poisson: {} /s}}}}}}
run: {{requests: 1000000}}
",
        0.9 * f64::from(builders)
    ));
    results.streams[0].response.mean_ms / 1e3 - 1.0
}

/// Random: M/M/1. In turn: E_c/M/1. By credit: M/M/c.
#[test]
fn builders_are_queues() {
    near(wait(4, "random"), 9.0, 0.45);
    near(wait(4, "round_robin"), 5.383, 0.27);
    near(wait(60, "round_robin"), 4.259, 0.22);
    near(wait(4, "credit"), 1.969, 0.12);
    near(wait(60, "credit"), 0.054, 0.01);
    let least = wait(4, "least_load");
    assert!(least > 1.969 && least < 5.383, "{least}: between what is best and taking turns");
}
