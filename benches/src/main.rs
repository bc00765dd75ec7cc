//! Measures figures of speed and memory, prints them, and writes them to `target/bench.json` as one flat object of name →
//! number. `make bench` runs this program several times: `benches/bench.py`.
//!
//! Rates are per CPU second of one core, with statistics; each is the best of three, or with `--once` the only one.
//! Ratios within one run say more than any figure alone.

mod acquisition;
mod archive;
mod coverage;
mod embedded;
mod kernel;
mod raw;
mod replicated;
mod traces;
mod whole;

use std::collections::BTreeMap;
use std::process::ExitCode;

use cpu_time::ProcessTime;

/// The name of a figure, what it is, and the number.
type Figure = (&'static str, &'static str, f64);

/// True in the test of this crate, which runs every benchmark once, at its smallest size.
const SMALLEST: bool = cfg!(test);

/// The size of a benchmark, or a thousandth of it where it is only shown to work.
const fn sized(size: u64) -> u64 {
    if SMALLEST { size.div_ceil(1000) } else { size }
}

/// Returns the number of times that something is measured: 1 with `--once`, whose caller repeats this program.
fn repeated(times: u64) -> u64 {
    if SMALLEST || std::env::args().any(|argument| argument == ONCE) { 1 } else { times }
}

/// CPU seconds that `work` takes: the least of three.
fn cpu_seconds(mut work: impl FnMut()) -> f64 {
    (0..repeated(3)).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min)
}

fn once(work: &mut impl FnMut()) -> f64 {
    let start = ProcessTime::now();
    work();
    start.elapsed().as_secs_f64()
}

/// CPU seconds that each of two takes, the least of five. They run in turn, so that a noisy machine is noisy for both.
fn in_turn(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let times = (0..repeated(5)).map(|_| (once(&mut one), once(&mut other)));
    times.fold((f64::INFINITY, f64::INFINITY), |least, (a, b)| (least.0.min(a), least.1.min(b)))
}

/// What the kernel does beside what a programmer would write by hand.
fn kernel() -> Vec<Figure> {
    let (raw, mm1) = in_turn(|| keep(raw::mm1(sized(5_000_000))), || keep(kernel::mm1(sized(5_000_000), 1)));
    let (raw_fork, fork) =
        in_turn(|| keep(raw::fork_join(sized(1_000_000))), || keep(kernel::fork_join(sized(1_000_000), 1)));
    vec![
        ("raw_customers_per_cpu_s", "M/M/1 on a bare BinaryHeap, no statistics", 5e6 / raw),
        ("mm1_customers_per_cpu_s", "M/M/1, each customer a job of a worker pool", 5e6 / mm1),
        ("mm1_of_raw", "the second over the first", raw / mm1),
        ("raw_fork_join_jobs_per_cpu_s", "fork-join on a bare BinaryHeap, no statistics", 1e6 / raw_fork),
        ("fork_join_jobs_per_cpu_s", "fork-join over four disks", 1e6 / fork),
        ("fork_join_of_raw", "the second over the first", raw_fork / fork),
        ("hold_ns_at_1e6_pending", "pop and push, ns, 10⁶ events pending", kernel::hold_ns(sized(1_000_000))),
        ("hold_ns_at_2_pending", "pop and push, ns, 2 events pending", kernel::hold_ns(2)),
    ]
}

/// Whole scenarios beside the kernel alone.
fn scenarios() -> Vec<Figure> {
    let (kernel, events) = in_turn(|| keep(kernel::mm1(sized(5_000_000), 1)), || whole::mm1("events"));
    let (alone, recursion) =
        in_turn(|| keep(kernel::mm1_recursion(sized(5_000_000))), || whole::mm1("recursion"));
    vec![
        ("mm1_recursion_customers_per_cpu_s", "M/M/1 without events", 5e6 / alone),
        ("scenario_mm1_events_per_cpu_s", "M/M/1 as a scenario, by events: customers", 5e6 / events),
        ("scenario_mm1_of_kernel", "over the kernel alone", kernel / events),
        ("scenario_mm1_recursion_per_cpu_s", "M/M/1 as a scenario, by recursion", 5e6 / recursion),
        ("scenario_mm1_recursion_of_kernel", "over the recursion alone", alone / recursion),
        ("raid0_study_s", "4·10⁶ RAID 0 requests by recursion, s", whole::raid0_s("recursion")),
        ("raid0_study_events_s", "4·10⁶ RAID 0 requests by events, s", whole::raid0_s("events")),
        ("memory_growth_mib", "peak memory: 4·10⁷ requests beyond 4·10⁶, MiB", whole::memory_growth_mib()),
    ]
}

/// A system of 10⁵ components: first, since it measures the peak of memory.
fn components() -> Vec<Figure> {
    let (seconds, mib) = whole::components();
    vec![
        ("components_1e5_s", "99,991 components beyond 21: s, 200,000 requests", seconds),
        ("components_1e5_mib", "the same: peak memory, MiB", mib),
    ]
}

fn ssds() -> Vec<Figure> {
    vec![(
        "ssd_requests_per_cpu_s",
        "4 KiB random requests to an NVMe drive, 7/10 reads, 64 outstanding",
        whole::ssd(),
    )]
}

fn training() -> Vec<Figure> {
    vec![("steps_reads_per_cpu_s", "10⁷ reads of 10⁵ steps of four accelerators", whole::steps())]
}

fn disks() -> Vec<Figure> {
    let rate = whole::mechanical_disk();
    let (time, memory) = whole::disk_growth();
    let (raid5, raid5_time) = whole::raid5();
    vec![
        ("raid5_requests_per_cpu_s", "RAID 5 of nine mechanical disks, 8 KiB random, 2/3 reads", raid5),
        ("raid5_time_1e6_over_1e5", "time a request of it, 10⁶ over 10⁵", raid5_time),
        ("disk_mechanical_requests_per_cpu_s", "8 KiB random reads of a mechanical disk, open Poisson", rate),
        ("disk_time_1e8_over_1e6", "time a request, 10⁸ of them over 10⁶, the same disk", time),
        ("disk_memory_growth_mib", "peak memory: 10⁸ requests of it beyond 10⁶, MiB", memory),
    ]
}

fn fabrics() -> Vec<Figure> {
    let (rate, memory) = whole::san();
    let (pieces, healing) = whole::cluster();
    vec![
        (
            "cluster_requests_per_cpu_s",
            "8 + 3 over 1,000 drives in 50 servers, one of which recovers",
            pieces,
        ),
        ("cluster_memory_growth_mib", "peak memory: 10⁶ requests of it beyond 3·10⁵, MiB", healing),
        ("san_requests_per_cpu_s", "16 servers, 2 switches, 32 RAID 5 of 16 mechanical disks", rate),
        (
            "disks_500_s",
            "10⁵ requests of five common loads to 500 disks, s (OGSSim: 3.5)",
            whole::five_hundred_disks_s(),
        ),
        ("san_memory_growth_mib", "peak memory: 5·10⁶ requests of it beyond 10⁶, MiB", memory),
    ]
}

fn archives() -> Vec<Figure> {
    let (rate, time, memory) = archive::requests(sized(1_000_000));
    vec![
        ("unitree_study_s", "two weeks of the UniTree archive, s", archive::unitree_s()),
        ("ecmwf_replay_s", "250,000 sessions of a library of 170 drives, s", archive::ecmwf_s()),
        ("archive_requests_per_cpu_s", "10⁷ requests over 10⁶ files of an archive", rate),
        ("archive_time_1e7_over_1e6", "time a request of it, 10⁷ over 10⁶", time),
        ("archive_memory_mib", "peak memory of that, MiB", memory),
    ]
}

fn acquisitions() -> Vec<Figure> {
    vec![
        (
            "event_builder_events_per_cpu_s",
            "events of 100 sub-events through 60 builders, 10⁶ of them",
            acquisition::events_per_cpu_s(),
        ),
        ("alice_daq_study_s", "an hour of the ALICE data acquisition at 1.25 GB/s, s", acquisition::hour_s()),
    ]
}

fn traces() -> Vec<Figure> {
    let (read, summarised) = traces::lines_per_cpu_s();
    vec![
        ("trace_lines_per_cpu_s", "lines of an MSR trace read a CPU second", read),
        ("trace_info_lines_per_cpu_s", "lines of an MSR trace summarised a CPU second", summarised),
    ]
}

/// What a second processor is worth to one run. It needs an idle machine.
fn processors() -> Vec<Figure> {
    vec![(
        "long_run_speedup_2_cores",
        "2·10⁶ requests of a RAID 5, split: time on one thread over two",
        whole::long_run_speedup(),
    )]
}

fn keep<T>(found: T) {
    std::hint::black_box(found);
}

/// Coverage takes minutes: `make coverage`.
fn coverages() -> Vec<Figure> {
    let (mm1, raid0) = (coverage::mm1(0.8, sized(1_000_000)), coverage::raid0(0.8, sized(1_000_000)));
    let (mm1_high, raid0_high) =
        (coverage::mm1(0.95, sized(1_000_000)), coverage::raid0(0.95, sized(1_000_000)));
    let (short, raid0_short) = (coverage::mm1(0.9, sized(100_000)), coverage::raid0(0.9, sized(100_000)));
    vec![
        ("ci_coverage_mm1", "share of 2,000 intervals that contain the mean, M/M/1, ρ = 0.8", mm1.all),
        ("ci_coverage_raid0", "the same of split-merge RAID 0, ρ = 0.8", raid0.all),
        ("ci_trusted_mm1", "how many of them call themselves trusted", mm1.trusting),
        ("ci_trusted_raid0", "how many, of RAID 0", raid0.trusting),
        ("ci_coverage_mm1_at_95", "all intervals at ρ = 0.95", mm1_high.all),
        ("ci_coverage_mm1_at_95_trusted", "those that call themselves trusted", mm1_high.trusted),
        ("ci_trusted_mm1_at_95", "how many do", mm1_high.trusting),
        ("ci_coverage_raid0_at_95", "all intervals of RAID 0 at ρ = 0.95", raid0_high.all),
        ("ci_coverage_raid0_at_95_trusted", "those that call themselves trusted", raid0_high.trusted),
        ("ci_trusted_raid0_at_95", "how many do", raid0_high.trusting),
        (
            "ci_coverage_mm1_short_trusted",
            "of M/M/1, ρ = 0.9, 100,000 customers: those trusted",
            short.trusted,
        ),
        ("ci_trusted_mm1_short", "how many do", short.trusting),
        ("ci_coverage_raid0_short_trusted", "of RAID 0, ρ = 0.9, 100,000 requests", raid0_short.trusted),
        ("ci_trusted_raid0_short", "how many do", raid0_short.trusting),
    ]
}

/// Intervals of replicated runs, of those that call themselves trusted. Each case is printed, all together are figures.
fn replicated() -> Vec<Figure> {
    let (mm1, split, others) = (replicated::mm1(), replicated::split(), replicated::others());
    for (name, cell) in mm1.iter().chain(&split).chain(&others) {
        let [mean, p99, off] = [cell.mean, cell.p99, cell.off].map(|sum| sum / cell.trusted);
        let trusted = cell.trusted / cell.all;
        println!("{name:<28} trusted {trusted:.2}  mean {mean:.3}  p99 {p99:.3}  bias {:+.2} %", off * 100.0);
    }
    let [mm1, split, others] = [&mm1, &split, &others].map(|cells| replicated::together(cells));
    vec![
        (
            "coverage_replicated_mean",
            "eight cases of M/M/1: intervals of the mean that contain it",
            mm1.mean / mm1.trusted,
        ),
        ("coverage_replicated_p99", "the same of the 99th percentile", mm1.p99 / mm1.trusted),
        ("coverage_replicated_trusted", "how many of all experiments are trusted", mm1.trusted / mm1.all),
        ("coverage_split_mean", "the same of 10⁶ requests, split", split.mean / split.trusted),
        ("coverage_split_p99", "the same of the 99th percentile", split.p99 / split.trusted),
        (
            "coverage_replicated_others_mean",
            "bursty arrivals and a closed network: of the mean",
            others.mean / others.trusted,
        ),
        ("coverage_replicated_others_p99", "the same of the 99th percentile", others.p99 / others.trusted),
    ]
}

/// A group of figures: its name, and what measures them.
type Group = (&'static str, fn() -> Vec<Figure>);

/// The groups of figures, by name. Those of [`LONG`] are measured only where they are named.
const GROUPS: [Group; 14] = [
    ("components", components),
    ("kernel", kernel),
    ("scenarios", scenarios),
    ("disks", disks),
    ("ssds", ssds),
    ("training", training),
    ("fabrics", fabrics),
    ("archives", archives),
    ("acquisitions", acquisitions),
    ("traces", traces),
    ("processors", processors),
    ("embedded", embedded::figures),
    ("replicated", replicated),
    ("coverage", coverages),
];

/// Groups that take minutes: `make coverage`.
const LONG: [&str; 2] = ["replicated", "coverage"];

/// Flag that measures everything once instead of several times.
const ONCE: &str = "--once";

/// `headrace-bench [GROUP…] [--once] [--startup PROGRAM]` adds its figures to those in `target/bench.json`; `--list` prints the
/// groups that it measures by default; `--workload NAME CUSTOMERS SEED` runs one workload of the kernel.
fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != ONCE).collect();
    match arguments.first().map(String::as_str) {
        Some("--list") => return listed(),
        Some("--workload") => return workload(&arguments[1..]),
        _ => {}
    }
    let program =
        arguments.iter().position(|argument| argument == "--startup").map(|at| arguments.split_off(at));
    let mut flat = before();
    for (name, measure) in GROUPS {
        let asked = arguments.iter().any(|argument| argument == name);
        if asked || (arguments.is_empty() && !LONG.contains(&name)) {
            told(&measure(), &mut flat);
        }
    }
    if let Some(program) = program.as_ref().and_then(|words| words.get(1)) {
        told(&[("startup_s", "`headrace --help`, s", whole::startup_s(program))], &mut flat);
    }
    let written = serde_json::to_string_pretty(&flat).map_err(std::io::Error::from);
    match written.and_then(|text| std::fs::write(FILE, text + "\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{FILE} cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn listed() -> ExitCode {
    for (name, _) in GROUPS.iter().filter(|(name, _)| !LONG.contains(name)) {
        println!("{name}");
    }
    ExitCode::SUCCESS
}

/// Runs a workload once, and prints its mean response (M/M/1 in s, fork-join in ms) and the CPU seconds, for
/// `benches/peers/compare.py`.
fn workload(arguments: &[String]) -> ExitCode {
    let [name, customers, seed] = arguments else { return misused() };
    let (Ok(customers), Ok(seed)) = (customers.parse(), seed.parse()) else { return misused() };
    let (work, unit): (fn(u64, u64) -> f64, f64) = match name.as_str() {
        "mm1" => (kernel::mm1, 1e9),
        "fork_join" => (kernel::fork_join, 1e6),
        _ => return misused(),
    };
    let mut mean = f64::NAN;
    let cpu_s = once(&mut || mean = work(customers, seed) / unit);
    println!("{}", serde_json::json!({"mean": mean, "cpu_s": cpu_s}));
    ExitCode::SUCCESS
}

fn misused() -> ExitCode {
    eprintln!("usage: headrace-bench --workload mm1|fork_join CUSTOMERS SEED");
    ExitCode::FAILURE
}

const FILE: &str = "target/bench.json";

/// The figures measured before; none where there is no such file.
fn before() -> BTreeMap<String, f64> {
    std::fs::read_to_string(FILE).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Prints figures, as soon as there are some, and notes them down.
fn told(figures: &[Figure], flat: &mut BTreeMap<String, f64>) {
    for (name, what, number) in figures {
        println!("{name:36} {:>14}  {what}", shown(*number));
        flat.insert((*name).to_owned(), *number);
    }
}

fn shown(number: f64) -> String {
    if number >= 1e5 { format!("{:.2} million", number / 1e6) } else { format!("{number:.3}") }
}

#[test]
fn every_benchmark_runs_at_its_smallest() {
    for (name, measure) in GROUPS {
        assert!(!measure().is_empty(), "{name}");
    }
}
