//! Archives against calculations by hand, and any archive against the invariants.

use std::path::PathBuf;

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;
use proptest::prelude::*;

use crate::near::near;

/// A scenario and its log in a folder of its own.
pub struct Case {
    folder: PathBuf,
}

impl Case {
    pub fn new(name: &str, log: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("headrace-archive-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let header = "time_s,op,user,host,file,bytes,staged,cartridge,position_bytes";
        std::fs::write(folder.join("jobs.csv"), format!("{header}\n{log}")).unwrap();
        Self { folder }
    }

    pub fn try_run(&self, system: &str) -> Result<Results, String> {
        let text =
            format!("system:\n{system}\nworkload: {{jobs: {{to: archive, arrivals: {{log: jobs.csv}}}}}}\n");
        let file = self.folder.join("archive.yaml");
        let found = simulate(&text, file.to_str().unwrap(), &[], &Options::default(), &Progress::default());
        found.map(|found| found.results).map_err(|problems| problems.rendered())
    }

    /// Checks that a system is refused with a message that says this.
    #[track_caller]
    pub fn refuses(&self, system: &str, says: &str) {
        let problems = self.try_run(system).unwrap_err();
        assert!(problems.contains(says), "{problems}");
    }

    pub fn run(&self, system: &str) -> Results {
        self.try_run(system).unwrap_or_else(|problems| panic!("{problems}"))
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub const POOL: &str = "  disks: {type: disk_pool, chains: 2, volumes: 2, volume: 100 MB, rate: 5 MB/s}\n";
const FRONT: &str = "  front: {type: front, put_latency: 0.5 s, get_latency: 0.25 s";

pub fn archive(parts: &str) -> String {
    format!("  archive: {{type: archive, pool: disks{parts}}}\n")
}

/// The mean response of an operation, or of all where there is only one, in s.
pub fn mean(results: &Results, op: &str) -> f64 {
    let stream = &results.streams[0];
    stream.operations.get(op).unwrap_or(&stream.response).mean_ms / 1e3
}

pub fn meter(results: &Results, path: &str, name: &str) -> f64 {
    let component = results.components.iter().find(|component| component.path == path).unwrap();
    component.meters[name].unwrap_or_else(|| panic!("{path} has no {name}"))
}

/// What the requests waited, were served and were blocked at a component on average, in s.
fn leg(results: &Results, component: &str) -> [f64; 3] {
    let found = results.streams[0].path.iter().find(|leg| leg.component == component);
    found.map_or([0.0; 3], |leg| [leg.waiting_ms / 1e3, leg.service_ms / 1e3, leg.blocked_ms / 1e3])
}

#[track_caller]
pub fn is(found: f64, expected: f64) {
    near(found, expected, 1e-6);
}

#[test]
fn a_put_alone_takes_its_latency_and_its_data() {
    let case = Case::new("alone", "0,put,u,h,a,50000000,\n100,get,v,h,a,50000000,\n");
    let results = case.run(&(POOL.to_owned() + FRONT + "}\n" + &archive(", front: front")));
    is(mean(&results, "put"), 0.5 + 10.0);
    is(mean(&results, "get"), 0.25 + 10.0);
    is(leg(&results, "front")[1], 0.375);
    is(leg(&results, "disks")[1], 10.0);
    is(meter(&results, "archive", "pool_hit_ratio"), 1.0);
}

/// Two volumes of a chain share its rate; chains share the network, whose directions do not share.
#[test]
fn transfers_share_chains_and_network() {
    let network = "  net: {type: network, rate: 6 MB/s}\n";
    let two = Case::new("two", "0,put,u,h,a,30000000,\n0,put,u,h,b,30000000,\n");
    let same = two.run(&(POOL.to_owned() + network + &archive(", network: net")));
    is(mean(&same, "put"), 12.0);
    is(leg(&same, "disks")[0], 6.0);
    let apart = POOL.replace("rate:", "allocate: across_chains, rate:");
    let apart = two.run(&(apart + network + &archive(", network: net")));
    is(mean(&apart, "put"), 10.0);
    is(leg(&apart, "net")[0], 5.0);
    let both = Case::new("ways", "0,get,u,h,a,30000000,0\n0,put,u,h,b,30000000,\n");
    let spread = "  disks: {type: disk_pool, chains: 2, volumes: 1, volume: 100 MB, rate: 5 MB/s}\n";
    let full = both.run(&(spread.to_owned() + network + &archive(", network: net")));
    is(mean(&full, "put").max(mean(&full, "get")), 6.0);
    let half = network.replace("}", ", half_duplex: true}");
    let half = both.run(&(spread.to_owned() + &half + &archive(", network: net")));
    is(mean(&half, "put").max(mean(&half, "get")), 10.0);
}

/// A client's own limit leaves the rest to others.
#[test]
fn a_slow_client_is_charged_to_the_front() {
    let case = Case::new("slow", "0,put,u,h,a,10000000,\n");
    let results = case.run(
        &(POOL.to_owned() + "  front: {type: front, client_rate: 1 MB/s}\n" + &archive(", front: front")),
    );
    is(mean(&results, "put"), 10.0);
    is(leg(&results, "front")[1], 10.0);
}

/// One host after another, each with a transfer of 10 MB at its own rate; a host has the same rate in all of its transfers.
#[test]
fn hosts_differ_by_a_factor_that_each_keeps() {
    let lines: String =
        (0..400).map(|at| format!("{},put,u,h{},f{at},10000000,\n", at * 1000, at / 2)).collect();
    let case = Case::new("hosts", &lines);
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 10 GB, rate: 1 GB/s}\n";
    let front = "  front: {type: front, put_latency: 2 s, client_rate: 1 MB/s, between_hosts: {rate: 0.5, latency: 0.2}}\n";
    let results = case.run(&(pool.to_owned() + front + &archive(", front: front")));
    let response = &results.streams[0].response;
    // 1 / rate has the mean (1 + cv²) / rate; the mean over 200 hosts is known to 0.4 s.
    near(response.mean_ms / 1e3, 2.0 + 10.0 * 1.25, 1.2);
    assert!(response.sd_ms / 1e3 > 3.0, "hosts differ: {}", response.sd_ms);
    let alike = front.replace("rate: 0.5, latency: 0.2", "");
    let alike = case.run(&(pool.to_owned() + &alike + &archive(", front: front")));
    is(mean(&alike, "put"), 12.0);
}

/// Every transfer stands still for 3 s, with its port held: the second waits for the first.
#[test]
fn a_stall_holds_the_port() {
    let case = Case::new("stall", "0,put,u,h,a,5000000,\n0,put,u,h,b,5000000,\n");
    let front = "  front: {type: front, put_latency: 0.5 s, ports: [{number: 1}], stalls: {share: 100 %, time: 3 s}}\n";
    let results = case.run(&(POOL.to_owned() + front + &archive(", front: front")));
    is(mean(&results, "put"), (4.5 + 9.0) / 2.0);
    is(meter(&results, "front", "waiting_for_ports"), 0.5);
}

/// Of transfers of 5 MB half stand still for 100 s; of those of 10 MB three quarters do.
#[test]
fn larger_transfers_stand_still_more_often() {
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 100 GB, rate: 1 GB/s}\n";
    let front = "  front: {type: front, stalls: {share: 50 %, per: 5 MB, time: 100 s}}\n";
    for (bytes, share) in [(5_000_000, 0.5), (10_000_000, 0.75)] {
        let lines: String = (0..2000).map(|at| format!("{},put,u,h,f{at},{bytes},\n", at * 1000)).collect();
        let results = Case::new("per", &lines).run(&(pool.to_owned() + front + &archive(", front: front")));
        near(mean(&results, "put") / 100.0, share, 0.04);
    }
}

/// An attempt that fails has moved half of its data on average. Until the last begins, the request is blocked at the front.
#[test]
fn attempts_that_fail_are_made_again_and_at_last_given_up() {
    let lines: String = (0..400).map(|at| format!("{},put,u,h,f{at},10000000,\n", at * 1000)).collect();
    let case = Case::new("attempts", &lines);
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 10 GB, rate: 1 MB/s}\n";
    let with = |failures: &str| {
        let front = format!("  front: {{type: front, put_latency: 1 s, failures: {{{failures}}}}}\n");
        case.run(&(pool.to_owned() + &front + &archive(", front: front")))
    };
    let some = with("share: 50 %, retry_after: 20 s, attempts: 100");
    let failed = meter(&some, "front", "failed_attempts") / 400.0;
    near(failed, 1.0, 0.25);
    // A failed attempt takes its latency, 5 s of data on average, and the wait for the next.
    near(leg(&some, "front")[2], 26.0 * failed, 0.6);
    is(leg(&some, "front")[1] + leg(&some, "disks")[1], 11.0);
    assert_eq!(some.streams[0].failed, 0);
    let never = with("share: 100 %, retry_after: 20 s, attempts: 2");
    assert_eq!(never.streams[0].failed, 400);
    is(meter(&never, "front", "failed_attempts"), 800.0);
    is(meter(&never, "disks", "fill"), 0.0);
}

/// Two gets of a file whose attempts fail leave it in the pool, and its pins are given back: it can be deleted.
#[test]
fn a_get_that_fails_leaves_its_file_alone() {
    let case =
        Case::new("refused", "0,get,u,h,a,5000000,0\n50,get,u,h,a,5000000,0\n100,delete,u,h,a,5000000,\n");
    let front = "  front: {type: front, failures: {share: 100 %, attempts: 1}}\n";
    let results = case.run(&(POOL.to_owned() + front + &archive(", front: front")));
    assert_eq!(results.streams[0].failed, 2);
    is(meter(&results, "front", "failed_attempts"), 2.0);
}

/// With one block in flight, a file has the network or its chain at a time: 10 MB take 10/5 s and 10/2.5 s. Two files fill each other's gaps.
#[test]
fn one_block_in_flight_goes_over_one_link_after_the_other() {
    let network = "  net: {type: network, rate: 2.5 MB/s}\n";
    let front = "  front: {type: front, block_in_flight: 1 MB}\n";
    let parts = archive(", front: front, network: net");
    let alone = Case::new("block", "0,put,u,h,a,10000000,\n");
    let results = alone.run(&(POOL.to_owned() + network + front + &parts));
    is(mean(&results, "put"), 6.0);
    is(leg(&results, "net")[1], 4.0);
    let freely = alone.run(&(POOL.to_owned() + network + "  front: {type: front}\n" + &parts));
    is(mean(&freely, "put"), 4.0);
    let limited = front.replace("block", "client_rate: 1 MB/s, block");
    let limited = alone.run(&(POOL.to_owned() + network + &limited + &parts));
    is(mean(&limited, "put"), 12.0);
}

#[test]
fn clients_that_cannot_be_are_refused() {
    let case = Case::new("clients", "0,put,u,h,a,1,\n");
    for (field, says) in [
        ("between_hosts: {rate: 0.5}", "there is no `client_rate` that could differ"),
        ("block_in_flight: 0 B", "a block of 0 B moves nothing"),
        ("stalls: {share: 5 %, per: 0 B, time: 1 s}", "transfers of 0 B move nothing"),
        ("stalls: {share: 5 %, time: {uniform: {from: 2 s, to: 1 s}}}", "must be less than `to`"),
    ] {
        let front = format!("  front: {{type: front, {field}}}\n");
        let said = case.try_run(&(POOL.to_owned() + &front + &archive(", front: front"))).unwrap_err();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_user_at_the_limit_is_blocked_and_others_are_not() {
    let log = "0,put,u,h,a,5000000,\n0,put,u,h,b,5000000,\n0,put,v,h,c,5000000,\n";
    let case = Case::new("limit", log);
    let pool = "  disks: {type: disk_pool, chains: 3, volumes: 1, volume: 100 MB, rate: 5 MB/s}\n".to_owned();
    let results =
        case.run(&(pool.clone() + "  front: {type: front, per_user: 1}\n" + &archive(", front: front")));
    is(mean(&results, "put"), (1.0 + 2.0 + 1.0) / 3.0);
    is(leg(&results, "front")[2], 1.0 / 3.0);
    is(meter(&results, "front", "held_back_share"), 1.0 / 3.0);
    is(meter(&results, "front", "held_back_by_limits"), 0.5);
    let by_host = case.run(&(pool + "  front: {type: front, per_host: 1}\n" + &archive(", front: front")));
    is(mean(&by_host, "put"), (1.0 + 2.0 + 3.0) / 3.0);
}

/// One user of two has three transfers of 1 s at a time where two are allowed: the limit is in use for 2 s of 2 and keeps one waiting for 1.
#[test]
fn a_limit_has_a_utilisation_of_its_own() {
    let log = "0,put,u,h,a,5000000,\n0,put,u,h,b,5000000,\n0,put,u,h,c,5000000,\n0,put,v,i,d,5000000,\n";
    let case = Case::new("own-limit", log);
    let pool = "  disks: {type: disk_pool, chains: 4, volumes: 1, volume: 100 MB, rate: 5 MB/s}\n".to_owned();
    let front = "  front: {type: front, per_user: 2, per_host: 9}\n";
    let results = case.run(&(pool + front + &archive(", front: front")));
    let front = results.components.iter().find(|component| component.path == "front").unwrap();
    let limit = |what: &str| front.portions.iter().find(|portion| portion.what == what).unwrap();
    // Two transfers in the first second, one in the second, of two at once.
    is(limit("per_user of one user").utilisation, 3.0 / 4.0);
    is(limit("per_user of one user").queue.unwrap(), 1.0 / 2.0);
    is(limit("per_host of one host").utilisation, 3.0 / 18.0);
    is(limit("per_host of one host").queue.unwrap(), 0.0);
    let bottleneck = results.bottleneck.as_ref().unwrap();
    assert_eq!(
        (bottleneck.component.as_str(), bottleneck.what.as_deref()),
        ("front", Some("per_user of one user"))
    );
}

/// Small requests to an array without a cache: said before and after the run, with what to write.
#[test]
fn small_requests_to_an_array_are_named() {
    let case = Case::new("small-io", "0,put,u,h,a,50000000,\n");
    let system = |more: &str| {
        format!(
            "  d: {{type: array, level: raid6, disks: 6, stripe_unit: 256 KiB, of: {{type: disk, device: seagate-st3500630ns, \
             positioning: independent}}}}\n  disks: {{type: disk_pool, chains: 1, volumes: 1, volume: 100 MB, rate: 1 GB/s, on: [d]{more}}}\n"
        ) + &archive("")
    };
    let slow = case.run(&system(""));
    let note =
        slow.notes.iter().find(|note| note.contains("`disks` sends `d` one request of 1 MiB")).unwrap();
    assert!(
        note.contains("256 KiB for each of its 4 data disks") && note.contains("write `io_size: 8 MiB`"),
        "{note}"
    );
    let fast = case.run(&system(", io_size: 8 MiB"));
    assert!(!fast.notes.iter().any(|note| note.contains("io_size")), "{:?}", fast.notes);
    // What the note promises: several times as fast.
    assert!(mean(&slow, "put") > 3.0 * mean(&fast, "put"), "{} {}", mean(&slow, "put"), mean(&fast, "put"));
}

/// Two large files, then a small one: the second large one waits for the port of the first.
#[test]
fn the_queue_of_ports_releases_whom_it_says() {
    let log = "0,put,u,h,a,50000000,\n0,put,v,h,b,50000000,\n1,put,w,h,c,1000000,\n1,put,x,h,d,1000000,\n";
    let case = Case::new("ports", log);
    let pool = "  disks: {type: disk_pool, chains: 4, volumes: 1, volume: 100 MB, rate: 5 MB/s}\n";
    let small_ones = |queue: &str| {
        let front = format!(
            "  front: {{type: front, queue: {queue}, ports: [{{number: 2, up_to: 4 MB}}, {{number: 1, above: 4 MB}}]}}\n"
        );
        let results = case.run(&(pool.to_owned() + &front + &archive(", front: front")));
        // The large ones take 10 and 20 s whatever happens.
        (mean(&results, "put") * 4.0 - 30.0, leg(&results, "front"))
    };
    let (fits, waits) = small_ones("first_that_fits");
    is(fits, 0.4);
    is(waits[0], 10.0 / 4.0);
    is(small_ones("head_blocks").0, 2.0 * (9.0 + 0.2));
    is(small_ones("joint").0, 0.4);
}

/// Nine ports of ten are for small files. Large ones take their port for 100 s each and come every 90 s.
#[test]
fn a_class_of_ports_is_a_bottleneck_of_its_own() {
    let log: String = (0..20).map(|at| format!("{},put,u,h,f{at},100000000,\n", at * 90)).collect();
    let case = Case::new("class", &log);
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 4, volume: 10 GB, rate: 1 GB/s}\n";
    let front = "  front: {type: front, client_rate: 1 MB/s, ports: [{number: 9, up_to: 4 MB}, {number: 1, above: 4 MB}]}\n";
    let results = case.run(&(pool.to_owned() + front + &archive(", front: front")));
    let found = results.components.iter().find(|component| component.path == "front").unwrap();
    is(found.utilisation.unwrap(), 0.1);
    is(found.busiest.as_ref().unwrap().utilisation, 1.0);
    let limit = results.bottleneck.unwrap();
    assert!(limit.saturated && limit.what.as_deref() == Some("ports[1]"), "{limit:?}");
    // 20 answers in 2000 s, of 20 in 1710 s.
    is(limit.saturates_at.unwrap(), 1710.0 / 2000.0);
    assert!(results.answer.contains("front (ports[1]), 100 % busy: saturated at 0.85"), "{}", results.answer);
    assert!(
        results.notes.iter().any(|note| note.contains("front (ports[1]) is overloaded")),
        "{:?}",
        results.notes
    );
}

/// In a joint queue who waits for a port holds no place of its user.
#[test]
fn a_joint_queue_holds_no_place_while_it_waits_for_a_port() {
    let log = "0,put,u,h,a,50000000,\n0,put,v,h,b,50000000,\n0,put,v,h,c,1000000,\n";
    let case = Case::new("joint", log);
    let pool = "  disks: {type: disk_pool, chains: 4, volumes: 1, volume: 100 MB, rate: 5 MB/s}\n";
    let front = "  front: {type: front, per_user: 1, queue: QUEUE, ports: [{number: 1, up_to: 4 MB}, {number: 1, above: 4 MB}]}\n";
    let sum = |queue: &str| {
        let front = front.replace("QUEUE", queue);
        mean(&case.run(&(pool.to_owned() + &front + &archive(", front: front"))), "put") * 3.0
    };
    is(sum("first_that_fits"), 10.0 + 20.0 + 20.2);
    is(sum("joint"), 10.0 + 20.0 + 0.2);
}

/// A get of a file whose put still waits for its user's limit waits for it.
#[test]
fn a_get_waits_for_the_put_before_it() {
    let log = "0,put,u,h,a,50000000,\n0,put,u,h,b,5000000,\n1,get,v,h,b,5000000,\n";
    let case = Case::new("before", log);
    let results =
        case.run(&(POOL.to_owned() + "  front: {type: front, per_user: 1}\n" + &archive(", front: front")));
    is(mean(&results, "get"), 10.0 + 1.0);
    is(mean(&results, "put") * 2.0, 10.0 + 11.0);
}

pub const LIBRARY: &str = "  tapes: {type: tape_library, groups: [{drives: 2, rate: 1 MB/s}], cartridge: 1 GB, cartridges: 1, load: 60 s";

#[test]
fn a_file_comes_from_tape_once_for_all_who_want_it() {
    let case = Case::new(
        "stage",
        "0,get,u,h,a,10000000,1\n30,get,v,h,a,10000000,1\n31,stage,v,h,a,10000000,1\n500,get,v,h,a,10000000,1\n",
    );
    let results = case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(", library: tapes")));
    // The first from tape; the second waits for it and shares its chain; the last is cached.
    is(mean(&results, "get") * 3.0, (70.0 + 4.0) + (40.0 + 4.0) + 2.0);
    is(mean(&results, "stage"), 39.0);
    is(meter(&results, "tapes", "mounts"), 1.0);
    is(meter(&results, "archive", "stages"), 1.0);
    is(meter(&results, "archive", "pool_hit_ratio"), 1.0 / 3.0);
    // Only the first request needed a drive: it is the only recall.
    is(mean(&results, "recall"), 70.0 + 4.0);
    assert_eq!(results.streams[0].operations["recall"].count, 1);
}

/// Robot, load, position and rewind, on tape and in order; the cartridge stays where it is held.
#[test]
fn a_recall_takes_its_steps() {
    let log = "0,stage,u,h,a,1000000,1\n10000,stage,u,h,b,1000000,1\n";
    let detailed =
        LIBRARY.replace("drives: 2", "drives: 1") + ", move: 7 s, locate: 100 s, rewind: 80 s, unload: 5 s";
    let case = Case::new("steps", log);
    let run =
        |more: &str| case.run(&(POOL.to_owned() + &detailed + more + "}\n" + &archive(", library: tapes")));
    let (apart, held) = (run(""), run(", hold: 3 h"));
    // Without holding each is fetched again: both positions from the beginning. Held, the second goes from where the first ended.
    is(meter(&apart, "tapes", "mounts"), 2.0);
    is(meter(&held, "tapes", "mounts"), 1.0);
    let positions = mean(&apart, "stage") * 2.0 - 2.0 * (7.0 + 60.0 + 1.0);
    assert!((0.0..200.0).contains(&positions), "two positions on one tape: {positions} s");
    let saved = (mean(&apart, "stage") - mean(&held, "stage")) * 2.0;
    assert!((67.0 - 100.0..67.0 + 100.0).contains(&saved), "a robot, a load, and other ways: {saved} s");
}

/// At 1 MB/s a drive that streams at 2 MB/s from a buffer of 1 MB stops every 2 MB; the buffer bridges 1 s of the 2 s.
#[test]
fn a_starved_drive_goes_back_and_starts_again() {
    let case = Case::new("hitch", "0,stage,u,h,a,30000000,1\n");
    let streaming = ", streaming: {min_rate: 2 MB/s, buffer: 1 MB, back_hitch: 2 s}";
    let run =
        |more: &str| case.run(&(POOL.to_owned() + LIBRARY + more + "}\n" + &archive(", library: tapes")));
    is(mean(&run(""), "stage"), 60.0 + 30.0);
    let starved = run(streaming);
    is(mean(&starved, "stage"), 60.0 + 30.0 + 15.0);
    is(meter(&starved, "tapes", "back_hitches"), 15.0);
}

/// At 1 MB/s a drive that streams at 2 MB/s from a buffer of 1 MB stops every 2 MB, also where files of 0.5 MB are stored back to back.
#[test]
fn back_hitches_do_not_depend_on_how_data_is_divided_into_files() {
    let hitches = |files: u64| {
        let log: String = (0..files).map(|at| format!("0,put,u,h,f{at},{},\n", 33_000_000 / files)).collect();
        let case = Case::new(&format!("pieces{files}"), &(log + "2000,put,u,h,last,1000,\n"));
        let pool = POOL.replace("chains: 2, volumes: 2", "chains: 1, volumes: 1").replace("5 MB/s", "1 MB/s");
        let library = LIBRARY.replace(", rate: 1 MB/s", "")
            + ", streaming: {min_rate: 2 MB/s, buffer: 1 MB, back_hitch: 2 s}";
        let results =
            case.run(&(pool + &library + "}\n" + &archive(", library: tapes, migrate: {every: 10 min}")));
        is(meter(&results, "tapes", "mounts"), 1.0);
        meter(&results, "tapes", "back_hitches")
    };
    assert_eq!([hitches(1), hitches(3), hitches(66)], [16.0; 3], "33 MB hold 16.5 times 2 MB");
}

/// A load of two branches: a third of the mounts take 33 s, the others 66 s.
#[test]
fn a_load_is_drawn_from_a_fitted_law() {
    let log: String = (0..600).map(|at| format!("{},stage,u,h,f{at},1000000,1\n", at * 1000)).collect();
    let case = Case::new("fitted", &log);
    let fitted = LIBRARY.replace(
        "load: 60 s",
        "load: [{share: 1, from: 33 s, exponential: 0 s}, {share: 2, from: 66 s, exponential: 0 s}]",
    );
    let load =
        mean(&case.run(&(POOL.to_owned() + &fitted + "}\n" + &archive(", library: tapes"))), "stage") - 1.0;
    assert!((load - 55.0).abs() < 2.5, "{load} s on average, of 600 loads with a deviation of 15.6 s each");
}

/// A volume that has failed keeps those who want its files waiting; new files begin on others.
#[test]
fn a_volume_that_fails_returns_with_its_files() {
    let log = "0,put,u,h,a,50000000,\n30,get,u,h,a,50000000,\n31,put,u,h,b,50000000,\n";
    let case = Case::new("volume", log);
    let faults = "faults: [{component: 'disks/volume[0]', fails: 20 s, returns: 100 s}]\n";
    let results = case.run(&(POOL.to_owned() + &archive("") + faults));
    is(mean(&results, "get"), 70.0 + 10.0);
    is(mean(&results, "put"), 10.0);
    is(leg(&results, "disks")[0], 70.0 / 3.0);
    assert_eq!(results.phases[1].after, ["disks/volume[0] fails"]);
    let refused = |faults: &str| case.try_run(&(POOL.to_owned() + &archive("") + faults)).unwrap_err();
    let whole = refused("faults: [{component: disks, fails: 20 s}]\n");
    assert!(
        whole.contains("`disks` fails in parts")
            && whole.contains("from `disks/volume[0]` to `disks/volume[3]`"),
        "{whole}"
    );
    assert!(
        refused("faults: [{component: 'disks/volume[4]', fails: 20 s}]\n").contains("there is no component")
    );
}

/// The chains of a pool are disks: the wire hides what the disk takes but for the last piece, and the disk sees every byte.
#[test]
fn a_pool_lies_on_block_devices() {
    let case = Case::new("devices", "0,put,u,h,a,50000000,\n100,get,u,h,a,50000000,\n");
    let device = "{type: disk, device: seagate-st3500630ns, positioning: independent}";
    let pool = |rate: &str, on: &str| {
        format!(
            "  d0: {device}\n  d1: {device}\n  disks: {{type: disk_pool, chains: 2, volumes: 2, volume: 100 MB, rate: {rate}{on}}}\n"
        )
    };
    let on = ", on: [d0, d1], io_size: 1 MB, buffer: 10 MB";
    let wire = case.run(&(pool("5 MB/s", on) + &archive("")));
    let (put, get) = (mean(&wire, "put"), mean(&wire, "get"));
    assert!(
        put > 10.0 && put < 10.4 && get > 10.0 && get < 10.4,
        "{put} {get}: 10 s on the wire, and one of ten pieces"
    );
    let bytes = |results: &Results| {
        let disk = results.components.iter().find(|component| component.path == "d0").unwrap();
        disk.bytes_per_s * results.simulated_s
    };
    assert!((bytes(&wire) - 100e6).abs() < 1.0, "{}", bytes(&wire));
    let disk = case.run(&(pool("10 GB/s", on) + &archive("")));
    let alone = 50.0 * (1.0 / 85.7 + 0.0045);
    assert!(mean(&disk, "put") > alone, "{} s; the outermost zone alone takes {alone} s", mean(&disk, "put"));
    assert!(leg(&disk, "d0")[1] > 10.0 * leg(&disk, "disks")[1], "the disk limits");
    let refused = |on: &str| case.try_run(&(pool("5 MB/s", on) + &archive(""))).unwrap_err();
    assert!(refused(", on: [d0]").contains("there are 1 devices for 2 chains"));
    assert!(refused(", on: [d0, d2]").contains("d2"));
    let fails = pool("5 MB/s", on) + &archive("") + "faults: [{component: d0, fails: 101 s}]\n";
    let failed = case.run(&fails);
    assert_eq!(failed.streams[0].failed, 1, "the get fails with the disk: {:?}", failed.notes);
    let archive = failed.components.iter().find(|component| component.path == "archive").unwrap();
    is(archive.bytes_per_s * failed.simulated_s, 50e6); // The put alone.
}

/// Recalls and puts to a failed device fail. A file that cannot be read is migrated once its device works again.
#[test]
fn a_device_that_fails_is_noticed_by_puts_recalls_and_migration() {
    let device = "{type: disk, device: seagate-st3500630ns, positioning: independent}";
    let pool = |chains: u32, on: &str| {
        format!(
            "  d0: {device}\n  d1: {device}\n  tapes: {{type: tape_library, groups: [{{drives: 2}}], cartridge: 1 GB}}\n  \
             disks: {{type: disk_pool, chains: {chains}, volumes: 1, volume: 100 MB, rate: 5 MB/s, on: [{on}], buffer: 2 MB}}\n"
        )
    };
    let with = |log: &str, chains: u32, on: &str, policy: &str, faults: &str| {
        let case = Case::new(&format!("fails-{chains}-{}", log.len()), log);
        let rest = archive(&format!(", library: tapes{policy}")) + "faults: [" + faults + "]\n";
        case.run(&(pool(chains, on) + &rest))
    };
    let outage = "{component: d0, fails: 5 s, returns: 100 s}";
    // 50 MB take 10 s. The first recall ends with the device, the second finds it back: the space of the first was given back.
    let log = "0,stage,u,h,a,90000000,1\n200,get,u,h,a,90000000,1\n";
    let recall = with(log, 1, "d0", "", outage);
    assert_eq!((recall.streams[0].failed, recall.streams[0].completed), (1, 1), "{:?}", recall.notes);
    is(meter(&recall, "archive", "stages"), 2.0);
    // Nobody has a file whose put failed. A put while one device is down goes to the other.
    let log =
        "0,put,u,h,a,90000000,\n50,get,u,h,a,90000000,\n60,put,u,h,b,90000000,\n150,get,u,h,b,90000000,\n";
    let put = with(log, 2, "d0, d1", "", outage);
    assert_eq!((put.streams[0].failed, put.streams[0].completed), (2, 2), "{:?}", put.notes);
    // Stored every 60 s from 60 s on: at 60 s it cannot be read, at 100 s the device is back, at 120 s it is. 50 MB take 10 s.
    let log = "0,put,u,h,a,50000000,\n300,get,u,h,a,50000000,\n";
    let late = outage.replace("fails: 5 s", "fails: 20 s");
    let stored = with(log, 1, "d0", ", migrate: {every: 60 s}", &late);
    is(meter(&stored, "archive", "stored_to_tape"), 1.0);
    let minutes = meter(&stored, "archive", "to_tape_ms") / 60e3;
    assert!(minutes > 1.9 && minutes < 3.0, "{minutes} min from the end of the put at 10 s");
    is(meter(&stored, "tapes", "bytes_written"), 50e6);
    // Without it, the run ends although a file is left that cannot be stored.
    let never = with(log, 1, "d0", ", migrate: {every: 60 s}", "{component: d0, fails: 20 s}");
    is(meter(&never, "archive", "stored_to_tape"), 0.0);
    assert_eq!(never.streams[0].failed, 1);
}

/// With one drive, three files of two cartridges: by cartridge the third goes before the second.
#[test]
fn recalls_can_be_batched_by_cartridge() {
    let log: String = (0..40).map(|at| format!("{at},stage,u,h,f{at},1000000,1\n")).collect();
    let case = Case::new("batched", &log);
    let library = LIBRARY.replace("drives: 2", "drives: 1").replace("cartridges: 1", "cartridges: 4");
    let run = |recall: &str| {
        let results = case.run(
            &(POOL.to_owned() + &library + ", recall: " + recall + "}\n" + &archive(", library: tapes")),
        );
        (meter(&results, "tapes", "mounts"), mean(&results, "stage"))
    };
    let (arrival, batched) = (run("arrival"), run("by_cartridge"));
    assert!(batched.0 <= 6.0 && arrival.0 > 20.0, "{batched:?} {arrival:?}");
    assert!(batched.1 < arrival.1 / 3.0);
}

/// Three files of a tape of 1 GB that is passed in 100 s. By position the one whose recall has the tape mounted goes last.
#[test]
fn recalls_are_served_in_the_order_on_tape() {
    let file = |name: &str, mb: u32| format!("0,stage,u,h,{name},1000000,1,T1,{mb}000000\n");
    let case = Case::new("tape-order", &(file("a", 900) + &file("b", 100) + &file("c", 600)));
    let library = LIBRARY.replace("drives: 2", "drives: 1") + ", locate: 100 s, recall: ";
    let run = |recall: &str| {
        let results = case.run(&(POOL.to_owned() + &library + recall + "}\n" + &archive(", library: tapes")));
        is(meter(&results, "tapes", "mounts"), 1.0);
        is(meter(&results, "tapes", "mounts_per_access"), 1.0 / 3.0);
        let tapes = results.components.iter().find(|component| component.path == "tapes").unwrap();
        assert_eq!(tapes.visits, 3, "one that lets others go first is one visit");
        mean(&results, "stage") * 3.0
    };
    // A load, and of each the way and a second of data.
    let sum = |ways: [f64; 3]| 3.0 * (60.0 + ways[0] + 1.0) + 2.0 * (ways[1] + 1.0) + ways[2] + 1.0;
    for recall in ["arrival", "by_cartridge"] {
        is(run(recall), sum([90.0, 80.1, 49.9]));
    }
    for recall in ["ascending", "nearest", "recommended"] {
        is(run(recall), sum([10.0, 49.9, 29.9]));
    }
}

/// Recalls of files of 1 MB, each on a tape of its own: when, by whom, and from which. Each takes a load and a second.
fn from_tapes(all: &[(u32, &str, &str)]) -> String {
    let line = |(at, (time, user, tape)): (usize, &(u32, &str, &str))| {
        format!("{time},stage,{user},h,f{at},1000000,1,{tape},{at}000000\n")
    };
    all.iter().enumerate().map(line).collect()
}

/// The sum of the responses of these recalls in a library with these drives and fields.
fn recalled(name: &str, recalls: &str, drives: u32, more: &str) -> (f64, Results) {
    let case = Case::new(name, recalls);
    let library = LIBRARY.replace("drives: 2, rate", &format!("drives: {drives}, rate"));
    let library = library.replace("rate: 1 MB/s}]", "}], drive_rate: 1 MB/s");
    let results = case.run(&(POOL.to_owned() + &library + more + "}\n" + &archive(", library: tapes")));
    let stages = &results.streams[0].response;
    (stages.mean_ms / 1e3 * stages.count as f64, results)
}

/// Of four drives one user may have one: three of that user's recalls follow each other, and one of another user has a drive at once.
#[test]
fn a_share_uses_no_more_drives_than_it_may() {
    let log = from_tapes(&[(0, "u", "T1"), (0, "u", "T2"), (0, "u", "T3"), (0, "v", "T4")]);
    let (free, _) = recalled("no-shares", &log, 4, "");
    is(free, 4.0 * 61.0);
    let (limited, results) = recalled("shares", &log, 4, ", shares: [{users: [u], reads: 1, writes: 3}]");
    is(limited, 61.0 + 122.0 + 183.0 + 61.0);
    let library = results.components.iter().find(|component| component.path == "tapes").unwrap();
    let portion = |what: &str| library.portions.iter().find(|portion| portion.what == what).unwrap();
    is(portion("reads of shares[0]").utilisation, 1.0);
    is(portion("reads of shares[0]").queue.unwrap(), (61.0 + 122.0) / 183.0);
    is(portion("writes of shares[0]").utilisation, 0.0);
    let limit = results.bottleneck.unwrap();
    assert_eq!(limit.what.as_deref(), Some("reads of shares[0]"), "{}", results.answer);
}

/// A tape that stands in an idle drive is read as soon as its share may use one more, although the drive that it used is another.
#[test]
fn a_share_that_may_use_a_drive_again_finds_its_tape_mounted() {
    let log = from_tapes(&[(0, "u", "T1"), (100, "u", "T2"), (101, "u", "T1")]);
    let (sum, results) = recalled("share-mounted", &log, 2, ", hold: 1 h, shares: [{users: [u], reads: 1}]");
    is(sum, 61.0 + 61.0 + 61.0);
    is(meter(&results, "tapes", "mounts"), 2.0);
}

/// A batch of one tape whose next recall is of a share that may use no more drives goes on with that of another.
#[test]
fn a_batch_leaves_out_a_share_that_is_full() {
    let log = from_tapes(&[(0, "u", "T1"), (1, "v", "T2"), (2, "u", "T2"), (3, "w", "T2")]);
    let more = ", recall: by_cartridge, hold: 1 h, shares: [{users: [u], reads: 1}]";
    let (sum, _) = recalled("share-batch", &log, 2, more);
    // The first of the second tape ends at 62 s; the first tape's user is done at 61 s, so both others follow.
    is(sum, 61.0 + 61.0 + 61.0 + 61.0);
    let long = log.replace("0,stage,u,h,f0,1000000", "0,stage,u,h,f0,30000000");
    let (sum, _) = recalled("share-batch-full", &long, 2, more);
    // Until 90 s it is not, so the last goes first.
    is(sum, 90.0 + 61.0 + 89.0 + 60.0);
}

/// One drive, three tapes: the second request is of the urgent user, who came last.
#[test]
fn a_drive_goes_to_the_most_urgent() {
    let log = from_tapes(&[(0, "u", "T1"), (1, "u", "T2"), (2, "v", "T3")]);
    let (first, second) = (61.0 + 121.0 + 181.0, 61.0 + 182.0 + 120.0);
    let sum = |name: &str, more: &str| recalled(name, &log, 1, more).0;
    is(sum("by-arrival", ", shares: [{priority: 2}, {users: [v], priority: 1}]"), first);
    let shares = ", shares: [{priority: 2}, {users: [v], priority: 1}], queue: ";
    is(sum("by-priority", &format!("{shares}priority")), second);
    is(sum("aged-fast", &format!("{shares}{{aged: 0.5 s}}")), first);
    is(sum("aged-slowly", &format!("{shares}{{aged: 10 s}}")), second);
    for (within, met) in [("1 min", 1.0), ("30 s", 2.0 / 3.0)] {
        let shares =
            format!(", queue: deadline, shares: [{{within: 10 min}}, {{users: [v], within: {within}}}]");
        let (sum, results) = recalled("by-deadline", &log, 1, &shares);
        is(sum, second);
        is(meter(&results, "tapes", "within_deadline"), met);
    }
}

/// A recall that waits for a drive is cancelled; one that has a drive, or that another user waits for too, is not.
#[test]
fn a_recall_is_cancelled_while_it_waits_alone() {
    let recalls = from_tapes(&[(0, "u", "T1"), (1, "u", "T2"), (2, "u", "T3")]);
    let of = |name: &str, cancel: &str| {
        let (sum, results) = recalled(name, &format!("{recalls}{cancel}"), 1, "");
        (sum, results.streams[0].failed, results)
    };
    let (sum, failed, results) = of("cancel", "30,cancel,u,h,f1,,,,\n");
    is(sum, 61.0 + 120.0);
    assert_eq!(failed, 1);
    is(meter(&results, "archive", "cancelled"), 1.0);
    let all = 61.0 + 121.0 + 181.0;
    let (sum, failed, _) = of("cancel-running", "30,cancel,u,h,f0,,,,\n");
    is(sum, all);
    assert_eq!(failed, 0);
    let (sum, failed, _) = of("cancel-merged", "3,stage,v,h,f1,1000000,1,T2,1000000\n30,cancel,u,h,f1,,,,\n");
    is(sum, all + 119.0);
    assert_eq!(failed, 0);
    let unknown = of("cancel-unknown", "30,cancel,u,h,g,,,,\n");
    assert_eq!((unknown.0.round(), unknown.1), (all, 0));
    let (sum, failed, _) = of("cancel-of-another", "30,cancel,v,h,f1,,,,\n");
    is(sum, all);
    assert_eq!(failed, 0, "who did not ask for a file cancels nothing");
}

/// While requests come together for a cartridge, one of them is cancelled, and the cartridge is mounted for the other alone.
#[test]
fn a_recall_is_cancelled_while_others_are_awaited() {
    let log = from_tapes(&[(0, "u", "T1"), (1, "u", "T1"), (2, "u", "T2")])
        + "30,cancel,u,h,f0,,,,\n30,cancel,u,h,f2,,,,\n100,stage,u,h,f3,1000000,1,T2,5000000\n";
    let (sum, results) =
        recalled("cancel-awaiting", &log, 1, ", recall: by_cartridge, accumulate: 60 s, hold: 1 h");
    // The second is due at 60 s; the last, the first of its cartridge since the cancelled one, at 160 s.
    is(sum, (60.0 + 61.0 - 1.0) + (160.0 + 61.0 + 61.0 - 61.0 - 100.0));
    assert_eq!(results.streams[0].failed, 2);
    is(meter(&results, "archive", "cancelled"), 2.0);
    is(meter(&results, "tapes", "mounts"), 2.0);
}

/// Of two tapes, a user whose share is full wants what lies first. The others do not wait for that, and no tape is mounted in vain.
#[test]
fn no_tape_is_mounted_for_a_share_that_is_full() {
    let recall = |time: u32, user: &str, file: u32, bytes: u32, tape: &str, mb: u32| {
        format!("{time},stage,{user},h,f{file},{bytes}000000,1,{tape},{mb}000000\n")
    };
    let log = [
        recall(0, "u", 0, 300, "T1", 0),
        recall(1, "v", 1, 1, "T2", 500),
        recall(2, "u", 2, 1, "T2", 100),
        recall(3, "w", 3, 1, "T3", 500),
        recall(4, "u", 4, 1, "T3", 100),
    ];
    for order in ["ascending", "nearest", "recommended"] {
        let more = format!(", recall: {order}, shares: [{{users: [u], reads: 1}}]");
        let (_, results) = recalled(&format!("full-{order}"), &log.concat(), 2, &more);
        assert_eq!(results.streams[0].response.count, 5);
        assert!(meter(&results, "tapes", "mounts") <= 5.0, "{}", meter(&results, "tapes", "mounts"));
    }
}

/// One of the recalls for a mounted tape is cancelled while another of them is read: the tape stays for the rest.
#[test]
fn a_cancelled_recall_does_not_end_its_batch() {
    let stage = |time: f64, file: u32, tape: &str, mb: u32| {
        format!("{time},stage,u,h,f{file},{mb}000000,1,{tape},{file}00000000\n")
    };
    let log = [
        stage(0.0, 0, "T1", 1),
        stage(1.0, 1, "T2", 10),
        stage(1.5, 4, "T3", 1),
        stage(2.0, 2, "T2", 1),
        stage(3.0, 3, "T2", 1),
        "125,cancel,u,h,f2,,,,\n".to_owned(),
    ];
    let (_, results) = recalled("cancel-of-batch", &log.concat(), 1, ", recall: by_cartridge, unload: 40 s");
    assert_eq!((meter(&results, "archive", "cancelled"), meter(&results, "tapes", "mounts")), (1.0, 3.0));
}

/// A user whose share is one drive recalls two tapes: one cartridge is put away for them, and that of another user stays.
#[test]
fn no_cartridge_is_put_away_for_a_share_that_is_used_up() {
    let later = |time: u32, user: &str, tape: &str, at: u32| {
        format!("{time},stage,{user},h,g{time},1000000,1,{tape},{at}000000\n")
    };
    let log = [
        later(0, "u", "T1", 0),
        later(1, "v", "T2", 0),
        later(300, "u", "T3", 0),
        later(301, "u", "T4", 0),
        later(320, "v", "T2", 1),
    ];
    let more = ", unload: 40 s, hold: 10 d, shares: [{users: [u], reads: 1}]";
    let (_, results) = recalled("share-used-up", &log.concat(), 2, more);
    is(meter(&results, "tapes", "mounts"), 4.0);
}

/// Of a file that begins 500 kB before the end of the last tape that the log names, the rest is on a tape that it does not name.
#[test]
fn a_file_goes_on_behind_the_end_of_a_tape_of_the_log() {
    let case = Case::new("beyond-the-end", "0,stage,u,h,a,1000000,1,T1,999500000\n");
    let results = case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(", library: tapes")));
    is(mean(&results, "stage"), 60.0 + 0.5 + 60.0 + 0.5);
}

/// Recalls for one tape come as fast as they are served, and one for another tape at 100 s.
#[test]
fn no_recall_waits_for_ever_for_another_tape_to_be_done() {
    let on = |at: u32, tape: &str| format!("{at},stage,u,h,f{at}{tape},1000000,1,{tape},{at}000000\n");
    let log: String = (0..600)
        .map(|at| on(at, "T1") + if at == 100 { "100,get,u,h,g,1000000,1,T2,0\n" } else { "" })
        .collect();
    let case = Case::new("fair", &log);
    let library = LIBRARY.replace("drives: 2", "drives: 1") + ", recall: ";
    let pool = POOL.replace("volume: 100 MB", "volume: 1 GB");
    let other = |recall: &str| {
        let system = pool.clone() + &library + recall + "}\n" + &archive(", library: tapes");
        let results = case.run(&system);
        (mean(&results, "get"), meter(&results, "tapes", "mounts"))
    };
    for recall in ["by_cartridge", "recommended"] {
        // At 660 s the last of the 600 is done. A load, a second from tape and a fifth to the client.
        let (unfair, mounts) = other(recall);
        is(unfair, 660.0 - 100.0 + 61.2);
        // The batch of the time when it has waited for long enough ends before it; then the tape comes back.
        let (fair, again) = other(&format!("{recall}, longest_wait: 30 s, batch: 10"));
        assert!((30.0 + 61.2..30.0 + 10.0 + 61.3).contains(&fair), "{recall}: {fair} s");
        assert_eq!((mounts, again), (2.0, 3.0), "{recall}");
    }
}

/// Of a file of 20 MB on tape, 10 MB are got: all of it comes from tape, and half of it crosses the chain to the client.
#[test]
fn a_get_of_a_part_moves_that_part() {
    let case = Case::new("part", "0,get,u,h,a,10000000,1\n500,get,u,h,a,20000000,1\n");
    let results = case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(", library: tapes")));
    is(mean(&results, "get") * 2.0, 60.0 + 20.0 + 2.0 + 4.0);
    let bytes = |path: &str| {
        let found = results.components.iter().find(|component| component.path == path).unwrap();
        found.bytes_per_s * results.simulated_s
    };
    is(bytes("archive"), 30e6);
    is(bytes("tapes"), 20e6);
    is(bytes("disks"), 20e6 + 30e6);
    assert!(results.notes.iter().any(|note| note.contains("1 get differs")), "{:?}", results.notes);
}

/// A get that waits for the put of its file waits for the archive; no tape is involved.
#[test]
fn a_wait_for_a_put_is_not_the_librarys() {
    let case = Case::new("own", "0,put,u,h,a,50000000,\n1,get,u,h,a,50000000,\n");
    let results = case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(", library: tapes")));
    is(mean(&results, "get"), 9.0 + 10.0);
    is(leg(&results, "archive")[0], 9.0 / 2.0);
    is(leg(&results, "tapes")[0], 0.0);
}

/// What waits for space when a purge finds nothing makes no purge; the first file that reaches the tape does.
#[test]
fn a_purge_counts_from_the_first_file_that_it_takes() {
    let log: String = (0..5).map(|at| format!("{},put,u,h,f{at},100000000,\n", at * 30)).collect();
    let case = Case::new("first", &log);
    let purge = ", migrate: {every: 15 min}, purge: {weight: size_mb, high: 90 %, low: 50 %}";
    let results =
        case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(&format!(", library: tapes{purge}"))));
    assert_eq!(meter(&results, "archive", "purged_files"), 1.0);
    assert_eq!(meter(&results, "archive", "purges"), 1.0);
    let first = "1 purge of the pool, the first after 0.01 days";
    assert!(results.notes.iter().any(|note| note.contains(first)), "{:?}", results.notes);
}

/// Five files into room for four, all of which are on tape but have been used within the last hour: the fifth waits for that hour.
#[test]
fn a_put_waits_until_a_file_is_old_enough_to_be_purged() {
    let log: String = (0..5).map(|at| format!("0,put,u,h,f{at},100000000,\n")).collect();
    let case = Case::new("age", &log);
    let purge = ", migrate: {every: 5 min}, purge: {weight: size_mb, high: 90 %, low: 80 %, min_age: 1 h}";
    let results =
        case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(&format!(", library: tapes{purge}"))));
    // Two chains take 100 MB of two files each in 40 s; a purge is tried each minute.
    let slowest = results.streams[0].response.max_ms / 1e3;
    assert!((3640.0..3760.0).contains(&slowest), "{slowest} s");
    assert!(results.complete, "{}", results.answer);
}

/// A pool that is 90 % full at first: of 34 files on tape, as many leave for the first put as make it less than half full.
#[test]
fn a_pool_begins_as_full_as_it_is_said_to_be() {
    let log = "0,get,u,h,old,20000000,0\n100,put,u,h,a,60000000,\n9000,get,u,h,a,60000000,\n";
    let case = Case::new("contents", log);
    let contents = ", library: tapes, contents: {share: 90 %, file: 10 MB}";
    let purge = ", purge: {weight: hours_since_access, high: 95 %, low: 50 %}";
    let with = |parts: &str| case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(parts)));
    let full = with(&format!("{contents}{purge}"));
    // 360 MB, of which 20 are of the log and not on tape. The put finds 40 MB free, and of 17 files fewer less than 200 MB are left.
    is(meter(&full, "archive", "purged_files"), 17.0);
    is(mean(&full, "put"), 12.0);
    assert!(!with(contents).complete, "nothing makes room for the put");
    let refused = |contents: &str, says: &str| {
        case.refuses(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(contents)), says);
    };
    refused(", contents: {share: 50 %, file: 1 MB}", "the archive has no `library`");
    refused(", library: tapes, contents: {share: 50 %, file: 0 B}", "files of no bytes fill nothing");
    refused(
        ", library: tapes, contents: {share: 50 %, file: 1 B}",
        "the pool would begin with 200000000 files",
    );
}

/// A put that waits for space that nobody will free ends the run, although the migration could tick for ever.
#[test]
fn a_run_in_which_nothing_more_can_happen_ends() {
    let log: String = (0..6).map(|at| format!("{at},put,u,h,f{at},90000000,\n")).collect();
    let case = Case::new("stuck", &log);
    let system = POOL.to_owned() + LIBRARY + "}\n" + &archive(", library: tapes, migrate: {every: 15 min}");
    let results = case.run(&system);
    // Four files fit. The list of the first tick takes one load, and 360 s at 1 MB/s.
    is(results.simulated_s, 15.0 * 60.0 + 60.0 + 360.0);
    let stuck = "the run ended early, as nothing more can happen: 2 puts wait for space in `disks`";
    assert_eq!(results.notes[0], stuck);
    assert!(!results.complete && results.bottleneck.unwrap().saturates_at.is_none());
    let broken =
        system.replace("drives: 2", "drives: 1") + "faults: [{component: 'tapes/drive[0]', fails: 1 s}]\n";
    let results = case.run(&broken);
    for waits in ["2 puts wait for space in `disks`", "1 request waits for a drive of `tapes`"] {
        assert!(results.notes[0].contains(waits), "{:?}", results.notes);
    }
}

const MIGRATE: &str = ", migrate: {every: 10 min, min_age: 5 min}";

/// Four files of 90 MB into 400 MB: stored to tape, and the one unused longest is purged when the level is high.
#[test]
fn the_pool_is_purged_of_what_is_on_tape() {
    let log = "0,put,u,h,a,90000000,\n100,put,u,h,b,90000000,\n5000,get,u,h,a,90000000,\n6000,put,u,h,c,90000000,\n6100,put,u,h,d,90000000,\n\
               9000,get,u,h,b,90000000,\n9500,get,u,h,a,90000000,\n";
    let case = Case::new("purge", log);
    let purge = ", purge: {weight: hours_since_access, high: 80 %, low: 70 %}";
    let results = case
        .run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(&format!(", library: tapes{MIGRATE}{purge}"))));
    assert_eq!(meter(&results, "archive", "purged_files"), 3.0, "b for d, a for b, c for a");
    assert_eq!(meter(&results, "archive", "stages"), 2.0);
    assert_eq!(meter(&results, "tapes", "bytes_written"), 360e6);
    assert!(
        results.notes.iter().any(|note| note.contains(" of the pool, the first after 0.07 days")),
        "{:?}",
        results.notes
    );
    let fill: Vec<f64> = results.series.iter().filter_map(|point| point.fill.get("disks").copied()).collect();
    assert!(fill.iter().all(|fill| (0.0..=1.0).contains(fill)));
}

/// Files of 60 MB to drives of 1 MB/s, with a put at the end that keeps the run going until all are on tape. Gives how long they were in the
/// pool until then on average, in s, with the results.
fn stored(name: &str, puts: &[u32], library: &str, migrate: &str) -> (f64, Results) {
    let put = |(at, time): (usize, &u32)| format!("{time},put,u,h,f{at},60000000,\n");
    let log = puts.iter().enumerate().map(put).collect::<String>() + "20000,get,u,h,f0,60000000,\n";
    let case = Case::new(name, &log);
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 4, volume: 500 MB, rate: 60 GB/s}\n";
    let tapes = format!(
        "  tapes: {{type: tape_library, cartridge: 1 GB, load: 60 s, drive_rate: 1 MB/s, {library}}}\n"
    );
    let results = case.run(
        &(pool.to_owned()
            + &tapes
            + &archive(&format!(", library: tapes, migrate: {{every: 10 min{migrate}}}"))),
    );
    (meter(&results, "archive", "to_tape_ms") / 1e3, results)
}

/// The first load of a new cartridge takes longer, and only that: the files follow one after another, and the cartridge is read again after
/// a usual load.
#[test]
fn a_new_cartridge_is_characterised_once() {
    let of =
        |name: &str, first: &str| stored(name, &[1, 1], &format!("groups: [{{drives: 1}}]{first}"), "").0;
    let (usual, first) = (of("usual-load", ""), of("first-load", ", first_load: 41 min"));
    near(first - usual, 2460.0 - 60.0, 0.01);
    // Written, put away and written on: the second file finds the cartridge known. Both runs look for it at the same time, a multiple of 10 min later.
    let apart = |first: &str| {
        stored(&format!("apart{}", first.len()), &[1, 7000], &format!("groups: [{{drives: 1}}]{first}"), "").0
    };
    near(apart(", first_load: 41 min") - apart(""), (2460.0 - 60.0) / 2.0, 0.01);
}

/// A load, and a minute a file: one stream stores four one after another, two streams two each, on tapes of their own.
#[test]
fn streams_write_to_tapes_of_their_own() {
    let puts = [1, 1, 1, 1];
    let of = |name: &str, drives: u32, streams: u32| {
        stored(name, &puts, &format!("groups: [{{drives: {drives}}}]"), &format!(", streams: {streams}"))
    };
    let (one, results) = of("one-stream", 4, 1);
    near(one, 600.0 + 60.0 + 150.0, 0.01);
    is(meter(&results, "tapes", "mounts"), 1.0);
    let (two, results) = of("two-streams", 4, 2);
    near(two, 600.0 + 60.0 + 90.0, 0.01);
    is(meter(&results, "tapes", "mounts"), 2.0);
    is(meter(&results, "tapes", "most_drives_busy"), 2.0);
    // With one drive the second waits until the first has stored what is left.
    let (shared, results) = of("shared-drive", 1, 2);
    near(shared, 600.0 + (3.0 * 120.0 + 360.0) / 4.0 + 60.0, 60.0);
    is(meter(&results, "archive", "stored_to_tape"), 4.0);
}

/// Files put an hour apart: each is stored by itself, or three together, or when the first is two hours old.
#[test]
fn a_mount_waits_until_enough_is_due() {
    let puts = [0, 3600, 7200, 10_800];
    let of = |name: &str, mount: &str| stored(name, &puts, "groups: [{drives: 2}]", mount);
    is(meter(&of("no-rule", "").1, "tapes", "mounts"), 4.0);
    // The fourth is not on tape: by these rules nothing else makes a mount.
    for (name, rule) in [("files", "{files: 3}"), ("bytes", "{bytes: 180 MB}")] {
        let (time, results) = of(name, &format!(", mount: {rule}"));
        is(meter(&results, "tapes", "mounts"), 1.0);
        is(meter(&results, "archive", "stored_to_tape"), 3.0);
        near(time, 3600.0 + 600.0 + 60.0 + 120.0, 1.0);
    }
    let (_, results) = of("age", ", mount: {files: 9, age: 2 h}");
    is(meter(&results, "tapes", "mounts"), 2.0);
    is(meter(&results, "archive", "stored_to_tape"), 4.0);
    let case = Case::new("no-condition", "0,put,u,h,a,50000000,\n");
    let problems = case.try_run(
        &(POOL.to_owned()
            + LIBRARY
            + "}\n"
            + &archive(", library: tapes, migrate: {every: 1 min, mount: {}}")),
    );
    assert!(problems.unwrap_err().contains("no condition for a mount"));
}

/// Four files of a minute, a flush of 10 s after each, after every second, or once at the end.
#[test]
fn files_are_on_tape_after_a_flush() {
    let of = |name: &str, flush: &str| {
        let flush = format!(", flush: {{time: 10 s{flush}}}");
        stored(name, &[1, 1, 1, 1], "groups: [{drives: 1}]", &flush).0 - 600.0 - 60.0
    };
    near(of("flush-each", ""), (70.0 + 140.0 + 210.0 + 280.0) / 4.0, 0.01);
    near(of("flush-two", ", files: 2"), (130.0 + 260.0) / 2.0, 0.01);
    near(of("flush-bytes", ", bytes: 100 MB"), (130.0 + 260.0) / 2.0, 0.01);
    near(of("flush-last", ", files: 1000"), 250.0, 0.01);
}

/// Files that span cartridges, written by two streams at once, are read where they are.
#[test]
fn a_file_goes_on_where_its_stream_does() {
    let puts: String = (0..4).map(|at| format!("0,put,u,h,f{at},150000000,\n")).collect();
    let gets: String = (0..4).map(|at| format!("20000,get,u,h,f{at},150000000,\n")).collect();
    let case = Case::new("streams-span", &(puts + "10000,put,u,h,last,300000000,\n" + &gets));
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 10, volume: 100 MB, rate: 60 GB/s}\n";
    let library = "  tapes: {type: tape_library, groups: [{drives: 4}], drive_rate: 1 MB/s, cartridge: 100 MB, load: 60 s}\n";
    let rest = ", library: tapes, migrate: {every: 10 min, streams: 2}, purge: {weight: size_mb, high: 90 %, low: 0 %}";
    let results = case.run(&(pool.to_owned() + library + &archive(rest)));
    assert!(results.complete, "{}", results.answer);
    is(meter(&results, "tapes", "bytes_read"), 600e6);
    // Two streams fill three cartridges each; of two files each, the first begins on the first and goes on on the second.
    is(meter(&results, "tapes", "bytes_written"), 900e6);
}

/// Two copies: a file may leave the disk pool once both are on tape, each in its library.
#[test]
fn a_file_is_stored_in_each_pool_that_takes_it() {
    let puts = [1, 1];
    let library = "groups: [{drives: 4}]}\n  vault: {type: tape_library, groups: [{drives: 1}], cartridge: 1 GB, load: 30 s, drive_rate: 0.5 MB/s";
    let (time, results) = stored("copies", &puts, library, ", pools: [{streams: 2}, {library: vault}]");
    // The vault takes two minutes a file, one after the other.
    near(time, 600.0 + 30.0 + (120.0 + 240.0) / 2.0, 0.01);
    is(meter(&results, "archive", "stored_to_tape"), 2.0);
    is(meter(&results, "tapes", "bytes_written"), 120e6);
    is(meter(&results, "vault", "bytes_written"), 120e6);
    is(meter(&results, "tapes", "mounts"), 2.0);
    // Both copies in one library: on tapes of their own.
    let (_, results) = stored("copies-one-library", &puts, "groups: [{drives: 4}]", ", pools: [{}, {}]");
    is(meter(&results, "tapes", "mounts"), 2.0);
    is(meter(&results, "tapes", "bytes_written"), 240e6);
    is(meter(&results, "archive", "stored_to_tape"), 2.0);
}

/// Files of two users go to tapes of their own, and of one user to two.
#[test]
fn users_have_tape_pools() {
    let log = "0,put,u,h,a,60000000,\n0,put,v,h,b,60000000,\n0,put,w,h,c,60000000,\n9000,delete,u,h,a,,\n";
    let case = Case::new("users-pools", log);
    let pools = ", library: tapes, migrate: {every: 10 min, pools: [{users: [u]}, {}, {users: [u, v]}]}";
    let results = case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(pools)));
    is(meter(&results, "tapes", "bytes_written"), 4.0 * 60e6);
    // With two drives, a tape of u, one that u and v share, and one of the others.
    is(meter(&results, "tapes", "mounts"), 3.0);
    is(meter(&results, "archive", "stored_to_tape"), 3.0);
}

/// Of a file on tape in two libraries, the copy in the first is read, or that whose tape is mounted, or that in a library that works.
#[test]
fn a_copy_is_read_where_it_is_soonest() {
    let case =
        Case::new("copy-read", "0,stage,u,h,a,1000000,1\n1,stage,u,h,b,1000000,1\n2,stage,u,h,c,1000000,1\n");
    let vault = "  vault: {type: tape_library, groups: [{drives: 1}], cartridge: 1 GB, cartridges: 1, load: 30 s, drive_rate: 1 MB/s}\n";
    let with = |read: &str, faults: &str| {
        let pools = format!(
            ", library: tapes, migrate: {{every: 1 h, pools: [{{}}, {{library: vault}}], read: {read}}}"
        );
        let tapes = LIBRARY.replace("drives: 2", "drives: 1") + "}\n";
        let results = case.run(&(POOL.to_owned() + &tapes + vault + &archive(&pools) + faults));
        let read = |library: &str| meter(&results, library, "bytes_read") / 1e6;
        (read("tapes"), read("vault"))
    };
    assert_eq!(with("first", ""), (3.0, 0.0));
    let fails = "faults: [{component: 'tapes/drive[0]', fails: 1500 ms, returns: 100 s}]\n";
    assert_eq!(with("first", fails), (2.0, 1.0));
    // Each tape of the only one that is mounted has all files, so the copies of the others are where the first is mounted.
    assert_eq!(with("mounted", ""), (3.0, 0.0));
}

/// Cartridges of 100 MB in drives of 1 MB/s, each loaded in 10 s, and two operations that keep the run going. Gives what the answer says too.
fn maintained(name: &str, log: &str, fields: &str) -> Results {
    let case = Case::new(name, &format!("{log}5000,put,u,h,last,1000,\n"));
    let library = format!(
        "  tapes: {{type: tape_library, groups: [{{drives: 2}}], drive_rate: 1 MB/s, cartridge: 100 MB, load: 10 s, {fields}}}\n"
    );
    case.run(&(POOL.to_owned() + &library + &archive(", library: tapes")))
}

/// Each cartridge takes two loads and 100 s. Where half of each is wanted, two fill one, and the second finds it in its drive.
#[test]
fn a_repack_says_when_it_ends() {
    let put = "0,put,u,h,a,1000,\n";
    let whole = maintained("repack", put, "cartridges: 3, repack: {}");
    let of = |results: &Results, name: &str| meter(results, "tapes", name);
    is(of(&whole, "repack_s"), 3.0 * 120.0);
    is(of(&whole, "repack_progress"), 1.0);
    is(of(&whole, "repacked_bytes"), 300e6);
    assert!(whole.answer.contains("Repack of tapes: 833.3 kB/s, done in 360 s."), "{}", whole.answer);
    is(of(&whole, "bytes_written"), 300e6);
    let half = maintained("repack-half", put, "cartridges: 3, repack: {live: 50 %}");
    is(of(&half, "repack_s"), 120.0 + 110.0 + 120.0);
    is(of(&half, "bytes_written"), 150e6);
    let long = maintained("repack-long", put, "cartridges: 100, repack: {piece: 1 MB}");
    // 41 of them, and 60 MB of the next.
    is(of(&long, "repack_progress"), 4160.0 / 10_000.0);
    assert!(long.answer.contains("41.6 % done after"), "{}", long.answer);
    let busy = |results: &Results| results.bottleneck.as_ref().map_or(0.0, |limit| limit.utilisation);
    assert!(busy(&long) < 0.01, "maintenance yields to requests: {}", long.answer);
    let verified = maintained("verify", put, "cartridges: 3, verify: {}");
    is(of(&verified, "verification_s"), 3.0 * 110.0);
    assert!(
        verified.answer.contains("Verification of tapes: 909.1 kB/s, done in 330 s."),
        "{}",
        verified.answer
    );
    let two = maintained("verify-two", put, "cartridges: 3, verify: {drives: 2}");
    is(of(&two, "verification_s"), 2.0 * 110.0);
}

/// Cartridges that nobody has begun with count with the mean capacity of those of both generations, 15 TB.
#[test]
fn verification_of_two_generations_knows_its_end() {
    let verified = |days: u32| {
        let case =
            Case::new("generations", &format!("0,put,u,h,a,1000,\n{},put,u,h,b,1000,\n", days * 86_400));
        let of = |device: &str| format!("{{drives: 2, device: {device}}}");
        let groups = format!("[{}, {}]", of("ibm-lto-8"), of("ibm-lto-9"));
        let library = format!(
            "  tapes: {{type: tape_library, cartridges: 100, groups: {groups}, verify: {{drives: 4}}}}\n"
        );
        let results = case.run(&(POOL.to_owned() + &library + &archive(", library: tapes")));
        let of = |name: &str| meter(&results, "tapes", name);
        (of("verification_progress"), of("verified_bytes"))
    };
    let (all, (progress, bytes)) = (verified(30), verified(4));
    is(all.0, 1.0);
    assert!(progress < 0.4, "{progress}");
    near(bytes / progress / all.1, 1.0, 0.05);
}

/// A file of a repacked cartridge is read from the new one: of a tenth of the data, at a tenth of its position.
#[test]
fn a_repacked_file_is_read_where_it_is_then() {
    let stage = "0,put,u,h,b,1000,\n4000,stage,u,h,a,1000000,1\n";
    let of = |name: &str, repack: &str| {
        let results = maintained(name, stage, &format!("cartridges: 1, locate: 1000 s{repack}"));
        mean(&results, "stage") - 11.0
    };
    let (before, after) = (of("not-repacked", ""), of("repacked", ", repack: {live: 10 %}"));
    assert!(before > 20.0, "{before}");
    near(after, before / 10.0, 1e-3);
}

/// Pieces of 10 s, from 20 s on. A recall at 33 s has a drive at 40 s; the repack goes on when both drives are idle again.
#[test]
fn a_repack_yields_to_recalls() {
    let log = "0,put,u,h,a,1000,\n33,stage,u,h,b,1000000,1,T1,0\n";
    let results = maintained("repack-yields", log, "cartridges: 1, repack: {piece: 10 MB}");
    is(mean(&results, "stage"), 7.0 + 11.0);
    // Until 40 s it has read 20 MB; it loads both again from 51 s on.
    is(meter(&results, "tapes", "repack_s"), 51.0 + 20.0 + 80.0);
    is(meter(&results, "tapes", "bytes_written"), 100e6);
    let causes = &results.components.iter().find(|component| component.path == "tapes").unwrap();
    assert!(causes.utilisation_by_cause["maintenance"] > causes.utilisation_by_cause["host"]);
    let refused = |fields: &str, says: &str| {
        let case = Case::new("repack-refused", "0,put,u,h,a,1000,\n");
        let system = POOL.to_owned() + LIBRARY + ", " + fields + "}\n" + &archive(", library: tapes");
        let problems = case.try_run(&system).unwrap_err();
        assert!(problems.contains(says), "{problems}");
    };
    refused("repack: {to: 1}", "there is no group 1; the library has groups 0 to 0");
    let one = LIBRARY.replace("drives: 2", "drives: 1") + ", repack: {}}\n";
    let lacking = Case::new("repack-one", "0,put,u,h,a,1000,\n")
        .try_run(&(POOL.to_owned() + &one + &archive(", library: tapes")))
        .unwrap_err();
    assert!(lacking.contains("no two drives can read cartridges of `groups[0]` and write"), "{lacking}");
    refused("repack: {live: 0 %}", "nothing of the cartridges is copied");
    refused("repack: {cartridges: 2}", "2 of the 1 cartridges of the library");
    refused("verify: {cartridges: 2}", "2 of the 1 cartridges of the library");
    refused("verify: {piece: 0 B}", "a piece of no bytes takes for ever");
}

/// Every mount is a drive's last before a repair of 100 s on average; or every move an arm's; or every cartridge gets stuck.
#[test]
fn what_is_used_fails_at_a_rate() {
    let log: String = (0..300).map(|at| format!("{},stage,u,h,f{at},1000000,1\n", at * 1000)).collect();
    let fails = |name: &str, what: &str, uses: u32| {
        let case = Case::new(name, &log);
        let failures = format!(", move: 1 s, failures: {{{what}: {{uses: {uses}, repair: 100 s}}}}");
        let library = LIBRARY.replace("drives: 2", "drives: 1") + &failures;
        case.run(&(POOL.to_owned() + &library + "}\n" + &archive(", library: tapes")))
    };
    let unavailable = |results: &Results, what: &str| {
        let library = results.components.iter().find(|component| component.path == "tapes").unwrap();
        let portion = library.portions.iter().find(|portion| portion.what == what).unwrap();
        portion.unavailable.unwrap_or(0.0) * results.simulated_s
    };
    // A drive, or an arm that has moved a cartridge: 300 repairs, 600 of arms, 100 s each with a deviation of 100 s.
    for (what, portion, uses, number) in [
        ("drives", "drives of groups[0]", 1, 300.0),
        ("arms", "arms of groups[0]", 1, 600.0),
        ("drives", "drives of groups[0]", 5, 60.0),
    ] {
        let results = fails(&format!("fails-{what}-{uses}"), what, uses);
        near(meter(&results, "tapes", "failures"), number, 2.0 + 40.0 * f64::from(uses - 1).sqrt());
        let repairs = unavailable(&results, portion) / meter(&results, "tapes", "failures");
        near(repairs, 100.0, 500.0 / number.sqrt());
    }
    let stuck = fails("stuck", "cartridges", 1);
    near(meter(&stuck, "tapes", "failures"), 300.0, 1.0);
    let busy = stuck.components.iter().find(|component| component.path == "tapes").unwrap();
    // A drive holds its cartridge for 63 s, and until it is free again: 100 s with a deviation of 100 s.
    near(busy.utilisation.unwrap() * stuck.simulated_s / 300.0, 163.0, 18.0);
}

/// Puts of 50 MB/s to drives of 10 MB/s: one stream falls behind, six keep up.
#[test]
fn a_queue_that_backs_up_says_why() {
    let log: String = (0..200).map(|at| format!("{},put,u,h,f{at},1000000000,\n", at * 20)).collect();
    let case = Case::new("backs-up", &log);
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 500 GB, rate: 60 GB/s}\n";
    let said = |drives: &str, load: &str, migrate: &str| {
        let library = format!(
            "  tapes: {{type: tape_library, groups: [{{{drives}}}], drive_rate: 10 MB/s, cartridge: 1 TB, load: {load}}}\n"
        );
        let rest = archive(&format!(", library: tapes, migrate: {{every: 1 min{migrate}}}"));
        let results = case.run(&(pool.to_owned() + &library + &rest));
        let found = results.notes.iter().find(|note| note.contains("the queue for tape backs up"));
        found.cloned().unwrap_or_default()
    };
    let one = said("drives: 8", "60 s", "");
    assert!(
        one.contains("puts bring 50")
            && one.contains("1 stream can store 9.")
            && one.contains("more `migrate.streams` write more"),
        "{one}"
    );
    assert_eq!(said("drives: 8", "60 s", ", streams: 8"), "");
    for (drives, streams) in [(1, 8), (3, 5)] {
        let few = said(&format!("drives: {drives}"), "60 s", &format!(", streams: {streams}"));
        assert!(few.contains("into waiting for drives of `tapes`"), "{few}");
    }
    let flushes = said("drives: 8", "60 s", ", streams: 1, flush: {time: 300 s}");
    assert!(flushes.contains("into flushes"), "{flushes}");
}

/// Without tape a full pool stays full; what waits for space is named.
#[test]
fn a_pool_that_cannot_be_emptied_is_named() {
    let log: String = (0..30).map(|at| format!("{},put,u,h,f{at},90000000,\n", at * 60)).collect();
    let case = Case::new("full", &log);
    let purge = ", purge: {weight: size_mb, high: 80 %, low: 70 %}";
    let slow = LIBRARY.replace("rate: 1 MB/s", "rate: 0.5 MB/s");
    let results =
        case.run(&(POOL.to_owned() + &slow + "}\n" + &archive(&format!(", library: tapes{MIGRATE}{purge}"))));
    let note =
        results.notes.iter().find(|note| note.contains("cannot be emptied fast enough")).expect("a note");
    let says = |note: &str, parts: &[&str]| {
        assert!(parts.iter().all(|part| note.contains(part)), "{note}");
    };
    says(note, &["archive: the pool cannot be emptied fast enough: first full after 0.00 days, and for 0."]);
    // Four files are there after 4 minutes, of which none is on tape before ten have passed.
    let filled = "When it first was, 90 % of it was not on tape, 10 % of it was free or on its way in. Until then puts brought 360 MB, \
                  recalls 0 B, and 0 B were stored to tape";
    says(note, &[filled]);
    assert!(leg(&results, "disks")[2] > 100.0, "they wait for space: {:?}", leg(&results, "disks"));
    let no_tape = case.run(&(POOL.to_owned() + &archive("")));
    assert!(!no_tape.complete && no_tape.streams[0].in_flight == 26, "{}", no_tape.answer);
    says(no_tape.notes.last().unwrap(), &["0 B were stored to tape; nothing is stored to tape (`migrate`)"]);
}

/// 200 MB/s to one stream that writes 400 MB/s and mounts for 25 s of each 110: the stream is the limit, and no drive of four.
#[test]
fn streams_to_tape_are_a_limit_of_their_own() {
    let log: String = (0..200).map(|at| format!("{},put,u,h,f{at},20000000000,\n", at * 100)).collect();
    let case = Case::new("streams-limit", &log);
    let pool = "  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 10 TB, rate: 2 GB/s}\n";
    let tapes = "  tapes: {type: tape_library, groups: [{drives: 4}], drive_rate: 400 MB/s, cartridge: 18 TB, load: 15 s, move: 10 s}\n";
    let rest = archive(", library: tapes, migrate: {every: 1 min}");
    let limit = case.run(&(pool.to_owned() + tapes + &rest)).bottleneck.unwrap();
    assert_eq!((limit.component.as_str(), limit.what.as_deref()), ("archive", Some("streams to tape")));
    assert!((0.55..0.75).contains(&limit.utilisation) && limit.estimate && !limit.saturated, "{limit:?}");
}

/// Five files into room for four, which may be purged after an hour: drives are idle meanwhile, and that says nothing of the load that can be borne.
#[test]
fn requests_that_wait_for_space_leave_no_headroom() {
    let log: String = (0..5).map(|at| format!("0,put,u,h,f{at},100000000,\n")).collect::<String>()
        + "9000,get,u,h,f4,100000000,\n";
    let case = Case::new("space", &log);
    let with = |age: &str| {
        let purge = format!(
            ", migrate: {{every: 5 min}}, purge: {{weight: size_mb, high: 90 %, low: 80 %, min_age: {age}}}"
        );
        case.run(&(POOL.to_owned() + LIBRARY + "}\n" + &archive(&format!(", library: tapes{purge}"))))
    };
    let lacks = with("1 h");
    assert_eq!(lacks.bottleneck.as_ref().unwrap().saturates_at, None, "{}", lacks.answer);
    let note = "requests waited for space in disks for 4";
    assert!(lacks.notes.iter().any(|found| found.starts_with(note)), "{:?}", lacks.notes);
}

#[test]
fn files_are_replaced_and_deleted() {
    let log = "0,put,u,h,a,50000000,\n20,put,u,h,a,60000000,\n40,get,u,h,a,60000000,\n41,delete,u,h,a,,\n60,get,u,h,a,60000000,\n70,put,u,h,b,390000000,\n";
    let case = Case::new("deleted", log);
    let results = case.run(&(POOL.to_owned() + &archive("")));
    is(mean(&results, "get") * 2.0, 12.0);
    is(mean(&results, "delete"), 0.0);
    is(mean(&results, "put") * 3.0, 10.0 + 12.0 + 78.0);
    assert!(
        results.notes.iter().any(|note| note.contains("1 operation on files that the log deleted before"))
    );
}

/// A file larger than a volume lies on two; one larger than a cartridge too, and is mounted twice.
#[test]
fn large_files_span_volumes_and_cartridges() {
    let log = "0,put,u,h,a,150000000,\n30000,get,u,h,a,150000000,\n";
    let case = Case::new("span", log);
    let pool = "  disks: {type: disk_pool, chains: 2, volumes: 1, volume: 100 MB, rate: 5 MB/s}\n";
    let library = LIBRARY.replace("cartridge: 1 GB", "cartridge: 100 MB");
    let purge = ", purge: {weight: size_mb, high: 50 %, low: 10 %}";
    let results = case
        .run(&(pool.to_owned() + &library + "}\n" + &archive(&format!(", library: tapes{MIGRATE}{purge}"))));
    is(mean(&results, "put"), 30.0);
    is(meter(&results, "tapes", "mounts"), 4.0);
    is(mean(&results, "get"), 60.0 + 100.0 + 60.0 + 50.0 + 30.0);
}

#[test]
fn what_cannot_work_is_refused() {
    let case = Case::new("refused", "0,get,u,h,a,50000000,1\n");
    let pool = POOL.to_owned();
    let refused = |system: &str, says: &str| case.refuses(system, says);
    refused(
        &(pool.clone() + &archive("")),
        "1 file on tape when the log starts, but the archive has no library",
    );
    refused(
        &(pool.clone() + &archive(", library: disks")),
        "`disks` is a `disk_pool`; a `tape_library` belongs here",
    );
    refused(&(pool.clone() + &archive(MIGRATE)), "the archive has no `library`");
    let purge = ", purge: {weight: 'siez_mb * 2', high: 80 %, low: 70 %}";
    refused(
        &(pool.clone() + &archive(purge)),
        "column 1: unknown name `siez_mb`; variables are size_mb, hours_since_access",
    );
    refused(
        &(pool.clone() + &archive(", purge: {weight: '1', high: 70 %, low: 80 %}")),
        "`low` (80 %) must not be above `high` (70 %)",
    );
}

/// A system with a disk pool and this library.
fn with_tape(library: &str, more: &str) -> String {
    POOL.to_owned() + library + "}\n" + &archive(more)
}

#[test]
fn a_library_that_cannot_work_is_refused() {
    let case = Case::new("refused-library", "0,get,u,h,a,50000000,1\n");
    let refused = |system: &str, says: &str| case.refuses(system, says);
    let beyond = Case::new("beyond", "0,get,u,h,a,50000000,1,T1,1000000000\n");
    let says = "a file begins at 1 GB of its cartridge, which holds 1 GB";
    beyond.refuses(&with_tape(LIBRARY, ", library: tapes"), says);
    refused(&with_tape(LIBRARY, ", library: tapes, migrate: {every: 0 s}"), "a migration that never sleeps");
    refused(
        &with_tape(&(LIBRARY.to_owned() + ", longest_wait: 1 h"), ", library: tapes"),
        "in order of arrival",
    );
    for (reserved, says) in [
        ("drives: 2, for_reads: 2", "no drive may write the cartridges of `groups[0]`"),
        ("drives: 1, for_writes: 1", "no drive may read the cartridges of `groups[0]`"),
        ("drives: 2}, {drives: 3, for_reads: 3", "no drive may write the cartridges of `groups[1]`"),
    ] {
        refused(&with_tape(&LIBRARY.replace("drives: 2", reserved), ", library: tapes"), says);
    }
    for (fields, says) in [
        (", queue: deadline", "requests are served by deadline, and none has one"),
        (", queue: {aged: 0 s}", "a wait of no time counts as a level of priority"),
        (", shares: [{users: [u], reads: 1}, {users: [v, u]}]", "`u` is named twice; a user has one share"),
        (", shares: [{reads: 1}, {writes: 1}]", "two shares without `users`"),
    ] {
        refused(&with_tape(&(LIBRARY.to_owned() + fields), ", library: tapes"), says);
    }
    for (fields, says) in [
        ("streams: 2, pools: [{streams: 2}]", "each of the `pools` has streams of its own"),
        ("pools: [{users: [u]}]", "leave `users` out of one of them"),
        ("pools: [{}, {library: disks}]", "`disks` is a `disk_pool`; a `tape_library` belongs here"),
    ] {
        let migrate = format!(", library: tapes, migrate: {{every: 1 min, {fields}}}");
        refused(&with_tape(LIBRARY, &migrate), says);
    }
    let passes =
        LIBRARY.replace("drives: 2", "drives: 2}, {drives: 3, for_reads: 3") + ", pass_through: 30 s";
    case.run(&with_tape(&passes, ", library: tapes"));
}

#[test]
fn a_front_and_a_target_that_take_no_file_are_refused() {
    let case = Case::new("refused-front", "0,get,u,h,a,50000000,1\n");
    let refused = |system: &str, says: &str| case.refuses(system, says);
    let pool = POOL.to_owned();
    let front = "  front: {type: front, ports: [{number: 1, up_to: 4 MB}, {number: 1, above: 5 MB}]}\n";
    refused(&(pool.clone() + front + &archive(", front: front")), "no port takes a file of");
    refused("  archive: {type: station, service: 1 s}", "a log of file operations needs an archive");
    refused(
        &(pool.clone()
            + &pool.replace("disks", "more")
            + "  archive: {type: array, level: raid0, of: [disks, more], stripe_unit: 1 MB}\n"),
        "serves no blocks",
    );
}

/// A log at random: few files, so that they are read, replaced, deleted and staged while others use them.
fn logs() -> impl Strategy<Value = String> {
    let op =
        prop::sample::select(vec!["get", "get", "put", "put", "put", "stage", "stage", "delete", "cancel"]);
    let one = (0u32..400, op, 0u32..3, 0u32..12, 1u64..90_000_000, any::<bool>());
    prop::collection::vec(one, 1..80).prop_map(|all| {
        let mut now = 0;
        let line = |(gap, op, user, file, bytes, staged): (u32, &str, u32, u32, u64, bool)| {
            now += gap;
            format!("{now},{op},u{user},h{},f{file},{bytes},{}\n", user % 2, u8::from(staged))
        };
        all.into_iter().map(line).collect()
    })
}

/// Archives at random, some too small for their load.
fn archives() -> impl Strategy<Value = String> {
    let queue = prop::sample::select(vec!["first_that_fits", "head_blocks", "joint"]);
    let weight = prop::sample::select(vec![
        "size_mb",
        "ceil(size_mb) * ceil(hours_since_access) ** 1.5",
        "-accesses",
        "hours_on_disk",
    ]);
    let order = prop::sample::select(vec!["by_volume", "oldest", "smallest", "largest"]);
    let recall = prop::sample::select(vec![
        "arrival",
        "by_cartridge",
        "ascending, batch: 2, longest_wait: 1 min",
        "nearest, wraps: 4, accumulate: 1 min",
        "recommended, wraps: 4",
    ]);
    let migrate = prop::sample::select(vec![
        "",
        ", streams: 3",
        ", streams: 2, mount: {bytes: 50 MB, age: 5 min}, flush: {time: 5 s, files: 3}",
        ", mount: {files: 3, age: 1 h}, flush: {time: 1 s, bytes: 60 MB}",
        ", pools: [{streams: 2}, {library: vault}], read: mounted",
        ", pools: [{users: [u0], streams: 2}, {}, {users: [u0, u1]}, {}], flush: {time: 5 s, files: 3}",
    ]);
    let shares = prop::sample::select(vec![
        "",
        ", queue: priority, shares: [{users: [u0], reads: 1, writes: 1, priority: 2}, {priority: 1}]",
        ", queue: {aged: 1 min}, shares: [{users: [u0, u1], reads: 1, priority: 1}]",
        ", queue: deadline, shares: [{users: [u1], reads: 1, within: 2 min}, {writes: 1}]",
        ", pass_through: 10 s, repack: {piece: 9 MB, live: 40 %}, verify: {drives: 2, piece: 20 MB}",
        ", repack: {piece: 40 MB, drives: 4, to: 1}, pass_through: 10 s, failures: {drives: {uses: 4, repair: 1 min}}",
        ", failures: {arms: {uses: 5, repair: 30 s}, cartridges: {uses: 3, repair: 20 s}}",
    ]);
    let buffers = prop::sample::select(vec![
        "",
        ", pin: 3 min",
        ", pin: 2 min, recalls: {pool: recalled, purge: {weight: size_mb, high: 50 %, low: 10 %}}",
        ", recalls: {pool: recalled, purge: {weight: hours_since_access, high: 0 %, low: 0 %, min_age: 1 min}}",
    ]);
    let chosen = (queue, weight, order, 0u32..3, 1u32..4, recall, 0u32..2, (migrate, buffers), shares);
    chosen.prop_map(|(queue, weight, order, hold, drives, recall, age, (migrate, buffers), shares)| {
        format!(
            "  front: {{type: front, per_user: 2, per_host: 3, queue: {queue}, get_latency: 0.2 s, \
             ports: [{{number: 1, up_to: 20 MB}}, {{number: 1, above: 5 MB}}]}}\n  net: {{type: network, rate: 7 MB/s}}\n\
             \x20 disks: {{type: disk_pool, chains: 2, volumes: 4, volume: 50 MB, rate: 5 MB/s}}\n\
             \x20 tapes: {{type: tape_library, groups: [{{drives: {drives}, rate: 3 MB/s}}, {{drives: 1, rate: 2 MB/s}}], cartridge: 70 MB, \
             cartridges: 3, load: 20 s, locate: 30 s, rewind: 30 s, move: 5 s, hold: {hold} min, recall: {recall}{shares}}}\n\
             \x20 vault: {{type: tape_library, groups: [{{drives: 1}}], cartridge: 60 MB, cartridges: 2, load: 10 s, drive_rate: 4 MB/s}}\n\
             \x20 recalled: {{type: disk_pool, chains: 1, volumes: 2, volume: 50 MB, rate: 6 MB/s}}\n\
             \x20 archive: {{type: archive, front: front, network: net, pool: disks, library: tapes{buffers}, \
             contents: {{share: 20 %, file: 7 MB}}, migrate: {{every: 1 min, min_age: {age} min, order: {order}{migrate}}}, \
             purge: {{weight: '{weight}', high: 60 %, low: 30 %, min_age: {age} min}}}}\n"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every run keeps every law (an error otherwise), and nothing is left in flight but what waits for a pool without an end.
    #[test]
    fn any_archive_keeps_the_laws(log in logs(), system in archives()) {
        let case = Case::new("any", &log);
        match case.try_run(&system) {
            Ok(results) => prop_assert!(results.complete, "{}: {:?}", results.answer, results.notes),
            // Some logs put more into the pool before they begin than it holds.
            Err(problems) => prop_assert!(problems.contains("are in the pool when the log begins"), "{problems}"),
        }
    }
}
