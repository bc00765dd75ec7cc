//! Pools: the accesses of small writes, what fails and recovers, and what is refused.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

use crate::near::near;

fn run(text: &str) -> Results {
    let found = simulate(text, "pool.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}\n{text}", problems.rendered())).results
}

fn refused(text: &str) -> String {
    let found = simulate(text, "pool.yaml", &[], &Options::default(), &Progress::default());
    found.expect_err("this cannot be").rendered()
}

/// A pool of servers with two drives each.
fn pool(servers: u32, fields: &str, stream: &str, more: &str) -> String {
    format!(
        "parts:
  drive: {{type: station, servers: 4, service: 100 us, capacity: 1 GB}}
  node: {{type: server, cores: 4, submit: 5 us, complete: 5 us}}
  port: {{type: link, preset: ethernet_25g}}
system:
  pool: {{type: pool, of: drive, servers: {servers}, drives: 2, server: node, link: port, size: 1 GB, {fields}}}
workload: {{users: {{to: pool, {stream}}}}}
{more}
"
    )
}

fn meter(results: &Results, name: &str) -> f64 {
    let pool = results.components.iter().find(|component| component.path == "pool").expect("there is a pool");
    pool.meters.get(name).copied().flatten().unwrap_or_else(|| panic!("{name} of {:?}", pool.meters))
}

/// A drive that fails between the reads and the writes of a small write misses it, whichever it is, and the write is answered.
#[test]
fn a_drive_may_fail_within_a_write() {
    for drive in 0..3 {
        let text = format!(
            "parts: {{drive: {{type: station, service: 10 ms, capacity: 1 MB}}}}
system:
  pool:
    {{type: pool, of: drive, servers: 3, drives: 1, groups: 1, size: 512 KiB, object: 256 KiB,
     erasure: {{data: 2, parity: 1, small_writes: reconstruct}}}}
workload: {{users: {{to: pool, size: 8 KiB, op: write, footprint: 8 KiB, arrivals: {{closed: {{depth: 1}}}}}}}}
faults: [{{component: 'pool/drive[{drive}]', fails: 5 ms}}]
run: {{requests: 4, warm_up: none}}
"
        );
        let found = run(&text);
        assert_eq!((found.streams[0].completed, found.streams[0].failed), (4, 0), "drive {drive}");
    }
}

/// Reads and writes of drives for a write to an erasure code with units of 16 KiB, as published for Ceph Tentacle: for each code and size
/// those of a partial write and of a parity delta; and before, those of a whole stripe.
#[test]
fn small_writes_take_as_many_accesses_as_published() {
    let published = [
        (2, "4 KiB", (1, 3), (3, 3)),
        (2, "16 KiB", (1, 3), (3, 3)),
        (4, "4 KiB", (3, 3), (3, 3)),
        (4, "16 KiB", (3, 3), (3, 3)),
        (6, "16 KiB", (5, 3), (3, 3)),
        (6, "32 KiB", (4, 4), (4, 4)),
        (8, "8 KiB", (7, 3), (3, 3)),
        (8, "32 KiB", (6, 4), (4, 4)),
    ];
    let counts = |data: u32, size: &str, code: &str| {
        let fields = format!("groups: 16, erasure: {{data: {data}, parity: 2, unit: 16 KiB, {code}}}");
        let stream = format!("arrivals: {{poisson: 10 /s}}, size: {size}, op: write");
        let found = run(&pool(10, &fields, &stream, "run: {requests: 400}"));
        (meter(&found, "reads_per_request"), meter(&found, "writes_per_request"))
    };
    for (data, size, partial, delta) in published {
        let is = |code: &str, (reads, writes): (u32, u32)| {
            assert_eq!(counts(data, size, code), (reads.into(), writes.into()), "{data} + 2, {size}, {code}");
        };
        is("small_writes: reconstruct", partial);
        is("small_writes: modify", delta);
        is("small_writes: cheaper", if delta.0 < partial.0 { delta } else { partial });
        is("access: whole_stripes", (data, data + 2));
    }
}

const CODE: &str = "groups: 512, object: 256 KiB, erasure: {data: 4, parity: 2, unit: 16 KiB}";
const MIXED: &str = "arrivals: {poisson: 2000 /s}, size: 4 KiB, op: {reads: 50 %}";

/// Of six servers with a piece of each group, one is down: a read of a lost unit takes four others.
#[test]
fn reads_of_lost_units_are_computed_from_others() {
    let reads = "arrivals: {poisson: 2000 /s}, size: 4 KiB, op: read";
    let found = run(&pool(
        6,
        CODE,
        reads,
        "faults: [{component: 'pool/node[2]', fails: 0 s}]\nrun: {requests: 20000}",
    ));
    // A unit of data is lost in four of six groups on average; then one of four.
    near(meter(&found, "reads_per_request"), 1.0 + 3.0 * (4.0 / 6.0) * (1.0 / 4.0), 0.05);
    assert_eq!(found.streams[0].failed, 0);
}

/// The read of a copy and its write, one object after another.
#[test]
fn recovery_takes_the_time_of_its_accesses() {
    let text = "parts: {drive: {type: station, service: 1 ms, capacity: 1 GB}}
system: {pool: {type: pool, of: drive, servers: 3, drives: 1, replicas: 2, groups: 1, size: 400 MiB, recovery: {out_after: 1 s, objects_per_group: 1}}}
workload: {users: {to: pool, arrivals: {poisson: 0.001 /s}, size: 4 KiB}}
faults: [FAULTS]
run: {time: 20 s, requests: 1000000}
";
    let all = [
        "{component: 'pool/drive[0]', fails: 1 s}",
        "{component: 'pool/drive[1]', fails: 1 s}",
        "{component: 'pool/drive[2]', fails: 1 s}",
    ];
    let mut recovered = 0;
    for fault in all {
        let found = run(&text.replace("FAULTS", fault));
        let pool = &found.components[0];
        if pool.meters.contains_key("recovered_objects") {
            recovered += 1;
            assert_eq!(meter(&found, "recovered_objects"), 100.0);
            assert_eq!(meter(&found, "rebuilt_bytes"), 400.0 * 1024.0 * 1024.0);
            near(meter(&found, "rebuild_s"), 0.2, 1e-9);
            assert_eq!(meter(&found, "rebuild_progress"), 1.0);
        }
    }
    assert_eq!(recovered, 2, "two of three drives hold a copy");
}

/// A server fails and is out; then it returns. Nothing is lost meanwhile, and each time all that moves moves once.
#[test]
fn a_server_that_fails_and_returns_costs_no_request() {
    let fields = format!("{CODE}, recovery: {{out_after: 1 s, groups_per_drive: 4}}");
    let faults = "faults: [{component: 'pool/node[2]', fails: 1 s, returns: 8 s}]\nrun: {time: 20 s, requests: 1000000}";
    let found = run(&pool(9, &fields, MIXED, faults));
    let events: Vec<String> = found.phases.iter().flat_map(|phase| phase.after.clone()).collect();
    let expected = [
        "pool/node[2] fails",
        "pool begins to rebuild",
        "pool ends its rebuild",
        "pool/node[2] returns",
        "pool begins to rebuild",
        "pool ends its rebuild",
    ];
    assert_eq!(events, expected);
    assert_eq!((found.streams[0].failed, meter(&found, "lost_objects")), (0, 0.0));
    assert_eq!(meter(&found, "rebuild_progress"), 1.0);
    assert_eq!(found.components[0].state, None);
    assert_eq!(found.answer, run(&pool(9, &fields, MIXED, faults)).answer);
}

/// More failures than the code has parity: requests fail, and what empty drives held is lost.
#[test]
fn too_many_failures_lose_data() {
    let three = |more: &str| {
        let fault = |at: u32| format!("{{component: 'pool/drive[{at}]', fails: 1 s{more}}}");
        format!("faults: [{}, {}, {}]\nrun: {{time: 4 s, requests: 1000000}}", fault(0), fault(2), fault(4))
    };
    let down = run(&pool(6, CODE, MIXED, &three("")));
    assert!(down.streams[0].failed > 0);
    assert_eq!(down.components[0].state, Some("unavailable"));
    let back = run(&pool(6, CODE, MIXED, &three(", returns: 2 s")));
    assert_eq!((back.phases.last().expect("phases").streams[0].failed, back.components[0].state), (0, None));
    let empty = run(&pool(6, CODE, MIXED, &three(", replaced: 2 s")));
    assert!(meter(&empty, "lost_objects") > 0.0 && meter(&empty, "rebuild_progress") < 1.0);
    assert_eq!(empty.components[0].state, Some("lost data"));
}

/// Drives with shares: recovery keeps to its limit on each of the eleven that are left. A piece takes four reads and a write.
#[test]
fn recovery_keeps_to_its_share() {
    let recovery = "recovery: {out_after: 100 ms, groups_per_drive: 8}";
    let faults =
        "faults: [{component: 'pool/slice[3]', fails: 100 ms}]\nrun: {time: 60 s, requests: 10000000}";
    let text = pool(6, &format!("{CODE}, {recovery}"), MIXED, faults)
        .replace("of: drive, servers", "of: slice, servers");
    let of_limit = |limit: &str| {
        let slice = format!(
            "parts:\n  slice: {{type: shares, of: drive, depth: 4, background: {{weight: 1{limit}}}}}"
        );
        let found = run(&text.replace("parts:", &slice));
        assert_eq!(meter(&found, "rebuild_progress"), 1.0);
        (5.0 * meter(&found, "recovered_objects") / 11.0, meter(&found, "rebuild_s"))
    };
    let ((_, free_s), (each, limited_s)) = (of_limit(""), of_limit(", limit: 100 /s"));
    assert!(
        limited_s > each / 100.0 && free_s < each / 100.0,
        "{free_s} s, {limited_s} s for {each} on each drive"
    );
}

/// A request over four objects writes three copies of each.
#[test]
fn accesses_are_counted_per_request_and_not_per_object() {
    let fields = "groups: 16, replicas: 3, object: 256 KiB";
    let writes = "arrivals: {poisson: 10 /s}, size: 1 MiB, align: 1 MiB, op: write";
    let found = run(&pool(5, fields, writes, "run: {requests: 400}"));
    assert_eq!(meter(&found, "writes_per_request"), 12.0);
}

/// Reads of replicas go to the primary of each group, or to all of its drives.
#[test]
fn any_replica_can_be_read() {
    let reads = "arrivals: {poisson: 1000 /s}, size: 4 KiB, op: read";
    let asked = |from: &str| {
        let fields = format!("replicas: 3, groups: 2, read_from: {from}");
        let found = run(&pool(5, &fields, reads, "run: {requests: 2000}"));
        assert_eq!(meter(&found, "reads_per_request"), 1.0);
        let drives = found.components.iter().filter(|component| component.kind == "station");
        drives.filter(|drive| drive.utilisation > Some(0.0)).count()
    };
    assert!(asked("primary") <= 2 && asked("any") >= 3);
}

/// Two racks with a replica of everything in each, and clients in both: bytes that leave racks for 1,000 requests of 4 KiB.
fn crossed(fields: &str, op: &str) -> f64 {
    let fields = format!("replicas: 2, groups: 64, racks: 2, domain: rack, uplink: spine, {fields}");
    let stream = format!("arrivals: {{poisson: 1000 /s}}, size: 4 KiB, align: 4 KiB, op: {op}");
    let text = pool(4, &fields, &stream, "run: {requests: 1000, warm_up: none}");
    let found = run(&text.replace("system:", "  spine: {type: link, rate: 10 GB/s}\nsystem:"));
    assert_eq!(found.streams[0].failed, 0);
    let spines: Vec<_> = found.components.iter().filter(|of| of.path.starts_with("pool/spine[")).collect();
    assert_eq!(spines.len(), 2);
    // What leaves a rack enters the other, unless it goes outside.
    spines.iter().map(|of| of.bytes_per_s).sum::<f64>() * found.simulated_s / 4096.0
}

/// A read from the nearest replica stays in its rack, one from the primary or from any leaves it every other time and crosses two uplinks.
/// A write goes to both racks: from the primary, which every other client is not beside.
#[test]
fn uplinks_carry_what_goes_between_racks() {
    let inside = |from: &str, op: &str| crossed(&format!("clients: in_racks, read_from: {from}"), op);
    near(inside("nearest", "read"), 0.0, 1e-9);
    near(inside("primary", "read"), 1000.0, 100.0);
    near(inside("any", "read"), 1000.0, 100.0);
    near(inside("nearest", "write"), 2000.0 + 1000.0, 100.0);
    near(crossed("read_from: any", "read"), 1000.0, 1.0);
    near(crossed("", "write"), 1000.0 + 2000.0, 1.0);
}

/// Clients of a rack read from the other one while theirs cannot be reached; those behind its uplink reach nothing.
#[test]
fn what_is_nearest_changes_with_what_works() {
    let of = |fault: &str| {
        let fields = "replicas: 2, groups: 64, racks: 2, domain: rack, uplink: spine, clients: in_racks, read_from: nearest";
        let reads = "arrivals: {poisson: 1000 /s}, size: 4 KiB, op: read";
        let end = format!(
            "faults: [{{component: '{fault}', fails: 1 ms}}]\nrun: {{requests: 2000, warm_up: none}}"
        );
        let text = pool(2, fields, reads, &end);
        run(&text.replace("system:", "  spine: {type: link, rate: 10 GB/s}\nsystem:"))
    };
    assert_eq!(of("pool/node[0]").streams[0].failed, 0);
    near(of("pool/spine[0]").streams[0].failed as f64, 1000.0, 100.0);
}

#[test]
fn what_cannot_be_placed_is_refused() {
    let both = refused(&pool(6, "replicas: 3, erasure: {data: 4, parity: 2}, groups: 8", MIXED, ""));
    assert!(both.contains("a pool has either replicas or an erasure code"), "{both}");
    let few = refused(&pool(5, CODE, MIXED, ""));
    assert!(few.contains("6 pieces need as many failure domains; there are 5"), "{few}");
    let large = refused(&pool(6, CODE, MIXED, "").replace("size: 1 GB", "size: 9 GB"));
    assert!(large.contains("pieces of") && large.contains("the drives have room for"), "{large}");
    let uneven = refused(&pool(6, CODE, MIXED, "").replace("size: 1 GB", "size: 7.9 GB"));
    assert!(uneven.contains("which has room for") && uneven.contains("pool/drive["), "{uneven}");
    let one = refused(&pool(6, &format!("{CODE}, racks: 3, uplink: port"), MIXED, ""));
    assert!(one.contains("`uplink` is the part of `link`"), "{one}");
    let racks = refused(&pool(6, &format!("{CODE}, racks: 7"), MIXED, ""));
    assert!(racks.contains("more racks than servers"), "{racks}");
    let nearest = refused(&pool(6, "replicas: 3, groups: 8, read_from: nearest", MIXED, ""));
    assert!(nearest.contains("set `clients: in_racks`"), "{nearest}");
    let link = refused(&pool(6, CODE, MIXED, "").replace("link: port", "link: drive"));
    assert!(link.contains("a part of `type: link` belongs here"), "{link}");
    let odd = refused(&pool(6, &CODE.replace("256 KiB", "100 KiB"), MIXED, ""));
    assert!(odd.contains("no whole number of stripes"), "{odd}");
    let shares =
        refused(&pool(6, CODE, MIXED, "").replace("  node:", "  s: {type: shares, depth: 2}\n  node:"));
    assert!(shares.contains("shares are of one component"), "{shares}");
}

/// A pool of 48 objects in three copies on as many drives, which take 10 ms for anything, as much at a time as comes.
fn scrubbed(scrub: &str, stream: &str, more: &str) -> Results {
    run(&format!(
        "parts: {{drive: {{type: station, servers: 64, service: 10 ms, capacity: 100 MB}}}}
system:
  pool:
    {{type: pool, of: drive, servers: 3, drives: 1, replicas: 3, groups: 4, object: 64 KiB, size: 3 MiB,
     scrub: {{objects: 4, {scrub}}}}}
workload: {{users: {{to: pool, size: 4 KiB, {stream}}}}}
{more}
"
    ))
}

const FEW: &str = "op: read, arrivals: {poisson: 1 /s}";

/// Each piece of 64 KiB is read in four reads of 10 ms, one after another in a group; three drives read the same objects at once.
#[test]
fn a_scrub_reads_all_pieces_once() {
    for (groups, sleep_s) in [(1.0, 0.0), (2.0, 0.0), (4.0, 0.0), (1.0, 0.5)] {
        let fields = format!("read: 16 KiB, starts: 1 s, groups_per_drive: {groups}, sleep: {sleep_s} s");
        let found = scrubbed(&fields, FEW, "run: {time: 60 s, warm_up: none}");
        assert_eq!(meter(&found, "scrubbed_bytes"), 3.0 * 48.0 * 65_536.0);
        assert_eq!(meter(&found, "scrub_progress"), 1.0);
        near(meter(&found, "scrub_s"), (48.0 * 4.0 * 0.01 + 12.0 * sleep_s) / groups, 1e-9);
        let happened: Vec<&String> = found.phases.iter().flat_map(|phase| &phase.after).collect();
        assert_eq!(happened, ["pool begins to scrub", "pool ends its scrub"], "{fields}");
    }
}

/// A write to one of four objects waits until all are compared, which takes 640 ms: with a probability of 4/48, for half of that in the mean.
/// Some 640 of 7,680 writes wait, so that the mean has a standard deviation of 4.6 %.
#[test]
fn writes_wait_for_the_objects_that_are_compared() {
    let (scrub, run) = ("read: 4 KiB, groups_per_drive: 1", "run: {time: 7.68 s, warm_up: none}");
    let during = scrubbed(scrub, "op: write, arrivals: {poisson: 1000 /s}, pattern: uniform", run);
    let expected = 4.0 / 48.0 * 320.0;
    near(during.streams[0].response.mean_ms - 10.0, expected, 0.14 * expected);
    let reads = scrubbed(scrub, "op: read, arrivals: {poisson: 10 /s}", run);
    assert_eq!(reads.streams[0].response.max_ms, 10.0, "reads wait for nothing");
}

/// A drive that fails is passed over; what it missed recovers first when it returns, and then the scrub goes on.
#[test]
fn a_scrub_waits_for_recovery() {
    let writes = "op: write, arrivals: {poisson: 200 /s}";
    let faults = "faults: [{component: 'pool/drive[1]', fails: 0.5 s, returns: 1 s}]\nrun: {time: 20 s, warm_up: none}";
    let found = scrubbed("read: 16 KiB, groups_per_drive: 1", writes, faults);
    let happened: Vec<&str> =
        found.phases.iter().flat_map(|phase| &phase.after).map(String::as_str).collect();
    let at = |what: &str| {
        happened.iter().position(|event| *event == what).unwrap_or_else(|| panic!("{happened:?}"))
    };
    assert!(at("pool begins to scrub") < at("pool begins to rebuild"), "{happened:?}");
    assert!(at("pool ends its rebuild") < at("pool ends its scrub"), "{happened:?}");
    assert_eq!(meter(&found, "scrub_progress"), 1.0);
    let missed = 3.0 * 48.0 * 65_536.0 - meter(&found, "scrubbed_bytes");
    assert!((1.0..=48.0 * 65_536.0).contains(&missed), "{missed}");
}

#[test]
fn a_scrub_of_nothing_is_refused() {
    for (field, says) in [
        ("objects: 0", "at least 1"),
        ("groups_per_drive: 0", "at least 1"),
        ("read: 0 B", "must be above 0"),
    ] {
        let scrub = format!("groups: 16, replicas: 3, scrub: {{{field}}}");
        let problems = refused(&pool(5, &scrub, MIXED, ""));
        assert!(problems.contains(says), "{problems}");
    }
}

/// The fullest drive is that of the layout, whatever a run discards at its beginning.
#[test]
fn the_fullest_drive_does_not_depend_on_the_run() {
    let of = |run: &str| {
        let text =
            pool(5, "groups: 64, replicas: 3", "arrivals: {poisson: 2000 /s}, size: 4 KiB, op: write", run);
        meter(&self::run(&text), "fullest_drive")
    };
    let (short, long) = (of("run: {requests: 100, warm_up: none}"), of("run: {requests: 30000}"));
    assert!(short > 1.0 && short == long, "{short} {long}");
}

/// Three servers cannot hold three replicas apart when one is gone: what came to other drives of it is not all, whether users read or write.
#[test]
fn what_has_no_other_place_is_not_called_rebuilt() {
    for op in ["read", "write"] {
        let stream = format!("arrivals: {{poisson: 50 /s}}, size: 4 KiB, op: {op}");
        let fails = |drive: u32| format!("{{component: 'pool/drive[{drive}]', fails: 1 s}}");
        let faults = format!("faults: [{}, {}]\nrun: {{time: 2 min}}", fails(0), fails(1));
        let fields = "groups: 64, replicas: 3, recovery: {out_after: 5 s}";
        let found = run(&pool(3, fields, &stream, &faults));
        assert!(!found.answer.contains("done in"), "{op}: {}", found.answer);
    }
}

/// Data whose drives have all failed is unavailable, and not degraded, when the recovery of everything else has ended.
#[test]
fn what_cannot_be_reached_is_unavailable() {
    let fails = |drive: u32| format!("{{component: 'pool/drive[{drive}]', fails: {} s}}", 1 + drive / 2);
    let faults = format!("faults: [{}, {}, {}]\nrun: {{time: 1 min}}", fails(0), fails(2), fails(4));
    let fields = "groups: 128, replicas: 2, recovery: {out_after: 10 s}";
    let found = run(&pool(6, fields, "arrivals: {poisson: 500 /s}, size: 4 KiB, op: read", &faults));
    let state = found.components.iter().find(|component| component.path == "pool").unwrap().state;
    assert!(found.streams[0].failed > 0 && state == Some("unavailable"), "{state:?}");
}

/// Each of 200 groups has one whole object of 4 MiB, 839 MB of 1 GB together; each of 20 has eleven, 923 MB.
#[test]
fn a_pool_says_how_much_of_its_size_it_addresses() {
    let text = |groups: u32| {
        let stream = "arrivals: {poisson: 100 /s}, size: 4 KiB, align: 4 KiB, op: read";
        pool(4, &format!("replicas: 2, groups: {groups}"), stream, "run: {requests: 1000}")
    };
    let says = |groups| {
        run(&text(groups))
            .notes
            .iter()
            .any(|note| note.contains("`pool` addresses 800 MiB of its `size` of 1 GB"))
    };
    assert!(says(200) && !says(20), "{:?}", run(&text(200)).notes);
}
