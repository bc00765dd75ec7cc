//! Shares of a component: noisy neighbours, weights, limits, and rebuilds behind hosts.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::{Prepared, job_files, simulate};

fn run(text: &str) -> Results {
    simulate(text, "shares.yaml", &[], &Options::default(), &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

/// A drive of 1,000 operations/s, and two that share it.
fn shared(quiet: &str, noisy: &str, arrivals: &str) -> String {
    format!(
        "system:
  drive: {{type: station, service: 1 ms}}
  fair: {{type: shares, to: drive, depth: 1}}
  quiet: {{type: share, of: fair{quiet}}}
  noisy: {{type: share, of: fair{noisy}}}
workload:
  users: {{to: quiet, arrivals: {arrivals}, size: 4 KiB}}
  others: {{to: noisy, arrivals: {{closed: {{depth: 64}}}}, size: 4 KiB}}
run: {{requests: 40000}}
"
    )
}

fn rates(results: &Results) -> (f64, f64) {
    (results.streams[0].requests_per_s, results.streams[1].requests_per_s)
}

/// Beside 64 requests that are always there, a stream waits for all of them in line, and for one or two with a share.
#[test]
fn a_noisy_neighbour_takes_what_is_left() {
    let text = shared(", reservation: 300 /s", "", "{poisson: 250 /s}");
    let in_line = run(&text.replace("to: quiet", "to: drive").replace("to: noisy", "to: drive"));
    let fair = run(&text);
    assert!(in_line.streams[0].response.mean_ms > 60.0);
    assert!(fair.streams[0].response.mean_ms < 5.0, "{}", fair.streams[0].response.mean_ms);
    let (users, others) = rates(&fair);
    assert!((users - 250.0).abs() < 5.0 && (users + others - 1000.0).abs() < 2.0, "{users} {others}");
    let by_weight = run(&shared("", "", "{poisson: 250 /s}"));
    assert!(by_weight.streams[0].response.mean_ms < 5.0);
}

/// A limit is used in proportion to the load, so it can be the bottleneck: 64 KiB are 16 operations of 4 KiB, 10 /s of them use 160 /s of 400.
/// Theory knows it too.
#[test]
fn a_limit_has_a_utilisation_and_a_headroom() {
    let text = "system:
  drive: {type: station, service: 1 ms}
  fair: {type: shares, to: drive, depth: 8, unit: 4 KiB}
  few: {type: share, of: fair, limit: 400 /s}
workload: {users: {to: few, arrivals: {poisson: 10 /s}, size: 64 KiB}}
run: {requests: 20000}
";
    let found = run(text);
    let bottleneck = found.bottleneck.unwrap();
    assert_eq!(bottleneck.component, "few");
    assert!((bottleneck.utilisation / 0.4 - 1.0).abs() < 0.03, "{}", bottleneck.utilisation);
    assert!((bottleneck.saturates_at.unwrap() / 2.5 - 1.0).abs() < 0.03, "{:?}", bottleneck.saturates_at);
    let mut prepared = Prepared::read(text, "shares.yaml", &[], &job_files::unread).unwrap();
    let solved =
        prepared.solve(None, &Progress::default()).unwrap_or_else(|wrong| panic!("{}", wrong.rendered()));
    assert!((solved.sustains_per_s - 25.0).abs() < 0.01, "{}", solved.sustains_per_s);
}

#[test]
fn capacity_goes_by_weight_up_to_limits() {
    let closed = "{closed: {depth: 16}}";
    let (users, others) = rates(&run(&shared(", weight: 3", "", closed)));
    assert!((users / others - 3.0).abs() < 0.02 && (users + others - 1000.0).abs() < 2.0, "{users} {others}");
    let (users, others) = rates(&run(&shared(", weight: 3, limit: 100 /s", "", closed)));
    assert!((users - 100.0).abs() < 0.5 && (others - 900.0).abs() < 5.0, "{users} {others}");
    let (users, others) = rates(&run(&shared(", limit: 100 /s", ", limit: 200 /s", closed)));
    assert!(
        (users - 100.0).abs() < 0.5 && (others - 200.0).abs() < 1.0,
        "limits leave the drive idle: {users} {others}"
    );
    let (users, others) = rates(&run(&shared(", reservation: 600 /s", ", weight: 100", closed)));
    assert!((users - 600.0).abs() < 10.0 && (others - 400.0).abs() < 10.0, "{users} {others}");
}

/// A rebuild gets what `background` says, whatever the hosts do.
#[test]
fn rebuilds_have_a_share_of_their_own() {
    let text = |background: &str| {
        format!(
            "system:
  a: {{type: station, service: 1 ms, capacity: 1 GB}}
  b: {{type: station, service: 1 ms, capacity: 1 GB}}
  fair_a: {{type: shares, to: a, depth: 1{background}}}
  fair_b: {{type: shares, to: b, depth: 1{background}}}
  volume: {{type: array, level: raid1, of: [fair_a, fair_b], rebuild: {{chunk: 64 KiB, in_flight: 4}}}}
workload: {{users: {{to: volume, arrivals: {{poisson: 300 /s}}, op: read, size: 4 KiB}}}}
faults: [{{component: fair_a, fails: 1 s, replaced: 2 s}}]
run: {{time: 22 s, requests: 1000000}}
"
        )
    };
    let rebuilt =
        |background: &str| run(&text(background)).components[4].meters["rebuilt_bytes"].unwrap() / 65536.0;
    let (free, limited) = (rebuilt(""), rebuilt(", background: {limit: 50 /s}"));
    assert!((limited - 50.0 * 20.0).abs() <= 10.0, "{limited} chunks in 20 s");
    assert!(free > 2.0 * limited, "{free} {limited}");
}

#[test]
fn mistakes_are_told() {
    for (wrong, says) in [
        (", weight: 0", "`weight` must be from"),
        (", reservation: 10 /s, limit: 5 /s", "`limit` must be at least `reservation`"),
    ] {
        let text = shared(wrong, "", "{poisson: 250 /s}");
        let found = simulate(&text, "shares.yaml", &[], &Options::default(), &Progress::default());
        let message = found.unwrap_err().rendered();
        assert!(message.contains(says), "{message}");
    }
    let text = shared("", "", "{poisson: 250 /s}").replace("share, of: fair}", "share, of: drive}");
    let found = simulate(&text, "shares.yaml", &[], &Options::default(), &Progress::default());
    let message = found.unwrap_err().rendered();
    assert!(message.contains("`drive` is a `station`, which serves no requests of a share"), "{message}");
}
