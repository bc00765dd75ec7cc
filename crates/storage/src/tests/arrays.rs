//! Redundant arrays in time: how long requests take on disks that take 10 ms for anything.

use super::common::{by_events, drive, graph, slow_disk};
use crate::ComponentSpec;
use crate::array::{ArraySpec, Level, Queueing};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Op};

const UNIT: u64 = 65536;

const fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

fn spec(level: Level, disks: u32) -> ArraySpec {
    let of = slow_disk(Bytes(1 << 30));
    ArraySpec::new(level, of, Some(disks), Bytes(UNIT))
}

/// The responses of requests (op, address, bytes) that come together.
fn responses(spec: ArraySpec, requests: &[(Op, u64, u64)]) -> Vec<Nanos> {
    let graph = graph(&[("tds", ComponentSpec::Array(spec))], &drive());
    let coming: Vec<_> =
        requests.iter().map(|&(op, address, bytes)| (Nanos::ZERO, 0, Block { op, address, bytes })).collect();
    by_events(&graph, &["tds"], &coming).iter().map(|breakdown| breakdown.total()).collect()
}

#[test]
fn a_small_write_reads_before_it_writes() {
    for level in [Level::Raid4, Level::Raid5, Level::Raid6, Level::Erasure { parity: 3 }] {
        assert_eq!(responses(spec(level, 8), &[(Op::Write, 0, 8192)]), [ms(20)], "{level:?}");
    }
    for level in [Level::Raid0, Level::Raid1, Level::Raid10, Level::Raid01] {
        assert_eq!(responses(spec(level, 8), &[(Op::Write, 0, 8192)]), [ms(10)], "{level:?}");
    }
}

#[test]
fn a_whole_stripe_is_written_at_once() {
    assert_eq!(responses(spec(Level::Raid5, 8), &[(Op::Write, 0, 7 * UNIT)]), [ms(10)]);
}

/// Two writes to one stripe change the same parity: the second reads it when the first has written it.
#[test]
fn writes_that_share_parity_come_one_after_the_other() {
    let both = [(Op::Write, 0, 8192), (Op::Write, UNIT, 8192)];
    assert_eq!(responses(spec(Level::Raid5, 8), &both), [ms(20), ms(40)]);
    // Stripes of their own, and disks of their own: data on 0 and 5, parity on 7 and 6.
    let apart = [(Op::Write, 0, 8192), (Op::Write, 13 * UNIT, 8192)];
    assert_eq!(responses(spec(Level::Raid5, 8), &apart), [ms(20), ms(20)]);
}

/// Reads of one place go to both disks of a pair.
#[test]
fn a_mirror_serves_two_reads_at_once() {
    let three = [(Op::Read, 0, 8192); 3];
    assert_eq!(responses(spec(Level::Raid1, 2), &three), [ms(10), ms(10), ms(20)]);
}

/// Each pair has turns of its own: reads that alternate between two pairs use all four disks.
#[test]
fn every_pair_of_a_mirror_takes_turns() {
    let reads = [0, UNIT, 0, UNIT].map(|address| (Op::Read, address, 8192));
    for level in [Level::Raid10, Level::Raid01] {
        assert_eq!(responses(spec(level, 4), &reads), [ms(10); 4], "{level:?}");
    }
}

#[test]
fn a_degraded_array_computes_what_its_disk_had() {
    let degraded = || ArraySpec { failed: vec![0], ..spec(Level::Raid5, 8) };
    assert_eq!(responses(degraded(), &[(Op::Read, 0, 8192)]), [ms(10)], "seven disks at once");
    // Unit 0 lay on the failed disk: its read keeps all others busy. Unit 1 is whole and waits for them.
    assert_eq!(responses(degraded(), &[(Op::Read, 0, 8192), (Op::Read, UNIT, 8192)]), [ms(10), ms(20)]);
    let mirror = ArraySpec { failed: vec![1], ..spec(Level::Raid1, 2) };
    assert_eq!(responses(mirror, &[(Op::Read, 0, 8192); 2]), [ms(10), ms(20)], "one copy is left");
}

#[test]
fn requests_that_do_not_overlap_wait_for_each_other() {
    let lockstep = ArraySpec { queueing: Queueing::SplitMerge, ..spec(Level::Raid5, 8) };
    assert_eq!(responses(lockstep, &[(Op::Write, 0, 8192), (Op::Read, 9 * UNIT, 8192)]), [ms(20), ms(30)]);
}
