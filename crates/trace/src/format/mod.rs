//! Trace formats, one per file, and their detection.

mod ascii;
mod blkparse;
mod csv;
mod devices;
mod fio;
mod msr;
mod parser;
mod raw;
mod spc;
#[cfg(test)]
mod tests;
mod validate;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::scaled;

pub use csv::{ByteColumn, CsvColumns, TimeColumn};
pub use devices::Devices;
pub use parser::Parser;
pub use raw::Raw;

/// The 512-byte sector, the unit of most formats.
pub const SECTOR: u64 = 512;

/// The format of a trace file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TraceFormat {
    /// DiskSim validation trace: `R|W outcome first-sector sectors measured-µs think-µs`, 512-byte sectors.
    Validate,
    /// DiskSim ASCII trace: `arrival-ms device first-sector sectors flags`, 512-byte sectors; flags are hexadecimal, bit 0
    /// set for a read.
    Ascii,
    /// MSR Cambridge: `filetime,host,disk,Read|Write,offset,bytes,response`, times in 100 ns.
    Msr,
    /// Storage Performance Council: `unit,first-sector,bytes,R|W,seconds`, 512-byte sectors.
    Spc,
    /// Output of `blkparse`. A request starts at its issue (D) and ends at its completion (C).
    Blkparse,
    /// Output of `blkparse` for a trace without issue events. A request starts when it is queued (Q).
    BlkparseQueued,
    /// fio latency log: `ms,latency-ns,direction,bytes,offset,…`. Addresses require fio's `log_offset=1`.
    FioLatency,
    /// fio bandwidth log: `ms,KiB/s,direction,bytes,offset,…`. Addresses require fio's `log_offset=1`.
    FioBandwidth,
    /// headrace's own format, written by `headrace trace convert`: CSV with the columns
    /// `time_ns,op,address,bytes,response_ns,think_ns,device`.
    Headrace,
    /// CSV with a header line.
    Csv(Box<CsvColumns>),
}

/// The self-identifying formats. Of two that fit equally well, the first is chosen.
const DETECTED: [TraceFormat; 5] =
    [TraceFormat::Msr, TraceFormat::Spc, TraceFormat::Validate, TraceFormat::Ascii, TraceFormat::Blkparse];

/// The format of a file called `name` that starts with the lines `sample`: the one that parses the most lines, or `None` if
/// none parses at least half of them.
pub fn detect(name: &str, sample: &[&[u8]]) -> Option<TraceFormat> {
    // The header alone identifies headrace's own format, so that bad lines after it are reported with their numbers.
    if parsed_lines(&TraceFormat::Headrace, sample.get(..1)?) == 1 {
        return Some(TraceFormat::Headrace);
    }
    let mut best = (0, None);
    for format in fio_by_name(name).into_iter().chain(DETECTED) {
        let lines = parsed_lines(&format, sample);
        if lines > best.0 {
            best = (lines, Some(format));
        }
    }
    best.1.filter(|_| best.0 * 2 >= sample.len())
}

/// fio's logs look alike; their names tell them apart.
fn fio_by_name(name: &str) -> Option<TraceFormat> {
    if name.contains("_bw.") {
        Some(TraceFormat::FioBandwidth)
    } else {
        name.contains("lat.").then_some(TraceFormat::FioLatency)
    }
}

fn parsed_lines(format: &TraceFormat, sample: &[&[u8]]) -> usize {
    let (mut parser, mut out) = (Parser::new(format, sample), VecDeque::new());
    sample.iter().filter(|line| parser.line(line, &mut out).is_ok()).count()
}

/// Parses a number of sectors and returns it in bytes.
#[inline]
fn sectors(field: &[u8], what: &str) -> Result<u64, String> {
    scaled(field, SECTOR, what)
}
