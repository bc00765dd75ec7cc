//! `make bench`: how fast, printed as a table and written to `target/bench.json` as one flat object of name → number.
//!
//! Rates are per CPU second of one core, statistics on, the best of three: machines are noisy, and the best is what the
//! code can do. Ratios within one run say more than any figure alone.

mod coverage;
mod kernel;
mod raw;
mod traces;
mod whole;

use std::collections::BTreeMap;
use std::process::ExitCode;

use cpu_time::ProcessTime;

/// The name of a figure, what it is, and the number.
type Figure = (&'static str, &'static str, f64);

/// CPU seconds that `work` takes: the least of three.
fn cpu_seconds(mut work: impl FnMut()) -> f64 {
    let times = (0..3).map(|_| {
        let start = ProcessTime::now();
        work();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

fn figures() -> Vec<Figure> {
    let rate = |n: u64, work: fn(u64) -> f64| n as f64 / cpu_seconds(|| _ = std::hint::black_box(work(n)));
    let raw = rate(5_000_000, raw::mm1);
    let mm1 = rate(5_000_000, kernel::mm1);
    let (disk_time, disk_memory) = whole::disk_growth();
    vec![
        ("raw_customers_per_cpu_s", "M/M/1 on a bare BinaryHeap, no statistics", raw),
        ("mm1_customers_per_cpu_s", "M/M/1, a process per customer", mm1),
        ("mm1_of_raw", "the second over the first", mm1 / raw),
        ("fork_join_jobs_per_cpu_s", "fork-join over four disks", rate(1_000_000, kernel::fork_join)),
        (
            "mm1_recursion_customers_per_cpu_s",
            "M/M/1 without events",
            rate(20_000_000, kernel::mm1_recursion),
        ),
        ("hold_ns_at_1e6_pending", "pop and push, ns, 10⁶ events pending", kernel::hold_ns(1_000_000)),
        ("hold_ns_at_2_pending", "pop and push, ns, 2 events pending", kernel::hold_ns(2)),
        ("scenario_mm1_events_per_cpu_s", "M/M/1 as a scenario, by events: customers", whole::mm1("events")),
        ("scenario_mm1_recursion_per_cpu_s", "M/M/1 as a scenario, by recursion", whole::mm1("recursion")),
        ("raid0_study_s", "4·10⁶ RAID 0 requests by recursion, s", whole::raid0_s("recursion")),
        ("raid0_study_events_s", "4·10⁶ RAID 0 requests by events, s", whole::raid0_s("events")),
        (
            "disk_mechanical_requests_per_cpu_s",
            "8 KiB random reads of a mechanical disk, open Poisson",
            whole::mechanical_disk(),
        ),
        ("disk_time_1e8_over_1e6", "time a request, 10⁸ of them over 10⁶, the same disk", disk_time),
        ("disk_memory_growth_mib", "peak memory: 10⁸ requests of it beyond 10⁶, MiB", disk_memory),
        ("trace_lines_per_cpu_s", "lines of an MSR trace read a CPU second", traces::lines_per_cpu_s()),
        ("memory_growth_mib", "peak memory: 4·10⁷ requests beyond 4·10⁶, MiB", whole::memory_growth_mib()),
    ]
}

/// Coverage takes minutes: `make coverage`, and `make bench` at its end.
fn coverages() -> Vec<Figure> {
    let (mm1, raid0) = (coverage::mm1(0.8), coverage::raid0(0.8));
    let (mm1_high, raid0_high) = (coverage::mm1(0.95), coverage::raid0(0.95));
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
    ]
}

fn main() -> ExitCode {
    let only_coverage = std::env::args().any(|argument| argument == "coverage");
    let mut flat = BTreeMap::new();
    if !only_coverage {
        let mut all = figures();
        if let Some(program) = std::env::args().nth(1) {
            all.push(("startup_s", "`headrace --help`, s", whole::startup_s(&program)));
        }
        told(&all, &mut flat);
    }
    told(&coverages(), &mut flat);
    let written = serde_json::to_string_pretty(&flat).map_err(std::io::Error::from);
    match written.and_then(|text| std::fs::write("target/bench.json", text + "\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("target/bench.json cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints figures, as soon as there are some, and notes them down.
fn told(figures: &[Figure], flat: &mut BTreeMap<&'static str, f64>) {
    for (name, what, number) in figures {
        println!("{name:36} {:>14}  {what}", shown(*number));
        flat.insert(name, *number);
    }
}

fn shown(number: f64) -> String {
    if number >= 1e5 { format!("{:.2} million", number / 1e6) } else { format!("{number:.3}") }
}
