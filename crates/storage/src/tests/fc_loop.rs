//! A Fibre Channel loop: times by hand, and the rules of access compared with random traffic.

use super::common::{Coming, by_events, drive, graph, lowered, traffic, visits_of};
use super::near::near;
use crate::array::{ArraySpec, Level, Via};
use crate::fc_loop::{FcLoopSpec, Policy};
use crate::graph::Copies;
use crate::station::{Order, StationSpec};
use crate::{ComponentSpec, Graph, LoweringError};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, DrawnTime, Op, TimeSpec};
use proptest::prelude::*;

const UNIT: u64 = 128 * 1024;
const MS: u64 = 1_000_000;

/// What one byte, and one word of four, last at 1.0625 Gbaud with ten bits a byte.
const BYTE_NS: f64 = 10.0 / 1.0625;
const WORD_NS: f64 = 4.0 * BYTE_NS;

fn a_loop(text: &str) -> FcLoopSpec {
    serde_json::from_str(text).unwrap()
}

fn station(service: TimeSpec) -> Copies {
    let spec =
        StationSpec { servers: 1, service, rate: None, order: Order::FirstCome, capacity: Bytes(1 << 34) };
    Copies::Written(Box::new(ComponentSpec::Station(spec)))
}

fn array(of: Copies, disks: u32) -> ComponentSpec {
    let spec = ArraySpec::new(Level::Raid0, of, Some(disks), Bytes(UNIT));
    ComponentSpec::Array(ArraySpec { via: Some(Via::One("loop".to_owned())), ..spec })
}

fn one_ms() -> Copies {
    station(TimeSpec::Fixed(Nanos(MS)))
}

fn system(spec: FcLoopSpec, of: Copies, disks: u32) -> Graph {
    graph(&[("tds", array(of, disks)), ("loop", ComponentSpec::FcLoop(spec))], &drive())
}

fn errors(system: &[(&str, ComponentSpec)]) -> Vec<LoweringError> {
    lowered(system, &drive()).map(drop).unwrap_err()
}

/// How long a request to the first disk of four takes on an idle loop, without the 1 ms of the disk.
fn on_the_loop(spec: &str, op: Op, bytes: u64) -> f64 {
    let one = (Nanos(0), 0, Block { op, address: 0, bytes });
    let accounts = by_events(&system(a_loop(spec), one_ms(), 4), &["tds"], &[one]);
    accounts[0].total().0 as f64 - MS as f64
}

/// A read of 4 KiB on an idle loop of five ports: arbitrating, opening and closing take a round each, for the command and for the
/// data; a frame has 60 B besides its payload.
#[test]
fn a_read_on_an_idle_loop_takes_what_it_takes_by_hand() {
    let round = 5.0 * 6.0 * WORD_NS;
    let frames = (32.0 + 60.0) + 2.0 * (2048.0 + 60.0) + (24.0 + 60.0);
    let found = on_the_loop(r#"{"rate": "1 Gb/s"}"#, Op::Read, 4096);
    near(found, 6.0 * round + frames * BYTE_NS, 3.0);
    assert!(
        (48_000.0..50_000.0).contains(&found),
        "4 KiB at 103 MB/s, 6.8 µs round the loop and 1.7 µs: {found}"
    );
}

/// A write takes four tenancies; twice the rate halves the words but not the cable.
#[test]
fn a_write_on_an_idle_loop_takes_four_tenancies() {
    let round = 5.0 * 12.0 * WORD_NS / 2.0 + 1000.0 * 5.0;
    let frames = (32.0 + 60.0) + (12.0 + 60.0) + (2112.0 + 60.0) + (888.0 + 60.0) + (24.0 + 60.0);
    let spec = r#"{"rate": "200 MB/s", "per_node_delay": 12, "metres": 1000, "frame_payload": "2112 B"}"#;
    near(on_the_loop(spec, Op::Write, 3000), 12.0 * round + frames * BYTE_NS / 2.0, 3.0);
}

/// With one credit a frame waits until the one before it is acknowledged, a round later.
#[test]
fn a_long_loop_without_credit_stalls() {
    let spec = |credit: u32| format!(r#"{{"rate": "1 Gb/s", "metres": 10000, "credit": {credit}}}"#);
    let round = 5.0 * 6.0 * WORD_NS + 50_000.0;
    let [stalls, flows] = [1, 8].map(|credit| on_the_loop(&spec(credit), Op::Read, 8 * 2048));
    near(stalls - flows, 8.0 * round, 3.0);
}

/// The names of a rate mean the same loop; another rate and a frame of no such size are refused.
#[test]
fn rates_are_those_of_fibre_channel() {
    let of = |rate: &str| on_the_loop(&format!(r#"{{"rate": "{rate}"}}"#), Op::Read, 65536);
    assert_eq!([of("2 Gb/s"), of("2.125 Gb/s")], [of("200 MB/s"); 2]);
    let refused = |text: &str| errors(&[("loop", ComponentSpec::FcLoop(a_loop(text)))]).remove(0);
    let rate = refused(r#"{"rate": "3 Gb/s"}"#);
    assert!(rate.message.contains("no Fibre Channel loop has a rate of 375 MB/s"), "{}", rate.message);
    assert_eq!(rate.help.as_deref(), Some("use `1 Gb/s`, `2 Gb/s` or `4 Gb/s`"));
    let frame = refused(r#"{"rate": "1 Gb/s", "frame_payload": "4 KiB"}"#);
    assert_eq!(frame.field, ["system", "loop", "frame_payload"]);
}

/// 126 disks and a controller fill a loop. One disk more is refused, in one array or in two.
#[test]
fn a_loop_has_127_ports() {
    let fc = || ("loop", ComponentSpec::FcLoop(a_loop(r#"{"rate": "1 Gb/s"}"#)));
    assert_eq!(system(a_loop(r#"{"rate": "1 Gb/s"}"#), one_ms(), 126).nodes.len(), 128);
    let one = errors(&[("tds", array(one_ms(), 127)), fc()]);
    assert_eq!(one[0].field, ["system", "loop"]);
    assert!(one[0].message.contains("`loop` would have 128 ports"), "{}", one[0].message);
    let two = errors(&[("left", array(one_ms(), 63)), fc(), ("right", array(one_ms(), 63))]);
    assert!(two[0].message.contains("would have 128 ports"), "{}", two[0].message);
}

/// Copies of an array have ports of their own on the loop they share.
#[test]
fn copies_of_an_array_share_a_loop() {
    let shelf = Copies::Written(Box::new(array(one_ms(), 3)));
    let rack = ComponentSpec::Array(ArraySpec::new(Level::Raid0, shelf, Some(2), Bytes(3 * UNIT)));
    let fc = ComponentSpec::FcLoop(a_loop(r#"{"rate": "1 Gb/s"}"#));
    let graph = graph(&[("rack", rack), ("loop", fc)], &drive());
    let whole = Block { op: Op::Read, address: 0, bytes: 4096 };
    let account = &by_events(&graph, &["rack"], &[(Nanos(0), 0, whole)])[0];
    let frames = (32.0 + 60.0) + 2.0 * (2048.0 + 60.0) + (24.0 + 60.0);
    near(account.total().0 as f64, MS as f64 + 6.0 * 8.0 * 6.0 * WORD_NS + frames * BYTE_NS, 3.0);
}

/// A time in which a port had the loop, and since when it wanted it.
#[derive(Clone, Copy, Debug)]
struct Tenancy {
    port: usize,
    asked: u64,
    began: u64,
    ended: u64,
}

/// The tenancies of requests that stay on one disk each, in order.
fn tenancies(graph: &Graph, requests: &[Coming], accounts: &[Breakdown], disks: u64) -> Vec<Tenancy> {
    let fc = graph.named("loop").unwrap();
    let of_one = |(coming, breakdown): (&Coming, &Breakdown)| {
        let disk = 1 + (coming.2.address / UNIT % disks) as usize;
        let alternate = [0, disk].into_iter().cycle();
        visits_of(fc, breakdown)
            .into_iter()
            .zip(alternate)
            .map(move |((asked, began, ended), port)| Tenancy { port, asked, began, ended })
            .collect::<Vec<_>>()
    };
    let mut all: Vec<Tenancy> = requests.iter().zip(accounts).flat_map(of_one).collect();
    all.sort_by_key(|tenancy| tenancy.began);
    all
}

/// How often each other port has the loop between the instant at which each port could ask for it and the one at which it gets it:
/// the most there is.
fn most_bypasses(tenancies: &[Tenancy], ports: usize) -> usize {
    let mut free = vec![0; ports];
    let mut most = 0;
    for one in tenancies {
        let since = one.asked.max(free[one.port]);
        free[one.port] = one.ended;
        let meanwhile = tenancies.iter().filter(|other| (since..one.began).contains(&other.began));
        let mut counts = vec![0; ports];
        meanwhile.for_each(|other| counts[other.port] += 1);
        most = most.max(counts.into_iter().max().unwrap());
    }
    most
}

const DISKS: u64 = 6;

fn policies() -> impl Strategy<Value = Policy> {
    prop::sample::select(vec![
        Policy::Fairness,
        Policy::ReadCommandFirst,
        Policy::FlPortFirst,
        Policy::CommandsFirst,
    ])
}

fn with(policy: Policy) -> Graph {
    let disks = station(TimeSpec::Drawn(DrawnTime::Exponential(Nanos(3 * MS))));
    system(FcLoopSpec { policy, ..a_loop(r#"{"rate": "1 Gb/s"}"#) }, disks, DISKS as u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One port has the loop at a time. A read has it twice, a write four times. `by_events` checks that every byte that is sent
    /// arrives.
    #[test]
    fn tenancies_do_not_overlap(policy in policies(), requests in traffic(DISKS, UNIT)) {
        let graph = with(policy);
        let accounts = by_events(&graph, &["tds"], &requests);
        let all = tenancies(&graph, &requests, &accounts, DISKS);
        prop_assert!(all.windows(2).all(|pair| pair[0].ended <= pair[1].began));
        let wanted: usize = requests.iter().map(|coming| if coming.2.op == Op::Read { 2 } else { 4 }).sum();
        prop_assert_eq!(all.len(), wanted);
    }

    /// Under fairness each other port has the loop at most twice before a port that wants it gets it: once in the window in which
    /// it had its turn, once in the next.
    #[test]
    fn no_port_is_passed_over_more_than_twice(requests in traffic(DISKS, UNIT)) {
        let graph = with(Policy::Fairness);
        let accounts = by_events(&graph, &["tds"], &requests);
        let all = tenancies(&graph, &requests, &accounts, DISKS);
        prop_assert!(most_bypasses(&all, 1 + DISKS as usize) <= 2);
    }

    /// All that a controller sends for reads is commands of reads, so the policies that favour it are one.
    #[test]
    fn policies_that_favour_the_controller_agree_on_reads(requests in traffic(DISKS, UNIT)) {
        let reads: Vec<Coming> =
            requests.into_iter().map(|(at, to, block)| (at, to, Block { op: Op::Read, ..block })).collect();
        let by = |policy| by_events(&with(policy), &["tds"], &reads);
        let first = by(Policy::ReadCommandFirst);
        prop_assert_eq!(&first, &by(Policy::FlPortFirst));
        prop_assert_eq!(&first, &by(Policy::CommandsFirst));
    }
}

/// The bound of fairness is one that a policy without it breaks: the controller passes disks over many times.
#[test]
fn a_favoured_controller_passes_disks_over() {
    let requests: Vec<Coming> = (0..100)
        .map(|n| (Nanos(n / 20 * 5 * MS), 0, Block { op: Op::Read, address: n % DISKS * UNIT, bytes: UNIT }))
        .collect();
    let most = |policy| {
        let graph = with(policy);
        let accounts = by_events(&graph, &["tds"], &requests);
        most_bypasses(&tenancies(&graph, &requests, &accounts, DISKS), 1 + DISKS as usize)
    };
    assert!(most(Policy::Fairness) <= 2);
    assert!(most(Policy::CommandsFirst) > 10, "{}", most(Policy::CommandsFirst));
}
