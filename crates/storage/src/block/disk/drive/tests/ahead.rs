//! How reading ahead counts.

use proptest::prelude::*;

use super::*;

/// 16 KiB at 5 MB/s pass under the head in 3.3 ms, and in a third of at most 2 ms more, the skew to the next track of 50 kB; the command
/// holds the drive for 1 ms. What was read ahead counts when it is asked for first, and never again; of a second stream as of the first.
#[test]
fn what_is_read_ahead_counts_once() {
    let slow = || Sourced::Plain(BytesPerSecond(5e6));
    let cache = Some(write_back(ReadAhead::Always, Scheduling::Fcfs));
    let numbers = DiskNumbers { media_rate_outer: slow(), media_rate_inner: slow(), ..numbers(cache) };
    let mut drive = Drive::of(&numbers, 0.3, RngStream::named(1, "drive", "retries"));
    let mut now = 0;
    let mut counted = |address: u64| {
        let before = drive.read_ahead_ns(Nanos(now));
        drive.serve(Nanos(now), &block(Op::Read, address, 16 * KIB));
        now += 1_000_000_000;
        (drive.read_ahead_ns(Nanos(now)) - before) as f64 * 1e-6
    };
    let other = 1 << 29;
    let found = [0, other, 16 * KIB, other + 16 * KIB, 16 * KIB, other + 16 * KIB].map(&mut counted);
    let media = 16.0 * 1.024 / 5.0 - 1.0;
    for (found, is_first) in found.into_iter().zip([false, false, true, true, false, false]) {
        let most = media + 2.0 * 16.384 / 50.0;
        assert!(
            if is_first { (media..most).contains(&found) } else { found == 0.0 },
            "{found} ms of {media} to {most}"
        );
    }
}

proptest! {
    /// Commands, destaging alone and reading ahead never take more of a span than the span, wherever it begins and ends.
    #[test]
    fn no_time_counts_twice(
        owes: bool,
        streams in 1u64..3,
        commands in prop::collection::vec((any::<bool>(), 0u64..3, 1u64..256, prop_oneof![Just(0), 0u64..40_000_000]), 1..200)
    ) {
        let owing = CacheSpec {
            read_ahead_least: Some(Bytes(512 * KIB)),
            segment_size: Bytes(512 * KIB),
            read_ahead_on_hit: true,
            ..write_back(ReadAhead::Always, Scheduling::Sptf)
        };
        let mut drive = if owes { drive(Some(owing)) } else { caching() };
        let (mut now, mut held, mut ends) = (0, 0, [0, 1 << 28, 1 << 29]);
        let (mut last, mut counted) = (0, 0);
        for (reads, stream, sectors, gap) in commands {
            let stream = (stream % streams) as usize;
            let op = if reads { Op::Read } else { Op::Write };
            let served = drive.serve(Nanos(now), &block(op, ends[stream], sectors * SECTOR));
            ends[stream] += sectors * SECTOR;
            held += served.ready.0 - now;
            for at in [served.ready.0, served.ready.0 + gap / 2, served.ready.0 + gap] {
                let busy = held + drive.background(Nanos(at)).alone_ns + drive.read_ahead_ns(Nanos(at));
                prop_assert!(busy - counted <= at - last, "{} ns of {}", busy - counted, at - last);
                (last, counted) = (at, busy);
            }
            now = served.ready.0 + gap;
        }
    }
}
