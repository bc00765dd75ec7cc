use headrace_units::{Nanos, Shift};

use super::*;
use crate::block::disk::layout::{LayoutSpec, SectorSpan, Spares, TrackOrder, ZoneSpec};

/// Ten sectors a track, two surfaces, one turn of 10 ms; a head switch takes 1 ms, the skew is two sectors.
fn platter() -> Platter {
    let zone = ZoneSpec {
        first_cylinder: 0,
        last_cylinder: 99,
        sectors: 10,
        offset: 0.0,
        track_skew: 2.0,
        cylinder_skew: 3.0,
        reserved: 0,
        spares: 0,
        slips: Vec::new(),
        remaps: Vec::new(),
    };
    let spec = Mechanics {
        head_switch: Nanos::from_ms(1.0),
        write_settle: Shift(500_000),
        write_retries: 0.0,
        read_retries: 0.0,
        zero_latency_reads: false,
        zero_latency_writes: false,
        inward_more: Nanos::ZERO,
        outward_more: Nanos::ZERO,
        seek: vec![(1, Nanos::from_ms(2.0)), (99, Nanos::from_ms(9.0))],
        layout: LayoutSpec {
            surfaces: 2,
            order: TrackOrder::Conventional,
            spares: Spares::None,
            slips_use_spares: true,
            slips_skew: None,
            zones: vec![zone],
        },
    };
    Platter::new(&spec, 10e6, 0.0, Vec::new())
}

/// `sectors` sectors from `first` on.
fn span(first: u64, sectors: u64) -> SectorSpan {
    SectorSpan { first, end: first + sectors }
}

const HOME: Track = Track { cylinder: 0, surface: 0 };

#[test]
fn a_sector_knows_what_lies_before_and_behind_it_on_its_track() {
    let platter = platter();
    assert_eq!((platter.on_track_before(13), platter.on_track_after(13)), (3, 6));
    let last = platter.sectors() - 1;
    assert_eq!((platter.on_track_before(last), platter.on_track_after(last)), (9, 0));
}

#[test]
fn the_wait_follows_from_where_the_platter_is() {
    let platter = platter();
    assert_eq!(
        platter.access(0.0, HOME, span(3, 2), Op::Read, 0.0).end,
        5e6,
        "three sectors to wait, two to read"
    );
    assert_eq!(platter.access(4e6, HOME, span(3, 1), Op::Read, 0.0).end, 14e6, "just missed: the next turn");
    // A seek of two cylinders takes about 2.07 ms; sector 40 lies at angle 4 · 2 + 2 · 3 - 2 · 2 = 10 → 0.
    let far = platter.access(0.0, HOME, span(40, 1), Op::Read, 0.0);
    assert_eq!((far.track.cylinder, far.end), (2, 11e6));
}

#[test]
fn skews_hide_switches() {
    let platter = platter();
    let access = platter.access(0.0, HOME, span(0, 20), Op::Read, 0.0);
    let ms = |ns: f64| (ns * 1e-3).round() * 1e-3;
    assert_eq!(ms(access.end), 22.0, "two tracks and the skew between them");
    assert_eq!(ms(access.time_of(10)), 10.0);
    assert_eq!(ms(access.time_of(11)), 13.0);
}

/// Six of ten sectors, the head in the midst of them: from there to the end, and the beginning when it comes by.
#[test]
fn zero_latency_access_begins_anywhere() {
    let waits = platter();
    let begins = Platter { zero_latency_reads: true, ..platter() };
    let end = |platter: &Platter, now| platter.access(now, HOME, span(0, 6), Op::Read, 0.0).end;
    assert_eq!((end(&waits, 2e6), end(&begins, 2e6)), (16e6, 12e6), "one turn is enough");
    let written = |platter: &Platter| platter.access(2e6, HOME, span(0, 6), Op::Write, 0.0).end;
    assert_eq!(
        (written(&begins), written(&Platter { zero_latency_writes: true, ..platter() })),
        (16e6, 12e6)
    );
    assert_eq!(end(&begins, 1.5e6), 12e6, "a sector that it comes down in is lost to it");
    assert_eq!((end(&waits, 7e6), end(&begins, 7e6)), (16e6, 16e6), "not amid them: as ever");
}

#[test]
fn writes_may_settle_faster_but_in_no_less_than_no_time() {
    let away = Track { cylinder: 3, surface: 1 };
    let settling = |ms: f64| Platter { write_settle_ns: ms * 1e6, ..platter() };
    let moved = |settle, to| settling(settle).move_ns(HOME, to, Op::Write);
    assert!((settling(0.5).move_ns(HOME, away, Op::Read) - moved(-0.5, away) - 0.5e6).abs() < 1e-6);
    assert_eq!(moved(-1.5, Track { surface: 1, ..HOME }), 0.0, "a head switch takes 1 ms");
    assert_eq!(moved(-0.5, HOME), 0.0);
}

#[test]
fn seek_times_go_on_beyond_the_last_as_they_came() {
    let seek = |points| Arc::new(SeekCurve::new(points));
    let platter = Platter { seek: seek(vec![(1.0, 2e6), (90.0, 8e6), (100.0, 9e6)]), ..platter() };
    assert_eq!([1, 95, 100, 120].map(|distance| platter.seek_ns(distance)), [2e6, 8.5e6, 9e6, 11e6]);
    let falling = Platter { seek: seek(vec![(1.0, 2e6), (2.0, 1e6)]), ..platter };
    assert_eq!([2, 3, 9].map(|distance| falling.seek_ns(distance)), [1e6, 0.0, 0.0]);
}

#[test]
fn reading_on_stops_when_it_is_due() {
    let platter = platter();
    let begin = ReadProgress { next: 0, time: 0.0, track: HOME };
    assert_eq!(platter.read_on(begin, 100, 4.5e6).next, 4);
    assert_eq!(platter.read_on(begin, 100, 14e6).next, 12, "a track, the skew, two more");
    let stopped = ReadProgress { next: 5, time: 5e6, track: HOME };
    assert_eq!(platter.read_on(begin, 5, 14e6), stopped, "up to its limit");
}

/// A seek that is over is not made again, wherever the drive is disturbed: 99 cylinders away.
#[test]
fn reading_on_by_steps_is_no_faster() {
    let platter = platter();
    let begin = ReadProgress { next: 1900, time: 0.3e6, track: HOME };
    let whole = platter.read_on(begin, 1960, 80e6);
    let by_steps = (1..=80).fold(begin, |reading, ms| platter.read_on(reading, 1960, f64::from(ms) * 1e6));
    assert!(whole.next > 1900);
    assert_eq!(by_steps, whole);
}

/// The time of every access is at least what its parts take, and less than a turn longer for each track.
#[test]
fn an_access_waits_less_than_a_turn_for_each_track() {
    let platter = platter();
    for (sector, count, now) in (0..500u64).map(|i| (i * 37 % 1900, 1 + i * 7 % 60, i as f64 * 1.37e6)) {
        let access = platter.access(now, HOME, span(sector, count), Op::Write, 0.0);
        let transfer = count as f64 * 1e6;
        let tracks = access.sweeps.len() as f64;
        let took = access.end - now;
        assert!(took >= transfer && took < transfer + tracks * (10e6 + 9.5e6), "{sector} {count}: {took}");
    }
}
