//! Writes to arrays with a write-intent bitmap or a stripe cache, on disks that take 10 ms for anything.

use super::common::{accesses, by_events, drive, graph, slow_disk};
use crate::ComponentSpec;
use crate::array::{ArraySpec, BitmapSpec, Level};
use crate::graph::Graph;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Op};

const UNIT: u64 = 65536;

/// A place with data and parity on other disks than those of address 0, and in another region.
const ELSEWHERE: u64 = 13 * UNIT;

const fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

/// Eight disks as RAID 5, whose bits stand for a stripe each.
fn marked() -> ArraySpec {
    let of = slow_disk(Bytes(1 << 30));
    let bitmap = Some(BitmapSpec { chunk: Bytes(UNIT), ..BitmapSpec::default() });
    ArraySpec { bitmap, ..ArraySpec::new(Level::Raid5, of, Some(8), Bytes(UNIT)) }
}

fn of(spec: ArraySpec) -> Graph {
    graph(&[("tds", ComponentSpec::Array(spec))], &drive())
}

fn small_write(at: Nanos, address: u64) -> (Nanos, usize, Block) {
    (at, 0, Block { op: Op::Write, address, bytes: 4096 })
}

/// The responses of small writes, each (ms, address).
fn responses(spec: ArraySpec, writes: &[(u64, u64)]) -> Vec<Nanos> {
    let coming: Vec<_> = writes.iter().map(|&(at, address)| small_write(ms(at), address)).collect();
    by_events(&of(spec), &["tds"], &coming).iter().map(|breakdown| breakdown.total()).collect()
}

#[test]
fn the_first_write_to_a_region_waits_for_its_bit() {
    assert_eq!(responses(marked(), &[(0, 0), (100, 0)]), [ms(30), ms(20)]);
    assert_eq!(responses(marked(), &[(0, 0), (100, ELSEWHERE)]), [ms(30), ms(30)]);
}

#[test]
fn bits_of_writes_that_come_together_share_a_page_write() {
    assert_eq!(responses(marked(), &[(0, 0), (0, ELSEWHERE)]), [ms(30), ms(30)]);
}

/// The second write begins a page write while the first one reads: all disks write that page behind those reads, so it ends at 30 ms.
/// Until then the first write does not go on to write, although its data was there at 20 ms.
#[test]
fn no_write_goes_on_while_the_page_is_written() {
    assert_eq!(responses(marked(), &[(0, 0), (5, ELSEWHERE)]), [ms(40), ms(45)]);
}

/// Passes come at multiples of 5 s: the first without a write notes that a region is idle, the next clears its bit.
#[test]
fn a_bit_is_cleared_in_the_second_pass_without_a_write() {
    assert_eq!(responses(marked(), &[(0, 0), (9_000, 0)]), [ms(30), ms(20)]);
    assert_eq!(responses(marked(), &[(0, 0), (11_000, 0)]), [ms(30), ms(30)]);
    assert_eq!(responses(marked(), &[(0, 0), (7_000, 0), (11_000, 0)]), [ms(30), ms(20), ms(20)]);
}

/// A page of each of eight disks for the bit, and once more after it was cleared, besides two reads and two writes.
#[test]
fn a_cleared_bit_is_written_too() {
    assert_eq!(accesses(&of(marked()), &[small_write(ms(0), 0)]), 8 + 4 + 8);
}

#[test]
fn reads_need_no_bit() {
    let read = (ms(0), 0, Block { op: Op::Read, address: 0, bytes: 4096 });
    assert_eq!(by_events(&of(marked()), &["tds"], &[read])[0].total(), ms(10));
}

#[test]
fn a_disk_that_is_down_has_no_page() {
    let degraded = ArraySpec { failed: vec![3], ..marked() };
    assert_eq!(accesses(&of(degraded), &[small_write(ms(0), 0)]), 7 + 4 + 7);
}

#[test]
fn writes_wait_for_a_row_of_the_stripe_cache() {
    let rows = |rows| ArraySpec { stripe_cache: rows, bitmap: None, ..marked() };
    let both = [(0, 0), (0, ELSEWHERE)];
    assert_eq!(responses(rows(None), &both), [ms(20), ms(20)]);
    assert_eq!(responses(rows(Some(2)), &both), [ms(20), ms(20)]);
    assert_eq!(responses(rows(Some(1)), &both), [ms(20), ms(40)]);
}
