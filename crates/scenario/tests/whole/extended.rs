//! A prepared scenario that is run and run further gives what one run of as many replications gives, and runs nothing twice.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use headrace_scenario::progress::Progress;
use headrace_scenario::record::LogBatch;
use headrace_scenario::run::Options;
use headrace_scenario::{Found, Prepared, job_files};

const QUEUE: &str = "system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 100 /s}}}
run: {requests: 3000}";

const FAULTY: &str = "parts: {spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}}
system: {volume: {type: array, level: raid1, of: spindle, disks: 2, stripe_unit: 64 KiB}}
workload: {users: {to: volume, arrivals: {poisson: 50 /s}, op: read, size: 4 KiB}}
faults: [{component: 'volume/spindle[1]', fails: 10 s}]
run: {requests: 2000}";

fn prepared(text: &str) -> Prepared {
    Prepared::read(text, "test.yaml", &[], &job_files::unread)
        .unwrap_or_else(|all| panic!("{}", all.rendered()))
}

fn json(found: &Found) -> String {
    serde_json::to_string(&found.results).unwrap()
}

fn replications(text: &str, first: u32, more: &[u32]) -> String {
    let (mut plan, options, progress) = (prepared(text), Options::default(), Progress::default());
    let mut found = plan.run(Some(first), &options, &progress).unwrap();
    for &more in more {
        found = plan.extend(more, &options, &progress).unwrap();
    }
    json(&found)
}

#[test]
fn replications_that_are_added_are_those_of_one_run() {
    for text in [QUEUE, FAULTY] {
        let whole = replications(text, 7, &[]);
        assert_eq!(replications(text, 1, &[2, 4]), whole);
        assert_eq!(replications(text, 5, &[1, 0, 1]), whole);
        assert_ne!(replications(text, 7, &[1]), whole);
    }
}

/// How often each part of each replication was handed to a log.
type Parts = Arc<Mutex<BTreeMap<(u64, u64), u32>>>;

fn logging(parts: &Parts, threads: usize) -> Options {
    let parts = Arc::clone(parts);
    let sink = move |batch: LogBatch| {
        *parts.lock().unwrap().entry((batch.replication, batch.number)).or_default() += 1;
    };
    Options { threads, requests: Some(Box::new(sink)), ..Options::default() }
}

#[test]
fn no_replication_is_run_twice() {
    let (parts, progress) = (Parts::default(), Progress::default());
    let mut plan = prepared(QUEUE);
    plan.run(Some(2), &logging(&parts, 1), &progress).unwrap();
    plan.extend(3, &logging(&parts, 4), &progress).unwrap();
    let seen: Vec<((u64, u64), u32)> = parts.lock().unwrap().iter().map(|(at, n)| (*at, *n)).collect();
    assert_eq!(seen, (0..5).map(|replication| ((replication, 0), 1)).collect::<Vec<_>>());
}

#[test]
fn replications_that_were_cut_short_are_run_when_it_goes_on() {
    let (options, cancelled) = (Options::default(), Progress::default());
    cancelled.cancelled.store(true, Ordering::Relaxed);
    let mut plan = prepared(QUEUE);
    assert!(!plan.run(Some(3), &options, &cancelled).unwrap().results.complete);
    let found = plan.extend(4, &options, &Progress::default()).unwrap();
    assert_eq!(json(&found), replications(QUEUE, 7, &[]));
}

#[test]
fn progress_counts_what_was_run_before() {
    let (mut plan, options, progress) = (prepared(QUEUE), Options::default(), Progress::default());
    plan.run(Some(2), &options, &progress).unwrap();
    let later = Progress::default();
    plan.extend(2, &options, &later).unwrap();
    assert_eq!((later.wanted.into_inner(), later.answered.into_inner()), (12_000, 12_000));
}
