//! Data acquisition against exact results: loss of a finite buffer, head-of-line blocking, waits at builders; and any against the laws.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;
use proptest::prelude::*;

use crate::near::near;

pub fn try_run(text: &str) -> Result<Results, String> {
    let found = simulate(text, "daq.yaml", &[], &Options::default(), &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

pub fn run(text: &str) -> Results {
    try_run(text).unwrap_or_else(|problems| panic!("{problems}"))
}

pub fn meter(results: &Results, path: &str, name: &str) -> f64 {
    let component = results.components.iter().find(|component| component.path == path).unwrap();
    component.meters[name].unwrap_or_else(|| panic!("{path} has no {name}"))
}

fn utilisation(results: &Results, path: &str) -> f64 {
    results.components.iter().find(|component| component.path == path).unwrap().utilisation.unwrap()
}

/// Triggers at ρ = 0.9 that are lost where a concentrator's buffer of `places` sub-events has no room.
fn loss(time: &str, places: u32) -> f64 {
    // Few are lost where there are many places, and several at once: that takes longer to see.
    let requests = if places > 8 { 3_000_000 } else { 400_000 };
    let results = run(&format!(
        "
system:
  ldc: {{type: readout, concentrators: 1, sub_event: 1 kB, time: {time}, buffer: {places} kB, when_full: drop, builder: gdc}}
  gdc: {{type: event_builder, builders: 1, rate: 1000 TB/s}}
workload: {{trigger: {{to: ldc, arrivals: {{poisson: 900 /s}}}}}}
run: {{requests: {requests}, warm_up: none}}
"
    ));
    meter(&results, "ldc", "lost_share")
}

/// M/D/1/K and M/M/1/K: the stationary distributions of textbooks.
#[test]
fn a_finite_buffer_loses_what_theory_says() {
    for (places, constant, exponential) in
        [(1, 0.4737, 0.4737), (4, 0.0914, 0.1602), (8, 0.0273, 0.0703), (16, 0.0043, 0.0222)]
    {
        near(loss("1 ms", places), constant, 0.03 * constant + 0.0003);
        near(loss("{exponential: 1 ms}", places), exponential, 0.03 * exponential + 0.0003);
    }
}

/// The share of the time for which builders' ports are held where triggers never end.
fn saturated(concentrators: u32, builders: u32, assign: &str, overhead: &str) -> f64 {
    let results = run(&format!(
        "
system:
  ldc: {{type: readout, concentrators: {concentrators}, sub_event: 1 kB, builder: gdc}}
  gdc: {{type: event_builder, builders: {builders}, assign: {assign}, rate: 1000 TB/s, overhead: {overhead}}}
workload: {{trigger: {{to: ldc, arrivals: {{closed: {{depth: {}}}}}}}}}
run: {{requests: {}}}
",
        4 * builders,
        3_000_000 / concentrators
    ));
    utilisation(&results, "gdc")
}

/// Concentrators go round the builders as the customers of a closed network of N + M − 1: Gordon and Newell.
#[test]
fn exponential_transfers_in_turn_are_a_closed_network() {
    near(saturated(4, 4, "round_robin", "{exponential: 1 ms}"), 4.0 / 7.0, 0.004);
    near(saturated(100, 60, "round_robin", "{exponential: 1 ms}"), 100.0 / 159.0, 0.006);
}

/// Transfers of one length take turns without a clock: the barrel shifter.
#[test]
fn constant_transfers_in_turn_lose_nothing() {
    near(saturated(4, 4, "round_robin", "1 ms"), 1.0, 0.002);
    near(saturated(60, 60, "round_robin", "1 ms"), 1.0, 0.01);
}

/// Inputs that always have a sub-event for an output of its own draw (Karol, Hluchyj and Morgan 1987): N readouts of one concentrator.
fn independent(n: u32) -> f64 {
    let readouts: String = (0..n)
        .map(|i| format!("  ldc{i}: {{type: readout, concentrators: 1, sub_event: 1 kB, builder: gdc}}\n"))
        .collect();
    let streams: String =
        (0..n).map(|i| format!("  t{i}: {{to: ldc{i}, arrivals: {{closed: {{depth: 4}}}}}}\n")).collect();
    let results = run(&format!(
        "system:\n{readouts}  gdc: {{type: event_builder, builders: {n}, assign: random, rate: 1000 TB/s, overhead: 1 ms}}\nworkload:\n{streams}run: {{requests: 400000}}\n"
    ));
    utilisation(&results, "gdc")
}

#[test]
fn the_first_in_line_blocks_those_behind() {
    for (n, share) in [(2, 0.75), (3, 0.683), (4, 0.655), (8, 0.618)] {
        near(independent(n), share, 0.004);
    }
}

/// The mean wait at builders in service times, at ρ = 0.9.
fn wait(builders: u32, assign: &str) -> f64 {
    let results = run(&format!(
        "
system:
  ldc: {{type: readout, concentrators: 1, sub_event: 1 kB, builder: gdc}}
  gdc: {{type: event_builder, builders: {builders}, assign: {assign}, rate: 1000 TB/s, assemble: {{exponential: 1 s}}}}
workload: {{trigger: {{to: ldc, arrivals: {{poisson: {} /s}}}}}}
run: {{requests: 600000}}
",
        0.9 * f64::from(builders)
    ));
    results.streams[0].response.mean_ms / 1e3 - 1.0
}

/// Random: M/M/1. In turn: E_c/M/1. By credit: M/M/c.
#[test]
fn builders_are_queues() {
    near(wait(4, "random"), 9.0, 0.45);
    near(wait(4, "round_robin"), 5.383, 0.27);
    near(wait(60, "round_robin"), 4.259, 0.22);
    near(wait(4, "credit"), 1.969, 0.12);
    near(wait(60, "credit"), 0.054, 0.01);
    let least = wait(4, "least_load");
    assert!(least > 1.969 && least < 5.383, "{least}: between what is best and taking turns");
}

/// With one buffer a builder takes the next event only when it has assembled the last; with two it does both side by side.
#[test]
fn a_builder_with_one_buffer_does_one_thing_at_a_time() {
    for (buffers, used) in [(1, 0.4), (2, 0.2)] {
        let text = format!(
            "
system:
  ldc: {{type: readout, concentrators: 2, sub_event: 1 MB, rate: 10 GB/s, builder: gdc}}
  gdc: {{type: event_builder, builders: 1, buffers: {buffers}, rate: 200 MB/s, assemble: 10 ms}}
workload: {{trigger: {{to: ldc, arrivals: {{every: 50 ms}}}}}}
run: {{requests: 2000}}
"
        );
        let results = run(&text);
        near(utilisation(&results, "gdc"), used, 0.001);
        let limit = results.bottleneck.as_ref().unwrap().saturates_at.unwrap();
        near(limit, 1.0 / used, 0.01);
        let at = |load: f64| {
            let found = run(&text.replace("50 ms", &format!("{} ms", 50.0 / limit / load)));
            found.streams[0].in_flight as f64 / found.streams[0].issued as f64
        };
        assert!(at(0.95) < 0.01 && at(1.1) > 0.05, "{} {}", at(0.95), at(1.1));
    }
}

/// A builder that waits in vain for a sub-event holds a buffer meanwhile: 4 buffers for 20 ms each carry 200 events/s.
#[test]
fn buffers_that_wait_in_vain_limit_a_builder() {
    let text = "
system:
  ldc: {type: readout, concentrators: 2, sub_event: 10 kB, rate: 10 GB/s, builder: gdc, fails: {concentrator: 0, at: 0 s}}
  gdc: {type: event_builder, builders: 1, buffers: 4, rate: 1 GB/s, give_up: 20 ms}
workload: {trigger: {to: ldc, arrivals: {every: 10 ms}}}
run: {requests: 4000}
";
    let results = run(text);
    near(utilisation(&results, "gdc"), 0.5, 0.002);
    near(results.bottleneck.unwrap().saturates_at.unwrap(), 2.0, 0.01);
    let waits = |every: &str| run(&text.replace("every: 10 ms", every)).streams[0].in_flight;
    assert!(waits("every: 5.3 ms") < 10 && waits("every: 4.5 ms") > 200);
}

const BUFFERS: &str = "
system:
  ldc: {type: readout, concentrators: 4, sub_event: 1 MB, rate: 100 MB/s, buffer: 4 MB, when_full: WHEN, builder: gdc}
  gdc: {type: event_builder, builders: 2, buffers: 2, preset: ethernet_1g, recorder: {type: recorder, to: [disk], write: 16 MB}}
  disk: {type: disk, positioning: addressed, device: seagate-st3500630ns}
workload: {trigger: {to: ldc, arrivals: {every: 20 ms}}}
run: {time: 60 s, requests: 100000, warm_up: none}
";

/// 200 MB/s come and one disk takes less: the trigger is blocked, or events are lost, as the scenario says, and by whom is said.
#[test]
fn a_slow_volume_holds_back_the_trigger() {
    let wait = run(&BUFFERS.replace("WHEN", "wait"));
    let drop = run(&BUFFERS.replace("WHEN", "drop"));
    assert!(meter(&wait, "ldc", "blocked_share") > 0.5 && meter(&wait, "ldc", "lost_events") == 0.0);
    assert!(meter(&drop, "ldc", "blocked_share") == 0.0 && meter(&drop, "ldc", "lost_share") > 0.3);
    assert!(
        wait.notes.iter().any(|note| note.contains("full buffers blocked the trigger")),
        "{:?}",
        wait.notes
    );
    assert!(drop.notes.iter().any(|note| note.contains("events were lost of 3")), "{:?}", drop.notes);
    let written = |results: &Results| {
        ["gdc/recorder[0]", "gdc/recorder[1]"]
            .map(|path| meter(results, path, "written_bytes"))
            .iter()
            .sum::<f64>()
    };
    near(written(&wait) / written(&drop), 1.0, 0.03);
}

/// A concentrator that fails: the builder that waits for it is named, for ever or until it gives up.
#[test]
fn a_sub_event_that_never_comes_is_named() {
    let broken =
        BUFFERS.replace("when_full: WHEN", "fails: {concentrator: 2, at: 1 s}").replace("20 ms", "100 ms");
    let text = |results: &Results| results.notes.join(" ");
    let waits = run(&broken);
    assert!(text(&waits).contains("sub-events of concentrator 2 never come"), "{}", text(&waits));
    assert!(text(&waits).contains("4 events held for it at the end"), "{}", text(&waits));
    let gives_up = run(&broken.replace("buffers: 2", "buffers: 2, give_up: 50 ms"));
    assert_eq!(meter(&gives_up, "gdc", "built_events"), 9.0);
    assert!(meter(&gives_up, "gdc", "lost_events") > 500.0);
    assert!(text(&gives_up).contains("each after 50 ms"), "{}", text(&gives_up));
}

/// As many streams as cores use them all; more use what threads add, and no more.
#[test]
fn streams_share_cores() {
    let rate = |streams: u32| {
        let results = run(&format!(
            "
system:
  ldc: {{type: readout, concentrators: 10, sub_event: 1 kB, builder: gdc}}
  gdc:
    type: event_builder
    builders: 1
    preset: ethernet_100g
    recorder: {{type: recorder, streams: {streams}, cores: 4, smt: 1.25, format: {{per_sub_event: 100 us}}, to: [disk], write: 1 MB}}
  disk: {{type: station, service: 1 us, servers: 64}}
workload: {{trigger: {{to: ldc, arrivals: {{closed: {{depth: 64}}}}}}}}
run: {{requests: 40000}}
"
        ));
        results.streams[0].requests_per_s
    };
    for (streams, cores) in [(1, 1.0), (2, 2.0), (4, 4.0), (5, 5.0), (8, 5.0), (16, 5.0)] {
        near(rate(streams), 1000.0 * cores, 5.0 * cores);
    }
}

/// Four builders that assemble for 20 ms each: at most 200 events/s, so 180/s leave a headroom of 1.11.
#[test]
fn builders_that_assemble_are_busy() {
    let results = run("
system:
  b: {type: event_builder, builders: 4, buffers: 4, rate: 100 MB/s, assemble: 20 ms}
  r: {type: readout, concentrators: 4, sub_event: 250 kB, rate: 100 MB/s, builder: b}
workload: {t: {to: r, arrivals: {poisson: 180 /s}}}
run: {requests: 20000}
");
    let bottleneck = results.bottleneck.unwrap();
    assert_eq!(bottleneck.component, "b");
    near(bottleneck.saturates_at.unwrap(), 200.0 / 180.0, 0.03);
}

/// Each error names the field, what is wrong with it, and a fix.
#[test]
fn mistakes_are_named() {
    let refused =
        |from: &str, to: &str| try_run(&BUFFERS.replace("WHEN", "wait").replace(from, to)).unwrap_err();
    assert!(
        refused("buffer: 4 MB", "buffer: 10 kB")
            .contains("a sub-event of 1 MB never fits into a buffer of 10 kB")
    );
    assert!(
        refused("builder: gdc", "builder: disk")
            .contains("`disk` is a `disk`; a `event_builder` belongs here")
    );
    assert!(refused("to: [disk]", "to: [gdc]").contains("circular reference"));
    assert!(refused("to: ldc", "to: gdc").contains("holds no data"));
    assert!(
        refused("to: ldc", "to: ldc, size: 1 MB")
            .contains("a trigger has no size, operation or address of its own")
    );
    assert!(refused("to: ldc", "to: ldc, timeout: 1 s").contains("a stream of triggers has no `timeout`"));
    assert!(refused("write: 16 MB", "write: 16 MB, buffer: 1 MB").contains("never holds a write of"));
    assert!(
        refused("concentrators: 4", "concentrators: 4, fails: {concentrator: 4, at: 1 s}")
            .contains("no concentrator 4 of 4")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is built of these components, every run keeps the laws: events are built, lost or in flight, and no byte vanishes.
    #[test]
    fn any_acquisition_keeps_the_laws(
        concentrators in 1u32..12,
        builders in 1u32..6,
        assign in prop::sample::select(vec!["round_robin", "random", "credit", "least_load"]),
        buffers in 1u32..4,
        places in 1u32..6,
        when in prop::sample::select(vec!["wait", "drop"]),
        arrivals in prop::sample::select(vec!["{poisson: 300 /s}", "{every: 2 ms}", "{closed: {depth: 7}}"]),
        streams in 1u32..4,
        affinity in prop::sample::select(vec!["stream", "none"]),
        fails in prop::sample::select(vec!["", ", fails: {concentrator: 0, at: 1 s}"]),
        seed in 0u64..1000,
    ) {
        let results = run(&format!(
            "
system:
  ldc:
    {{type: readout, concentrators: {concentrators}, sub_event: {{uniform: {{from: 10 kB, to: 200 kB, step: 1 kB}}}}, time: {{exponential: 1 ms}},
     buffer: {} kB, when_full: {when}, builder: gdc{fails}}}
  gdc:
    type: event_builder
    builders: {builders}
    assign: {assign}
    buffers: {buffers}
    preset: ethernet_1g
    overhead: {{exponential: 100 us}}
    assemble: {{exponential: 1 ms}}
    give_up: 20 ms
    recorder:
      {{type: recorder, streams: {streams}, cores: 2, smt: 1.2, format: {{per_event: 1 ms}}, compress: {{ratio: 1.7, rate: 80 MB/s}},
       to: [a, b], affinity: {affinity}, write: 1 MB}}
  a: {{type: disk, positioning: addressed, device: seagate-st3500630ns}}
  b: {{type: disk, positioning: addressed, device: seagate-st3500630ns}}
workload: {{trigger: {{to: ldc, arrivals: {arrivals}, outstanding: 500}}}}
run: {{seed: {seed}, requests: 2000, time: 30 s}}
",
            200 * places
        ).replace("closed: {depth: 7}}, outstanding: 500", "closed: {depth: 7}}"));
        // A broken law would have been an error.
        let stream = &results.streams[0];
        prop_assert_eq!(stream.issued, stream.completed + stream.failed + stream.in_flight + stream.dropped);
    }
}

/// A builder whose port is always busy, in a run that is cut while it receives and assembles: the port counts for what it received in the
/// time that is kept, which is all of it and no more.
#[test]
fn a_builder_is_never_busier_than_all_the_time() {
    let results = run("
system:
  ro: {type: readout, concentrators: 5, sub_event: 20 kB, buffer: 8 MB, when_full: drop, builder: eb}
  eb:
    type: event_builder
    builders: 1
    rate: 50 MB/s
    overhead: {exponential: 17 us}
    assemble: {erlang: {stages: 3, mean: 127 us}}
workload: {trigger: {to: ro, arrivals: {closed: {depth: 8}}}}
run: {seed: 756652, requests: 2000}
");
    near(utilisation(&results, "eb"), 1.0, 1e-9);
    assert!(utilisation(&results, "eb") <= 1.0);
}
