//! Headroom and overload where utilisation alone misleads: logs that are never idle, bursts, limits that refuse, caches that were cold.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::{Bottleneck, Results};
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

fn run(system: &str, stream: &str, requests: u64) -> Results {
    let text = format!("system: {system}\nworkload: {{x: {stream}}}\nrun: {{requests: {requests}}}\n");
    let options = Options { headroom: true, ..Options::default() };
    let found = simulate(&text, "headroom.yaml", &[], &options, &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
}

fn bottleneck(system: &str, stream: &str, requests: u64) -> Bottleneck {
    run(system, stream, requests).bottleneck.unwrap()
}

/// Commits gather while a flush of 1 ms goes on: its drive is never idle, and every load is kept up with.
#[test]
fn a_log_that_is_never_idle_is_not_overloaded() {
    let log = "{d: {type: station, service: 1 ms}, w: {type: write_ahead_log, to: d, size: 1 GiB}}";
    let found = run(log, "{to: w, arrivals: {poisson: 60000 /s}, op: write, size: 500 B}", 20_000);
    let limit = found.bottleneck.unwrap();
    assert!(limit.utilisation > 0.995 && !limit.saturated, "{limit:?}");
    // A cycle takes a write and a flush, 2 ms; a commit waits for the end of one and for the next.
    assert!((found.streams[0].response.mean_ms - 3.0).abs() < 0.15, "{:?}", found.streams[0].response);
    let overloaded =
        run("{d: {type: station, service: 1 ms}}", "{to: d, arrivals: {closed: {depth: 4}}}", 20_000);
    assert!(overloaded.bottleneck.unwrap().saturated);
}

/// However it comes, a server of 2 ms carries 500 requests/s.
#[test]
fn bursts_have_no_more_headroom_than_the_server() {
    let bursts = |times: f64| {
        let (calm, burst) = (50.0 * times, 300.0 * times);
        format!(
            "{{to: s, arrivals: {{bursty: {{calm: {calm} /s, burst: {burst} /s, calm_for: 2 s, burst_for: 0.5 s}}}}}}"
        )
    };
    for times in [1.0, 3.0] {
        let found = bottleneck("{s: {type: station, service: 2 ms}}", &bursts(times), 100_000);
        let headroom = found.saturates_at.unwrap();
        assert!((0.8..1.01).contains(&(headroom * times / 5.0)), "{times}: {found:?}");
    }
}

/// A limit that refuses loses requests at every load, and more the more come: that is what it is for.
#[test]
fn a_limit_that_refuses_has_no_headroom() {
    let limit = "{s: {type: station, service: {exponential: 1 ms}, servers: 4},
                  l: {type: limiter, to: s, operations: {rate: 500 /s, burst: 1}, excess: refuse}}";
    let found = bottleneck(limit, "{to: l, arrivals: {poisson: 120 /s}}", 50_000);
    assert!(found.saturates_at.is_none() && found.trials.is_none(), "{found:?}");
}

/// A quarter of the data is in the cache, so the disk of 100 requests/s carries 133: 1.67 times the load. A cold cache carries 100.
#[test]
fn a_cache_that_is_cold_in_a_short_simulation_does_not_count() {
    let cache = "{hdd: {type: station, service: 10 ms, capacity: 100 GiB},
                  ssd: {type: station, service: 0.1 ms, servers: 8, capacity: 10 GiB},
                  c: {type: device_cache, to: hdd, on: ssd, size: 256 MiB, block: 64 KiB}}";
    let stream = "{to: c, arrivals: {poisson: 80 /s}, size: 64 KiB, align: 64 KiB, footprint: 1 GiB}";
    let found = bottleneck(cache, stream, 200_000);
    assert!((found.saturates_at.unwrap() / (4.0 / 3.0 / 0.8) - 1.0).abs() < 0.1, "{found:?}");
}
