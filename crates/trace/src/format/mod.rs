//! Trace formats, one per file, and their detection.

mod devices;
mod headed;
mod raw;
mod seconds;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::scaled;

pub use csv::{ByteColumn, ColumnName, CsvColumns, TimeColumn};
pub use devices::Devices;
pub use raw::Raw;

/// The 512-byte sector, the unit of most formats.
pub const SECTOR: u64 = 512;

/// Parses the lines of one file, or its records where the format has no lines.
pub trait LineParser {
    /// Parses a line that is not blank, or a record, and appends the requests it completes to `out`. A device that is new is added to `devices`.
    ///
    /// # Errors
    /// A message that says what is wrong with the line.
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String>;

    /// Appends the requests still incomplete at the end of the file.
    fn end(&mut self, out: &mut VecDeque<Raw>) {
        _ = out;
    }

    /// Number of requests so far that are neither reads nor writes, and were left out.
    fn left_out(&self) -> u64 {
        0
    }
}

/// A format that has a request on each line.
impl<F: FnMut(&[u8], &mut Devices) -> Result<Raw, String>> LineParser for F {
    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        out.push_back(self(line, devices)?);
        Ok(())
    }
}

/// Declares the formats: their modules, what a user may write, how a file shows that it has one, and its parser. A file shows it by
/// its `lines`, by its `records` (of this number of bytes), by its name (`named`), or not at all.
macro_rules! formats {
    ($sample:ident; $($module:ident {$(
        $(#[$doc:meta])* $kind:ident $(($given:ident: $type:ty))? [$($shown:tt)*] = $parser:expr,
    )+})+) => {
        $(mod $module;)+

        /// The format of a trace file.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum TraceFormat {
            $($($(#[$doc])* $kind $(($type))?,)+)+
        }

        impl TraceFormat {
            /// Returns the parser of a file that starts with the lines `sample`.
            pub fn parser(&self, $sample: &[&[u8]]) -> Box<dyn LineParser> {
                match self {
                    $($(Self::$kind $(($given))? => Box::new($parser),)+)+
                }
            }

            /// The size of a record in bytes; `None` if the format has lines.
            pub fn record(&self) -> Option<usize> {
                match self {
                    $($(Self::$kind { .. } => formats!(@ record [$($shown)*]),)+)+
                }
            }

            /// The formats that a file called `name` may show. Of two that fit equally well, the first is chosen.
            fn shown(name: &str) -> Vec<Self> {
                let mut shown = Vec::new();
                $($(formats!(@ shown name $kind [$($shown)*]);)+)+
                shown
            }
        }
    };
    (@ record [records $size:tt $($named:tt)*]) => { Some($size) };
    (@ record [$($shown:tt)*]) => { None };
    (@ $shown_ones:ident $name:ident $kind:ident [records $size:tt]) => { $shown_ones.push(Self::$kind) };
    (@ $shown_ones:ident $name:ident $kind:ident [$(records $size:tt)? $(named $part:literal)+]) => {
        if $($name.contains($part))||+ {
            $shown_ones.push(Self::$kind);
        }
    };
    (@ $shown_ones:ident $name:ident $kind:ident [lines]) => { $shown_ones.push(Self::$kind) };
    (@ $shown_ones:ident $name:ident $kind:ident []) => {};
}

formats! { sample;
    fio {
        /// fio bandwidth log: `ms,KiB/s,direction,bytes,offset,…`. Addresses require fio's `log_offset=1`.
        FioBandwidth [named "_bw."] = fio::LogParser::new(fio::LogValue::KibPerSecond, sample),
        /// fio latency log: `ms,latency-ns,direction,bytes,offset,…`. Addresses require fio's `log_offset=1`.
        FioLatency [named "_lat." named "_clat."] = fio::LogParser::new(fio::LogValue::LatencyNs, sample),
    }
    msr {
        /// MSR Cambridge: `filetime,host,disk,Read|Write,offset,bytes,response`, times in 100 ns.
        Msr [lines] = headed::Headed::new(msr::HEADER, msr::parse),
    }
    spc {
        /// Storage Performance Council: `unit,first-sector,bytes,R|W,seconds`, 512-byte sectors.
        Spc [lines] = spc::parse,
    }
    alibaba {
        /// Block traces of Alibaba's cloud (2020): `device,R|W,offset,bytes,µs`.
        Alibaba [lines] = alibaba::parse,
    }
    tencent {
        /// Traces of Tencent's block storage (2020): `s,first-sector,sectors,0|1,volume`, 512-byte sectors. The requests of a second are spread
        /// over it.
        Tencent [lines] = tencent::Tencent::default(),
    }
    systor {
        /// Traces of LUNs of the SYSTOR '17 collection: `Timestamp,Response,IOType,LUN,Offset,Size`, times in s.
        Systor [lines] = headed::Headed::new(systor::HEADER, systor::parse),
    }
    fiu {
        /// Traces of Florida International University: `ns process-id process first-sector sectors R|W major minor md5`, 512-byte sectors.
        Fiu [lines] = fiu::parse,
    }
    validate {
        /// DiskSim validation trace: `R|W outcome first-sector sectors measured-µs think-µs`, 512-byte sectors.
        Validate [lines] = validate::parse,
    }
    ascii {
        /// DiskSim ASCII trace: `arrival-ms device first-sector sectors flags`, 512-byte sectors; flags are hexadecimal, bit 0
        /// set for a read.
        Ascii [lines] = ascii::parse,
    }
    blkparse {
        /// Output of `blkparse`. A request starts at its issue (D) and ends at its completion (C).
        Blkparse [lines] = blkparse::InFlight::new(b"D"),
        /// Output of `blkparse` for a trace without issue events, as of `md` and `dm` devices. A request starts when it is queued (Q).
        BlkparseQueued [lines] = blkparse::InFlight::new(b"Q"),
    }
    vscsi {
        /// VMware vSCSI command trace, version 1: records of 32 bytes, as libCacheSim reads them.
        Vscsi1 [records 32] = vscsi::Vscsi::v1(),
        /// VMware vSCSI command trace, version 2: records of 40 bytes, with response times.
        Vscsi2 [records 40] = vscsi::Vscsi::v2(),
    }
    oracle_general {
        /// libCacheSim's oracleGeneral of objects that are no blocks, such as files of a content network: each lies at a random place of its own.
        OracleObjects [records 24 named "objects.oracleGeneral"] = oracle_general::OracleGeneral::of_objects(),
        /// libCacheSim's oracleGeneral: records of 24 bytes. Requests are reads, an object's number is that of its 512-byte sector, and the
        /// requests of a second are spread over it.
        OracleGeneral [records 24 named "oracleGeneral"] = oracle_general::OracleGeneral::of_blocks(),
    }
    csv {
        /// headrace's own format, written by `headrace trace convert`: CSV with the columns
        /// `time_ns,op,address,bytes,response_ns,think_ns,device`.
        Headrace [] = csv::CsvParser::new(CsvColumns::own()),
        /// CSV with a header line.
        Csv(columns: Box<CsvColumns>) [] = csv::CsvParser::new((**columns).clone()),
    }
}

/// The format of a file called `name` that starts with the lines `sample`: the one that parses the most lines, of several one that finds
/// a request in them, or `None` if none parses at least half of them.
pub fn detect(name: &str, sample: &[&[u8]]) -> Option<TraceFormat> {
    // The header alone identifies headrace's own format, so that bad lines after it are reported with their numbers.
    if parsed_lines(&TraceFormat::Headrace, sample.get(..1)?).0 == 1 {
        return Some(TraceFormat::Headrace);
    }
    let mut best = ((0, false), None);
    for format in TraceFormat::shown(name).into_iter().filter(|format| format.record().is_none()) {
        let lines = parsed_lines(&format, sample);
        if lines > best.0 {
            best = (lines, Some(format));
        }
    }
    best.1.filter(|_| best.0.0 * 2 >= sample.len())
}

/// The format of a file called `name` that begins with the bytes `head`, if it has records: the first that parses all of them.
pub fn detect_records(name: &str, head: &[u8]) -> Option<TraceFormat> {
    TraceFormat::shown(name).into_iter().find(|format| {
        let records: Vec<&[u8]> =
            format.record().map_or_else(Vec::new, |size| head.chunks_exact(size).collect());
        !records.is_empty() && parsed_lines(format, &records).0 == records.len()
    })
}

/// Returns the number of lines that a format parses, and true if they have a request.
fn parsed_lines(format: &TraceFormat, sample: &[&[u8]]) -> (usize, bool) {
    let (mut parser, mut devices, mut out) = (format.parser(sample), Devices::default(), VecDeque::new());
    let lines = sample.iter().filter(|line| parser.line(line, &mut devices, &mut out).is_ok()).count();
    parser.end(&mut out);
    (lines, !out.is_empty())
}

/// Parses a number of sectors and returns it in bytes.
#[inline]
fn sectors(field: &[u8], what: &str) -> Result<u64, String> {
    scaled(field, SECTOR, what)
}
