//! A tape library alone on a log of sessions of its cartridges, against calculations by hand.

use std::path::PathBuf;

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

/// Runs a library on a log; `arrivals` are further options of the log.
fn try_run(name: &str, log: &str, library: &str, arrivals: &str) -> Result<Results, String> {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("headrace-sessions-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("log.csv"), format!("time_s,op,file,drive_s,silo\n{log}")).unwrap();
    let cartridge = if library.contains("device: ") { "" } else { "cartridge: 1 GB, " };
    let text = format!(
        "system: {{tapes: {{type: tape_library, {cartridge}{library}}}}}\n\
         workload: {{sessions: {{to: tapes, arrivals: {{log: {{file: log.csv{arrivals}}}}}}}}}\n"
    );
    let file = folder.join("library.yaml");
    let found = simulate(&text, file.to_str().unwrap(), &[], &Options::default(), &Progress::default());
    let _ = std::fs::remove_dir_all(&folder);
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

fn run(name: &str, log: &str, library: &str, arrivals: &str) -> Results {
    try_run(name, log, library, arrivals).unwrap_or_else(|problems| panic!("{problems}"))
}

/// All responses together, in s, and the number of mounts.
fn totals(results: &Results) -> (f64, f64) {
    let stream = &results.streams[0];
    let sum = stream.response.mean_ms * stream.completed as f64 / 1e3;
    ((sum * 1e6).round() / 1e6, results.components[0].meters["mounts"].unwrap())
}

/// Sessions have no bytes, and none are spoken of. Replications of a log vary nothing: what peaks does not add up, and nothing drifts.
#[test]
fn replications_of_sessions_are_what_they_are() {
    let log: String = (0..300).map(|at| format!("{},session,c{},40,\n", at * 60, at % 9)).collect();
    let three = run(
        "three",
        &log,
        "groups: [{drives: 2}], move: 5 s, load: 10 s",
        "}}}}\nrun: {replications: 3} # {{{{",
    );
    assert!(three.answer.contains(" requests/s, mean"), "{}", three.answer);
    assert_eq!(three.components[0].meters["most_drives_busy"], Some(1.0));
    assert!(three.notes.iter().any(|note| note.contains("replay the same requests")), "{:?}", three.notes);
    assert!(!three.notes.iter().any(|note| note.contains("steady state")), "{:?}", three.notes);
    assert_eq!(three.components[0].servers, 2);
}

/// Sessions of 90 s with a mount of 10 s each, every 50 s: of ten drives one can mount their cartridges, or all want one cartridge. Each way
/// half of what is asked is done. The same load over ten drives is a fifth of what they can do.
#[test]
fn what_no_other_drive_can_do_is_the_bottleneck() {
    let log = |cartridge: &dyn Fn(u32) -> u32| -> String {
        (0..40).map(|at| format!("{},session,c{},90,0\n", at * 50, cartridge(at))).collect()
    };
    let bottleneck = |name: &str, log: &str, library: &str| {
        run(name, log, &format!("load: 10 s, {library}"), "").bottleneck.unwrap()
    };
    let own = bottleneck("own", &log(&|at| at), "groups: [{drives: 1}, {drives: 9}]");
    assert_eq!(own.what.as_deref(), Some("drives of groups[0]"));
    assert!(own.saturated && (own.saturates_at.unwrap() - 1950.0 / 4000.0).abs() < 1e-3, "{own:?}");
    // Only the first session mounts the cartridge.
    let hot = bottleneck("hot", &log(&|_| 0), "groups: [{drives: 10}]");
    assert_eq!(hot.what.as_deref(), Some("one cartridge"));
    assert!(hot.saturated && (hot.saturates_at.unwrap() - 1950.0 / 3610.0).abs() < 1e-3, "{hot:?}");
    let any = bottleneck("any", &log(&|at| at), "groups: [{drives: 10, arms: 10}]");
    assert_eq!(any.what, None);
    assert!((any.utilisation - 40.0 * 100.0 / 2050.0 / 10.0).abs() < 1e-6 && !any.saturated, "{any:?}");
    // Each mount takes an arm for 40 s, and no less than 40 s pass between two: one arm of one is busier than eight drives.
    let arm = bottleneck("arm", &log(&|at| at), "move: 40 s, groups: [{drives: 20}]");
    assert_eq!(arm.what.as_deref(), Some("arms of groups[0]"));
}

const ONE: &str = "groups: [{drives: 1}], move: 5 s, load: 10 s";

#[test]
fn a_session_takes_its_mount_and_its_time() {
    assert_eq!(totals(&run("alone", "0,session,a,100,\n", ONE, "")), (115.0, 1.0));
    // The second waits for the first, and for its cartridge to be put away.
    let two = run("two", "0,session,a,100,\n0,session,b,100,\n", ONE, "");
    assert_eq!(totals(&two), (115.0 + 115.0 + 5.0 + 115.0, 2.0));
}

/// The first session ends although its drive, or its arm, has failed by then; the second waits until it returns.
#[test]
fn a_drive_or_an_arm_that_fails_does_nothing_until_it_returns() {
    let log = "0,session,a,100,\n0,session,b,100,\n";
    for piece in ["drive[0]", "arm[0]"] {
        let fault = format!(
            "}}}}}}}}\nfaults: [{{component: 'tapes/{piece}', fails: 10 s, returns: 500 s}}] # {{{{{{{{"
        );
        let found = run(&format!("fails-{}", &piece[..3]), log, ONE, &fault);
        assert_eq!(totals(&found), (115.0 + 500.0 + 5.0 + 115.0, 2.0), "{piece}");
        assert_eq!(found.phases[1].after, [format!("tapes/{piece} fails")]);
    }
    // The other drive takes over; nobody waits for the first.
    let two = ONE.replace("drives: 1", "drives: 2");
    let fault = "}}}}\nfaults: [{component: 'tapes/drive[0]', fails: 0 s}] # {{{{";
    assert_eq!(totals(&run("one-of-two", "1,session,a,100,\n", &two, fault)), (115.0, 1.0));
}

/// What has failed does no work: neither a failed arm nor a failed drive is in use, and utilisation is that of the others.
#[test]
fn what_has_failed_is_not_in_use() {
    let log: String = (0..10).map(|at| format!("{},session,c{at},85,\n", at * 100)).collect();
    let with = |name: &str, piece: &str, when: &str| {
        let fault = format!("}}}}}}}}\nfaults: [{{component: 'tapes/{piece}', {when}}}] # {{{{{{{{");
        run(name, &log, "groups: [{drives: 2, arms: 2}], move: 5 s, load: 10 s", &fault)
    };
    let portion = |found: &Results, what: &str| {
        let all = &found.components[0].portions;
        all.iter().find(|portion| portion.what == what).unwrap().clone()
    };
    // A session takes 5 + 10 + 85 s, and 5 s to put its cartridge away: the next one comes before that. Ten mounts and nine or ten
    // dismounts are 20 moves at most, by the arm that is left.
    let arm = with("arm-away", "arm[1]", "fails: 0 s");
    let (arms, end) = (portion(&arm, "arms of groups[0]"), arm.simulated_s);
    assert!((arms.unavailable.unwrap() - 1.0).abs() < 1e-9, "{arms:?}");
    assert!(arms.utilisation >= 95.0 / end && arms.utilisation <= 100.0 / end, "{arms:?} in {end} s");
    // One drive is left, and in use from the first session on, except while nobody wants it.
    let drive = with("drive-away", "drive[1]", "fails: 0 s, returns: 300 s");
    let drives = &drive.components[0];
    let by_hand = 300.0 / drive.simulated_s;
    assert!((drives.unavailable.unwrap() - by_hand).abs() < 1e-9, "{:?}", drives.unavailable);
    let busy = drives.utilisation.unwrap() * (2.0 - by_hand) * drive.simulated_s;
    // Its cartridge is put away while nobody wants the drive, or by the next session, up to nine times in 5 s.
    assert!((-1.0..=46.0).contains(&(busy - drives.service_ms / 1e3 * 10.0)), "{busy} drive-seconds");
    assert!(drive.notes.iter().any(|note| note.contains("of 2 had failed on average")), "{:?}", drive.notes);
}

/// A cartridge is put away in 10 s, by the next session or before it comes: each takes 10 + 10 + 70 + 10 s of a drive, however seldom they come.
#[test]
fn putting_a_cartridge_away_is_work_whoever_waits() {
    for (name, gap) in [("seldom", 400), ("often", 110)] {
        let log: String = (0..100).map(|at| format!("{},session,c{at},70,\n", at * gap)).collect();
        let found = run(name, &log, "groups: [{drives: 1}], move: 10 s, load: 10 s", "");
        let library = &found.components[0];
        // The last is put away after the end.
        let used = library.utilisation.unwrap() * found.simulated_s;
        assert!((used - 9990.0).abs() < 1.0, "{name}: {used} s");
        let group = library.portions.iter().find(|one| one.what == "drives of groups[0]").unwrap();
        assert!((group.utilisation - library.utilisation.unwrap()).abs() < 1e-9, "{group:?}");
    }
}

const TWO: &str = "groups: [{drives: 2, arms: 2}], move: 10 s, load: 20 s, unload: 40 s";

/// The first cartridge is put away from 40 s to 90 s, the second from 80 s to 130 s: the third session, which came at 75 s, has the drive that is
/// empty first, and the fourth the other one.
#[test]
fn a_session_has_the_drive_that_is_empty_first() {
    let log = "0,session,a,10,\n40,session,b,10,\n75,session,c,10,\n120,session,d,10,\n";
    let waits = (90.0 - 75.0) + (130.0 - 120.0);
    assert_eq!(totals(&run("empty-first", log, TWO, "")), (4.0 * 40.0 + waits, 4.0));
}

/// A session that comes for a held cartridge while another drive is about to be empty for the one before it has its cartridge at once.
#[test]
fn one_cartridge_is_put_away_for_one_session() {
    let log =
        "0,session,a,10,\n40,session,b,10,\n1000,session,c,10,\n1001,session,b,10,\n1041,session,d,10,\n";
    let found = run("one-away", log, &format!("{TWO}, hold: 10 h"), "");
    // The third waits 50 s until the drive that was unused longest is empty, the fourth for nothing, the fifth for the drive of the fourth.
    assert_eq!(totals(&found), (4.0 * 40.0 + 10.0 + 2.0 * 50.0, 4.0));
}

/// The drive that is about to be empty fails at 1010 s: the cartridge of the other one is put away from then on.
#[test]
fn a_session_does_not_wait_for_a_drive_that_fails_before_it_is_empty() {
    let log = "0,session,a,10,\n40,session,b,10,\n1000,session,c,10,\n";
    let fault = "}}}}\nfaults: [{component: 'tapes/drive[0]', fails: 1010 s}] # {{{{";
    let found = run("fails-emptying", log, &format!("{TWO}, hold: 10 h"), fault);
    assert_eq!(totals(&found), (3.0 * 40.0 + 10.0 + 50.0, 3.0));
}

/// The cartridge of the fourth session is put away from 140 s to 190 s, and its drive is for that session again: the fifth has the other drive,
/// idle since 141 s, whose cartridge is put away from 150 s on.
#[test]
fn a_session_whose_cartridge_is_put_away_needs_a_drive_too() {
    let log = "0,session,a,10,\n1,session,b,10,\n131,session,b,10,\n145,session,a,10,\n150,session,x,10,\n";
    let found = run("comes-back", log, &format!("{TWO}, hold: 100 s"), "");
    assert_eq!(totals(&found), (40.0 + 40.0 + 10.0 + 85.0 + 90.0, 4.0));
}

/// One drive is cleaned after its second cartridge is put away, from 390 s to 1010 s: nothing is left to it.
#[test]
fn a_session_does_not_wait_for_a_drive_that_is_cleaned() {
    let log = "0,session,a,310,\n1,session,b,10,\n200,session,c,10,\n345,session,x,10,\n";
    let cleaned = format!("{TWO}, hold: 100 s, cleaning: {{mounts: 2, time: 10 min}}");
    assert_eq!(totals(&run("cleaned-later", log, &cleaned, "")), (340.0 + 40.0 + 40.0 + 90.0, 4.0));
}

/// A cartridge that is not put away any more when its drive returns was used before that of the other drive, which stays.
#[test]
fn a_drive_that_was_away_was_not_used() {
    let log = "0,session,a,10,\n100,session,b,10,\n200,session,x,10,\n300,session,b,10,\n";
    let fault = "}}}}\nfaults: [{component: 'tapes/drive[0]', fails: 150 s, returns: 160 s}] # {{{{";
    let found = run("was-away", log, &format!("{TWO}, hold: 10000 s"), fault);
    assert_eq!(totals(&found), (40.0 + 40.0 + 90.0 + 10.0, 3.0));
}

/// Requests gather for a cartridge that is being put away as for one in its cell.
#[test]
fn sessions_accumulate_for_a_cartridge_that_is_put_away() {
    let one = TWO.replace("drives: 2, arms: 2", "drives: 1");
    let gathering = format!("{one}, hold: 100 s, recall: by_cartridge, accumulate: 100 s");
    let found = run("gathers-again", "0,session,a,10,\n245,session,a,10,\n", &gathering, "");
    assert_eq!(totals(&found), (140.0 + 140.0, 2.0));
}

/// Libraries whose cartridges pass to each other in 20 s.
fn passing(drives: [u32; 2]) -> String {
    let groups = drives.map(|drives| format!("{{drives: {drives}, arms: {drives}}}")).join(", ");
    format!("groups: [{groups}], move: 10 s, load: 20 s, unload: 40 s, hold: 10000 s, pass_through: 20 s")
}

/// The second session has the empty drive of the other library, at once and before the third, which waits for a cartridge to be put away.
#[test]
fn an_empty_drive_elsewhere_goes_before_one_that_has_a_cartridge() {
    let log = "0,session,h,10,0\n100,session,r,10,0\n101,session,s,10,0\n";
    assert_eq!(totals(&run("elsewhere", log, &passing([1, 1]), "")), (40.0 + 70.0 + 90.0, 3.0));
}

/// A session for a held cartridge finds it there, whatever other sessions wait for: one cartridge is put away for each, in any library.
#[test]
fn no_cartridge_is_put_away_in_vain_where_they_pass() {
    // The drive of the second session is not emptied for the third at 103.5 s: that has the other from 150 s on.
    let log = "0,session,h,10,0\n0.5,session,g,73,1\n100,session,r,10,0\n200,session,g,10,1\n";
    assert_eq!(totals(&run("left-alone", log, &passing([1, 1]), "")), (40.0 + 103.0 + 90.0 + 10.0, 3.0));
    // One drive takes the place of one that fails, in the library of the cartridge.
    let log =
        "0,session,a,10,0\n1,session,b,10,1\n2,session,c,10,1\n200,session,x,10,1\n300,session,a,10,0\n";
    let fault = "}}}}\nfaults: [{component: 'tapes/drive[1]', fails: 210 s, returns: 1000 s}] # {{{{";
    let found = run("one-for-one", log, &passing([1, 2]), fault);
    assert_eq!(totals(&found), (3.0 * 40.0 + 100.0 + 10.0, 4.0));
}

/// Each group has a device, so nothing uses what the library says of drives and cartridges.
#[test]
fn fields_that_no_group_uses_are_refused() {
    let groups = "groups: [{drives: 1, device: lto-8}, {drives: 1, device: lto-9}]";
    for field in ["load: 1 h", "drive_rate: 10 MB/s", "first_load: 17 s", "cartridge: 1 TB"] {
        let said = try_run("unused", "0,session,a,100,0\n", &format!("{groups}, {field}"), "").unwrap_err();
        let name = field.split(':').next().unwrap();
        assert!(
            said.contains(&format!("`{name}` is not used: each group has a `device` of its own")),
            "{said}"
        );
    }
    assert!(
        run("used", "0,session,a,100,0\n", "groups: [{drives: 1}], device: lto-9, load: 1 h", "").complete
    );
}

/// Two mounts wait for the arm when it fails, and until it returns: it finishes one move, and does no other.
#[test]
fn an_arm_that_fails_leaves_who_waits_for_it() {
    let log = "0,session,a,50,\n0,session,b,50,\n0,session,c,50,\n";
    let fault = "}}}}\nfaults: [{component: 'tapes/arm[0]', fails: 2 s, returns: 100 s}] # {{{{";
    let found = run("arm-waits", log, "groups: [{drives: 3}], move: 5 s, load: 10 s", fault);
    // The first is mounted at 5 s; the others from 100 s on, before its own cartridge is put away or after it.
    let (all, mounts) = totals(&found);
    assert_eq!(mounts, 3.0);
    assert_eq!(all, 65.0 + (100.0 + 65.0) + (105.0 + 65.0));
}

#[test]
fn a_replay_by_gaps_asks_later_where_the_library_is_slower() {
    let log = "0,session,a,100,\n110,session,a,100,\n";
    let times = |arrivals: &str| totals(&run("gaps", log, ONE, arrivals)).0;
    // At 110 the cartridge is still in use, until 115, and no other is wanted.
    assert_eq!(times(""), 115.0 + 5.0 + 100.0);
    // The log has 10 s between the sessions: the second is asked for at 125, when the cartridge was put away.
    assert_eq!(times(", timing: gaps"), 115.0 + 115.0);
    // At twice the speed the gap is half of it: at 120 the arm has just put it away.
    assert_eq!(times(", timing: gaps, speed: 2"), 115.0 + 115.0);
    let held = run("held", log, &format!("{ONE}, hold: 9 s"), ", timing: gaps");
    assert_eq!(totals(&held), (115.0 + 4.0 + 115.0, 2.0));
    let held = run("longer", log, &format!("{ONE}, hold: 11 s"), ", timing: gaps");
    assert_eq!(totals(&held), (115.0 + 100.0, 1.0), "it is still in the drive");
}

#[test]
fn cartridges_pass_to_another_group_where_their_own_is_busy() {
    let log = "0,session,a,100,0\n0,session,b,100,0\n";
    let groups = "groups: [{drives: 1}, {drives: 1}], move: 5 s, load: 10 s";
    assert_eq!(totals(&run("apart", log, groups, "")), (115.0 + 235.0, 2.0));
    // The arm of its own group brings the one for the first drive, then the other to the elevator.
    let together = run("pass", log, &format!("{groups}, pass_through: 20 s"), "");
    assert_eq!(totals(&together), (115.0 + 5.0 + 5.0 + 20.0 + 5.0 + 10.0 + 100.0, 2.0));
    assert_eq!(together.components[0].meters["passed_through"], Some(1.0));
}

#[test]
fn requests_that_accumulate_take_one_mount() {
    let log = "0,session,a,30,\n50,session,b,30,\n90,session,a,30,\n";
    let batched = format!("{ONE}, recall: by_cartridge");
    assert_eq!(totals(&run("now", log, &batched, "")).1, 3.0);
    let later = run("later", log, &format!("{batched}, accumulate: 100 s"), "");
    // a at 100: mounted at 115, used until 145 and 175; b at 150, from 175 on: put away, mounted, used.
    assert_eq!(totals(&later), (145.0 + (175.0 - 90.0) + (175.0 + 5.0 + 15.0 + 30.0 - 50.0), 2.0));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |log: &str, library: &str, arrivals: &str, says: &str| {
        let problems = try_run("refused", log, library, arrivals).unwrap_err();
        assert!(problems.contains(says), "{problems}");
    };
    let log = "0,session,a,30,\n";
    refused("0,stage,a,30,\n", ONE, "", "is not a valid number of `bytes`");
    refused("0,session,a,,\n", ONE, "", "line 2: a session needs the seconds for which it uses its drive");
    refused("0,session,a,30,1\n", ONE, "", "a cartridge lies in silo 1; `tapes` has silos 0 to 0");
    refused(log, &format!("{ONE}, accumulate: 1 min"), "", "set `recall: by_cartridge`");
    refused(
        log,
        "groups: [{drives: 2, for_reads: 2, for_writes: 1}]",
        "",
        "more drives of a group are reserved",
    );
    let archive = "type: disk_pool, chains: 1, volumes: 1, volume: 1 GB, rate: 1 MB/s";
    let folder = std::env::temp_dir().join(format!("headrace-sessions-{}-archive", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("log.csv"), "time_s,op,file,drive_s\n0,session,a,3\n").unwrap();
    let text = format!(
        "system: {{pool: {{{archive}}}, archive: {{type: archive, pool: pool}}}}\n\
         workload: {{sessions: {{to: archive, arrivals: {{log: log.csv}}}}}}\n"
    );
    let file = folder.join("archive.yaml");
    let found = simulate(&text, file.to_str().unwrap(), &[], &Options::default(), &Progress::default());
    let problems = found.err().map(|problems| problems.rendered()).unwrap_or_default();
    assert!(problems.contains("1 session of cartridges"), "{problems}");
    let _ = std::fs::remove_dir_all(&folder);
}

/// Ten drives share one arm: the n-th mount waits for n − 1 moves of 5 s. That is waiting; service is a move, a load and the session,
/// however many arms there are.
#[test]
fn the_wait_for_an_arm_is_waiting() {
    let log: String = (0..10).map(|at| format!("0,session,c{at},100,\n")).collect();
    for (arms, waiting_s) in [(1, 22.5), (2, 10.0), (10, 0.0)] {
        let library = format!("groups: [{{drives: 10, arms: {arms}}}], move: 5 s, load: 10 s");
        let found = run(&format!("arms-{arms}"), &log, &library, "");
        let [leg] = &found.streams[0].path[..] else { panic!("{:?}", found.streams[0].path) };
        assert!((leg.waiting_ms / 1e3 - waiting_s).abs() < 1e-6, "{arms}: {leg:?}");
        assert!((leg.service_ms / 1e3 - 115.0).abs() < 1e-6, "{arms}: {leg:?}");
    }
}

/// With one of two drives kept empty, the third cartridge need not wait until the first is put away: that was done after the second came.
#[test]
fn a_drive_that_is_kept_free_takes_the_next_cartridge_at_once() {
    let log = "0,session,a,100,\n1000,session,b,100,\n2000,session,c,100,\n3000,session,a,100,\n";
    let with = |name: &str, more: &str| {
        totals(&run(
            name,
            log,
            &format!("groups: [{{drives: 2}}], move: 5 s, load: 10 s, hold: 10 h{more}"),
            "",
        ))
    };
    assert_eq!(with("none-free", ""), (4.0 * 115.0 + 2.0 * 5.0, 4.0));
    assert_eq!(with("one-free", ", free_drives: 1"), (4.0 * 115.0, 4.0));
    // More than there are drives: all that are unused are emptied, and nothing waits for ever.
    assert_eq!(with("all-free", ", free_drives: 9"), (4.0 * 115.0, 4.0));
}

/// The arm goes 3 s to the first cartridge and 3 s back. It puts that away, and stands where the second one is.
#[test]
fn an_arm_travels_to_cells_and_back() {
    let cells = "move: 2 s, prepare: 15 s, cells: {modules: [{cells: 10, travel: 3 s}]}";
    let log = "0,session,a,100,\n0,session,b,100,\n";
    let found = run("cells", log, &format!("groups: [{{drives: 1}}], {cells}"), "");
    let (first, away, second) = (15.0 + 2.0 + 6.0 + 100.0, 2.0 + 3.0, 15.0 + 2.0 + 3.0 + 100.0);
    assert_eq!(totals(&found), (first + first + away + second, 2.0));
    let refused = "cells: {modules: [{cells: 1, travel: 3 s}, {cells: 1, travel: 2 s}]}";
    let problems = try_run("order", log, &format!("groups: [{{drives: 1}}], {refused}"), "").unwrap_err();
    assert!(problems.contains("the nearest first"), "{problems}");
}

/// One cell is near. A cartridge that was used once has it, until the other has been used ten times and an hour is over. When that one is put
/// away at 5000 s, far as before, an idle arm moves the first away; at 6000 s it gets the near cell, and its last session begins 29 s sooner.
#[test]
fn cartridges_that_have_cooled_down_make_room_near_the_drives() {
    let hot: String = (1..=10).map(|at| format!("{},session,hot,10,\n", at * 200)).collect();
    let log = format!(
        "0,session,cold,10,\n{hot}{}",
        [5000, 6000, 7000].map(|at| format!("{at},session,hot,10,\n")).concat()
    );
    let with = |relocate: bool| {
        let modules = "[{cells: 1, travel: 1 s}, {cells: 100, travel: 30 s}]";
        let cells = format!("cells: {{modules: {modules}, placement: {{heat: {{relocate: {relocate}}}}}}}");
        run(&format!("heat-{relocate}"), &log, &format!("groups: [{{drives: 1}}], move: 2 s, {cells}"), "")
    };
    let (moved, stayed) = (with(true), with(false));
    assert_eq!(moved.components[0].meters["relocated"], Some(1.0));
    assert_eq!(totals(&stayed).0 - totals(&moved).0, 29.0);
}

/// Two groups of drives of different generations, each with its cartridges: loads and rewinds are those of the drive, and without
/// compatibility no elevator brings a cartridge to the wrong one. An LTO-9 drive takes LTO-8 cartridges.
#[test]
fn drives_of_two_generations_take_the_cartridges_that_they_know() {
    let library =
        "groups: [{drives: 1, device: lto-8}, {drives: 1, device: lto-9}], move: 5 s, pass_through: 20 s";
    // Two cartridges of LTO-8: the second goes to the free LTO-9 drive. Of LTO-9, the second waits for the first.
    let of = |silo: u32| format!("0,session,a,100,{silo}\n0,session,b,100,{silo}\n");
    let passed = run("lto-8", &of(0), library, "");
    assert_eq!(passed.components[0].meters["passed_through"], Some(1.0));
    assert_eq!(totals(&passed), ((5.0 + 15.0 + 100.0) + (5.0 + 5.0 + 20.0 + 5.0 + 15.0 + 100.0), 2.0));
    let waited = run("lto-9", &of(1), library, "");
    assert_eq!((waited.components[0].meters["passed_through"], totals(&waited).1), (Some(0.0), 2.0));
    let wrong = try_run("no-drive", &of(0), "groups: [{drives: 1, device: exos-x18}]", "").unwrap_err();
    assert!(wrong.contains("`exos-x18` is a disk"), "{wrong}");
}

/// A drive is cleaned after its second mount: a cleaning cartridge is brought, and taken away. Nobody waits for that while no session comes.
#[test]
fn a_drive_is_cleaned_when_it_is_due() {
    let log: String = (0..5).map(|at| format!("{},session,c{at},100,\n", at * 2000)).collect();
    let found = run("cleaning", &log, &format!("{ONE}, cleaning: {{mounts: 2, time: 300 s}}"), "");
    assert_eq!(found.components[0].meters["cleanings"], Some(2.0));
    assert_eq!(totals(&found), (5.0 * 115.0, 5.0));
    let response = &found.streams[0].response;
    assert!(response.max_ms < response.mean_ms + 1e-6, "{} {}", response.max_ms, response.mean_ms);
}
