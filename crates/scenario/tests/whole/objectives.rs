//! Objectives, the busiest stretch, and where the time of the slowest requests goes.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

fn outcome(text: &str) -> Result<Results, String> {
    simulate(text, "test.yaml", &[], &Options::default(), &Progress::default())
        .map(|found| found.results)
        .map_err(|problems| problems.rendered())
}

#[track_caller]
fn run(text: &str) -> Results {
    outcome(text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A clerk of 125 customers a second, of whom `rate` come.
fn bank(rate: u32, objective: &str, run: &str) -> String {
    format!(
        "
system: {{clerk: {{type: station, service: {{exponential: 8 ms}}}}}}
workload: {{users: {{to: clerk, arrivals: {{poisson: {rate} /s}}}}}}
objectives: {{users: {objective}}}
run: {{{run}}}
"
    )
}

/// The response of an M/M/1 queue is exponential with rate µ − λ: at 100/s, 1 − e⁻² of all are answered within 80 ms.
#[test]
fn the_share_in_time_is_that_of_a_queue() {
    let exact = 1.0 - libm::exp(-2.0);
    for how in ["requests: 200000", "requests: 20000, replications: 10"] {
        let found = run(&bank(100, "80 % within 80 ms and 95 % within 80 ms and 86.47 % within 80 ms", how));
        let verdicts: Vec<Option<bool>> = found.objectives.iter().map(|one| one.met).collect();
        assert_eq!(verdicts, [Some(true), Some(false), None], "{how}");
        for one in &found.objectives {
            let half = one.half_width.unwrap();
            assert!((one.share - exact).abs() < 1.5 * half && half < 0.02, "{how}: {one:?}");
        }
        assert!(found.answer.starts_with("Met: 8"), "{}", found.answer);
        assert!(found.answer.contains(" % of users within 80 ms (95 % asked)."), "{}", found.answer);
        assert!(found.answer.contains("Undecided: "), "{}", found.answer);
    }
}

/// A request that is dropped, or given up, was not in time.
#[test]
fn lost_requests_are_late() {
    let text = bank(100, "99 % within 10 min", "requests: 50000")
        .replace("poisson: 100 /s}", "poisson: 250 /s}, outstanding: 4, when_full: drop");
    let found = run(&text);
    let stream = &found.streams[0];
    let answered = stream.completed as f64 / (stream.completed + stream.dropped) as f64;
    assert!(stream.dropped > 10_000 && (found.objectives[0].share - answered).abs() < 1e-9, "{answered}");
    assert_eq!(found.objectives[0].met, Some(false));
}

#[test]
fn a_service_of_exactly_the_time_asked_is_in_time() {
    let text = bank(1, "100 % within 8 ms", "requests: 2000")
        .replace("{exponential: 8 ms}", "8 ms")
        .replace("poisson: 1 /s", "every: 1 s");
    let found = run(&text);
    assert_eq!((found.objectives[0].share, found.objectives[0].met), (1.0, Some(true)));
}

const MIXED: &str = "
system: {d: {type: disk, positioning: addressed, device: seagate-st32171w}}
workload: {users: {to: d, arrivals: {poisson: 20 /s}, op: {reads: 70 %}, size: 4 KiB}}
run: {requests: 20000}
";

#[test]
fn operations_have_objectives_of_their_own() {
    let found =
        run(&format!("{MIXED}objectives: {{reads: 90 % within 1 s, users.writes: 90 % within 1 ns}}"));
    let told: Vec<_> = found.objectives.iter().map(|one| (&one.of[..], one.met)).collect();
    assert_eq!(told, [("users.reads", Some(true)), ("users.writes", Some(false))]);
    assert_eq!(found.series[0].in_time.len(), 2);
}

#[test]
fn what_is_no_objective_is_refused_in_words() {
    for (objectives, words) in [
        ("{user: 99 % within 1 s}", vec!["no stream or operation is called `user`", "users"]),
        ("{users: 99 %}", vec!["`99 %` is not an objective", "such as `99 % within 10 min`"]),
        ("{users: p99.9 < 20 ms}", vec!["such as `99.9 % within 20 ms`"]),
        ("{users: 99 % within 10}", vec!["`99 % within 10`: ", "no unit"]),
        ("{users: 130 % within 10 s}", vec!["`130 % within 10 s`"]),
        ("{users: 0 % within 10 s}", vec!["above 0 %"]),
        ("{recall: 99 % within 10 s}", vec!["no stream or operation is called `recall`"]),
    ] {
        let said = outcome(&format!("{MIXED}objectives: {objectives}")).unwrap_err();
        assert!(words.iter().all(|word| said.contains(word)), "{objectives}: {said}");
    }
}

/// Bursts at 1.2 times what the clerk can do, a tenth of the time: the mean says 30 % busy, the stretch says full.
#[test]
fn bursts_have_a_busiest_stretch_and_steady_load_has_none() {
    let bursts = "bursty: {burst: 150 /s, calm: 20 /s, burst_for: 200 s, calm_for: 1800 s}";
    let text = bank(1, "99 % within 10 min", "requests: 200000").replace("poisson: 1 /s", bursts);
    let found = run(&text);
    let stretch = found.busiest_stretch.expect("bursts differ from the mean");
    assert!(stretch.utilisation > 0.9 && stretch.mean_utilisation < 0.5, "{stretch:?}");
    assert!(
        stretch.streams[0].p99_ms.unwrap() > 1000.0 && stretch.streams[0].in_flight > 20.0,
        "{stretch:?}"
    );
    assert!(found.answer.contains("Busiest from "), "{}", found.answer);
    for rate in [10, 60, 110] {
        for seed in 1..6 {
            let steady = run(&bank(rate, "99 % within 10 min", &format!("requests: 20000, seed: {seed}")));
            assert_eq!(steady.busiest_stretch, None, "{rate}, {seed}");
        }
    }
}

/// The slowest requests of a striped array waited for its disks: a larger share of their time than of the mean.
#[test]
fn the_slowest_say_where_they_waited() {
    let found = run("
parts: {p: {type: disk, positioning: addressed, device: seagate-st32171w}}
system: {v: {type: array, level: raid0, of: p, disks: 4, stripe_unit: 64 KiB}}
workload: {users: {to: v, arrivals: {poisson: 120 /s}, size: 4 KiB, op: read}}
run: {requests: 100000}
");
    let response = &found.streams[0].response;
    let p99 = response.quantiles_ms.iter().find(|one| one.share == 0.99).unwrap().ms;
    let total = |legs: &[headrace_scenario::results::LegResults]| -> f64 {
        legs.iter().map(|leg| leg.waiting_ms + leg.service_ms + leg.blocked_ms).sum()
    };
    let slowest = total(&response.slowest);
    assert!((total(&found.streams[0].path) - response.mean_ms).abs() < 1e-6);
    assert!(slowest > 0.98 * p99 && slowest < 2.5 * p99, "{slowest} of {p99}");
    let waits = |legs: &[headrace_scenario::results::LegResults]| -> f64 {
        legs.iter().map(|leg| leg.waiting_ms).sum::<f64>() / total(legs)
    };
    assert!(waits(&response.slowest) > waits(&found.streams[0].path) + 0.2);
}

/// Where response times drift, because the load is more than can be answered or a failure ends, the slowest are still those beyond p99.
#[test]
fn the_slowest_are_those_of_a_whole_run_that_drifts() {
    for (rate, faults) in [(280, ""), (80, "faults: [{component: volume, fails: 100 s, returns: 130 s}]")] {
        let found = run(&format!(
            "parts: {{spindle: {{type: disk, positioning: addressed, device: exos-x18}}}}\n\
             system: {{volume: {{type: array, level: raid5, of: spindle, disks: 4, stripe_unit: 64 KiB}}}}\n\
             workload: {{users: {{to: volume, arrivals: {{poisson: {rate} /s}}, size: 16 KiB, op: {{reads: 70 %}}}}}}\n{faults}\n\
             run: {{requests: 60000, replications: 2}}\n"
        ));
        let response = &found.streams[0].response;
        let p99 = response.quantiles_ms.iter().find(|one| one.share == 0.99).unwrap().ms;
        let mean: f64 =
            response.slowest.iter().map(|leg| leg.waiting_ms + leg.service_ms + leg.blocked_ms).sum();
        assert!(mean > 0.99 * p99 && mean <= response.max_ms, "{mean} of {p99}, at {rate}/s");
        assert_eq!(found.answer.starts_with("OVERLOADED: "), rate > 100, "{}", found.answer);
    }
}
