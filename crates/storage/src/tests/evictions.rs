//! Eviction of slow members of arrays, on disks that take 10 ms for anything.

use super::faults::{Run, UNIT, disk, events, ms, run, spec, volume};
use crate::array::{ArraySpec, DeclusteredSpec, EvictSlowSpec, Level};
use crate::{Change, Event};
use headrace_units::Nanos;
use headrace_work::Op;
use proptest::prelude::*;

/// Slow for three windows of a second.
fn evict() -> EvictSlowSpec {
    EvictSlowSpec { factor: 4.0, r#for: ms(3000), window: Some(ms(1000)), accesses: 5 }
}

fn evicting(level: Level, disks: u32) -> ArraySpec {
    ArraySpec { evict_slow: Some(evict()), ..spec(level, disks) }
}

/// Reads of one unit after another, every 25 ms: with left-symmetric parity each disk has one in turn.
fn reads(seconds: u64) -> Vec<(Nanos, Op, u64, u64)> {
    (0..seconds * 40).map(|n| (ms(n * 25), Op::Read, n % 72 * UNIT, UNIT)).collect()
}

/// The times at which members were evicted, in ms.
fn evicted(found: &Run) -> Vec<u64> {
    let evicts = |(at, event)| matches!(event, Event::Evicts(_)).then_some(at);
    events(found).into_iter().filter_map(evicts).collect()
}

/// A disk is slow from a time within a window on; it is evicted at the end of the third window in all of which it was slow.
#[test]
fn a_slow_disk_is_evicted_on_time() {
    let of = |evict_slow, (from, until): (u64, u64)| {
        let array = ArraySpec { evict_slow: Some(evict_slow), ..spec(Level::Raid5, 4) };
        let name = disk(0);
        let changes = [(ms(from), &*name, Change::Slow(800)), (ms(until), &*name, Change::Slow(100))];
        evicted(&run(&volume(array), &reads(12), &changes))
    };
    assert_eq!(of(evict(), (2000, 20_000)), [5000]);
    assert_eq!(of(evict(), (2050, 20_000)), [5000], "nine of ten accesses in the first window were slow");
    assert_eq!(of(evict(), (2950, 20_000)), [6000], "none was in the window from 2 to 3 s");
    assert_eq!(of(evict(), (2000, 4000)), [0; 0], "two windows are too few");
    assert_eq!(of(EvictSlowSpec { r#for: ms(3500), ..evict() }, (2000, 20_000)), [6000]);
    assert_eq!(of(EvictSlowSpec { window: Some(ms(3000)), ..evict() }, (2000, 20_000)), [6000]);
    assert_eq!(of(EvictSlowSpec { factor: 8.5, ..evict() }, (2000, 20_000)), [0; 0]);
    assert_eq!(of(EvictSlowSpec { accesses: 12, ..evict() }, (2000, 20_000)), [0; 0], "eleven, at most");
}

/// Windows are counted, not the time between them: two in which it was slow, a quarter of an hour apart, are two.
#[test]
fn a_pause_says_nothing() {
    let name = disk(0);
    let slow = [(ms(2000), &*name, Change::Slow(800))];
    let pause = 900_000;
    let pauses: Vec<_> = reads(12)
        .into_iter()
        .map(|(at, op, address, bytes)| (if at < ms(3000) { at } else { at + ms(pause) }, op, address, bytes))
        .collect();
    assert_eq!(evicted(&run(&volume(evicting(Level::Raid5, 4)), &pauses, &slow)), [pause + 5000]);
}

/// The others answer for it from then on: no access goes to it, and reads take 10 ms again.
#[test]
fn nothing_goes_to_an_evicted_disk() {
    let name = disk(0);
    let slow = [(ms(2000), &*name, Change::Slow(800))];
    let found = run(&volume(evicting(Level::Raid5, 4)), &reads(20), &slow);
    assert_eq!((evicted(&found), found.state), (vec![5000], Some("degraded")));
    assert_eq!(found.given[1], 50, "ten a second");
    let after = found.breakdown.iter().filter(|breakdown| breakdown.began() >= ms(5000));
    assert!(after.map(|breakdown| breakdown.total()).all(|took| took == ms(10)));
}

/// A disk that answers nothing at all in a window is slow too: its access counts for the time that it has taken so far.
#[test]
fn a_disk_without_an_answer_is_slow() {
    let name = disk(0);
    let found =
        run(&volume(evicting(Level::Raid5, 4)), &reads(12), &[(ms(2000), &*name, Change::Slow(500_000))]);
    assert_eq!(evicted(&found), [5000]);
}

/// Its spare is rebuilt as after a failure, and a replacement is a spare again. A replacement takes its usual time.
#[test]
fn a_spare_takes_its_place() {
    let array = ArraySpec { spares: 1, ..evicting(Level::Raid5, 4) };
    let (first, second) = (disk(0), disk(1));
    let changes = [
        (ms(2000), &*first, Change::Slow(800)),
        (ms(8000), &*first, Change::Replaced),
        (ms(10_000), &*second, Change::Slow(800)),
    ];
    let found = run(&volume(array), &reads(20), &changes);
    assert_eq!((evicted(&found), found.state), (vec![5000, 13_000], None));
    let (ends, _): (Vec<u64>, Vec<Event>) =
        events(&found).into_iter().filter(|(_, event)| *event == Event::Ends("rebuild")).unzip();
    assert!(matches!(ends[..], [5000..6000, 13_000..14_000]), "{ends:?}");
    assert_eq!(found.meter("lost_stripes"), 0);
}

/// An array that misses data evicts nobody, nor one of which most are slow. Of two slow disks of six the slower is evicted, and the other when
/// a spare has the data of the first.
#[test]
fn one_is_evicted_at_a_time() {
    let of = |level, disks: u32, spares, failed: Vec<u32>, slow: &[(usize, u32)]| {
        let array = ArraySpec { spares, failed, ..evicting(level, disks) };
        let names: Vec<String> = slow.iter().map(|(number, _)| disk(*number)).collect();
        let changes: Vec<_> = slow
            .iter()
            .zip(&names)
            .map(|((_, times), name)| (ms(2000), &**name, Change::Slow(*times)))
            .collect();
        let found = run(&volume(array), &reads(30), &changes);
        assert_eq!((found.meter("lost_stripes"), found.failed().contains(&true)), (0, false));
        (evicted(&found), found.state)
    };
    let two = [(1, 600), (2, 800)];
    assert_eq!(of(Level::Raid6, 6, 0, vec![3], &two[..1]), (vec![], Some("degraded")));
    assert_eq!(of(Level::Raid6, 6, 0, vec![], &two), (vec![5000], Some("degraded")));
    let (times, state) = of(Level::Raid6, 6, 2, vec![], &two);
    assert!(matches!(times[..], [5000, 8000..10_000]) && state.is_none(), "{times:?} {state:?}");
    assert_eq!(of(Level::Raid1, 2, 0, vec![], &two[..1]), (vec![5000], Some("degraded")));
    let most = [(1, 600), (2, 700)];
    assert_eq!(of(Level::Raid1, 3, 0, vec![], &most), (vec![], None), "two of three are no exception");
}

proptest! {
    /// However slow which disks are, whenever: an array evicts one at a time, and never so that a request fails.
    #[test]
    fn no_eviction_loses_data(
        (level, disks) in prop::sample::select(vec![
            (Level::Raid1, 3), (Level::Raid10, 6), (Level::Raid01, 6), (Level::Raid5, 5), (Level::Raid6, 6), (Level::Raid5, 7),
        ]),
        spares in 0u32..3,
        slow in prop::collection::vec((0u64..12_000, 0usize..5, 100u32..2000), 1..8),
        writes in 0u64..4,
    ) {
        let declustered = (disks == 7).then_some(DeclusteredSpec { width: 4, spares: 2, row: None });
        let array = ArraySpec { spares, declustered, ..evicting(level, disks) };
        let names: Vec<String> = slow.iter().map(|(_, number, _)| disk(number % disks as usize)).collect();
        let changes: Vec<_> =
            slow.iter().zip(&names).map(|((at, _, times), name)| (ms(*at), &**name, Change::Slow(*times))).collect();
        let op = |n: u64| if n % 4 < writes { Op::Write } else { Op::Read };
        let requests: Vec<_> = reads(20).into_iter().zip(0..).map(|((at, _, address, bytes), n)| (at, op(n), address, bytes)).collect();
        let found = run(&volume(array), &requests, &changes);
        prop_assert!(!found.failed().contains(&true));
        prop_assert_eq!(found.meter("lost_stripes"), 0);
        let mut missing = 0;
        for (_, event) in events(&found) {
            missing += i32::from(matches!(event, Event::Evicts(_))) - i32::from(event == Event::Ends("rebuild"));
            prop_assert!(missing <= 1, "evicted while data was missing");
        }
    }
}
