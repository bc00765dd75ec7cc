//! Scrubs of arrays on disks that take 10 ms for anything, and hold 24 rows of units of 4 KiB.

use super::faults::{UNIT, disk, events, ms, run, spec, volume};
use crate::array::{ArraySpec, DeclusteredSpec, Level, ScrubSpec};
use crate::block::paced_work::Precedence;
use crate::{Change, Event};
use headrace_units::{Bytes, BytesPerSecond, Fraction};
use headrace_work::Op;
use proptest::prelude::*;

fn scrubbed(level: Level, disks: u32, scrub: ScrubSpec) -> ArraySpec {
    ArraySpec { scrub: Some(scrub), ..spec(level, disks) }
}

/// A chunk of two units of each disk, one at a time.
fn one_by_one() -> ScrubSpec {
    ScrubSpec { chunk: Bytes(2 * UNIT), in_flight: 1, ..ScrubSpec::default() }
}

/// Twelve chunks of two rows, each one access of 10 ms to each disk, read everything once; a scrub from the middle ends as well.
#[test]
fn a_scrub_reads_all_units_once() {
    for (level, disks) in [(Level::Raid5, 4), (Level::Raid6, 6), (Level::Raid10, 4), (Level::Raid1, 3)] {
        for position in [0.0, 0.5, 1.0] {
            let scrub = ScrubSpec { starts: ms(30), position: Fraction(position), ..one_by_one() };
            let found = run(&volume(scrubbed(level, disks, scrub)), &[], &[]);
            assert_eq!(events(&found), [(30, Event::Begins("scrub")), (150, Event::Ends("scrub"))]);
            assert_eq!(found.given[1..], vec![12; disks as usize]);
            assert_eq!(found.meter("scrubbed_bytes"), 24 * UNIT * u64::from(disks));
            assert_eq!(found.meter("scrub_s"), ms(120).0);
        }
    }
}

/// The rate holds for each disk: 24 units at two a second take as long as eleven intervals of a second, and one access.
#[test]
fn a_rate_limits_what_each_disk_reads() {
    let scrub = ScrubSpec { rate: Some(BytesPerSecond(2.0 * UNIT as f64)), ..one_by_one() };
    let found = run(&volume(scrubbed(Level::Raid5, 4, scrub)), &[], &[]);
    assert_eq!(events(&found), [(0, Event::Begins("scrub")), (11_010, Event::Ends("scrub"))]);
}

/// A disk that failed is skipped; a spare is rebuilt first, and the scrub goes on afterwards and reads the spare.
#[test]
fn a_scrub_skips_failed_disks_and_waits_for_rebuilds() {
    let fails = [(ms(35), &*disk(1), Change::Fails)];
    let alone = run(&volume(scrubbed(Level::Raid5, 4, one_by_one())), &[], &fails);
    assert_eq!(events(&alone).last(), Some(&(120, Event::Ends("scrub"))));
    assert_eq!(alone.given[1..], [12, 4, 12, 12], "the fourth access to the failed disk has no answer");
    assert_eq!(alone.meter("scrubbed_bytes"), (24 * 3 + 6) * UNIT);

    let spared = ArraySpec { spares: 1, ..scrubbed(Level::Raid5, 4, one_by_one()) };
    let found = run(&volume(spared), &[], &fails);
    let order: Vec<Event> = found.health_events.iter().map(|event| event.what).collect();
    let fails = Event::Changes(Change::Fails);
    assert_eq!(
        order,
        [
            Event::Begins("scrub"),
            fails,
            Event::Begins("rebuild"),
            Event::Ends("rebuild"),
            Event::Ends("scrub")
        ]
    );
    assert_eq!(found.meter("scrub_s"), ms(120).0, "without the time of the rebuild");
    assert_eq!(
        found.given[5],
        12 + 8,
        "the spare: twelve writes of the rebuild, and eight chunks left to scrub"
    );
}

/// Foreground first: a scrub beside hosts that are never idle goes on at its minimum rate.
#[test]
fn a_scrub_lets_hosts_go_first() {
    let took = |priority| {
        let at_least = BytesPerSecond(20.0 * UNIT as f64);
        let busy: Vec<_> = (0..400).map(|n| (ms(n * 9), Op::Read, n % 72 * UNIT, UNIT)).collect();
        let scrub = ScrubSpec { priority, at_least, ..one_by_one() };
        let found = run(&volume(scrubbed(Level::Raid5, 4, scrub)), &busy, &[]);
        found.meter("scrub_s") / 1_000_000
    };
    let (equal, foreground) = (took(Precedence::Equal), took(Precedence::ForegroundFirst));
    assert!(equal < 400 && foreground > 1000, "{equal} and {foreground} ms");
}

proptest! {
    /// Whatever the array, its failures and requests: a scrub of an array that can be read ends, and reads each unit at most once.
    #[test]
    fn a_scrub_ends(
        (width, spares) in (3u32..5, 0u32..2),
        in_flight in 1u32..5,
        rows in 1u64..9,
        failure in 0u64..400,
        hot in 0u32..2,
    ) {
        let declustered = Some(DeclusteredSpec { width, spares, row: None });
        let scrub = ScrubSpec { chunk: Bytes(rows * UNIT), in_flight, ..ScrubSpec::default() };
        let array = ArraySpec { declustered, spares: hot, ..scrubbed(Level::Raid5, 7, scrub) };
        let requests: Vec<_> = (0..20).map(|n| (ms(n * 9), if n % 2 == 0 { Op::Read } else { Op::Write }, n * UNIT, UNIT)).collect();
        let found = run(&volume(array), &requests, &[(ms(failure), &*disk(2), Change::Fails)]);
        let ends = found.health_events.iter().filter(|event| event.what == Event::Ends("scrub")).count();
        prop_assert_eq!(ends, 1);
        prop_assert!(found.meter("scrubbed_bytes") <= 7 * 24 * UNIT);
        prop_assert!(found.meter("scrubbed_bytes") >= 5 * 20 * UNIT);
    }
}
