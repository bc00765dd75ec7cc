//! Streams that are limited, give up or are urgent, against closed forms; work that nobody waits for; components shared.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

use crate::near::close;

fn run(text: &str) -> Results {
    let found = simulate(text, "test.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
}

fn power(base: f64, times: u32) -> f64 {
    (0..times).map(|_| base).product()
}

const CLERK: &str =
    "system: {clerk: {type: station, service: {exponential: 10 ms}}}\nrun: {requests: 400000}\n";

/// M/M/1/K: of Poisson requests to a system with K places the share (1 − ρ)ρᴷ / (1 − ρᴷ⁺¹) is lost.
#[test]
fn a_full_system_drops_what_erlang_says() {
    for places in [1, 4, 8] {
        let users =
            format!("{{to: clerk, arrivals: {{poisson: 90 /s}}, outstanding: {places}, when_full: drop}}");
        let results = run(&format!("{CLERK}workload: {{users: {users}}}"));
        let stream = &results.streams[0];
        let rho: f64 = 0.9;
        let expected = (1.0 - rho) * power(rho, places) / (1.0 - power(rho, places + 1));
        close(stream.dropped as f64 / stream.issued as f64, expected, 2.0, "share dropped");
        assert_eq!(stream.issued, stream.completed + stream.in_flight + stream.dropped);
        assert!(
            results.notes.iter().any(|note| note.contains("were dropped at the limit")),
            "{:?}",
            results.notes
        );
    }
}

/// A source that may have one request in flight makes the next when a gap has passed and the last one is answered, whichever
/// comes later: it is blocked for E\[(S − G)⁺\] = S·S/(S + G) of every E\[max(S, G)\] = S + G − SG/(S + G).
#[test]
fn a_blocked_source_makes_nothing() {
    let users = "{to: clerk, arrivals: {poisson: 200 /s}, outstanding: 1}";
    let results = run(&format!("{CLERK}workload: {{users: {users}}}"));
    let (service, gap) = (10.0, 5.0);
    let cycle = service + gap - service * gap / (service + gap);
    let stream = &results.streams[0];
    close(stream.requests_per_s, 1000.0 / cycle, 1.0, "throughput");
    close(stream.response.mean_ms, service, 1.0, "response");
    close(stream.blocked.unwrap(), service * service / (service + gap) / cycle, 1.0, "share blocked");
    assert!(results.bottleneck.unwrap().saturates_at.is_none(), "the load adapts");
}

/// M/M/1 with hosts that give up after t, while the work is done all the same: e^−(μ−λ)t of them do.
#[test]
fn impatient_hosts_give_up_as_often_as_the_response_law_says() {
    let results = run(&format!(
        "{}workload: {{users: {{to: clerk, arrivals: {{poisson: 70 /s}}, timeout: 50 ms}}}}",
        CLERK.replace("400000", "2000000") // One standard error of the share is then 0.8 %.
    ));
    let stream = &results.streams[0];
    close(
        stream.expired as f64 / stream.issued as f64,
        libm::exp(-(100.0 - 70.0) * 0.050),
        2.0,
        "share expired",
    );
    assert!(stream.response.max_ms <= 50.0);
    assert_eq!(stream.issued, stream.completed + stream.in_flight + stream.expired);
    // The server does the work of those too.
    close(results.components[0].utilisation.unwrap(), 0.7, 1.0, "utilisation");
    assert!(results.notes.iter().any(|note| note.contains("expired")), "{:?}", results.notes);
}

/// A lone client of a server that takes 10 ms asks every 4 ms: it gives up each time, and what it abandons goes on.
#[test]
fn a_closed_client_that_gives_up_asks_again_at_once() {
    let slow = CLERK.replace("{exponential: 10 ms}", "10 ms").replace("400000", "100");
    let users = "{to: clerk, arrivals: {closed: {depth: 1}}, timeout: 4 ms}";
    let stream = &run(&format!("{slow}workload: {{users: {users}}}")).streams[0];
    assert_eq!((stream.expired, stream.completed), (100, 0));
    let whole = slow.replace("{requests: 100}", "{requests: 100, warm_up: none}");
    let results = run(&format!("{whole}workload: {{users: {users}}}"));
    assert!((results.simulated_s - 0.4).abs() < 1e-9, "100 requests of 4 ms each: {}", results.simulated_s);
    let patient = users.replace("4 ms", "10 ms");
    let stream = &run(&format!("{slow}workload: {{users: {patient}}}")).streams[0];
    assert_eq!((stream.expired, stream.completed), (0, 100), "an answer at the deadline is in time");
}

/// Many closed clients who think are like an open stream. Of those requests that are answered
/// within t the mean response is 1/θ − t·e^−θt / (1 − e^−θt), with θ = μ − λ.
#[test]
fn many_closed_clients_that_give_up_are_like_an_open_stream() {
    let arrivals = "{closed: {depth: 10000, think: {exponential: 142.857 s}}}";
    let results =
        run(&format!("{CLERK}workload: {{users: {{to: clerk, arrivals: {arrivals}, timeout: 50 ms}}}}"));
    let late = libm::exp(-30.0 * 0.050);
    close(results.streams[0].response.mean_ms, 1000.0 / 30.0 - 50.0 * late / (1.0 - late), 2.0, "response");
}

/// Cobham: the waits of a non-preemptive queue with two classes are W₀/(1 − ρ₁) and W₀/((1 − ρ₁)(1 − ρ)).
#[test]
fn priorities_wait_as_cobham_says() {
    let results = run("
system: {clerk: {type: station, order: priority, service: {exponential: 10 ms}}}
workload:
  urgent: {to: clerk, arrivals: {poisson: 30 /s}}
  other: {to: clerk, arrivals: {poisson: 50 /s}, priority: 5}
run: {requests: 800000}
");
    let residual = 0.8 * 10.0;
    let waits: Vec<f64> = results.streams.iter().map(|stream| stream.path[0].waiting_ms).collect();
    close(waits[0], residual / (1.0 - 0.3), 2.0, "urgent");
    close(waits[1], residual / ((1.0 - 0.3) * (1.0 - 0.8)), 4.0, "other");
    for (theory, wait) in results.theory.iter().zip([residual / 0.7, residual / (0.7 * 0.2)]) {
        assert!(theory.exact && (theory.mean_ms.unwrap() - wait - 10.0).abs() < 1e-9, "{theory:?}");
    }
}

/// A drive that writes back is busy with work that no host waits for, which is reported as a cause of its own.
#[test]
fn writing_back_is_work() {
    let results = run("
system: {spindle: {type: disk, device: samsung-hd103uj, positioning: mechanical}}
workload: {users: {to: spindle, arrivals: {poisson: 30 /s}, op: write, size: 4 KiB}}
run: {requests: 20000}
");
    let disk = &results.components[0];
    let by_cause = &disk.utilisation_by_cause;
    assert!(by_cause["host"] < 0.03 && by_cause["destage"] > 0.1, "{by_cause:?}");
    close(by_cause.values().sum(), disk.utilisation.unwrap(), 1e-6, "the causes together");
    close(
        disk.meters["destages"].unwrap(),
        disk.meters["cached_writes"].unwrap(),
        1.0,
        "each write is put down",
    );
    let bottleneck = results.bottleneck.unwrap();
    assert!(bottleneck.estimate && bottleneck.saturates_at.unwrap() < 8.0, "{bottleneck:?}");
    assert!(results.answer.contains("(estimate)"), "{}", results.answer);
    // A drive that writes through has nothing to do in the background.
    let through = run("
system: {spindle: {type: disk, device: hp-c2247a, positioning: mechanical}}
workload: {users: {to: spindle, arrivals: {poisson: 20 /s}, op: write, size: 4 KiB}}
run: {requests: 2000}
");
    assert!(through.components[0].utilisation_by_cause.is_empty());
}

/// What stands in `system` exists once: a stream to a disk meets the disk that the array uses too.
#[test]
fn a_stream_and_an_array_meet_on_a_shared_disk() {
    let text = |direct: &str| {
        format!(
            "
system:
  east: {{type: station, service: 8 ms}}
  west: {{type: station, service: 8 ms}}
  both: {{type: array, level: raid0, of: [east, west], stripe_unit: 64 KiB}}
workload:
  users: {{to: both, arrivals: {{every: 20 ms}}, size: 128 KiB}}
  backup: {{to: east, arrivals: {{every: {direct}}}}}
run: {{requests: 4000}}
"
        )
    };
    let (idle, busy) = (run(&text("1 h")), run(&text("20 ms")));
    let east = |results: &Results| {
        results.components.iter().find(|part| part.path == "east").unwrap().utilisation.unwrap()
    };
    close(east(&idle), 0.4, 1.0, "east alone");
    close(east(&busy), 0.8, 1.0, "east, shared");
    assert!(busy.streams[0].response.mean_ms > idle.streams[0].response.mean_ms + 3.0);
    let both = busy.components.iter().find(|part| part.path == "both").unwrap();
    assert_eq!(both.uses, [0, 1]);
    let poisson = run(&text("20 ms").replace("{every: 20 ms}", "{poisson: 40 /s}"));
    let fails = poisson.theory[1].fails.as_ref().unwrap();
    assert!(fails.contains("other streams reach it too"), "{fails}");
}

/// Arrays that share a link share its rate.
#[test]
fn arrays_share_a_link() {
    let results = run("
parts: {leaf: {type: station, service: 1 ms}}
system:
  loop: {type: link, rate: 100 MB/s, latency: 5 us}
  one: {type: array, level: raid0, of: leaf, disks: 4, stripe_unit: 250 kB, via: loop}
  two: {type: array, level: raid0, of: leaf, disks: 4, stripe_unit: 250 kB, via: loop}
workload:
  left: {to: one, arrivals: {closed: {depth: 4}}, size: 1 MB, align: 1 MB}
  right: {to: two, arrivals: {closed: {depth: 4}}, size: 1 MB, align: 1 MB, op: write}
run: {requests: 20000}
");
    let total: f64 = results.streams.iter().map(|stream| stream.bytes_per_s).sum();
    close(total, 100e6, 1.0, "the link's rate");
    let bottleneck = results.bottleneck.unwrap();
    assert_eq!((bottleneck.component.as_str(), bottleneck.saturated), ("loop", true));
    let on_the_link: f64 =
        results.streams[0].path.iter().filter(|leg| leg.component == "loop").map(|leg| leg.waiting_ms).sum();
    assert!(on_the_link > 20.0, "{on_the_link}");
}

/// An overload says how much of it is sustained, whichever engine finds it.
#[test]
fn headroom_in_overload_is_what_is_sustained() {
    let text = |engine: &str, rate: u32| {
        format!(
            "
system: {{spindle: {{type: disk, device: seagate-st32171w, positioning: mechanical}}}}
workload: {{users: {{to: spindle, arrivals: {{poisson: {rate} /s}}, size: 16 KiB}}}}
run: {{requests: 8000, engine: {engine}}}
"
        )
    };
    let headroom = |engine: &str, rate: u32| run(&text(engine, rate)).bottleneck.unwrap();
    let (events, recursion) = (headroom("events", 400), headroom("recursion", 400));
    assert!(events.saturated && recursion.saturated);
    let (a, b) = (events.saturates_at.unwrap(), recursion.saturates_at.unwrap());
    close(a, b, 3.0, "events and recursion");
    // What it sustains of 400/s is what it does when it is just saturated.
    let most = run(&text("events", 400).replace("{poisson: 400 /s}", "{closed: {depth: 1}}"));
    close(a, most.streams[0].requests_per_s / 400.0, 5.0, "share sustained");
    let light = headroom("recursion", 20);
    assert!(!light.saturated && light.saturates_at.unwrap() > 1.5, "{light:?}");
}

fn replayed(lines: impl Iterator<Item = u64>, name: &str) -> Results {
    let trace = std::env::temp_dir().join(format!("headrace-{name}-{}.csv", std::process::id()));
    let lines: String = lines.map(|at| format!("{at},read,0,4096,,,\n")).collect();
    std::fs::write(&trace, format!("time_ns,op,address,bytes,response_ns,think_ns,device\n{lines}")).unwrap();
    let text = format!(
        "
system: {{clerk: {{type: station, service: 10 ms}}}}
workload: {{users: {{to: clerk, arrivals: {{replay: {{trace: {}, timing: timestamps}}}}}}}}
",
        trace.display()
    );
    let results = run(&text);
    std::fs::remove_file(trace).unwrap();
    results
}

/// A replay that drains after its last request is overloaded all the same; one request, or one burst, is no sign of overload.
#[test]
fn headroom_of_a_replay_is_from_the_load_it_offers() {
    let overloaded = replayed((0..1000).map(|i| i * 4_000_000), "overloaded").bottleneck.unwrap();
    assert!(overloaded.saturated);
    close(overloaded.saturates_at.unwrap(), 0.4, 1.0, "share sustained");
    let steady = replayed((0..1000).map(|i| i * 20_000_000), "steady").bottleneck.unwrap();
    close(steady.saturates_at.unwrap(), 2.0, 1.0, "headroom");
    for (times, name) in [(1, "one"), (20, "burst")] {
        let results = replayed((0..times).map(|_| 0), name);
        let bottleneck = results.bottleneck.unwrap();
        assert!(!bottleneck.saturated && bottleneck.saturates_at.is_none(), "{name}: {bottleneck:?}");
        assert!(!results.answer.contains("saturated"), "{}", results.answer);
    }
}

/// Options without effect are named, and notes are true of the device.
#[test]
fn notes_say_what_plays_no_part() {
    let text = |disk: &str, users: &str| {
        format!(
            "system: {{one: {{type: disk, device: {disk}}}}}\nworkload: {{users: {{to: one, {users}}}}}\nrun: {{requests: 500}}"
        )
    };
    let notes = |disk: &str, users: &str| run(&text(disk, users)).notes.join(" ");
    let sequential = "arrivals: {poisson: 10 /s}, pattern: sequential";
    let coupled = notes("seagate-st3500630ns, positioning: coupled", sequential);
    assert!(coupled.contains("the addresses of `users` are ignored"), "{coupled}");
    let bare = notes("seagate-st3500630ns, positioning: addressed", sequential);
    assert!(bare.contains("the device file describes none") && !bare.contains("has one"), "{bare}");
    let cached = notes("hp-c2247a, positioning: addressed", sequential);
    assert!(cached.contains("`positioning: mechanical` has one"), "{cached}");
    assert!(!notes("hp-c2247a", sequential).contains("without a cache"));
}

/// Whole stripes reach every disk wherever they begin: theory covers them, and an overload is refused.
#[test]
fn whole_stripes_reach_every_disk() {
    let text = |rate: u32| {
        format!(
            "
parts: {{leaf: {{type: station, service: {{exponential: 5 ms}}}}}}
system: {{volume: {{type: array, level: raid0, of: leaf, disks: 4, stripe_unit: 64 KiB}}}}
workload: {{users: {{to: volume, arrivals: {{poisson: {rate} /s}}, size: 256 KiB}}}}
run: {{requests: 200000}}
"
        )
    };
    let results = run(&text(120));
    let theory = &results.theory[0];
    close(theory.utilisation.unwrap(), 0.6, 0.1, "utilisation by theory");
    // The error that theory states for four disks at 60 % is −1.7 %: corrected by it, the mean is that of the run.
    let fails = theory.fails.as_deref().unwrap();
    assert!(fails.contains("measured error for 4 disks at 60 % utilisation: −1.7 %"), "{fails}");
    close(results.streams[0].response.mean_ms, theory.mean_ms.unwrap() / 0.983, 1.5, "Nelson and Tantawi");
    let refused = simulate(&text(210), "test.yaml", &[], &Options::default(), &Progress::default());
    let refused = refused.unwrap_err().rendered();
    assert!(refused.contains("`volume` is overloaded") && refused.contains("its busiest part"), "{refused}");
}

/// What carries too little may lie before the component that a stream goes to: half the drive's time in the cores of its server.
#[test]
fn overload_is_that_of_the_component_on_the_way_that_saturates() {
    let text = "
system:
  host: {type: server, cores: 2, submit: 3 ms, complete: 1 ms, attached: [drive]}
  drive: {type: station, service: 1 ms, capacity: 1 GB}
workload: {users: {from: host, to: drive, arrivals: {poisson: 600 /s}, size: 4 KiB}}
run: {requests: 1000}
";
    let refused = simulate(text, "test.yaml", &[], &Options::default(), &Progress::default());
    let refused = refused.unwrap_err().rendered();
    assert!(refused.contains("600 /s × 2 ms of work for `host` = 120.0 % utilisation"), "{refused}");
    assert!(refused.contains("lower the rate below 500 /s, or add capacity to `host`"), "{refused}");
}

/// The headroom of a component is of the streams that reach it: what a host elsewhere waits for does not count.
#[test]
fn headroom_is_of_the_streams_that_reach_the_bottleneck() {
    let results = run("
system:
  busy: {type: station, service: 5 ms}
  calm: {type: station, service: 1 ms}
workload:
  open: {to: busy, arrivals: {poisson: 100 /s}}
  waiting: {to: calm, arrivals: {closed: {depth: 1, think: 9 ms}}}
run: {requests: 40000}
");
    let bottleneck = results.bottleneck.unwrap();
    assert_eq!((bottleneck.component.as_str(), bottleneck.streams), ("busy", vec!["open".to_owned()]));
    close(bottleneck.saturates_at.unwrap(), 2.0, 3.0, "headroom");
    assert!(results.answer.contains("× the load of open"), "{}", results.answer);
}

/// One bad timestamp makes a replay last for years; the note says which.
#[test]
fn a_gap_in_a_trace_is_named() {
    let times = |bad: u64| (0..50).map(move |i| i * 20_000_000 + if i >= 30 { bad } else { 0 });
    let notes = replayed(times(1 << 55), "gap").notes.join(" ");
    assert!(notes.contains("request 31 of the trace comes 417.0 d after"), "{notes}");
    assert!(!replayed(times(0), "no-gap").notes.join(" ").contains("timestamp"));
}

/// One client that thinks as long as it is served keeps its server busy for half of the time: with more clients it could be busy all of it,
/// twice as much. Without a think time it is always busy, and another client only waits: throughput stays 1/S, and response is N·S.
#[test]
fn clients_that_wait_are_told_what_more_of_them_bring() {
    let clerk = "system: {clerk: {type: station, service: 10 ms}}\nrun: {requests: 20000}\n";
    let of = |closed: &str| {
        run(&format!("{clerk}workload: {{users: {{to: clerk, arrivals: {{closed: {closed}}}}}}}"))
    };
    let thinking = of("{depth: 1, think: 10 ms}");
    let bottleneck = thinking.bottleneck.unwrap();
    close(bottleneck.closed.unwrap().at_most.unwrap(), 2.0, 0.1, "what more clients could bring");
    assert!(
        thinking.answer.contains(
            "Latency-bound (one request in flight): clerk, 50 % busy; more in flight could raise throughput at most 2.00×."
        ),
        "{}",
        thinking.answer
    );
    let (one, two) = (of("{depth: 1}"), of("{depth: 2}"));
    close(two.streams[0].requests_per_s, 100.0, 0.1, "throughput of two");
    close(two.streams[0].response.mean_ms, 2.0 * one.streams[0].response.mean_ms, 0.1, "response of two");
    assert!(
        one.answer.ends_with("clerk, 100 % busy; a deeper queue would only add waiting time."),
        "{}",
        one.answer
    );
    assert!(
        two.answer.ends_with(
            "Bottleneck: clerk, 100 % busy with 2 clients; a deeper queue would only add waiting time."
        ),
        "{}",
        two.answer
    );
}

/// Student's t over √n: 12.706/√2 of two replications is 7.24 times the 2.776/√5 of five, 4.303/√3 of three 2.00 times.
#[test]
fn few_replications_say_how_much_narrower_more_would_be() {
    for (replications, says) in [(2, "about 7 times"), (3, "about 2 times")] {
        let text = format!("{CLERK}workload: {{users: {{to: clerk, arrivals: {{poisson: 50 /s}}}}}}")
            .replace("requests: 400000", &format!("requests: 5000, replications: {replications}"));
        let notes = run(&text).notes.join("\n");
        assert!(
            notes.contains(&format!("only {replications} replications; 5 would make them {says}")),
            "{notes}"
        );
    }
}

/// Each of many errors is named; which name was perhaps meant is said of the first hundred, since that costs a look at all names.
#[test]
fn of_many_misspelt_targets_the_first_have_advice() {
    let lines = |line: &dyn Fn(usize) -> String| (0..1000).map(line).collect::<String>();
    let clerks = lines(&|i| format!("  clerk{i}: {{type: station, service: 1 ms}}\n"));
    let users = lines(&|i| {
        format!("  users{i}: {{to: clark{i}, arrivals: {{every: 10 ms}}, op: read, size: 4 KiB}}\n")
    });
    let text = format!("system:\n{clerks}workload:\n{users}");
    let problems =
        headrace_scenario::prepare(&text, "many.yaml", &[], &Progress::default()).unwrap_err().problems;
    assert_eq!(problems.len(), 1000);
    assert_eq!(problems[700].message, "there is no component `clark700`");
    let advice: Vec<&String> = problems.iter().filter_map(|problem| problem.help.as_ref()).collect();
    assert_eq!(advice.len(), 100);
    assert!(advice[99].starts_with("did you mean `clerk99`? "), "{}", advice[99]);
}

/// A replay of 20 s beside a stream that goes on for 80: what they ask together is a load of neither time. Ended with the replay, it is one.
#[test]
fn a_replay_that_ends_before_other_streams_leaves_no_headroom() {
    let trace = std::env::temp_dir().join(format!("headrace-early-{}.csv", std::process::id()));
    let lines: String = (0..1000u64).map(|at| format!("{},read,0,4096,,,\n", at * 20_000_000)).collect();
    std::fs::write(&trace, format!("time_ns,op,address,bytes,response_ns,think_ns,device\n{lines}")).unwrap();
    let text = |length: &str| {
        format!(
            "
system: {{clerk: {{type: station, service: 4 ms}}}}
workload:
  once: {{to: clerk, arrivals: {{replay: {{trace: {}, timing: timestamps}}}}}}
  on: {{to: clerk, arrivals: {{poisson: 50 /s}}, size: 4 KiB}}
run: {{{length}}}
",
            trace.display()
        )
    };
    let (mixed, together) = (run(&text("requests: 5000")), run(&text("time: 20 s")));
    std::fs::remove_file(trace).unwrap();
    let of = |results: &Results| {
        let noted = results.notes.iter().any(|note| note.contains("its replay ended after"));
        (noted, results.bottleneck.as_ref().unwrap().saturates_at.is_some())
    };
    assert_eq!((of(&mixed), of(&together)), ((true, false), (false, true)));
}

/// Half of the requests are reads of 4 KiB, half writes of 64 KiB; a formula knows both, and addresses are multiples of the smaller.
#[test]
fn writes_have_a_size_of_their_own() {
    let text = "
system: {d: {type: station, service: 1 us, rate: 400 MB/s, capacity: 1 GiB}}
workload: {u: {to: d, arrivals: {poisson: 2000 /s}, op: {reads: 50 %}, size: 4 KiB, write_size: 64 KiB}}
run: {requests: 50000}
";
    let found = run(text);
    let stream = &found.streams[0];
    let expected = 2000.0 * f64::midpoint(4096.0, 65_536.0);
    assert!((stream.bytes_per_s / expected - 1.0).abs() < 0.02, "{}", stream.bytes_per_s);
    let theory = &found.theory[0];
    assert!(theory.exact && theory.model == "M/G/1", "{theory:?}");
    let (mean, half) = (stream.response.mean_ms, stream.response.half_width_ms.unwrap());
    assert!((mean - theory.mean_ms.unwrap()).abs() < 2.0 * half, "{mean} ± {half} for {theory:?}");
    let [reads, writes] = [&stream.reads, &stream.writes].map(|of| of.as_ref().unwrap().mean_ms);
    assert!((writes - reads - 61_440.0 / 400e6 * 1e3).abs() < 0.02, "{reads} {writes}");
}

#[test]
fn only_a_stream_with_writes_has_a_size_of_them() {
    let text = "
system: {d: {type: station, service: 1 us, rate: 400 MB/s, capacity: 1 GiB}}
workload: {u: {to: d, arrivals: {poisson: 2000 /s}, write_size: 64 KiB}}
";
    let refused = simulate(text, "test.yaml", &[], &Options::default(), &Progress::default());
    let told = refused.map(|_| ()).unwrap_err().rendered();
    assert!(told.contains("`write_size` is about writes, and the stream has none"), "{told}");
}

/// A thread does one thing at a time, whatever waits and however many cores are free: one that always works is what limits its stream, and more
/// requests in flight do not help. Where it has time, the drive is named.
#[test]
fn threads_that_always_work_limit_their_stream() {
    let by = |threads: u32, submit: &str| {
        run(&format!(
            "
system:
  host: {{type: server, cores: 16, submit: {submit}, complete: {submit}, attached: [drive]}}
  drive: {{type: station, servers: 64, service: {{exponential: 60 us}}, capacity: 1 TB}}
workload:
  fio: {{from: host, to: drive, arrivals: {{closed: {{depth: 64, threads: {threads}}}}}, size: 4 KiB}}
run: {{seed: 1, requests: 40000}}
"
        ))
    };
    let named = |results: &Results| {
        let found = results.bottleneck.as_ref().unwrap();
        (found.component.clone(), found.what.clone())
    };
    let one = by(1, "1 us");
    assert_eq!(named(&one), ("host".to_owned(), Some("threads of fio".to_owned())));
    assert!(
        one.answer.contains("host (threads of fio), 100 % busy with 64 clients; a deeper queue would only")
    );
    assert!((one.streams[0].requests_per_s / 500_000.0 - 1.0).abs() < 0.01);
    let portion = |results: &Results| results.components[0].portions[0].clone();
    assert_eq!((portion(&one).what.as_str(), portion(&one).servers), ("threads of fio", 1));
    let easy = by(2, "10 ns");
    assert_eq!(named(&easy), ("drive".to_owned(), None));
    assert!(portion(&easy).utilisation < 0.1 && portion(&easy).servers == 2);
}

/// A cache that destages few stripes at a time leaves its drives idle while hosts wait for space: that is said, and nothing of what more requests in
/// flight would bring. With as many destages as there are clients, the drives limit.
#[test]
fn destages_in_flight_limit_writes_where_drives_have_time() {
    let by = |at_once: u32| {
        run(&format!(
            "
system:
  volume:
    type: array
    level: raid0
    of: {{type: station, servers: 8, service: 1 ms, capacity: 10 GB}}
    disks: 4
    stripe_unit: 64 KiB
    cache: {{size: 8 MiB, writes: back, stripes_at_once: {at_once}}}
workload:
  fio: {{to: volume, op: write, arrivals: {{closed: {{depth: 64}}}}, size: 4 KiB, align: 4 KiB}}
run: {{seed: 1, requests: 40000}}
"
        ))
    };
    let says = |results: &Results| results.notes.iter().any(|note| note.contains("raise `stripes_at_once`"));
    let few = by(4);
    assert!(says(&few), "{:?}", few.notes);
    assert!(!few.answer.contains("could raise throughput"), "{}", few.answer);
    assert!(few.components[0].meters["destages_in_flight"].unwrap() > 0.9);
    let many = by(64);
    assert!(!says(&many), "{:?}", many.notes);
    assert!(many.streams[0].requests_per_s > 4.0 * few.streams[0].requests_per_s);
}

/// Data cross an adapter's slot at its rate in each direction: reads alone at that rate, reads and writes together at twice as much. The network
/// of queues knows it too, and a slot that is idle is a delay.
#[test]
fn a_slot_carries_its_rate_in_each_direction() {
    let by = |op: &str, arrivals: &str| {
        format!(
            "
system:
  host: {{type: server, cores: 16, attached: [drive], adapter: {{command: 100 ns, rate: 1 GB/s}}}}
  drive: {{type: station, servers: 64, service: {{exponential: 100 us}}, capacity: 1 TB}}
workload:
  fio: {{from: host, to: drive, op: {op}, arrivals: {arrivals}, size: 64 KiB}}
run: {{seed: 1, requests: 40000}}
"
        )
    };
    let deep = |op: &str| run(&by(op, "{closed: {depth: 64}}"));
    let (reads, writes, both) = (deep("read"), deep("write"), deep("{reads: 50 %}"));
    for (found, direction) in [(&reads, "host/slot in"), (&writes, "host/slot out")] {
        close(found.streams[0].bytes_per_s, 1e9, 1e7, "one direction");
        assert_eq!(found.bottleneck.as_ref().unwrap().component, direction);
    }
    assert!(both.streams[0].bytes_per_s > 1.8e9, "{}", both.streams[0].bytes_per_s);
    let light = run(&by("{reads: 50 %}", "{poisson: 8000 /s}"));
    // 65.5 µs a visit, half of the requests in each direction at 26 % each: M/D/1 waits ρ / (2 (1 - ρ)) of that.
    let (slot, busy) = (65.536, 4000.0 * 65.536e-6);
    let expected = 100.0 + 0.1 + slot * (1.0 + busy / (2.0 * (1.0 - busy)));
    close(light.streams[0].response.mean_ms * 1e3, expected, 3.0, "µs of a request");
    close(light.theory[0].mean_ms.unwrap() * 1e3, expected, 1.0, "µs of a request in theory");
}
