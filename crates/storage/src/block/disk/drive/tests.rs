use headrace_units::{Bytes, BytesPerSecond, PerSecond};
use proptest::prelude::*;

use super::*;
use std::cell::RefCell;
use std::rc::Rc;

use crate::block::disk::queue::{CommandQueue, QueuedCommand};
use crate::block::disk::schedule::Scheduling;
use crate::block::disk::{
    AliceReading, CacheSpec, InterfaceSpec, MechanicsSpec, QueueSpec, ReadAhead, SeekTimes, Writes,
};
use crate::core::device::Sourced;
use headrace_kernel::{Discipline, Sim};
use headrace_work::Request;

mod ahead;

const KIB: u64 = 1024;

/// A small drive of one millisecond to each command.
fn numbers(cache: Option<CacheSpec>) -> DiskNumbers {
    let ms = |ms: f64| Sourced::Plain(Nanos::from_ms(ms));
    let seek = |one, full| SeekTimes { track_to_track: ms(one), average: None, full_stroke: ms(full) };
    DiskNumbers {
        name: None,
        validation: String::new(),
        capacity: Sourced::Plain(Bytes(1 << 30)),
        cylinders: Sourced::Plain(2000),
        rotation: Sourced::Plain(PerSecond(100.0)),
        media_rate_outer: Sourced::Plain(BytesPerSecond(50e6)),
        media_rate_inner: Sourced::Plain(BytesPerSecond(25e6)),
        seek_read: seek(1.0, 15.0),
        seek_write: seek(1.5, 16.0),
        overhead: ms(1.0),
        price: None,
        power: None,
        rack_units: None,
        mechanics: None,
        cache,
        interface: Some(InterfaceSpec {
            read_rate: Some(BytesPerSecond(20e6)),
            write_rate: Some(BytesPerSecond(20e6)),
            ..InterfaceSpec::default()
        }),
        queue: None,
    }
}

/// Eight segments of 64 KiB; writes are done once they are here.
fn write_back(read_ahead: ReadAhead, drain: Scheduling) -> CacheSpec {
    CacheSpec {
        source: None,
        segments: 8,
        segment_size: Bytes(64 * KIB),
        read_ahead,
        read_ahead_most: None,
        read_ahead_least: None,
        read_ahead_on_hit: false,
        keeps_passing: false,
        keeps_written: None,
        writes: Writes::Back,
        write_room: None,
        writes_held: None,
        drain,
        drain_after: None,
        alice_reading: AliceReading::default(),
    }
}

fn drive(cache: Option<CacheSpec>) -> Drive {
    Drive::of(&numbers(cache), 0.3, RngStream::named(1, "drive", "retries"))
}

fn caching() -> Drive {
    drive(Some(write_back(ReadAhead::Always, Scheduling::Fcfs)))
}

fn block(op: Op, address: u64, bytes: u64) -> Block {
    Block { op, address, bytes }
}

/// Writes at these addresses, one after another. Returns when the last one is done.
fn write_all(drive: &mut Drive, addresses: &[u64]) -> Nanos {
    addresses
        .iter()
        .fold(Nanos::ZERO, |now, address| drive.serve(now, &block(Op::Write, *address, 4 * KIB)).ready)
}

/// A time by which the drive has long done everything.
const LATER: Nanos = Nanos(1_000_000_000_000);

const PLACES: [u64; 4] = [100 << 20, 700 << 20, 300 << 20, 900 << 20];

#[test]
fn a_drive_left_alone_destages_what_it_holds() {
    let mut drive = caching();
    let begin = drive.serve(Nanos::ZERO, &block(Op::Write, PLACES[0], 4 * KIB)).ready;
    // The same accesses, one after another from when the first data was there.
    let (mut time, mut arm) = (begin.0 as f64, drive.actuator.track());
    let mut busy = 0;
    for address in PLACES {
        let span = SectorSpan::of(&block(Op::Write, address, 4 * KIB));
        let access = drive.platter.access(time, arm, span, Op::Write, 0.0);
        busy += whole(access.end) - whole(time);
        (time, arm) = (access.end, access.track);
    }
    let mut drive = caching();
    write_all(&mut drive, &PLACES);
    let background = drive.background(LATER);
    assert_eq!(background.alone_ns + background.within_ns, busy);
    assert_eq!(drive.background(Nanos(whole(time))), background, "no longer than the last access");
}

/// With `drain_after`, the drive leaves its arm to commands until none came for that long.
#[test]
fn a_lazy_drive_destages_once_it_was_left_alone_for_so_long() {
    let after = Nanos::from_ms(50.0);
    let lazy = CacheSpec { drain_after: Some(after), ..write_back(ReadAhead::Always, Scheduling::Fcfs) };
    let mut drive = drive(Some(lazy));
    let written = drive.serve(Nanos::ZERO, &block(Op::Write, PLACES[0], 4 * KIB)).ready;
    assert_eq!(drive.background(written + after).alone_ns, 0);
    assert_eq!(drive.background(LATER).alone_ns, caching_destage_ns(written + after));
    let read = drive.serve(written + Nanos::from_ms(49.0), &block(Op::Read, PLACES[1], 4 * KIB)).ready;
    assert_eq!(drive.counts().destaged, 0, "a command came before");
    drive.serve(read + Nanos::from_ms(51.0), &block(Op::Read, PLACES[2], 4 * KIB));
    assert_eq!(drive.counts().destaged, 1);
}

/// How long the destage of a write to the first place takes from `begin` on, the arm at the beginning of the disk.
fn caching_destage_ns(begin: Nanos) -> u64 {
    let drive = caching();
    let span = SectorSpan::of(&block(Op::Write, PLACES[0], 4 * KIB));
    let end = drive.platter.access(begin.0 as f64, drive.actuator.track(), span, Op::Write, 0.0).end;
    whole(end) - begin.0
}

#[test]
fn a_durable_write_leaves_nothing_in_the_cache() {
    let mut drive = caching();
    let now = write_all(&mut drive, &PLACES);
    let served = drive.serve_durably(now, &block(Op::Write, 500 << 20, 4 * KIB));
    let positioning = Nanos::from_ms(5.0);
    assert_eq!(drive.counts().destaged, PLACES.len() as u64);
    assert!(served.done > now + Nanos(positioning.0 * PLACES.len() as u64), "it waits for what came before");
    assert_eq!(drive.handled().from, DataSource::Platter);
    let within = drive.background(served.done);
    assert_eq!(drive.background(LATER), within, "nothing is left to destage");
}

#[test]
fn a_flush_leaves_nothing_in_the_cache() {
    let mut drive = caching();
    let now = write_all(&mut drive, &PLACES);
    let counts = drive.counts();
    let served = drive.flush(now);
    let positioning = Nanos::from_ms(5.0);
    assert!(served.done > now + Nanos(positioning.0 * PLACES.len() as u64), "it waits for what came before");
    let within = drive.background(served.done);
    assert_eq!(drive.background(LATER), within, "nothing is left to destage");
    assert_eq!(drive.counts().cached_writes, counts.cached_writes, "a flush is no write");
    assert!(drive.flush(served.done).done < served.done + positioning, "and then it costs its command");
}

#[test]
fn a_read_that_is_tried_again_takes_a_turn_more() {
    let read = block(Op::Read, PLACES[1], 4 * KIB);
    let retried = MechanicsSpec { read_retries: Some(Fraction(1.0)), ..MechanicsSpec::default() };
    let numbers = DiskNumbers { mechanics: Some(retried), ..numbers(None) };
    let mut twice = Drive::of(&numbers, 0.3, RngStream::named(1, "drive", "retries"));
    let (once, twice) = (drive(None).serve(Nanos::ZERO, &read), twice.serve(Nanos::ZERO, &read));
    assert_eq!(twice.done - once.done, Nanos::from_ms(10.0));
}

/// The order in which a drive that chooses the nearest serves commands (place, durable) that came one after another.
fn order(commands: &[(u64, bool)]) -> Vec<u32> {
    let (sim, spec) = (Sim::new(), QueueSpec { scheduling: Scheduling::Sstf, ..QueueSpec::default() });
    let mut queue = CommandQueue::new(&sim, Rc::new(RefCell::new(caching())), &spec);
    for (waiter, &(place, durable)) in commands.iter().enumerate() {
        let request = Request::new(1, block(Op::Write, place, 4 * KIB));
        queue.push(waiter as u32, QueuedCommand::of(&Request { durable, ..request }));
    }
    std::iter::from_fn(|| queue.pop()).collect()
}

#[test]
fn a_durable_command_is_not_queued_with_others() {
    let [far, near, middle] = [(900 << 20, false), (0, false), (500 << 20, false)];
    assert_eq!(order(&[far, near, middle]), [1, 2, 0]);
    assert_eq!(order(&[far, (500 << 20, true), near]), [0, 1, 2]);
    assert_eq!(order(&[far, middle, (900 << 20, true), near]), [1, 0, 2, 3]);
}

#[test]
fn asking_changes_nothing() {
    let (mut asked, mut left) = (caching(), caching());
    let now = write_all(&mut asked, &PLACES);
    write_all(&mut left, &PLACES);
    let background = asked.background(LATER);
    asked.arm_at(LATER);
    assert_eq!(asked.background(LATER), background, "what it foresees is what it does");
    let next = block(Op::Read, 500 << 20, 4 * KIB);
    let mut unasked = left.clone();
    assert!(left.background(LATER).alone_ns > 0);
    assert_eq!(left.serve(now, &next), unasked.serve(now, &next));
}

/// Background work where all commands are hosts'.
fn by_hosts(alone_ns: u64, within_ns: u64) -> Background {
    Background { alone_ns, within_ns, within_hosts_ns: within_ns }
}

/// The wait of a read for the end of a destage is within its service.
#[test]
fn a_destage_that_a_read_waits_for_is_within_its_service() {
    let mut drive = caching();
    let written = drive.serve(Nanos::ZERO, &block(Op::Write, PLACES[0], 4 * KIB)).ready;
    let destage = drive.background(LATER).alone_ns;
    let now = Nanos(written.0 + 500_000);
    let read = drive.serve(now, &block(Op::Read, PLACES[1], 4 * KIB));
    let background = drive.background(LATER);
    assert_eq!(background, by_hosts(500_000, destage - 500_000));
    assert!(read.ready.0 > now.0 + background.within_ns);
    let half = drive.background(Nanos(now.0 + 100));
    assert_eq!(half, by_hosts(500_000, 100));
}

/// A hit is over sooner than the destage that runs meanwhile.
#[test]
fn a_destage_goes_on_behind_a_hit() {
    let mut drive = caching();
    let written = drive.serve(Nanos::ZERO, &block(Op::Write, PLACES[0], 4 * KIB)).ready;
    let destage = drive.background(LATER).alone_ns;
    let now = Nanos(written.0 + 500_000);
    let hit = drive.serve(now, &block(Op::Read, PLACES[0], 4 * KIB));
    let within_ns = (hit.ready - now).0;
    assert_eq!(drive.background(LATER), by_hosts(destage - within_ns, within_ns));
}

#[test]
fn a_drive_that_does_not_destage_has_no_background() {
    let through = CacheSpec { writes: Writes::Through, ..write_back(ReadAhead::Always, Scheduling::Fcfs) };
    for cache in [None, Some(through)] {
        let mut drive = drive(cache);
        let now = write_all(&mut drive, &PLACES);
        drive.serve(now, &block(Op::Read, 0, 64 * KIB));
        assert_eq!(drive.background(LATER), Background::default());
        assert_eq!(drive.counts().platter_writes, 4);
    }
}

/// With 2.02 surfaces' worth of data it has two, whose tracks are as fast as the media rates say, and not three that are slower by a third.
#[test]
fn cylinders_that_are_a_little_few_add_no_surface() {
    let of_two = 2000.0 * 375e3 * 2.0;
    let surfaces = |share: f64| {
        let capacity = Sourced::Plain(Bytes((of_two * share) as u64));
        DiskNumbers { capacity, ..numbers(None) }.mechanics().layout.surfaces
    };
    assert_eq!([0.9, 1.0, 1.01, 1.03].map(surfaces), [2, 2, 2, 3]);
}

#[test]
fn counts_say_where_data_was() {
    let mut drive = caching();
    let served = drive.serve(Nanos::ZERO, &block(Op::Read, 1 << 20, 4 * KIB));
    let served = drive.serve(served.done, &block(Op::Read, 1 << 20, 4 * KIB));
    let served = drive.serve(served.ready, &block(Op::Read, (1 << 20) + 4 * KIB, 60 * KIB));
    drive.serve(served.done, &block(Op::Write, 1 << 20, 4 * KIB));
    drive.arm_at(LATER);
    let expected = CommandCounts {
        read_hits: 1,
        read_ahead_hits: 1,
        read_misses: 1,
        cached_writes: 1,
        platter_writes: 0,
        destaged: 1,
    };
    assert_eq!(drive.counts(), expected);
}

#[test]
fn a_drive_that_does_not_overlap_is_ready_when_it_is_done() {
    let read = block(Op::Read, 1 << 20, 64 * KIB);
    let overlapping = caching().serve(Nanos::ZERO, &read);
    let alone = caching().overlapping(false).serve(Nanos::ZERO, &read);
    assert!(overlapping.ready < overlapping.done);
    assert_eq!((alone.ready, alone.done), (overlapping.done, overlapping.done));
}

#[test]
fn what_comes_by_itself_is_priced_at_nothing() {
    let mut drive = caching();
    let now = drive.serve(Nanos::ZERO, &block(Op::Read, 1 << 20, 4 * KIB)).done;
    let next = block(Op::Read, (1 << 20) + 4 * KIB, 64 * KIB);
    assert_eq!(drive.positioning_ns(now, &next, &OnceCell::new()), 0.0);
    assert!(drive.positioning_ns(now, &block(Op::Read, 500 << 20, 4 * KIB), &OnceCell::new()) > 0.0);
}

/// A read partly in the cache is priced from its first missing sector.
#[test]
fn a_partly_cached_read_is_priced_from_its_first_missing_sector() {
    let mut drive = drive(Some(write_back(ReadAhead::Never, Scheduling::Fcfs)));
    let now = drive.serve(Nanos::ZERO, &block(Op::Read, 1 << 20, 64 * KIB)).done;
    let [partly, rest, all] = [(32, 64), (64, 32), (32, 32)].map(|(kib, size)| {
        drive.positioning_ns(now, &block(Op::Read, (1 << 20) + kib * KIB, size * KIB), &OnceCell::new())
    });
    assert_eq!((partly, all), (rest, 0.0));
    assert!(partly > 0.0);
}

/// Reads two sequential streams half a disk apart by turns, 4 KiB at a time. Returns what that takes, in s, and what it counts.
fn two_streams(read_ahead_least: Option<Bytes>) -> (f64, CommandCounts) {
    let segment_size = Bytes(1024 * KIB);
    let cache =
        CacheSpec { segment_size, read_ahead_least, ..write_back(ReadAhead::Always, Scheduling::Fcfs) };
    let mut drive = drive(Some(cache));
    let mut now = Nanos::ZERO;
    for turn in 0..2000 {
        let address = (turn % 2) * (512 << 20) + turn / 2 * 4 * KIB;
        now = drive.serve(now, &block(Op::Read, address, 4 * KIB)).done;
    }
    (now.secs(), drive.counts())
}

/// A drive that must read some of each stream ahead turns from one to the other less often: a seek for as much as it reads ahead.
#[test]
fn streams_that_are_read_ahead_share_a_drive() {
    let (without, most_miss) = two_streams(None);
    let (with, some_miss) = two_streams(Some(Bytes(1024 * KIB)));
    assert!(most_miss.read_misses > 1000, "{most_miss:?}");
    assert!(some_miss.read_misses < 40, "{some_miss:?}");
    assert!(with < without / 3.0, "{with} s, {without} s without");
}

/// Nothing is read ahead against its will for a stream of one read.
#[test]
fn a_read_that_continues_none_makes_no_other_wait() {
    let least = |read_ahead_least| {
        let cache = CacheSpec { read_ahead_least, ..write_back(ReadAhead::Always, Scheduling::Fcfs) };
        let mut drive = drive(Some(cache));
        PLACES.iter().fold(Nanos::ZERO, |now, place| drive.serve(now, &block(Op::Read, *place, 4 * KIB)).done)
    };
    assert_eq!(least(Some(Bytes(64 * KIB))), least(None));
}

/// No read ends before its last sector has passed under the head: at best as fast as tracks pass, for all streams together.
#[test]
fn no_stream_is_faster_than_the_platter() {
    let bytes = 2000.0 * (4 * KIB) as f64;
    let (with, _) = two_streams(Some(Bytes(1024 * KIB)));
    assert!(bytes / with < 50e6, "{} MB/s", bytes / with / 1e6);
}

fn any_drive() -> impl Strategy<Value = Drive> {
    let ahead = prop::sample::select(vec![ReadAhead::Never, ReadAhead::Always, ReadAhead::Track]);
    let drain = prop::sample::select(vec![Scheduling::Fcfs, Scheduling::Look, Scheduling::Sptf]);
    let (held, room) = (prop::option::of(1u32..5), prop::option::of(1..200 * KIB));
    let least = prop::option::of(1..100 * KIB);
    let all = (ahead, drain, held, room, least, any::<bool>());
    all.prop_map(|(ahead, drain, writes_held, room, least, overlapping)| {
        let (write_room, read_ahead_least) = (room.map(Bytes), least.map(Bytes));
        let cache = CacheSpec { writes_held, write_room, read_ahead_least, ..write_back(ahead, drain) };
        drive(Some(cache)).overlapping(overlapping)
    })
}

/// A command, and how long after the one before it comes.
fn any_command() -> impl Strategy<Value = (Block, u64)> {
    let op = prop::sample::select(vec![Op::Read, Op::Write, Op::Write]);
    let gap = prop_oneof![Just(0), 0..100_000u64, 0..50_000_000u64];
    (op, 0..1000u64, 1..150u64, gap).prop_map(|(op, place, kib, gap)| {
        let address = (place / 10) * (10 << 20) + (place % 10) * 4 * KIB;
        (block(op, address, kib * KIB), gap)
    })
}

proptest! {
    /// The arm never works more than the clock runs: beside commands no more than they leave, within them no more than they take.
    #[test]
    fn background_work_fits_beside_and_within_commands(
        drive in any_drive(), commands in prop::collection::vec(any_command(), 1..60)
    ) {
        let (mut drive, mut now, mut service) = (drive, Nanos::ZERO, 0);
        let mut last = Background::default();
        for (block, gap) in commands {
            let served = drive.serve(now, &block);
            service += (served.ready - now).0;
            for time in [now.0, (now.0 + served.ready.0) / 2, served.ready.0, served.ready.0 + gap] {
                let background = drive.background(Nanos(time));
                let Background { alone_ns, within_ns, .. } = background;
                prop_assert!(alone_ns >= last.alone_ns && within_ns >= last.within_ns, "{last:?} {background:?}");
                prop_assert!(time < served.ready.0 || alone_ns + service <= time);
                prop_assert!(within_ns <= service);
                last = background;
            }
            now = served.ready + Nanos(gap);
            let foreseen = drive.background(now);
            drive.arm_at(now);
            prop_assert_eq!(drive.background(now), foreseen);
        }
        prop_assert!(drive.background(LATER).within_ns == last.within_ns);
    }
}
