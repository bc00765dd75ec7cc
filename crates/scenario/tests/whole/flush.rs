//! Flushes, durable writes and write-ahead logs, against what a hand can compute.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::{Results, StreamResults};
use headrace_scenario::run::Options;
use headrace_scenario::{simulate, solve};

fn run(text: &str) -> Results {
    simulate(text, "flush.yaml", &[], &Options::default(), &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

fn stream(system: &str, stream: &str, requests: u64) -> StreamResults {
    let text = format!(
        "system:\n{system}\nworkload: {{w: {{{stream}}}}}\nrun: {{requests: {requests}, warm_up: none}}\n"
    );
    run(&text).streams.remove(0)
}

#[track_caller]
fn near(found: f64, by_hand: f64, tolerance: f64) {
    assert!((found / by_hand - 1.0).abs() <= tolerance, "{found}, by hand {by_hand}");
}

/// A drive of one die whose write takes 10 µs and whose page takes 500 µs to flash.
fn ssd(protected: bool) -> String {
    format!(
        "  d:
    type: ssd
    overwritten: 0
    device:
      capacity: 64 MiB
      interface: nvme_gen4_x4
      read_latency: 20 us
      write_latency: 10 us
      flash: {{over_provisioning: 28 %, channels: 1, dies: 1, page: 16 KiB, planes: 2, block_pages: 16, read: 50 us, program: 500 us, erase: 2 ms, channel_rate: 100 GB/s}}
      buffer: {{size: 1 MiB, power_loss_protection: {protected}}}"
    )
}

const CLIENT: &str = "op: write, size: 4 KiB, pattern: sequential, region: {from: 0 B, size: 8 MiB}, arrivals: {closed: {depth: 1}}";

/// Each third request is a flush, whoever asks.
#[test]
fn a_flush_follows_so_many_writes() {
    let text = format!(
        "system:\n{}\nworkload: {{w: {{to: d, {CLIENT}, flush_every: 2}}}}\nrun: {{requests: 300, warm_up: none}}\n",
        ssd(true)
    );
    let found = run(&text);
    let stream = &found.streams[0];
    let count = |name: &str| stream.operations[name].count;
    assert_eq!((stream.writes.as_ref().unwrap().count, count("flush")), (200, 100));
    near(stream.bytes_per_s / stream.requests_per_s, 4096.0 * 2.0 / 3.0, 1e-9);
}

/// Behind capacitors a flush takes its command of 10 µs; without, the program of the half-filled unit as well. Ports and channels take
/// less than 5 µs.
#[test]
fn a_flush_of_a_volatile_buffer_waits_for_flash() {
    let flush = |protected| {
        stream(&ssd(protected), &format!("to: d, {CLIENT}, flush_every: 1"), 400).operations["flush"].mean_ms
    };
    let (protected, volatile) = (flush(true), flush(false));
    assert!((0.010..0.015).contains(&protected), "{protected} ms");
    assert!((0.510..0.515).contains(&volatile), "{volatile} ms");
    let durable =
        |protected| stream(&ssd(protected), &format!("to: d, {CLIENT}, durable: true"), 200).response.mean_ms;
    let (protected, volatile) = (durable(true), durable(false));
    assert!((0.010..0.015).contains(&protected), "{protected} ms");
    assert!((0.510..0.515).contains(&volatile), "{volatile} ms");
}

/// A mechanical drive with a write cache takes a write in at once, and as long as the platter when it is flushed; one that writes through
/// flushes at once.
#[test]
fn a_flush_of_a_drive_waits_for_the_platter() {
    let of = |writes: &str| {
        let system = format!(
            "  d: {{type: disk, device: {{like: maxtor-7y250p0, cache: {{writes: {writes}}}}}, positioning: mechanical}}"
        );
        let client = CLIENT.replace("sequential", "uniform");
        let found = stream(&system, &format!("to: d, {client}, flush_every: 1"), 400);
        (found.writes.as_ref().unwrap().mean_ms, found.operations["flush"].mean_ms)
    };
    let (write, flush) = of("back");
    assert!(write < 1.0 && flush > 3.0, "{write} ms, {flush} ms");
    let (write, flush) = of("through");
    assert!(write > 3.0 && flush < 1.0, "{write} ms, {flush} ms");
}

/// An array asks all its disks at once; a cache that batteries keep answers for them, and a volatile one destages first.
#[test]
fn an_array_flushes_its_disks() {
    let of = |cache: &str| {
        let system = format!(
            "  a: {{type: station, service: 1 ms}}\n  b: {{type: station, service: 3 ms}}\n  c: {{type: station, service: 2 ms}}\n  v: {{type: \
             array, level: raid5, of: [a, b, c], stripe_unit: 64 KiB{cache}}}"
        );
        stream(&system, &format!("to: v, {CLIENT}, flush_every: 1"), 100).operations["flush"].mean_ms
    };
    near(of(""), 3.0, 1e-9);
    let cache = |more: &str| of(&format!(", cache: {{size: 64 MiB, writes: back{more}}}"));
    assert_eq!(cache(""), 0.0);
    let volatile = cache(", volatile: true");
    assert!(volatile >= 6.0, "a destage and a flush of each disk: {volatile} ms");
    near(of(", cache: {size: 64 MiB, writes: through}"), 3.0, 1e-9);
}

/// What a file system holds goes to the volume first: 2 ms for a page, and 2 ms for the volume's flush.
#[test]
fn a_file_system_writes_back_and_flushes_its_volume() {
    let system =
        "  d: {type: station, service: 2 ms}\n  f: {type: file_system, of: d, memory: 1 GiB, call: 1 us}";
    let found = stream(system, &format!("to: f, {CLIENT}, flush_every: 1"), 100);
    near(found.writes.as_ref().unwrap().mean_ms, 0.001, 1e-6);
    near(found.operations["flush"].mean_ms, 4.001, 1e-6);
    let durable = stream(system, &format!("to: f, {CLIENT}, durable: true"), 100);
    near(durable.response.mean_ms, 4.001, 1e-6);
}

/// A flush waits for what others wrote before, ten seconds of it and more, and ends although they never stop to write.
#[test]
fn a_flush_ends_beside_others_that_write() {
    let system =
        "  d: {type: station, service: 1 ms}\n  f: {type: file_system, of: d, memory: 1 GiB, call: 100 us}";
    let text = format!(
        "system:\n{system}\nworkload:\n  others: {{to: f, op: write, pattern: uniform, size: 4 KiB, arrivals: {{closed: {{depth: 1}}}}}}\n  \
         w: {{to: f, {CLIENT}, flush_every: 1}}\nrun: {{time: 30 s, requests: 10000000, warm_up: none}}\n"
    );
    let found = run(&text);
    assert!(
        found.streams[1].operations["flush"].count > 2,
        "{:?}",
        found.streams[1].operations["flush"].count
    );
}

/// A log on a station of 1 ms: an append and a flush are 2 ms.
fn log(fields: &str, depth: u32, think: &str, requests: u64) -> Results {
    run(&format!(
        "system:\n  d: {{type: station, service: 1 ms}}\n  wal: {{type: write_ahead_log, to: d, size: 1 MiB{fields}}}\nworkload: {{w: {{to: wal, \
         op: write, size: 500 B, arrivals: {{closed: {{depth: {depth}, think: {think}}}}}}}}}\nrun: {{requests: {requests}, warm_up: none}}\n"
    ))
}

#[test]
fn one_committer_takes_an_append_and_a_flush() {
    near(log("", 1, "0 s", 500).streams[0].requests_per_s, 1.0 / 2e-3, 1e-3);
}

/// Of n committers that are always there, all are in each group if they come back at once. If each takes a moment of its own, the first of
/// them is a group alone and all others are the next: half of them on average.
#[test]
fn committers_share_a_flush() {
    for n in [2, 8, 50] {
        let at_once = log("", n, "0 s", 10_000);
        near(at_once.streams[0].requests_per_s, f64::from(n) / 2e-3, 0.01);
        let in_turn = log("", n, "{exponential: 1 us}", 10_000);
        near(in_turn.streams[0].requests_per_s, f64::from(n) / 4e-3, 0.01);
        near(in_turn.components[1].meters["commits_per_flush"].unwrap(), f64::from(n) / 2.0, 0.01);
        let waits = log(", window: 1 ms", n, "{exponential: 1 us}", 10_000);
        near(waits.streams[0].requests_per_s, f64::from(n) / 3e-3, 0.01);
        let full = log(&format!(", window: 1 s, most: {n}"), n, "{exponential: 1 us}", 10_000);
        near(full.streams[0].requests_per_s, f64::from(n) / 2e-3, 0.01);
        near(log(", most: 1", n, "0 s", 2000).streams[0].requests_per_s, 1.0 / 2e-3, 0.02);
    }
}

/// Each of eight commits of a group waits for its write and its flush of 1 ms, and so each spends its time on the device. More clients share the
/// same flushes, so that nothing is said of what they could bring.
#[test]
fn a_commit_spends_its_time_where_its_group_does() {
    let found = log("", 8, "0 s", 10_000);
    let legs: Vec<_> = found.streams[0].path.iter().map(|leg| (&*leg.component, leg.service_ms)).collect();
    let device = legs.iter().find(|(path, _)| *path == "d").unwrap().1;
    near(device, 2.0, 1e-3);
    assert!(
        !found.answer.contains("deeper queue") && found.answer.contains("with 8 clients."),
        "{}",
        found.answer
    );
}

/// Groups of a limited size hold commits back long before the device is busy: a log of single commits, each of 2 ms, sustains 500/s.
#[test]
fn a_log_of_limited_groups_is_the_bottleneck() {
    let found = run(
        "system:\n  d: {type: station, servers: 4, service: 1 ms}\n  wal: {type: write_ahead_log, to: d, most: 1}\nworkload: {w: {to: wal, op: write, \
         size: 500 B, arrivals: {poisson: 250 /s}}}\nrun: {requests: 20000}\n",
    );
    let bottleneck = found.bottleneck.unwrap();
    assert_eq!(bottleneck.component, "wal");
    near(bottleneck.saturates_at.unwrap(), 2.0, 0.03);
    assert!(bottleneck.estimate);
}

/// A record of 500 B rewrites the block that it goes on in: 4 KiB for 500 B alone, and less for a group.
#[test]
fn records_are_appended_in_blocks() {
    let written = |n| log("", n, "0 s", 10_000).components[1].meters["write_amplification"].unwrap();
    let alone = written(1);
    assert!((4096.0 / 500.0..2.2 * 4096.0 / 500.0).contains(&alone), "{alone}");
    near(written(100), 1.0, 0.1);
}

/// A log whose device fails fails what waits for it, and goes on when the device is back.
#[test]
fn commits_fail_with_their_device() {
    let found = run(
        "system:\n  d: {type: station, service: 1 ms}\n  wal: {type: write_ahead_log, to: d}\nworkload: {w: {to: wal, op: write, size: 4 KiB, \
         arrivals: {every: 400 us}}}\nfaults: [{component: d, fails: 100 ms, returns: 200 ms}]\nrun: {time: 400 ms, requests: 1000000}\n",
    );
    let stream = &found.streams[0];
    // Those of 100 ms, and of the group that was on its way and the one that waited.
    assert!((250..=260).contains(&stream.failed), "{}", stream.failed);
    assert_eq!(stream.issued, stream.completed + stream.failed + stream.in_flight);
}

/// Where a flush is a command like any other, formulas hold; where it waits for earlier writes, none does, and it is said.
#[test]
fn formulas_know_which_flushes_wait() {
    let solved = |system: &str, to: &str, more: &str| {
        let text = format!(
            "system:\n{system}\nworkload: {{w: {{to: {to}, op: write, arrivals: {{poisson: 300 /s}}{more}}}}}\n"
        );
        solve(&text, "flush.yaml", &[], None, &Progress::default()).map_err(|problems| problems.rendered())
    };
    let station = "  d: {type: station, service: 1 ms}\n  l: {type: write_ahead_log, to: d}";
    for (system, to, more) in [
        (station, "d", ", flush_every: 3"),
        (station, "d", ", durable: true"),
        (&*ssd(true), "d", ", flush_every: 3"),
    ] {
        assert!(solved(system, to, more).is_ok(), "{to}{more}");
    }
    let volatile = ssd(false);
    assert!(solved(&volatile, "d", "").is_ok());
    for (system, to, more) in
        [(&*volatile, "d", ", flush_every: 3"), (&*volatile, "d", ", durable: true"), (station, "l", "")]
    {
        let said = solved(system, to, more).unwrap_err();
        assert!(said.contains("no formula for this scenario"), "{said}");
    }
}

#[test]
fn mistakes_are_told() {
    let says = |system: &str, stream: &str| {
        let text = format!("system:\n{system}\nworkload: {{w: {{{stream}, arrivals: {{poisson: 1 /s}}}}}}\n");
        let found = simulate(&text, "flush.yaml", &[], &Options::default(), &Progress::default());
        found.unwrap_err().rendered()
    };
    let disk = "  d: {type: station, service: 1 ms, capacity: 1 MiB}\n";
    for (system, stream, expected) in [
        ("", "to: d, op: read, flush_every: 1", "`flush_every` is about writes"),
        ("", "to: d, durable: true", "`durable` is about writes"),
        ("", "to: d, op: write, flush_every: 0", "flush_every"),
        (
            "  l: {type: write_ahead_log, to: d, size: 2 MiB}\n",
            "to: l, op: write",
            "a log of 2 MiB does not fit",
        ),
        ("  l: {type: write_ahead_log, to: d, at: 2 MiB}\n", "to: l, op: write", "does not fit"),
        ("  l: {type: write_ahead_log, to: d, block: 0 B}\n", "to: l, op: write", "must be at least 1 B"),
        ("  l: {type: write_ahead_log, to: d, most: 0}\n", "to: l, op: write", "most"),
    ] {
        let message = says(&format!("{disk}{system}"), stream);
        assert!(message.contains(expected), "{message}");
    }
}

/// A change wakes those whose turn has come, however many wait: an overloaded log or file system costs as much a request in a longer run.
#[test]
fn writes_that_wait_cost_nothing_until_their_turn() {
    let events = |component: &str, requests: u32| {
        let text = format!(
            "
system:
  d: {{type: station, service: 200 us, capacity: 1 GB}}
  l: {{{component}}}
workload: {{u: {{to: l, op: write, size: 4 KiB, arrivals: {{poisson: 20000 /s}}}}}}
run: {{requests: {requests}, warm_up: none}}
"
        );
        let options = Options { headroom: false, ..Options::default() };
        let found = simulate(&text, "test.yaml", &[], &options, &Progress::default()).unwrap();
        found.results.events as f64 / f64::from(requests)
    };
    for component in [
        "type: write_ahead_log, to: d, most: 1",
        "type: file_system, of: d, memory: 4 MB, max_request: 4 KiB",
    ] {
        let (short, long) = (events(component, 2000), events(component, 16_000));
        assert!(
            (long / short - 1.0).abs() < 0.2,
            "{component}: {short} events a request, {long} of a longer run"
        );
    }
}
