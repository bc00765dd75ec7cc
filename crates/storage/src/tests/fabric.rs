//! Switches, servers and routes: times by hand, ways and their shares, and what cannot be.

use super::common::{Coming, by_events, drive, routed};
use super::near::near;
use crate::{ComponentSpec, Graph, LoweringError};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, TimeKind};
use proptest::prelude::*;

const KIB: u64 = 1024;

/// What a byte lasts at 1.0625 Gbaud with ten bits a byte, in ns.
const BYTE_NS: f64 = 10.0 / 1.0625;

/// How long frames last with 8 KiB in them, and a command and a status without data, each with its 60 B.
const DATA_NS: f64 = 4.0 * (2048.0 + 60.0) * BYTE_NS;
const COMMAND_NS: f64 = 92.0 * BYTE_NS;
const STATUS_NS: f64 = 84.0 * BYTE_NS;

fn component(text: &str) -> ComponentSpec {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A target that takes 1 ms, for as many requests at once as come.
fn target() -> ComponentSpec {
    component(r#"{"type": "station", "servers": 1000, "service": "1 ms", "capacity": "1 GiB"}"#)
}

fn server(more: &str) -> ComponentSpec {
    component(&format!(r#"{{"type": "server"{more}}}"#))
}

fn switch(connects: &str, more: &str) -> ComponentSpec {
    component(&format!(r#"{{"type": "switch", "preset": "fc_1g", "connects": [{connects}]{more}}}"#))
}

fn graph(system: &[(&str, ComponentSpec)], routes: &[(&str, &str)]) -> Graph {
    routed(system, routes, &drive()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn errors(system: &[(&str, ComponentSpec)], routes: &[(&str, &str)]) -> Vec<LoweringError> {
    routed(system, routes, &drive()).map(drop).unwrap_err()
}

fn at(ns: u64, target: usize, op: Op, kib: u64) -> Coming {
    (Nanos(ns), target, Block { op, address: 0, bytes: kib * KIB })
}

/// The time of an 8 KiB request over one switch, without the 1 ms of the target.
fn on_the_way(op: Op, host: &str, fabric: &str) -> f64 {
    let system = [("host", server(host)), ("tds", target()), ("san", switch(r#""host", "tds""#, fabric))];
    let accounts = by_events(&graph(&system, &[("host", "tds")]), &["host→tds"], &[at(0, 0, op, 8)]);
    accounts[0].total().0 as f64 - 1e6
}

/// A message is in both ports at once: it takes its time on the wire once, the command with the data of a write, the status with those
/// of a read; each crossing has the latency of the switch. Stored first, the first frame counts twice.
#[test]
fn a_request_takes_what_it_takes_by_hand() {
    let alone = COMMAND_NS + DATA_NS + STATUS_NS;
    near(on_the_way(Op::Read, "", ""), alone, 5.0);
    near(on_the_way(Op::Write, "", r#", "latency": "2 us""#), alone + 4000.0, 5.0);
    let stored = r#", "forwarding": "store_and_forward""#;
    near(on_the_way(Op::Read, "", stored), alone + COMMAND_NS + DATA_NS / 4.0, 5.0);
    let host = r#", "submit": "3 us", "complete": "4 us", "interrupt": "1 us", "copy": "8192 kB/s", "adapter": {"command": "5 us"}"#;
    near(on_the_way(Op::Read, host, ""), alone + 13_000.0 + 1e6, 5.0);
    near(on_the_way(Op::Read, r#", "adapter": {"latency": "17 us"}"#, ""), alone + 17_000.0, 5.0);
}

/// The custom scheme of paper 000, its Fig. 5: a connection for each two, on which nobody waits. Without a rate it adds nothing at all.
#[test]
fn a_direct_switch_makes_nobody_wait() {
    let of = |san: ComponentSpec| {
        let system = [("host", server("")), ("tds", target()), ("san", san)];
        let four: Vec<Coming> = (0..4).map(|_| at(0, 0, Op::Read, 8)).collect();
        let accounts = by_events(&graph(&system, &[("host", "tds")]), &["host→tds"], &four);
        accounts.iter().map(|breakdown| breakdown.total().0 as f64 - 1e6).collect::<Vec<_>>()
    };
    let direct = of(switch(r#""host", "tds""#, r#", "form": "direct""#));
    direct.iter().for_each(|found| near(*found, COMMAND_NS + DATA_NS + STATUS_NS, 5.0));
    let free = component(r#"{"type": "switch", "form": "direct", "connects": ["host", "tds"]}"#);
    assert_eq!(of(free), [0.0; 4]);
    let queued = of(switch(r#""host", "tds""#, ""));
    near(queued[3], 4.0 * COMMAND_NS + DATA_NS + 3.0 * (DATA_NS + STATUS_NS - COMMAND_NS) + STATUS_NS, 5.0);
}

/// Of a slow wire and a fast one the slow decides, in either direction.
#[test]
fn the_slower_of_two_wires_decides() {
    let of = |connects: &str| {
        let system = [("host", server("")), ("tds", target()), ("san", switch(connects, ""))];
        let accounts =
            by_events(&graph(&system, &[("host", "tds")]), &["host→tds"], &[at(0, 0, Op::Read, 8)]);
        accounts[0].total().0 as f64 - 1e6
    };
    let slow_in = of(r#"{"to": "host", "preset": "fc_8g"}, "tds""#);
    let slow_out = of(r#""host", {"to": "tds", "preset": "fc_8g"}"#);
    near(slow_in, COMMAND_NS + DATA_NS + STATUS_NS, 5.0);
    near(slow_out, slow_in, 5.0);
    let far = of(r#""host", {"to": "tds", "metres": 10000}"#);
    near(far, slow_in + 100_000.0, 5.0);
}

/// Two servers that read from two arrays do not disturb each other; two that read from one share its wire.
#[test]
fn ports_of_others_are_not_in_the_way() {
    let san = switch(r#""a", "b", "x", "y""#, "");
    let system = [("a", server("")), ("b", server("")), ("x", target()), ("y", target()), ("san", san)];
    let graph = graph(&system, &[("a", "x"), ("b", "y"), ("b", "x")]);
    let last = |other: usize| {
        let both = [at(0, 0, Op::Read, 512), at(0, other, Op::Read, 512)];
        by_events(&graph, &["a→x", "b→y", "b→x"], &both)[1].total().0 as f64
    };
    let data = 64.0 * DATA_NS;
    near(last(1), 1e6 + COMMAND_NS + data + STATUS_NS, 5.0);
    near(last(2), 1e6 + COMMAND_NS * 2.0 + 2.0 * (data + STATUS_NS) - COMMAND_NS, 5.0);
}

/// A wire between switches is one wire: a way over two has three ports in each direction.
#[test]
fn a_way_leads_through_several_switches() {
    let system = [
        ("host", server("")),
        ("tds", target()),
        ("edge", switch(r#""host", "core""#, r#", "latency": "1 us""#)),
        ("core", switch(r#""tds""#, r#", "latency": "1 us""#)),
    ];
    let graph = graph(&system, &[("host", "tds")]);
    let names: Vec<&str> =
        graph.nodes.iter().map(|node| &*node.path).filter(|path| path.contains('/')).collect();
    assert_eq!(
        names,
        ["edge/host in", "edge/host out", "edge/core out", "core/edge out", "core/tds in", "core/tds out"]
    );
    let accounts = by_events(&graph, &["host→tds"], &[at(0, 0, Op::Read, 8)]);
    near(accounts[0].total().0 as f64 - 1e6, COMMAND_NS + DATA_NS + STATUS_NS + 4000.0, 5.0);
}

/// Slow wires at the ends, a fast one between the switches, and the other way round: the slowest decides, once.
#[test]
fn wires_of_three_rates_are_held_once() {
    let of = |ends: &str, between: &str| {
        let edge =
            format!(r#"{{"to": "host", "preset": "{ends}"}}, {{"to": "core", "preset": "{between}"}}"#);
        let core = format!(r#"{{"to": "tds", "preset": "{ends}"}}"#);
        let system = [
            ("host", server("")),
            ("tds", target()),
            ("edge", switch(&edge, "")),
            ("core", switch(&core, "")),
        ];
        let graph = graph(&system, &[("host", "tds")]);
        by_events(&graph, &["host→tds"], &[at(0, 0, Op::Write, 8)])[0].total().0 as f64 - 1e6
    };
    let alone = COMMAND_NS + DATA_NS + STATUS_NS;
    near(of("fc_1g", "fc_8g"), alone, 5.0);
    near(of("fc_8g", "fc_1g"), alone, 5.0);
    near(of("fc_1g", "fc_1g"), alone, 5.0);
}

/// Several ways are taken in turn, by their queues, or the first alone: what comes to each shows at its switch.
#[test]
fn ways_are_shared_by_policy() {
    let of = |paths: &str| {
        let system = [
            ("host", server(&format!(r#", "paths": "{paths}""#))),
            ("tds", target()),
            ("left", switch(r#""host", "tds""#, "")),
            ("right", switch(r#""host", {"to": "tds", "rate": "1 MB/s"}"#, "")),
        ];
        let graph = graph(&system, &[("host", "tds")]);
        let requests: Vec<Coming> = (0..40).map(|n| at(n * 300_000, 0, Op::Write, 8)).collect();
        let accounts = by_events(&graph, &["host→tds"], &requests);
        let right = graph.named("right").unwrap();
        let through = |breakdown: &&Breakdown| breakdown.spans().any(|(id, ..)| id == right);
        accounts.iter().filter(through).count()
    };
    assert_eq!([of("round_robin"), of("first")], [20, 0]);
    assert!((1..10).contains(&of("shortest_queue")), "the slow way gets few: {}", of("shortest_queue"));
}

/// With a queue depth of two the third of three requests waits at its server until the first is answered.
#[test]
fn a_queue_depth_holds_commands_back() {
    let system = [
        ("host", server(r#", "adapter": {"queue_depth": 2}"#)),
        ("tds", target()),
        ("san", switch(r#""host", "tds""#, "")),
    ];
    let three: Vec<Coming> = (0..3).map(|_| at(0, 0, Op::Read, 8)).collect();
    let accounts = by_events(&graph(&system, &[("host", "tds")]), &["host→tds"], &three);
    let blocked: Vec<u64> = accounts
        .iter()
        .map(|breakdown| {
            breakdown.spans().filter(|(_, what, _)| *what == TimeKind::Blocked).map(|(.., span)| span.0).sum()
        })
        .collect();
    assert_eq!(blocked, [0, 0, accounts[0].total().0]);
}

/// Completions are held back until there are three, or 200 µs long.
#[test]
fn completions_are_told_together() {
    let host = r#", "interrupt": "10 us", "adapter": {"coalescing": {"most": 3, "after": "200 us"}}"#;
    let system = [("host", server(host)), ("tds", target()), ("san", switch(r#""host", "tds""#, ""))];
    let graph = graph(&system, &[("host", "tds")]);
    let of = |many: u64| {
        let requests: Vec<Coming> = (0..many).map(|n| at(n * 30_000, 0, Op::Read, 1)).collect();
        let accounts = by_events(&graph, &["host→tds"], &requests);
        (0..many).zip(&accounts).map(|(n, breakdown)| n * 30_000 + breakdown.total().0).collect::<Vec<_>>()
    };
    let three = of(3);
    assert!(three[2] - three[0] <= 10_000, "told at once, the interrupt first: {three:?}");
    let one = of(1)[0];
    let alone = 1e6 + COMMAND_NS + (1024.0 + 60.0) * BYTE_NS + STATUS_NS;
    near(one as f64, alone + 200_000.0 + 10_000.0, 5.0);
}

fn volume(of: &str, from: &str) -> ComponentSpec {
    component(&format!(
        r#"{{"type": "array", "level": "raid0", "of": [{of}], "stripe_unit": "64 KiB", "from": "{from}"}}"#
    ))
}

/// A volume striped by its server over two arrays: halves go side by side. The same in an engine that a switch connects takes the
/// way to the engine besides.
#[test]
fn volumes_span_arrays() {
    let of = |owner: &str, route: &str| {
        let system = [
            ("host", server("")),
            ("engine", server(r#", "submit": "20 us""#)),
            ("x", target()),
            ("y", target()),
            ("volume", volume(r#""x", "y""#, owner)),
            ("san", switch(r#""host", "engine", "x", "y""#, "")),
        ];
        let graph = graph(&system, &[("host", "volume")]);
        let accounts = by_events(&graph, &[route], &[at(0, 0, Op::Read, 128)]);
        accounts[0].total().0 as f64 - 1e6
    };
    let half = 8.0 * DATA_NS;
    near(of("host", "volume"), 2.0 * COMMAND_NS + 2.0 * half + 2.0 * STATUS_NS - COMMAND_NS, 5.0);
    let whole = of("engine", "host→volume");
    assert!(whole > 4.0 * half + 40_000.0, "the data crosses to the engine, then to the host: {whole}");
}

/// A stripe unit as large as each array makes one volume of them, end to end.
#[test]
fn a_unit_as_large_as_an_array_concatenates() {
    let volume = component(
        r#"{"type": "array", "level": "raid0", "of": ["x", "y"], "stripe_unit": "1 GiB", "from": "host"}"#,
    );
    let san = switch(r#""host", "x", "y""#, "");
    let system = [("host", server("")), ("x", target()), ("y", target()), ("volume", volume), ("san", san)];
    let graph = graph(&system, &[("host", "volume")]);
    let gib = 1u64 << 30;
    let read = |address: u64| (Nanos(0), 0, Block { op: Op::Read, address, bytes: 8 * KIB });
    let y = graph.named("y").unwrap();
    let accounts = by_events(&graph, &["volume"], &[read(gib - 8 * KIB), read(gib), read(gib - 4 * KIB)]);
    let on_y: Vec<bool> =
        accounts.iter().map(|breakdown| breakdown.spans().any(|(id, ..)| id == y)).collect();
    assert_eq!(on_y[..2], [false, true]);
    assert_eq!(graph.view(graph.named("volume").unwrap()).capacity().0, 2 * gib);
}

#[test]
fn impossible_fabrics_are_refused() {
    let host = || ("host", server(""));
    let only = |system: &[(&str, ComponentSpec)], routes: &[(&str, &str)]| errors(system, routes).remove(0);
    let none = only(&[("san", switch("", ""))], &[]);
    assert!(none.message.contains("at least one neighbour"), "{}", none.message);
    let itself = only(&[("san", switch(r#""san""#, ""))], &[]);
    assert!(itself.message.contains("connects to itself"), "{}", itself.message);
    let unknown = only(&[host(), ("san", switch(r#""host", "tsd""#, ""))], &[]);
    assert_eq!(unknown.unknown.map(|(name, _)| name).as_deref(), Some("tsd"));
    let ports =
        only(&[host(), ("tds", target()), ("san", switch(r#""host", "tds""#, r#", "ports": 1"#))], &[]);
    assert!(
        ports.message.contains("the neighbours of `san` need 2 ports; `ports` is 1"),
        "{}",
        ports.message
    );
    let link = ("wire", component(r#"{"type": "link", "rate": "1 GB/s"}"#));
    let wire = only(&[host(), link, ("san", switch(r#""host", "wire""#, ""))], &[]);
    assert!(wire.message.contains("`wire` is a link, which a switch cannot connect"), "{}", wire.message);
    let rate = only(&[host(), ("san", component(r#"{"type": "switch", "connects": ["host"]}"#))], &[]);
    assert!(rate.message.contains("a wire needs a rate"), "{}", rate.message);
    let apart = [host(), ("tds", target()), ("a", switch(r#""host""#, "")), ("b", switch(r#""tds""#, ""))];
    let lost = only(&apart, &[("host", "tds")]);
    assert_eq!(lost.message, "`host` cannot reach `tds`: `host` reaches `a`; `tds` is connected to `b`");
    assert_eq!(lost.field, ["workload", "host tds", "from"]);
    let nobody = only(&[("tds", target()), host()], &[("tds", "tds")]);
    assert!(nobody.message.contains("`tds` is a station; requests come from a server"), "{}", nobody.message);
    let twice =
        [host(), ("a", switch(r#""host", "b""#, "")), ("b", switch(r#"{"to": "a", "links": 2}"#, ""))];
    let twice = only(&twice, &[]);
    assert!(twice.message.contains("lists 1 wires to `b`, which lists 2 to `a`"), "{}", twice.message);
    let circle = [
        host(),
        ("left", volume(r#""right""#, "host")),
        ("right", volume(r#""left""#, "host")),
        ("san", switch(r#""host""#, "")),
    ];
    assert!(only(&circle, &[]).message.contains("circular reference"), "{}", only(&circle, &[]).message);
}

/// Links between two switches listed at both are the same links.
#[test]
fn a_link_listed_at_both_ends_is_one() {
    let count = |at_b: &str| {
        let system = [
            ("host", server("")),
            ("tds", target()),
            ("a", switch(r#""host", {"to": "b", "links": 2}"#, "")),
            ("b", switch(&format!(r#""tds"{at_b}"#), "")),
        ];
        graph(&system, &[("host", "tds")]).nodes.len()
    };
    assert_eq!(count(""), count(r#", {"to": "a", "links": 2}"#));
}

/// The servers and the targets at each switch.
type Switches = Vec<(Vec<usize>, Vec<usize>)>;

/// A random fabric: servers and targets each at some of the switches, which are connected in a row with further links.
fn fabrics() -> impl Strategy<Value = (Switches, Vec<(usize, usize)>)> {
    let ends = || prop::collection::vec(0usize..3, 0..3);
    (prop::collection::vec((ends(), ends()), 1..5), prop::collection::vec((0usize..5, 0usize..5), 0..4))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever the fabric, every request is answered, accounts add up, and what is sent on every edge arrives (`by_events` checks
    /// each); a route has the ways of its fabric, or the stream is refused with them.
    #[test]
    fn random_fabrics_lose_nothing(
        (switches, links) in fabrics(),
        asked in prop::collection::vec((0u64..3_000_000, 0usize..3, 0usize..3, any::<bool>(), 1u64..200), 1..60),
        policy in 0usize..3, forwarding in any::<bool>(),
    ) {
        let n = switches.len();
        let policy = ["round_robin", "shortest_queue", "first"][policy];
        let forwarding = if forwarding { "cut_through" } else { "store_and_forward" };
        let names: Vec<String> = (0..n).map(|at| format!("s{at}")).collect();
        let mut system: Vec<(&str, ComponentSpec)> = Vec::new();
        for host in ["h0", "h1", "h2"] {
            let more = format!(r#", "paths": "{policy}", "submit": "2 us", "complete": "3 us", "adapter": {{"queue_depth": 3, "command": "1 us"}}"#);
            system.push((host, server(&more)));
        }
        for tds in ["t0", "t1", "t2"] {
            system.push((tds, component(r#"{"type": "station", "service": {"exponential": "100 us"}, "capacity": "1 GiB"}"#)));
        }
        for (at, (hosts, targets)) in switches.iter().enumerate() {
            let mut connects: Vec<String> = hosts.iter().map(|host| format!(r#""h{host}""#)).collect();
            connects.extend(targets.iter().map(|tds| format!(r#""t{tds}""#)));
            let peers = links.iter().filter(|(a, b)| *a == at && a % n < b % n).map(|(_, b)| b % n);
            connects.extend(peers.chain((at + 1 < n).then_some(at + 1)).map(|peer| format!(r#""s{peer}""#)));
            if connects.is_empty() {
                connects.push(r#""h0""#.to_owned());
            }
            let more = format!(r#", "forwarding": "{forwarding}", "latency": "1 us""#);
            system.push((&names[at], switch(&connects.join(","), &more)));
        }
        let pairs: Vec<(String, String)> =
            asked.iter().map(|(_, host, tds, ..)| (format!("h{host}"), format!("t{tds}"))).collect();
        let routes: Vec<(&str, &str)> = pairs.iter().map(|(from, to)| (&**from, &**to)).collect();
        match routed(&system, &routes, &drive()) {
            Ok(graph) => {
                let targets: Vec<String> = routes.iter().map(|(from, to)| format!("{from}→{to}")).collect();
                let targets: Vec<&str> = targets.iter().map(|name| &**name).collect();
                let coming = |(number, (ns, _, _, write, kib)): (usize, &(u64, usize, usize, bool, u64))| {
                    at(*ns, number, if *write { Op::Write } else { Op::Read }, *kib)
                };
                let requests: Vec<Coming> = asked.iter().enumerate().map(coming).collect();
                for (breakdown, (_, _, block)) in by_events(&graph, &targets, &requests).iter().zip(&requests) {
                    let least = block.bytes as f64 * BYTE_NS;
                    prop_assert!(breakdown.total().0 as f64 > least, "{} ns for {} B", breakdown.total().0, block.bytes);
                }
            }
            Err(errors) => {
                let cannot = errors.iter().all(|error| error.message.contains("cannot reach"));
                prop_assert!(cannot, "{errors:?}");
            }
        }
    }
}

/// A link of two directions carries reads and writes side by side; one of a bare rate carries one at a time.
#[test]
fn a_preset_is_a_link_of_two_directions() {
    let last = |link: &str| {
        let array = r#"{"type": "array", "level": "raid0", "of": {"type": "station", "servers": 9, "service": "1 ms",
                        "capacity": "1 GiB"}, "disks": 1, "stripe_unit": "1 MiB", "via": "wire"}"#;
        let graph = graph(&[("tds", component(array)), ("wire", component(link))], &[]);
        let both =
            [at(0, 0, Op::Write, 512), at(200_000, 0, Op::Write, 512), at(5_000_000, 0, Op::Read, 512)];
        let accounts = by_events(&graph, &["tds"], &both);
        [accounts[1].total().0 as f64, accounts[2].total().0 as f64]
    };
    let data = 64.0 * DATA_NS;
    let full = last(r#"{"type": "link", "preset": "fc_1g"}"#);
    near(full[0], 2.0 * data - 200_000.0 + 1e6, 5.0);
    near(full[1], data + 1e6, 5.0);
    let half = last(r#"{"type": "link", "preset": "fc_1g", "duplex": "half"}"#);
    assert!(half[1] > full[1] + 1e6, "the read waits for the second write: {half:?}");
}
