//! A copy of one component to another, against what a hand can compute.

use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::{results::Results, simulate};

/// A source of 10 ms and a destination of 1 ms, which serve many requests at once, and a copy of 16 chunks.
fn document(copy: &str, stream: &str, rest: &str) -> String {
    format!(
        "
system:
  old: {{type: station, servers: 1000, service: 10 ms, capacity: 16 MiB}}
  new: {{type: station, servers: 1000, service: 1 ms, capacity: 1 GiB}}
  volume: {{type: copy, from: old, to: new, {copy}}}
workload:
  users: {{to: volume, {stream}}}
{rest}"
    )
}

fn results(text: &str) -> Results {
    let found = simulate(text, "copy.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
}

fn run(copy: &str, stream: &str, rest: &str) -> Results {
    results(&document(copy, stream, rest))
}

fn meter(results: &Results, name: &str) -> f64 {
    let volume = results.components.iter().find(|component| component.path == "volume").unwrap();
    volume.meters.get(name).copied().flatten().unwrap_or(f64::NAN)
}

#[track_caller]
fn is_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

/// Mean response in ms of one request at a time, before copying begins.
fn alone(stream: &str, requests: u32) -> f64 {
    let stream = format!("arrivals: {{closed: {{depth: 1}}}}, {stream}");
    let found =
        run("starts: 1 h", &stream, &format!("run: {{requests: {requests}, warm_up: none, time: 59 min}}"));
    found.streams[0].response.mean_ms
}

#[test]
fn requests_take_as_long_as_what_they_need() {
    is_near(alone("size: 4 KiB", 100), 10.0);
    is_near(alone("size: 1 MiB, op: write", 100), 1.0);
    is_near(alone("size: 4 MiB, op: write, align: 1 MiB", 100), 1.0);
    // The first write to a chunk waits for its copy, the second does not.
    let in_one = "size: 4 KiB, op: write, region: {from: 1 MiB, size: 8 KiB}, pattern: sequential";
    is_near(alone(in_one, 2), f64::midpoint(10.0 + 1.0 + 1.0, 1.0));
    // It has a part of two chunks.
    let in_two = "size: 4 KiB, op: write, region: {from: 1046528 B, size: 4 KiB}";
    is_near(alone(in_two, 1), 2.0 * 11.0 + 1.0);
}

/// A chunk takes 11 ms, two are in flight: sixteen are done after 88 ms, and all is read from the destination from then on.
#[test]
fn a_copy_ends_when_its_parts_say() {
    let found =
        run("starts: 1 s", "size: 4 KiB, arrivals: {poisson: 1000 /s}", "run: {time: 3 s, warm_up: none}");
    let words: Vec<_> =
        found.phases.iter().map(|phase| (phase.from_s, phase.after.join(", "))).skip(1).collect();
    assert_eq!(words, [(1.0, "volume begins to copy".into()), (1.088, "volume ends its copy".into())]);
    let mean = |phase: usize| found.phases[phase].streams[0].mean_ms.unwrap();
    is_near(mean(0), 10.0);
    assert!(mean(1) < 10.0 && mean(1) > 1.0);
    assert!((1.0..1.02).contains(&mean(2)), "some had begun before: {}", mean(2));
    is_near(meter(&found, "copy_progress"), 1.0);
    is_near(meter(&found, "copied_bytes"), f64::from(16 << 20));
    is_near(meter(&found, "copy_s"), 0.088);
    assert!(found.answer.contains("Copy of volume: 190.7 MB/s, done in 88 ms."), "{}", found.answer);
    let limited = run("rate: 8 MiB/s", "size: 4 KiB, arrivals: {poisson: 100 /s}", "run: {time: 1 s}");
    is_near(meter(&limited, "copy_progress"), 0.5);
    assert!(limited.answer.contains("50.0 % done after"), "{}", limited.answer);
}

/// What hosts overwrite is not copied, and what they need first is copied once.
#[test]
fn each_chunk_is_copied_at_most_once() {
    let writes = |size: &str, seed: u32| {
        run(
            "rate: 100 MiB/s",
            &format!("size: {size}, op: write, arrivals: {{poisson: 200 /s}}"),
            &format!("run: {{time: 500 ms, warm_up: none, seed: {seed}}}"),
        )
    };
    for seed in 0..10 {
        let parts = writes("12 KiB", seed);
        is_near(meter(&parts, "copy_progress"), 1.0);
        is_near(meter(&parts, "copied_bytes"), f64::from(16 << 20));
        assert!(meter(&parts, "copied_on_write_bytes") > 0.0);
        let wholes = writes("1 MiB", seed);
        is_near(meter(&wholes, "copy_progress"), 1.0);
        assert!(meter(&wholes, "copied_bytes") < f64::from(16 << 20), "some were written before");
    }
}

/// While its source is away a copy waits; what is there can be used.
#[test]
fn it_goes_on_when_its_source_returns() {
    let away = "faults: [{component: old, fails: 40 ms, returns: 2 s}]\n";
    let found = run(
        "",
        "size: 4 KiB, arrivals: {poisson: 1000 /s}",
        &format!("run: {{time: 3 s, warm_up: none}}\n{away}"),
    );
    let ends = found.phases.iter().find(|phase| phase.after == ["volume ends its copy"]).unwrap();
    assert!((2.0..2.1).contains(&ends.from_s), "{}", ends.from_s);
    assert!(found.streams[0].failed > 500 && found.streams[0].failed < 1600, "{}", found.streams[0].failed);
    is_near(meter(&found, "copied_bytes"), f64::from(16 << 20));
}

/// A chunk that is refused is tried again; a copy whose source is gone for good asks for each chunk twice at most.
#[test]
fn what_fails_is_tried_again() {
    let few =
        "system:\n  few: {type: limiter, to: old, operations: {rate: 100 /s, burst: 1}, excess: refuse}";
    let refusing = document("in_flight: 4", "size: 4 KiB, arrivals: {poisson: 10 /s}", "run: {time: 1 min}")
        .replace("system:", few)
        .replace("{type: copy, from: old", "{type: copy, from: few");
    is_near(meter(&results(&refusing.replace("to: volume", "to: new")), "copy_progress"), 1.0);
    let gone = "run: {time: 1 h}\nfaults: [{component: old, fails: 40 ms}]\n";
    let found = run("", "size: 4 KiB, arrivals: {poisson: 1 /s}", gone);
    assert!(meter(&found, "copy_progress") < 1.0);
    assert!(meter(&found, "copy_s") < 60.0, "{}", meter(&found, "copy_s"));
}

#[test]
fn mistakes_are_told() {
    let refusal = |copy: &str| {
        let text = document(copy, "size: 4 KiB, arrivals: {poisson: 10 /s}", "run: {requests: 10}");
        let found = simulate(&text, "copy.yaml", &[], &Options::default(), &Progress::default());
        found.err().map(|problems| problems.rendered()).unwrap_or_default()
    };
    for (wrong, says) in [
        ("bytes: 17 MiB", "are to be copied, and `old` holds"),
        ("chunk: 0 B", "there is nothing to copy"),
        ("rate: 0 B/s", "data rate must be more than zero"),
        ("in_flight: 0", "it must be at least 1"),
    ] {
        let message = refusal(wrong);
        assert!(message.contains(says), "{wrong}: {message}");
    }
    let itself = document("bytes: 1 MiB", "size: 4 KiB, arrivals: {poisson: 10 /s}", "")
        .replace("to: new, bytes", "to: old, bytes");
    let found = simulate(&itself, "copy.yaml", &[], &Options::default(), &Progress::default());
    assert!(found.is_err_and(|problems| problems.rendered().contains("cannot be copied to itself")));
}

/// A write that waits for the copy of its chunk waits at the copy, whatever its destination does then: here a cache, which divides writes.
#[test]
fn the_wait_for_a_chunk_is_charged() {
    let text = "
system:
  old: {type: station, servers: 100, service: 10 ms, capacity: 16 MiB}
  disk: {type: station, servers: 100, service: 1 ms, capacity: 16 MiB}
  flash: {type: station, servers: 100, service: 1 ms, capacity: 16 MiB}
  new: {type: device_cache, to: disk, on: flash, writes: through, begins: {hits: 100 %}}
  volume: {type: copy, from: old, to: new, bytes: 1 MiB, chunk: 1 MiB, in_flight: 1}
workload:
  users: {to: volume, arrivals: {closed: {depth: 2}}, op: write, size: 4 KiB, footprint: 1 MiB}
run: {requests: 4, warm_up: none}
";
    let found = results(text);
    // The chunk is read in 10 ms and written in 1 before both writes, one after the other.
    let waited = found.streams[0].path.iter().find(|leg| leg.component == "volume").map(|leg| leg.waiting_ms);
    assert!(waited.is_some_and(|ms| ms > 2.0), "{waited:?}");
}
