//! A cache on a device, request by request.

use headrace_units::Nanos;
use headrace_work::{Block, Op};

use super::common::{Coming, by_events, drive, graph};
use crate::ComponentSpec;

const MS: u64 = 1_000_000;

/// Milliseconds that each request takes, with a disk of 10 ms and a cache of 4 ms, which writes go around.
fn took(requests: &[(u64, Op)]) -> Vec<u64> {
    let component = |text: &str| -> ComponentSpec { serde_json::from_str(text).unwrap() };
    let station = |service: &str| {
        component(&format!(
            r#"{{"type": "station", "servers": 9, "service": "{service}", "capacity": "1 GiB"}}"#
        ))
    };
    let cache = component(
        r#"{"type": "device_cache", "to": "disk", "on": "flash", "writes": "around", "block": "4 KiB"}"#,
    );
    let graph = graph(&[("disk", station("10 ms")), ("flash", station("4 ms")), ("volume", cache)], &drive());
    let coming: Vec<Coming> = requests
        .iter()
        .map(|&(at_ms, op)| (Nanos(at_ms * MS), 0, Block { op, address: 0, bytes: 4096 }))
        .collect();
    by_events(&graph, &["volume"], &coming).iter().map(|account| account.total().0 / MS).collect()
}

#[test]
fn what_was_read_is_read_from_the_cache() {
    assert_eq!(took(&[(0, Op::Read), (30, Op::Read)]), [10, 4]);
}

/// The data of a read goes to the cache from 10 to 14 ms. A write at 12 ms makes it old.
#[test]
fn what_is_written_while_it_goes_to_the_cache_is_not_read_from_there() {
    assert_eq!(took(&[(0, Op::Read), (12, Op::Write), (40, Op::Read)]), [10, 10, 10]);
}

/// From 10 to 14 ms it is not there yet.
#[test]
fn what_is_on_its_way_to_the_cache_is_read_from_the_disk() {
    assert_eq!(took(&[(0, Op::Read), (12, Op::Read), (40, Op::Read)]), [10, 10, 4]);
}
