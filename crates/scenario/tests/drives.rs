//! What drives of the catalogue sustain: sequential streams, alone, at depth, and beside each other.

use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

/// The rate of all streams together, in MB/s.
fn rate(disk: &str, workload: &str, requests: u32) -> f64 {
    let text = format!(
        "system: {{d: {{type: disk, positioning: mechanical, {disk}}}}}\nworkload: {{{workload}}}\n\
         run: {{requests: {requests}, seed: 1}}"
    );
    let found = simulate(&text, "drives.yaml", &[], &Options::default(), &Progress::default());
    let found = found.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    found.results.streams.iter().map(|stream| stream.bytes_per_s).sum::<f64>() / 1e6
}

fn sequential(op: &str, size: &str, depth: u32) -> String {
    format!("s: {{{}, arrivals: {{closed: {{depth: {depth}}}}}}}", requests(op, size))
}

fn requests(op: &str, size: &str) -> String {
    format!("to: d, op: {op}, size: {size}, pattern: sequential")
}

/// One request after another, in a region of the disk.
fn placed(name: &str, requests: &str, region: &str) -> String {
    format!("{name}: {{{requests}, region: {{{region}}}, arrivals: {{closed: {{depth: 1}}}}}}")
}

/// Data-sheet drives whose writes are done in the cache: what is written one after another reaches the platter as it comes.
const WRITE_BACK: [&str; 4] =
    ["seagate-st18000nm000j", "samsung-hd103uj", "maxtor-7y250p0", "maxtor-7y250p0-2mb"];

/// Drives write as fast as they read, as their data sheets say of sustained rates; also where a write is larger than the room
/// there is for it in the cache.
#[test]
fn sequential_writes_are_as_fast_as_reads() {
    for device in WRITE_BACK {
        let disk = format!("device: {device}");
        for (size, requests) in [("1 MiB", 2000), ("16 MiB", 200)] {
            let [reads, writes] = ["read", "write"].map(|op| rate(&disk, &sequential(op, size, 1), requests));
            assert!(writes > 0.9 * reads, "{device}, {size}: {writes:.1} MB/s written, {reads:.1} read");
        }
    }
}

/// A drive that chooses by positioning time knows that what it is reading ahead takes none.
#[test]
fn a_queue_does_not_slow_a_sequential_stream() {
    for disk in ["device: seagate-st18000nm000j, scheduling: sptf", "device: samsung-hd103uj"] {
        let [alone, queued] = [1, 4].map(|depth| rate(disk, &sequential("read", "64 KiB", depth), 5000));
        assert!(queued > 0.98 * alone, "{disk}: {queued:.1} MB/s with four outstanding, {alone:.1} with one");
    }
}

/// Sustained rates, outside and inside, in MB/s: a data sheet's, or those of a drive of the same class. They contain the switches from
/// track to track, so the media pass faster.
const SUSTAINED: [(&str, u64, [f64; 2]); 3] = [
    ("seagate-st18000nm000j", 18_000, [270.0, 125.0]),
    ("maxtor-7y250p0", 250, [61.4, 29.7]),
    ("maxtor-7y250p0-2mb", 250, [61.4, 29.7]),
];

/// Within 3 %, read and written, in the first and the last hundredth of the drive.
#[test]
fn drives_sustain_what_their_data_sheets_say() {
    for (device, gb, rates) in SUSTAINED {
        for (from, sustained) in [0, gb * 99 / 100].into_iter().zip(rates) {
            for op in ["read", "write"] {
                let region = format!("from: {from} GB, size: {} MB", gb * 10);
                let stream = placed("s", &requests(op, "1 MiB"), &region);
                let found = rate(&format!("device: {device}"), &stream, 2000);
                let off = found / sustained - 1.0;
                assert!(off.abs() < 0.03, "{device}, {op} from {from} GB: {found:.1} MB/s for {sustained}");
            }
        }
    }
}

/// Two sequential streams half a disk apart: a drive that reads some of each ahead seeks once for that much.
#[test]
fn streams_share_a_drive_that_reads_ahead() {
    let stream = |name, region| placed(name, &requests("read", "64 KiB"), region);
    let workload = [stream("a", "from: 0 B, size: 1 TB"), stream("b", "from: 9 TB, size: 1 TB")].join(", ");
    let two = rate("device: seagate-st18000nm000j", &workload, 5000);
    assert!(two > 80.0, "{two:.1} MB/s");
}
