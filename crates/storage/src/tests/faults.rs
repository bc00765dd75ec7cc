//! Arrays whose disks fail, return and are replaced while requests are on their way, on disks that take 10 ms for anything.

use std::cell::RefCell;

use super::common::{drive, graph, routed, slow_disk};
use crate::array::{ArraySpec, DeclusteredSpec, Level, RebuildSpec, Via};
use crate::block::paced_work::Precedence;
use crate::graph::Copies;
use crate::link::LinkSpec;
use crate::{
    Arena, Change, ComponentSpec, Event, Graph, HealthEvent, Meter, NodeContext, SimContext, Slots, Timeline,
};
use headrace_kernel::{RngStream, Sim};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};
use proptest::prelude::*;

pub const UNIT: u64 = 4096;
/// Rows of units on a disk.
const ROWS: u64 = 24;

pub const fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

pub fn spec(level: Level, disks: u32) -> ArraySpec {
    let of = slow_disk(Bytes(UNIT * ROWS));
    let rebuild = Some(RebuildSpec { chunk: Bytes(2 * UNIT), ..RebuildSpec::default() });
    ArraySpec { rebuild, ..ArraySpec::new(level, of, Some(disks), Bytes(UNIT)) }
}

/// The same without words on rebuilds.
fn bare(level: Level, disks: u32) -> ArraySpec {
    ArraySpec { rebuild: None, ..spec(level, disks) }
}

/// What a run did.
pub struct Run {
    /// The account of each request.
    pub breakdown: Vec<Breakdown>,
    pub health_events: Vec<HealthEvent>,
    /// Meters of the array at the end.
    meters: Vec<(&'static str, Meter)>,
    pub state: Option<&'static str>,
    /// Pieces of work that each disk was given.
    pub given: Vec<u64>,
}

impl Run {
    pub fn meter(&self, name: &str) -> u64 {
        let found = self.meters.iter().find(|(meter, _)| *meter == name);
        found.map_or(0, |(_, meter)| match meter {
            Meter::Count(many) | Meter::Share(many, _) => *many,
            Meter::Area(_) | Meter::Fill(..) | Meter::Marked(_) | Meter::Peak(_) => {
                unreachable!("no array has such a meter")
            }
        })
    }

    pub fn failed(&self) -> Vec<bool> {
        self.breakdown.iter().map(Breakdown::has_failed).collect()
    }
}

/// Sends requests (when, op, address, bytes) to `volume` while components change; checks that every request ends once, that what is sent
/// on an edge arrives, and that nobody waits for ever.
pub fn run(graph: &Graph, requests: &[(Nanos, Op, u64, u64)], changes: &[(Nanos, &str, Change)]) -> Run {
    run_at("volume", graph, requests, changes)
}

/// The same with requests to `target`.
fn run_at(
    target: &str,
    graph: &Graph,
    requests: &[(Nanos, Op, u64, u64)],
    changes: &[(Nanos, &str, Change)],
) -> Run {
    let sim = Sim::new();
    let shared = SimContext::new(&sim, 1, Timeline::default());
    let (contexts, slots) = (NodeContext::of_all(graph, &shared), Slots::of(graph));
    let arena = Arena::build(graph, &shared, &contexts, &slots);
    let volume = graph.named(target).unwrap();
    let edge = arena.edge_to(volume);
    let accounts = RefCell::new(vec![None; requests.len()]);
    let (s, e, a) = (&sim, &edge, &accounts);
    for &(at, path, change) in changes {
        let id = graph.ids().find(|id| graph.nodes[id.index()].path == path);
        let id = id.unwrap_or_else(|| panic!("no {path}"));
        s.spawn(async move {
            s.until(at).await;
            arena.change(id, change);
        });
    }
    for (number, &(at, op, address, bytes)) in requests.iter().enumerate() {
        s.spawn(async move {
            s.until(at).await;
            let request = Request::new(
                RngStream::named(1, "users", "requests").key(number as u64),
                Block { op, address, bytes },
            );
            let mut breakdown = Breakdown::from(s.now());
            e.serve(&request, &mut breakdown).await;
            let before = a.borrow_mut()[number].replace(breakdown);
            assert!(before.is_none(), "request {number} ends twice");
        });
    }
    s.run(Nanos(3_600_000_000_000), 10_000_000);
    assert_eq!(s.processes(), 0, "somebody waits for ever");
    let mut given = Vec::new();
    for id in arena.ids() {
        let all = arena.ids().flat_map(|from| arena.edges(from)).chain([e]);
        let into = all.filter(|edge| edge.to() == id).map(|edge| edge.sent());
        let (requests, bytes) = into.fold((0, 0), |sum, flow| (sum.0 + flow.requests, sum.1 + flow.bytes));
        let received = arena.context(id).received();
        assert_eq!((received.requests, received.bytes), (requests, bytes), "{}", arena.context(id).path);
        assert!(arena.context(id).answered().requests <= received.requests);
        given.push(requests);
    }
    let mut meters = Vec::new();
    arena.component(volume).meters(s.now(), &mut |name, meter| meters.push((name, meter)));
    let (health_events, state) = (arena.health_events(0), arena.component(volume).state());
    s.finish();
    let breakdown =
        accounts.take().into_iter().map(|breakdown| breakdown.expect("every request ends")).collect();
    Run { breakdown, health_events, meters, state, given }
}

pub fn volume(spec: ArraySpec) -> Graph {
    graph(&[("volume", ComponentSpec::Array(spec))], &drive())
}

pub fn disk(number: usize) -> String {
    format!("volume/station[{number}]")
}

pub fn events(run: &Run) -> Vec<(u64, Event)> {
    run.health_events.iter().map(|happening| (happening.at.0 / 1_000_000, happening.what)).collect()
}

/// A read that is on its way to a disk that fails is answered from the others: 10 ms until the array sees that no answer comes, 10 ms for
/// the others. Two of the others are idle, and the parity disk too.
#[test]
fn a_read_in_flight_is_done_another_way() {
    let found = run(
        &volume(spec(Level::Raid5, 4)),
        &[(ms(0), Op::Read, 0, UNIT), (ms(50), Op::Read, 0, UNIT)],
        &[(ms(5), "volume/station[0]", Change::Fails)],
    );
    assert_eq!(found.failed(), [false, false]);
    assert_eq!(found.breakdown[0].total(), ms(20));
    assert_eq!(found.breakdown[1].total(), ms(10), "the array knows, and asks the three others");
    assert_eq!(found.given[1..], [1, 2, 2, 2]);
    assert_eq!(found.state, Some("degraded"));
}

/// A mirror takes the other copy; without redundancy the request fails.
#[test]
fn levels_answer_as_they_promise() {
    let fails = [(ms(5), "volume/station[0]", Change::Fails)];
    let read = [(ms(0), Op::Read, 0, UNIT)];
    assert_eq!(run(&volume(spec(Level::Raid1, 2)), &read, &fails).breakdown[0].total(), ms(20));
    let found = run(&volume(bare(Level::Raid0, 2)), &read, &fails);
    assert_eq!(found.failed(), [true]);
    let write = [(ms(0), Op::Write, 0, UNIT)];
    assert_eq!(run(&volume(spec(Level::Raid1, 2)), &write, &fails).failed(), [false]);
    assert_eq!(run(&volume(bare(Level::Raid0, 2)), &write, &fails).failed(), [true]);
}

/// Three small writes while disk 0 is down touch two of its units (it has data of stripe 0 and 4; of the others neither data nor
/// parity is written). When it returns, those are written and no more.
#[test]
fn a_disk_that_returns_gets_what_it_missed() {
    let stripe = 3 * UNIT;
    let writes = [
        (ms(20), Op::Write, 0, UNIT),
        (ms(60), Op::Write, 4 * stripe, UNIT),
        (ms(100), Op::Write, stripe + UNIT, UNIT),
    ];
    let changes =
        [(ms(10), "volume/station[0]", Change::Fails), (ms(1000), "volume/station[0]", Change::Returns)];
    let found = run(&volume(spec(Level::Raid5, 4)), &writes, &changes);
    assert_eq!(found.failed(), [false; 3]);
    assert_eq!(
        found.meter("rebuild_progress"),
        3,
        "stripe 1 has data unit 1 on disk 0: 3 0 1 of left-symmetric"
    );
    assert_eq!(found.state, None);
    let read = [(ms(10), Op::Read, 0, UNIT)];
    let idle = run(&volume(spec(Level::Raid5, 4)), &read, &changes[..]);
    assert_eq!(idle.meter("rebuild_progress"), 0, "a disk that missed nothing has nothing to get");
}

/// A replaced disk is rebuilt: one chunk of two rows at a time, read from three and written to one; two workers.
#[test]
fn a_replaced_disk_is_rebuilt() {
    let changes =
        [(ms(10), "volume/station[0]", Change::Fails), (ms(1000), "volume/station[0]", Change::Replaced)];
    let found = run(&volume(spec(Level::Raid5, 4)), &[], &changes);
    assert_eq!(found.meter("rebuild_progress"), ROWS);
    // Twelve chunks: while one is read for 10 ms, the one before is written for 10 ms.
    let ends = events(&found).pop().unwrap();
    assert_eq!(ends, (1000 + 13 * 10, Event::Ends("rebuild")));
    assert_eq!(found.given[1..], [12, 12, 12, 12]);
}

#[test]
fn a_rebuild_keeps_to_its_rate() {
    let slow = |array: ArraySpec| {
        let rebuild = RebuildSpec { rate: Some(BytesPerSecond(UNIT as f64 * 2.0)), ..array.rebuild.unwrap() };
        ArraySpec { rebuild: Some(rebuild), ..array }
    };
    let changes =
        [(ms(0), "volume/station[1]", Change::Fails), (ms(0), "volume/station[1]", Change::Replaced)];
    let found = run(&volume(slow(spec(Level::Raid5, 4))), &[], &changes);
    let (ended, _) = events(&found).pop().unwrap();
    // 24 units at two a second, but for the last chunk, which ends as fast as it can.
    assert!((11_000..=12_100).contains(&ended), "{ended} ms");
}

/// The data of a failed disk goes to a spare at once; requests then find it there.
#[test]
fn a_hot_spare_stands_in() {
    let with_spare = ArraySpec { spares: 1, ..spec(Level::Raid5, 4) };
    let fails = [(ms(10), "volume/station[1]", Change::Fails)];
    let found = run(&volume(with_spare.clone()), &[(ms(5000), Op::Read, UNIT, UNIT)], &fails);
    assert_eq!((found.failed(), found.breakdown[0].total(), found.state), (vec![false], ms(10), None));
    assert_eq!(found.given[5], 12 + 1, "the spare was written, and read");
    let twice = [
        fails[0],
        (ms(6000), "volume/station[2]", Change::Fails),
        (ms(7000), "volume/station[1]", Change::Returns),
    ];
    let found = run(&volume(with_spare), &[(ms(9000), Op::Read, 2 * UNIT, UNIT)], &twice);
    assert_eq!((found.breakdown[0].total(), found.state), (ms(10), None), "the first disk is the spare now");
}

/// Without a spare left a second failure loses no more than the level does not survive.
#[test]
fn data_is_lost_beyond_the_level() {
    let pulled = |disks: &[usize]| {
        let names: Vec<String> = disks.iter().map(|number| disk(*number)).collect();
        let changes: Vec<_> = names.iter().map(|name| (ms(10), name.as_str(), Change::Replaced)).collect();
        let reads: Vec<_> = (0..12).map(|n| (ms(90_000), Op::Read, n * UNIT, UNIT)).collect();
        let found = run(&volume(spec(Level::Raid6, 6)), &reads, &changes);
        (found.meter("lost_stripes"), found.failed().contains(&true), found.state)
    };
    assert_eq!(pulled(&[1, 2]), (0, false, None));
    assert_eq!(pulled(&[1, 2, 5]), (ROWS, true, Some("lost data")));
}

/// With two paths a request goes on over the other; with none it fails, and when one returns all is well.
#[test]
fn a_path_that_fails_is_gone_round() {
    let link = |name| {
        let link: LinkSpec = serde_json::from_str(r#"{"rate": "4 MB/s"}"#).unwrap();
        (name, ComponentSpec::Link(link))
    };
    let via = Some(Via::Several(vec!["a".to_owned(), "b".to_owned()]));
    let array = ComponentSpec::Array(ArraySpec { via, ..spec(Level::Raid5, 4) });
    let graph = graph(&[link("a"), link("b"), ("volume", array)], &drive());
    let reads: Vec<_> = (0..6).map(|n| (ms(n * 100), Op::Read, 0, UNIT)).collect();
    let changes =
        [(ms(11), "a", Change::Fails), (ms(250), "b", Change::Fails), (ms(350), "a", Change::Returns)];
    let found = run(&graph, &reads, &changes);
    assert_eq!(found.failed(), [false, false, false, true, false, false]);
    // The first read was on its way back over `a`: its data takes 1.024 ms; it is done again over `b`.
    assert_eq!(found.breakdown[0].total(), ms(22) + Nanos(48_000));
    assert_eq!(found.state, None, "no disk has missed anything");
}

/// A server with two ways to a disk, over switches of which the left one has a slow wire to it, at `rate`.
fn two_ways(server: &str, rate: &str) -> Graph {
    let component = |text: &str| serde_json::from_str::<ComponentSpec>(text).unwrap();
    let Copies::Written(disk) = slow_disk(Bytes(UNIT * ROWS)) else { unreachable!("it is written") };
    let left = format!(
        r#"{{"type": "switch", "rate": "100 MB/s", "connects": ["host", {{"to": "tds", "rate": "{rate}"}}]}}"#
    );
    let right = r#"{"type": "switch", "rate": "100 MB/s", "connects": ["host", "tds"]}"#;
    let server = format!(r#"{{"type": "server"{server}}}"#);
    let system = [
        ("host", component(&server)),
        ("tds", *disk),
        ("left", component(&left)),
        ("right", component(right)),
    ];
    routed(&system, &[("host", "tds")], &drive()).unwrap()
}

/// A port fails by its name, whichever direction, and what crosses it is lost with it; the other switch takes over, until the port of
/// that one fails too.
#[test]
fn a_port_that_fails_is_gone_round() {
    let graph = two_ways(r#", "paths": "first""#, "100 MB/s");
    let writes: Vec<_> = (0..6).map(|n| (ms(n * 100), Op::Write, 0, UNIT)).collect();
    let wire = Nanos(UNIT * 10);
    for port in ["left/tds out", "left/tds in", "left/host in", "left/host out"] {
        let changes = [
            (Nanos(wire.0 / 2), port, Change::Fails),
            (ms(250), "right/tds out", Change::Fails),
            (ms(350), port, Change::Returns),
        ];
        let found = run_at("host→tds", &graph, &writes, &changes);
        assert_eq!(found.failed(), [false, false, false, true, false, false], "{port}");
        // The first was crossing the left switch, and goes a second time.
        assert_eq!(found.breakdown[0].total(), ms(10) + wire + wire, "{port}");
        assert_eq!(found.breakdown[1].total(), ms(10) + wire, "{port}");
    }
}

/// A request that gets no answer in time goes another way, once; the last way is waited for, however slow.
#[test]
fn a_request_without_an_answer_goes_another_way() {
    let patient = two_ways(r#", "paths": "first", "path_timeout": "50 ms""#, "4096 B/s");
    let write = [(Nanos::ZERO, Op::Write, 0, UNIT)];
    let (quick, slow) = (ms(10) + Nanos(UNIT * 10), ms(1010));
    let found = run_at("host→tds", &patient, &write, &[]);
    assert_eq!((found.breakdown[0].total(), found.meter("sent_again")), (ms(50) + quick, 1));
    let found = run_at("host→tds", &patient, &write, &[(Nanos::ZERO, "right", Change::Fails)]);
    assert_eq!((found.breakdown[0].total(), found.meter("sent_again")), (slow, 0));
    // The right way fails once the left one was given up: what is left is tried again, and waited for.
    let found = run_at("host→tds", &patient, &write, &[(ms(51), "right", Change::Fails)]);
    assert!(!found.breakdown[0].has_failed() && found.breakdown[0].total() > slow);
}

/// Foreground first: while hosts keep the array busy the rebuild goes on at its minimum rate only.
#[test]
fn a_rebuild_lets_hosts_go_first() {
    let first = |priority| {
        let array = spec(Level::Raid5, 4);
        let at_least = BytesPerSecond(UNIT as f64);
        let rebuild = RebuildSpec { priority, at_least, ..array.rebuild.unwrap() };
        let busy: Vec<_> = (0..200).map(|n| (ms(n * 10), Op::Read, 0, UNIT)).collect();
        let changes = [(ms(5), "volume/station[3]", Change::Replaced)];
        let found = run(&volume(ArraySpec { rebuild: Some(rebuild), ..array }), &busy, &changes);
        let mean = found.breakdown.iter().map(|breakdown| breakdown.total().ms()).sum::<f64>() / 200.0;
        (events(&found).pop().unwrap().0, mean)
    };
    let (equal, foreground) = (first(Precedence::Equal), first(Precedence::ForegroundFirst));
    assert!(equal.0 < 1000 && equal.1 > 10.5, "{equal:?}");
    assert!(foreground.0 > 2000 && foreground.1 < equal.1, "{foreground:?}");
}

/// A declustered array rebuilds to its free units, and back when the disk is replaced.
#[test]
fn a_distributed_spare_takes_what_a_disk_had() {
    let declustered = Some(DeclusteredSpec { width: 4, spares: 1, row: None });
    let array = ArraySpec { declustered, ..spec(Level::Raid5, 9) };
    let reads: Vec<_> = (0..40).map(|n| (ms(20_000), Op::Read, n * UNIT, UNIT)).collect();
    let fails = [(ms(10), "volume/station[2]", Change::Fails)];
    let found = run(&volume(array.clone()), &reads, &fails);
    assert_eq!((found.failed().contains(&true), found.state), (false, None));
    assert_eq!(found.given.iter().filter(|given| **given > 0).count(), 9, "the volume and eight disks");
    let back = [fails[0], (ms(10_000), "volume/station[2]", Change::Replaced)];
    let found = run(&volume(array), &reads, &back);
    assert_eq!((found.failed().contains(&true), found.state), (false, None));
    assert!(found.given[3] > 10, "the new disk has its data again");
}

/// How many units of parity a level has, or none for mirrors.
fn redundant(level: Level) -> Option<usize> {
    match level {
        Level::Raid5 => Some(1),
        Level::Raid6 => Some(2),
        Level::Erasure { parity } => Some(parity as usize),
        _ => None,
    }
}

fn any_array() -> impl Strategy<Value = (ArraySpec, u32)> {
    let levels = vec![
        Level::Raid1,
        Level::Raid10,
        Level::Raid01,
        Level::Raid5,
        Level::Raid6,
        Level::Erasure { parity: 3 },
    ];
    (prop::sample::select(levels), 0u32..4, 0u32..2, any::<bool>()).prop_map(
        |(level, more, spares, declustered)| {
            let disks = match level {
                Level::Raid1 => 2 + more,
                Level::Raid10 | Level::Raid01 => 4 + 2 * (more / 2),
                _ => 5 + more,
            };
            let declustered = (declustered && redundant(level).is_some()).then(|| DeclusteredSpec {
                width: (disks - 1).max(5),
                spares: u32::from(disks > 5),
                row: (more == 2).then_some(Bytes(4 * UNIT)),
            });
            (ArraySpec { spares, declustered, ..spec(level, disks) }, disks + spares)
        },
    )
}

/// Whether a level has all its data when so much of it is gone.
fn survives(level: Level, disks: usize, gone: &[usize]) -> bool {
    let pairs = disks / 2;
    let has = |disk: usize| !gone.contains(&disk);
    match (redundant(level), level) {
        (Some(parity), _) => gone.len() <= parity,
        (None, Level::Raid1) => gone.len() < disks,
        (None, Level::Raid10) => (0..pairs).all(|pair| has(2 * pair) || has(2 * pair + 1)),
        _ => (0..pairs).all(has) || (pairs..disks).all(has),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever fails when: every request ends once, no byte is lost on an edge, and locks and rebuilds wait for nobody for ever.
    #[test]
    fn random_faults_lose_and_double_nothing(
        (array, devices) in any_array(),
        requests in prop::collection::vec((0u64..900, any::<bool>(), 0u64..48, 0u64..UNIT, 1u64..5 * UNIT), 1..40),
        faults in prop::collection::vec((0u64..900, 0u32..12, 0u8..3), 0..12),
    ) {
        let graph = volume(array);
        let capacity = graph.nodes[0].capacity.0;
        let requests: Vec<_> = requests.into_iter().map(|(at, write, unit, offset, bytes)| {
            let address = (unit * UNIT + offset).min(capacity - 1);
            (ms(at), if write { Op::Write } else { Op::Read }, address, bytes.min(capacity - address))
        }).collect();
        let names: Vec<String> = faults.iter().map(|(_, number, _)| disk((number % devices) as usize)).collect();
        let changes: Vec<_> = faults.iter().zip(&names).map(|((at, _, what), name)| {
            (ms(*at), name.as_str(), [Change::Fails, Change::Returns, Change::Replaced][*what as usize])
        }).collect();
        let found = run(&graph, &requests, &changes);
        if faults.iter().all(|(.., what)| *what == 1) {
            prop_assert!(!found.failed().contains(&true));
        }
    }

    /// Switches and single ports fail and return while requests cross them, with hosts that wait for ever or not: every request ends once,
    /// each that is answered was done by the disk, and none fails while one switch works all the time.
    #[test]
    fn paths_that_fail_in_the_middle_lose_and_double_nothing(
        requests in prop::collection::vec((0u64..60_000, any::<bool>(), 1u64..20 * UNIT), 1..60),
        faults in prop::collection::vec((0u64..60_000, 0usize..9, any::<bool>()), 0..16),
        timeout in prop::sample::select(vec!["", r#", "path_timeout": "12 ms""#, r#", "path_timeout": "1 ms""#]),
        policy in prop::sample::select(vec!["first", "round_robin", "shortest_queue"]),
    ) {
        let graph = two_ways(&format!(r#", "paths": "{policy}"{timeout}"#), "1 MB/s");
        let requests: Vec<_> = requests.into_iter().map(|(us, write, bytes)| {
            (Nanos(us * 1000), if write { Op::Write } else { Op::Read }, 0, bytes)
        }).collect();
        let paths = [
            "left", "left/tds out", "left/tds in", "left/host in", "left/host out",
            "right", "right/tds out", "right/tds in", "right/host out",
        ];
        let changes: Vec<_> = faults.iter().map(|&(us, which, fails)| {
            (Nanos(us * 1000), paths[which], if fails { Change::Fails } else { Change::Returns })
        }).collect();
        let found = run_at("host→tds", &graph, &requests, &changes);
        let answered = found.failed().iter().filter(|failed| !**failed).count() as u64;
        let disk = graph.named("tds").unwrap().index();
        prop_assert!(found.given[disk] >= answered, "{} of {answered} came to the disk", found.given[disk]);
        for side in ["left", "right"] {
            if faults.iter().all(|(_, which, fails)| !fails || !paths[*which].starts_with(side)) {
                prop_assert!(!found.failed().contains(&true), "{side} works all the time");
            }
        }
        if changes.is_empty() && timeout.is_empty() {
            prop_assert_eq!(found.given[disk], requests.len() as u64);
        }
    }

    /// An array answers all while its level survives what failed, and says that data is lost where it does not.
    #[test]
    fn an_array_survives_what_its_level_promises(
        (array, _) in any_array(), lost in prop::collection::btree_set(0usize..9, 0..4), replaced in any::<bool>(),
    ) {
        let array = ArraySpec { spares: 0, declustered: None, ..array };
        let disks = array.disks.unwrap() as usize;
        let gone: Vec<usize> = lost.into_iter().filter(|disk| *disk < disks).collect();
        let survives = survives(array.level, disks, &gone);
        let names: Vec<String> = gone.iter().map(|number| disk(*number)).collect();
        let change = if replaced { Change::Replaced } else { Change::Fails };
        let changes: Vec<_> = names.iter().map(|name| (ms(10), name.as_str(), change)).collect();
        let level = array.level;
        let graph = volume(array);
        let units = graph.nodes[0].capacity.0 / UNIT;
        let all: Vec<_> = (0..units).map(|unit| (ms(100_000 + 50 * unit), Op::Read, unit * UNIT, UNIT)).collect();
        let found = run(&graph, &all, &changes);
        let writes: Vec<_> = all.iter().map(|(at, _, address, bytes)| (*at, Op::Write, *address, *bytes)).collect();
        let written = run(&graph, &writes, &changes);
        let lost = found.meter("lost_stripes") > 0;
        // Disks of a side that is out of use still have their data: where others were replaced, they are rebuilt from it.
        let mirrored = (0..disks / 2).all(|n| !(gone.contains(&n) && gone.contains(&(n + disks / 2))));
        let rebuilds = survives || (level == Level::Raid01 && mirrored);
        let answers = if replaced { rebuilds } else { survives };
        prop_assert_eq!(!found.failed().contains(&true), answers, "{:?} of {} without {:?}", level, disks, gone);
        prop_assert_eq!(!written.failed().contains(&true), answers);
        if replaced {
            prop_assert_eq!(lost, !rebuilds);
        }
    }
}
