//! A cache on a device against what a hand can compute: latencies of each policy, Che's hit ratio, write-back, flushes and failures.

use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::{results::Results, simulate};

/// A disk of 10 ms before which stands a cache of 1 ms; both serve many requests at once.
fn run(cache: &str, stream: &str, rest: &str) -> Results {
    let text = format!(
        "
system:
  disk: {{type: station, servers: 1000, service: 10 ms, capacity: 1 GiB}}
  flash: {{type: station, servers: 1000, service: 1 ms, capacity: 64 MiB}}
  volume: {{type: device_cache, to: disk, on: flash, {cache}}}
workload:
  users: {{to: volume, {stream}}}
{rest}"
    );
    let found = simulate(&text, "cache.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
}

fn mean(cache: &str, stream: &str) -> f64 {
    let alone = format!("size: 4 KiB, arrivals: {{closed: {{depth: 1}}}}, {stream}");
    run(cache, &alone, "run: {requests: 4000, warm_up: none}").streams[0].response.mean_ms
}

fn meter(results: &Results, name: &str) -> f64 {
    let volume = results.components.iter().find(|component| component.path == "volume").unwrap();
    volume.meters.get(name).copied().flatten().unwrap_or(0.0)
}

#[track_caller]
fn is_near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
}

#[test]
fn requests_take_as_long_as_the_device_that_has_to_answer() {
    let (writes, here) = ("op: write", "region: {from: 0 B, size: 16 MiB}");
    is_near(mean("writes: back, write_back_depth: 64", writes), 1.0, 1e-9);
    is_near(mean("writes: through", writes), 10.0, 1e-9);
    is_near(mean("writes: around", writes), 10.0, 1e-9);
    is_near(mean("begins: full", here), 1.0, 1e-9);
    is_near(mean("begins: full, writes: around", &format!("{writes}, {here}")), 10.0, 1e-9);
    is_near(mean("begins: full, bypass: 4 KiB", "op: write"), 10.0, 1e-9);
    // Half of a read is in the cache: the last block there, and the first that is not.
    let half = "size: 128 KiB, arrivals: {closed: {depth: 1}}, region: {from: 67043328 B, size: 128 KiB}";
    let found = run("begins: full", half, "run: {requests: 1, warm_up: none}");
    is_near(found.streams[0].response.mean_ms, 10.0, 1e-9);
    is_near(meter(&found, "read_hit_ratio"), 0.5, 1e-9);
}

/// A cache of 64 MiB of 1 GiB is hit by a sixteenth of uniform requests, full from the start or after a warm-up. Within 5 % of that.
#[test]
fn uniform_reads_hit_in_proportion_to_size() {
    for begins in ["full", "empty"] {
        let stream = "size: 4 KiB, arrivals: {poisson: 20000 /s}";
        let found =
            run(&format!("block: 4 KiB, begins: {begins}"), stream, "run: {requests: 400000, warm_up: none}");
        let ratio = meter(&found, "read_hit_ratio");
        match begins {
            "full" => is_near(ratio, 1.0 / 16.0, 0.05),
            _ => assert!(ratio > 0.04 && ratio < 1.0 / 16.0, "it was empty at first: {ratio}"),
        }
    }
}

/// A cache in use begins with the hit ratio that it is said to have, and keeps it while few blocks have given way, here one in twenty. Within 5 %.
#[test]
fn a_cache_in_use_has_its_hit_ratio() {
    let stream = "size: 4 KiB, arrivals: {poisson: 20000 /s}";
    let found = run("block: 4 KiB, begins: {hits: 80 %}", stream, "run: {requests: 4000, warm_up: none}");
    is_near(meter(&found, "read_hit_ratio"), 0.8, 0.05);
}

/// Che's approximation for LRU: an item is in the cache if it was asked for within a time T, where T is such that the cache is full (Che, Tung
/// and Wang, "Hierarchical Web caching systems", 2002). Within 2 % of the ratio, for a cache of 1,024 blocks.
#[test]
fn skewed_reads_hit_as_often_as_che_has_it() {
    let (spots, blocks) = (2000, 1024.0);
    let stream = format!(
        "arrivals: {{poisson: 20000 /s}}, size: 64 KiB, align: 64 KiB, region: {{from: 0 B, size: 131072000 B}}, pattern: {{hot_spot: {{skew: 0.8, spots: {spots}}}}}"
    );
    let found = run("block: 64 KiB, begins: full", &stream, "run: {requests: 400000, warm_up: none}");
    let popularity: Vec<f64> = (1..=spots).map(|rank| libm::pow(f64::from(rank), -0.8)).collect();
    let all: f64 = popularity.iter().sum();
    let p: Vec<f64> = popularity.iter().map(|one| one / all).collect();
    let held = |t: f64| -> f64 { p.iter().map(|p| -libm::expm1(-p * t)).sum() };
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let t = (low + high) / 2.0;
        if held(t) < blocks { low = t } else { high = t }
    }
    let expected: f64 = p.iter().map(|p| -p * libm::expm1(-p * low)).sum();
    is_near(meter(&found, "read_hit_ratio"), expected, 0.02);
}

/// All that is written once arrives at the disk, in requests of up to 1 MiB, if nothing may stay dirty.
#[test]
fn what_is_dirty_is_written_back_in_larger_requests() {
    let stream = "size: 4 KiB, arrivals: {poisson: 400 /s}, op: write, pattern: sequential";
    let found = run("writes: back, dirty: 0 %", stream, "run: {requests: 10000, warm_up: none}");
    is_near(found.streams[0].response.mean_ms, 1.0, 1e-9);
    let written = 10_000.0 * 4096.0;
    let back = meter(&found, "written_back_bytes");
    assert!(back > 0.95 * written && back <= written, "{back} of {written}");
    let disk = found.components.iter().find(|component| component.path == "disk").unwrap();
    let many = disk.visits;
    assert!(many < 9000, "{many} requests for {back} bytes");
    let kept = run("writes: back, dirty: 50 %", stream, "run: {requests: 4000, warm_up: none}");
    assert!(meter(&kept, "written_back_bytes") == 0.0, "16 MB are less than half of 64 MiB");
}

/// Where the cache fails, a write-through cache serves on from the disk, and a write-back cache has lost what was dirty.
#[test]
fn a_cache_that_fails_costs_what_was_dirty() {
    let faults = "faults: [{component: flash, fails: 5 s}]\nrun: {requests: 10000, warm_up: none}";
    let stream =
        "size: 4 KiB, arrivals: {poisson: 1000 /s}, op: {reads: 50 %}, region: {from: 0 B, size: 8 MiB}";
    let through = run("writes: through", stream, faults);
    assert!(through.streams[0].failed == 0, "{:?}", through.streams[0]);
    let back = run("writes: back, dirty: 100 %", stream, faults);
    assert!(back.streams[0].failed > 100, "reads of what was dirty fail");
    let drained = run("writes: back, dirty: 0 %, write_back_depth: 64", stream, faults);
    let (lost, failed) = (meter(&drained, "lost_bytes"), drained.streams[0].failed);
    assert!(failed < back.streams[0].failed / 4, "{failed} failed; {lost} bytes lost");
}

#[test]
fn a_flush_takes_as_long_as_both_devices() {
    let stream = "size: 4 KiB, arrivals: {closed: {depth: 1}}, op: write, flush_every: 1";
    let found = run("writes: back", stream, "run: {requests: 100, warm_up: none}");
    assert!(found.streams[0].response.mean_ms >= 1.0);
    assert!(found.streams[0].response.mean_ms <= 12.0);
}

#[test]
fn what_cannot_work_is_refused_at_its_field() {
    let told = |fields: &str| {
        let text = format!(
            "
system:
  disk: {{type: station, service: 10 ms, capacity: 1 GiB}}
  flash: {{type: station, service: 1 ms, capacity: 64 MiB}}
  volume: {{type: device_cache, {fields}}}
workload: {{users: {{to: volume, arrivals: {{poisson: 1 /s}}, size: 4 KiB}}}}
"
        );
        simulate(&text, "cache.yaml", &[], &Options::default(), &Progress::default())
            .err()
            .map(|told| told.rendered())
    };
    for (fields, says) in [
        ("to: disk, on: disk", "a component cannot cache itself"),
        ("to: disk, on: flash, size: 1 GB", "1 GB do not fit: `flash` has"),
        ("to: disk, on: flash, block: 5 KiB", "5 KiB is not a power of two"),
        ("to: disk, on: flash, size: 1 KiB", "has no whole block of 64 KiB"),
        ("to: disk, on: flash, max_request: 4 KiB", "4 KiB is less than a block of 64 KiB"),
        ("to: disk, on: flesh", "flesh"),
    ] {
        let found = told(fields).expect("it cannot work");
        assert!(found.contains(says), "{found}");
    }
}
