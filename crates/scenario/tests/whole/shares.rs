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

/// With a policy, where the drive has 1,000 operations/s: an urgent stream waits for the request in service alone, and the other has what is
/// left; in turns of 3 and 1 operations, both have their parts of the drive, and so have two whose requests count as 16 and 4 operations.
#[test]
fn policies_share_as_published() {
    let with =
        |policy: &str, text: String| text.replace("depth: 1}", &format!("depth: 1, policy: {policy}}}"));
    let urgent = run(&with("priority", shared("", ", priority: 1", "{poisson: 250 /s}")));
    let ((users, others), mean) = (rates(&urgent), urgent.streams[0].response.mean_ms);
    assert!((users - 250.0).abs() < 5.0 && (users + others - 1000.0).abs() < 2.0, "{users} {others}");
    // M/D/1 with a server that is never idle: half a service of another's, the wait of M/D/1, and its own.
    assert!((mean - (0.5 + 0.25 / (2.0 * 0.75) + 1.0)).abs() < 0.03, "{mean}");
    let closed = "{closed: {depth: 16}}";
    let starved = run(&with("priority", shared("", ", priority: 1", closed)));
    assert_eq!(
        starved.streams[1].completed, 0,
        "nobody is served beside one who is more urgent and always asks"
    );
    let turns = run(&with("round_robin", shared(", weight: 3", "", closed)));
    let (users, others) = rates(&turns);
    assert!((users / others - 3.0).abs() < 0.02 && (users + others - 1000.0).abs() < 2.0, "{users} {others}");
    let sized =
        with("round_robin, unit: 4 KiB", shared("", "", closed)).replacen("size: 4 KiB", "size: 64 KiB", 1);
    let (large, small) = rates(&run(&sized.replacen("size: 4 KiB", "size: 16 KiB", 1)));
    assert!((small / large - 4.0).abs() < 0.03, "{small} {large}");
}

/// Parts of a stated capacity; each cause has a share of its own, whose requests count as what it says.
#[test]
fn shares_are_parts_of_a_capacity_by_cause() {
    let text = "system:
  drive: {type: station, service: 1 ms}
  fair:
    type: shares
    to: drive
    depth: 1
    capacity: 800 /s
    unit: 4 KiB
    by_cause: {host: {limit: 50 %}, scrub: {limit: 150 %, read_cost: 16 KiB}}
workload:
  users: {to: fair, arrivals: {closed: {depth: 8}}, size: 4 KiB}
  scrubs: {to: fair, arrivals: {closed: {depth: 8}}, size: 4 KiB, cause: scrub}
run: {requests: 20000}
";
    let found = run(text);
    let (users, scrubs) = rates(&found);
    assert!((users - 400.0).abs() < 1.0 && (scrubs - 300.0).abs() < 1.0, "{users} {scrubs}");
}

/// A station with a rate takes the time of the data besides: 1 ms and 4 ms for 4 MB at 1 GB/s.
#[test]
fn a_station_has_a_rate() {
    let text = "system: {drive: {type: station, service: 1 ms, rate: 1 GB/s}}
workload: {users: {to: drive, arrivals: {poisson: 100 /s}, size: 4 MB}}
run: {requests: 20000}
";
    let mean = run(text).streams[0].response.mean_ms;
    let exact = 5.0 + 5.0 * 0.5 / (2.0 * 0.5);
    assert!((mean / exact - 1.0).abs() < 0.03, "{mean} {exact}");
    let mut prepared = Prepared::read(text, "station.yaml", &[], &job_files::unread).unwrap();
    let solved =
        prepared.solve(None, &Progress::default()).unwrap_or_else(|wrong| panic!("{}", wrong.rendered()));
    assert!((solved.sustains_per_s - 200.0).abs() < 0.01, "{}", solved.sustains_per_s);
}

/// A request waits for the tokens of those before it, and for none of its own: 10 × 0.9 / (2 × 0.1) = 45 ms at a limit of 100/s.
#[test]
fn the_wait_for_a_limit_is_that_of_md1() {
    let text = "system:
  drive: {type: station, servers: 64, service: 10 ms}
  fair: {type: shares, to: drive, depth: 64}
  few: {type: share, of: fair, limit: 100 /s}
workload: {users: {to: few, arrivals: {poisson: 90 /s}}}
run: {requests: 200000}
";
    let found = run(text);
    let mean = found.streams[0].response.mean_ms;
    assert!((mean / 55.0 - 1.0).abs() < 0.05, "{mean}");
    let theory = found.theory[0].mean_ms.unwrap();
    assert!((theory / 55.0 - 1.0).abs() < 0.01, "{theory}");
}

#[test]
fn reservations_beyond_the_capacity_are_refused() {
    let text = shared(", reservation: 60 %", ", reservation: 500 /s", "{poisson: 250 /s}")
        .replace("depth: 1}", "depth: 1, capacity: 1000 /s}");
    let found = simulate(&text, "shares.yaml", &[], &Options::default(), &Progress::default());
    let message = found.unwrap_err().rendered();
    let says = "reservations add up to 1100/s, and the shares have a `capacity` of 1000/s";
    assert!(message.contains(says), "{message}");
}

#[test]
fn mistakes_are_told() {
    for (wrong, says) in [
        (", weight: 0", "`weight` must be from"),
        (", reservation: 10 /s, limit: 5 /s", "`limit` must be at least `reservation`"),
        (
            ", priority: 1",
            "`policy: mclock` goes by `reservation`, `weight`, `limit`, `read_cost`, `write_cost`, not by `priority`",
        ),
        (", limit: 50 %", "give the shares a `capacity`"),
        (", write_cost: 1 MiB", "give the shares a `unit`"),
    ] {
        let text = shared(wrong, "", "{poisson: 250 /s}");
        let found = simulate(&text, "shares.yaml", &[], &Options::default(), &Progress::default());
        let message = found.unwrap_err().rendered();
        assert!(message.contains(says), "{message}");
    }
    for (policy, wrong, says) in [
        ("priority", ", weight: 2", "choose `policy: mclock`, `round_robin` or `wpq` in `shares`"),
        ("round_robin", ", limit: 5 /s", "put a `limiter` before the share"),
        ("priority, unit: 4 KiB", "", "`unit` has no effect with `policy: priority`"),
        ("round_robin, capacity: 1 /s", "", "`capacity` has no effect with `policy: round_robin`"),
    ] {
        let text = shared(wrong, "", "{poisson: 250 /s}")
            .replace("depth: 1}", &format!("depth: 1, policy: {policy}}}"));
        let found = simulate(&text, "shares.yaml", &[], &Options::default(), &Progress::default());
        let message = found.unwrap_err().rendered();
        assert!(message.contains(says), "{message}");
    }
    let text = shared("", "", "{poisson: 250 /s}").replace("share, of: fair}", "share, of: drive}");
    let found = simulate(&text, "shares.yaml", &[], &Options::default(), &Progress::default());
    let message = found.unwrap_err().rendered();
    assert!(message.contains("`drive` is a `station`, which serves no requests of a share"), "{message}");
}
