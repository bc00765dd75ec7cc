//! Archives: two weeks of the UniTree study's size, and many requests to many files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use cpu_time::ProcessTime;
use headrace_kernel::{Draws, RngStream};
use headrace_scenario::progress::Progress;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

use crate::whole::peak_memory_mib;
use crate::{repeated, sized};

const ECMWF: &str = include_str!("../../python/headrace/studies/ecmwf_library/library.yaml");
const UNITREE: &str = include_str!("../../python/headrace/studies/llnl_unitree/archive.yaml");

/// A larger archive, so that ten million requests do not overload it: ports and limits as before.
const LARGE: &str = "
system:
  front: {type: front, per_user: 50, ports: [{number: 60, up_to: 4 MB}, {number: 40, above: 4 MB}], get_latency: 0.1 s}
  network: {type: network, rate: 10 GB/s}
  pool: {type: disk_pool, chains: 12, volumes: 20, volume: 20 GB, rate: 1 GB/s, allocate: across_chains}
  library:
    type: tape_library
    groups: [{drives: 200, rate: 10 GB/s, arms: 20}]
    cartridge: 1 TB
    drive_rate: 300 MB/s
    load: 20 s
    hold: 2 min
    recall: by_cartridge
  archive:
    type: archive
    front: front
    network: network
    pool: pool
    library: library
    migrate: {every: 10 min, min_age: 10 min}
    purge: {weight: 'ceil(size_mb) * ceil(hours_since_access) ** 1.5', high: 80 %, low: 70 %, min_age: 10 min}
workload: {jobs: {to: archive, arrivals: {log: jobs.csv}}}
";

/// A log in a folder of its own, beside which scenarios are run.
struct Log(PathBuf);

impl Log {
    fn of(name: &str, lines: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Self {
        Self::with_header(name, "jobs.csv", |text| {
            writeln!(text, "time_s,op,user,host,file,bytes,staged")?;
            lines(text)
        })
    }

    /// A log whose first line is the first that is written.
    fn with_header(
        name: &str,
        file: &str,
        lines: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Self {
        let folder = std::env::temp_dir().join(format!("headrace-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room for temporary files");
        let write = || {
            let mut text = BufWriter::new(File::create(folder.join(file))?);
            lines(&mut text)?;
            text.flush()
        };
        write().expect("there is room for temporary files");
        Self(folder)
    }

    /// CPU seconds that a scenario takes on it.
    fn run_s(&self, text: &str) -> f64 {
        let (start, file) = (ProcessTime::now(), self.0.join("archive.yaml"));
        let found = simulate(text, &file.to_string_lossy(), &[], &Options::default(), &Progress::default());
        let found = found.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
        assert!(found.results.complete, "{}", found.results.answer);
        start.elapsed().as_secs_f64()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Lognormal sizes, by the sum of twelve uniform numbers.
fn size(draws: &mut Draws, median: f64, ln_sd: f64, most: f64) -> u64 {
    let normal = (0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0;
    (median * libm::exp(ln_sd * normal)).clamp(1.0, most) as u64
}

/// As many puts and gets as the study has, in bursts.
fn two_weeks(text: &mut BufWriter<File>) -> std::io::Result<()> {
    let mut draws = RngStream::named(1, "bench", "archive").draws();
    let mut now = 0.0;
    for number in 0..sized(27_502) {
        let rest = if number % 6 == 0 { 6.0 * (14.0 * 86_400.0 / 27_502.0 - 1.0) } else { 0.0 };
        now += draws.exponential() * (1.0 + rest);
        let op = if number % 9 == 8 { "get" } else { "put" };
        let bytes = size(&mut draws, 1.2e6, 2.6, 3e9);
        let staged = number % 27 == 8;
        writeln!(text, "{now:.3},{op},u{},h,{number},{bytes},{}", number / 6 % 60, u8::from(staged))?;
    }
    Ok(())
}

/// Gets and puts of one in ten as many files, a quarter of which are on tape at first.
fn many(text: &mut BufWriter<File>, requests: u64) -> std::io::Result<()> {
    let mut draws = RngStream::named(2, "bench", "archive").draws();
    for number in 0..requests {
        let file = (draws.uniform() * requests as f64 / 10.0) as u64;
        let op = if draws.chance(0.2) { "put" } else { "get" };
        let now = number as f64 * 0.05;
        writeln!(
            text,
            "{now:.2},{op},u{},h,{file},{},{}",
            number % 997,
            1_000_000 + file % 7_000_000,
            u8::from(file.is_multiple_of(4))
        )?;
    }
    Ok(())
}

/// 250,000 sessions of 7,000 cartridges in 17 days, one in two of them of a cartridge that is often used: the size of ECMWF's log.
fn sessions(text: &mut BufWriter<File>) -> std::io::Result<()> {
    writeln!(text, "time_s,op,file,drive_s,silo")?;
    let mut draws = RngStream::named(3, "bench", "sessions").draws();
    for number in 0..sized(250_000) {
        let most = if draws.chance(0.5) { 700.0 } else { 7000.0 };
        let cartridge = (draws.uniform() * most) as u64;
        let seconds = size(&mut draws, 200.0, 1.2, 20_000.0);
        writeln!(text, "{},session,{cartridge},{seconds},{}", number * 6, cartridge % 12)?;
    }
    Ok(())
}

/// CPU seconds for the replay of a log of the size of ECMWF's: the least of three.
pub fn ecmwf_s() -> f64 {
    let log = Log::with_header("ecmwf", "sessions.csv", sessions);
    (0..repeated(3)).map(|_| log.run_s(ECMWF)).fold(f64::INFINITY, f64::min)
}

/// CPU seconds for two weeks of the UniTree archive: the least of three.
pub fn unitree_s() -> f64 {
    let log = Log::of("unitree", two_weeks);
    (0..repeated(3)).map(|_| log.run_s(UNITREE)).fold(f64::INFINITY, f64::min)
}

/// Of `10 * few` requests over a tenth as many files: requests per CPU second, the time of a request over that of `few` requests, and peak
/// memory in MiB.
pub fn requests(few: u64) -> (f64, f64, f64) {
    let of = |requests: u64| Log::of("many", |text| many(text, requests)).run_s(LARGE);
    let short = of(few);
    let long = of(10 * few);
    (10.0 * few as f64 / long, long / (10.0 * short), peak_memory_mib())
}
