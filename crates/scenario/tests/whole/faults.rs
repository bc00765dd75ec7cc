//! Scenarios in which components fail: whatever happens when, every law holds, and results tell the phases apart.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;
use proptest::prelude::*;

const VOLUME: &str = "
parts: {spindle: {type: station, service: {exponential: 2 ms}, capacity: 8 MiB}}
system: {volume: {type: array, level: raid5, of: spindle, disks: 4, stripe_unit: 64 KiB, spares: 1}}
workload: {users: {to: volume, arrivals: {poisson: 200 /s}, size: 4 KiB, op: {reads: 70 %}}}
run: {time: 20 s, requests: 1000000}
";

fn run(text: &str) -> Results {
    let found = simulate(text, "faults.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}\n{text}", problems.rendered())).results
}

fn refused(text: &str) -> String {
    let found = simulate(text, "faults.yaml", &[], &Options::default(), &Progress::default());
    found.expect_err("this cannot be").rendered()
}

fn with(faults: &str) -> String {
    format!("{VOLUME}faults:\n{faults}")
}

#[test]
fn results_tell_before_during_and_after() {
    let found = run(&with("  - {component: 'volume/spindle[1]', fails: 5 s}\n"));
    let after: Vec<String> = found.phases.iter().map(|phase| phase.after.join(", ")).collect();
    assert_eq!(after, ["", "volume/spindle[1] fails, volume begins to rebuild", "volume ends its rebuild"]);
    assert_eq!((found.phases[0].from_s, found.phases[1].from_s, found.phases[2].to_s), (0.0, 5.0, 20.0));
    let streams: Vec<_> = found.phases.iter().map(|phase| &phase.streams[0]).collect();
    assert!(streams[1].mean_ms > streams[0].mean_ms && streams[1].mean_ms > streams[2].mean_ms);
    assert_eq!(streams.iter().map(|stream| stream.completed).sum::<u64>(), found.streams[0].completed);
    assert_eq!(found.components[2].state, Some("failed"));
    assert!(found.notes.iter().any(|note| note.contains("volume/spindle[1]: failed")), "{:?}", found.notes);
    assert_eq!(found.warm_up_s, 0.0, "a run with faults has no one steady state");
}

/// The same after a number of requests; two failures at once are more than the level makes good, and requests fail.
#[test]
fn requests_that_nothing_can_answer_fail() {
    let both = "  - {component: 'volume/spindle[0]', fails: {after: 1000}}\n  - {component: 'volume/spindle[1]', fails: {after: 1000}, returns: 12 s}\n";
    let found = run(&with(both).replace(", spares: 1", ""));
    let stream = &found.streams[0];
    assert!(stream.failed > 100, "{}", stream.failed);
    assert_eq!(stream.issued, stream.completed + stream.in_flight + stream.failed);
    assert_eq!(found.phases[0].streams[0].completed, 1000);
    // One disk is missing, which is no matter, but for stripes that were half written when both failed.
    let last = &found.phases.last().unwrap().streams[0];
    assert!(last.failed * 50 < last.completed, "{last:?}");
}

/// A client that is refused at once asks again a second later, so a run goes on to the time at which all is well.
#[test]
fn clients_outlast_a_failure() {
    let text = "
system: {clerk: {type: station, service: 10 ms}}
workload: {users: {to: clerk, arrivals: {closed: {depth: 2}}}}
faults: [{component: clerk, fails: 3 s, returns: 7 s}]
run: {time: 20 s, requests: 100000}
";
    let found = run(text);
    assert!((4..=12).contains(&found.streams[0].failed), "{}", found.streams[0].failed);
    assert!(found.streams[0].completed > 1500);
}

#[test]
fn faults_that_cannot_be_are_refused_in_words() {
    let cases = [
        ("{component: 'volume/spindle[7]', fails: 1 s}", "there is no component `volume/spindle[7]`"),
        ("{component: volum, fails: 1 s}", "did you mean `volume`?"),
        ("{component: volume, fails: 5 s, returns: 4 s}", "`volume` would return before it fails"),
        (
            "{component: volume, fails: 5 s, returns: 6 s, replaced: 7 s}",
            "a replaced component does not return",
        ),
        ("{component: volume}", "fails"),
    ];
    for (fault, says) in cases {
        let found = refused(&with(&format!("  - {fault}\n")));
        assert!(found.contains(says), "{fault}: {found}");
    }
    let link = "
system:
  wire: {type: link, rate: 10 MB/s}
  volume: {type: array, level: raid1, of: {type: station, service: 1 ms, capacity: 1 MiB}, disks: 2, stripe_unit: 4 KiB, via: wire}
workload: {users: {to: volume, arrivals: {poisson: 20 /s}}}
faults: [{component: wire, fails: 1 s, replaced: 2 s}]
";
    assert!(refused(link).contains("`wire` holds no data, so it cannot be `replaced`"), "{}", refused(link));
}

/// Where waiting for parity is what limits an array, the array is the bottleneck: its disks wait while data crosses the wire. Writes
/// to other offsets of the same stripe do not wait for each other.
#[test]
fn contended_parity_shows_as_the_bottleneck() {
    let hot = |size: &str| {
        run(&format!("
parts: {{spindle: {{type: station, service: 5 ms, capacity: 8 MiB}}}}
system:
  wire: {{type: link, rate: 2 MB/s}}
  volume: {{type: array, level: raid5, of: spindle, disks: 8, stripe_unit: 64 KiB, via: wire}}
workload: {{users: {{to: volume, arrivals: {{closed: {{depth: 16}}}}, size: 4 KiB, op: write, region: {{from: 0 B, size: {size}}}}}}}
run: {{requests: 5000}}
"))
    };
    let bottleneck = hot("4 KiB").bottleneck.unwrap();
    assert_eq!((bottleneck.component.as_str(), bottleneck.saturated), ("volume", true));
    assert_ne!(hot("64 KiB").bottleneck.unwrap().component, "volume");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Random faults of disks, paths and controllers: the laws that every run checks hold, and with the same seed the results are the same.
    #[test]
    fn every_law_holds_under_random_faults(
        level in prop::sample::select(vec!["raid1", "raid10", "raid01", "raid5", "raid6"]), seed in 0u64..1000, closed in any::<bool>(),
        timeout in any::<bool>(),
        faults in prop::collection::vec((0usize..10, 0u64..4000, 1u64..3000, 0u8..3), 0..6),
    ) {
        let names: Vec<String> = (0..6).map(|disk| format!("volume/spindle[{disk}]")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).chain(["a", "b", "head", "tail"]).collect();
        let fault = |&(which, at, later, what): &(usize, u64, u64, u8)| {
            let back = match (what, which) {
                (0, _) => String::new(),
                (1, 0..6) => format!(", replaced: {} ms", at + later),
                _ => format!(", returns: {} ms", at + later),
            };
            format!("  - {{component: '{}', fails: {at} ms{back}}}\n", names[which])
        };
        let arrivals = if closed { "{closed: {depth: 4}}" } else { "{poisson: 60 /s}" };
        let patience = if timeout { ", timeout: 200 ms" } else { "" };
        let mut seen = std::collections::BTreeSet::new();
        let faults: String = faults.iter().filter(|(which, ..)| seen.insert(*which)).map(fault).collect();
        let text = format!("
parts: {{spindle: {{type: station, service: {{exponential: 5 ms}}, capacity: 1 MiB}}}}
system:
  a: {{type: link, rate: 20 MB/s}}
  b: {{type: link, rate: 20 MB/s}}
  head: {{type: controller}}
  tail: {{type: controller}}
  volume: {{type: array, level: {level}, of: spindle, disks: 6, stripe_unit: 16 KiB, via: [a, b], controllers: [head, tail]}}
workload: {{users: {{to: volume, arrivals: {arrivals}, size: {{uniform: {{from: 512 B, to: 40 KiB, step: 512 B}}}}, op: {{reads: 50 %}}{patience}}}}}
run: {{time: 8 s, requests: 1000000, seed: {seed}}}
{}", if faults.is_empty() { String::new() } else { format!("faults:\n{faults}") });
        let (found, again) = (run(&text), run(&text));
        prop_assert_eq!(serde_json::to_string(&found.streams).unwrap(), serde_json::to_string(&again.streams).unwrap());
        prop_assert_eq!(found.phases, again.phases);
    }
}

/// A RAID 0 that has lost a disk, and a RAID 6 that has lost three, cannot serve all of their data: the note says so, not that a further
/// failure would lose it.
#[test]
fn an_array_without_some_of_its_data_is_not_merely_degraded() {
    for (array, failed, expected) in [
        ("level: raid0, disks: 4", 1, "more is out of use"),
        ("level: raid6, disks: 5", 3, "more is out of use"),
        ("level: raid6, disks: 5", 2, "fewer further failures lose data"),
    ] {
        let faults: Vec<String> =
            (0..failed).map(|disk| format!("{{component: 'v/d[{disk}]', fails: 1 s}}")).collect();
        let text = format!(
            "
parts: {{d: {{type: station, service: 1 ms}}}}
system: {{v: {{type: array, {array}, of: d, stripe_unit: 64 KiB}}}}
workload: {{u: {{to: v, arrivals: {{poisson: 40 /s}}, size: 8 KiB}}}}
faults: [{}]
run: {{requests: 400}}
",
            faults.join(", ")
        );
        let found = simulate(&text, "test.yaml", &[], &Options::default(), &Progress::default());
        let notes = found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results.notes;
        assert!(notes.iter().any(|note| note.contains(expected)), "{array}, {failed} failed: {notes:?}");
    }
}

/// Requests limited by a queue depth: headroom is that of its places, and an overload says so.
#[test]
fn a_queue_depth_limits_the_headroom() {
    let at = |rate: u32| {
        let text = format!(
            "
parts: {{d: {{type: station, service: {{exponential: 5 ms}}}}}}
system:
  h: {{type: server, adapter: {{queue_depth: 4}}, attached: [a]}}
  a: {{type: array, level: raid0, of: d, disks: 16, stripe_unit: 64 KiB}}
workload: {{u: {{from: h, to: a, arrivals: {{poisson: {rate} /s}}, size: 64 KiB, align: 64 KiB}}}}
run: {{requests: 30000}}
"
        );
        let found = simulate(&text, "test.yaml", &[], &Options::default(), &Progress::default());
        found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results.bottleneck.unwrap()
    };
    // Four places of about 5 ms each: at most 800/s, less what disks keep waiting.
    let (calm, over) = (at(300), at(1000));
    assert!(
        calm.what.as_deref() == Some("queue depth") && (1.8..2.7).contains(&calm.saturates_at.unwrap()),
        "{calm:?}"
    );
    assert!(over.what.is_some() && over.saturated && over.saturates_at.unwrap() < 0.9, "{over:?}");
}

/// A rebuild of a hundred units computes each from four others: at 50 MB/s the controller works for 100 × 4 × 65,536 B. Degraded reads, 10/s of
/// which a fifth are lost, add little: less than a hundredth.
#[test]
fn a_rebuild_takes_what_lost_units_are_computed_from() {
    let found = run("
parts: {d: {type: station, service: 1 ms, capacity: 6400 KiB}}
system:
  c: {type: controller, parity_rate: 50 MB/s}
  v: {type: array, level: raid5, of: d, disks: 5, spares: 1, stripe_unit: 64 KiB, controllers: [c]}
workload: {u: {to: v, arrivals: {poisson: 10 /s}, size: 4 KiB}}
faults: [{component: 'v/d[0]', fails: 1 s}]
run: {time: 20 s, requests: 1000000}
");
    let worked = found.components[0].utilisation_by_cause["rebuild"] * found.simulated_s;
    let by_hand = 100.0 * 4.0 * 65_536.0 / 50e6;
    assert!((worked / by_hand - 1.0).abs() < 1e-6, "{worked} s, by hand {by_hand} s");
}

/// A distributed spare engages all disks, so more chunks are in flight by default, here twelve; one chunk at a time leaves disks idle,
/// which a note says. The answer has the rate, the end and the response times.
#[test]
fn a_rebuild_says_its_rate_its_end_and_what_limits_it() {
    let station = "{type: station, service: {exponential: 4 ms}, capacity: 64 MiB}";
    let disk = "{type: disk, device: {like: seagate-st3500630ns, capacity: 64 MiB}, positioning: coupled}";
    let under = |rate: u32, spindle: &str, rebuild: &str| {
        run(&format!(
            "
parts: {{spindle: {spindle}}}
system:
  volume:
    type: array
    level: raid5
    of: spindle
    disks: 24
    declustered: {{width: 4, spares: 1}}
    stripe_unit: 64 KiB
    rebuild: {{chunk: 64 KiB{rebuild}}}
workload: {{users: {{to: volume, arrivals: {{poisson: {rate} /s}}, size: 4 KiB}}}}
faults: [{{component: 'volume/spindle[1]', fails: 2 s}}]
run: {{time: 30 s, requests: 1000000}}
"
        ))
    };
    let rebuilt = |spindle: &str, rebuild: &str| under(100, spindle, rebuild);
    let took = |found: &Results| found.components[0].meters["rebuild_s"].unwrap();
    let (one, usual) = (rebuilt(station, ", in_flight: 1"), rebuilt(station, ""));
    assert!(took(&one) > 4.0 * took(&usual), "{} for {}", took(&one), took(&usual));
    let notes = |rebuild: &str| rebuilt(disk, rebuild).notes.join("; ");
    assert!(notes(", in_flight: 1").contains("chunks in flight limit it"), "{}", notes(", in_flight: 1"));
    assert!(!notes(", in_flight: 1, rate: 1 MB/s").contains("chunks in flight limit it"));
    let busy = under(1700, disk, ", in_flight: 1").notes.join("; ");
    assert!(!busy.contains("chunks in flight limit it"), "hosts leave the disks little time: {busy}");
    assert!(
        usual.answer.contains("Rebuild of volume: ") && usual.answer.contains(", done in "),
        "{}",
        usual.answer
    );
    assert!(usual.answer.contains(" users meanwhile: mean "), "{}", usual.answer);
    let slow = rebuilt(station, ", rate: 100 kB/s");
    let progress = slow.components[0].meters["rebuild_progress"].unwrap();
    let bytes = slow.components[0].meters["rebuilt_bytes"].unwrap();
    assert!((bytes / took(&slow) / 1e5 - 1.0).abs() < 0.05, "{bytes} in {}", took(&slow));
    let says = format!("{:.1} % done after ", progress * 100.0);
    assert!(slow.answer.contains(&says) && slow.answer.contains("at this rate it ends "), "{}", slow.answer);
}

/// A fault within another of its kind would end both: it is refused. A component may be slow and fail, and one fault may begin when another ends.
#[test]
fn faults_of_one_component_do_not_overlap() {
    let of = |faults: &str| {
        let text = format!(
            "system: {{s: {{type: station, service: 100 us}}}}\nworkload: {{w: {{to: s, arrivals: {{poisson: 1000 /s}}}}}}\n\
             faults: [{faults}]\nrun: {{time: 1 s}}"
        );
        simulate(&text, "test.yaml", &[], &Options::default(), &Progress::default())
            .err()
            .map(|problems| problems.rendered())
    };
    let slow = "{component: s, slow: 8, from: 100 ms, until: 800 ms}";
    let down = "{component: s, fails: 100 ms, returns: 800 ms}";
    let says = |faults: &str, what: &str| {
        let said = of(faults).unwrap_or_else(|| panic!("{faults} is accepted"));
        assert!(said.contains(&format!("`s` is {what} already by another fault")), "{said}");
    };
    says(&format!("{slow}, {{component: s, slow: 2, from: 200 ms, until: 300 ms}}"), "slow");
    says(&format!("{{component: s, fails: 200 ms, returns: 300 ms}}, {down}"), "down");
    says("{component: s, fails: 100 ms}, {component: s, fails: 200 ms, returns: 300 ms}", "down");
    assert_eq!(of(&format!("{slow}, {down}, {{component: s, fails: 800 ms}}")), None);
}

/// What is said of a rebuild that is over is not when it will end: here a second failure ends it. Answers meanwhile are those of all phases in
/// which it goes on.
#[test]
fn a_rebuild_that_is_over_is_not_said_to_go_on() {
    let of = |level: &str, spares: u32, second: &str| {
        run(&format!(
            "
parts: {{drive: {{type: station, service: 100 us, capacity: 20 MB}}}}
system:
  volume: {{type: array, level: {level}, of: drive, disks: 6, spares: {spares}, stripe_unit: 64 KiB, rebuild: {{rate: 2 MB/s}}}}
workload: {{users: {{to: volume, op: read, arrivals: {{poisson: 200 /s}}, size: 4 KiB}}}}
faults: [{{component: 'volume/drive[1]', fails: 1 s}}, {{component: 'volume/drive[2]', fails: {second}}}]
run: {{time: 30 s, requests: 1000000}}
"
        ))
    };
    let abandoned = of("raid5", 1, "3 s");
    assert!(abandoned.answer.contains("Rebuild of volume: 2 MB/s, ended after 2"), "{}", abandoned.answer);
    let both = of("raid6", 2, "4 s");
    assert!(both.answer.contains(", done in "), "{}", both.answer);
    let going_on = both.phases.iter().skip(1).filter(|phase| phase.from_s < 20.0);
    let all: Vec<(f64, f64)> = going_on
        .map(|phase| (phase.streams[0].mean_ms.unwrap(), phase.streams[0].completed as f64))
        .collect();
    let mean = all.iter().map(|(mean, many)| mean * many).sum::<f64>()
        / all.iter().map(|(_, many)| many).sum::<f64>();
    assert!(
        all.len() > 1 && both.answer.contains(&format!("meanwhile: mean {:.1} ", mean * 1e3)),
        "{mean}: {}",
        both.answer
    );
}
