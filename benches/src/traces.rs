//! Reading traces, and finding out what they are like.

use std::fmt::Write;
use std::path::Path;

use headrace_trace::{Reader, characterise_file};

use crate::{cpu_seconds, sized};

const LINES: u64 = sized(2_000_000);

/// Lines of an MSR Cambridge trace per CPU second: read, each request looked at; and summarised, as `trace info` does. Its
/// addresses are random over a terabyte, the worst case for a summary.
pub fn lines_per_cpu_s() -> (f64, f64) {
    let path = std::env::temp_dir().join(format!("headrace-bench-{}.csv", std::process::id()));
    std::fs::write(&path, text()).expect("there is room for 120 MB of temporary files");
    let read = cpu_seconds(|| {
        let reader = Reader::open(&path, None, false).expect("it was just written");
        let bytes: u64 = reader.map(|traced| traced.expect("its lines are well").bytes).sum();
        assert_eq!(std::hint::black_box(bytes), LINES * 24_576);
    });
    let summarised = cpu_seconds(|| {
        let (_, info) = characterise_file(&path, None, false, &|_| true).expect("its lines are well");
        assert_eq!(info.requests, LINES);
    });
    remove(&path);
    (LINES as f64 / read, LINES as f64 / summarised)
}

fn text() -> String {
    let mut text = String::new();
    for i in 0..LINES {
        let (time, address) =
            (128_166_372_003_061_629 + i * 4096, i.wrapping_mul(2_654_435_761) % (1 << 31) * 512);
        let op = if i % 3 == 0 { "Write" } else { "Read" };
        writeln!(text, "{time},usr,0,{op},{address},24576,41286").expect("a string takes everything");
    }
    text
}

fn remove(path: &Path) {
    std::fs::remove_file(path).expect("it was just read");
}
