//! How trace files are written: one format, one file.

mod ascii;
mod blkparse;
mod csv;
mod fio;
mod msr;
mod spc;
mod validate;

use std::collections::VecDeque;

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{scaled, shown};
use crate::request::Op;

pub use csv::{ByteColumn, CsvColumns, TimeColumn};

/// 512-byte sectors, in which most formats count.
pub(super) const SECTOR: u64 = 512;

/// How a trace file is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TraceFormat {
    /// DiskSim's validation traces: `R|W outcome first-sector sectors measured-µs think-µs`, 512-byte sectors.
    Validate,
    /// DiskSim's ASCII traces: `arrival-ms device first-sector sectors flags`, 512-byte sectors; bit 0 of the flags, which
    /// are hexadecimal, is a read.
    Ascii,
    /// MSR Cambridge: `filetime,host,disk,Read|Write,offset,bytes,response`, times in 100 ns.
    Msr,
    /// Storage Performance Council: `unit,first-sector,bytes,R|W,seconds`, 512-byte sectors.
    Spc,
    /// The text of `blkparse`: a request from its issue (D) to its completion (C).
    Blkparse,
    /// The same, a request from its queueing (Q) on: for a trace without issues.
    BlkparseQueued,
    /// fio's latency log: `ms,latency-ns,direction,bytes,offset,…`. Addresses need fio's `log_offset=1`.
    FioLatency,
    /// fio's bandwidth log: `ms,KiB/s,direction,bytes,offset,…`. Addresses need fio's `log_offset=1`.
    FioBandwidth,
    /// headrace's own, as `headrace trace convert` writes it: CSV with the columns
    /// `time_ns,op,address,bytes,response_ns,think_ns,device`.
    Headrace,
    /// CSV whose first line names the columns.
    Csv(Box<CsvColumns>),
}

/// One request as its line tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// When it came, in ns since whatever the format counts from.
    pub time_ns: Option<u64>,
    /// Which device it went to, by its place in [`Parser::devices`].
    pub device: u32,
    /// Read or write.
    pub op: Op,
    /// The first byte.
    pub address: Option<u64>,
    /// How many bytes.
    pub bytes: u64,
    /// How long it took.
    pub response: Option<Nanos>,
    /// From its completion to the next request.
    pub think: Option<Nanos>,
}

impl Raw {
    /// A request of which nothing but what it asks is known; refused where no device could do it.
    #[inline]
    fn new(op: Op, address: Option<u64>, bytes: u64) -> Result<Self, String> {
        match address.unwrap_or(0).checked_add(bytes) {
            Some(_) if bytes > 0 => {
                Ok(Self { time_ns: None, device: 0, op, address, bytes, response: None, think: None })
            }
            _ => Err(format!("{bytes} bytes from {} are no request", address.unwrap_or(0))),
        }
    }
}

/// The devices named in a trace, in the order in which they first come.
#[derive(Debug, Default)]
pub struct Devices {
    names: Vec<Vec<u8>>,
    last: usize,
}

/// A trace of more devices is taken for no trace.
const MOST_DEVICES: usize = 4096;

impl Devices {
    /// The number of the device of this name.
    #[inline]
    fn number(&mut self, name: &[u8]) -> Result<u32, String> {
        if self.names.get(self.last).is_none_or(|last| last != name) {
            self.last = self.names.iter().position(|known| known == name).unwrap_or(self.names.len());
        }
        if self.last == self.names.len() {
            if self.last == MOST_DEVICES {
                return Err(format!("`{}` is one device more than {MOST_DEVICES}", shown(name)));
            }
            self.names.push(name.to_vec());
        }
        Ok(self.last as u32)
    }

    /// Their names, a colon where the trace has a comma: `8:0`, `usr:0`.
    pub fn names(&self) -> Vec<String> {
        self.names.iter().map(|name| String::from_utf8_lossy(name).replace(',', ":")).collect()
    }
}

/// Reads the lines of one file.
pub struct Parser {
    /// The devices met so far.
    pub devices: Devices,
    way: Way,
}

enum Way {
    Validate,
    Ascii,
    Msr,
    Spc,
    Blkparse(blkparse::UnderWay),
    Fio(fio::Log),
    Csv(Box<csv::Columns>),
}

impl Parser {
    /// A parser for a file in `format` whose first lines are `sample`.
    pub fn new(format: &TraceFormat, sample: &[&[u8]]) -> Self {
        let way = match format {
            TraceFormat::Validate => Way::Validate,
            TraceFormat::Ascii => Way::Ascii,
            TraceFormat::Msr => Way::Msr,
            TraceFormat::Spc => Way::Spc,
            TraceFormat::Blkparse => Way::Blkparse(blkparse::UnderWay::new(b"D")),
            TraceFormat::BlkparseQueued => Way::Blkparse(blkparse::UnderWay::new(b"Q")),
            TraceFormat::FioLatency => Way::Fio(fio::Log::new(fio::Value::LatencyNs, sample)),
            TraceFormat::FioBandwidth => Way::Fio(fio::Log::new(fio::Value::KibPerSecond, sample)),
            TraceFormat::Headrace => Way::Csv(Box::new(csv::Columns::new(CsvColumns::own()))),
            TraceFormat::Csv(columns) => Way::Csv(Box::new(csv::Columns::new((**columns).clone()))),
        };
        Self { devices: Devices::default(), way }
    }

    /// Reads a line that is not blank; what requests it completes are added to `out`.
    ///
    /// # Errors
    /// What is wrong with the line.
    #[inline]
    pub fn line(&mut self, line: &[u8], out: &mut VecDeque<Raw>) -> Result<(), String> {
        let devices = &mut self.devices;
        let raw = match &mut self.way {
            Way::Validate => validate::parse(line)?,
            Way::Ascii => ascii::parse(line, devices)?,
            Way::Msr => msr::parse(line, devices)?,
            Way::Spc => spc::parse(line, devices)?,
            Way::Fio(log) => log.parse(line)?,
            Way::Blkparse(under_way) => return under_way.parse(line, devices, out),
            Way::Csv(columns) => match columns.parse(line, devices)? {
                Some(raw) => raw,
                None => return Ok(()),
            },
        };
        out.push_back(raw);
        Ok(())
    }

    /// The file is over: adds what is still under way.
    pub fn end(&mut self, out: &mut VecDeque<Raw>) {
        if let Way::Blkparse(under_way) = &mut self.way {
            under_way.end(out);
        }
    }
}

/// The format of a file called `name` whose first lines are `sample`: that which reads most of them; `None` where none reads
/// at least half.
pub fn detect(name: &str, sample: &[&[u8]]) -> Option<TraceFormat> {
    let fio = [
        ("_bw.", TraceFormat::FioBandwidth),
        ("_lat.", TraceFormat::FioLatency),
        ("lat.", TraceFormat::FioLatency),
    ];
    let fio = fio.into_iter().find(|(ending, _)| name.contains(ending)).map(|(_, format)| format);
    let others = [
        TraceFormat::Headrace,
        TraceFormat::Msr,
        TraceFormat::Spc,
        TraceFormat::Validate,
        TraceFormat::Ascii,
        TraceFormat::Blkparse,
    ];
    let reads = |format: &TraceFormat| {
        let (mut parser, mut out) = (Parser::new(format, sample), VecDeque::new());
        sample.iter().filter(|line| parser.line(line, &mut out).is_ok()).count()
    };
    let mut best = (0, None);
    for format in fio.into_iter().chain(others) {
        let lines = reads(&format);
        if lines > best.0 {
            best = (lines, Some(format));
        }
    }
    best.1.filter(|_| best.0 * 2 >= sample.len())
}

/// A number of sectors, as bytes.
#[inline]
fn sectors(field: &[u8], what: &str) -> Result<u64, String> {
    scaled(field, SECTOR, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the one line of a file in this format says, after the lines before it.
    fn last(format: &TraceFormat, lines: &[&str]) -> Result<Raw, String> {
        let sample: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let (mut parser, mut out) = (Parser::new(format, &sample), VecDeque::new());
        for line in &sample {
            parser.line(line, &mut out)?;
        }
        parser.end(&mut out);
        out.pop_back().ok_or_else(|| "nothing".to_owned())
    }

    fn raw(time_ns: Option<u64>, op: Op, address: u64, bytes: u64) -> Raw {
        Raw { time_ns, device: 0, op, address: Some(address), bytes, response: None, think: None }
    }

    const OWN: &str = "time_ns,op,address,bytes,response_ns,think_ns,device";

    #[test]
    fn a_line_of_each_format_is_read() {
        let took = |ns: u64, raw: Raw| Raw { response: Some(Nanos(ns)), ..raw };
        let read = |lines: &[&str], format: TraceFormat| {
            assert_eq!(
                detect("a_clat.1.log", &lines.iter().map(|l| l.as_bytes()).collect::<Vec<_>>()),
                Some(format.clone())
            );
            last(&format, lines).unwrap()
        };
        assert_eq!(
            read(&["R Miss  564347     2     14095.370     13876.270"], TraceFormat::Validate),
            Raw {
                think: Some(Nanos(13_876_270)),
                ..took(14_095_370, raw(None, Op::Read, 564_347 * 512, 1024))
            }
        );
        assert_eq!(
            read(&["0.501 0 2000 8 1", "12.250000 0 303567 8 0"], TraceFormat::Ascii),
            raw(Some(12_250_000), Op::Write, 303_567 * 512, 4096)
        );
        assert_eq!(
            read(&["128166372003061629,usr,0,Read,7014609920,24576,41286"], TraceFormat::Msr),
            took(4_128_600, raw(Some(12_816_637_200_306_162_900), Op::Read, 7_014_609_920, 24_576))
        );
        assert_eq!(
            read(&["0,20941264,8192,W,0.551706"], TraceFormat::Spc),
            raw(Some(551_706_000), Op::Write, 20_941_264 * 512, 8192)
        );
        assert_eq!(
            read(&["101, 5000000, 0, 4096, 8192, 0"], TraceFormat::FioLatency),
            took(5_000_000, raw(Some(96_000_000), Op::Read, 8192, 4096))
        );
        assert_eq!(
            read(&[OWN, "7,write,512,1024,90,4,"], TraceFormat::Headrace),
            Raw { think: Some(Nanos(4)), ..took(90, raw(Some(7), Op::Write, 512, 1024)) }
        );
        assert_eq!(
            read(
                &[
                    "  8,0    3        1     0.000000000   697  Q   R 223490 + 8 [kjournald]",
                    "  8,0    3        2     0.000001829   697  D   R 223490 + 8 [kjournald]",
                    "  8,0    1        3     0.004001829     0  C   R 223490 + 8 [0]",
                ],
                TraceFormat::Blkparse
            ),
            took(4_000_000, raw(Some(1829), Op::Read, 223_490 * 512, 4096))
        );
    }

    #[test]
    fn a_bad_line_is_told() {
        for (format, line, says) in [
            (TraceFormat::Validate, "R Miss 12 2 100.0", "5 field(s)"),
            (TraceFormat::Validate, "X Miss 12 2 100.0 1.0", "neither a read nor a write"),
            (TraceFormat::Validate, "0 1 12 2 100.0 1.0", "neither R nor W"),
            (TraceFormat::Validate, "R Miss 12 0 100.0 1.0", "no request"),
            (TraceFormat::Validate, "R Miss -1 2 100.0 1.0", "no sector number"),
            (TraceFormat::Validate, "R Miss 1 2 nan 1.0", "no time"),
            (TraceFormat::Msr, "128166372003061629,usr,0,Read,7014609920,24576", "6 field(s)"),
            (TraceFormat::Ascii, "1.0 0 5 8 z", "no flags"),
            (TraceFormat::Spc, "0,20941264,8192,T,0.551706", "neither"),
            (TraceFormat::Blkparse, "8,0 3 2 x 697 D R 223490 + 8 [k]", "no time"),
            (TraceFormat::Headrace, "when,op", "no column `time_ns`"),
        ] {
            let message = last(&format, &[line]).unwrap_err();
            assert!(message.contains(says), "{line}: {message}");
        }
    }

    /// A request that is requeued is issued once; one completed in parts is over with the last; of two at one place the first
    /// issued is the first completed.
    #[test]
    fn blkparse_follows_requeues_parts_and_twins() {
        let lines = [
            "8,0 3 1 0.000000000 697 D R 1000 + 8 [fio]",
            "8,0 3 2 0.001000000 697 R R 1000 + 8 [fio]",
            "8,0 3 3 0.010000000 697 D R 1000 + 8 [fio]",
            "8,0 1 4 0.012000000 0 C R 1000 + 8 [0]",
            "8,0 1 5 0.024000000 0 D R 9000 + 16 [fio]",
            "8,0 1 6 0.025000000 0 C R 9000 + 8 [0]",
            "8,0 1 7 0.027000000 0 C R 9008 + 8 [0]",
            "8,0 1 8 0.030000000 0 D W 50 + 8 [fio]",
            "8,0 1 9 0.031000000 0 D W 50 + 8 [fio]",
            "8,0 1 10 0.032000000 0 C W 50 + 8 [0]",
            "8,0 1 11 0.034000000 0 C W 50 + 8 [0]",
            "CPU0 (8,0):",
        ];
        let (mut parser, mut out) = (Parser::new(&TraceFormat::Blkparse, &[]), VecDeque::new());
        lines.iter().for_each(|line| parser.line(line.as_bytes(), &mut out).unwrap());
        parser.end(&mut out);
        let times =
            out.iter().map(|raw| (raw.time_ns.unwrap() / 1_000_000, raw.response.unwrap().ms() as u64));
        assert_eq!(times.collect::<Vec<_>>(), [(10, 2), (24, 3), (30, 2), (31, 3)]);
    }

    proptest! {
        #[test]
        fn any_lines_are_read_or_refused(lines in prop::collection::vec("([RWD0-9., +x-]|8,0 |Read|\\[){0,80}|\\PC{0,60}", 1..5)) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            for format in [
                TraceFormat::Validate, TraceFormat::Ascii, TraceFormat::Msr, TraceFormat::Spc, TraceFormat::Blkparse,
                TraceFormat::FioLatency, TraceFormat::FioBandwidth, TraceFormat::Headrace,
            ] {
                if let Ok(raw) = last(&format, &lines) {
                    prop_assert!(raw.bytes > 0 && raw.address.unwrap_or(0).checked_add(raw.bytes).is_some());
                }
            }
        }
    }
}
