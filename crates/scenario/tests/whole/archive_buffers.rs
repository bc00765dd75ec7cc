//! A disk pool of its own for recalls, and pins. Recalls of 90 MB take 60 s for the load and 90 s for the data; a chain moves them in 18 s.

use headrace_scenario::results::Results;

use crate::archive::{Case, LIBRARY, POOL, archive, is, mean, meter};

const RECALLED: &str = "  recalled: {type: disk_pool, chains: 1, volumes: 2, volume: 100 MB, rate: 5 MB/s}\n";
const PURGE: &str = "purge: {weight: hours_since_access, high: 95 %, low: 50 %}";

fn system(parts: &str) -> String {
    POOL.to_owned() + RECALLED + LIBRARY + "}\n" + &archive(&format!(", library: tapes{parts}"))
}

/// Checks the share of a pool that was in use on average.
fn filled(results: &Results, pool: &str, expected: f64) {
    let found = meter(results, pool, "fill");
    assert!((found - expected).abs() < 0.003, "{pool}: {found}, not {expected}");
}

/// Four files of 90 MB fill a pool of 400 MB that is not purged: what is recalled has no room, unless it has a pool of its own.
#[test]
fn recalls_have_room_while_puts_have_filled_their_pool() {
    let puts: String = (0..4).map(|at| format!("{at},put,u,h,f{at},90000000,\n")).collect();
    let log = puts + "100,stage,u,h,old,90000000,1\n5000,get,u,h,old,90000000,1\n5100,get,u,h,f0,90000000,\n";
    let case = Case::new("buffers", &log);
    assert!(!case.run(&system("")).complete);
    let apart = case.run(&system(", recalls: {pool: recalled}"));
    assert!(apart.complete, "{}", apart.answer);
    is(mean(&apart, "stage"), 150.0);
    is(mean(&apart, "get"), 18.0);
    assert_eq!([meter(&apart, "archive", "stages"), meter(&apart, "archive", "pool_hit_ratio")], [1.0, 1.0]);
    filled(&apart, "disks", 0.9);
    filled(&apart, "recalled", 0.45 * (5118.0 - 100.0) / 5118.0);
}

/// A file leaves a pool that is purged of all that is on tape; whoever wants it then gets it from tape, once.
#[test]
fn an_archive_buffer_holds_only_what_is_not_on_tape() {
    let puts: String = (0..4).map(|at| format!("{at},put,u,h,f{at},90000000,\n")).collect();
    let log = puts + "5000,get,u,h,f0,90000000,\n9000,get,u,h,f0,90000000,\n";
    let case = Case::new("emptied", &log);
    let parts = ", migrate: {every: 10 min}, purge: {weight: size_mb, high: 0 %, low: 0 %}, recalls: {pool: recalled}";
    let results = case.run(&system(parts));
    assert_eq!(meter(&results, "archive", "purged_files"), 4.0);
    assert_eq!(meter(&results, "archive", "stages"), 1.0);
    is(mean(&results, "get"), (60.0 + 90.0 + 18.0 + 18.0) / 2.0);
    // The first is on tape 150 s after the migration began, the others after 90 s each.
    filled(&results, "disks", 0.225 * (750.0 + 840.0 + 930.0 + 1020.0) / 9018.0);
    filled(&results, "recalled", 0.45 * (9018.0 - 5000.0) / 9018.0);
}

/// Two staged files fill the pool for recalls: a third has room when the pin of one expires, or is released.
#[test]
fn a_pin_keeps_a_file_until_it_expires_or_is_released() {
    let staged =
        "0,stage,u,h,a,90000000,1,T1,0\n1,stage,u,h,b,90000000,1,T2,0\n600,get,v,h,c,90000000,1,T3,0\n";
    let of = |name: &str, more: &str, pin: &str| {
        let case = Case::new(name, &format!("{staged}{more}"));
        let results = case.run(&system(&format!(", recalls: {{pool: recalled, {PURGE}}}{pin}")));
        assert!(results.complete, "{}", results.answer);
        assert_eq!(
            meter(&results, "archive", "purged_files"),
            if more.contains("delete") { 0.0 } else { 1.0 }
        );
        (mean(&results, "get"), results)
    };
    let recall = 60.0 + 90.0 + 18.0;
    is(of("pin-none", "", "").0, recall);
    let (waited, results) = of("pin", "", ", pin: 1 h");
    // Both drives share a path of 1 MB/s: that of the first begins at 239 s. A purge is tried each minute.
    let until = 239.0 + 3600.0 - 600.0;
    assert!((until + recall..=until + recall + 60.0).contains(&waited), "{waited} s");
    let note = "archive: `recalled` cannot be emptied fast enough: first full after 0.01 days, and for 0.04 days in all. When it first \
                was, 90 % of it was pinned, 10 % of it was free or on its way in. Until then recalls brought 180 MB";
    assert!(results.notes.iter().any(|found| found == note), "{:?}", results.notes);
    is(of("pin-cancelled", "1000,cancel,u,h,a,,,,\n", ", pin: 1 h").0, 400.0 + recall);
    is(of("pin-deleted", "1000,delete,u,h,a,,,,\n", ", pin: 1 h").0, 400.0 + recall);
    // Staged again at 2000 s, it is pinned for an hour from then: that of the other expires first.
    let again = of("pin-renewed", "2000,stage,u,h,a,90000000,1,T1,0\n", ", pin: 1 h").0;
    assert!((until + 1.0 + recall..=until + 61.0 + recall).contains(&again), "{again} s");
}

#[test]
fn buffers_that_cannot_be_are_refused() {
    let case = Case::new("buffers-refused", "0,get,u,h,a,50000000,1\n");
    let refused = |parts: &str, says: &[&str]| {
        let problems = case.try_run(&system(parts)).unwrap_err();
        says.iter().for_each(|says| assert!(problems.contains(says), "{problems}"));
    };
    refused(", pin: 1 h", &["a pin keeps files from a purge, and nothing is purged"]);
    refused(&format!(", pin: 1 h, recalls: {{pool: recalled}}, {PURGE}"), &["nothing is purged"]);
    refused(", recalls: {pool: disks}", &["`disks` is the pool for puts too"]);
    refused(", recalls: {pool: tapes}", &["`tapes` is a `tape_library`; a `disk_pool` belongs here"]);
    let wrong = ", recalls: {pool: recalled, purge: {weight: size_mb, high: 10 %, low: 50 %}}";
    refused(wrong, &["`low` (50 %)", "must not be above `high`"]);
    let large = Case::new("buffers-large", "0,put,u,h,a,250000000,\n");
    let problems = large.try_run(&system(", recalls: {pool: recalled}")).unwrap_err();
    assert!(problems.contains("a file of 250 MB does not fit into the pool of 200 MB"), "{problems}");
}
