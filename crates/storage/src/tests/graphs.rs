//! Random systems: whatever is built of components, accounts add up, what is sent arrives, and order and numbers are as promised.

use super::common::{Coming, by_events, graph, lowered};
use crate::DeviceRef;
use crate::array::{ArraySpec, Level, Queueing, ReadFrom, Via};
use crate::disk::{DiskNumbers, DiskSpec, Positioning};
use crate::graph::Copies;
use crate::link::LinkSpec;
use crate::station::{Order, StationSpec};
use crate::{ComponentSpec, Graph};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Block, DrawnTime, Op, TimeSpec};
use proptest::prelude::*;

const UNIT: u64 = 64 * 1024;

fn drive() -> DiskNumbers {
    serde_json::from_str(
        r#"{"capacity": "10 GB", "cylinders": 6000, "rotation": "7200 rpm", "media_rate_outer": "60 MB/s",
            "media_rate_inner": "40 MB/s", "seek_read": {"track_to_track": "1 ms", "full_stroke": "15 ms"},
            "seek_write": {"track_to_track": "1.5 ms", "full_stroke": "16 ms"}, "overhead": "0.1 ms",
            "cache": {"segments": 4, "segment_size": "256 KiB", "writes": "back", "drain": "sptf"},
            "interface": {"read_rate": "100 MB/s", "write_rate": "100 MB/s"}}"#,
    )
    .unwrap()
}

fn station(servers: u32, service: Nanos, order: Order) -> ComponentSpec {
    let service = TimeSpec::Drawn(DrawnTime::Exponential(service));
    ComponentSpec::Station(StationSpec { servers, service, rate: None, order, capacity: Bytes(1 << 30) })
}

fn disk(positioning: Positioning) -> ComponentSpec {
    let device = DeviceRef::Named("any".to_owned());
    ComponentSpec::Disk(DiskSpec { device, positioning, scheduling: None, queue_depth: None, phase: None })
}

/// A stripe unit is at least a sector of the disks below, also where these are parts of other arrays.
#[test]
fn a_part_of_a_sector_is_refused() {
    let of = |unit: u64, inner: bool| {
        let copies = |spec| Copies::Written(Box::new(spec));
        let shelf = ArraySpec::new(Level::Raid0, copies(disk(Positioning::Addressed)), Some(2), Bytes(UNIT));
        let of = if inner { ComponentSpec::Array(shelf) } else { disk(Positioning::Mechanical) };
        let tds = ArraySpec::new(Level::Raid5, copies(of), Some(3), Bytes(unit));
        lowered(&[("tds", ComponentSpec::Array(tds))], &drive()).err().map(|errors| errors[0].message.clone())
    };
    for inner in [false, true] {
        let message = "a stripe unit of 100 B is less than a sector of 512 B";
        assert_eq!(of(100, inner).as_deref(), Some(message));
        assert_eq!(of(512, inner), None);
    }
}

/// A component without parts.
fn leaf() -> impl Strategy<Value = ComponentSpec> {
    prop_oneof![
        (1u32..4, 1u64..20, any::<bool>()).prop_map(|(servers, ms, urgent)| {
            let order = if urgent { Order::Priority } else { Order::FirstCome };
            station(servers, Nanos(ms * 1_000_000), order)
        }),
        Just(disk(Positioning::Addressed)),
        Just(disk(Positioning::Independent)),
        Just(disk(Positioning::Mechanical)),
    ]
}

fn array(of: Copies, disks: Option<u32>, lockstep: bool, via: bool) -> ComponentSpec {
    of_level(Level::Raid0, of, disks, lockstep, via)
}

fn of_level(level: Level, of: Copies, disks: Option<u32>, lockstep: bool, via: bool) -> ComponentSpec {
    ComponentSpec::Array(ArraySpec {
        queueing: if lockstep { Queueing::SplitMerge } else { Queueing::ForkJoin },
        via: via.then(|| Via::One("wire".to_owned())),
        ..ArraySpec::new(level, of, disks, Bytes(UNIT))
    })
}

/// A redundant array of up to six disks, perhaps with one that has failed.
fn redundant() -> impl Strategy<Value = ComponentSpec> {
    let levels = [
        (Level::Raid1, 3),
        (Level::Raid10, 4),
        (Level::Raid01, 4),
        (Level::Raid4, 4),
        (Level::Raid5, 5),
        (Level::Raid6, 6),
        (Level::Erasure { parity: 3 }, 5),
    ];
    (leaf(), 0..levels.len(), any::<bool>(), any::<bool>(), prop::option::of(0u32..3), 0usize..3).prop_map(
        move |(of, at, lockstep, via, failed, choice)| {
            let (level, disks) = levels[at];
            let of = Copies::Written(Box::new(of));
            let ComponentSpec::Array(spec) = of_level(level, of, Some(disks), lockstep, via) else {
                unreachable!("an array is an array")
            };
            let choices = [ReadFrom::RoundRobin, ReadFrom::ShortestQueue, ReadFrom::Nearest];
            let read_from = (at < 3).then_some(choices[choice]);
            ComponentSpec::Array(ArraySpec { failed: failed.into_iter().collect(), read_from, ..spec })
        },
    )
}

/// A component, or copies of one in an array, up to three deep; perhaps all behind one link.
fn component() -> impl Strategy<Value = ComponentSpec> {
    prop_oneof![2 => leaf(), 1 => redundant()].prop_recursive(2, 8, 1, |inner| {
        (inner, 1u32..4, any::<bool>(), any::<bool>()).prop_map(|(of, disks, lockstep, via)| {
            array(Copies::Written(Box::new(of)), Some(disks), lockstep, via)
        })
    })
}

/// Two components, an array over both (they are shared), and a link or a loop that every array may use.
fn system() -> impl Strategy<Value = Graph> {
    let parts = (component(), component(), any::<bool>(), any::<bool>(), any::<bool>());
    parts.prop_filter_map("a loop has room for 127 ports", |(east, west, lockstep, via, looped)| {
        let both = Copies::Shared(vec!["east".to_owned(), "west".to_owned()]);
        let system = [
            ("both", array(both, None, lockstep, via)),
            ("east", east),
            ("wire", wire(looped)),
            ("west", west),
        ];
        lowered(&system, &drive()).ok()
    })
}

fn wire(looped: bool) -> ComponentSpec {
    if looped {
        let text = r#"{"rate": "2 Gb/s", "policy": "commands_first", "metres": 50}"#;
        return ComponentSpec::FcLoop(serde_json::from_str(text).unwrap());
    }
    ComponentSpec::Link(LinkSpec::new(BytesPerSecond(200e6), Nanos(20_000)))
}

fn requests() -> impl Strategy<Value = Vec<Coming>> {
    let one = (0u64..30_000_000, 0usize..3, any::<bool>(), 0u64..4000, 1u64..40);
    prop::collection::vec(one, 1..60).prop_map(|all| {
        let mut now = Nanos::ZERO;
        let coming = |(gap, target, write, unit, sectors)| {
            now += Nanos(gap);
            let op = if write { Op::Write } else { Op::Read };
            (now, target, Block { op, address: unit * 16 * 1024, bytes: sectors * 8192 })
        };
        all.into_iter().map(coming).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Nested, parallel, sequential and shared parts: the legs of every request add up to its response, to the nanosecond, and
    /// on every edge what is sent arrives (`by_events` checks both).
    #[test]
    fn accounts_add_up_and_nothing_is_lost(graph in system(), requests in requests()) {
        let accounts = by_events(&graph, &["both", "east", "west"], &requests);
        for breakdown in accounts {
            let legs: Nanos = breakdown.spans().fold(Nanos::ZERO, |sum, (_, _, span)| sum + span);
            prop_assert_eq!(legs, breakdown.total());
        }
    }

    /// Each node comes after all that it uses, once; names and groups are those of the document.
    #[test]
    fn a_graph_is_in_order(graph in system()) {
        let mut built = vec![false; graph.nodes.len()];
        for id in &graph.order {
            let node = &graph.nodes[id.index()];
            prop_assert!(node.uses.iter().all(|used| built[used.index()]), "{}", node.path);
            prop_assert!(!std::mem::replace(&mut built[id.index()], true), "{} comes twice", node.path);
            if let Some(within) = node.within {
                let outer = &graph.nodes[within.index()];
                let stem = format!("{}/", outer.path);
                prop_assert!(within < *id && node.path.starts_with(&stem));
                prop_assert!(outer.uses.contains(id));
            }
        }
        prop_assert!(built.iter().all(|built| *built));
        let mut paths: Vec<&str> = graph.nodes.iter().map(|node| node.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        prop_assert_eq!(paths.len(), graph.nodes.len());
        let tops: Vec<&str> = graph.nodes.iter().filter(|node| node.within.is_none()).map(|node| node.path.as_str()).collect();
        prop_assert_eq!(tops, ["both", "east", "wire", "west"]);
    }
}

/// Two arrays over the same disks meet in their queues: each waits for the other.
#[test]
fn what_is_shared_is_one_queue() {
    let of = || Copies::Shared(vec!["east".to_owned(), "west".to_owned()]);
    let slow = || {
        let service = TimeSpec::Fixed(Nanos(10_000_000));
        let spec = StationSpec {
            servers: 1,
            service,
            rate: None,
            order: Order::FirstCome,
            capacity: Bytes(1 << 30),
        };
        ComponentSpec::Station(spec)
    };
    let system = [
        ("one", array(of(), None, false, false)),
        ("other", array(of(), None, false, false)),
        ("east", slow()),
        ("west", slow()),
    ];
    let both = Block { op: Op::Read, address: 0, bytes: 2 * UNIT };
    let accounts =
        by_events(&graph(&system, &drive()), &["one", "other"], &[(Nanos(1), 0, both), (Nanos(2), 1, both)]);
    assert_eq!(accounts[0].total(), Nanos(10_000_000));
    assert_eq!(accounts[1].total(), Nanos(20_000_000 - 1));
}

/// Parts of one array share its link: reads of two disks cross it one after the other.
#[test]
fn a_shared_link_carries_one_transfer_at_a_time() {
    let fast = StationSpec {
        servers: 1,
        service: TimeSpec::Fixed(Nanos(1_000_000)),
        rate: None,
        order: Order::FirstCome,
        capacity: Bytes(1 << 30),
    };
    let wire = LinkSpec::new(BytesPerSecond(65_536_000.0), Nanos(5_000));
    let of = Copies::Written(Box::new(ComponentSpec::Station(fast)));
    let system = [("tds", array(of, Some(2), false, true)), ("wire", ComponentSpec::Link(wire))];
    let graph = graph(&system, &drive());
    // Each unit takes 1 ms on its disk and 1 ms on the wire: the second waits for the first.
    for op in [Op::Read, Op::Write] {
        let both = Block { op, address: 0, bytes: 2 * UNIT };
        let accounts = by_events(&graph, &["tds"], &[(Nanos(0), 0, both)]);
        assert_eq!(accounts[0].total(), Nanos(3_005_000), "{op:?}");
    }
}
