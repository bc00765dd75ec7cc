//! SCSI buses and SAS ports: times by hand, and the rules of access under random traffic.

use super::common::{Coming, by_events, drive, graph, lowered, traffic, visits_of};
use super::near::near;
use crate::array::{ArraySpec, Level, Via};
use crate::graph::Copies;
use crate::station::{Order, StationSpec};
use crate::{ComponentSpec, Graph};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, DrawnTime, Op, TimeSpec};
use proptest::prelude::*;

const UNIT: u64 = 64 * 1024;
const MS: u64 = 1_000_000;

fn component(text: &str) -> ComponentSpec {
    serde_json::from_str(text).unwrap()
}

fn array(service: TimeSpec, disks: u32) -> ComponentSpec {
    let spec =
        StationSpec { servers: 1, service, rate: None, order: Order::FirstCome, capacity: Bytes(1 << 34) };
    let of = Copies::Written(Box::new(ComponentSpec::Station(spec)));
    let spec = ArraySpec::new(Level::Raid0, of, Some(disks), Bytes(UNIT));
    ComponentSpec::Array(ArraySpec { via: Some(Via::One("bus".to_owned())), ..spec })
}

fn system(bus: &str, service: TimeSpec, disks: u32) -> Graph {
    graph(&[("tds", array(service, disks)), ("bus", component(bus))], &drive())
}

/// How long requests to an idle array of four disks take, without the 1 ms of each disk, in ns: those of one instant.
fn alone(bus: &str, requests: &[(Op, u64, u64)]) -> Vec<f64> {
    let coming =
        |&(op, unit, bytes): &(Op, u64, u64)| (Nanos(0), 0, Block { op, address: unit * UNIT, bytes });
    let coming: Vec<Coming> = requests.iter().map(coming).collect();
    let accounts = by_events(&system(bus, TimeSpec::Fixed(Nanos(MS)), 4), &["tds"], &coming);
    accounts.iter().map(|account| account.total().0 as f64 - MS as f64).collect()
}

/// Arbitration and selection of the default bus, in ns, and a byte of its messages.
const SELECTED: f64 = 4890.0 + 2000.0;
const MESSAGE_BYTE: f64 = 200.0;

/// A read is two connections: 14 bytes of identification, command and disconnection; then the data between 3 of reconnection and 2 of
/// status and end.
#[test]
fn a_read_on_an_idle_bus_takes_what_it_takes_by_hand() {
    let found = alone(r#"{"type": "scsi_bus", "preset": "ultra160"}"#, &[(Op::Read, 0, 4096)]);
    near(found[0], 2.0 * SELECTED + 19.0 * MESSAGE_BYTE + 4096.0 * 1e3 / 160.0, 4.0);
}

/// A write is three: the disk reconnects for its data, and for the status.
#[test]
fn a_write_on_an_idle_bus_takes_three_connections() {
    let bus = r#"{"type": "scsi_bus", "preset": "fast", "async_rate": "2 MB/s", "selection": "10 us"}"#;
    near(alone(bus, &[(Op::Write, 0, 3000)])[0], 3.0 * 14_890.0 + 24.0 * 500.0 + 300_000.0, 4.0);
}

/// A disk with more data than a burst reconnects for each.
#[test]
fn bursts_cost_a_connection_each() {
    let bus = |burst: &str| format!(r#"{{"type": "scsi_bus", "preset": "ultra2"{burst}}}"#);
    let whole = alone(&bus(""), &[(Op::Read, 0, 40_000)])[0];
    let pieces = alone(&bus(r#", "burst": "16 KiB""#), &[(Op::Read, 0, 40_000)])[0];
    near(pieces - whole, 2.0 * (SELECTED + 5.0 * MESSAGE_BYTE), 4.0);
}

/// A narrow bus has eight IDs and a wide one sixteen, one of them the controller's.
#[test]
fn a_bus_has_as_many_ids_as_it_is_wide() {
    let with = |preset: &str, disks: u32| {
        let bus = component(&format!(r#"{{"type": "scsi_bus", "preset": "{preset}"}}"#));
        lowered(&[("tds", array(TimeSpec::Fixed(Nanos(MS)), disks)), ("bus", bus)], &drive()).map(drop)
    };
    assert!(with("fast", 7).is_ok() && with("ultra320", 15).is_ok());
    let narrow = with("fast", 8).unwrap_err().remove(0);
    assert!(narrow.message.contains("`bus` would have 9 ports"), "{}", narrow.message);
    assert!(narrow.message.contains("it has room for 8"), "{}", narrow.message);
    assert!(with("ultra320", 16).is_err());
}

#[test]
fn a_burst_of_nothing_is_refused() {
    let refused =
        |text: &str| lowered(&[("bus", component(text))], &drive()).map(drop).unwrap_err().remove(0);
    let burst = refused(r#"{"type": "scsi_bus", "preset": "fast", "burst": "0 B"}"#);
    assert_eq!(burst.field, ["system", "bus", "burst"]);
}

/// A read at 600 MB/s: a command of 32 bytes, then four frames of data and a status of 24, each with 36 bytes around it; to open and
/// close takes 60 bytes and four times the way through an expander.
#[test]
fn a_read_over_sas_takes_what_it_takes_by_hand() {
    let by_hand = |expanders: f64, mb_per_s: f64| {
        let bytes = 2.0 * 60.0 + (32.0 + 36.0) + 4.0 * (1024.0 + 36.0) + (24.0 + 36.0);
        8.0 * expanders * 300.0 + bytes * 1e3 / mb_per_s
    };
    let found = |text: &str| alone(&format!(r#"{{"type": "sas", {text}}}"#), &[(Op::Read, 0, 4096)])[0];
    near(found(r#""preset": "sas_6g""#), by_hand(1.0, 600.0), 4.0);
    near(found(r#""preset": "sas_12g", "expanders": 3"#), by_hand(3.0, 1200.0), 4.0);
    near(found(r#""preset": "sas_22_5g", "expanders": 0, "disk_links": "sas_3g""#), by_hand(0.0, 300.0), 4.0);
}

/// Four disks that have 64 KiB each at the same time: by four lanes as soon as one, by two lanes the last waits for another.
#[test]
fn lanes_carry_side_by_side() {
    let reads: Vec<_> = (0..4).map(|disk| (Op::Read, disk, UNIT)).collect();
    let last = |lanes: u32| {
        let text = format!(r#"{{"type": "sas", "preset": "sas_6g", "lanes": {lanes}}}"#);
        alone(&text, &reads).into_iter().fold(0.0, f64::max)
    };
    let data = 1200.0 + (60.0 + 64.0 * 1060.0 + 60.0) / 0.6;
    let command = 1200.0 + 128.0 / 0.6;
    near(last(4), command + data, 4.0);
    near(last(2), 2.0 * command + 2.0 * data - command, 4.0);
    near(last(1), command + 4.0 * data, 4.0);
}

/// A time in which a port had a lane, since when it wanted it, and whose command it is part of.
#[derive(Clone, Copy, Debug)]
struct Tenancy {
    by_controller: bool,
    disk: u64,
    asked: u64,
    began: u64,
    ended: u64,
}

const DISKS: u64 = 6;

/// The tenancies of requests that stay on one disk each, in order; `by_controller` says who sends, from the first on.
fn tenancies(
    graph: &Graph,
    requests: &[Coming],
    accounts: &[Breakdown],
    by_controller: fn(Op) -> &'static [bool],
) -> Vec<Tenancy> {
    let bus = graph.named("bus").unwrap();
    let of_one = |(coming, breakdown): (&Coming, &Breakdown)| {
        let disk = coming.2.address / UNIT % DISKS;
        let senders = by_controller(coming.2.op);
        let visits = visits_of(bus, breakdown);
        assert_eq!(visits.len(), senders.len());
        let tenancy = move |((asked, began, ended), by_controller): ((u64, u64, u64), &bool)| Tenancy {
            by_controller: *by_controller,
            disk,
            asked,
            began,
            ended,
        };
        visits.into_iter().zip(senders).map(tenancy).collect::<Vec<_>>()
    };
    let mut all: Vec<Tenancy> = requests.iter().zip(accounts).flat_map(of_one).collect();
    all.sort_by_key(|tenancy| tenancy.began);
    all
}

fn on_a_bus(op: Op) -> &'static [bool] {
    match op {
        Op::Read => &[true, false],
        Op::Write | Op::Discard | Op::Flush => &[true, false, false],
    }
}

fn over_sas(op: Op) -> &'static [bool] {
    match op {
        Op::Read => &[true, false],
        Op::Write | Op::Discard | Op::Flush => &[true, false, true, false],
    }
}

fn busy(bus: &str) -> Graph {
    system(bus, TimeSpec::Drawn(DrawnTime::Exponential(Nanos(3 * MS))), DISKS as u32)
}

/// The rank of a device in arbitration, the winner's first.
const fn rank(tenancy: &Tenancy) -> u64 {
    if tenancy.by_controller { 0 } else { 1 + tenancy.disk }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One device has the bus at a time, and never one while a device with a higher ID waits for it. `by_events` checks that every
    /// byte that is sent arrives.
    #[test]
    fn the_highest_id_has_the_bus_next(requests in traffic(DISKS, UNIT)) {
        let graph = busy(r#"{"type": "scsi_bus", "preset": "fast_wide"}"#);
        let accounts = by_events(&graph, &["tds"], &requests);
        let all = tenancies(&graph, &requests, &accounts, on_a_bus);
        prop_assert!(all.windows(2).all(|pair| pair[0].ended <= pair[1].began));
        for (at, one) in all.iter().enumerate() {
            let passed_over = all[at + 1..].iter().any(|other| other.asked < one.began && rank(other) < rank(one));
            prop_assert!(!passed_over, "{one:?}");
        }
    }

    /// No more connections than lanes at once, one to each disk; none waits while its disk and a lane are free.
    #[test]
    fn connections_have_a_lane_and_a_link_each(lanes in 1u32..5, requests in traffic(DISKS, UNIT)) {
        let graph = busy(&format!(r#"{{"type": "sas", "preset": "sas_3g", "lanes": {lanes}}}"#));
        let accounts = by_events(&graph, &["tds"], &requests);
        let all = tenancies(&graph, &requests, &accounts, over_sas);
        let at = |time: u64| all.iter().filter(move |one| (one.began..one.ended).contains(&time));
        for one in &all {
            prop_assert!(at(one.began).count() <= lanes as usize);
            prop_assert_eq!(at(one.began).filter(|other| other.disk == one.disk).count(), 1);
            let before = one.began.saturating_sub(1);
            if one.asked <= before {
                let (held, its_disk) = (at(before).count(), at(before).any(|other| other.disk == one.disk));
                prop_assert!(held == lanes as usize || its_disk, "{one:?} waits for nothing");
            }
        }
    }
}

/// How long each tenancy of 256 KiB on one mechanical disk lasts, in ns, where a controller's bus carries 128 KiB at once.
fn in_pieces(bus: &str, op: Op) -> Vec<f64> {
    let disk = r#"{"type": "disk", "device": "any", "positioning": "mechanical"}"#;
    let of = Copies::Written(Box::new(component(disk)));
    let spec = ArraySpec::new(Level::Raid0, of, Some(2), Bytes(8 * UNIT));
    let via = Some(Via::One("bus".to_owned()));
    let tds = ComponentSpec::Array(ArraySpec { via, controllers: vec!["a".to_owned()], ..spec });
    let system = [("tds", tds), ("bus", component(bus)), ("a", component(r#"{"type": "controller"}"#))];
    let graph = graph(&system, &drive());
    let account = by_events(&graph, &["tds"], &[(Nanos(0), 0, Block { op, address: 0, bytes: 4 * UNIT })]);
    let visits = visits_of(graph.named("bus").unwrap(), &account[0]);
    visits.iter().map(|(_, began, ended)| (ended - began) as f64).collect()
}

#[track_caller]
fn are_near(found: &[f64], by_hand: &[f64]) {
    assert_eq!(found.len(), by_hand.len(), "{found:?}, by hand {by_hand:?}");
    for (found, by_hand) in found.iter().zip(by_hand) {
        near(*found, *by_hand, 4.0);
    }
}

/// Behind a controller a command and its status cross once, and each piece of data by itself: a parallel bus is selected again for each
/// piece, with the messages of a disconnection.
#[test]
fn pieces_on_a_bus_come_after_a_command_and_before_a_status() {
    let bus = r#"{"type": "scsi_bus", "preset": "ultra160"}"#;
    let command = SELECTED + 14.0 * MESSAGE_BYTE;
    let status = SELECTED + 5.0 * MESSAGE_BYTE;
    let piece = status + 131_072.0 * 1e3 / 160.0;
    are_near(&in_pieces(bus, Op::Read), &[command, piece, piece]);
    are_near(&in_pieces(bus, Op::Write), &[command, piece, piece, status]);
}

/// Over SAS the status follows the last data of a read; a write waits for the word that the disk is ready.
#[test]
fn pieces_over_sas_come_after_a_command_and_before_a_status() {
    let sas = r#"{"type": "sas", "preset": "sas_6g"}"#;
    let ns = |bytes: f64| 1200.0 + (60.0 + bytes) / 0.6;
    let (command, ready, status) = (32.0 + 36.0, 12.0 + 36.0, 24.0 + 36.0);
    let piece = 128.0 * (1024.0 + 36.0);
    are_near(&in_pieces(sas, Op::Read), &[ns(command), ns(piece), ns(piece + status)]);
    are_near(&in_pieces(sas, Op::Write), &[ns(command), ns(ready), ns(piece), ns(piece), ns(status)]);
}
