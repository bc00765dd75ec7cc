//! Solid-state drives against their data sheets, and behind other interfaces.

use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

/// Requests per second of a closed load on a drive that is described by `drive`.
fn iops(drive: &str, load: &str, requests: u32) -> f64 {
    let text = format!(
        "system: {{drive: {{type: ssd, {drive}}}}}\nworkload: {{users: {{to: drive, {load}}}}}\nrun: {{requests: {requests}}}\n"
    );
    let found = simulate(&text, "ssd.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results.streams[0].requests_per_s
}

/// A thousandth of a Micron 7450: all its dies, each with as many blocks, but small ones, which take as much less to erase. Its controller
/// takes any number of commands.
fn slice(over: &str, more: &str) -> String {
    format!(
        "device: {{like: micron-7450-pro-1920gb, capacity: 2.4 GB, command: 0 ns, flash: {{over_provisioning: {over}, block_pages: 8, \
         erase: 38 us}}, \
         buffer: {{size: 16 MiB}}}}, {more}"
    )
}

/// A drive that was overwritten collects garbage from the first write on, so a short run, in which its dies write a small part of a block,
/// finds the headroom that a long one finds: what 128 clients get. Until a fresh drive collects, it gives none, nor do its parts. Tolerance,
/// written before the model was run: 30 %, as of any estimate.
#[test]
fn headroom_waits_for_garbage_collection() {
    let drive = slice("14.5 %", "overwritten: 4");
    let large_blocks = drive.replace("2.4 GB", "38.4 GB").replace("block_pages: 8", "block_pages: 128");
    let found = |drive: &str, requests: u32| {
        let text = format!(
            "system: {{drive: {{type: ssd, {drive}}}}}\n\
             workload: {{users: {{to: drive, arrivals: {{poisson: 40000 /s}}, op: write, size: 4 KiB}}}}\n\
             run: {{requests: {requests}}}\n"
        );
        let found = simulate(&text, "ssd.yaml", &[], &Options::default(), &Progress::default());
        found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
    };
    let fresh = found(&large_blocks.replace("overwritten: 4", "overwritten: 0"), 5000);
    let limit = fresh.bottleneck.as_ref().unwrap();
    assert_eq!((limit.unsettled.as_deref(), limit.saturates_at), (Some("drive"), None));
    let says = fresh.notes.iter().any(|note| note.contains("a longer run would find drive busier"));
    assert!(says, "{:?}", fresh.notes);
    let sustained = iops(&drive, "arrivals: {closed: {depth: 128}}, op: write, size: 4 KiB", 200_000);
    for (drive, requests) in [(&drive, 200_000), (&large_blocks, 10_000)] {
        let limit = found(drive, requests).bottleneck.unwrap();
        assert_eq!(limit.unsettled, None);
        let headroom = limit.saturates_at.unwrap();
        let off = headroom * 40e3 / sustained - 1.0;
        assert!(off.abs() < 0.3, "{requests} requests: {headroom}, sustained {sustained:.0}");
    }
}

/// The same hardware is sold with two capacities: the PRO with 1.92 TB on 2 TiB of flash, the MAX with 1.6 TB. The time of a program is
/// that of sequential writes of 2.7 GB/s; random writes follow from garbage collection. Data sheet (as remembered, it could not be
/// read here): 120,000 and 250,000 random writes a second. Tolerance, written before the model was run: 15 %.
#[test]
fn steady_random_writes_are_those_of_the_data_sheet() {
    let load = "arrivals: {closed: {depth: 128}}, op: write, size: 4 KiB";
    for (over, sheet) in [("14.5 %", 120e3), ("37.4 %", 250e3)] {
        let found = iops(&slice(over, "overwritten: 4"), load, 300_000);
        assert!((found / sheet - 1.0).abs() < 0.15, "{over}: {found:.0}, data sheet {sheet:.0}");
    }
    let sequential = "arrivals: {closed: {depth: 32}}, op: write, size: 128 KiB, pattern: sequential";
    let found = iops(&slice("14.5 %", ""), sequential, 30_000) * 131_072.0;
    assert!((found / 2.7e9 - 1.0).abs() < 0.05, "{found:.0} B/s written in sequence");
}

/// Bytes that a read of 4 KiB takes of a SATA wire: data and five frames.
const SATA: f64 = 4096.0 + 5.0 * 468.0;

/// Reads of what was never written come at the rate of the wire; half of that behind a port of half its rate.
#[test]
fn a_port_of_half_the_rate_halves_what_the_wire_limits() {
    let load = "arrivals: {closed: {depth: 32}}";
    let at = |interface: &str| {
        iops(&format!("device: samsung-pm883-480gb, interface: {interface}, written: 0 %"), load, 50_000)
    };
    let (fast, slow) = (at("sata_6g"), at("sata_3g"));
    assert!((fast * SATA / 600e6 - 1.0).abs() < 0.01 && (slow * SATA / 300e6 - 1.0).abs() < 0.01);
}

/// A SATA drive in a SAS port is what it is in a SATA port of the rate that both have; a drive of another kind does not fit.
#[test]
fn a_sas_port_speaks_sata_to_a_sata_drive() {
    let at = |interface: &str| {
        let drive = format!("device: samsung-pm883-480gb, interface: {interface}, written: 0 %");
        iops(&drive, "arrivals: {closed: {depth: 32}}", 20_000)
    };
    for (sas, sata) in
        [("sas_22_5g", "sata_6g"), ("sas_12g", "sata_6g"), ("sas_6g", "sata_6g"), ("sas_3g", "sata_3g")]
    {
        assert_eq!(at(sas), at(sata), "{sas}");
    }
    let text = "system:\n  drive: {type: ssd, device: {like: samsung-pm883-480gb, interface: sas_12g}, interface: sata_6g}\n\
                workload:\n  users: {to: drive, arrivals: {poisson: 1 /s}}\n";
    let problems = simulate(text, "port.yaml", &[], &Options::default(), &Progress::default()).unwrap_err();
    assert!(problems.rendered().contains("the port is SATA, and the drive SAS"), "{}", problems.rendered());
}

/// Little's law between the tags and the port: 2 commands outstanding, each of 25.0 µs and a crossing.
#[test]
fn few_commands_outstanding_are_limited_by_latency() {
    let found = iops("device: samsung-pm883-480gb, written: 0 %", "arrivals: {closed: {depth: 2}}", 50_000);
    let expected = 2.0 / (25.0e-6 + SATA / 600e6);
    assert!((found / expected - 1.0).abs() < 0.01, "{found:.0}, by hand {expected:.0}");
}

/// Requests per second of `depth` commands of `threads` threads on a server of two cores, which take 8 µs to submit and 8 µs to finish. The
/// drive is one of SATA behind a port of NVMe, which takes 1.1 µs for 4 KiB and limits nothing.
fn from_host(more: &str, depth: u32, threads: u32) -> f64 {
    let text = format!(
        "system:\n  host: {{type: server, attached: [drive], cores: 2, submit: 8 us, complete: 8 us, {more}}}\n  \
         drive: {{type: ssd, device: {{like: samsung-pm883-480gb, interface: nvme_gen3_x4}}, written: 0 %}}\nworkload:\n  \
         fio: {{from: host, to: drive, arrivals: {{closed: {{depth: {depth}, threads: {threads}}}}}}}\nrun: {{requests: 40000}}\n"
    );
    let found = simulate(&text, "host.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results.streams[0].requests_per_s
}

/// A thread fills one core, two fill both; cores that share take longer. By hand, within 1 %.
#[test]
fn a_thread_is_limited_by_its_core() {
    for (more, threads, by_hand) in [
        ("", 1, 1.0 / 16e-6),
        ("", 2, 2.0 / 16e-6),
        ("contention: 1.5", 2, 2.0 / 24e-6),
        ("contention: 1.5", 1, 1.0 / 16e-6),
    ] {
        let found = from_host(more, 32, threads);
        assert!(
            (found / by_hand - 1.0).abs() < 0.01,
            "{threads} threads, {more}: {found:.0}, by hand {by_hand:.0}"
        );
    }
}

/// With one command outstanding a thread sleeps each time; with many it finds answers when it comes, and is hardly ever woken.
#[test]
fn a_thread_is_woken_only_when_it_sleeps() {
    let alone = 1.0 / (8e-6 + 25.0e-6 + 1.1e-6 + 4e-6 + 8e-6);
    let found = from_host("wake: 4 us", 1, 1);
    assert!((found / alone - 1.0).abs() < 0.01, "{found:.0}, by hand {alone:.0}");
    let busy = from_host("wake: 4 us", 32, 1);
    assert!((busy * 16e-6 - 1.0).abs() < 0.01, "{busy:.0} as without wake-ups");
}

/// The streams of a run of several, by its text after `system`.
fn streams(drive: &str, workload: &str, requests: u32) -> Vec<headrace_scenario::results::StreamResults> {
    let text = format!(
        "system: {{drive: {{type: ssd, {drive}}}}}\nworkload: {{{workload}}}\nrun: {{requests: {requests}}}\n"
    );
    let found = simulate(&text, "ssd.yaml", &[], &Options::default(), &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results.streams
}

/// One die and one channel of the drive, with these fields of its flash besides.
fn one_die(flash: &str) -> String {
    format!(
        "device: {{like: micron-7450-pro-1920gb, capacity: 240 MB, command: 0 ns, flash: {{over_provisioning: 30 %, block_pages: 8, \
         erase: 1 us, channels: 1, dies: 1, independent_reads: false{flash}}}, buffer: {{size: 1 MiB}}}}"
    )
}

/// Four planes read 64 KiB that follow each other in the time of one page. By hand: 15 µs of electronics, 60 of flash, 41 on the channel
/// of 1.6 GB/s; the last page then crosses the port in 2.3, the others while it is on its way. A single plane takes 60 µs for each of its
/// four pages: the last is here 15 + 240 + 10.2 µs after the request, and crosses in 2.3 more. Tolerance, written before the model was
/// run: 1 %. (First it had all four pages cross the port after the channel, where those of several rows did not wait for it.)
#[test]
fn planes_read_together() {
    let load = "arrivals: {closed: {depth: 1}}, size: 64 KiB, pattern: sequential";
    let port = |bytes: f64| bytes * 282.0 / 256.0 / 7.877e9;
    for (planes, expected) in [
        (4, 15e-6 + 60e-6 + 65536.0 / 1.6e9 + port(16384.0)),
        (1, 15e-6 + 240e-6 + 16384.0 / 1.6e9 + port(16384.0)),
    ] {
        let found = 1.0 / iops(&one_die(&format!(", planes: {planes}")), load, 20_000);
        assert!((found / expected - 1.0).abs() < 0.01, "{planes} planes: {found:e} s, by hand {expected:e}");
    }
}

/// A program of 735 µs, and 41 µs to send its 64 KiB, hold the only die every 2 ms. A read that comes then waits for half of that on
/// average: 0.388 × 388 µs; where the program can be suspended in 20 µs, for 0.388 × 20 µs. By hand a read takes 15 + 60 + 2.6 + 0.6 µs
/// besides. Tolerance, written before the model was run: 3 % of the mean.
#[test]
fn reads_suspend_programs() {
    let load = "writer: {to: drive, arrivals: {every: 2 ms}, op: write, size: 64 KiB, pattern: sequential}, \
                reader: {to: drive, arrivals: {poisson: 100 /s}, size: 4 KiB}";
    let held = 735e-3 + 65.536 / 1600.0;
    for (suspend, wait) in
        [("", held / 2.0 * held / 2.0), (", suspend: {time: 20 us, reads: 10}", 0.02 * held / 2.0)]
    {
        let found = streams(&one_die(suspend), load, 400_000);
        let (found, expected) = (found[1].response.mean_ms, 0.0781 + wait);
        assert!((found / expected - 1.0).abs() < 0.03, "`{suspend}`: {found:.4} ms, by hand {expected:.4}");
    }
}

/// However many reads come, a program ends. By hand, with 32 reads outstanding: 16 pages are written in the time of the 32 reads that
/// are there before the program, its own 776 µs, 20 to suspend it, and the reads that go first, of 60 µs each. Within 3 %. (The
/// first claim, that 2 reads allow five times the writes of 100, forgot the reads that are there before. Over 60,000 requests the first
/// writes, which only fill the buffer, are 4 % of all.)
#[test]
fn suspended_programs_end() {
    let load = "reader: {to: drive, arrivals: {closed: {depth: 32}}, size: 4 KiB}, \
                writer: {to: drive, arrivals: {closed: {depth: 64}}, op: write, size: 4 KiB, pattern: sequential}";
    for (reads, requests) in [(2.0, 60_000), (100.0, 150_000)] {
        let drive = one_die(&format!(", suspend: {{time: 20 us, reads: {reads}}}"));
        let found = streams(&drive, load, requests)[1].requests_per_s;
        let by_hand = 16.0 / ((32.0 + reads) * 60e-6 + 776e-6 + 20e-6);
        assert!((found / by_hand - 1.0).abs() < 0.03, "{reads} reads: {found:.0}/s, by hand {by_hand:.0}");
    }
}

/// Discards leave garbage collection less to move. With two discards for each write or more, at most a third of the pages is in use, and
/// hardly anything moves: random writes then wait for their own programs alone. Claim, written before the model was run: at least twice
/// the rate of a drive that is full, whose write amplification is about 4.
#[test]
fn discards_make_room() {
    let writer = "writer: {to: drive, arrivals: {closed: {depth: 32}}, op: write, size: 4 KiB}";
    let discards = "discards: {to: drive, arrivals: {closed: {depth: 32}}, op: discard, size: 4 KiB}";
    let drive = slice("14.5 %", "overwritten: 4");
    let full = streams(&drive, writer, 300_000)[0].requests_per_s;
    let found = streams(&drive, &format!("{writer}, {discards}"), 3_000_000);
    let with_room = found[0].requests_per_s;
    assert!(found[1].requests_per_s > 2.0 * with_room, "enough discards: {:.0}/s", found[1].requests_per_s);
    assert!(with_room > 2.0 * full, "{with_room:.0}/s, {full:.0} on a full drive");
}

/// What was discarded takes no flash to read: once all of a small drive is, reads take the electronics and the port, 15.6 µs.
#[test]
fn discarded_data_takes_no_flash() {
    let load = "discards: {to: drive, arrivals: {closed: {depth: 4}}, op: discard, size: 1 MiB, align: 1 MiB, pattern: sequential}, \
                reader: {to: drive, arrivals: {poisson: 1000 /s}, size: 4 KiB, footprint: 200 MB}";
    let found = &streams(&one_die(""), load, 500_000)[1].response;
    assert!((found.mean_ms / 0.0156 - 1.0).abs() < 0.02, "{} ms", found.mean_ms);
}

#[test]
fn only_solid_state_drives_discard() {
    let text = "system: {spindle: {type: disk, positioning: addressed, device: hp-c3323a}}\n\
                workload: {users: {to: spindle, op: discard, arrivals: {poisson: 1 /s}}}\n";
    let found = simulate(text, "disk.yaml", &[], &Options::default(), &Progress::default());
    let told = found.expect_err("it is refused").rendered();
    assert!(told.contains("`spindle` does not discard data"), "{told}");
}

/// Sequential reads of 4 KiB find the row that the one before had read: 16 of them share a read of 64 KiB. A single die of 60 µs gives 16
/// pages in the time of one, at most; random reads one. Expected, before the model was run: at least eight times the rate, for a row is
/// read again where another request came between.
#[test]
fn sequential_reads_share_a_row() {
    let rate = |pattern: &str| {
        let load = format!("arrivals: {{closed: {{depth: 32}}}}, size: 4 KiB, pattern: {pattern}");
        iops(&one_die(", planes: 4"), &load, 60_000)
    };
    let (sequential, random) = (rate("sequential"), rate("uniform"));
    assert!((random * 60e-6 - 1.0).abs() < 0.02, "{random}");
    assert!(sequential > 8.0 * random, "{sequential}, random {random}");
}

/// Reads one after another share rows, so that a drive takes more of them than of reads at random: such a load is not refused.
#[test]
fn a_load_that_shares_rows_is_not_refused() {
    let load = |rate: u32, pattern: &str| {
        format!("arrivals: {{poisson: {rate} /s}}, size: 16 KiB, op: {{reads: 70 %}}, pattern: {pattern}")
    };
    let text = |workload: &str| {
        format!(
            "system: {{drive: {{type: ssd, device: {{like: micron-7450-pro-1920gb, flash: {{independent_reads: false}}}}}}}}\n\
             workload: {{users: {{to: drive, {workload}}}}}\nrun: {{requests: 100000}}\n"
        )
    };
    let run = |workload: &str| {
        simulate(&text(workload), "rows.yaml", &[], &Options::default(), &Progress::default())
    };
    let found = run(&load(400_000, "sequential"))
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results;
    assert!(found.streams[0].requests_per_s > 0.98 * 400_000.0, "{}", found.answer);
    let Err(refused) = run(&load(400_000, "uniform")) else { panic!("the dies would be more than busy") };
    assert!(refused.rendered().contains("overloaded"), "{}", refused.rendered());
}

/// Where reads wait for programs, the 32 places of SATA are used up before the port is: what the port has left is an estimate.
#[test]
fn headroom_of_mixed_requests_is_an_estimate() {
    let estimate = |op: &str| {
        let text = format!(
            "system: {{drive: {{type: ssd, device: samsung-pm883-480gb}}}}\nworkload: {{users: {{to: drive, arrivals: {{poisson: 20000 /s}}, \
             op: {op}}}}}\nrun: {{requests: 20000}}\n"
        );
        let found = simulate(&text, "mixed.yaml", &[], &Options::default(), &Progress::default());
        let found = found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results;
        found.bottleneck.expect("the port is busy").estimate
    };
    assert!(!estimate("read") && estimate("{reads: 70 %}"));
}

/// Reads of one stream wait for programs and garbage collection that another's writes cause: what the drive is busy with does not grow in
/// proportion to the load, and formulas leave garbage collection out. So its headroom is an estimate, and no more than it is idle.
#[test]
fn headroom_beside_garbage_collection_is_an_estimate() {
    let text = format!(
        "system: {{drive: {{type: ssd, {}}}}}\nworkload:\n  readers: {{to: drive, arrivals: {{poisson: 20000 /s}}}}\n  \
         writers: {{to: drive, arrivals: {{poisson: 20000 /s}}, op: write}}\nrun: {{requests: 100000}}\n",
        slice("14.5 %", "overwritten: 2")
    );
    let found = simulate(&text, "ssd.yaml", &[], &Options::default(), &Progress::default());
    let results = found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results;
    let (bottleneck, drive) = (results.bottleneck.unwrap(), &results.components[0]);
    assert!(drive.utilisation_by_cause["garbage_collection"] > 0.0);
    assert!(bottleneck.estimate);
    let times = bottleneck.saturates_at.unwrap();
    assert!((times * bottleneck.utilisation - 1.0).abs() < 1e-9, "{times} {}", bottleneck.utilisation);
}

/// Reads of pages that were never written take no flash time, and that is said.
#[test]
fn reads_of_what_was_never_written_are_told() {
    let told = |written: u32| {
        let text = format!(
            "
system: {{d: {{type: ssd, device: micron-7450-pro-1920gb, written: {written} %}}}}
workload: {{u: {{to: d, arrivals: {{poisson: 1000 /s}}, size: 4 KiB, align: 4 KiB, op: read, pattern: uniform}}}}
run: {{requests: 2000}}
"
        );
        let found = simulate(&text, "test.yaml", &[], &Options::default(), &Progress::default()).unwrap();
        found.results.notes.into_iter().find(|note| note.contains("found no data on flash"))
    };
    assert!(told(60).unwrap().starts_with("d: 4"), "{:?}", told(60));
    assert_eq!(told(100), None);
}
