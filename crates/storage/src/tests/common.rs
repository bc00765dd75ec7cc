//! Systems built without a document, and requests sent through them.

use std::cell::RefCell;

use crate::disk::DiskNumbers;
use crate::graph::Copies;
use crate::station::{Order, StationSpec};
use crate::{
    Arena, ComponentSpec, DeviceCatalogue, DeviceLookup, Graph, LoweringError, NodeContext, SimContext,
    Slots, System, SystemSpec, Timeline, WantedWay, lower,
};
use headrace_kernel::{RngStream, Sim};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, EmpiricalSpec, Invalid, NodeId, Op, Request, TimeKind, TimeSpec};
use indexmap::IndexMap;
use proptest::prelude::*;

/// A catalogue of one drive, whatever its name.
pub struct One(pub DiskNumbers);

impl DeviceCatalogue for One {
    fn device(&self, kind: &'static str, _: &str) -> DeviceLookup {
        match kind {
            "disk" => DeviceLookup::Found(Box::new(self.0.clone())),
            _ => DeviceLookup::Unknown(Vec::new()),
        }
    }

    fn sample(&self, sample: &EmpiricalSpec) -> Result<Vec<(Nanos, f64)>, Invalid> {
        Err(Invalid::new("file", format!("these tests have no files, nor {:?}", sample.file)))
    }
}

/// The graph of a system, or what is wrong with it.
#[allow(dead_code, reason = "not every test that shares this file uses it")]
pub fn lowered(system: &[(&str, ComponentSpec)], drive: &DiskNumbers) -> Result<Graph, Vec<LoweringError>> {
    routed(system, &[], drive)
}

/// The same with routes from servers to components, by their names: `by_events` finds them as `from→to`.
pub fn routed(
    system: &[(&str, ComponentSpec)],
    routes: &[(&str, &str)],
    drive: &DiskNumbers,
) -> Result<Graph, Vec<LoweringError>> {
    let system: IndexMap<String, SystemSpec> =
        system.iter().map(|(name, spec)| ((*name).to_owned(), spec.clone().into())).collect();
    let wanted = |(from, to): &(&str, &str)| WantedWay {
        stream: format!("{from} {to}"),
        from: Some((*from).to_owned()),
        to: (*to).to_owned(),
    };
    let routes: Vec<WantedWay> = routes.iter().map(wanted).collect();
    let parts = IndexMap::new();
    lower(&parts, &System::of(&parts, &system), &routes, &One(drive.clone()))
}

/// A drive without a cache.
#[allow(dead_code, reason = "not every test that shares this file uses it")]
pub fn drive() -> DiskNumbers {
    serde_json::from_str(
        r#"{"capacity": "10 GB", "cylinders": 6000, "rotation": "7200 rpm", "media_rate_outer": "60 MB/s",
            "media_rate_inner": "40 MB/s", "seek_read": {"track_to_track": "1 ms", "full_stroke": "15 ms"},
            "seek_write": {"track_to_track": "1.5 ms", "full_stroke": "16 ms"}, "overhead": "0.1 ms"}"#,
    )
    .unwrap()
}

/// A disk that takes 10 ms for anything.
#[allow(dead_code, reason = "not every test that shares this file uses it")]
pub fn slow_disk(capacity: Bytes) -> Copies {
    let service = TimeSpec::Fixed(Nanos(10_000_000));
    let station = StationSpec { servers: 1, service, rate: None, order: Order::FirstCome, capacity };
    Copies::Written(Box::new(ComponentSpec::Station(station)))
}

/// The graph of a system.
#[allow(dead_code, reason = "not every test that shares this file uses it")]
pub fn graph(system: &[(&str, ComponentSpec)], drive: &DiskNumbers) -> Graph {
    lowered(system, drive).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A request to come: when, to which component, what.
pub type Coming = (Nanos, usize, Block);

/// Sends requests through the components `targets` of `graph`, event by event. Gives each one's account, and checks that what
/// was sent on every edge arrived.
pub fn by_events(graph: &Graph, targets: &[&str], requests: &[Coming]) -> Vec<Breakdown> {
    run(graph, targets, requests).0
}

/// How many accesses to the disks of `tds` requests to it take, those that nobody waits for included.
pub fn accesses(graph: &Graph, requests: &[Coming]) -> u64 {
    run(graph, &["tds"], requests).1
}

fn run(graph: &Graph, targets: &[&str], requests: &[Coming]) -> (Vec<Breakdown>, u64) {
    let sim = Sim::new();
    let shared = SimContext::new(&sim, 1, Timeline::default());
    let (contexts, slots) = (NodeContext::of_all(graph, &shared), Slots::of(graph));
    let arena = Arena::build(graph, &shared, &contexts, &slots);
    let edges: Vec<_> = targets.iter().map(|name| arena.edge_to(graph.named(name).unwrap())).collect();
    let accounts = RefCell::new(vec![None; requests.len()]);
    let (s, e, a) = (&sim, &edges, &accounts);
    for (number, &(at, target, block)) in requests.iter().enumerate() {
        s.spawn(async move {
            s.until(at).await;
            let request = Request::new(RngStream::named(1, "users", "requests").key(number as u64), block);
            let mut breakdown = Breakdown::from(s.now());
            e[target].serve(&request, &mut breakdown).await;
            assert_eq!(breakdown.total(), s.now() - at, "the legs add up to the response");
            a.borrow_mut()[number] = Some(breakdown);
        });
    }
    s.run(Nanos::MAX, u64::MAX);
    for id in arena.ids() {
        let all = arena.ids().flat_map(|from| arena.edges(from)).chain(&edges);
        let into = all.filter(|edge| edge.to() == id).map(|edge| edge.sent());
        let (requests, bytes) = into.fold((0, 0), |sum, flow| (sum.0 + flow.requests, sum.1 + flow.bytes));
        let received = arena.context(id).received();
        assert_eq!((received.requests, received.bytes), (requests, bytes), "{}", arena.context(id).path);
        assert_eq!(received, arena.context(id).answered(), "{}", arena.context(id).path);
        if let Some(balance) = arena.component(id).balance() {
            assert_eq!(
                balance.taken_in,
                balance.destaged + balance.dirty,
                "what is not on the disks is in the cache"
            );
            let keeps = graph.view(id).kind() == "ssd"; // What does not fill a program stays in its buffer.
            assert!(keeps || balance.dirty == 0, "all is on the disks in the end");
            assert_eq!(balance.used + balance.free, balance.size);
        }
        let activity = arena.component(id).activity(s.now()).unwrap_or_default();
        assert!(activity.busy_in_all() <= u128::from(activity.servers.max(1)) * u128::from(s.now().0));
    }
    let disks = arena.ids().filter(|id| arena.context(*id).path.starts_with("tds/"));
    let accesses = disks.map(|id| arena.context(id).received().requests).sum();
    s.finish();
    let accounts = accounts.take().into_iter();
    (accounts.map(|breakdown| breakdown.expect("every request is answered")).collect(), accesses)
}

/// The same without events, for one target.
pub fn by_recursion(graph: &Graph, target: &str, requests: &[Coming]) -> Vec<Breakdown> {
    let sim = Sim::new();
    let shared = SimContext::new(&sim, 1, Timeline::default());
    let (contexts, slots) = (NodeContext::of_all(graph, &shared), Slots::of(graph));
    let edge = Arena::build(graph, &shared, &contexts, &slots).edge_to(graph.named(target).unwrap());
    let pass = |(number, &(at, _, block)): (usize, &Coming)| {
        let mut breakdown = Breakdown::from(at);
        edge.pass(
            &Request::new(RngStream::named(1, "users", "requests").key(number as u64), block),
            &mut breakdown,
        );
        breakdown
    };
    requests.iter().enumerate().map(pass).collect()
}

/// When each visit of a node came, began and ended.
#[allow(dead_code, reason = "not every test that shares this file uses it")]
#[track_caller]
pub fn visits_of(node: NodeId, breakdown: &Breakdown) -> Vec<(u64, u64, u64)> {
    let mut came = breakdown.began().0;
    let mut visits = Vec::new();
    for legs in breakdown.legs().windows(2) {
        if legs[0].at == node && legs[0].what == TimeKind::Waiting {
            assert_eq!((legs[1].at, legs[1].what), (node, TimeKind::Service));
            visits.push((came, legs[0].until.0, legs[1].until.0));
        }
        came = legs[0].until.0;
    }
    visits
}

/// Reads and writes of up to a unit, each of which stays on one of the disks.
#[allow(dead_code, reason = "not every test that shares this file uses it")]
pub fn traffic(disks: u64, unit: u64) -> impl Strategy<Value = Vec<Coming>> {
    let one = (0u64..2_000_000, any::<bool>(), 0..disks * 10, 1..=unit);
    prop::collection::vec(one, 1..120).prop_map(move |all| {
        let mut now = Nanos::ZERO;
        let coming = |(gap, write, at, bytes)| {
            now += Nanos(gap);
            let op = if write { Op::Write } else { Op::Read };
            (now, 0, Block { op, address: at * unit, bytes })
        };
        all.into_iter().map(coming).collect()
    })
}
