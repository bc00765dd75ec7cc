//! Flushes of components with volatile caches beside random writes: none is answered before what was acknowledged is stable.

use std::cell::{Cell, RefCell};

use super::common::{drive, graph};
use crate::{Arena, ComponentSpec, Graph, NodeContext, SimContext, Slots, Timeline};
use headrace_kernel::{RngStream, Sim};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

fn system(volume: Value) -> Graph {
    let station = |ms: u64| json!({"type": "station", "service": format!("{ms} ms"), "capacity": "1 GiB"});
    let all = [("a", station(1)), ("b", station(2)), ("c", station(3)), ("volume", volume)];
    let specs = all.map(|(name, spec)| (name, serde_json::from_value::<ComponentSpec>(spec).unwrap()));
    graph(&specs, &drive())
}

fn volumes() -> [Graph; 4] {
    let array = |cache: Value| json!({"type": "array", "level": "raid5", "of": ["a", "b", "c"], "stripe_unit": "64 KiB", "cache": cache});
    let flash = json!({
        "over_provisioning": "28 %", "channels": 2, "dies": 4, "page": "16 KiB", "planes": 2, "block_pages": 16, "read": "50 us",
        "program": "500 us", "erase": "2 ms", "channel_rate": "1 GB/s",
    });
    let ssd = json!({
        "capacity": "64 MiB", "interface": "sata_6g", "read_latency": "20 us", "write_latency": "10 us", "flash": flash,
        "buffer": {"size": "1 MiB"},
    });
    [
        system(array(json!({"size": "1 MiB", "writes": "back", "volatile": true}))),
        system(array(json!({"size": "64 MiB", "writes": "back", "volatile": true, "stripes_at_once": 1}))),
        system(
            json!({"type": "file_system", "of": "a", "memory": "8 MiB", "call": "10 us", "write_back_depth": 3}),
        ),
        system(json!({"type": "ssd", "device": ssd})),
    ]
}

/// Sends writes and flushes, or durable writes, at their times. When one that flushes ends, what was taken in before it began is destaged.
fn check(graph: &Graph, comes: &[(u64, u64, u8)]) {
    let sim = Sim::new();
    let shared = SimContext::new(&sim, 1, Timeline::default());
    let (contexts, slots) = (NodeContext::of_all(graph, &shared), Slots::of(graph));
    let arena = Arena::build(graph, &shared, &contexts, &slots);
    let id = graph.named("volume").unwrap();
    let (edge, ended) = (arena.edge_to(id), Cell::new(0));
    let (s, e, n, arena) = (&sim, &edge, &ended, &arena);
    arena.ids().for_each(|id| arena.component(id).begin());
    let at = RefCell::new(0);
    for (number, &(gap, place, what)) in comes.iter().enumerate() {
        *at.borrow_mut() += gap;
        let at = Nanos(*at.borrow());
        s.spawn(async move {
            s.until(at).await;
            let write = Block { op: Op::Write, address: place * 4096, bytes: 8192 };
            let block = if what == 0 { Block::FLUSH } else { write };
            let request = Request::new(RngStream::named(1, "users", "requests").key(number as u64), block);
            let request = if what == 1 { request.durably() } else { request };
            let before = arena.component(id).balance().unwrap().taken_in;
            let mut breakdown = Breakdown::from(s.now());
            e.serve(&request, &mut breakdown).await;
            assert_eq!(breakdown.total(), s.now() - at, "the legs add up to the response");
            let destaged = arena.component(id).balance().unwrap().destaged;
            assert!(what > 1 || destaged >= before, "{destaged} B of {before} B are stable");
            n.set(n.get() + 1);
        });
    }
    s.run(Nanos(3_600_000_000_000), 10_000_000);
    assert_eq!(ended.get(), comes.len(), "each is answered");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_flush_is_answered_when_what_came_before_is_stable(
        comes in prop::collection::vec((0u64..3_000_000, 0u64..4000, 0u8..8), 1..120),
    ) {
        volumes().iter().for_each(|graph| check(graph, &comes));
    }
}
