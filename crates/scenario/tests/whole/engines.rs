//! The two engines against each other, on random scenarios: the same streams bit for bit, and the same components and headline
//! but for what was in flight at the ends of the run, which the recursion does not see.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn run(text: &str, engine: &str) -> Result<Results, String> {
    run_with(text, engine, &Options { theory: false, ..Options::default() })
}

fn run_with(text: &str, engine: &str, options: &Options) -> Result<Results, String> {
    let sets = [("run.engine".to_owned(), engine.to_owned())];
    let found = simulate(text, "random.yaml", &sets, options, &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

/// A disk or a station, in YAML.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec!["seagate-st3500630ns", "hp-c2247a", "maxtor-7y250p0-2mb"]).prop_flat_map(
            |device| {
                let ways = vec!["addressed", "coupled", "independent", "mechanical"];
                prop::sample::select(ways)
                    .prop_map(move |way| format!("{{type: disk, device: {device}, positioning: {way}}}"))
            }
        ),
        (
            1u32..3,
            2u32..12,
            prop::sample::select(vec!["{exponential: MS ms}", "MS ms", "{uniform: {from: 0 ms, to: MS ms}}"])
        )
            .prop_map(|(servers, ms, distribution)| {
                format!(
                    "{{type: station, servers: {servers}, service: {}}}",
                    distribution.replace("MS", &ms.to_string())
                )
            }),
    ]
}

/// Arrivals at about 10 requests/s.
fn arrivals() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{poisson: 10 /s}",
        "{every: 100 ms}",
        "{bursty: {calm: 5 /s, burst: 40 /s, calm_for: 900 ms, burst_for: 100 ms}}",
        "{batches: {rate: 4 /s, size: {geometric: 2.5}}}",
    ])
}

fn requests() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec!["read", "write", "{reads: 60 %}"]);
    let size = prop::sample::select(vec![
        "4 KiB",
        "192 KiB",
        "768 KiB",
        "{mix: [{size: 192 KiB, weight: 1}, {size: 384 KiB, weight: 2}]}",
    ]);
    let pattern =
        prop::sample::select(vec!["uniform", "sequential", "{hot_spot: {skew: 1}}", "{runs: {length: 4}}"]);
    (op, size, pattern).prop_map(|(op, size, pattern)| format!("op: {op}, size: {size}, pattern: {pattern}"))
}

/// A scenario that the recursion applies to, or nearly: one open stream to a component or an array.
fn scenario() -> impl Strategy<Value = String> {
    let queueing = prop::sample::select(vec!["fork_join", "split_merge"]);
    let first = prop::sample::select(vec!["addressed", "first_disk"]);
    (part(), 0u32..4, queueing, first, arrivals(), requests(), any::<u32>()).prop_map(
        |(part, disks, queueing, first, arrivals, requests, seed)| {
            let array = format!(
                "{{type: array, level: raid0, of: {part}, disks: {disks}, stripe_unit: 64 KiB, queueing: {queueing}, \
                 first_unit: {first}}}"
            );
            let target = if disks == 0 { part } else { array };
            format!(
                "system: {{target: {target}}}\nworkload: {{users: {{to: target, arrivals: {arrivals}, {requests}}}}}\n\
                 run: {{requests: 1200, seed: {seed}}}\n"
            )
        },
    )
}

#[track_caller]
fn same_stream(events: &Results, recursion: &Results) {
    let stream = |results: &Results| {
        let mut stream = serde_json::to_value(&results.streams[0]).unwrap();
        // Events make those that are in flight at the end.
        stream["issued"] = 0.into();
        stream["in_flight"] = 0.into();
        stream
    };
    assert_eq!(stream(events), stream(recursion));
}

/// Each request in flight at an end may count on one side only: `ends` of them, of all visits.
#[track_caller]
fn same_components(events: &Results, recursion: &Results) {
    let in_flight = events.streams[0].in_flight + 2;
    for (a, b) in events.components.iter().zip(&recursion.components) {
        let most = b.visits.max(a.visits).max(1) as f64;
        let apart = a.visits.abs_diff(b.visits);
        assert!(
            apart <= 2 * in_flight,
            "{}: {} visits by events, {} by recursion",
            a.path,
            a.visits,
            b.visits
        );
        let share = (2 * in_flight) as f64 / most + 1e-9;
        let (bytes, others) = (a.bytes_per_s, b.bytes_per_s);
        let largest = 768.0 * 1024.0 * 2.0 * in_flight as f64 / events.simulated_s;
        assert!((bytes - others).abs() <= largest + 1e-6, "{}: {bytes} and {others} B/s", a.path);
        let (used, others) = (a.utilisation.unwrap_or(0.0), b.utilisation.unwrap_or(0.0));
        assert!(
            (used - others).abs() <= used.max(others) * share * 8.0 + 1e-9,
            "{}: {used} and {others}",
            a.path
        );
        assert_eq!(a.meters.keys().collect::<Vec<_>>(), b.meters.keys().collect::<Vec<_>>());
    }
    let (a, b) = (events.bottleneck.as_ref(), recursion.bottleneck.as_ref());
    assert_eq!(a.map(|of| (&of.group, of.estimate)), b.map(|of| (&of.group, of.estimate)));
}

proptest! {
    // The same 500 every time: what is found once is found again.
    #![proptest_config(ProptestConfig { cases: 500, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Looking at requests changes nothing either: addresses may be left out only where nobody uses them.
    #[test]
    fn engines_agree_on_random_scenarios_and_do_not_depend_on_the_log(text in scenario()) {
        let logged = Options { first: 1, theory: false, ..Options::default() };
        let logged = run_with(&text, "auto", &logged);
        match (run(&text, "events"), run(&text, "recursion")) {
            (Ok(events), Ok(recursion)) => {
                same_stream(&events, &recursion);
                same_components(&events, &recursion);
                prop_assert!(values(&recursion) == values(&logged.unwrap()), "the log changes the results of {}", text);
            }
            (Err(refused), Err(other)) => {
                prop_assert_eq!(&refused, &other);
                prop_assert_eq!(&refused, &logged.unwrap_err());
            }
            (Ok(events), Err(why)) => {
                prop_assert!(why.contains("the recursion does not apply"), "{}", why);
                prop_assert!(values(&events) == values(&logged.unwrap()), "the log changes the results of {}", text);
            }
            (Err(why), Ok(_)) => prop_assert!(false, "only events refuse it: {}", why),
        }
    }
}

/// What a run says of its streams and components.
fn values(results: &Results) -> serde_json::Value {
    serde_json::to_value((&results.streams, &results.components)).unwrap()
}

/// An array uses addresses even where the time of its disks does not depend on them: requests of a quarter of a unit visit all disks.
#[test]
fn small_requests_are_spread_over_stations() {
    let text = "system: {disks: {type: array, level: raid0, of: {type: station, service: 5 ms}, disks: 4, stripe_unit: 64 KiB, \
                queueing: split_merge}}\n\
                workload: {users: {to: disks, arrivals: {poisson: 10 /s}, op: read, size: 16 KiB}}\n\
                run: {requests: 10000}\n";
    let found = run(text, "recursion").expect("it runs");
    let visits: Vec<u64> =
        found.components.iter().filter(|of| of.path.contains('[')).map(|of| of.visits).collect();
    assert_eq!(visits.len(), 4, "{visits:?}");
    assert!(visits.iter().all(|of| of.abs_diff(2500) < 250), "{visits:?}");
}
