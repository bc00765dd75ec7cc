//! Whole scenarios, from text to results: engines against each other, threads against each other, results against
//! closed forms, and distributions that hold of every run.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::{prepare, simulate};
use proptest::prelude::*;

fn with(text: &str, sets: &[(&str, &str)], threads: usize) -> Results {
    let sets: Vec<(String, String)> =
        sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    let options = Options { threads, ..Options::default() };
    simulate(text, "test.yaml", &sets, &options, &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

fn json(results: &Results) -> serde_json::Value {
    serde_json::to_value(results).unwrap()
}

const ARRAY: &str = "
parts:
  spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}
system:
  tds: {type: array, level: raid0, of: spindle, disks: 3, stripe_unit: 128 KiB}
  single: {type: disk, positioning: addressed, device: seagate-st3500630ns}
workload:
  users: {to: tds, arrivals: {poisson: 20 /s}, op: {reads: 60 %}, size: 640 KiB}
run: {requests: 30000}
";

/// Writes that stay in a cache are work that its disks have not done: until nearly all have left it, no headroom is given, and a note
/// says why. Once they have, utilisation is that of the writes themselves: each to a place of its own, in two disks.
#[test]
fn a_cache_that_is_filling_gives_no_headroom() {
    let text = "
parts:
  spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}
system:
  raid: {type: controller, cache: {size: 16 MiB, writes: back}}
  volume: {type: array, level: raid0, of: spindle, disks: 2, stripe_unit: 64 KiB, controllers: [raid]}
workload:
  users: {to: volume, arrivals: {poisson: 50 /s}, op: write, size: 4 KiB}
";
    let filling = |found: &Results| {
        let notes = found.notes.iter().filter(|note| {
            note.starts_with("volume: ") && note.contains("of the data written to its cache is still there")
        });
        let volume = found.components.iter().find(|component| component.path == "volume").unwrap();
        (notes.count(), volume.undestaged.unwrap(), found.bottleneck.clone())
    };
    let short = with(text, &[("run.requests", "2000")], 1);
    assert!(short.answer.starts_with("FILLING: "), "{}", short.answer);
    let (notes, left, bottleneck) = filling(&short);
    assert_eq!((notes, bottleneck.and_then(|found| found.saturates_at)), (1, None));
    assert!(left > 0.99, "{left}");
    let told = short.notes.iter().find_map(|note| note.split_once("run up to ")).expect("it says how long");
    let times: f64 = told.1.split(' ').next().unwrap().parse().unwrap();
    let long = with(text, &[("run.requests", &format!("{:.0}", 2000.0 * times))], 1);
    assert!(filling(&long).0 == 0 && !long.answer.contains("FILLING"), "{times}: {}", long.answer);
    // Nor is anything said of what more clients would bring.
    let closed = [
        ("run.requests", "2000"),
        ("workload.users.arrivals", "{closed: {depth: 4}}"),
        ("workload.users.op", "{reads: 50 %}"),
    ];
    let (_, left, bottleneck) = filling(&with(text, &closed, 1));
    assert!(left > 0.1 && bottleneck.unwrap().closed.unwrap().at_most.is_none(), "{left}");
    let (notes, left, bottleneck) = filling(&with(text, &[("run.requests", "100000")], 1));
    let bottleneck = bottleneck.unwrap();
    assert_eq!(notes, 0);
    assert!(left < 0.1 && bottleneck.saturates_at.is_some(), "{left}");
    // Without a cache each disk has half of the writes, one by one.
    let straight = text
        .replace(", controllers: [raid]", "")
        .replace("  raid: {type: controller, cache: {size: 16 MiB, writes: back}}\n", "");
    let straight = with(&straight, &[("run.requests", "20000")], 1).bottleneck.unwrap();
    assert!((bottleneck.utilisation / straight.utilisation - 1.0).abs() < 0.1, "{bottleneck:?} {straight:?}");
}

/// Same scenario, same seed: the recursion and the events say the same of the stream, to the last digit, and of the
/// components but for what was in flight at the end.
#[test]
fn both_engines_give_the_same_results() {
    for sets in [
        [("workload.users.size", "640 KiB"), ("workload.users.pattern", "{hot_spot: {skew: 1.1}}")],
        [("workload.users.size", "1 MiB"), ("parts.spindle.positioning", "independent")],
        [("workload.users.to", "single"), ("workload.users.pattern", "{runs: {length: 4}}")],
        [
            ("workload.users.arrivals", "{batches: {rate: 3 /s, size: {geometric: 4}}}"),
            ("run.warm_up", "none"),
        ],
    ] {
        let [events, recursion] = ["events", "recursion"].map(|engine| {
            let mut sets = sets.to_vec();
            sets.push(("run.engine", engine));
            with(&ARRAY.replace("disks: 3", "disks: 3, queueing: split_merge"), &sets, 1)
        });
        let stream = |results: &Results| {
            let mut stream = json(results)["streams"][0].clone();
            stream["issued"] = 0.into(); // Events make those that are still in flight at the end.
            stream["in_flight"] = 0.into();
            stream
        };
        assert_eq!(stream(&events), stream(&recursion), "{sets:?}");
        for (a, b) in events.components.iter().zip(&recursion.components) {
            let (a, b) = (a.utilisation.unwrap_or(0.0), b.utilisation.unwrap_or(0.0));
            assert!((a - b).abs() < 1e-3, "{sets:?}: utilisation {a} by events, {b} by recursion");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let sets = [("run.replications", "5"), ("run.requests", "3000")];
    let [one, two, five] = [1, 2, 5].map(|threads| json(&with(ARRAY, &sets, threads)));
    assert_eq!(one, two);
    assert_eq!(one, five);
}

const SPINDLE: &str = "{type: disk, device: samsung-hd103uj, positioning: mechanical}";

/// One scenario of each kind: sampled, mechanical, closed, replayed, arrays of arrays.
fn of_each_kind() -> Vec<(&'static str, String)> {
    let trace = std::env::temp_dir().join(format!("headrace-golden-{}.csv", std::process::id()));
    let lines = (0..400u64).map(|i| {
        format!(
            "{},{},{},4096,,,\n",
            i * 7_000_000,
            if i % 3 == 0 { "write" } else { "read" },
            i * 7919 % 1000 * 4096
        )
    });
    std::fs::write(
        &trace,
        format!("time_ns,op,address,bytes,response_ns,think_ns,device\n{}", lines.collect::<String>()),
    )
    .unwrap();
    let one = |part: &str, users: &str| {
        format!("system: {{one: {part}}}\nworkload: {{users: {{to: one, {users}}}}}\nrun: {{requests: 4000}}")
    };
    let shelf = format!(
        "{{type: array, level: raid0, of: {SPINDLE}, disks: 2, stripe_unit: 16 KiB, queueing: split_merge}}"
    );
    let nested = format!("{{type: array, level: raid0, of: {shelf}, disks: 3, stripe_unit: 64 KiB}}");
    vec![
        ("sampled", ARRAY.to_owned()),
        (
            "mechanical",
            one(
                SPINDLE,
                "arrivals: {poisson: 40 /s}, op: {reads: 60 %}, size: 16 KiB, pattern: {runs: {length: 3}}",
            ),
        ),
        (
            "closed",
            one(SPINDLE, "arrivals: {closed: {depth: 6, think: {exponential: 5 ms}}}, op: {reads: 60 %}"),
        ),
        (
            "replayed",
            one(
                SPINDLE,
                &format!("arrivals: {{replay: {{trace: {}, timing: timestamps}}}}", trace.display()),
            ),
        ),
        ("nested", one(&nested, "arrivals: {poisson: 25 /s}, op: {reads: 60 %}, size: 200 KiB")),
    ]
}

/// Another machine, compiler or release must give these bits, or saved seeds lose their meaning.
#[test]
fn golden_bits() {
    let found = of_each_kind().into_iter().map(|(kind, text)| {
        let response = &with(&text, &[("run.engine", "events")], 1).streams[0].response;
        (kind, [response.mean_ms.to_bits(), response.sd_ms.to_bits(), response.max_ms.to_bits()])
    });
    assert_eq!(found.collect::<Vec<_>>(), GOLDEN);
}

const GOLDEN: [(&str, [u64; 3]); 5] = [
    ("sampled", [4627665997726395815, 4622269911657162157, 4637849280345917406]),
    ("mechanical", [4619623616831951451, 4622192741860686691, 4638368465021847373]),
    ("closed", [4634484051942601047, 4627991788484334945, 4638942581650544751]),
    ("replayed", [4614358336969873276, 4616087998041110559, 4626453435039951375]),
    ("nested", [4624738958252574432, 4623289359104963662, 4636448330550920012]),
];

/// A change of scheduling never changes the workload: requests are drawn by their numbers.
#[test]
fn the_workload_does_not_depend_on_the_system() {
    let bytes = |sets: &[(&str, &str)]| {
        let mut sets = sets.to_vec();
        sets.push(("workload.users.size", "{mix: [{size: 64 KiB, weight: 1}, {size: 1 MiB, weight: 2}]}"));
        sets.push(("run.warm_up", "none"));
        let results = with(ARRAY, &sets, 1);
        let stream = &results.streams[0];
        ((stream.bytes_per_s * results.simulated_s).round(), stream.reads.as_ref().unwrap().count)
    };
    let (bytes_merged, reads_merged) = bytes(&[("system.tds.queueing", "split_merge")]);
    let (bytes_four, reads_four) =
        bytes(&[("system.tds.queueing", "split_merge"), ("system.tds.disks", "4")]);
    assert_eq!((bytes_merged, reads_merged), (bytes_four, reads_four));
}

fn station(arrivals: &str, service: &str) -> String {
    format!(
        "system: {{clerk: {{type: station, service: {service}}}}}
workload: {{users: {{to: clerk, arrivals: {arrivals}}}}}
run: {{requests: 400000, replications: 4}}"
    )
}

/// Queues whose mean response is known exactly; the simulation must lie within three half-widths.
#[test]
fn closed_forms_are_met() {
    for (arrivals, service, exact_ms) in [
        ("{poisson: 80 /s}", "{exponential: 10 ms}", 50.0),
        ("{poisson: 70 /s}", "{erlang: {stages: 2, mean: 10 ms}}", 27.5),
        ("{poisson: 50 /s}", "10 ms", 15.0),
        // M^X/M/1, batches of mean b, geometric: R = b / (mu (1 - rho)) with rho = 0.6.
        ("{batches: {rate: 30 /s, size: {geometric: 2}}}", "{exponential: 10 ms}", 2.0 * 10.0 / 0.4),
        // One client: it waits for nobody.
        ("{closed: {depth: 1, think: {exponential: 30 ms}}}", "{exponential: 10 ms}", 10.0),
        // Machine repair, N = 3, Z = 30, S = 10: R = N/X - Z with X from the birth-death chain.
        (
            "{closed: {depth: 3, think: {exponential: 30 ms}}}",
            "{exponential: 10 ms}",
            closed_response(3, 30.0, 10.0),
        ),
    ] {
        let results = with(&station(arrivals, service), &[], 2);
        let response = &results.streams[0].response;
        let off = (response.mean_ms - exact_ms).abs();
        assert!(
            off < 3.0 * response.half_width_ms.unwrap(),
            "{arrivals}: {} for {exact_ms}",
            response.mean_ms
        );
        assert!(off < 0.02 * exact_ms, "{arrivals}: {} for {exact_ms}", response.mean_ms);
    }
}

/// Mean response of N clients that think and one server, by mean value analysis.
fn closed_response(clients: u32, think: f64, service: f64) -> f64 {
    let (mut queue, mut response) = (0.0, service);
    for n in 1..=clients {
        response = service * (1.0 + queue);
        queue = f64::from(n) / (think + response) * response;
    }
    response
}

/// Two streams to one disk: each has its own distribution of service and shares the wait, and theory says so.
#[test]
fn two_streams_share_a_queue() {
    let text = "
system: {spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}}
workload:
  small: {to: spindle, arrivals: {poisson: 15 /s}, size: 4 KiB}
  large: {to: spindle, arrivals: {poisson: 5 /s}, size: 1 MiB, op: write}
run: {requests: 300000, replications: 3}
";
    let results = with(text, &[], 2);
    for (stream, theory) in results.streams.iter().zip(&results.theory) {
        let expected = theory.mean_ms.unwrap();
        assert!((stream.response.mean_ms / expected - 1.0).abs() < 0.01, "{}", stream.name);
    }
}

#[test]
fn theory_names_the_assumption_that_fails() {
    for (sets, says) in [
        (
            [("workload.users.arrivals", "{every: 50 ms}"), ("run.requests", "500")],
            "those of `users` are regular",
        ),
        ([("workload.users.arrivals", "{closed: {depth: 2}}"), ("run.requests", "500")], "is a closed loop"),
        (
            [("workload.users.pattern", "sequential"), ("run.requests", "500")],
            "every address is equally likely",
        ),
        ([("workload.users.size", "100 KiB"), ("run.requests", "500")], "or stay within one"),
        ([("workload.users.to", "single"), ("run.requests", "500")], "service times are independent"),
    ] {
        let theory = &with(ARRAY, &sets, 1).theory[0];
        assert!(!theory.exact);
        assert!(theory.fails.as_ref().unwrap().contains(says), "{sets:?}: {:?}", theory.fails);
    }
}

/// A short, heavily loaded run has an interval that cannot be trusted, and says so.
#[test]
fn an_interval_that_cannot_be_trusted_says_so() {
    let results = with(
        &station("{poisson: 98 /s}", "{exponential: 10 ms}"),
        &[("run.requests", "3000"), ("run.replications", "1")],
        1,
    );
    let trusted = results.streams[0].response.interval.as_ref().is_some_and(|interval| interval.trusted);
    let steady = !results.notes.iter().any(|note| note.contains("no steady state"));
    assert!(!trusted || !steady, "{:?}", results.notes);
}

#[test]
fn arrays_of_arrays_need_nothing_new() {
    let text = "
parts:
  spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}
  shelf: {type: array, level: raid0, of: spindle, disks: 2, stripe_unit: 64 KiB}
system:
  volume: {type: array, level: raid0, of: shelf, disks: 3, stripe_unit: 256 KiB}
workload:
  users: {to: volume, arrivals: {closed: {depth: 4}}, size: 1 MiB, op: {reads: 50 %}}
run: {requests: 20000}
";
    let results = with(text, &[], 1);
    assert_eq!(results.components.len(), 1 + 3 + 6);
    let disks: f64 =
        results.components.iter().filter(|part| part.kind == "disk").map(|part| part.bytes_per_s).sum();
    let volume = &results.components[0];
    assert!((disks / volume.bytes_per_s - 1.0).abs() < 1e-3);
}

/// Streams that share a device draw their own luck: together they are one Poisson stream of the sum of their rates.
#[test]
fn streams_that_share_a_device_do_not_share_its_luck() {
    let text = "
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload:
  left: {to: clerk, arrivals: {poisson: 50 /s}}
  right: {to: clerk, arrivals: {poisson: 50 /s}}
run: {requests: 200000, replications: 8}
";
    let results = with(text, &[], 2);
    for stream in &results.streams {
        let response = &stream.response;
        assert!(
            (response.mean_ms - 40.0).abs() < 3.0 * response.half_width_ms.unwrap(),
            "{}",
            response.mean_ms
        );
    }
    assert_ne!(results.streams[0].response.mean_ms, results.streams[1].response.mean_ms);
}

/// Four stations behind an array of 64 KiB units, 8 ms each.
fn four_stations(queueing: &str, users: &str) -> Results {
    let text = format!(
        "
parts:
  leaf: {{type: station, service: {{exponential: 8 ms}}}}
system:
  tds: {{type: array, level: raid0, of: leaf, disks: 4, stripe_unit: 64 KiB, queueing: {queueing}}}
workload: {{users: {{to: tds, {users}}}}}
run: {{requests: 300000}}
"
    );
    with(&text, &[], 1)
}

/// Where theory calls itself exact it is, whatever the addresses; elsewhere it says what fails.
#[test]
fn exact_theory_is_exact() {
    for (exact, queueing, users) in [
        (true, "fork_join", "arrivals: {poisson: 60 /s}, size: 16 KiB"),
        (false, "fork_join", "arrivals: {poisson: 60 /s}, size: 16 KiB, footprint: 64 KiB"),
        (false, "fork_join", "arrivals: {poisson: 60 /s}, size: 64 KiB, align: 256 KiB"),
        (false, "fork_join", "arrivals: {poisson: 60 /s}, size: 64 KiB, pattern: sequential"),
        (true, "split_merge", "arrivals: {poisson: 40 /s}, size: 128 KiB, pattern: sequential"),
        (
            true,
            "split_merge",
            "arrivals: {poisson: 30 /s}, pattern: sequential, \
                         size: {mix: [{size: 64 KiB, weight: 1}, {size: 96 KiB, weight: 1}]}",
        ),
        (false, "split_merge", "arrivals: {poisson: 40 /s}, size: 64 KiB, align: 1 B"),
        (
            false,
            "split_merge",
            "arrivals: {poisson: 40 /s}, size: {uniform: {from: 64 KiB, to: 64 MiB, step: 64 KiB}}",
        ),
    ] {
        let results = four_stations(queueing, users);
        let (theory, response) = (&results.theory[0], &results.streams[0].response);
        assert_eq!(theory.exact, exact, "{queueing} {users}: {:?}", theory.fails);
        if exact {
            let off = (response.mean_ms / theory.mean_ms.unwrap() - 1.0).abs();
            assert!(off < 0.03, "{queueing} {users}: {} for {:?}", response.mean_ms, theory.mean_ms);
        }
    }
}

#[test]
fn a_run_of_a_given_time_ends_then() {
    let results = with(
        &station("{poisson: 100 /s}", "{exponential: 8 ms}"),
        &[("run.time", "20 s"), ("run.warm_up", "none")],
        1,
    );
    assert!(results.complete);
    assert!((results.simulated_s - 4.0 * 20.0).abs() < 1e-9);
    assert_eq!(results.streams[0].issued, results.streams[0].completed + results.streams[0].in_flight);
}

#[test]
fn limits_hold() {
    let sets = [("run.engine", "events"), ("run.limits.events", "5000"), ("run.replications", "1")];
    let results = with(&station("{poisson: 50 /s}", "{exponential: 8 ms}"), &sets, 1);
    assert!(!results.complete);
    assert_eq!(results.events, 5000);
}

/// A short run is not cut to nothing, and says that it is short.
#[test]
fn a_short_run_keeps_its_answers() {
    for seed in 1..40 {
        let sets = [("run.requests", "105"), ("run.replications", "1"), ("run.seed", &seed.to_string())];
        let results = with(&station("{poisson: 50 /s}", "{exponential: 10 ms}"), &sets, 1);
        assert_eq!(results.streams[0].response.count, 105);
        assert!(results.notes.iter().any(|note| note.contains("too short to determine its warm-up")));
    }
}

/// Rare requests reach the end of simulated time instead of running over it.
#[test]
fn time_has_an_end() {
    for engine in ["events", "recursion"] {
        let sets = [
            ("run.engine", engine),
            ("run.requests", "100"),
            ("run.replications", "1"),
            ("run.warm_up", "none"),
        ];
        let results = with(&station("{poisson: 1e-9 /s}", "{exponential: 8 ms}"), &sets, 1);
        assert!(!results.complete);
        assert!(
            results.streams[0].response.mean_ms < 100.0,
            "{engine}: {}",
            results.streams[0].response.mean_ms
        );
    }
}

/// What would run for ever, fill the memory or mean nothing is refused, in words.
#[test]
fn what_cannot_work_is_refused() {
    let disk = |seeks: &str| {
        format!(
            "{{type: disk, positioning: addressed, device: {{capacity: 1 TB, cylinders: 3, rotation: 7200 rpm, media_rate_outer: 80 MB/s, \
             media_rate_inner: 40 MB/s, seek_read: {seeks}, seek_write: {seeks}}}}}"
        )
    };
    let still = disk("{track_to_track: 0 ms, full_stroke: 0 ms}");
    let users = "{to: x, arrivals: {poisson: 20 /s}}";
    for (system, users, says) in [
        ("{type: station, service: 0 ms}", users, "a service takes some time"),
        ("{type: station, service: 1 ms, capacity: 2000 PB}", users, "at most 1 EiB"),
        (
            "{type: station, service: 1 ms}",
            "{to: x, arrivals: {poisson: 1 /s}, align: 0 B}",
            "at least one byte",
        ),
        (
            "{type: station, service: 1 ms}",
            "{to: x, arrivals: {bursty: {calm: 1 /h, burst: 1 /h, calm_for: 1 us, burst_for: 1 us}}}",
            "make them longer",
        ),
        ("{type: array, level: raid0, of: y, disks: 10000, stripe_unit: 1 KiB}", users, "components"),
        (still.as_str(), users, ""),
    ] {
        let text = format!(
            "system:\n  x: {system}\nparts:\n  y: {{type: array, level: raid0, of: z, disks: 10000, stripe_unit: 1 KiB}}\n  \
             z: {{type: station, service: 1 ms}}\nworkload: {{users: {users}}}\nrun: {{requests: 500}}"
        );
        match simulate(&text, "test.yaml", &[], &Options::default(), &Progress::default())
            .map(|found| found.results)
        {
            Err(problems) => {
                assert!(problems.rendered().contains(says) && !says.is_empty(), "{}", problems.rendered())
            }
            Ok(results) => assert!(says.is_empty() && results.complete, "{system} was not refused"),
        }
    }
}

/// Many sizes, of which theory looks at a few, the more probable: here one of seventy has nearly all the weight.
#[test]
fn theory_of_many_sizes_keeps_their_weights() {
    let sizes: Vec<String> =
        (1..=70).map(|i| format!("{{size: {i} KiB, weight: {}}}", if i == 70 { 1000 } else { 1 })).collect();
    let text = format!(
        "system: {{spindle: {{type: disk, device: seagate-st3500630ns, positioning: coupled}}}}
workload: {{users: {{to: spindle, arrivals: {{poisson: 40 /s}}, size: {{mix: [{}]}}}}}}
run: {{requests: 200000}}",
        sizes.join(", ")
    );
    let results = with(&text, &[], 1);
    let off = results.streams[0].response.mean_ms / results.theory[0].mean_ms.unwrap() - 1.0;
    assert!(off.abs() < 0.02, "{off}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is done to a document, it is read or refused in words: never a panic.
    #[test]
    fn a_mangled_document_is_read_or_refused(
        at in 0usize..400, cut in 0usize..40, put in "[a-z0-9:{}\\[\\], \n/%&*!|>'\"-]{0,12}"
    ) {
        let start = ARRAY.floor_char_boundary(at.min(ARRAY.len()));
        let end = ARRAY.floor_char_boundary((start + cut).min(ARRAY.len()));
        let mangled = format!("{}{put}{}", &ARRAY[..start], &ARRAY[end..]);
        if let Err(problems) = prepare(&mangled, "test.yaml", &[], &Progress::default()) {
            prop_assert!(!problems.problems.is_empty());
            prop_assert!(problems.rendered().contains("error"), "{}", problems.rendered());
        }
    }
}

/// Bursts beyond saturation: the mean load leaves headroom, which is an estimate, and a note says what bursts do.
#[test]
fn headroom_of_bursts_is_an_estimate() {
    let found = with(
        "
system: {d: {type: station, service: {exponential: 3 ms}}}
workload: {readers: {to: d, arrivals: {bursty: {calm: 50 /s, burst: 400 /s, calm_for: 10 s, burst_for: 2 s}}}}
run: {requests: 50000}
",
        &[],
        1,
    );
    let bottleneck = found.bottleneck.unwrap();
    assert!(bottleneck.estimate && bottleneck.uneven.as_deref() == Some("readers"), "{bottleneck:?}");
    assert!(found.answer.contains("(estimate)"), "{}", found.answer);
    let says = |words: &str| found.notes.iter().any(|note| note.contains(words));
    assert!(says("the load of readers varies with time"), "{:?}", found.notes);
    assert!(says("bursts of readers come at 400 /s, more than the "), "{:?}", found.notes);
}

/// A drive with a write-back cache destages one write at a time while it is idle, and many in one go under load: its headroom is what it
/// sustains with a write always waiting.
#[test]
fn headroom_of_a_drive_that_destages_while_idle_is_what_it_sustains() {
    let run = |arrivals: &str| {
        with(
            &format!(
                "
system: {{d: {{type: disk, device: samsung-hd103uj, positioning: mechanical}}}}
workload: {{w: {{to: d, arrivals: {{{arrivals}}}, op: write, size: 4 KiB}}}}
run: {{requests: 20000}}
"
            ),
            &[],
            1,
        )
    };
    let sustained = run("closed: {depth: 2}").streams[0].requests_per_s;
    let bottleneck = run("poisson: 30 /s").bottleneck.unwrap();
    let found = bottleneck.saturates_at.unwrap() * 30.0;
    assert!((found / sustained - 1.0).abs() < 0.1, "{found} for {sustained}");
    assert!(bottleneck.estimate, "{bottleneck:?}");
}

/// The disks of an array whose cache writes back are hardly idle, since what was written goes to them early; yet the array carries a
/// multiple of that load, of which more is overwritten before it goes.
#[test]
fn headroom_of_disks_that_mostly_destage_is_a_bound() {
    let run = |rate: &str| {
        let text = "
parts: {spindle: {type: disk, device: maxtor-7y250p0, positioning: coupled}}
system:
  volume: {type: array, level: raid5, of: spindle, disks: 7, stripe_unit: 4 KiB, cache: {size: 64 MiB, writes: back}}
workload: {w: {to: volume, arrivals: {poisson: 80 /s}, op: write, size: 16 KiB, region: {from: 0 B, size: 50 MB}}}
run: {requests: 20000}
";
        with(text, &[("workload.w.arrivals.poisson", rate)], 1)
    };
    let found = run("80 /s").bottleneck.unwrap();
    let times = found.saturates_at.unwrap();
    assert!(found.at_least && (1.5..3.0).contains(&times), "{found:?}");
    let tripled = run("240 /s").streams[0].response.mean_ms;
    assert!(tripled < 1.0, "{tripled} ms, though at least {times} times the load was all that was said");
}

/// A drive that orders its commands needs less time for each the more there are, so its utilisation is no measure of what it sustains:
/// that is what clients get that fill its queue, or with bursts and laws of any kind.
#[test]
fn headroom_is_found_by_simulations_where_utilisation_estimates_it() {
    let run = |arrivals: &str| {
        let text = format!(
            "
system: {{d: {{type: disk, device: samsung-hd103uj, positioning: mechanical, queue_depth: 32, scheduling: sptf}}}}
workload: {{w: {{to: d, arrivals: {arrivals}, size: 4 KiB}}}}
run: {{requests: 20000, limits: {{in_flight: 100000}}}}
"
        );
        let options = Options { headroom: true, ..Options::default() };
        simulate(&text, "test.yaml", &[], &options, &Progress::default()).unwrap().results
    };
    let sustained = run("{closed: {depth: 100}}").streams[0].requests_per_s;
    let by_utilisation = 40.0 / run("{poisson: 40 /s}").bottleneck.unwrap().utilisation;
    assert!(sustained > 1.3 * by_utilisation, "{sustained}/s, {by_utilisation}/s: too little to tell apart");
    for arrivals in [
        "{poisson: 40 /s}",
        "{every: 25 ms}",
        "{batches: {rate: 10 /s, size: 4}}",
        "{renewal: {mix: [{time: 10 ms, weight: 1}, {time: {uniform: {from: 20 ms, to: 60 ms}}, weight: 1}]}}",
        "{renewal: {empirical: {values: [5 ms, 45 ms]}}}",
        "{renewal: {bounded_pareto: {shape: 1.5, from: 11 ms, to: 100 ms}}}",
        "{bursty: {calm: 38 /s, burst: 58 /s, calm_for: 1 s, burst_for: 100 ms}}",
    ] {
        let found = run(arrivals);
        let bottleneck = found.bottleneck.unwrap();
        let trials = bottleneck.trials.unwrap_or_else(|| panic!("{arrivals}: no simulations"));
        let found_per_s = bottleneck.saturates_at.unwrap() * found.streams[0].requests_per_s;
        assert!(
            (0.8..1.2).contains(&(found_per_s / sustained)),
            "{arrivals}: {found_per_s}/s, {sustained}/s"
        );
        assert!(trials.keeps_up < trials.falls_behind.unwrap(), "{trials:?}");
        assert!(found.answer.contains("headroom about"), "{}", found.answer);
        assert!(
            found.notes.iter().any(|note| note.contains("the system keeps up with")),
            "{:?}",
            found.notes
        );
    }
}

/// Ten times the load is as far as simulations go. Where a cache takes all that comes in one, utilisation remains the estimate.
#[test]
fn headroom_beyond_ten_is_a_bound_and_a_filling_cache_leaves_the_estimate() {
    let run = |target: &str| {
        let text = format!(
            "
parts: {{spindle: {{type: disk, device: samsung-hd103uj, positioning: mechanical, scheduling: sptf}}}}
system:
  d: {{type: disk, device: samsung-hd103uj, positioning: mechanical, scheduling: sptf}}
  a: {{type: array, level: raid0, of: spindle, disks: 2, stripe_unit: 64 KiB, cache: {{size: 256 MiB, writes: back}}}}
workload: {{w: {{to: {target}, arrivals: {{poisson: 1 /s}}, op: write, size: 4 KiB}}}}
run: {{requests: 5000}}
"
        );
        let options = Options { headroom: true, ..Options::default() };
        let found = simulate(&text, "test.yaml", &[], &options, &Progress::default()).unwrap();
        found.results.bottleneck.unwrap()
    };
    let far = run("d");
    let trials = far.trials.unwrap();
    assert_eq!((far.at_least, far.saturates_at, trials.falls_behind), (true, Some(10.0), None));
    let filling = run("a");
    assert!(filling.trials.is_none() && filling.estimate && filling.saturates_at.is_some(), "{filling:?}");
}

/// A copy that gives way to hosts ends within the run, but not within simulations under more load, in which hosts read from its fast source as
/// well: they cannot tell. By utilisation, headroom is what the slow destination gives, 50/s; within 30 %, a tolerance written before the model
/// was run.
#[test]
fn headroom_of_a_run_that_ends_a_copy_is_that_of_its_destination() {
    let text = "
system:
  fast: {type: station, servers: 64, service: 18 ms, capacity: 256 MiB}
  slow: {type: station, service: 20 ms, capacity: 256 MiB}
  c: {type: copy, from: fast, to: slow, priority: foreground_first, chunk: 128 KiB}
workload:
  w: {to: c, arrivals: {bursty: {calm: 9 /s, burst: 20 /s, calm_for: 900 ms, burst_for: 100 ms}}, size: 4 KiB}
run: {requests: 20000}
";
    let options = Options { headroom: true, ..Options::default() };
    let found = simulate(text, "test.yaml", &[], &options, &Progress::default()).unwrap().results;
    let copy = found.components.iter().find(|component| component.path == "c").unwrap();
    assert_eq!(copy.state, None, "{:?}", found.notes);
    let headroom = found.bottleneck.unwrap().saturates_at.unwrap() * found.streams[0].requests_per_s;
    assert!((headroom / 50.0 - 1.0).abs() < 0.3, "{headroom}/s");
}

/// A part of the requests keeps the bottleneck busy: misses of a cache, or a stream beside one that a cache answers. Simulations are long
/// enough for that part. 200/s are what one or two stations of 5 ms sustain; within 30 %, the tolerance of estimates.
#[test]
fn headroom_where_few_requests_reach_the_bottleneck() {
    let (of_cache, of_array) = (
        "
system:
  slow: {type: station, service: {exponential: 5 ms}, capacity: 1 TB}
  fast: {type: station, service: 10 us, servers: 8, capacity: 1 TB}
  c: {type: device_cache, to: slow, on: fast, begins: {hits: 98 %}}
workload: {a: {to: c, arrivals: {poisson: 5000 /s}, size: 4 KiB, align: 4 KiB}}
run: {requests: 100000}
",
        "
parts: {d: {type: station, service: {exponential: 5 ms}, capacity: 1 TB}}
system: {v: {type: array, level: raid0, of: d, disks: 2, stripe_unit: 64 KiB, cache: {size: 1 GiB, line: 4 KiB}}}
workload:
  hot: {to: v, arrivals: {poisson: 5000 /s}, size: 4 KiB, align: 4 KiB, region: {from: 0 B, size: 1 MiB}}
  cold: {to: v, arrivals: {poisson: 200 /s}, size: 4 KiB, align: 4 KiB}
run: {requests: 100000}
",
    );
    for text in [of_cache, of_array] {
        let options = Options { headroom: true, ..Options::default() };
        let found = simulate(text, "test.yaml", &[], &options, &Progress::default()).unwrap().results;
        let times = found.bottleneck.as_ref().unwrap().saturates_at.unwrap();
        assert!((times / 2.0 - 1.0).abs() < 0.3, "{times}: {:?}", found.notes);
    }
}

/// 450/s in the mean, in bursts of minutes: whatever part of the time they had in the run, a station of 1 ms sustains 2.22 times that. So it does
/// where the rate follows a curve, whose peaks leave a queue.
#[test]
fn headroom_of_long_bursts_is_that_of_their_mean_load() {
    let arrivals = [
        "bursty: {calm: 100 /s, burst: 800 /s, calm_for: 100 s, burst_for: 100 s}",
        "varying: {rates: [{at: 0 s, rate: 100 /s}, {at: 100 s, rate: 800 /s}], period: 200 s}",
    ];
    for arrivals in arrivals {
        let text = format!(
            "
system: {{b: {{type: station, service: {{exponential: 1 ms}}}}}}
workload: {{u: {{to: b, arrivals: {{{arrivals}}}}}}}
run: {{time: 600 s}}
"
        );
        let options = Options { headroom: true, ..Options::default() };
        let found = simulate(&text, "test.yaml", &[], &options, &Progress::default()).unwrap().results;
        let times = found.bottleneck.as_ref().unwrap().saturates_at.unwrap();
        assert!((times / 2.222 - 1.0).abs() < 0.1, "{arrivals}: {times}: {:?}", found.notes);
        assert!(
            !found.notes.iter().any(|note| note.contains("queues grow while they last")),
            "{:?}",
            found.notes
        );
    }
}

/// Results of a rate that follows a curve once are those of the run, here of 450/s in the mean, and so is their headroom.
#[test]
fn headroom_of_a_rate_that_falls_for_good_is_that_of_the_run() {
    let text = "
system: {b: {type: station, service: {exponential: 1 ms}}}
workload: {u: {to: b, arrivals: {varying: {rates: [{at: 0 s, rate: 800 /s}, {at: 100 s, rate: 100 /s}]}}}}
run: {time: 200 s}
";
    let options = Options { headroom: true, ..Options::default() };
    let found = simulate(text, "test.yaml", &[], &options, &Progress::default()).unwrap().results;
    let times = found.bottleneck.as_ref().unwrap().saturates_at.unwrap();
    assert!((times / 2.222 - 1.0).abs() < 0.1, "{times}: {:?}", found.notes);
    assert!(found.notes.iter().any(|note| note.contains("headroom is 1.2")), "{:?}", found.notes);
}

/// A station that is down for a third of the time is not idle then.
#[test]
fn a_run_of_several_states_has_no_headroom() {
    let text = "
system: {b: {type: station, service: 1 ms}}
workload: {u: {to: b, arrivals: {poisson: 100 /s}}}
faults: [{component: b, fails: 100 s, returns: 200 s}]
run: {time: 300 s}
";
    let found = with(text, &[], 1);
    assert_eq!(found.bottleneck.as_ref().unwrap().saturates_at, None);
    assert!(found.notes.iter().any(|note| note.contains("no headroom is given")), "{:?}", found.notes);
}

/// A core that shares its caches with others takes longer for each request the more there are.
#[test]
fn headroom_of_cores_that_contend_is_less_than_their_idle_time() {
    let text = "
system:
  d: {type: station, servers: 8, service: 10 us, capacity: 1 GB}
  s: {type: server, cores: 1, submit: 1 ms, contention: 2, attached: [d]}
workload: {w: {to: d, from: s, arrivals: {poisson: 100 /s}, size: 4 KiB}}
run: {requests: 20000}
";
    let options = Options { headroom: true, ..Options::default() };
    let found = simulate(text, "test.yaml", &[], &options, &Progress::default()).unwrap().results;
    let bottleneck = found.bottleneck.unwrap();
    let saturates_at = bottleneck.saturates_at.unwrap();
    // A core that is always busy does every request in 2 ms: 500/s.
    assert!((4.5..5.6).contains(&saturates_at), "{saturates_at}");
    assert_eq!(bottleneck.not_proportional.as_deref(), Some("s"));
}

/// A disk whose capacity is shrunk has fewer tracks, not shorter ones: data passes as fast.
#[test]
fn a_shrunk_disk_is_as_fast() {
    let mean = |device: &str| {
        with(
            &format!(
                "
system: {{d: {{type: disk, device: {device}, positioning: mechanical}}}}
workload: {{r: {{to: d, arrivals: {{closed: {{depth: 1}}}}, size: 4 MiB}}}}
run: {{requests: 5000}}
"
            ),
            &[],
            1,
        )
        .streams[0]
            .response
            .mean_ms
    };
    let whole = mean("seagate-st18000nm000j");
    let shrunk = mean("{like: seagate-st18000nm000j, capacity: 60 GB}");
    assert!((shrunk / whole - 1.0).abs() < 0.1, "{shrunk} for {whole}");
}

/// A controller's `command` counts twice, which is said unless `disk_command` is set.
#[test]
fn a_command_of_a_controller_counts_for_host_and_disk() {
    let run = |controller: &str| {
        with(
            &format!(
                "
parts: {{d: {{type: station, service: {{exponential: 2 ms}}, capacity: 1 GiB}}}}
system:
  raid: {{type: controller, command: 1 ms{controller}}}
  v: {{type: array, level: raid0, of: d, disks: 4, stripe_unit: 64 KiB, controllers: [raid]}}
workload: {{r: {{to: v, arrivals: {{poisson: 100 /s}}, size: 4 KiB}}}}
run: {{requests: 20000}}
"
            ),
            &[],
            1,
        )
    };
    let (both, once) = (run(""), run(", disk_command: 0 s"));
    let busy = |found: &Results| found.components[0].utilisation.unwrap();
    assert!((busy(&both) / busy(&once) - 2.0).abs() < 0.02, "{} {}", busy(&both), busy(&once));
    let says = |found: &Results| found.notes.iter().any(|note| note.contains("again to each disk command"));
    assert!(says(&both) && !says(&once), "{:?}", both.notes);
}
