//! An archive inside another program answers as a replayed log does.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use headrace_scenario::embedded::{Storage, StorageError};
use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;
use headrace_storage::Change;
use headrace_units::Nanos;
use headrace_work::{Block, FileAct, FileOp, FilePlace, Op, TapePlace, number_of};
use proptest::prelude::*;

const SYSTEM: &str = "
system:
  disks: {type: disk_pool, chains: 2, volumes: 2, volume: 100 MB, rate: 5 MB/s}
  tapes:
    type: tape_library
    groups: [{drives: 2, rate: 1 MB/s}]
    cartridge: 1 GB
    cartridges: 4
    load: 60 s
    locate: 40 s
  door: {type: front, put_latency: 0.5 s, get_latency: 0.25 s, per_user: 2}
  archive: {type: archive, pool: disks, library: tapes, front: door, migrate: {every: 10 min}, purge: {weight: hours_since_access, high: 60 %, low: 40 %}}
";

const MB: u64 = 1_000_000;

/// A file that is older than all requests: on the tape of its name, at its position, unless it is in the pool.
type Older = (u64, u64, bool);

/// Returns the number of a name that a log has.
fn named(name: u64) -> u64 {
    number_of(name.to_string().as_bytes())
}

fn storage(system: &str, older: &[Older]) -> Storage {
    let mut storage =
        Storage::load(system, "host.yaml", &[], 1).unwrap_or_else(|why| panic!("{}", why.rendered()));
    let archive = storage.target("archive").unwrap();
    for &(file, bytes, is_on_tape) in older {
        let (file, position) = (named(file), Some(file * MB));
        let on_tape = FilePlace::Tape(Some(TapePlace { cartridge: file, position }));
        storage.add_file(archive, file, bytes, if is_on_tape { on_tape } else { FilePlace::Pool }).unwrap();
    }
    storage
}

/// When each operation is answered, by a host that submits it at the time of the one before it. A host that lets time pass to an operation's own
/// time first has it come after all that happens at that instant, as a drive that is let go then and unloads, and not only what is due.
fn of_host(older: &[Older], ops: &[(Nanos, FileOp)]) -> Vec<Nanos> {
    let mut storage = storage(SYSTEM, older);
    let archive = storage.target("archive").unwrap();
    let mut answered = vec![Nanos::MAX; ops.len()];
    for (at, op) in ops {
        let FileOp { file, user, host, .. } = *op;
        let op = FileOp { file: named(file), user: named(user), host: named(host), ..*op };
        storage.submit_file(*at, archive, op).unwrap();
        storage.advance(*at).unwrap();
    }
    while let Some(found) = storage.next_completion(Nanos(1 << 60)).unwrap() {
        assert!(!found.failed && found.breakdown.until() == found.at);
        answered[found.ticket as usize] = found.at;
    }
    answered
}

/// When each operation is answered in a run that replays them as a log.
fn of_run(older: &[Older], ops: &[(Nanos, FileOp)], name: &str) -> Vec<Nanos> {
    let folder = std::env::temp_dir().join(format!("headrace-embedded-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut log = "time_s,op,user,host,file,bytes,staged,cartridge,position_bytes\n".to_owned();
    for (at, FileOp { act, file, bytes, user, host, .. }) in ops {
        let is_staged = older.iter().any(|(older, _, is_on_tape)| older == file && *is_on_tape);
        let place = if is_staged { format!("1,{file},{}", file * MB) } else { "0,,".to_owned() };
        writeln!(log, "{},{},{user},{host},{file},{bytes},{place}", at.secs(), act.name()).unwrap();
    }
    std::fs::write(folder.join("jobs.csv"), log).unwrap();
    let text = format!("{SYSTEM}workload: {{archive: {{to: archive, arrivals: {{log: jobs.csv}}}}}}\n");
    let found: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
    let kept = Arc::clone(&found);
    let sink = Box::new(move |part: headrace_scenario::record::LogBatch| {
        kept.lock().unwrap().extend(part.issued_ns.iter().copied().zip(part.completed_ns.iter().copied()));
    });
    let options = Options { requests: Some(sink), theory: false, ..Options::default() };
    let file = folder.join("archive.yaml");
    let ran = simulate(&text, file.to_str().unwrap(), &[], &options, &Progress::default());
    ran.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    std::fs::remove_dir_all(folder).unwrap();
    let mut found = found.lock().unwrap().clone();
    found.sort_unstable();
    found.into_iter().map(|(_, completed)| Nanos(completed)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Gets of older files, in the pool and on tape, puts and gets of what was put: a host gets the answers of a run, bit for bit.
    #[test]
    fn a_host_gets_the_answers_of_a_log(
        acts in prop::collection::vec((0u8..4, 0u64..12, 1u64..20, 1u64..300), 2..60),
    ) {
        let older: Vec<Older> = (0..12).map(|file| (file, (file + 2) * MB, file % 3 > 0)).collect();
        let (mut at, mut ops, mut put) = (Nanos::ZERO, Vec::new(), Vec::new());
        // The log tells of an older file where it is first asked for, so all are asked for, in their order.
        let first = older.iter().map(|(file, bytes, _)| (FileAct::Get, *file, *bytes, 1));
        let more = acts.iter().map(|(act, which, mb, gap)| match act {
            0 | 1 => (FileAct::Put, 100, mb * MB, *gap),
            2 if *which < 6 => (FileAct::Stage, *which, 0, *gap),
            _ => (FileAct::Get, *which, 0, *gap),
        });
        for (act, file, bytes, gap) in first.chain(more) {
            let is_put = act == FileAct::Put;
            let file = if is_put { file + put.len() as u64 } else { file };
            if is_put {
                put.push(file);
            }
            let known = older.iter().find(|(older, ..)| *older == file).map(|(_, bytes, _)| *bytes);
            let bytes = known.unwrap_or(bytes);
            ops.push((at, FileOp { user: gap % 3, host: gap % 2, ..FileOp::new(act, file, bytes) }));
            at += Nanos(gap * 1_000_000_000);
        }
        prop_assert_eq!(of_host(&older, &ops), of_run(&older, &ops, &format!("{}", acts.len())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Any calls of an archive, valid or not, while drives fail and return: none panics, answers come in order of time, each once, and no law of
    /// files is broken.
    #[test]
    fn any_calls_are_answered_or_refused(
        calls in prop::collection::vec((0u8..10, any::<u32>(), any::<u64>()), 1..200),
    ) {
        // Gets that wait for a session of their user, which puts hold that wait for the space of the files to get, would wait for ever.
        let mut storage = storage(&SYSTEM.replace(", per_user: 2", ""), &[]);
        let archive = storage.target("archive").unwrap();
        let (mut last, mut submitted, mut answered) = (Nanos::ZERO, 0, std::collections::BTreeSet::new());
        for (call, small, large) in calls {
            let at = Nanos(storage.now().0.saturating_add(u64::from(small) * 16).saturating_sub(1000));
            let (file, bytes) = (large % 16, u64::from(small) >> (large % 32));
            match call {
                0 => _ = storage.advance(at),
                1 => {
                    let place = [FilePlace::Pool, FilePlace::Tape(None)][small as usize % 2];
                    _ = storage.add_file(archive, file, bytes, place);
                }
                2 => {
                    let change = [Change::Fails, Change::Returns, Change::Slow(300)][large as usize % 3];
                    _ = storage.change(["tapes", "disks", "archive", "door"][small as usize % 4], change);
                }
                3 => _ = storage.results().unwrap(),
                4 | 5 => {
                    if let Ok(Some(found)) = storage.next_completion(at) {
                        prop_assert!(found.at >= last && found.at <= storage.now() && answered.insert(found.ticket));
                        last = found.at;
                    }
                }
                _ => {
                    let act = FileAct::ALL[small as usize % FileAct::ALL.len()];
                    let op = FileOp { user: large % 3, ..FileOp::new(act, file, bytes) };
                    submitted += u64::from(storage.submit_file(at, archive, op).is_ok());
                }
            }
        }
        for name in ["tapes", "disks", "archive", "door"] {
            _ = storage.change(name, Change::Returns);
        }
        let until = Nanos(storage.now().0 + 100_000_000_000_000);
        while let Some(found) = storage.next_completion(until).unwrap() {
            prop_assert!(found.at >= last && answered.insert(found.ticket));
            last = found.at;
        }
        prop_assert_eq!(answered.len() as u64, submitted);
        storage.results().unwrap();
    }
}

/// Puts 50 MB, and gets 5 MB of them: 0.5 s and 10 s at 5 MB/s, 0.25 s and 1 s. The others say how much they are.
#[test]
fn a_get_sends_what_is_asked_for_and_no_more_than_there_is() {
    let plain = "
system:
  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 100 MB, rate: 5 MB/s}
  door: {type: front, put_latency: 0.5 s, get_latency: 0.25 s}
  archive: {type: archive, pool: disks, front: door}
";
    let mut storage = storage(plain, &[]);
    let archive = storage.target("archive").unwrap();
    let mut took = |act, bytes| {
        let began = storage.now();
        storage.submit_file(began, archive, FileOp::new(act, 7, bytes)).unwrap();
        let found = storage.next_completion(Nanos::MAX).unwrap().expect("it is answered");
        (found.failed, (found.at - began).secs())
    };
    assert_eq!(took(FileAct::Get, 5 * MB), (true, 0.0));
    assert_eq!(took(FileAct::Put, 50 * MB), (false, 10.5));
    assert_eq!(took(FileAct::Get, 5 * MB), (false, 1.25));
    assert_eq!(took(FileAct::Get, u64::MAX), (false, 10.25));
    assert_eq!(took(FileAct::Delete, 0), (false, 0.0));
    assert_eq!(took(FileAct::Get, 5 * MB), (true, 0.0));
    assert_eq!(took(FileAct::Stage, 0), (true, 0.0));
}

#[test]
fn an_operation_that_makes_no_sense_is_refused() {
    let mut storage = storage(SYSTEM, &[(1, 50 * MB, false)]);
    let (archive, disks) = (storage.target("archive").unwrap(), storage.target("disks"));
    assert!(disks.is_err(), "a disk pool is asked by its archive");
    let add = |storage: &mut Storage, bytes, place| storage.add_file(archive, 2, bytes, place);
    let place = |position| FilePlace::Tape(Some(TapePlace { cartridge: 3, position: Some(position) }));
    for (bytes, at, why) in [
        (500 * MB, FilePlace::Pool, "a file of 500000000 B does not fit into the 400000000 B of `archive`"),
        (390 * MB, FilePlace::Pool, "`archive` has no room for 390000000 B more"),
        (MB, place(1000 * MB), "a file begins at 1000000000 B of its cartridge, which holds 1000000000 B"),
        (0, FilePlace::Pool, "a file has at least one byte, and so has what is read of it"),
    ] {
        assert_eq!(add(&mut storage, bytes, at).unwrap_err().to_string(), why);
    }
    add(&mut storage, MB, place(999 * MB)).unwrap();
    let again = add(&mut storage, MB, FilePlace::Pool).unwrap_err();
    assert_eq!(again.to_string(), "`archive` has this file already, of 1000000 B");
    let block = Block { op: Op::Read, address: 0, bytes: 1 };
    let wrong = storage.submit(Nanos::ZERO, archive, block, false).unwrap_err();
    assert_eq!(wrong.to_string(), "`archive` takes operations on files");
    let mut submit = |act, bytes| storage.submit_file(Nanos::ZERO, archive, FileOp::new(act, 9, bytes));
    assert!(matches!(submit(FileAct::Session, 1), Err(StorageError::WrongRequest { .. })));
    assert_eq!(submit(FileAct::Put, 0), Err(StorageError::EmptyFile));
    assert!(matches!(submit(FileAct::Put, 401 * MB), Err(StorageError::CannotHold(_))));
    assert_eq!(submit(FileAct::Put, 300 * MB), Ok(0));
    assert_eq!(add(&mut storage, MB, FilePlace::Pool), Err(StorageError::TooLateToAdd));
    assert_eq!(storage.remember_writes(), Err(StorageError::TooLateToRemember));
}

/// An archive whose log is background load has the files that are older than that.
#[test]
fn a_log_in_the_background_finds_its_older_files() {
    let folder = std::env::temp_dir().join(format!("headrace-embedded-{}-log", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("jobs.csv"),
        "time_s,op,user,host,file,bytes,staged\n0,get,1,1,5,10000000,1\n",
    )
    .unwrap();
    let text = format!("{SYSTEM}workload: {{jobs: {{to: archive, arrivals: {{log: jobs.csv}}}}}}\n");
    let file = folder.join("host.yaml");
    let mut storage = Storage::load(&text, file.to_str().unwrap(), &[], 1)
        .unwrap_or_else(|why| panic!("{}", why.rendered()));
    storage.advance(Nanos(1_000_000_000_000)).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let tapes = storage.components().into_iter().find(|of| of.name == "tapes").unwrap();
    assert!(tapes.meters.contains(&("mounts", Some(1.0))), "the file comes from tape: {:?}", tapes.meters);
}
