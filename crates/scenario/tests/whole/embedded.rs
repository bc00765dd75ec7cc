//! A storage system inside another program answers as a run does.

use std::sync::{Arc, Mutex};

use headrace_scenario::embedded::{Completion, Storage, StorageError};
use headrace_scenario::operation::Operation;
use headrace_scenario::progress::Progress;
use headrace_scenario::record::LogBatch;
use headrace_scenario::run::{End, Options};
use headrace_scenario::simulate;
use headrace_storage::Change;
use headrace_units::Nanos;
use headrace_work::{Block, Op};
use proptest::prelude::*;

/// Systems whose component `t` is asked, and a rate that each sustains.
const SYSTEMS: [(&str, &str); 6] = [
    ("t: {type: disk, device: maxtor-7y250p0, positioning: mechanical}", "30 /s"),
    ("t: {type: array, level: raid5, of: drive, disks: 4, stripe_unit: 16 KiB}", "40 /s"),
    ("t: {type: ssd, device: micron-7450-pro-1920gb}", "20000 /s"),
    (
        "c: {type: controller, command: 50 us, cache: {size: 1 GB, writes: back}}\n  \
         t: {type: array, level: raid6, of: drive, disks: 5, stripe_unit: 64 KiB, controllers: [c]}",
        "40 /s",
    ),
    (
        "l: {type: fc_loop, rate: 1 Gb/s}\n  t: {type: array, level: raid0, of: drive, disks: 4, stripe_unit: 8 KiB, via: l}",
        "60 /s",
    ),
    (
        "d: {type: disk, positioning: addressed, device: maxtor-7y250p0}\n  t: {type: file_system, of: d, memory: 10 MB, copy: 1 GB/s}",
        "30 /s",
    ),
];

/// A system with a drive as a part.
fn system(text: &str) -> String {
    format!(
        "parts:\n  drive: {{type: disk, device: maxtor-7y250p0, positioning: mechanical}}\nsystem:\n  {text}\n"
    )
}

/// The requests of a run in order of their numbers: when each was made, what it was, when it was answered.
fn of_run(text: &str, rate: &str) -> Vec<(Nanos, Block, Nanos)> {
    let stream = format!("arrivals: {{poisson: {rate}}}, op: {{reads: 60 %}}, size: 4 KiB");
    of_stream(text, &stream)
}

/// The requests of a stream to `t`.
fn of_stream(text: &str, stream: &str) -> Vec<(Nanos, Block, Nanos)> {
    let load = format!("workload: {{t: {{to: t, {stream}}}}}\nrun: {{requests: 1500, engine: events}}");
    let all: Arc<Mutex<Vec<LogBatch>>> = Arc::default();
    let kept = Arc::clone(&all);
    let sink = Box::new(move |part| kept.lock().unwrap().push(part));
    let options = Options { requests: Some(sink), theory: false, ..Options::default() };
    simulate(&(system(text) + &load), "run.yaml", &[], &options, &Progress::default()).unwrap();
    let mut requests: Vec<_> = all.lock().unwrap().iter().flat_map(rows).collect();
    requests.sort_by_key(|(issued, ..)| *issued);
    requests
}

fn rows(part: &LogBatch) -> Vec<(Nanos, Block, Nanos)> {
    let row = |at: usize| {
        let op = if part.op[at] == Operation::Block(Op::Read).code() { Op::Read } else { Op::Write };
        let block = Block { op, address: part.address[at], bytes: part.bytes[at] };
        (Nanos(part.issued_ns[at]), block, Nanos(part.completed_ns[at]))
    };
    (0..part.op.len()).map(row).collect()
}

/// The times at which a host gets its answers, by request. With `ahead` it submits all requests before it waits for any.
fn of_host(text: &str, requests: &[(Nanos, Block, Nanos)], ahead: bool) -> Vec<Nanos> {
    let mut storage = Storage::load(&system(text), "host.yaml", &[], 1).unwrap();
    let target = storage.target("t").unwrap();
    let mut answered = vec![Nanos::MAX; requests.len()];
    let mut note = |found: Completion| {
        assert!(!found.failed);
        assert_eq!(found.breakdown.until(), found.at);
        answered[found.ticket as usize] = found.at;
    };
    for (at, block, _) in requests {
        while !ahead && let Some(found) = storage.next_completion(*at).unwrap() {
            note(found);
        }
        storage.submit(*at, target, *block, false).unwrap();
    }
    let last = requests.iter().map(|(.., answered)| *answered).max().unwrap();
    while let Some(found) = storage.next_completion(last).unwrap() {
        note(found);
    }
    answered
}

#[test]
fn a_host_gets_the_answers_of_a_run_bit_for_bit() {
    for (text, rate) in SYSTEMS {
        let requests = of_run(text, rate);
        assert!(requests.len() > 1400, "{text}: {}", requests.len());
        let run: Vec<Nanos> = requests.iter().map(|(.., answered)| *answered).collect();
        for ahead in [false, true] {
            assert_eq!(of_host(text, &requests, ahead), run, "{text}, ahead: {ahead}");
        }
    }
}

/// Of requests that come at one instant, each finds what those before it have begun: a group commit of a log takes the first alone.
#[test]
fn requests_of_one_instant_come_one_after_another() {
    let log = "d: {type: station, service: 300 us}\n  t: {type: write_ahead_log, to: d, size: 1 GiB}";
    let trace = std::env::temp_dir().join(format!("headrace-ties-{}.csv", std::process::id()));
    let asked: Vec<(u64, u64)> = (0..900).map(|n| (n / 3 * 2_000_000, n * 7919 % 1000 * 4096)).collect();
    let lines: String = asked.iter().map(|(at, address)| format!("{at},write,{address},4096,,,\n")).collect();
    std::fs::write(&trace, format!("time_ns,op,address,bytes,response_ns,think_ns,device\n{lines}")).unwrap();
    let replay = format!("arrivals: {{replay: {{trace: {}, timing: timestamps}}}}", trace.display());
    for text in [log, SYSTEMS[1].0, SYSTEMS[2].0, SYSTEMS[3].0] {
        let mut requests = of_stream(text, &replay);
        requests.sort_by_key(|(at, block, _)| asked.iter().position(|one| *one == (at.0, block.address)));
        assert_eq!(requests.len(), 900, "{text}");
        let run: Vec<Nanos> = requests.iter().map(|(.., answered)| *answered).collect();
        for ahead in [false, true] {
            assert_eq!(of_host(text, &requests, ahead), run, "{text}, ahead: {ahead}");
        }
    }
    std::fs::remove_file(trace).unwrap();
}

#[test]
fn the_streams_of_a_scenario_are_background_load() {
    let quiet = system(SYSTEMS[0].0);
    let busy =
        format!("{quiet}workload: {{others: {{to: t, arrivals: {{closed: {{depth: 4}}}}, size: 4 KiB}}}}");
    let first = |text: &str| {
        let mut storage = Storage::load(text, "host.yaml", &[], 1).unwrap();
        let target = storage.target("t").unwrap();
        let block = Block { op: Op::Read, address: 1 << 30, bytes: 4096 };
        storage.submit(Nanos(1_000_000_000), target, block, false).unwrap();
        let found = storage.next_completion(Nanos(10_000_000_000)).unwrap().expect("it is answered");
        (found.at - Nanos(1_000_000_000), storage.components()[0].requests)
    };
    let ((alone, one), (beside, many)) = (first(&quiet), first(&busy));
    assert_eq!(one, 1);
    assert!(beside > alone && many > 20, "{beside} after {alone}, {many} requests");
}

/// What components did is what the results of a run of the same requests say.
#[test]
fn results_are_those_of_a_run() {
    let (text, rate) = SYSTEMS[0];
    let requests = of_run(text, rate);
    let mut storage = Storage::load(&system(text), "host.yaml", &[], 1).unwrap();
    for (at, block, _) in &requests {
        storage.submit(*at, 0, *block, false).unwrap();
    }
    let load = format!(
        "workload: {{t: {{to: t, arrivals: {{poisson: {rate}}}, op: {{reads: 60 %}}, size: 4 KiB}}}}\n\
         run: {{requests: 1500, engine: events, warm_up: none}}"
    );
    let options = Options { theory: false, ..Options::default() };
    let ran =
        simulate(&(system(text) + &load), "run.yaml", &[], &options, &Progress::default()).unwrap().results;
    let end = requests.iter().map(|(.., answered)| *answered).max().unwrap();
    storage.advance(end).unwrap();
    let found = storage.results().unwrap();
    assert_eq!((found.simulated_s, found.streams.len()), (ran.simulated_s, 0));
    let text = |components| serde_json::to_string_pretty(components).unwrap();
    assert_eq!(text(&found.components), text(&ran.components));
}

#[test]
fn what_fails_answers_nothing_until_it_returns() {
    let mut storage =
        Storage::load(&system("t: {type: array, level: raid1, of: drive, disks: 2}"), "host.yaml", &[], 1)
            .unwrap();
    let target = storage.target("t").unwrap();
    let ask = |storage: &mut Storage| {
        let block = Block { op: Op::Read, address: 0, bytes: 4096 };
        storage.submit(storage.now(), target, block, false).unwrap();
        storage.next_completion(Nanos::MAX).unwrap().expect("every request has an end").failed
    };
    assert!(!ask(&mut storage));
    storage.change("t/drive[0]", Change::Fails).unwrap();
    assert!(!ask(&mut storage));
    storage.change("t/drive[1]", Change::Fails).unwrap();
    assert!(ask(&mut storage));
    storage.change("t/drive[0]", Change::Returns).unwrap();
    storage.change("t/drive[1]", Change::Returns).unwrap();
    assert!(!ask(&mut storage));
    let unknown = storage.change("t/drive[2]", Change::Fails).unwrap_err();
    assert!(
        unknown.to_string().contains("there is no component `t/drive[2]`; did you mean `t/drive[1]`"),
        "{unknown}"
    );
}

/// Written back while the volume has failed, data is lost, and `fsync` says so, once, also where the volume works again by then.
#[test]
fn what_a_volume_refuses_to_take_fails_the_next_fsync() {
    let text = "system: {d: {type: station, service: 1 ms, capacity: 1 GB}, t: {type: file_system, of: d, memory: 1 GiB}}";
    let mut storage = Storage::load(text, "host.yaml", &[], 1).unwrap();
    let target = storage.target("t").unwrap();
    let block = Block { op: Op::Write, address: 65_536, bytes: 65_536 };
    let mut answer = |is_down: bool| {
        if is_down {
            storage.change("d", Change::Fails).unwrap();
        }
        let now = storage.now();
        storage.submit(now, target, block, true).unwrap();
        if is_down {
            storage.change("d", Change::Returns).unwrap();
        }
        storage.next_completion(Nanos(u64::MAX / 4)).unwrap().map(|found| found.failed)
    };
    assert_eq!([true, false, false].map(&mut answer), [Some(true), Some(false), Some(false)]);
    // Two requests that wait for the same failed write-back both fail.
    storage.change("d", Change::Fails).unwrap();
    for address in [0, 65_536] {
        storage.submit(storage.now(), target, Block { address, ..block }, true).unwrap();
    }
    let all =
        [(); 2].map(|()| storage.next_completion(Nanos(u64::MAX / 4)).unwrap().map(|found| found.failed));
    assert_eq!(all, [Some(true), Some(true)]);
}

/// A limit ends a call where it is, and the host goes on from there.
#[test]
fn time_has_passed_as_far_as_a_limit_let_it() {
    let text = "system: {t: {type: station, service: 1 ms}}\nworkload: {b: {to: t, arrivals: {poisson: 10 /s}}}\nrun: {limits: {events: 1000}}";
    let mut storage = Storage::load(text, "host.yaml", &[], 1).unwrap();
    assert!(matches!(storage.advance(Nanos(u64::MAX / 4)), Err(StorageError::Ended(End::TooManyEvents))));
    assert!(storage.now() > Nanos(1_000_000_000), "{:?}", storage.now());
}

#[test]
fn a_call_that_makes_no_sense_is_refused() {
    let mut storage = Storage::load(&system(SYSTEMS[1].0), "host.yaml", &[], 1).unwrap();
    let (target, second) = (storage.target("t").unwrap(), Nanos(1_000_000_000));
    let block = |address, bytes| Block { op: Op::Write, address, bytes };
    storage.advance(second).unwrap();
    let mut submit = |at, block| storage.submit(at, target, block, false).unwrap_err();
    let past = submit(Nanos(5), block(0, 1));
    assert_eq!(past, StorageError::Past { at: Nanos(5), now: second });
    assert_eq!(submit(second, block(0, 0)), StorageError::Empty);
    assert!(matches!(submit(second, block(u64::MAX, 2)), StorageError::BeyondEnd { bytes: 2, .. }));
    assert!(matches!(submit(second, block(0, 1 << 60)), StorageError::BeyondEnd { .. }));
    let discard = Block { op: Op::Discard, address: 0, bytes: 4096 };
    assert_eq!(submit(second, discard).to_string(), "`t` takes no discards");
    assert!(storage.advance(Nanos(5)).is_err());
    let unknown = storage.target("volume").unwrap_err().to_string();
    assert!(
        unknown.contains("there is no target of requests `volume`; there are t, t/drive[0]"),
        "{unknown}"
    );
    let wrong = Storage::load("system: {t: {type: dusk}}", "host.yaml", &[], 1).err().expect("it is no kind");
    assert!(wrong.rendered().contains("did you mean `disk`"), "{}", wrong.rendered());
}

#[test]
fn a_host_that_collects_nothing_is_stopped_by_the_limit() {
    let text = system(SYSTEMS[0].0) + "run: {limits: {in_flight: 10}}";
    let mut storage = Storage::load(&text, "host.yaml", &[], 1).unwrap();
    let target = storage.target("t").unwrap();
    let block = Block { op: Op::Read, address: 0, bytes: 512 };
    let submit = |storage: &mut Storage| storage.submit(storage.now(), target, block, false);
    (0..10).for_each(|number| assert_eq!(submit(&mut storage), Ok(number)));
    assert_eq!(submit(&mut storage), Err(StorageError::TooMany(10)));
    storage.advance(Nanos(1_000_000_000)).unwrap();
    assert_eq!(submit(&mut storage), Err(StorageError::TooMany(10)));
    storage.next_completion(storage.now()).unwrap().expect("all are answered");
    assert_eq!(submit(&mut storage), Ok(10));
}

#[test]
fn a_background_load_that_goes_on_for_ever_ends_by_its_events() {
    let text = system(SYSTEMS[0].0)
        + "workload: {others: {to: t, arrivals: {closed: {depth: 4}}}}\nrun: {limits: {events: 100000}}";
    let mut storage = Storage::load(&text, "host.yaml", &[], 1).unwrap();
    assert_eq!(storage.advance(Nanos::MAX), Err(StorageError::Ended(End::TooManyEvents)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Any calls, valid or not: none panics, and answers come in order of time, each once.
    #[test]
    fn any_calls_are_answered_or_refused(
        system in 0..SYSTEMS.len(),
        calls in prop::collection::vec((0u8..9, any::<u32>(), any::<u64>()), 1..200),
    ) {
        let mut storage = Storage::load(&self::system(SYSTEMS[system].0), "host.yaml", &[], 1).unwrap();
        let target = storage.target("t").unwrap();
        let (mut last, mut submitted, mut answered) = (Nanos::ZERO, 0, std::collections::BTreeSet::new());
        let mut note = |found: Option<Completion>, now: Nanos| {
            let Some(found) = found else { return };
            assert!(found.at >= last && found.at <= now && answered.insert(found.ticket));
            last = found.at;
        };
        for (call, small, large) in calls {
            let at = Nanos(storage.now().0.saturating_add(u64::from(small) / 16).saturating_sub(1000));
            match call {
                0 => _ = storage.advance(at),
                1 => storage.interrupted_by(move || small % 7 > 0),
                2 => {
                    let change = [Change::Fails, Change::Returns, Change::Replaced][large as usize % 3];
                    _ = storage.change(if small % 2 == 0 { "t/drive[0]" } else { "t" }, change);
                }
                3 => _ = storage.results().unwrap(),
                4 | 5 => {
                    if let Ok(found) = storage.next_completion(at) {
                        note(found, storage.now());
                    }
                }
                _ => {
                    let (op, bytes) = ([Op::Read, Op::Write, Op::Discard][small as usize % 3], u64::from(small % 100_000));
                    let block = Block { op, address: large >> (small % 64), bytes };
                    submitted += u64::from(storage.submit(at, target, block, large % 2 == 0).is_ok());
                }
            }
        }
        storage.interrupted_by(|| true);
        let until = Nanos(storage.now().0 + 100_000_000_000);
        while let Some(found) = storage.next_completion(until).unwrap() {
            note(Some(found), storage.now());
        }
        prop_assert_eq!(answered.len() as u64, submitted);
        storage.results().unwrap();
    }
}
