//! Every kind of component, with times of zero, huge capacities, huge requests and failures: each run ends under its limits.

use std::collections::BTreeSet;

use headrace_scenario::document::schema_of;
use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::{End, Options};
use headrace_scenario::{devices::DeviceFile, scenario_schema, simulate};
use headrace_storage::ComponentSpec;

const PARTS: &str = "
parts:
  mechanical: {type: disk, device: {like: seagate-st18000nm000j, capacity: 900 TB}, positioning: mechanical}
  cached: {type: disk, device: maxtor-7y250p0, positioning: mechanical}
  sampled: {type: disk, device: seagate-st18000nm000j, positioning: independent}
  free: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}
";

/// Systems of block storage; streams are sent to `t`, from `s` where there is a server. What may fail stands behind each.
const BLOCKS: &[(&str, &str)] = &[
    (
        "t: {type: disk, device: {like: seagate-st18000nm000j, capacity: 900 TB}, positioning: mechanical}",
        "t",
    ),
    ("t: {type: disk, device: maxtor-7y250p0, positioning: mechanical}", "t"),
    ("t: {type: ssd, device: {like: micron-7450-pro-1920gb, capacity: 1 TB}}", "t"),
    ("t: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}", "t"),
    (
        "a: {type: disk, device: seagate-st18000nm000j, positioning: mechanical}\n  b: {type: ssd, device: {like: micron-7450-pro-1920gb, capacity: 1 TB}}\n  t: {type: array, level: raid0, of: [a, b], stripe_unit: 4 KiB}",
        "a",
    ),
    (
        "t: {type: array, level: raid6, of: mechanical, disks: 8, stripe_unit: 512 B, spares: 2, rebuild: {in_flight: 64}, scrub: {in_flight: 64, chunk: 1 B}}",
        "'t/mechanical[1]'",
    ),
    ("t: {type: array, level: raid10, of: free, disks: 8, stripe_unit: 512 B, spares: 1}", "'t/free[1]'"),
    (
        "t: {type: array, level: raid5, of: sampled, disks: 12, stripe_unit: 1 TB, declustered: {width: 5, spares: 1}}",
        "'t/sampled[1]'",
    ),
    (
        "c: {type: controller, cache: {size: 1 TB, writes: back}}\n  t: {type: array, level: raid5, of: cached, disks: 4, stripe_unit: 64 KiB, controllers: [c]}",
        "'t/cached[1]'",
    ),
    (
        "t: {type: pool, of: free, servers: 4, drives: 3, server: {type: server}, erasure: {data: 2, parity: 1}, groups: 64, size: 900 TB, recovery: {out_after: 0 s}}",
        "'t/free[1]'",
    ),
    (
        "t: {type: pool, of: free, servers: 4, drives: 3, replicas: 3, groups: 64, size: 900 TB, scrub: {read: 1 B}}",
        "'t/free[1]'",
    ),
    (
        "d: {type: station, servers: 1, service: 1 ns, capacity: 900 TB}\n  t: {type: file_system, of: d, memory: 1 TB}",
        "d",
    ),
    (
        "d: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}\n  c: {type: station, servers: 1000, service: 1 ns, capacity: 1 TB}\n  t: {type: device_cache, to: d, on: c, block: 4 KiB, writes: back, dirty: 0 %}",
        "c",
    ),
    (
        "d: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}\n  c: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}\n  t: {type: copy, from: d, to: c, chunk: 1 B, in_flight: 1024}",
        "c",
    ),
    (
        "d: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}\n  l: {type: limiter, to: d, bytes: {rate: 1 B/s, burst: 0 B}}\n  t: {type: limiter, to: l, device: aws-gp2-100gib, excess: refuse}",
        "l",
    ),
    (
        "d: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}\n  f: {type: shares, to: d, depth: 2}\n  t: {type: share, of: f, reservation: 1e9 /s, weight: 1000}",
        "f",
    ),
    (
        "d: {type: station, servers: 1000, service: 1 ns, rate: 1e15 B/s, capacity: 900 TB}\n  f: {type: shares, to: d, depth: 1, policy: round_robin, unit: 1 B}\n  t: {type: share, of: f, weight: 1e-6, read_cost: 9000 PB, write_cost: 1 PB}",
        "f",
    ),
    (
        "d: {type: ssd, device: {like: micron-7450-pro-1920gb, capacity: 1 TB, buffer: {power_loss_protection: false}}}\n  t: {type: write_ahead_log, to: d, window: 1 ns}",
        "d",
    ),
    (
        "d: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}\n  t: {type: lsm_tree, to: d, keys: 1 TB, memtable: 512 B}",
        "d",
    ),
    (
        "w: {type: link, rate: 1000 TB/s}\n  l: {type: fc_loop, rate: 1 Gb/s}\n  t: {type: array, level: raid1, of: cached, disks: 2, via: [w, l]}",
        "w",
    ),
    ("b: {type: scsi_bus, preset: fast}\n  t: {type: array, level: raid1, of: free, disks: 2, via: b}", "b"),
    (
        "b: {type: sas, preset: sas_6g, lanes: 4}\n  t: {type: array, level: raid1, of: free, disks: 2, via: b}",
        "b",
    ),
    (
        "s: {type: server, cores: 1, submit: 0 s, complete: 0 s}\n  f: {type: switch, preset: fc_2g, latency: 0 s, connects: [s, t]}\n  t: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}",
        "t",
    ),
];

/// Requests that are many, large or both; those of 1 TB cross most of a system.
const LOADS: [&str; 7] = [
    "arrivals: {closed: {depth: 1000}}, op: read, size: 512 B",
    "arrivals: {closed: {depth: 1}}, op: write, pattern: sequential, size: 4 KiB",
    "arrivals: {closed: {depth: 2}}, op: write, pattern: sequential, size: 200 GB",
    "arrivals: {closed: {depth: 2}}, op: read, size: 200 GB",
    "arrivals: {closed: {depth: 10000}}, op: {reads: 50 %}, size: 1 MiB",
    "arrivals: {closed: {depth: 1000}}, op: write, size: 4 KiB, flush_every: 1",
    "arrivals: {closed: {depth: 100}}, op: write, size: 512 B, durable: true",
];

const RUN: &str = "run: {requests: 1000000, limits: {events: 20000, wall_time: 100 ms, parts: 100000, in_flight: 100000}}\n";

const ARCHIVE: &str = "
system:
  front: {type: front, ports: [{number: 1000}]}
  network: {type: network, rate: 1000 TB/s}
  pool: {type: disk_pool, chains: 1, volumes: 1, volume: 900 TB, rate: 1000 TB/s}
  library:
    {type: tape_library, groups: [{drives: 1000, rate: 1000 TB/s, arms: 1000}], cartridge: 900 TB, cartridges: 1000000, drive_rate: 1000 TB/s, load: 0 s, locate: 0 s, rewind: 0 s, unload: 0 s, move: 0 s, hold: 0 s, recall: by_cartridge}
  t: {type: archive, front: front, network: network, pool: pool, library: library, migrate: {every: 1 s, min_age: 0 s}, purge: {weight: size_mb, high: 80 %, low: 70 %, min_age: 0 s}}
";

const ACQUISITION: &str = "
system:
  d: {type: station, servers: 1000, service: 1 ns, capacity: 900 TB}
  builders:
    {type: event_builder, builders: 10000, rate: 1000 TB/s, recorder: {type: recorder, streams: 1, cores: 1, format: {rate: 1000 TB/s}, to: [d], write: 8 MiB}}
  t: {type: readout, concentrators: 1000, sub_event: 1 GB, rate: 1000 TB/s, buffer: 1 TB, when_full: drop, builder: builders}
";

/// Runs a document that is valid, and asserts that it ends for a reason of its own.
#[track_caller]
fn ends(text: &str) -> Results {
    let found = simulate(text, "test.yaml", &[], &Options::default(), &Progress::default())
        .unwrap_or_else(|problems| panic!("{}\n{text}", problems.rendered()));
    assert_ne!(found.results.ended, End::Cancelled);
    found.results
}

fn faults(component: &str) -> String {
    format!(
        "faults:\n  - {{component: {component}, fails: 1 ms, returns: 2 ms}}\n  - {{component: {component}, fails: 3 ms}}\n"
    )
}

/// The kinds that a user may write, from the schema of scenarios.
fn kinds() -> BTreeSet<String> {
    let schema = schema_of::<ComponentSpec>();
    let of = |one: &serde_json::Value| one["properties"]["type"]["const"].as_str().map(str::to_owned);
    schema["oneOf"].as_array().unwrap().iter().filter_map(of).collect()
}

#[test]
fn every_kind_ends_under_its_limits() {
    let mut seen = BTreeSet::new();
    let mut see = |results: Results| seen.extend(results.components.iter().map(|one| one.kind.to_owned()));
    for (system, fails) in BLOCKS {
        let from = if system.starts_with("s:") { "from: s, " } else { "" };
        for load in LOADS {
            for faults in [String::new(), faults(fails)] {
                see(ends(&format!(
                    "{PARTS}system:\n  {system}\nworkload: {{w: {{{from}to: t, {load}}}}}\n{faults}{RUN}"
                )));
            }
        }
    }
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/archive.csv");
    see(ends(&format!("{ARCHIVE}workload: {{w: {{to: t, arrivals: {{log: {log:?}}}}}}}\n{RUN}")));
    let triggers = "workload: {w: {to: t, arrivals: {poisson: 1000000 /s}}}\n";
    see(ends(&format!("{ACQUISITION}{triggers}{RUN}")));
    let never: Vec<String> = kinds().into_iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(never.is_empty(), "a kind without a system here: {never:?}");
    assert!(!kinds().is_empty());
}

/// Puts what schemas call the quantities of fields into `found`.
fn quantities(schema: &serde_json::Value, found: &mut BTreeSet<String>) {
    found.extend(schema["x-unit"].as_str().map(str::to_owned));
    schema.as_object().into_iter().flatten().for_each(|(_, part)| quantities(part, found));
    schema.as_array().into_iter().flatten().for_each(|part| quantities(part, found));
}

#[test]
fn every_quantity_of_a_document_is_read_while_its_place_is_known() {
    let mut found = BTreeSet::new();
    quantities(&scenario_schema(), &mut found);
    quantities(schema_of::<DeviceFile>(), &mut found);
    assert!(found.contains("time") && found.contains("size"), "{found:?}");
    found.iter().for_each(|unit| assert!(headrace_units::document::read(unit, "").is_some(), "{unit}"));
}
