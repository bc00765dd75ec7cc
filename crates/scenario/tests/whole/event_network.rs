//! Data acquisition over a fabric: sub-events that cross switches, and recorders whose writes do.

use proptest::prelude::*;

use crate::acquisition::{meter, run, try_run};
use crate::near::near;

/// 16 concentrators on a leaf, 4 builders on a spine, `uplinks` wires between: all wires carry 100 MB/s.
fn leaf_and_spine(uplinks: u32, sub_event: &str, closed: u32) -> String {
    format!(
        "
system:
  leaf: {{type: switch, rate: 100 MB/s, latency: 1 us, connects: [{{to: ldc, links: 16}}, {{to: spine, links: {uplinks}}}]}}
  spine: {{type: switch, rate: 100 MB/s, latency: 1 us, connects: [{{to: gdc, links: 4}}]}}
  gdc: {{type: event_builder, builders: 4, buffers: 4}}
  ldc: {{type: readout, concentrators: 16, sub_event: {sub_event}, builder: gdc}}
workload: {{trigger: {{to: ldc, arrivals: {{closed: {{depth: {closed}}}}}}}}}
run: {{requests: 6000}}
"
    )
}

/// The wires between the switches limit where they are fewer than the builders, else the wires of the builders. Tolerance, written
/// before the model was run: 1 %.
#[test]
fn uplinks_limit_event_building() {
    for (uplinks, expected) in [(1, 100e6), (2, 200e6), (4, 400e6), (8, 400e6)] {
        let stream = &run(&leaf_and_spine(uplinks, "100 kB", 64)).streams[0];
        near(stream.requests_per_s * 1.6e6 / expected, 1.0, 0.01);
    }
}

/// One event at a time: 16 sub-events of 1 ms leave together and meet at one wire, after 2 µs in switches that cut through. By hand:
/// 2 µs and 16 ms over one uplink; as long over four, since all of them come to the same builder.
#[test]
fn an_event_alone_takes_as_long_as_by_hand() {
    for uplinks in [1, 4] {
        let stream = &run(&leaf_and_spine(uplinks, "100 kB", 1)).streams[0];
        near(1.0 / stream.requests_per_s / (16e-3 + 2e-6), 1.0, 1e-3);
    }
}

/// Concentrators that send over ports of their own wait for each other where sizes vary, for a transfer holds both ports; a switch has a
/// queue in between. Expected, before the model was run: less than .85 of the wires' rate without a switch, more than .95 with one.
#[test]
fn queues_in_the_switch_end_head_of_line_blocking() {
    let system = |ports: &str, net: &str| {
        format!(
            "
system:
  gdc: {{type: event_builder, builders: 4{ports}}}
  ldc: {{type: readout, concentrators: 4, sub_event: {{uniform: {{from: 1 kB, to: 199 kB, step: 1 kB}}}}, builder: gdc}}
{net}
workload: {{trigger: {{to: ldc, arrivals: {{closed: {{depth: 256}}}}}}}}
run: {{requests: 60000}}
"
        )
    };
    let net = "  net: {type: switch, rate: 100 MB/s, connects: [{to: ldc, links: 4}, {to: gdc, links: 4}]}";
    let share = |text: String| run(&text).streams[0].requests_per_s * 400e3 / 400e6;
    let (without, with) = (share(system(", rate: 100 MB/s", "")), share(system("", net)));
    assert!(without < 0.85 && with > 0.95, "{without} without a switch, {with} with one");
}

/// A wire of one builder fails: its events miss sub-events and are given up; those of the other builders are built.
#[test]
fn a_failed_port_loses_the_events_of_its_builder() {
    let text = leaf_and_spine(4, "100 kB", 8).replace("buffers: 4", "buffers: 4, give_up: 10 ms")
        + "faults: [{component: 'spine/gdc[2] out', fails: 1 s}]\n";
    let results = run(&text);
    assert!(
        results.notes.iter().any(|note| note.contains("builder 2 was the first to wait")),
        "{:?}",
        results.notes
    );
    let (built, lost) = (meter(&results, "gdc", "built_events"), meter(&results, "gdc", "lost_events"));
    near(lost / (built + lost) / 0.25, 1.0, 0.15);
}

/// What a recorder writes goes over the adapter of its server and the switches: one wire of 50 MB/s limits four recorders.
#[test]
fn recorders_write_over_the_fabric() {
    let text = "
parts:
  recorder: {type: recorder, to: [disk], from: host, write: 1 MB}
system:
  host: {type: server}
  net: {type: switch, rate: 50 MB/s, latency: 1 us, connects: [host, disk]}
  disk: {type: station, service: 1 us, servers: 64}
  gdc: {type: event_builder, builders: 4, preset: ethernet_10g, recorder: recorder}
  ldc: {type: readout, concentrators: 4, sub_event: 100 kB, builder: gdc}
workload: {trigger: {to: ldc, arrivals: {closed: {depth: 32}}}}
run: {requests: 20000}
";
    let results = run(text);
    near(results.streams[0].requests_per_s * 400e3 / 50e6, 1.0, 0.01);
    assert!(
        results.answer.contains("net/host in") || results.answer.contains("net/disk out"),
        "{}",
        results.answer
    );
}

/// Each error names the field, what is wrong with it, and a fix.
#[test]
fn mistakes_are_named() {
    let refused =
        |from: &str, to: &str| try_run(&leaf_and_spine(2, "100 kB", 1).replace(from, to)).unwrap_err();
    let none = refused("{to: ldc, links: 16}", "gdc");
    assert!(none.contains("a switch connects `gdc`, none connects `ldc`"), "{none}");
    let both = refused("buffers: 4}", "buffers: 4, preset: ethernet_1g}");
    assert!(both.contains("a switch connects these builders") && both.contains("preset"), "{both}");
    let many = refused("{to: ldc, links: 16}", "{to: ldc, links: 17}");
    assert!(many.contains("17 wires lead to `ldc`, which needs at most 16"), "{many}");
    let apart = refused(", {to: spine, links: 2}", "");
    assert!(apart.contains("`ldc` cannot reach `gdc`"), "{apart}");
    let rate = refused("connects: [{to: gdc, links: 4}]", "connects: [leaf]").replace("\n", " ");
    assert!(rate.contains("gdc"), "{rate}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever fabric is between concentrators and builders, every run keeps the laws, also while a port is down.
    #[test]
    fn any_fabric_keeps_the_laws(
        concentrators in 1u32..12,
        builders in 1u32..6,
        shared in 1u32..4,
        uplinks in 1u32..3,
        form in prop::sample::select(vec!["queued", "direct"]),
        when in prop::sample::select(vec!["wait", "drop"]),
        overhead in prop::sample::select(vec!["0 us", "{exponential: 100 us}"]),
        fails in prop::sample::select(vec![
            "", "faults: [{component: spine, fails: 1 s, returns: 2 s}]", "faults: [{component: leaf, fails: 1 s}]",
        ]),
        seed in 0u64..1000,
    ) {
        let (from, to) = (concentrators.div_ceil(shared), builders.div_ceil(shared));
        let results = run(&format!(
            "
system:
  leaf: {{type: switch, preset: ethernet_1g, form: {form}, connects: [{{to: ldc, links: {from}}}, {{to: spine, links: {uplinks}}}]}}
  spine: {{type: switch, preset: ethernet_1g, latency: 3 us, connects: [{{to: gdc, links: {to}}}, host, disk]}}
  host: {{type: server, cores: 1}}
  ldc:
    {{type: readout, concentrators: {concentrators}, sub_event: {{uniform: {{from: 1 kB, to: 200 kB, step: 1 kB}}}}, time: {{exponential: 1 ms}},
     buffer: 400 kB, when_full: {when}, builder: gdc}}
  gdc:
    type: event_builder
    builders: {builders}
    buffers: 2
    overhead: {overhead}
    give_up: 20 ms
    recorder: {{type: recorder, from: host, to: [disk], write: 1 MB}}
  disk: {{type: disk, positioning: addressed, device: seagate-st3500630ns}}
workload: {{trigger: {{to: ldc, arrivals: {{poisson: 300 /s}}, outstanding: 500}}}}
run: {{seed: {seed}, requests: 2000, time: 30 s}}
{fails}
"
        ));
        // A broken law would have been an error.
        let stream = &results.streams[0];
        prop_assert_eq!(stream.issued, stream.completed + stream.failed + stream.in_flight + stream.dropped);
    }
}
