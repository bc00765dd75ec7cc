//! Controllers and caches in time: arrays of disks that take 10 ms for anything, behind a bus.

use super::common::{by_events, drive, graph, lowered};
use crate::array::cache::ArrayCacheSpec;
use crate::array::{Access, ArraySpec, Level};
use crate::controller::ControllerSpec;
use crate::graph::Copies;
use crate::station::{Order, StationSpec};
use crate::{ComponentSpec, Graph};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Op, TimeSpec};
use proptest::prelude::*;

const KIB: u64 = 1024;
const UNIT: u64 = 64 * KIB;
/// Four data disks.
const STRIPE: u64 = 4 * UNIT;

const fn us(us: u64) -> Nanos {
    Nanos(us * 1000)
}

fn controller(text: &str) -> ComponentSpec {
    ComponentSpec::Controller(serde_json::from_str::<ControllerSpec>(text).unwrap())
}

fn cache(text: &str) -> ArrayCacheSpec {
    serde_json::from_str(text).unwrap()
}

fn array(level: Level) -> ArraySpec {
    let service = TimeSpec::Fixed(us(10_000));
    let station =
        StationSpec { servers: 1, service, rate: None, order: Order::FirstCome, capacity: Bytes(1 << 30) };
    let of = Copies::Written(Box::new(ComponentSpec::Station(station)));
    ArraySpec::new(level, of, Some(5), Bytes(UNIT))
}

/// An array `tds` that controllers `a` (and `b`) run, whose buses carry 64 KiB in 655,360 ns.
fn system(spec: ArraySpec) -> Graph {
    let of = |text: &str| controller(&format!(r#"{{"bus": "100 MB/s", "command": "0.1 ms"{text}}}"#));
    let system = [("a", of("")), ("b", of("")), ("tds", ComponentSpec::Array(spec))];
    graph(&system, &drive())
}

fn run_by(controllers: &[&str], spec: ArraySpec) -> ArraySpec {
    ArraySpec { controllers: controllers.iter().map(|name| (*name).to_owned()).collect(), ..spec }
}

/// The responses of requests (when, op, address, bytes).
fn responses(spec: ArraySpec, requests: &[(Nanos, Op, u64, u64)]) -> Vec<Nanos> {
    let coming = |&(at, op, address, bytes): &(Nanos, Op, u64, u64)| (at, 0, Block { op, address, bytes });
    let coming: Vec<_> = requests.iter().map(coming).collect();
    by_events(&system(spec), &["tds"], &coming).iter().map(|breakdown| breakdown.total()).collect()
}

/// How long the bus takes for `bytes`.
fn bus(bytes: u64) -> Nanos {
    Nanos(bytes * 10)
}

#[test]
fn data_crosses_the_bus_once_for_the_host_and_once_for_the_disk() {
    let read = [(Nanos::ZERO, Op::Read, 0, UNIT)];
    // A command of the host, one to the disk, the disk, and twice the data.
    let expected = us(200) + us(10_000) + bus(2 * UNIT);
    assert_eq!(responses(run_by(&["a"], array(Level::Raid5)), &read), [expected]);
    assert_eq!(responses(array(Level::Raid5), &read), [us(10_000)], "without a controller there is no bus");
}

/// Five commands one after another; the last disk's data waits for those before it on the bus.
#[test]
fn parity_crosses_the_bus_as_data_does() {
    let write = [(Nanos::ZERO, Op::Write, 0, STRIPE)];
    let found = responses(run_by(&["a"], array(Level::Raid5)), &write)[0];
    assert_eq!(found, us(100) + bus(STRIPE) + us(100) + bus(5 * UNIT) + us(10_000));
}

/// New parity is the sum of all that it is computed from: the data of a whole stripe; old data, old parity and new data of a small write;
/// the data that stays and new data of a large one. A unit that is lost is the sum of the others. At 50 MB/s a unit takes 1,310,720 ns.
#[test]
fn parity_takes_what_it_is_computed_from() {
    let took = |failed: Vec<u32>, op: Op, bytes: u64| {
        let spec = ArraySpec { failed, ..run_by(&["a"], array(Level::Raid5)) };
        let system =
            [("a", controller(r#"{"parity_rate": "50 MB/s"}"#)), ("tds", ComponentSpec::Array(spec))];
        let request = (Nanos::ZERO, 0, Block { op, address: 0, bytes });
        by_events(&graph(&system, &drive()), &["tds"], &[request])[0].total()
    };
    let units = |many: u64| Nanos(many * 1_310_720);
    assert_eq!(took(vec![], Op::Write, STRIPE), us(10_000) + units(4));
    assert_eq!(took(vec![], Op::Write, UNIT), us(20_000) + units(3), "read-modify-write");
    assert_eq!(took(vec![], Op::Write, 3 * UNIT), us(20_000) + units(4), "reconstruct-write");
    assert_eq!(took(vec![], Op::Read, UNIT), us(10_000));
    // The first stripe has its data on disks 0 to 3.
    assert_eq!(took(vec![0], Op::Read, UNIT), us(10_000) + units(4), "three of data and parity");
    assert_eq!(took(vec![4], Op::Write, UNIT), us(10_000), "no parity is written");
}

#[test]
fn a_write_back_cache_answers_before_the_disks_do() {
    let writes = [(Nanos::ZERO, Op::Write, 0, UNIT)];
    let back =
        || ArraySpec { cache: Some(cache(r#"{"size": "4 MiB", "writes": "back"}"#)), ..array(Level::Raid5) };
    assert_eq!(responses(run_by(&["a"], back()), &writes), [us(100) + bus(UNIT)]);
    // Its copy crosses both buses.
    assert_eq!(responses(run_by(&["a", "b"], back()), &writes), [us(100) + bus(3 * UNIT)]);
    let through = ArraySpec { cache: Some(cache(r#"{"size": "4 MiB"}"#)), ..array(Level::Raid5) };
    // Two reads of old data and parity, and two writes.
    assert!(responses(through, &writes)[0] >= us(20_000));
}

#[test]
fn what_was_read_or_written_is_found() {
    let spec =
        || ArraySpec { cache: Some(cache(r#"{"size": "4 MiB", "writes": "back"}"#)), ..array(Level::Raid5) };
    let later = us(1_000_000);
    for first in [Op::Read, Op::Write] {
        let both = [(Nanos::ZERO, first, 0, UNIT), (later, Op::Read, 0, UNIT)];
        assert_eq!(responses(spec(), &both)[1], Nanos::ZERO, "after {first:?}");
    }
    let elsewhere = [(Nanos::ZERO, Op::Read, 0, UNIT), (later, Op::Read, UNIT, UNIT)];
    assert_eq!(responses(spec(), &elsewhere)[1], us(10_000));
}

/// A line that two reads want is fetched once: the second waits for it.
#[test]
fn a_line_on_its_way_is_waited_for() {
    let spec = ArraySpec { cache: Some(cache(r#"{"size": "4 MiB"}"#)), ..array(Level::Raid5) };
    let reads = [(Nanos::ZERO, Op::Read, 0, KIB), (us(4_000), Op::Read, 8 * KIB, KIB)];
    assert_eq!(responses(spec, &reads), [us(10_000), us(6_000)]);
}

/// Of a cache of sixteen lines, what was used least recently is gone.
#[test]
fn a_cache_holds_no_more_than_its_size() {
    let spec = ArraySpec { cache: Some(cache(r#"{"size": "1 MiB"}"#)), ..array(Level::Raid5) };
    let reads = (0..17)
        .chain([16, 0])
        .enumerate()
        .map(|(n, unit)| (us(100_000 * n as u64), Op::Read, unit * UNIT, UNIT));
    let found = responses(spec, &reads.collect::<Vec<_>>());
    assert_eq!(found[17..], [Nanos::ZERO, us(10_000)]);
}

/// Sequential reads wait for the first two only, and then find what was fetched ahead of them.
#[test]
fn sequential_reads_find_what_was_read_ahead() {
    let spec = |ahead: &str| ArraySpec {
        cache: Some(cache(&format!(r#"{{"size": "16 MiB"{ahead}}}"#))),
        ..array(Level::Raid5)
    };
    let reads: Vec<_> = (0..8).map(|n| (us(50_000 * n), Op::Read, n * STRIPE, STRIPE)).collect();
    let ahead = responses(spec(r#", "read_ahead": "1 MiB""#), &reads);
    assert_eq!(ahead[2..], [Nanos::ZERO; 6]);
    assert_eq!(responses(spec(""), &reads), [us(10_000); 8]);
}

/// Whole stripes are written without reading. A part waits for the rest of its stripe, and then needs no reading either.
#[test]
fn parts_of_a_stripe_are_gathered() {
    let count = |bytes: u64, each: u64| {
        let spec =
            ArraySpec { cache: Some(cache(r#"{"size": "4 MiB", "writes": "back"}"#)), ..array(Level::Raid5) };
        let graph = system(spec);
        let writes: Vec<_> = (0..bytes / each)
            .map(|n| (us(n), 0, Block { op: Op::Write, address: n * each, bytes: each }))
            .collect();
        by_events(&graph, &["tds"], &writes);
        super::common::accesses(&graph, &writes)
    };
    assert_eq!(count(STRIPE, STRIPE / 16), 5, "a stripe written in sixteen parts");
    assert_eq!(count(STRIPE / 16, STRIPE / 16), 4, "a part of one, once nothing else happens");
}

/// Pieces of two units at one offset are destaged together: what stays there is read from the two other units, and the pieces and one parity
/// are written. Each for itself, they take four accesses.
#[test]
fn pieces_of_a_stripe_share_their_parity() {
    let count = |addresses: &[u64]| {
        let spec =
            ArraySpec { cache: Some(cache(r#"{"size": "4 MiB", "writes": "back"}"#)), ..array(Level::Raid5) };
        let graph = system(spec);
        let write = |(n, address): (u64, &u64)| {
            (us(n), 0, Block { op: Op::Write, address: *address, bytes: 4 * KIB })
        };
        super::common::accesses(&graph, &(0..).zip(addresses).map(write).collect::<Vec<_>>())
    };
    assert_eq!(count(&[0]), 4);
    assert_eq!(count(&[0, UNIT]), 5);
    assert_eq!(count(&[0, STRIPE]), 8, "of two stripes");
    // In one unit they are one access, with what lies between them.
    assert_eq!(count(&[0, 8 * KIB]), 4);
}

/// Arrays `tds` and `logs` that share the cache of controllers `a` and `b`; commands and data take no time.
fn sharing(text: &str) -> Graph {
    let of = || controller(&format!(r#"{{"cache": {text}}}"#));
    let array = |names: &[&str]| ComponentSpec::Array(run_by(names, array(Level::Raid5)));
    let system = [("a", of()), ("b", of()), ("tds", array(&["a", "b"])), ("logs", array(&["b", "a"]))];
    graph(&system, &drive())
}

/// Requests to two arrays: (when, which, operation, unit).
fn both(graph: &Graph, requests: &[(Nanos, usize, Op, u64)]) -> Vec<Nanos> {
    let coming = |&(at, which, op, unit): &(Nanos, usize, Op, u64)| {
        (at, which, Block { op, address: unit * UNIT, bytes: UNIT })
    };
    let coming: Vec<_> = requests.iter().map(coming).collect();
    by_events(graph, &["tds", "logs"], &coming).iter().map(|breakdown| breakdown.total()).collect()
}

/// Of sixteen lines that two arrays share, the one used least recently gives way, whosever it is.
#[test]
fn a_shared_cache_drops_what_was_used_least_recently() {
    let reads: Vec<_> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(|unit| (0, unit)).to_vec();
    let reads = reads.into_iter().chain([(1, 0), (0, 1), (0, 0), (1, 0)]).enumerate();
    let reads: Vec<_> =
        reads.map(|(n, (which, unit))| (us(100_000 * n as u64), which, Op::Read, unit)).collect();
    let found = both(&sharing(r#"{"size": "1 MiB"}"#), &reads);
    let (hit, miss) = (Nanos::ZERO, us(10_000));
    assert_eq!(
        found[16..],
        [miss, hit, miss, hit],
        "the read of `logs` puts unit 0 of `tds` out, and not unit 1"
    );
}

/// One array has written fifteen of sixteen units, each part of a stripe. The other finds room for one, and for its second waits until
/// a part has gone to the disks: old data and parity are read, and new ones written.
#[test]
fn an_array_waits_until_another_has_made_room() {
    let cache =
        r#"{"size": "1 MiB", "writes": "back", "stripes_at_once": 1, "destage": {"high": 1.0, "low": 1.0}}"#;
    let writes = (0..15).map(|n| (us(n), 0, Op::Write, 4 * n));
    let writes: Vec<_> = writes.chain([(us(100), 1, Op::Write, 0), (us(100), 1, Op::Write, 4)]).collect();
    let found = both(&sharing(cache), &writes);
    assert_eq!(found[..16], [Nanos::ZERO; 16]);
    assert_eq!(found[16], us(20_000));
}

#[test]
fn what_cannot_work_is_refused() {
    let told = |spec: ArraySpec, of_controller: &str| {
        let system =
            [("a", controller(of_controller)), ("b", controller("{}")), ("tds", ComponentSpec::Array(spec))];
        lowered(&system, &drive()).unwrap_err().remove(0).message
    };
    let cached = |text: &str| ArraySpec { cache: Some(cache(text)), ..run_by(&["a"], array(Level::Raid5)) };
    let odd = r#"{"size": "1 GiB", "line": "48 KiB"}"#;
    assert!(told(cached(odd), "{}").contains("no multiple of a line of 48 KiB"));
    let shared = format!(r#"{{"cache": {odd}}}"#);
    assert!(told(run_by(&["a"], array(Level::Raid5)), &shared).contains("no multiple of a line of 48 KiB"));
    assert!(told(cached(r#"{"size": "32 KiB"}"#), "{}").contains("fewer than four lines"));
    let low = r#"{"size": "1 GiB", "destage": {"high": 0.2, "low": 0.5}}"#;
    assert!(told(cached(low), "{}").contains("`low` is at most `high`"));
    assert!(told(run_by(&["a", "a"], array(Level::Raid5)), "{}").contains("listed twice"));
    assert!(told(run_by(&["tds"], array(Level::Raid5)), "{}").contains("circular"));
    let active = ArraySpec { access: Access::ActiveActive, ..run_by(&["a"], array(Level::Raid5)) };
    assert!(told(active, "{}").contains("there are not two"));
    let alone = r#"{"cache": {"size": "1 GiB"}}"#;
    assert!(
        told(run_by(&["a", "b"], array(Level::Raid5)), alone).contains("the caches of `a` and `b` differ")
    );
    let other = graph(&[("a", controller("{}"))], &drive());
    assert_eq!(other.nodes.len(), 1, "a controller without a bus has none");
}

/// A controller shares its memory with one other, not with several.
#[test]
fn a_cache_has_one_pair_of_controllers() {
    let of = || controller(r#"{"cache": {"size": "1 GiB"}}"#);
    let array = |names: &[&str]| ComponentSpec::Array(run_by(names, array(Level::Raid5)));
    let system = [("a", of()), ("b", of()), ("tds", array(&["a", "b"])), ("logs", array(&["a"]))];
    let refused = lowered(&system, &drive()).unwrap_err().remove(0);
    assert_eq!(refused.field, ["system", "logs", "controllers"]);
    assert!(
        refused
            .message
            .contains("`a` shares its cache memory with another controller for `logs` than for `tds`")
    );
}

fn requests() -> impl Strategy<Value = Vec<(u64, bool, u64, u64)>> {
    prop::collection::vec((0u64..200_000, any::<bool>(), 0u64..3000, 1u64..1200), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Whatever comes, all of it is answered, nothing is lost on any edge, and all that was written is on the disks in the end
    /// (which `by_events` checks).
    #[test]
    fn whatever_comes_is_served(
        requests in requests(), level in 0usize..4, controllers in 0usize..3, both in any::<bool>(),
        size in 1u64..9, back in any::<bool>(), ahead in 0u64..3, at_once in 0u32..4, share in 0u32..4,
    ) {
        let at_once = if at_once == 0 { "null".to_owned() } else { at_once.to_string() };
        let share = if share == 0 { "null".to_owned() } else { f64::from(share - 1).mul_add(0.1, 0.0).to_string() };
        let level = [Level::Raid0, Level::Raid5, Level::Raid6, Level::Erasure { parity: 3 }][level];
        let text = format!(
            r#"{{"size": "{size} MiB", "writes": "{}", "read_ahead": "{ahead} MiB", "stripes_at_once": {at_once},
                "line": "16 KiB", "destage": {{"read_ahead_share": {share}}}}}"#,
            if back { "back" } else { "through" }
        );
        let spec = ArraySpec { cache: Some(cache(&text)), ..run_by(&["a", "b"][..controllers], array(level)) };
        let access = if both && controllers == 2 { Access::ActiveActive } else { Access::ActivePassive };
        let graph = system(ArraySpec { access, ..spec });
        let coming: Vec<_> = requests
            .iter()
            .map(|&(at, read, address, bytes)| {
                let op = if read { Op::Read } else { Op::Write };
                (us(at), 0, Block { op, address: address * 1000, bytes: bytes * 1000 })
            })
            .collect();
        by_events(&graph, &["tds"], &coming);
    }

    /// The same of two arrays in one memory, however little it is.
    #[test]
    fn whatever_comes_to_a_shared_cache_is_served(
        requests in requests(), size in 1u64..5, back in any::<bool>(), ahead in 0u64..3, at_once in 1u32..4, high in 1u32..11,
    ) {
        let text = format!(
            r#"{{"size": "{size} MiB", "writes": "{}", "read_ahead": "{ahead} MiB", "stripes_at_once": {at_once}, "line": "16 KiB",
                "destage": {{"high": {}, "low": 0.05}}}}"#,
            if back { "back" } else { "through" }, f64::from(high) / 10.0
        );
        let coming = |(n, &(at, read, address, bytes)): (usize, &(u64, bool, u64, u64))| {
            let op = if read { Op::Read } else { Op::Write };
            (us(at), n % 2, Block { op, address: address * 1000, bytes: bytes * 1000 })
        };
        let coming: Vec<_> = requests.iter().enumerate().map(coming).collect();
        by_events(&sharing(&text), &["tds", "logs"], &coming);
    }
}
