//! Limiters in scenarios: against the formula of a token bucket, and as what limits a system.

use headrace_analytic::{Distribution, Mg1};
use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::solve::Solved;
use headrace_scenario::{simulate, solve};

fn run(text: &str) -> Results {
    simulate(text, "limits.yaml", &[], &Options::default(), &Progress::default()).unwrap().results
}

/// A target that takes no time to speak of, behind a limit of 100 operations/s.
fn limited(rate: f64, limiter: &str) -> String {
    format!(
        "system:
  drive: {{type: station, service: 1 ns}}
  volume: {{type: limiter, to: drive, {limiter}}}
workload: {{users: {{to: volume, arrivals: {{poisson: {rate} /s}}, size: 4 KiB}}}}
run: {{requests: 1000000}}
"
    )
}

/// The mean of what exceeds `saved_ms` of the response in M/D/1, from its distribution: the wait for tokens.
fn wait_ms(rate: f64, saved_ms: f64) -> f64 {
    let queue = Mg1::new(rate * 1e-3, Distribution::Fixed(10.0)).unwrap();
    // Steps that do not meet the jump of the CDF, up to where nothing is left of its tail.
    let (step, steps) = (0.25, 8000);
    let beyond = (0..steps).map(|at| 1.0 - queue.response_cdf(saved_ms + (f64::from(at) + 0.5) * step));
    beyond.sum::<f64>() * step
}

fn solved(text: &str) -> Solved {
    solve(text, "limits.yaml", &[], None, &Progress::default()).unwrap()
}

/// A token bucket is an M/D/1 queue, in which a request waits for what exceeds the saved tokens of its response.
#[test]
fn the_wait_for_tokens_is_that_of_the_formula() {
    for (rate, burst) in [(70.0, 0), (80.0, 1), (80.0, 3), (90.0, 5)] {
        let text = limited(rate, &format!("operations: {{rate: 100 /s, burst: {burst}}}"));
        let results = run(&text);
        let (found, formula) = (results.streams[0].response.mean_ms, wait_ms(rate, 10.0 * f64::from(burst)));
        let tolerance = 0.03 + 3.0 * results.streams[0].response.half_width_ms.unwrap() / found;
        assert!(
            (found / formula - 1.0).abs() < tolerance,
            "{rate} /s, {burst}: {found} ms, {formula} by the formula"
        );
        let own = solved(&text).points.into_iter().find(|point| point.own).unwrap().response_ms.unwrap();
        assert!(
            (own / formula - 1.0).abs() < 0.002,
            "{rate} /s, {burst}: {own} ms solved, {formula} by the formula"
        );
    }
}

/// What binds is named, its utilisation is the load over the limit, and the limit is what the system sustains.
#[test]
fn a_limit_is_a_bottleneck_with_its_headroom() {
    let text = limited(80.0, "operations: {rate: 100 /s, burst: 3}, bytes: {rate: 1 MB/s}");
    let bottleneck = run(&text).bottleneck.unwrap();
    assert_eq!(bottleneck.component, "volume/operations");
    assert!((bottleneck.saturates_at.unwrap() - 1.25).abs() < 0.01, "{bottleneck:?}");
    assert!(!bottleneck.estimate);
    let solved = solved(&text);
    assert!((solved.sustains_per_s - 100.0).abs() < 1e-9);
    assert_eq!(solved.stations[0].component, "volume/operations");
    assert!(
        solved.fails.iter().any(|fails| fails.contains("all of a limiter at once")),
        "{:?}",
        solved.fails
    );
}

/// Beyond the limit, what is saved lasts for a while; then the queue grows.
#[test]
fn credits_hide_an_overload_while_they_last() {
    let few = "operations: {rate: 100 /s, burst: 1000000, peak: 1000 /s}, initial: 0 %";
    let overloaded = run(&limited(150.0, few).replace("1000000}\n", "20000}\n"));
    assert!(overloaded.bottleneck.unwrap().saturated);
    let saved = run(&limited(150.0, &few.replace("0 %", "50 %")).replace("1000000}\n", "20000}\n"));
    let bottleneck = saved.bottleneck.unwrap();
    assert!(!bottleneck.saturated && bottleneck.saturates_at.is_none(), "{bottleneck:?}");
    assert!(saved.streams[0].response.mean_ms < 0.1);
    // 493,000 are left, of which about 50 go each second.
    let told = "and 100 operations/s come back: what was saved lasts for 2.";
    assert!(saved.notes.iter().any(|note| note.contains(told)), "{:?}", saved.notes);
    assert_eq!(bottleneck.unsettled.as_deref(), Some("volume/operations"));
    // 1,000 last for 20 s, since 50 go each second.
    let gone = limited(150.0, "operations: {rate: 100 /s, burst: 1000, peak: 1000 /s}");
    let gone = run(&gone.replace("1000000}\n", "20000}\n"));
    let told = gone.notes.iter().find_map(|note| note.split_once("what was saved was used up ")).unwrap().1;
    assert!((15.0..25.0).contains(&told.split(' ').next().unwrap().parse::<f64>().unwrap()), "{told}");
}

/// What a bucket lacks at the start of a run is the work of no request: its utilisation is the load over the limit, also while it fills.
#[test]
fn a_bucket_that_fills_is_in_use_for_its_requests_alone() {
    let slowly = "operations: {rate: 100 /s, burst: 1000000, peak: 1000 /s}, initial: 50 %";
    let found = run(&limited(10.0, slowly).replace("1000000}\n", "20000}\n"));
    let busy = found.components.iter().find(|found| found.path == "volume/operations").unwrap();
    assert!((busy.utilisation.unwrap() - 0.1).abs() < 0.005, "{busy:?}");
    let most = busy.busiest.as_ref().map_or(0.0, |busiest| busiest.utilisation);
    assert!(most < 0.2, "{busy:?}");
}

/// Requests that need more than the burst have no chance where nobody waits.
#[test]
fn what_is_always_refused_is_noted() {
    let refused = run(&limited(10.0, "bytes: {rate: 1 MB/s, burst: 1 KiB}, excess: refuse")
        .replace("1000000}\n", "1000}\n"));
    assert_eq!(refused.streams[0].failed, 1000);
    assert_eq!(refused.components[1].meters["refused"], Some(1000.0));
    assert!(refused.notes.iter().any(|note| note.contains("more than the `burst` of `volume/bytes`")));
}

/// Small writes to RAID 5 wait for each other, so simulations look for the headroom. They are too short to use up what is saved, which must not
/// count.
#[test]
fn headroom_is_no_more_than_limits_allow_in_the_long_run() {
    let volumes: String = (0..3)
        .map(|at| {
            format!(
                "  b{at}: {{type: station, servers: 64, service: 1 ms, capacity: 1 GB}}
  v{at}: {{type: limiter, to: b{at}, operations: {{rate: 1000 /s, burst: 2000}}}}
"
            )
        })
        .collect();
    let text = format!(
        "system:
{volumes}  volume: {{type: array, level: raid5, of: [v0, v1, v2], stripe_unit: 64 KiB}}
workload: {{w: {{to: volume, arrivals: {{poisson: 550 /s}}, op: write, size: 4 KiB}}}}
run: {{requests: 20000}}
"
    );
    let options = Options { headroom: true, ..Options::default() };
    let found = simulate(&text, "limits.yaml", &[], &options, &Progress::default()).unwrap().results;
    let limit = found.bottleneck.unwrap();
    assert!(limit.trials.is_some() && !limit.at_least, "{limit:?}");
    let times = limit.saturates_at.unwrap() * limit.utilisation;
    assert!((0.8..1.0 + 1e-9).contains(&times), "{limit:?}");
}
