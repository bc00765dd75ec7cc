//! What requests ask of the components of a system: each disk its share, and no work is lost or made up.

use super::common::graph;
use crate::{ComponentSpec, Demand, Load, ServiceKind};
use headrace_units::Bytes;
use headrace_work::Op;

const DRIVE: &str = r#"{"capacity": "10 GB", "cylinders": 6000, "rotation": "7200 rpm", "media_rate_outer": "60 MB/s",
            "media_rate_inner": "40 MB/s", "seek_read": {"track_to_track": "1 ms", "full_stroke": "15 ms"},
            "seek_write": {"track_to_track": "1.5 ms", "full_stroke": "16 ms"}, "overhead": "0.1 ms"}"#;

const UNIT: u64 = 64 * 1024;
const STATION: &str = r#"{"type": "station", "service": {"exponential": "6 ms"}, "capacity": "1 GiB"}"#;

fn component(text: &str) -> ComponentSpec {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Four copies of `of` in 64 KiB units.
fn array(of: &str, more: &str) -> String {
    format!(r#"{{"type": "array", "level": "raid0", "of": {of}, "disks": 4, "stripe_unit": "64 KiB"{more}}}"#)
}

fn disk(positioning: &str) -> String {
    format!(r#"{{"type": "disk", "device": "any", "positioning": "{positioning}"}}"#)
}

fn reads(units: u64) -> Load {
    Load {
        stream: "users".to_owned(),
        kinds: vec![(1.0, Op::Read, units * UNIT)],
        sizes: (Bytes(units * UNIT), Bytes(units * UNIT)),
        align: Bytes(UNIT),
        uniform: true,
        traced: false,
        alone: false,
        durable: false,
        threads: 0,
        clients: 0,
        sessions: None,
    }
}

/// The demands on `target`, which may use a link `wire` of 1 ms a unit and 2 ms latency; with the path of each node.
fn demands(target: &str, load: &Load) -> Result<Vec<(String, Demand)>, String> {
    let drive: Result<_, serde_json::Error> = serde_json::from_str(DRIVE);
    let wire = component(r#"{"type": "link", "rate": "65536 kB/s", "latency": "2 ms"}"#);
    let graph = graph(&[("wire", wire), ("target", component(target))], &drive.unwrap());
    let found = graph.view(graph.named("target").unwrap()).demands(load)?;
    Ok(found.into_iter().map(|demand| (graph.view(demand.node).path().to_owned(), demand)).collect())
}

fn queues(demands: &[(String, Demand)]) -> Vec<(&str, f64)> {
    let queues = demands.iter().filter(|(_, demand)| demand.server == ServiceKind::SINGLE);
    queues.map(|(path, demand)| (&**path, demand.work_ms())).collect()
}

#[test]
fn every_disk_has_its_share_of_small_requests() {
    let found = demands(&array(STATION, ""), &reads(1)).unwrap();
    assert_eq!(found.len(), 4, "there is no join: {found:?}");
    for (_, demand) in &found {
        assert!((demand.work_ms() - 1.5).abs() < 1e-12 && demand.parallelism == 1.0, "{demand:?}");
    }
}

/// Two units on four disks: each disk has half of the requests, and the join makes one time the largest of two.
#[test]
fn a_split_request_waits_for_its_last_part() {
    let found = demands(&array(STATION, ""), &reads(2)).unwrap();
    assert!(queues(&found).iter().all(|(_, work)| (work - 3.0).abs() < 1e-12), "{found:?}");
    assert!(found[0].1.parallelism == 2.0);
    let (path, join) = found.last().unwrap();
    assert_eq!(path, "target");
    assert!(
        matches!(join.server, ServiceKind::Join { branches: 2, .. }) && (join.work_ms() - 3.0).abs() < 1e-12
    );
    let wide = demands(&array(STATION, ""), &reads(400)).unwrap();
    assert!(queues(&wide).iter().all(|(_, work)| (work - 6.0).abs() < 1e-12), "at most one part a disk");
}

#[test]
fn on_the_first_disk_it_is_always_the_same_disks() {
    let found = demands(&array(STATION, r#", "first_unit": "first_disk""#), &reads(2)).unwrap();
    assert_eq!(queues(&found).len(), 2, "two disks have nothing to do: {found:?}");
    assert!(queues(&found).iter().all(|(_, work)| (work - 6.0).abs() < 1e-12));
}

/// All data crosses the link, whatever the disks do: two units of 1 ms, and 2 ms on the way.
#[test]
fn the_link_carries_every_part() {
    let found = demands(&array(STATION, r#", "via": "wire""#), &reads(2)).unwrap();
    let on_wire: Vec<&Demand> =
        found.iter().filter(|(path, _)| path == "wire").map(|(_, demand)| demand).collect();
    let [queue, latency] = on_wire[..] else { panic!("{on_wire:?}") };
    assert!((queue.work_ms() - 2.0).abs() < 1e-6, "{queue:?}");
    let alone = on_wire.iter().map(|demand| demand.work_ms() / demand.parallelism).sum::<f64>();
    assert!((alone - 4.0).abs() < 1e-6, "both cross one after the other, the latencies together: {alone}");
    assert!(latency.server == ServiceKind::Delay && !queue.fails.is_empty());
}

/// A disk whose seeks are sampled takes 0.1 ms, 4.17 ms of latency, a seek of some 8 ms and the transfer. One that is simulated in full
/// takes what the drive takes between random commands, the same each time it is asked, and says that this is not all.
#[test]
fn a_disk_has_its_mean_service() {
    let found = demands(&disk("independent"), &reads(1)).unwrap();
    assert!((11.0..16.0).contains(&found[0].1.work_ms()), "{}", found[0].1.work_ms());
    let turning = demands(&disk("mechanical"), &reads(1)).unwrap();
    let ratio = turning[0].1.work_ms() / found[0].1.work_ms();
    assert!((0.9..1.5).contains(&ratio), "seeks, latency and transfer, and the interface: {ratio}");
    let again = demands(&disk("mechanical"), &reads(1)).unwrap();
    assert_eq!(turning[0].1.work_ms(), again[0].1.work_ms());
    assert!(turning[0].1.fails[0].contains("of `target` they are not"));
    let sequential = Load { uniform: false, ..reads(1) };
    let why = demands(&disk("mechanical"), &sequential).unwrap_err();
    assert!(why.contains("every address is equally likely"), "{why}");
}

fn writes(bytes: u64) -> Load {
    Load { kinds: vec![(1.0, Op::Write, bytes)], align: Bytes(4096), ..reads(1) }
}

/// The mean number of accesses of a request, and how many of them a request waits out one after another.
fn accesses(level: &str, disks: u32, load: &Load) -> (f64, f64) {
    let array = format!(
        r#"{{"type": "array", "level": {level}, "of": {STATION}, "disks": {disks}, "stripe_unit": "64 KiB"}}"#
    );
    let found = demands(&array, load).unwrap();
    let visits = |of: fn(&Demand) -> f64| {
        found
            .iter()
            .filter(|(_, demand)| demand.server == ServiceKind::SINGLE)
            .map(|(_, demand)| of(demand))
            .sum::<f64>()
    };
    (visits(|demand| demand.visits), visits(|demand| demand.visits / demand.parallelism))
}

/// The rules of redundant levels: a small write takes four accesses of RAID 5 and six of RAID 6, in two phases; a whole stripe one for
/// each disk; two of a mirror; a read one.
#[test]
fn redundant_levels_ask_what_their_rules_say() {
    let near = |(all, path): (f64, f64), known: (f64, f64)| {
        assert!(
            (all - known.0).abs() < 1e-9 && (path - known.1).abs() < 1e-9,
            "{all}, {path}; by rule {known:?}"
        );
    };
    near(accesses(r#""raid5""#, 9, &writes(4096)), (4.0, 2.0));
    near(accesses(r#""raid6""#, 9, &writes(4096)), (6.0, 2.0));
    near(accesses(r#""raid10""#, 4, &writes(4096)), (2.0, 1.0));
    let stripe = Load { align: Bytes(8 * UNIT), ..writes(8 * UNIT) };
    near(accesses(r#""raid5""#, 9, &stripe), (9.0, 1.0));
    for level in [r#""raid5""#, r#""raid6""#, r#""raid10""#] {
        near(accesses(level, 8, &Load { kinds: vec![(1.0, Op::Read, 4096)], ..writes(4096) }), (1.0, 1.0));
    }
}

/// Every disk of a rotating parity has the same work.
#[test]
fn rotating_parity_loads_disks_alike() {
    let array = format!(
        r#"{{"type": "array", "level": "raid5", "of": {STATION}, "disks": 5, "stripe_unit": "64 KiB"}}"#
    );
    let found = demands(&array, &writes(4096)).unwrap();
    // Reads and writes of each.
    let mut of_disks = std::collections::BTreeMap::<_, f64>::new();
    queues(&found).into_iter().for_each(|(disk, work)| *of_disks.entry(disk).or_default() += work);
    let works: Vec<f64> = of_disks.into_values().collect();
    assert_eq!(works.len(), 5);
    assert!(works.iter().all(|work| (work / works[0] - 1.0).abs() < 1e-9), "{works:?}");
    assert!(found.iter().any(|(_, demand)| demand.fails.iter().any(|fails| fails.contains("same parity"))));
}

/// A loop of five ports carries each access in two tenancies: of the command, and of data and status.
#[test]
fn a_loop_carries_every_access() {
    let array = array(STATION, r#", "via": "loop""#);
    let drive = serde_json::from_str(DRIVE).unwrap();
    let fc = component(r#"{"type": "fc_loop", "rate": "1 Gb/s"}"#);
    let graph = graph(&[("loop", fc), ("target", component(&array))], &drive);
    let found = graph.view(graph.named("target").unwrap()).demands(&reads(2)).unwrap();
    let on_loop =
        |demand: &&Demand| graph.view(demand.node).kind() == "fc_loop" && demand.server != ServiceKind::Delay;
    let held: Vec<_> = found.iter().filter(on_loop).collect();
    let (byte, round) = (10.0 / 1.0625e6, 5.0 * 6.0 * 40.0 / 1.0625e6);
    let access = [2.5 * round + byte * 92.0, 2.5 * round + byte * (32.0 * 2108.0 + 84.0)];
    assert_eq!(held.len(), 2);
    for (demand, access) in held.iter().zip(access) {
        let work = demand.work_ms();
        assert!((work / (2.0 * access) - 1.0).abs() < 1e-6, "{work} ms, by hand {}", 2.0 * access);
        assert!(!demand.fails.is_empty());
    }
}

/// In lockstep the array is one server, whose service is the slowest part's.
#[test]
fn in_lockstep_an_array_is_one_server() {
    let found = demands(&array(STATION, r#", "queueing": "split_merge""#), &reads(2)).unwrap();
    assert_eq!(found.len(), 1);
    assert!((found[0].1.work_ms() - 9.0).abs() < 0.01, "{}", found[0].1.work_ms());
}
