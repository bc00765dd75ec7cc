//! Headroom and overload where utilisation alone misleads: logs that are never idle, bursts, limits that refuse, caches that were cold.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::{Bottleneck, Results};
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

fn run(system: &str, stream: &str, requests: u64) -> Results {
    let text = format!("system: {system}\nworkload: {{x: {stream}}}\nrun: {{requests: {requests}}}\n");
    run_text(&text)
}

fn run_text(text: &str) -> Results {
    let options = Options { headroom: true, ..Options::default() };
    let found = simulate(text, "headroom.yaml", &[], &options, &Progress::default());
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

/// Two copies of 200 reads/s carry 400 without hedges. With them, a read that waits is sent twice, so that half of that is carried when all
/// wait: about 200, twice the load.
#[test]
fn hedged_reads_have_the_headroom_of_those_sent_twice() {
    let text = "parts: {d: {type: station, service: {exponential: 5 ms}, capacity: 10 GiB}}
system: {v: {type: array, level: raid1, of: d, disks: 2, hedge: 12 ms}}
workload: {x: {to: v, arrivals: {poisson: 100 /s}, size: 4 KiB, op: read}}
run: {requests: 50000}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!((1.7..2.3).contains(&found.saturates_at.unwrap()), "{found:?}");
}

/// Reads pass while writes wait for one of two stripes: they fall behind, and there is no headroom.
#[test]
fn writes_that_fall_behind_reads_leave_no_headroom() {
    let text = "parts: {d: {type: station, service: {exponential: 5 ms}, capacity: 100 GB}}
system: {v: {type: array, level: raid5, of: d, disks: 5, stripe_unit: 64 KiB, stripe_cache: 2}}
workload: {u: {to: v, arrivals: {poisson: 200 /s}, op: {reads: 70 %}, size: 16 KiB, align: 16 KiB}}
run: {requests: 60000}\n";
    let found = run_text(text);
    assert_eq!(found.bottleneck.unwrap().saturates_at, None, "{}", found.answer);
    assert!(found.notes.iter().any(|note| note.contains("faster than they complete")), "{:?}", found.notes);
}

/// A server of 5 ms carries 200 reads/s; where those that wait for longer than 20 ms are sent again on another path, about 100.
#[test]
fn retries_on_another_path_make_headroom_an_estimate() {
    let text = "system:
  d: {type: station, service: {exponential: 5 ms}, capacity: 10 GB}
  h: {type: server, cores: 4, path_timeout: 20 ms}
  sw1: {type: switch, preset: fc_8g, connects: [h, d]}
  sw2: {type: switch, preset: fc_8g, connects: [h, d]}
workload: {u: {from: h, to: d, arrivals: {poisson: 60 /s}, op: read, size: 16 KiB, align: 16 KiB}}
run: {requests: 60000}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!(found.estimate, "{found:?}");
    assert!((1.2..2.1).contains(&found.saturates_at.unwrap()), "{found:?}");
}

/// A copy of 2 ms carries 500 reads/s and one of 20 ms 50: together 550, of which half each would be 100.
#[test]
fn the_shortest_queue_uses_a_faster_copy_more() {
    let text = "system:
  a: {type: station, service: {exponential: 2 ms}, capacity: 10 GB}
  b: {type: station, service: {exponential: 20 ms}, capacity: 10 GB}
  v: {type: array, level: raid1, of: [a, b], read_from: shortest_queue}
workload: {u: {to: v, arrivals: {poisson: 200 /s}}}
run: {requests: 60000}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!(found.estimate, "{found:?}");
    assert!((2.3..3.1).contains(&found.saturates_at.unwrap()), "{found:?}");
}

/// Each direction of a port carries 1,000 messages of 100 kB: 600 reads and 600 writes do not add up.
#[test]
fn work_on_different_servers_does_not_add_up() {
    let text = "system:
  d: {type: station, servers: 100, service: 100 us}
  h: {type: server, cores: 8, submit: 5 us, complete: 5 us}
  sw: {type: switch, rate: 100 MB/s, connects: [h, d]}
workload:
  r: {from: h, to: d, arrivals: {poisson: 600 /s}, op: read, size: 100 kB, align: 4 KiB}
  w: {from: h, to: d, arrivals: {poisson: 600 /s}, op: write, size: 100 kB, align: 4 KiB}
run: {requests: 50000}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!((found.utilisation - 0.6).abs() < 0.02, "{found:?}");
    assert!((found.saturates_at.unwrap() - 1.0 / 0.6).abs() < 0.1, "{found:?}");
}

/// The busiest of many alike in a short run is one that more requests came to than to others: what all have in common is their mean load.
#[test]
fn members_of_a_wide_array_share_their_headroom() {
    for (seed, rate, requests) in
        [(1, 11_000, 20_000), (2, 11_000, 20_000), (3, 6_000, 5_000), (4, 6_000, 20_000)]
    {
        let text = format!(
            "parts: {{d: {{type: station, service: {{exponential: 5 ms}}, capacity: 1 TB}}}}
system: {{v: {{type: array, level: raid0, of: d, disks: 60, stripe_unit: 64 KiB}}}}
workload: {{u: {{to: v, arrivals: {{poisson: {rate} /s}}, op: read, size: 4 KiB, align: 4 KiB}}}}
run: {{requests: {requests}, seed: {seed}}}
"
        );
        let found = run_text(&text).bottleneck.unwrap();
        let busy = f64::from(rate) / 60.0 * 5e-3;
        assert!(!found.saturated && (found.utilisation / busy - 1.0).abs() < 0.05, "{found:?}");
        assert!(found.saturates_at.is_none_or(|times| (times * busy - 1.0).abs() < 0.05), "{found:?}");
    }
    // One that is slow, or that more is sent to, is not as all others.
    let mirror = "parts: {d: {type: station, service: {exponential: 5 ms}, capacity: 1 TB}}
system: {v: {type: array, level: raid0, of: d, disks: 8, stripe_unit: 64 KiB}}
workload: {u: {to: v, arrivals: {poisson: 400 /s}, op: read, size: 4 KiB, align: 4 KiB}}
run: {requests: 20000}
faults: [{component: 'v/d[3]', slow: 3, from: 0 s}]
";
    let found = run_text(mirror).bottleneck.unwrap();
    assert!((found.utilisation / 0.75 - 1.0).abs() < 0.05, "{found:?}");
}

/// Disks that are asked for 126 % of their time are overloaded, though their mean over a run that begins and ends idle is 99 %.
#[test]
fn a_wide_pool_that_falls_behind_is_overloaded() {
    let text = |rate: f64| {
        format!(
            "parts: {{d: {{type: station, service: 12.6 ms, capacity: 24 TB}}}}
system: {{p: {{type: pool, of: d, drives: 10, servers: 12, erasure: {{data: 8, parity: 3, unit: 16 KiB}}, groups: 4096, size: 500 TB}}}}
workload: {{c: {{to: p, arrivals: {{poisson: {rate} /s}}, size: 16 KiB, align: 16 KiB, op: write}}}}
run: {{requests: 20000}}
"
        )
    };
    // Each write is 8 accesses, so 120 disks carry 120 / (8 × 12.6 ms) a second.
    let carries = 120.0 / (8.0 * 12.6e-3);
    let over = run_text(&text(1.26 * carries)).bottleneck.unwrap();
    // Fuller disks carry less, and the run ends with what waits for them.
    assert!(over.saturated && (0.6..0.8).contains(&over.saturates_at.unwrap()), "{over:?}");
    let under = run_text(&text(0.6 * carries)).bottleneck.unwrap();
    assert!(!under.saturated && (0.6..0.85).contains(&under.utilisation), "{under:?}");
}

/// Of two limits that are both never full, the one that requests wait for is the bottleneck.
#[test]
fn the_limit_that_requests_wait_for_is_named() {
    let volume = "{s: {type: station, servers: 1000, service: 1 ms, capacity: 1 TiB}, \
                  v: {type: limiter, to: s, device: aws-gp2-100gib}}";
    let stream = |size: &str| format!("{{to: v, arrivals: {{poisson: 2000 /s}}, op: read, size: {size}}}");
    assert_eq!(bottleneck(volume, &stream("1 MiB"), 20_000).component, "v/bytes");
    let small = volume.replace("}}", ", initial: 0 %}}");
    assert_eq!(bottleneck(&small, &stream("4 KiB"), 20_000).component, "v/operations");
}

/// A limit beside `device` keeps the fields of the device that it leaves out: 512 KiB are two operations of gp3.
#[test]
fn a_limit_beside_a_device_keeps_the_rest_of_the_device() {
    let volume = |device: &str| {
        format!(
            "{{s: {{type: station, servers: 1000, service: 1 ms, capacity: 1 TiB}}, v: {{type: limiter, to: s, {device}}}}}"
        )
    };
    let own = "operations: {rate: 1000 /s}, bytes: {rate: 1000 MiB/s}";
    let stream = "{to: v, arrivals: {poisson: 400 /s}, op: read, size: 512 KiB}";
    for device in [format!("device: aws-gp3, {own}"), format!("device: {{like: aws-gp3, {own}}}")] {
        let found = bottleneck(&volume(&device), stream, 50_000);
        assert!((found.utilisation - 0.8).abs() < 0.02, "{device}: {found:?}");
    }
}

/// Bursts beyond a limit: what it sustains is its rate, however many of them a run happened to have.
#[test]
fn what_a_limit_sustains_of_bursts_is_its_rate() {
    let limiter = "{s: {type: station, servers: 1000, service: 1 ms, capacity: 1 TiB}, \
                   v: {type: limiter, to: s, operations: {rate: 3000 /s}}}";
    let bursts =
        "{to: v, arrivals: {bursty: {calm: 3000 /s, burst: 9000 /s, calm_for: 20 s, burst_for: 5 s}}}";
    for seed in 1..3 {
        let text = format!(
            "system: {limiter}\nworkload: {{x: {bursts}}}\nrun: {{requests: 400000, seed: {seed}}}\n"
        );
        let found = run_text(&text);
        let times = found.bottleneck.unwrap().saturates_at.unwrap();
        // 3,000/s of a mean of 4,200/s.
        assert!((times / (3000.0 / 4200.0) - 1.0).abs() < 0.03, "seed {seed}: {times}");
    }
}

/// No request waits where what was saved covers a burst, so no queue grows while it lasts.
#[test]
fn bursts_that_are_saved_for_wait_for_nothing() {
    let limiter = |burst: u32| {
        format!(
            "{{s: {{type: station, servers: 1000, service: 1 ms, capacity: 1 TiB}}, \
              v: {{type: limiter, to: s, operations: {{rate: 300 /s, burst: {burst}, peak: 3000 /s}}}}}}"
        )
    };
    let curve =
        "{rates: [{at: 0 s, rate: 0 /s}, {at: 50 s, rate: 2000 /s}, {at: 53 s, rate: 0 /s}], period: 60 s}";
    let notes = |burst| {
        let stream = format!("{{to: v, arrivals: {{varying: {curve}}}}}");
        let text = format!("system: {}\nworkload: {{x: {stream}}}\nrun: {{time: 600 s}}\n", limiter(burst));
        run_text(&text).notes.join("; ")
    };
    assert!(!notes(10_000).contains("queues grow"), "{}", notes(10_000));
    assert!(notes(1_000).contains("queues grow while they last"), "{}", notes(1_000));
}

/// What was sustained of a load that was too much is the headroom, not the middle of what was tried: a server of 1 ms carries 1,000/s.
#[test]
fn measured_headroom_is_what_is_sustained() {
    let text = "system:
  d: {type: station, service: {exponential: 1 ms}, capacity: 1 TiB}
  f: {type: shares, to: d, depth: 1, policy: priority}
  hi: {type: share, of: f, priority: 0}
  lo: {type: share, of: f, priority: 1}
workload:
  a: {to: hi, arrivals: {poisson: 400 /s}}
  b: {to: lo, arrivals: {poisson: 400 /s}}
run: {requests: 200000}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!((found.saturates_at.unwrap() / 1.25 - 1.0).abs() < 0.02, "{found:?}");
}

/// A copy fills its link by design: requests beside it that keep up are no overload, however short the run.
#[test]
fn a_copy_that_fills_its_link_is_not_overloaded() {
    let text = "system:
  far: {type: station, servers: 1000, service: 30 ms, capacity: 40 TB}
  wan: {type: limiter, to: far, bytes: {rate: 1.25 GB/s}}
  near: {type: station, servers: 100, service: 1 ms, capacity: 40 TB}
  volume: {type: copy, from: wan, to: near, bytes: 40 TB, chunk: 8 MiB, in_flight: 32}
workload:
  users: {to: volume, size: 16 KiB, op: read, arrivals: {poisson: 200 /s}}
run: {time: 10 s}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!(found.component == "wan/bytes" && found.utilisation > 0.99 && !found.saturated, "{found:?}");
}

/// A closed stream takes what an open one leaves, which is kept up with.
#[test]
fn a_closed_stream_beside_an_open_one_overloads_nothing() {
    let text = "system: {s: {type: station, service: {exponential: 10 ms}}}
workload: {a: {to: s, arrivals: {poisson: 20 /s}}, b: {to: s, arrivals: {closed: {depth: 3}}}}
run: {requests: 40000}\n";
    let found = run_text(text).bottleneck.unwrap();
    assert!(found.utilisation > 0.995 && !found.saturated, "{found:?}");
}

/// A run that ends while many of its requests are in flight lacks the slowest of them.
#[test]
fn a_run_that_cuts_off_many_clients_is_not_trusted() {
    let system = "{s: {type: station, service: {exponential: 1 ms}, servers: 1000}}";
    let trusted = |requests| {
        let found = run(system, "{to: s, arrivals: {closed: {depth: 1000}}}", requests);
        found.streams[0].response.interval.as_ref().is_some_and(|interval| interval.trusted)
    };
    assert!(!trusted(10_000) && trusted(100_000));
}

/// A few bursts, fewer or more than usual: the limit carries 30/s of 32/s on average, and no run says much less or breaks down.
#[test]
fn a_run_of_few_bursts_tells_what_a_limit_carries() {
    for seed in [2, 7, 17, 32, 33] {
        let text = format!(
            "system:
  s: {{type: station, servers: 1000, service: 1 ms, capacity: 1 TiB}}
  v: {{type: limiter, to: s, operations: {{rate: 30 /s}}}}
workload:
  users: {{to: v, arrivals: {{bursty: {{calm: 20 /s, burst: 80 /s, calm_for: 20 s, burst_for: 5 s}}}}}}
run: {{requests: 3000, seed: {seed}}}\n"
        );
        let found = run_text(&text).bottleneck.unwrap();
        let times = found.saturates_at.unwrap();
        assert!((times / (30.0 / 32.0) - 1.0).abs() < 0.08, "seed {seed}: {found:?}");
    }
}

/// Fewer bursts than usual are no overload, whatever else keeps a link busy.
#[test]
fn bursts_beside_a_copy_that_are_answered_are_no_overload() {
    for seed in 1..9 {
        let text = format!(
            "system:
  far: {{type: station, servers: 1000, service: 30 ms, capacity: 40 TB}}
  wan: {{type: limiter, to: far, bytes: {{rate: 1.25 GB/s}}}}
  near: {{type: station, servers: 100, service: 1 ms, capacity: 40 TB}}
  volume: {{type: copy, from: wan, to: near, bytes: 40 TB, chunk: 8 MiB, in_flight: 32}}
workload:
  users: {{to: volume, size: 16 KiB, op: read, arrivals: {{bursty: {{calm: 100 /s, burst: 600 /s, calm_for: 1 s, burst_for: 0.3 s}}}}}}
run: {{time: 100 s, seed: {seed}}}\n"
        );
        let found = run_text(&text).bottleneck.unwrap();
        assert!(found.component == "wan/bytes" && !found.saturated, "seed {seed}: {found:?}");
    }
}

/// What no stream reaches is not overloaded by any.
#[test]
fn a_copy_beside_the_load_is_not_saturated_by_it() {
    let text = "system:
  a: {type: station, service: {exponential: 1 ms}, capacity: 1 TB}
  far: {type: station, servers: 10, service: 30 ms, capacity: 40 TB}
  near: {type: station, servers: 10, service: 10 ms, capacity: 40 TB}
  volume: {type: copy, from: far, to: near, bytes: 40 TB, chunk: 8 MiB, in_flight: 32}
workload: {users: {to: a, size: 16 KiB, op: read, arrivals: {poisson: 100 /s}}}
run: {requests: 4000}\n";
    assert!(!run_text(text).bottleneck.unwrap().saturated);
}
