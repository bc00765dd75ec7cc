//! Log-structured merge trees, against what a hand can compute.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::{Results, StreamResults};
use headrace_scenario::run::{End, Options};
use headrace_scenario::simulate;

/// A store of 16 MiB in tables of 64 KiB on a station that takes 1 ms for each.
fn store(fields: &str, workload: &str, run: &str) -> Results {
    let text = format!(
        "system:\n  d: {{type: station, service: 1 ms, capacity: 4 GB}}\n  s: {{type: lsm_tree, to: d, keys: 16 MiB, memtable: 64 KiB, table: 64 KiB, \
         level1: 256 KiB, fan_out: 4, request: 64 KiB{fields}}}\nworkload:\n{workload}\nrun: {run}\n"
    );
    simulate(&text, "lsm.yaml", &[], &Options::default(), &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

const PUTS: &str = "  puts: {to: s, op: write, size: 4 KiB, arrivals: ";

fn meter(found: &Results, name: &str) -> f64 {
    found.components[1].meters[name].unwrap()
}

#[track_caller]
fn near(found: f64, by_hand: f64, tolerance: f64) {
    assert!((found / by_hand - 1.0).abs() <= tolerance, "{found}, by hand {by_hand}");
}

fn first(found: &Results) -> &StreamResults {
    &found.streams[0]
}

/// Each put is written once, when its memtable becomes a table; it waits for nothing.
#[test]
fn without_compactions_puts_are_written_once() {
    let never = ", written: 50 %, level0: {compact_at: 10000, slow_at: 10000, stop_at: 10000}";
    let found = store(never, &format!("{PUTS}{{poisson: 1000 /s}}}}"), "{requests: 40000}");
    near(meter(&found, "write_amplification"), 1.0, 0.01);
    assert_eq!(first(&found).response.max_ms, 0.0);
    assert_eq!(meter(&found, "compactions"), 0.0);
    // Sixteen puts a table, a write and a flush of 1 ms each.
    near(found.components[0].utilisation.unwrap(), 1000.0 / 16.0 * 2e-3, 0.05);
}

/// One compaction at a time, which waits for 1 ms at each read and write of 64 KiB, does not keep up with 1,000 puts of 4 KiB a second.
#[test]
fn a_debt_that_grows_is_said() {
    let text = format!(
        "system:\n  d: {{type: station, service: 1 ms, capacity: 100 GB}}\n  s: {{type: lsm_tree, to: d, keys: 1 GB, written: 50 %, memtable: 1 MiB, \
         table: 1 MiB, level1: 4 MiB, request: 64 KiB, level0: {{slow_at: 10000, stop_at: 10000}}, debt: {{slow_at: 1 TB, stop_at: 1 TB}}}}\n\
         workload:\n{PUTS}{{poisson: 1000 /s}}}}\nrun: {{requests: 40000}}\n"
    );
    let found = simulate(&text, "lsm.yaml", &[], &Options::default(), &Progress::default()).unwrap().results;
    let grows = found.notes.iter().any(|note| note.contains("left to compact, and there are more"));
    assert!(grows && found.components[1].unsettled, "{:?} {:?}", found.notes, found.components[1].meters);
}

/// What is sustained is what compactions keep up with. Clients that put as fast as they may are stopped again and again; at less, nobody is.
#[test]
fn puts_stop_where_compactions_fall_behind() {
    let levels = ", level0: {compact_at: 4, slow_at: 8, stop_at: 8}, slow_rate: 1 GB/s";
    let most =
        store(levels, &format!("{PUTS}{{closed: {{depth: 4, think: 10 us}}}}}}"), "{requests: 200000}");
    near(most.components[0].utilisation.unwrap(), 1.0, 0.01);
    assert!(meter(&most, "stopped") > 0.5, "{}", meter(&most, "stopped"));
    // A memtable that is full when puts stop is one table more.
    assert!((4.0..=9.0).contains(&meter(&most, "level0_tables")), "{}", meter(&most, "level0_tables"));
    let sustained = first(&most).requests_per_s;
    let load = |share: f64| format!("{PUTS}{{poisson: {} /s}}}}", sustained * share);
    let less = store(levels, &load(0.8), "{requests: 100000}");
    assert!(meter(&less, "stopped") < 0.01, "{}", meter(&less, "stopped"));
    let more = store(levels, &load(1.2), "{requests: 100000}");
    assert!(meter(&more, "stopped") > 0.5, "{}", meter(&more, "stopped"));
    // Every byte is written once for each level at least, and at most a fan-out more.
    let amplification = meter(&most, "write_amplification");
    assert!((4.0..2.0 + 3.0 * 5.0).contains(&amplification), "{amplification}");
}

/// While puts are slowed down, all of them together come at the rate that is given.
#[test]
fn slowed_puts_come_at_the_rate_given() {
    let levels = ", written: 0 %, level0: {compact_at: 1, slow_at: 1, stop_at: 10000}, slow_rate: 2 MiB/s, debt: {slow_at: 1 B, stop_at: 1 TB}";
    let found =
        store(levels, &format!("{PUTS}{{closed: {{depth: 4}}}}}}"), "{requests: 20000, warm_up: none}");
    // Now and then nothing is left to compact, and they are not slowed down.
    near(first(&found).bytes_per_s, (2 << 20) as f64, 0.04);
    assert!(meter(&found, "slowed_down") > 0.9, "{}", meter(&found, "slowed_down"));
}

/// A get reads one block; of a store that holds nothing it reads none.
#[test]
fn a_get_reads_a_block() {
    let gets = "  gets: {to: s, op: read, size: 100 B, arrivals: {closed: {depth: 1}}}";
    let found = store("", gets, "{requests: 2000}");
    near(first(&found).response.mean_ms, 1.0, 1e-9);
    let empty = "  gets: {to: s, op: read, size: 100 B, arrivals: {every: 1 ms}}";
    let found = store(", written: 0 %", empty, "{requests: 2000}");
    assert_eq!(first(&found).response.max_ms, 0.0);
}

/// Levels 0 to 2 may become 1.5 MiB, level 3 another 4 MiB, and the last one 16 MiB. The newest value of a key is in level 1 with a chance of 1/64,
/// below it in level 2 with 1/16, in level 3 with 1/4, and otherwise in the last one.
#[test]
fn the_first_levels_that_fit_are_on_the_fast_device() {
    let gets = "  gets: {to: s, op: read, size: 100 B, arrivals: {closed: {depth: 1}}}";
    let below_2 = 63.0 / 64.0 * 15.0 / 16.0;
    for (size, slow, note) in [
        ("100 KiB", 1.0, "level 0 alone is on `f`, with 100 KiB for tables; level 1 may become 256 KiB"),
        ("5 MiB", below_2, "levels 0 to 2 are on `f`, with up to 1536 KiB of the 5 MiB for tables"),
        ("6 MiB", below_2 * 0.75, "levels 0 to 3 are on `f`"),
        ("30 MiB", 0.0, ""),
    ] {
        let fields = format!(
            ", fast: {{to: f, size: {size}}}}}\n  f: {{type: station, service: 100 us, capacity: 1 GB"
        );
        let found = store(&fields, gets, "{requests: 40000}");
        near(first(&found).response.mean_ms, slow + (1.0 - slow) * 0.1, 0.02);
        let notes: Vec<&String> = found.notes.iter().filter(|found| found.contains("on `f`")).collect();
        let are_right = notes.iter().all(|found| found.contains(note)) && notes.is_empty() == note.is_empty();
        assert!(are_right, "{size}: {notes:?}");
    }
}

/// A store that is filled by puts alone has all its keys in the upper levels, and gets find them there.
#[test]
fn keys_put_once_are_found_where_puts_left_them() {
    let fields = ", written: 0 %, compactions: 4, fast: {to: f, size: 12 MiB}}\n  f: {type: station, servers: 9, service: 10 us, capacity: 1 GB";
    let gets = "  gets: {to: s, op: read, size: 100 B, arrivals: {poisson: 500 /s}}";
    let found = store(fields, &format!("{PUTS}{{every: 1 ms}}}}\n{gets}"), "{time: 1 s, warm_up: none}");
    assert!(found.streams[1].response.max_ms < 0.5, "{}", found.streams[1].response.max_ms);
}

/// While what puts cause is still to come, or grows, devices say nothing of how much more load there can be; and a store that answers a part
/// of its puts is overloaded.
#[test]
fn headroom_waits_for_compactions() {
    let of = |rate: u32, run: &str| {
        let levels = ", compactions: 2, level0: {compact_at: 4, slow_at: 8, stop_at: 12}, slow_rate: 1 GB/s";
        store(levels, &format!("{PUTS}{{poisson: {rate} /s}}}}"), run)
    };
    let early = of(500, "{requests: 200}").bottleneck.unwrap();
    assert_eq!((early.unsettled.as_deref(), early.saturates_at), (Some("s"), None));
    let settled = of(50, "{requests: 20000}").bottleneck.unwrap();
    assert_eq!(settled.unsettled, None);
    let most = of(100_000, "{time: 10 s}");
    let limit = most.bottleneck.as_ref().unwrap();
    assert!(limit.saturated && limit.saturates_at < Some(0.9), "{limit:?}");
    assert!(most.answer.contains("OVERLOADED"), "{}", most.answer);
}

/// A put larger than a table makes a table that is larger than its room, and stays within it.
#[test]
fn puts_larger_than_a_table_stay_in_their_room() {
    let puts = "  puts: {to: s, op: write, size: 1 MiB, arrivals: {every: 2 s}}";
    let found = store(", at: 1 GB, written: 0 %", puts, "{requests: 200}");
    assert_eq!(first(&found).completed, 200);
}

/// What compactions make while the tables that it replaces are still there needs room as well.
#[test]
fn tables_without_room_on_the_fast_device_spill() {
    let spilled = |size: &str| {
        let fields = format!(
            ", compactions: 4, fast: {{to: f, size: {size}}}}}\n  f: {{type: station, service: 10 us, capacity: 1 GB"
        );
        let found = store(&fields, &format!("{PUTS}{{poisson: 1000 /s}}}}"), "{requests: 40000}");
        assert_eq!(first(&found).completed, 40_000);
        meter(&found, "spilled_bytes")
    };
    let (tight, ample) = (spilled("5.5 MiB"), spilled("11 MiB"));
    assert!(tight > 100e3 && ample == 0.0, "{tight} {ample}");
}

/// Without a log, what is made stable is a table: its write, its flush, and the flush that was asked for. With a log, it is a record there.
#[test]
fn a_durable_put_is_a_table_or_a_record() {
    let client = "  puts: {to: s, op: write, size: 4 KiB, durable: true, arrivals: {closed: {depth: 1}}}";
    let never = ", written: 50 %, level0: {compact_at: 10000, slow_at: 10000, stop_at: 10000}";
    let found = store(never, client, "{requests: 500}");
    near(first(&found).response.mean_ms, 3.0, 1e-6);
    let logged = store(
        &format!("{never}, log: w}}\n  w: {{type: station, service: 300 us"),
        client,
        "{requests: 500}",
    );
    near(first(&logged).response.mean_ms, 0.3, 1e-6);
}

/// Puts stop while all memtables are full, though nothing is merged.
#[test]
fn puts_that_wait_for_memory_are_stopped() {
    let found = store(", memtables: 2", &format!("{PUTS}{{closed: {{depth: 4}}}}}}"), "{requests: 5000}");
    assert!(meter(&found, "stopped") > 0.5, "{}", meter(&found, "stopped"));
}

/// Puts that are made stable at once, while no memtable may follow, wait for those that are: they do not wake each other for ever.
#[test]
fn durable_puts_at_once_are_all_answered() {
    for depth in [2, 3, 4, 16] {
        let client = format!(
            "  puts: {{to: s, op: write, size: 4 KiB, durable: true, arrivals: {{closed: {{depth: {depth}}}}}}}"
        );
        let found = store(", memtables: 2", &client, "{requests: 500, limits: {events: 1000000}}");
        assert_eq!((found.ended, first(&found).completed), (End::Done, 500), "{depth}");
    }
}

/// A store whose tables cannot be written takes no put any more, and ends.
#[test]
fn a_store_breaks_with_its_device() {
    let text = format!("{PUTS}{{every: 1 ms}}}}\nfaults: [{{component: d, fails: 1 s, returns: 1.1 s}}]");
    let found = store("", &text, "{time: 3 s, requests: 1000000, warm_up: none}");
    let failed = first(&found).failed;
    assert!((1900..=2001).contains(&failed), "{failed}");
    let note = "its device failed to read or write a table; all puts fail from then on";
    assert!(
        found.notes.iter().any(|found| found.starts_with("s: at 1") && found.contains(note)),
        "{:?}",
        found.notes
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    for (fields, says) in [
        (", written: 100 %, at: 990 MB", "this store needs up to"),
        (", fan_out: 1", "it must be at least 2"),
        (", level0: {compact_at: 9, slow_at: 8}", "`compact_at` ≤ `slow_at` ≤ `stop_at`"),
        (", block: 1 B", "must be at least 512 B"),
        (", fast: {to: d, size: 1 MB}", "`d` holds the other tables already"),
        (", fast: {to: f, at: 1 GB, size: 1 MB}", "1 MB are asked for, and `f` has 0 B from there on"),
        (", fast: {to: puts, size: 1 MB}", "puts"),
        (", request: 512 B", "a compaction has up to 5176048 of them"),
    ] {
        let text = format!(
            "system:\n  d: {{type: station, service: 1 ms, capacity: 1 GB}}\n  f: {{type: station, service: 1 us, capacity: 1 GB}}\n  \
             s: {{type: lsm_tree, to: d, keys: 100 MB{fields}}}\nworkload:\n{PUTS}{{every: 1 ms}}}}\n"
        );
        let refused = simulate(&text, "lsm.yaml", &[], &Options::default(), &Progress::default());
        let said = refused.err().map(|problems| problems.rendered()).unwrap_or_default();
        assert!(said.contains(says), "{fields}: {said}");
    }
}

/// Thousands of tables that have no others to be merged with move at one instant, and tables smaller than a memtable have room.
#[test]
fn many_small_tables_move_at_once() {
    for fields in [
        ", written: 0 %, table: 1 KiB, level1: 1 KiB, fan_out: 2, level0: {compact_at: 100, slow_at: 200, stop_at: 300}",
        ", written: 0 %, table: 4 KiB, level1: 64 KiB, fan_out: 2, level0: {compact_at: 3000, slow_at: 3500, stop_at: 4000}",
    ] {
        let text = format!(
            "system:\n  d: {{type: station, servers: 8, service: 1 ns, capacity: 900 TB}}\n  s: {{type: lsm_tree, to: d, keys: 20 MB, memtable: 4 KiB, \
             request: 4 KiB{fields}}}\nworkload:\n{PUTS}{{every: 1 ms}}}}\nrun: {{requests: 20000, warm_up: none}}\n"
        );
        let found = simulate(&text, "lsm.yaml", &[], &Options::default(), &Progress::default())
            .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
            .results;
        assert_eq!(found.streams[0].completed, 20_000, "{fields}");
        assert!(meter(&found, "compactions") > 0.0, "{fields}");
    }
}
