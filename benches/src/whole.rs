//! Whole scenarios, from the text to the results.

use std::process::Command;

use cpu_time::ProcessTime;
use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

use crate::{SMALLEST, cpu_seconds, repeated, sized};

const MM1: &str = "
system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {customers: {to: clerk, arrivals: {poisson: 0.8 /s}}}
run: {requests: 5000000}
";

const RAID0: &str = include_str!("../../examples/raid0-split-merge.yaml");

/// Runs a scenario with changes.
pub fn run(text: &str, sets: &[(&str, &str)]) {
    let least: &[(&str, &str)] = if SMALLEST { &[("run.requests", "1000")] } else { &[] };
    let sets: Vec<(String, String)> =
        sets.iter().chain(least).map(|(path, value)| ((*path).into(), (*value).into())).collect();
    let found = simulate(text, "bench.yaml", &sets, &Options::default(), &Progress::default());
    std::hint::black_box(found.unwrap_or_else(|problems| panic!("{}", problems.rendered())));
}

/// M/M/1 as a scenario, everything included that a user waits for: statistics, theory, results.
pub fn mm1(engine: &str) {
    run(MM1, &[("run.engine", engine)]);
}

/// CPU seconds for one configuration of the RAID 0 study, 4·10⁶ requests.
pub fn raid0_s(engine: &str) -> f64 {
    cpu_seconds(|| run(RAID0, &[("run.engine", engine)]))
}

const ARRAYS: &str = "
parts:
  spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}
  shelf: {type: array, level: raid0, of: spindle, disks: 9998, stripe_unit: 64 KiB}
system: {volume: {type: array, level: raid0, of: shelf, disks: 10, stripe_unit: 1 MiB}}
workload: {users: {to: volume, arrivals: {poisson: 100000 /s}, size: 4 KiB}}
run: {requests: 200000}
";

/// What 99,991 components take: CPU seconds, and the peak of memory in MiB, of a whole run beyond that of the same requests on
/// twenty-one components.
pub fn components() -> (f64, f64) {
    let of = |disks: &str| {
        let start = ProcessTime::now();
        run(ARRAYS, &[("parts.shelf.disks", disks), ("workload.users.arrivals.poisson", "100 /s")]);
        start.elapsed().as_secs_f64()
    };
    let few = of("1");
    let before = peak_memory_mib();
    (of("9998") - few, peak_memory_mib() - before)
}

pub const DISK: &str = "
system: {spindle: {type: disk, device: seagate-st32171w, positioning: mechanical}}
workload: {users: {to: spindle, arrivals: {poisson: 40 /s}, size: 8 KiB}}
run: {requests: 2000000}
";

/// Random reads of one mechanical disk a CPU second.
pub fn mechanical_disk() -> f64 {
    2e6 / cpu_seconds(|| run(DISK, &[]))
}

const SSD: &str = "
system: {drive: {type: ssd, device: micron-7450-pro-1920gb}}
workload: {users: {to: drive, arrivals: {closed: {depth: 64}}, size: 4 KiB, op: {reads: 70 %}}}
run: {requests: 3000000}
";

/// Random requests of 4 KiB to one solid-state drive a CPU second, seven in ten of them reads.
pub fn ssd() -> f64 {
    3e6 / cpu_seconds(|| run(SSD, &[]))
}

const STEPS: &str = "
system: {store: {type: station, servers: 64, service: 1 ms, capacity: 100 GB}}
workload:
  training:
    to: store
    size: 10 MB
    arrivals: {steps: {accelerators: 4, batch: 10, threads: 4, compute: 240 ms, read: 1 MB}}
run: {requests: 10000000}
";

/// Reads a CPU second of 10⁵ steps of accelerators, a hundred reads each.
pub fn steps() -> f64 {
    1e7 / cpu_seconds(|| run(STEPS, &[]))
}

/// A thousand drives in fifty servers, of which one fails and recovers; each request is eight to eleven pieces.
const CLUSTER: &str = "
parts:
  nvme: {type: station, servers: 8, service: 80 us, capacity: 1 TB}
  node: {type: server, cores: 16, submit: 20 us, complete: 10 us}
  port: {type: link, preset: ethernet_25g}
system:
  pool: {type: pool, of: nvme, servers: 50, drives: 20, server: node, link: port, erasure: {data: 8, parity: 3, unit: 16 KiB}, groups: 8192, size: 500 GB, recovery: {out_after: 1 s}}
workload:
  clients: {to: pool, arrivals: {closed: {depth: 64}}, size: 128 KiB, align: 128 KiB, op: {reads: 50 %}}
faults: [{component: 'pool/node[3]', fails: 500 ms}]
run: {requests: 1000000}
";

/// Requests to a cluster a CPU second, and the growth of the peak of memory from 3·10⁵ to 10⁶ of them, in MiB.
pub fn cluster() -> (f64, f64) {
    run(CLUSTER, &[("run.requests", "300000")]);
    let before = peak_memory_mib();
    let seconds = cpu_seconds(|| run(CLUSTER, &[]));
    (1e6 / seconds, peak_memory_mib() - before)
}

pub const RAID5: &str = "
parts: {spindle: {type: disk, device: seagate-st32171w, positioning: mechanical}}
system: {volume: {type: array, level: raid5, of: spindle, disks: 9, stripe_unit: 64 KiB}}
workload: {users: {to: volume, arrivals: {poisson: 150 /s}, size: 8 KiB, op: {reads: 66.667 %}}}
run: {requests: 1000000}
";

/// Random requests to a RAID 5 of nine mechanical disks a CPU second, two thirds of them reads; and the time a request, of ten
/// times as many, as a multiple.
pub fn raid5() -> (f64, f64) {
    let of = |requests: &str| cpu_seconds(|| run(RAID5, &[("run.requests", requests)]));
    let (few, many) = (of("100000"), of("1000000"));
    (1e6 / many, many / (10.0 * few))
}

/// A fabric: 16 servers, 2 switches that all are connected to, 32 RAID 5 arrays of 16 mechanical disks. Each server asks two arrays,
/// over both switches in turn.
fn fabric() -> String {
    let all: Vec<String> = (0..16).map(|n| format!("s{n}")).chain((0..32).map(|n| format!("a{n}"))).collect();
    let connects = all.join(", ");
    let server =
        "{type: server, cores: 4, submit: 5 us, complete: 5 us, adapter: {command: 2 us, queue_depth: 64}}";
    let servers: String = (0..16).map(|n| format!("  s{n}: {server}\n")).collect();
    let array = "{type: array, level: raid5, of: spindle, disks: 16, stripe_unit: 64 KiB}";
    let arrays: String = (0..32).map(|n| format!("  a{n}: {array}\n")).collect();
    let stream = |n: u32| {
        let ends = format!("from: s{}, to: a{n}", n % 16);
        format!("  u{n}: {{{ends}, arrivals: {{poisson: 250 /s}}, size: 8 KiB, op: {{reads: 66.667 %}}}}\n")
    };
    let streams: String = (0..32).map(stream).collect();
    format!(
        "
parts: {{spindle: {{type: disk, device: seagate-st32171w, positioning: mechanical}}}}
system:
{servers}{arrays}  left: {{type: switch, preset: fc_8g, latency: 0.8 us, connects: [{connects}]}}
  right: {{type: switch, preset: fc_8g, latency: 0.8 us, connects: [{connects}]}}
workload:
{streams}run: {{requests: 1000000}}
"
    )
}

/// Requests through a fabric a CPU second, and by how much five times as many raise the peak of memory, in MiB.
pub fn san() -> (f64, f64) {
    let text = fabric();
    let rate = 1e6 / cpu_seconds(|| run(&text, &[]));
    let before = peak_memory_mib();
    run(&text, &[("run.requests", "5000000")]);
    (rate, peak_memory_mib() - before)
}

/// Fifty RAID 5 arrays of ten mechanical disks over SAS, each under one of five loads: random reads, random writes, both, sequential
/// reads and sequential writes.
fn five_hundred_disks() -> String {
    let loads = [
        "size: 4 KiB, op: read",
        "size: 4 KiB, op: write",
        "size: 8 KiB, op: {reads: 70 %}",
        "size: 1 MiB, op: read, pattern: sequential",
        "size: 1 MiB, op: write, pattern: sequential",
    ];
    let array = "{type: array, level: raid5, of: spindle, disks: 10, stripe_unit: 64 KiB, via: backplane}";
    let arrays: String = (0..50).map(|n| format!("  a{n}: {array}\n")).collect();
    let stream =
        |n: usize| format!("  u{n}: {{to: a{n}, arrivals: {{closed: {{depth: 8}}}}, {}}}\n", loads[n % 5]);
    let streams: String = (0..50).map(stream).collect();
    format!(
        "
parts: {{spindle: {{type: disk, device: seagate-st3500630ns, positioning: mechanical}}}}
system:
  backplane: {{type: sas, preset: sas_12g, lanes: 8}}
{arrays}workload:
{streams}run: {{requests: 100000}}
"
    )
}

/// Seconds for 100,000 requests to 500 disks. OGSSim took 3.5 s for common workloads on as many (Gougeaud and others, SPECTS 2016; the
/// abstract gives no number of requests).
pub fn five_hundred_disks_s() -> f64 {
    cpu_seconds(|| run(&five_hundred_disks(), &[]))
}

/// By how much ten times the requests raise the peak of memory.
pub fn memory_growth_mib() -> f64 {
    run(RAID0, &[("run.requests", "4000000")]);
    let before = peak_memory_mib();
    run(RAID0, &[("run.requests", "40000000")]);
    peak_memory_mib() - before
}

/// What a hundred times the requests do to one mechanical disk: time a request, as a multiple, and the peak of memory, in MiB.
pub fn disk_growth() -> (f64, f64) {
    let of = |requests: &str| {
        let start = ProcessTime::now();
        run(DISK, &[("run.requests", requests)]);
        start.elapsed().as_secs_f64()
    };
    let short = of("1000000");
    let before = peak_memory_mib();
    (of("100000000") / (100.0 * short), peak_memory_mib() - before)
}

/// The most memory this process has had, where the system tells; else NaN.
pub fn peak_memory_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

/// Seconds on a clock that a long run takes on one thread over those on two: a RAID 5, split into replications. The least of three each, in
/// turn.
pub fn long_run_speedup() -> f64 {
    let sets = [
        ("run.split".to_owned(), "true".to_owned()),
        ("run.requests".to_owned(), sized(2_000_000).to_string()),
    ];
    let seconds = |threads| {
        let options = Options { threads, theory: false, ..Options::default() };
        elapsed_s(|| crate::keep(simulate(RAID5, "bench.yaml", &sets, &options, &Progress::default())))
    };
    let times = (0..repeated(3)).map(|_| (seconds(1), seconds(2)));
    let (one, two) =
        times.fold((f64::INFINITY, f64::INFINITY), |least, (a, b)| (least.0.min(a), least.1.min(b)));
    one / two
}

/// Seconds on a clock that `work` takes.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads a clock")]
fn elapsed_s(work: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Seconds until `headrace --help` is printed: the least of five.
pub fn startup_s(program: &str) -> f64 {
    let help = || {
        let output = Command::new(program).arg("--help").output();
        assert!(output.is_ok_and(|output| output.status.success()), "{program} --help fails");
    };
    let times = (0..repeated(5)).map(|_| elapsed_s(help));
    times.fold(f64::INFINITY, f64::min)
}
