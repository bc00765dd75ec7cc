//! A solid-state drive: times by hand, and rules compared with random traffic.

use super::common::{Coming, by_events, drive, graph, lowered};
use crate::ssd::SsdSpec;
use crate::{ComponentSpec, Graph};
use headrace_units::Nanos;
use headrace_work::{Block, Op};
use proptest::prelude::*;
use serde_json::{Value, json};

const US: u64 = 1000;
const PAGE: u64 = 4096;

/// 4 dies on 2 channels; 20 µs of electronics for a read, 10 µs for a write; 16 KiB pages, 50 µs, 4 KiB over a channel in 4.096 µs.
fn numbers() -> Value {
    json!({
        "capacity": "64 MiB", "interface": "sata_6g", "read_latency": "20 us", "write_latency": "10 us",
        "flash": {
            "over_provisioning": "28 %", "channels": 2, "dies": 4, "page": "16 KiB", "planes": 2, "block_pages": 16,
            "read": "50 us", "program": "500 us", "erase": "2 ms", "channel_rate": "1 GB/s",
        },
        "buffer": {"size": "1 MiB"},
    })
}

fn component(more: Value) -> ComponentSpec {
    let mut spec = json!({"device": numbers()});
    merge(&mut spec, more);
    ComponentSpec::Ssd(serde_json::from_value::<SsdSpec>(spec).unwrap())
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            more.into_iter().for_each(|(key, value)| merge(into.entry(key).or_insert(Value::Null), value));
        }
        (into, more) => *into = more,
    }
}

fn one(more: Value) -> Graph {
    graph(&[("drive", component(more))], &drive())
}

fn response(more: Value, op: Op, address: u64, bytes: u64) -> u64 {
    let coming = (Nanos(0), 0, Block { op, address, bytes });
    by_events(&one(more), &["drive"], &[coming])[0].total().0
}

#[track_caller]
fn is_near(found: u64, by_hand: u64) {
    assert!(found.abs_diff(by_hand) <= 2, "{found} ns, by hand {by_hand} ns");
}

/// Bytes of a frame besides its data.
const FRAME: u64 = 468;

/// Time of frames and their data at 600 MB/s.
const fn port(frames: u64, bytes: u64) -> u64 {
    ((frames * FRAME + bytes) * 10).div_ceil(6)
}

/// 4 KiB, read: five frames, one of them the data's.
const PORT: u64 = port(5, PAGE);

/// 4 KiB, written: one more, which asks for the data.
const WRITE: u64 = port(6, PAGE);

#[test]
fn a_read_takes_what_it_takes_by_hand() {
    is_near(response(json!({"written": "0 %"}), Op::Read, 0, PAGE), 20 * US + PORT);
    is_near(response(json!({}), Op::Read, 0, PAGE), 20 * US + 50 * US + 4_096 + PORT);
    is_near(response(json!({"read_command": "6 us"}), Op::Read, 0, PAGE), 76 * US + 4_096 + PORT);
}

/// 128 KiB lie on four dies, two pages of 16 KiB on the planes of each: all are read at 70 µs, and the eight pages then take the two
/// channels 16.384 µs each; the port takes 234 µs in 20 frames, and begins with the first page, as it can go on without a gap.
#[test]
fn pages_of_a_large_read_are_read_side_by_side() {
    let found = response(json!({}), Op::Read, 0, 128 * 1024);
    is_near(found, 20 * US + 50 * US + 16_384 + port(20, 128 * 1024));
}

#[test]
fn a_write_is_done_when_it_is_in_the_buffer() {
    is_near(response(json!({}), Op::Write, 0, PAGE), WRITE + 10 * US);
    is_near(response(json!({"write_command": "3 us"}), Op::Write, 0, PAGE), 3 * US + WRITE + 10 * US);
}

/// A write of half a page reads the other half first.
#[test]
fn a_write_of_part_of_a_page_reads_it() {
    let half = port(6, 2048);
    is_near(response(json!({}), Op::Write, 0, 2048), half + 50 * US + 4_096 + 10 * US);
    is_near(response(json!({"written": "0 %"}), Op::Write, 0, 2048), half + 10 * US);
}

#[test]
fn the_slower_of_drive_and_port_sets_the_rate() {
    let empty = |interface: &str| json!({"written": "0 %", "interface": interface});
    is_near(response(empty("sata_3g"), Op::Read, 0, PAGE), 20 * US + 2 * PORT);
    is_near(response(empty("sata_6g"), Op::Read, 0, PAGE), 20 * US + PORT);
    let nvme =
        json!({"written": "0 %", "device": {"interface": "nvme_gen4_x4"}, "interface": "nvme_gen3_x4"});
    let packets = 16 * (256 + 26);
    is_near(response(nvme, Op::Read, 0, PAGE), 20 * US + (f64::from(packets) / 3.938_462) as u64);
    let errors = lowered(&[("drive", component(empty("nvme_gen3_x4")))], &drive()).unwrap_err();
    assert_eq!(errors[0].message, "the port is NVMe, and the drive SATA");
    // A page is four frames of 1 KiB and 36 B each; the command and its response are two more.
    let sas = json!({"written": "0 %", "device": {"interface": "sas_22_5g"}, "interface": "sas_12g"});
    is_near(response(sas, Op::Read, 0, PAGE), 20 * US + (4 * (1024 + 36) + 2 * 36) * 1000 / 1200);
}

/// Reads and writes of a SATA drive share the wire, those of an NVMe drive do not.
#[test]
fn nvme_carries_reads_and_writes_at_once() {
    let both = |device: Value| {
        let big = |op| (Nanos(0), 0, Block { op, address: 0, bytes: 1 << 20 });
        let system = one(json!({"written": "0 %", "device": device}));
        let accounts = by_events(&system, &["drive"], &[big(Op::Read), big(Op::Write)]);
        accounts.iter().map(|account| account.total().0).max().unwrap()
    };
    let sata = both(json!({"buffer": {"size": "2 MiB"}}));
    assert!(sata > 2 * 1_747_626, "{sata}");
    let nvme = both(json!({"interface": "nvme_gen3_x4", "buffer": {"size": "2 MiB"}}));
    assert!(nvme < 330 * US, "1 MiB takes 293 µs each way: {nvme}");
}

/// Four reads of the four pages of a row, one on each plane, come at once. Where planes read for themselves, they take one read; otherwise
/// each waits for the one before it, unless they share one. 2 planes, 16 KiB pages: pages 0 and 4 are on two planes.
#[test]
fn planes_read_for_themselves() {
    let last = |independent: bool| -> u64 {
        let flash =
            json!({"independent_reads": independent, "dies": 1, "channels": 1, "over_provisioning": "60 %"});
        let system = one(json!({"device": {"interface": "nvme_gen4_x4", "flash": flash}}));
        // Rows 0 and 1 of the only die: a page on the first plane of each, and one on the second.
        let coming: Vec<Coming> = [0, 8, 4, 12]
            .map(|page| (Nanos(0), 0, Block { op: Op::Read, address: page * PAGE, bytes: PAGE }))
            .to_vec();
        by_events(&system, &["drive"], &coming).iter().map(|account| account.total().0).max().unwrap()
    };
    let nvme = (f64::from(16 * (256 + 26)) / 7.876_923) as u64;
    is_near(last(true), 20 * US + 2 * 50 * US + 2 * 4_096 + nvme);
    is_near(last(false), 20 * US + 4 * 50 * US + 4_096 + nvme);
}

/// A controller that takes 100 µs for each command begins the third after 300 µs.
#[test]
fn a_controller_begins_one_command_after_another() {
    let system = one(json!({"written": "0 %", "device": {"interface": "nvme_gen4_x4", "command": "100 us"}}));
    let coming: Vec<Coming> =
        (0..3).map(|n| (Nanos(0), 0, Block { op: Op::Read, address: n * PAGE, bytes: PAGE })).collect();
    let last = by_events(&system, &["drive"], &coming).iter().map(|account| account.total().0).max().unwrap();
    let nvme = (f64::from(16 * (256 + 26)) / 7.876_923) as u64;
    is_near(last, 300 * US + 20 * US + nvme);
}

/// 33 reads of what is not written: the port takes one after another, and the last waits for a tag, as the first is done.
#[test]
fn a_drive_holds_as_many_commands_as_it_has_tags() {
    let at_once = |tags: u32| -> u64 {
        let system = one(json!({"written": "0 %", "device": {"queue_depth": tags}}));
        let coming: Vec<Coming> =
            (0..33).map(|n| (Nanos(0), 0, Block { op: Op::Read, address: n * PAGE, bytes: PAGE })).collect();
        by_events(&system, &["drive"], &coming).iter().map(|account| account.total().0).max().unwrap()
    };
    is_near(at_once(33), 20 * US + 33 * PORT);
    is_near(at_once(1), 33 * (20 * US + PORT));
}

/// A buffer of 64 pages in two halves: 32 writes fill one, which four programs of eight pages drain side by side while the other fills;
/// the 65th write waits until the whole first half is on flash.
#[test]
fn a_half_of_a_buffer_is_drained_as_a_whole() {
    let system = one(json!({
        "device": {"interface": "nvme_gen4_x4", "buffer": {"size": "256 KiB", "halves": true}}, "written": "0 %",
    }));
    let coming: Vec<Coming> =
        (0..65).map(|n| (Nanos(0), 0, Block { op: Op::Write, address: n * PAGE, bytes: PAGE })).collect();
    let times: Vec<u64> =
        by_events(&system, &["drive"], &coming).iter().map(|account| account.total().0).collect();
    assert!(times[63] < 60 * US, "{}", times[63]);
    let (filled, moved) = (32 * 18_328 / 32, 2 * 32_768);
    is_near(times[64] / 10_000, (filled + moved + 500 * US + 10 * US) / 10_000);
}

proptest! {
    /// Whatever comes: every request is answered, bytes arrive on every edge, all that was written is on flash or in the buffer, and no
    /// die, channel or port is busier than time allows (the common harness checks these).
    #[test]
    fn whatever_comes_is_answered(
        requests in prop::collection::vec((0u64..2_000_000, any::<bool>(), 0u64..15_000, 1u64..60), 1..300),
        halves: bool, written in 0u32..101, overwritten in prop::sample::select(vec![0.0, 0.5, 3.0]),
    ) {
        let system = one(json!({
            "written": format!("{written} %"), "overwritten": overwritten,
            "device": {"buffer": {"halves": halves, "size": "256 KiB"}},
        }));
        let coming: Vec<Coming> = requests.iter().map(|&(at, write, page, sectors)| {
            let op = if write { Op::Write } else { Op::Read };
            (Nanos(at), 0, Block { op, address: page * PAGE + sectors % 8 * 512, bytes: sectors * 512 })
        }).collect();
        for account in by_events(&system, &["drive"], &coming) {
            prop_assert!(account.total() > Nanos(10 * US));
        }
    }
}
