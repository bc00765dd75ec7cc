//! A long run that is split into replications: the same for any number of threads, the same as those replications, and right.

use std::sync::atomic::Ordering;

use headrace_scenario::progress::Progress;
use headrace_scenario::results::{ResponseResults, Results, StreamResults};
use headrace_scenario::run::{End, Options};
use headrace_scenario::{Prepared, job_files, simulate};
use headrace_stats::{Interval, Method};

const CLERK: &str = "system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {users: {to: clerk, arrivals: {poisson: 0.5 /s}}}
";

/// Two streams to mechanical disks, and a bursty one.
const DISKS: &str = "parts: {spindle: {type: disk, device: seagate-st32171w, positioning: mechanical}}
system:
  volume: {type: array, level: raid5, of: spindle, disks: 5, stripe_unit: 64 KiB}
  clerk: {type: station, service: {exponential: 1 ms}}
workload:
  users: {to: volume, arrivals: {closed: {depth: 4, think: 40 ms}}, size: 8 KiB, op: {reads: 70 %}}
  others: {to: clerk, arrivals: {bursty: {calm: 50 /s, burst: 200 /s, calm_for: 90 ms, burst_for: 10 ms}}}
";

fn try_run(text: &str, run: &str, options: &Options) -> Result<Results, String> {
    let found = simulate(&format!("{text}run: {{{run}}}"), "test.yaml", &[], options, &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

fn results(text: &str, run: &str) -> Results {
    try_run(text, run, &Options::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// All that a run says, but for the scenario that it had and notes on it.
fn said(found: &Results) -> String {
    let mut json = serde_json::to_value(found).unwrap();
    json["scenario"] = serde_json::Value::Null;
    json["notes"] = serde_json::Value::Null;
    json.to_string()
}

#[test]
fn a_split_run_is_its_replications() {
    for (text, events) in [(CLERK, "engine: events"), (CLERK, "engine: recursion"), (DISKS, "seed: 3")] {
        let split = results(text, &format!("{events}, requests: 383990, split: true"));
        let replications = results(text, &format!("{events}, requests: 12000, replications: 32"));
        assert_eq!(split.replications, 32, "{:?}", split.notes);
        assert_eq!(said(&split), said(&replications));
        assert_eq!(split.scenario.run.requests, Some(383_990), "the scenario is the one that was asked for");
    }
}

#[test]
fn threads_change_nothing() {
    let with = |text, run, threads| {
        let options = Options { threads, ..Options::default() };
        serde_json::to_string(&try_run(text, run, &options).unwrap()).unwrap()
    };
    for (text, run) in [
        (CLERK, "requests: 256000, split: true"),
        (CLERK, "requests: 60000, split: true"),
        (CLERK, "requests: 6000, split: true"),
        (DISKS, "requests: 64000, split: true"),
    ] {
        let alone = with(text, run, 1);
        assert_eq!([2, 3].map(|threads| with(text, run, threads) == alone), [true; 2], "{run}");
    }
}

#[test]
fn the_number_of_replications_follows_from_their_pilots() {
    let of = |requests: u32| results(CLERK, &format!("requests: {requests}, split: true"));
    assert_eq!(of(400_000).replications, 32);
    assert_eq!(of(40_000).replications, 8);
    let whole = of(6000);
    assert_eq!(whole.replications, 1);
    assert!(whole.notes.iter().any(|note| note.contains("the run was not split")), "{:?}", whole.notes);
    assert_eq!(said(&whole), said(&results(CLERK, "requests: 6000")), "it is the run that was not split");
}

/// A thousand clients who all think at first: the queue has its length after some 1,100 answers, which is half of an eighth of 20,000.
#[test]
fn a_long_warm_up_is_not_discarded_many_times() {
    let clients = "system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {users: {to: clerk, arrivals: {closed: {depth: 1000, think: {exponential: 100 s}}}}}
";
    let found = results(clients, "requests: 20000, split: true");
    assert_eq!(found.replications, 1);
    assert_eq!(said(&found), said(&results(clients, "requests: 20000")));
}

#[test]
fn what_is_no_steady_state_is_refused() {
    let disk = "parts: {spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}}\n";
    let pair = "  pair: {type: array, level: raid1, of: spindle, disks: 2, stripe_unit: 64 KiB, scrub: {starts: 1 s}}\n";
    let of = |stream: &str, run: &str| {
        let more = if stream.contains("pair") { pair } else { "" };
        let text = format!(
            "{disk}system:
  clerk: {{type: station, service: 1 ms, capacity: 1 GB}}
  flash: {{type: ssd, device: micron-7450-pro-1920gb}}
{more}workload: {{users: {{{stream}}}}}
"
        );
        try_run(&text, &format!("requests: 1000, split: true, {run}"), &Options::default()).unwrap_err()
    };
    let poisson = "arrivals: {poisson: 10 /s}, size: 4 KiB";
    for (stream, run, why) in [
        (format!("to: clerk, {poisson}"), "time: 10 s", "`time` ends it"),
        (format!("to: clerk, {poisson}"), "warm_up: none", "keeps its beginning"),
        (format!("to: clerk, {poisson}, pattern: sequential"), "", "are sequential"),
        (format!("to: pair, {poisson}"), "", "components fail"),
        (format!("to: flash, {poisson}"), "", "the state of `flash` builds up"),
        (
            "to: clerk, arrivals: {varying: {rates: [{at: 0 s, rate: 1 /s}, {at: 1 h, rate: 2 /s}], period: 2 h}}".to_owned(),
            "",
            "follows a curve",
        ),
    ] {
        let problem = of(&stream, run);
        assert!(problem.contains(why) && problem.contains("remove `split`"), "{stream}: {problem}");
    }
}

#[test]
fn several_replications_are_not_split() {
    let split = results(CLERK, "requests: 40000, replications: 3, split: true");
    assert_eq!(said(&split), said(&results(CLERK, "requests: 40000, replications: 3")));
    assert!(split.notes.iter().any(|note| note.contains("several replications")), "{:?}", split.notes);
    let options = Options { replication: Some(4), ..Options::default() };
    let of_set = |run| said(&try_run(CLERK, run, &options).unwrap());
    assert_eq!(of_set("requests: 400000, split: true"), of_set("requests: 400000"));
}

fn prepared(run: &str) -> Prepared {
    let text = format!("{CLERK}run: {{{run}}}");
    Prepared::read(&text, "test.yaml", &[], &job_files::unread)
        .unwrap_or_else(|all| panic!("{}", all.rendered()))
}

#[test]
fn a_split_run_that_is_run_further_is_one_of_whole_replications() {
    let (mut plan, options) = (prepared("requests: 256000, split: true"), Options::default());
    let first = plan.run(None, &options, &Progress::default()).unwrap().results;
    assert_eq!(first.replications, 32);
    let found = plan.extend(2, &options, &Progress::default()).unwrap().results;
    assert_eq!(said(&found), said(&results(CLERK, "requests: 256000, replications: 3")));
}

#[test]
fn a_split_run_can_be_cancelled_and_limited() {
    let cancelled = Progress::default();
    cancelled.cancelled.store(true, Ordering::Relaxed);
    let run = |run: &str, progress: &Progress| {
        prepared(run).run(None, &Options::default(), progress).unwrap().results
    };
    let found = run("requests: 256000, split: true", &cancelled);
    assert_eq!((found.ended, found.complete), (End::Cancelled, false));
    let limited = "requests: 256000, engine: events, limits: {events: 10000}";
    let found = run(&format!("{limited}, split: true"), &Progress::default());
    assert_eq!(said(&found), said(&run(limited, &Progress::default())));
    assert_eq!(found.ended, End::TooManyEvents);
    let progress = Progress::default();
    run("requests: 256000, split: true", &progress);
    assert_eq!((progress.wanted.into_inner(), progress.answered.into_inner()), (256_000, 256_000));
}

/// What each stream of a run of 300 s says of its requests, but for the slowest, which are kept by what is known at ends of segments.
fn responses(text: &str) -> Vec<String> {
    let found = results(text, "time: 300 s, warm_up: none");
    let of = |stream: &StreamResults| {
        let mut response = stream.response.clone();
        response.slowest.clear();
        serde_json::to_string(&(response, &stream.path, &stream.cdf)).unwrap()
    };
    found.streams.iter().map(of).collect()
}

/// Neither random numbers nor the order of events cross between parts of a system that share nothing, not even at equal instants.
#[test]
fn parts_that_share_nothing_do_not_change_each_other() {
    let volume = "  volume: {type: array, level: raid5, of: spindle, disks: 5, stripe_unit: 64 KiB}\n";
    let clerk = "  clerk: {type: station, servers: 3, service: 10 ms}\n";
    let users = "  users: {to: volume, arrivals: {closed: {depth: 8, think: 10 ms}}, size: 8 KiB, op: {reads: 70 %}}\n";
    let others = "  others: {to: clerk, arrivals: {every: 5 ms}}\n  more: {to: clerk, arrivals: {closed: {depth: 2, think: 10 ms}}}\n";
    let text = |system: &str, workload: &str| {
        format!(
            "parts: {{spindle: {{type: disk, device: seagate-st32171w, positioning: mechanical}}}}
system:
{system}workload:
{workload}"
        )
    };
    let apart = [responses(&text(volume, users)), responses(&text(clerk, others))].concat();
    assert_eq!(responses(&text(&[volume, clerk].concat(), &[users, others].concat())), apart);
    assert_eq!(apart.len(), 3);
}

/// Of 50 intervals of M/M/1 at ρ = 1/2, 47.5 are expected to contain the mean of 2 s, with a standard deviation of 1.5. The mean of the
/// means has a standard error of its own.
#[test]
fn intervals_of_split_runs_contain_the_mean() {
    let runs = (1..=50).map(|seed| results(CLERK, &format!("seed: {seed}, requests: 384000, split: true")));
    let responses: Vec<_> = runs
        .inspect(|found| assert_eq!(found.replications, 32, "{:?}", found.notes))
        .map(|found| found.streams[0].response.clone())
        .collect();
    for response in &responses {
        let interval = response.interval.as_ref().unwrap();
        assert!(interval.trusted && interval.method == Method::Replications);
    }
    let contains =
        |response: &&ResponseResults| (response.mean_ms - 2000.0).abs() <= response.half_width_ms.unwrap();
    let covered = responses.iter().filter(contains).count();
    assert!((43..=50).contains(&covered), "{covered} of 50");
    let means: Vec<f64> = responses.iter().map(|response| response.mean_ms).collect();
    let all = Interval::by_replications(&means, true).unwrap();
    assert!((all.mean - 2000.0).abs() < 1.5 * all.half_width, "{all:?}");
}
