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
parts: {p: {type: disk, device: seagate-st32171w}}
system:
  c: {type: controller, cache: {size: 256 MiB, writes: back}}
  v: {type: array, level: raid1, of: p, disks: 2, controllers: [c]}
";

const FILE_SYSTEM: &str = "
system:
  d: {type: disk, device: seagate-st32171w}
  fs: {type: file_system, of: d, memory: 64 MiB}
";

/// Clients of a cache or a file system that takes no time: the run ends, and names what would give it time.
#[test]
fn time_that_stands_still_ends_a_run() {
    let writes = "workload: {w: {to: v, arrivals: {closed: {depth: 1}}, op: write, pattern: sequential, footprint: 32 MiB}}";
    let reads = |to: &str| {
        format!("workload: {{w: {{to: {to}, arrivals: {{closed: {{depth: 1}}}}, op: read, size: 4 KiB, footprint: 1 MiB}}}}")
    };
    let command = "set `command` of `c` or `think` in `workload.w.arrivals.closed`";
    let call = "set `call` of `fs` or `copy` of `fs` or `think` in";
    for (system, workload, fields, at_zero) in [
        (CACHE, writes.to_owned(), command, true),
        (CACHE, reads("v"), command, false),
        (FILE_SYSTEM, reads("fs"), call, false),
    ] {
        for requests in [200, 2000, 500_000] {
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
