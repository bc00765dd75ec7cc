//! How runs end: each ends, and says why.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::{End, Options};
use headrace_scenario::simulate;

fn run(text: &str) -> Results {
    simulate(text, "test.yaml", &[], &Options::default(), &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

#[track_caller]
fn assert_note(results: &Results, note: &str) {
    assert!(results.notes.iter().any(|found| found.contains(note)), "{:#?}", results.notes);
}

const CACHE: &str = "
parts: {p: {type: disk, positioning: addressed, device: seagate-st32171w}}
system:
  c: {type: controller, cache: {size: 256 MiB, writes: back}}
  v: {type: array, level: raid1, of: p, disks: 2, controllers: [c]}
";

const FILE_SYSTEM: &str = "
system:
  d: {type: disk, positioning: addressed, device: seagate-st32171w}
  fs: {type: file_system, of: d, memory: 64 MiB}
";

/// Clients of a cache or a file system that takes no time: the run ends, and names what would give it time.
#[test]
fn time_that_stands_still_ends_a_run() {
    let writes = "workload: {w: {to: v, arrivals: {closed: {depth: 1}}, op: write, pattern: sequential, footprint: 32 MiB}}";
    let reads = |to: &str| {
        format!(
            "workload: {{w: {{to: {to}, arrivals: {{closed: {{depth: 1}}}}, op: read, size: 4 KiB, footprint: 1 MiB}}}}"
        )
    };
    let command = "set `command` of `c` or `think` in `workload.w.arrivals.closed`";
    let call = "set `call` of `fs` or `copy` of `fs` or `think` in";
    for (system, workload, fields, at_zero) in [
        (CACHE, writes.to_owned(), command, true),
        (CACHE, reads("v"), command, false),
        (FILE_SYSTEM, reads("fs"), call, false),
    ] {
        for requests in [200, 500_000] {
            let results = run(&format!("{system}{workload}\nrun: {{requests: {requests}}}"));
            assert!(results.streams[0].completed <= requests);
            // Reads that find nothing take time: a few requests are answered before it stands still.
            if at_zero || requests > 200 {
                assert_eq!(results.ended, End::TimeStandsStill, "{requests}");
                assert_note(&results, fields);
            } else {
                assert_eq!((results.ended, results.streams[0].completed), (End::Done, requests));
            }
        }
    }
}

/// One field is enough: the same clients then get exactly as many requests as the run has.
#[test]
fn the_fields_that_are_named_give_time() {
    let workload = "workload: {w: {to: v, arrivals: {closed: {depth: 3}}, op: write, footprint: 32 MiB}}";
    let system = CACHE.replace("type: controller,", "type: controller, command: 10 us,");
    let results = run(&format!("{system}{workload}\nrun: {{requests: 2000}}"));
    assert_eq!((results.ended, results.streams[0].completed), (End::Done, 2000));
    let workload = workload.replace("depth: 3", "depth: 3, think: 1 ms");
    let results = run(&format!("{CACHE}{workload}\nrun: {{requests: 2000}}"));
    assert_eq!((results.ended, results.streams[0].completed), (End::Done, 2000));
}

/// A run of given time is as long as that time, however many requests that takes; what it ended before is said.
#[test]
fn time_alone_ends_a_run() {
    let text = "
parts:
  hdd: {type: disk, device: seagate-st18000nm000j, positioning: independent}
system:
  array: {type: array, level: raid6, of: hdd, disks: 8, stripe_unit: 64 KiB}
workload:
  vms: {to: array, arrivals: {poisson: 100 /s}, op: read, size: 16 KiB}
faults:
  - {component: 'array/hdd[2]', fails: 40 min, returns: {after: 240000}}
";
    let results = run(&format!("{text}run: {{time: 45 min}}"));
    assert_eq!(results.ended, End::TimeUp);
    assert!(results.streams[0].completed > 250_000, "{}", results.streams[0].completed);
    assert!(!results.notes.iter().any(|note| note.contains("the run ended")), "{:#?}", results.notes);
    let short = run(&format!("{text}run: {{time: 45 min, requests: 1000}}"));
    assert_eq!((short.ended, short.streams[0].completed), (End::Done, 1000));
    assert_note(&short, "the run ended after 1,000 requests, at ");
    assert_note(&short, ", before its `time` of 45 min");
    assert_note(
        &short,
        "before these faults: array/hdd[2] fails at 40 min, array/hdd[2] returns after 240000 requests",
    );
    let by_time = run(&format!("{text}run: {{time: 10 s, requests: 1000000}}"));
    assert_note(&by_time, "the run ended at its `time` of 10 s, after ");
    // Without a time, the number of requests is what it always was.
    let results = run(text.split("faults").next().unwrap());
    assert_eq!(results.streams[0].completed, 200_000);
}

/// Asserts that a run of `text` ends for one of `reasons`: under its limits, which it hears wherever it is.
#[track_caller]
fn assert_ends(text: &str, reasons: &[End]) -> Results {
    let results = run(text);
    assert!(reasons.contains(&results.ended), "{:?} {:#?}\n{text}", results.ended, results.notes);
    results
}

const LIMITS: &str = "limits: {events: 100000, wall_time: 100 ms}";

/// A second failure during the rebuild of large disks, as well as an outage of their link: nothing can be rebuilt, and the rebuild does
/// not look at each of their 275 million stripes.
#[test]
fn a_rebuild_that_cannot_go_on_takes_no_time() {
    let array = |level: &str, more: &str| {
        format!(
            "
parts: {{p: {{type: disk, positioning: addressed, device: seagate-st18000nm000j}}}}
system:
  loop: {{type: link, rate: 1 GB/s}}
  v: {{type: array, of: p, stripe_unit: 64 KiB, via: [loop], {level}, {more}}}
workload: {{w: {{to: v, arrivals: {{poisson: 50 /s}}}}}}
"
        )
    };
    let fails = |which: &str, from: &str| format!("  - {{component: {which}, fails: {from}}}\n");
    let second = fails("'v/p[0]'", "1 s") + &fails("'v/p[1]'", "2 s");
    let outage = fails("'v/p[0]'", "1 s") + "  - {component: loop, fails: 2 s, returns: 3 s}\n";
    for level in [
        "level: raid5, disks: 4",
        "level: raid4, disks: 4",
        "level: raid1, disks: 2",
        "level: raid10, disks: 4",
        "level: raid5, disks: 12, declustered: {width: 5, spares: 1}",
    ] {
        for faults in [&second, &outage] {
            let text = array(level, "spares: 1") + "faults:\n" + faults + "run: {requests: 400}\n";
            assert_ends(&text, &[End::Done]);
        }
    }
    let text = include_str!("rebuild_1155.json");
    assert_ends(text, &[End::Done, End::TooManyEvents]);
}

/// A rebuild that an outage of its link interrupted goes on when the link is back.
#[test]
fn a_rebuild_goes_on_after_an_outage() {
    let text = "
parts: {p: {type: disk, device: {like: seagate-st32171w, capacity: 64 MB}, positioning: independent}}
system:
  loop: {type: link, rate: 1 GB/s}
  v: {type: array, of: p, stripe_unit: 64 KiB, via: [loop], level: raid5, disks: 4, spares: 1}
workload: {w: {to: v, arrivals: {poisson: 10 /s}, op: read}}
faults:
  - {component: 'v/p[0]', fails: 1 s}
  - {component: loop, fails: 2 s, returns: 3 s}
run: {requests: 2000}
";
    let results = assert_ends(text, &[End::Done]);
    let array = results.components.iter().find(|component| component.path == "v").unwrap();
    assert_eq!(array.meters["rebuild_progress"], Some(1.0), "{:?}", results.notes);
}

/// Requests of many gigabytes, and arrays whose requests fall into millions of parts.
#[test]
fn huge_requests_end_a_run() {
    let system = |level: &str, positioning: &str| {
        format!(
            "
parts: {{spindle: {{type: disk, device: maxtor-7y250p0, positioning: {positioning}}}}}
system: {{left: {{type: array, of: spindle, disks: 6, stripe_unit: 512 KiB, {level}}}}}
"
        )
    };
    let reasons = [End::Done, End::TooLong, End::TooManyEvents, End::TooManyParts];
    for level in ["level: raid0", "level: raid5", "level: raid10"] {
        for positioning in ["mechanical", "independent"] {
            for op in ["read", "write"] {
                let workload = format!(
                    "workload: {{w: {{to: left, arrivals: {{closed: {{depth: 2}}}}, op: {op}, pattern: sequential, size: 6e7 kB}}}}\n"
                );
                assert_ends(
                    &(system(level, positioning) + &workload + "run: {requests: 300, " + LIMITS + "}\n"),
                    &reasons,
                );
            }
        }
    }
}

/// Overload whose requests have many parts ends before memory does.
#[test]
fn parts_in_flight_are_bounded() {
    let text = "
parts: {spindle: {type: disk, device: seagate-st32171w, positioning: independent}}
system: {volume: {type: array, level: raid5, of: spindle, disks: 8, stripe_unit: 64 KiB}}
workload: {users: {to: volume, arrivals: {poisson: 50 /s}, size: 80000 KiB, op: {reads: 66.667 %}}}
run: {requests: 1000000, limits: {parts: 20000}}
";
    assert_note(
        &assert_ends(text, &[End::TooManyParts]),
        "more than 20,000 parts of requests were in flight (limits.parts)",
    );
}

/// Preparing a solid-state drive hears the limit on real time.
#[test]
fn preparing_a_drive_can_be_interrupted() {
    let text = "
system: {ssd: {type: ssd, device: micron-7450-pro-1920gb, overwritten: 100}}
workload: {w: {to: ssd, arrivals: {poisson: 50 /s}, op: write}}
run: {limits: {wall_time: 100 ms}}
";
    assert_ends(text, &[End::TooLong]);
}

/// A rebuild that the limit on real time interrupts is not taken for one that ended: the run ends with it, though its requests may be
/// done within the next events.
#[test]
fn a_rebuild_that_is_interrupted_ends_the_run() {
    let text = "
system:
  left: {type: station, servers: 8, service: 10 us, capacity: 1 TB}
  right: {type: station, servers: 8, service: 10 us, capacity: 1 TB}
  v: {type: array, level: raid1, of: [left, right], rebuild: {chunk: 4 KiB}}
workload: {w: {to: v, arrivals: {poisson: 100 /s}}}
faults: [{component: right, fails: 10 ms, replaced: 20 ms}]
run: {requests: 1000, limits: {wall_time: 50 ms}}
";
    for _ in 0..8 {
        assert_ends(text, &[End::TooLong]);
    }
}

/// The limit on real time is one of all replications together.
#[test]
fn replications_share_the_limit_on_real_time() {
    let text = "
system: {d: {type: station, service: 1 ms}}
workload: {w: {to: d, arrivals: {poisson: 500 /s}}}
run: {requests: 1000000000, replications: 1000, engine: events, limits: {wall_time: 50 ms}}
";
    let results = assert_ends(text, &[End::TooLong]);
    assert_eq!(results.replications, 1);
    assert_note(&results, "1 of 1000 replications were run");
}

/// Read-ahead ends with the array: behind it a solid-state drive has no pages.
#[test]
fn read_ahead_ends_with_the_array() {
    let text = "
parts: {p: {type: ssd, device: {like: micron-7450-pro-1920gb, capacity: 600 MB, flash: {block_pages: 8, erase: 38 us, over_provisioning: 7 %}, buffer: {size: 16 MiB}}}}
system:
  c: {type: controller, command: 1 us, cache: {size: 2 MiB, read_ahead: 32 MiB}}
  v: {type: array, level: raid0, of: p, disks: 2, stripe_unit: 256 KiB, controllers: [c]}
workload: {w: {to: v, arrivals: {closed: {depth: 1}}, op: read, pattern: sequential, size: 1 MiB}}
run: {requests: 3000}
";
    assert_ends(text, &[End::Done]);
}

/// A bit for each byte, and a write of gigabytes: the bits of one write are bounded as its parts are.
#[test]
fn a_bitmap_of_tiny_regions_ends_a_run() {
    let text = format!(
        "
parts: {{p: {{type: disk, positioning: addressed, device: seagate-st18000nm000j}}}}
system: {{v: {{type: array, of: p, level: raid1, disks: 2, bitmap: {{chunk: 1 B}}}}}}
workload: {{w: {{to: v, arrivals: {{poisson: 1 /s}}, op: write, size: 100 GB}}}}
run: {{requests: 10, {LIMITS}}}
"
    );
    assert_ends(&text, &[End::TooManyParts]);
}
