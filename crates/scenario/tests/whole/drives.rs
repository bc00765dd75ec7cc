//! What drives of the catalogue sustain: sequential streams, alone, at depth, and beside each other.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

fn run(text: &str) -> Results {
    let found = simulate(text, "test.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
}

/// The rate of all streams together, in MB/s.
fn rate(disk: &str, workload: &str, requests: u32) -> f64 {
    each_rate(disk, workload, requests).iter().sum()
}

/// The rates of two streams, in MB/s.
fn rates(disk: &str, workload: &str, requests: u32) -> [f64; 2] {
    each_rate(disk, workload, requests).try_into().expect("two streams")
}

fn each_rate(disk: &str, workload: &str, requests: u32) -> Vec<f64> {
    let text = format!(
        "system: {{d: {{type: disk, positioning: mechanical, {disk}}}}}\nworkload: {{{workload}}}\n\
         run: {{requests: {requests}, seed: 1}}"
    );
    run(&text).streams.iter().map(|stream| stream.bytes_per_s / 1e6).collect()
}

fn sequential(op: &str, size: &str, depth: u32) -> String {
    format!("s: {{{}, arrivals: {{closed: {{depth: {depth}}}}}}}", requests(op, size))
}

fn requests(op: &str, size: &str) -> String {
    format!("to: d, op: {op}, size: {size}, pattern: sequential")
}

/// One request after another, in a region of the disk.
fn placed(name: &str, requests: &str, region: &str) -> String {
    format!("{name}: {{{requests}, region: {{{region}}}, arrivals: {{closed: {{depth: 1}}}}}}")
}

/// Data-sheet drives whose writes are done in the cache: what is written one after another reaches the platter as it comes.
const WRITE_BACK: [&str; 4] =
    ["seagate-st18000nm000j", "samsung-hd103uj", "maxtor-7y250p0", "maxtor-7y250p0-2mb"];

/// Drives write as fast as they read, as their data sheets say of sustained rates; also where a write is larger than the component
/// there is for it in the cache.
#[test]
fn sequential_writes_are_as_fast_as_reads() {
    for device in WRITE_BACK {
        let disk = format!("device: {device}");
        for (size, requests) in [("1 MiB", 2000), ("16 MiB", 200)] {
            let [reads, writes] = ["read", "write"].map(|op| rate(&disk, &sequential(op, size, 1), requests));
            assert!(writes > 0.9 * reads, "{device}, {size}: {writes:.1} MB/s written, {reads:.1} read");
        }
    }
}

/// A drive that chooses by positioning time knows that what it is reading ahead takes none.
#[test]
fn a_queue_does_not_slow_a_sequential_stream() {
    for disk in ["device: seagate-st18000nm000j, scheduling: sptf", "device: samsung-hd103uj"] {
        let [alone, queued] = [1, 4].map(|depth| rate(disk, &sequential("read", "64 KiB", depth), 5000));
        assert!(queued > 0.98 * alone, "{disk}: {queued:.1} MB/s with four outstanding, {alone:.1} with one");
    }
}

/// Sustained rates, outside and inside, in MB/s: a data sheet's, or those of a drive of the same class. They contain the switches from
/// track to track, so the media pass faster.
const SUSTAINED: [(&str, u64, [f64; 2]); 3] = [
    ("seagate-st18000nm000j", 18_000, [270.0, 125.0]),
    ("maxtor-7y250p0", 250, [61.4, 29.7]),
    ("maxtor-7y250p0-2mb", 250, [61.4, 29.7]),
];

/// Within 3 %, read and written, in the first and the last hundredth of the drive.
#[test]
fn drives_sustain_what_their_data_sheets_say() {
    for (device, gb, rates) in SUSTAINED {
        for (from, sustained) in [0, gb * 99 / 100].into_iter().zip(rates) {
            for op in ["read", "write"] {
                let region = format!("from: {from} GB, size: {} MB", gb * 10);
                let stream = placed("s", &requests(op, "1 MiB"), &region);
                let found = rate(&format!("device: {device}"), &stream, 2000);
                let off = found / sustained - 1.0;
                assert!(off.abs() < 0.03, "{device}, {op} from {from} GB: {found:.1} MB/s for {sustained}");
            }
        }
    }
}

/// Two sequential streams half a disk apart: a drive that reads some of each ahead seeks once for that much.
#[test]
fn streams_share_a_drive_that_reads_ahead() {
    let stream = |name, region| placed(name, &requests("read", "64 KiB"), region);
    let workload = [stream("a", "from: 0 B, size: 1 TB"), stream("b", "from: 9 TB, size: 1 TB")].join(", ");
    let two = rate("device: seagate-st18000nm000j", &workload, 5000);
    assert!(two > 80.0, "{two:.1} MB/s");
}

/// Four streams get half of the mean of what they get alone, or more: reading ahead on hits makes nobody wait.
#[test]
fn four_streams_share_an_old_drive() {
    let (size, disk) = ("64 KiB", "device: maxtor-7y250p0");
    let regions = [0, 62, 125, 187].map(|from| format!("from: {from} GB, size: 10 GB"));
    let reads = requests("read", size);
    let stream = |(at, region): (usize, &String)| placed(&format!("s{at}"), &reads, region);
    let alone: f64 =
        regions.iter().map(|region| rate(disk, &placed("s", &reads, region), 2000)).sum::<f64>() / 4.0;
    let together = rate(disk, &regions.iter().enumerate().map(stream).collect::<Vec<_>>().join(", "), 8000);
    assert!(together > 0.5 * alone, "{together:.1} MB/s together, {alone:.1} alone");
}

/// The rate at which an array of five Exos disks reads from beginning to end, in MB/s.
fn array_rate(level: &str, depth: u32, size: &str) -> f64 {
    let text = format!(
        "parts: {{d: {{type: disk, device: seagate-st18000nm000j, positioning: mechanical}}}}\n\
         system: {{a: {{type: array, level: {level}, of: d, disks: 5, stripe_unit: 256 KiB}}}}\n\
         workload: {{s: {{to: a, op: read, size: {size}, pattern: sequential, arrivals: {{closed: {{depth: {depth}}}}}}}}}\n\
         run: {{requests: 2000, seed: 1}}"
    );
    let found = simulate(&text, "drives.yaml", &[], &Options::default(), &Progress::default());
    let found = found.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    found.results.streams[0].bytes_per_s / 1e6
}

/// RAID 4 reads four of its five disks; of RAID 5 each disk passes over every fifth unit. Both give four fifths of what five
/// disks pass under their heads: within 5 %.
#[test]
fn parity_that_rotates_costs_sequential_reads_no_turns() {
    for (depth, size) in [(1, "1 MiB"), (4, "1 MiB"), (8, "256 KiB"), (4, "4 MiB")] {
        let [still, rotating] = ["raid4", "raid5"].map(|level| array_rate(level, depth, size));
        assert!(rotating > 0.95 * still, "{size}, depth {depth}: {rotating:.0} MB/s, RAID 4 has {still:.0}");
    }
}

/// Two streams of 64 KiB writes far apart: a drive that collects what follows each other seeks once for half of what there is room
/// for. That takes `component / 2 / rate` and at most a longest seek and a turn, so both streams together get at least that share of what
/// one gets.
#[test]
fn write_streams_share_a_drive_that_writes_back() {
    // Room in MiB; a full stroke to write and a turn in ms.
    let drives = [(64, 16.2 + 8.33), (16, 16.17 + 8.33), (8, 19.0 + 8.33), (2, 19.0 + 8.33)];
    for (device, (room, seek_and_turn)) in WRITE_BACK.into_iter().zip(drives) {
        let disk = format!("device: {device}");
        let one = rate(&disk, &placed("a", &requests("write", "64 KiB"), "from: 0 B, size: 50 GB"), 4000);
        let streams = [("a", "from: 0 B, size: 50 GB"), ("b", "from: 100 GB, size: 50 GB")]
            .map(|(name, region)| placed(name, &requests("write", "64 KiB"), region))
            .join(", ");
        let two = rate(&disk, &streams, 12_000);
        let visit = f64::from(room) * 1.048_576 / 2.0 / one * 1e3;
        let share = visit / (visit + seek_and_turn);
        assert!(
            two > share * one,
            "{device}: two streams get {two:.1} MB/s, one {one:.1}, {share:.2} expected"
        );
    }
}

/// Two sequential readers at any depth of queue: neither waits for ever, and both together get at least a quarter of what one gets.
#[test]
fn no_sequential_reader_starves_another() {
    for device in ["seagate-st18000nm000j", "samsung-hd103uj"] {
        for depth in [2, 4, 8, 16] {
            let text = ["from: 0 B, size: 50 GB", "from: 100 GB, size: 50 GB"].map(|region| {
                format!(
                    "{{to: d, op: read, size: 64 KiB, pattern: sequential, region: {{{region}}}, \
                     arrivals: {{closed: {{depth: {depth}}}}}}}"
                )
            });
            let [a, b] =
                rates(&format!("device: {device}"), &format!("a: {}, b: {}", text[0], text[1]), 40_000);
            let [less, more] = if a < b { [a, b] } else { [b, a] };
            assert!(less > 0.25 * more, "{device}, depth {depth}: {less:.1} and {more:.1} MB/s");
        }
    }
}

fn utilisation(workload: &str) -> f64 {
    let text = format!(
        "
system: {{d: {{type: disk, device: seagate-st18000nm000j, positioning: mechanical}}}}
workload: {{{workload}}}
run: {{requests: 5000}}
"
    );
    run(&text).components[0].utilisation.unwrap()
}

/// Sequential reads at a small load use the share of the time that their data takes to pass under the head, though nearly all of it was
/// read ahead: about 270 MB/s on the outermost tracks (the data sheet's sustained rate). Two streams use as much as one of the same rate.
/// Tolerance, written before the model was run: 10 %.
#[test]
fn sequential_reads_use_the_media() {
    let stream = |name: &str, rate: u32, size: &str, from: &str| {
        format!(
            "{name}: {{to: d, arrivals: {{poisson: {rate} /s}}, pattern: sequential, size: {size}, \
             region: {{from: {from}, size: 50 GB}}}}"
        )
    };
    let two = format!("{}, {}", stream("a", 10, "1 MiB", "0 B"), stream("b", 10, "1 MiB", "100 GB"));
    for (workload, mb_per_s) in [
        (stream("a", 20, "1 MiB", "0 B"), 20.97),
        (stream("a", 100, "1 MiB", "0 B"), 104.9),
        (stream("a", 100, "64 KiB", "0 B"), 6.55),
        (two, 20.97),
    ] {
        let found = utilisation(&workload);
        assert!((found * 270.0 / mb_per_s - 1.0).abs() < 0.1, "{workload}: {found}, {mb_per_s} MB/s of 270");
    }
}

/// Reads and writes by turns, of a drive that owes itself what it reads ahead: the checks of the run find no time used twice.
#[test]
fn sequential_requests_of_both_kinds_keep_the_books() {
    for (size, depth) in [("4 KiB", 64), ("64 KiB", 1), ("64 KiB", 64)] {
        let results = run(&format!("
system: {{spindle: {{type: disk, device: seagate-st18000nm000j, positioning: mechanical}}}}
workload:
  users: {{to: spindle, arrivals: {{closed: {{depth: {depth}}}}}, size: {size}, op: {{reads: 70 %}}, pattern: sequential}}
run: {{requests: 10000}}
"));
        assert!(results.components[0].utilisation.unwrap() <= 1.0);
    }
}

/// What a disk without a cache takes of requests one after another depends on how close together they come; and what an array takes on
/// how they meet.
#[test]
fn headroom_is_an_estimate_where_any_component_varies() {
    let bottleneck = |workload: &str| {
        let text = format!(
            "
parts: {{spindle: {{type: disk, device: seagate-st3500630ns, positioning: mechanical}}}}
system:
  disk: {{type: disk, device: seagate-st3500630ns, positioning: mechanical}}
  volume: {{type: array, level: raid5, of: spindle, disks: 5, stripe_unit: 64 KiB}}
  mirror: {{type: array, level: raid1, of: spindle, disks: 2, bitmap: {{}}}}
workload: {{users: {{arrivals: {{poisson: 20 /s}}, size: 64 KiB, {workload}}}}}
run: {{requests: 2000}}
"
        );
        run(&text).bottleneck.unwrap()
    };
    let found = bottleneck("to: disk");
    assert_eq!((found.estimate, found.not_proportional), (false, None));
    let found = bottleneck("to: disk, pattern: sequential");
    assert_eq!((found.estimate, found.not_proportional.as_deref()), (true, Some("disk")));
    let found = bottleneck("to: volume, op: write");
    assert_eq!((found.estimate, found.not_proportional.as_deref()), (true, Some("volume")));
    let found = bottleneck("to: mirror, op: write");
    assert_eq!((found.estimate, found.not_proportional.as_deref()), (true, Some("mirror")));
    let found = bottleneck("to: mirror");
    assert_eq!((found.estimate, found.not_proportional), (false, None));
}

/// Writes at a rate that varies wait for a processor that cannot keep up, while no disk is busy: there is no headroom to give.
#[test]
fn a_varying_load_that_is_not_kept_up_with_has_no_headroom() {
    let found = |rate: &str| {
        let text = format!(
            "
parts: {{spindle: {{type: station, service: 4 ms, capacity: 1 GB}}}}
system: {{volume: {{type: array, level: raid5, of: spindle, disks: 5, stripe_unit: 64 KiB, stripe_cache: 1}}}}
workload:
  users:
    to: volume
    op: write
    size: 4 KiB
    arrivals: {{varying: {{rates: [{{at: 0 s, rate: {rate} /s}}, {{at: 1 s, rate: 0 /s}}], period: 2 s}}}}
run: {{requests: 2000}}
"
        );
        run(&text).bottleneck.unwrap()
    };
    assert!(found("100").saturates_at.is_some());
    assert!(found("600").saturates_at.is_none());
}

/// Sequential writes at a small load use the share of the time that they would take a drive that is always given more: the headroom is what
/// is left. Tolerance, written before the model was run: 10 %.
#[test]
fn the_headroom_of_sequential_writes_is_what_a_drive_can_write() {
    let stream = |arrivals: &str, size: &str| {
        format!("a: {{to: d, op: write, arrivals: {{{arrivals}}}, pattern: sequential, size: {size}}}")
    };
    for (size, kib, rates) in [("1 MiB", 1024.0, [20.0, 100.0]), ("256 KiB", 256.0, [20.0, 400.0])] {
        let most = rate("device: seagate-st18000nm000j", &stream("closed: {depth: 4}", size), 5000);
        for per_s in rates {
            let found = utilisation(&stream(&format!("poisson: {per_s} /s"), size));
            let most_by_headroom = per_s * kib * 1024e-6 / found;
            assert!(
                (most_by_headroom / most - 1.0).abs() < 0.1,
                "{size} {per_s}/s: {most_by_headroom} for {most} MB/s"
            );
        }
    }
}

/// A drive writes data back both while it waits for the bus with a host's command and while it does so with one of its controller. Only the
/// former is taken from its time for hosts, so that no share is below none or above all.
#[test]
fn time_that_a_drive_writes_back_is_counted_by_whose_command_waits() {
    let text = "
parts: {p: {type: disk, device: maxtor-7y250p0, positioning: mechanical}}
system:
  w: {type: link, rate: 5 MB/s}
  c: {type: controller, cache: {size: 2 MiB, writes: back}}
  a: {type: array, level: raid0, of: p, disks: 2, stripe_unit: 64 KiB, via: w, controllers: [c]}
workload:
  x: {to: a, arrivals: {poisson: 60 /s}, op: write, size: 64 KiB}
  r: {to: a, arrivals: {poisson: 10 /s}, op: read, size: 4 KiB}
run: {requests: 1000}
";
    let results = run(text);
    for drive in results.components.iter().filter(|component| component.kind == "disk") {
        let shares = &drive.utilisation_by_cause;
        assert!(drive.utilisation.unwrap() <= 1.0, "{drive:?}");
        assert!(shares["host"] > 0.0 && shares["destage"] > 0.0, "{shares:?}");
    }
}

/// What waits in the host does not age in the drive: a longer queue there makes it no slower.
#[test]
fn a_queue_in_the_host_does_not_make_a_drive_first_come_first_served() {
    for device in ["seagate-st18000nm000j", "seagate-st3500630ns-ncq"] {
        let at = |depth: u32| {
            let reads =
                format!("s: {{to: d, op: read, size: 4 KiB, arrivals: {{closed: {{depth: {depth}}}}}}}");
            rate(&format!("device: {device}"), &reads, 4000)
        };
        let (held, behind) = (at(64), at(1000));
        assert!(
            (0.95..1.05).contains(&(behind / held)),
            "{device}: {behind} MB/s, {held} with 64 outstanding"
        );
    }
}

/// Streams that read the same data one after another are fed by what the other has read; those with regions of their own are not.
#[test]
fn sequential_streams_that_begin_together_are_named() {
    let text = |regions: [&str; 2]| {
        let [a, b] = regions.map(|region| {
            format!("{{to: d, op: read, size: 1 MiB, pattern: sequential, arrivals: {{closed: {{depth: 1}}}}{region}}}")
        });
        format!(
            "system: {{d: {{type: disk, positioning: mechanical, device: seagate-st18000nm000j}}}}\nworkload: {{a: {a}, b: {b}}}\n\
             run: {{requests: 400}}"
        )
    };
    let named = |regions| {
        run(&text(regions)).notes.iter().any(|note| note.starts_with("a, b: each begins at the same address"))
    };
    assert!(named(["", ""]));
    assert!(!named(["", ", region: {from: 8 TB, size: 1 TB}"]));
}

/// A scrub of a mirror that keeps its disks mostly busy with itself says little of the load of its users, which grows at least as much as the
/// disks have time left; a load that ends, and one whose peak is far below what a disk can do, have room for ten times as much.
#[test]
fn work_beside_requests_and_the_end_of_a_load_are_no_load() {
    let of = |text: &str| {
        let options = Options { headroom: true, ..Options::default() };
        let found = simulate(text, "test.yaml", &[], &options, &Progress::default());
        found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
    };
    let mirror = "parts: {d: {type: disk, positioning: addressed, device: seagate-st3500630ns}}
system: {a: {type: array, level: raid1, of: d, disks: 2, scrub: {rate: 40 MB/s}}}
workload: {u: {to: a, arrivals: {poisson: 1 /s}, size: 4 KiB, align: 4 KiB, op: read}}
run: {seed: 1, time: 1 min}
";
    let scrubbed = of(mirror);
    assert!(scrubbed.answer.contains("headroom >"), "{}", scrubbed.answer);
    assert!(scrubbed.bottleneck.unwrap().background > 0.9);
    let curve = |rates: &str| {
        of(&format!(
            "system: {{d: {{type: station, service: 100 us}}}}
workload: {{u: {{to: d, arrivals: {{varying: {{{rates}, between: steps}}}}}}}}
run: {{seed: 1, time: 1000 s}}
"
        ))
    };
    for rates in [
        "rates: [{at: 0 s, rate: 100 /s}, {at: 60 s, rate: 0 /s}]",
        "period: 100 s, rates: [{at: 0 s, rate: 10 /s}, {at: 95 s, rate: 500 /s}]",
    ] {
        let found = curve(rates);
        assert!(found.answer.contains("headroom >10×"), "{}", found.answer);
        assert!(!found.notes.join(" ").contains("queues grow"), "{:?}", found.notes);
    }
}

/// A station tells the reads of a scrub from those of hosts: 80 a second of 5 ms, beside 20 of 5 ms each.
#[test]
fn a_station_tells_scrubs_from_requests_of_hosts() {
    for order in ["first_come", "priority"] {
        let found = run(&format!(
            "
parts: {{s: {{type: station, service: 5 ms, order: {order}, capacity: 10 GB}}}}
system:
  a: {{type: array, level: raid1, of: s, disks: 2, scrub: {{rate: 5120 KiB/s, chunk: 64 KiB}}}}
workload: {{u: {{to: a, arrivals: {{poisson: 40 /s}}, size: 4 KiB, op: {{reads: 100 %}}}}}}
run: {{time: 1000 s}}
"
        ));
        let shares = &found.components.iter().find(|one| one.path == "a/s[0]").unwrap().utilisation_by_cause;
        assert!((shares["scrub"] / 0.4 - 1.0).abs() < 0.02, "{shares:?}");
        assert!((shares["host"] / 0.1 - 1.0).abs() < 0.1, "{shares:?}");
        assert!(found.bottleneck.unwrap().background > 0.75);
    }
}

/// Random writes to 24 mirrored disks, 32 at a time. A cache that is full destages as many as the disks need to have work: it does not do less
/// than the hosts by themselves.
#[test]
fn a_full_cache_lets_disks_do_no_less_than_hosts_do() {
    let of = |cache: &str| {
        let text = format!(
            "
parts: {{disk: {{type: station, service: {{exponential: 10 ms}}, capacity: 1 TB}}}}
system:
  raid: {{type: controller{cache}}}
  v: {{type: array, level: raid10, of: disk, disks: 24, stripe_unit: 64 KiB, controllers: [raid]}}
workload: {{s: {{to: v, arrivals: {{closed: {{depth: 32}}}}, op: write, size: 4 KiB, align: 4 KiB}}}}
run: {{requests: 30000}}
"
        );
        run(&text).streams[0].requests_per_s
    };
    let (cached, straight) = (of(", cache: {size: 4 MiB, writes: back}"), of(""));
    assert!(cached > straight, "{cached} with a cache, {straight} without");
}

/// Data is counted once on the path behind a controller, however many messages and pieces it takes.
#[test]
fn a_path_carries_what_its_array_carries() {
    for (op, path) in [
        ("read", "sas, preset: sas_12g"),
        ("write", "sas, preset: sas_12g"),
        ("write", "scsi_bus, preset: ultra160"),
        ("read", "fc_loop, rate: 2 Gb/s"),
    ] {
        let text = format!(
            "
parts: {{disk: {{type: disk, device: seagate-st24000nm007h}}}}
system:
  raid: {{type: controller}}
  path: {{type: {path}}}
  v: {{type: array, level: raid0, of: disk, disks: 4, stripe_unit: 256 KiB, controllers: [raid], via: path}}
workload: {{s: {{to: v, arrivals: {{closed: {{depth: 1}}}}, op: {op}, size: 1 MiB, align: 1 MiB, pattern: sequential}}}}
run: {{requests: 2000}}
"
        );
        let found = run(&text);
        let rate = |path: &str| {
            found.components.iter().find(|component| component.path == path).unwrap().bytes_per_s
        };
        assert!(
            (rate("path") / rate("v") - 1.0).abs() < 0.01,
            "{op}, {path}: {} {}",
            rate("path"),
            rate("v")
        );
    }
}

/// A drive that chooses among waiting commands needs less time for each the more there are: what its idle time would give is no bound.
#[test]
fn idle_time_is_no_bound_where_a_drive_chooses() {
    let of = |positioning: &str, depth: u32| {
        let text = format!(
            "system: {{d: {{type: disk, device: seagate-st24000nm007h, positioning: {positioning}}}}}
workload: {{s: {{to: d, arrivals: {{closed: {{depth: {depth}, think: 20 ms}}}}, op: read, size: 4 KiB}}}}
run: {{requests: 5000}}
"
        );
        let found = run(&text);
        (found.bottleneck.unwrap().closed.unwrap().at_most, found.streams[0].requests_per_s, found.answer)
    };
    let (at_most, few, answer) = of("mechanical", 2);
    assert!(at_most.is_none() && answer.contains("or more where it needs less time per request"), "{answer}");
    let (_, many, _) = of("mechanical", 64);
    assert!(many > 2.0 * few, "{few} {many}");
    let (at_most, few, answer) = of("coupled", 2);
    let (_, many, _) = of("coupled", 64);
    let most = at_most.expect("a queue in order of arrival has a bound");
    assert!(many < 1.02 * most * few && answer.contains("at most"), "{few} {many}: {answer}");
}

/// Drives that are always busy or held limit sequential writes, and not a bus that is often busy: a faster one changes nothing.
#[test]
fn a_drive_that_stalls_at_times_is_the_bottleneck() {
    let of = |bus: &str| {
        let text = format!(
            "
parts: {{disk: {{type: disk, device: seagate-st24000nm007h}}}}
system:
  raid: {{type: controller, command: 5 us, disk_command: 3 us, bus: {bus}, cache: {{size: 64 MiB, writes: back}}}}
  sas: {{type: sas, preset: sas_12g, lanes: 8}}
  v: {{type: array, level: raid6, of: disk, disks: 12, stripe_unit: 256 KiB, controllers: [raid], via: sas}}
workload: {{s: {{to: v, arrivals: {{closed: {{depth: 4}}}}, op: write, size: 1 MiB, align: 1 MiB, pattern: sequential}}}}
run: {{requests: 20000}}
"
        );
        let found = run(&text);
        (found.bottleneck.unwrap().group, found.streams[0].requests_per_s)
    };
    let (usual, fast) = (of("6.8 GB/s"), of("20 GB/s"));
    assert_eq!([&usual.0, &fast.0], ["v/disk", "v/disk"], "{usual:?} {fast:?}");
    assert!((fast.1 / usual.1 - 1.0).abs() < 0.02, "{usual:?} {fast:?}");
}
