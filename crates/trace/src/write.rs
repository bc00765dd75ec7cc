//! Conversion of a trace to another format.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use headrace_units::Nanos;
use headrace_work::Op;
use serde::Serialize;

use crate::TraceError;
use crate::format::{SECTOR, TraceFormat};
use crate::reader::{Reader, Traced};

/// Counts of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// Requests written.
    pub requests: u64,
    /// Bad lines skipped.
    pub skipped: u64,
    /// Requests left out because they are neither reads nor writes, where the format tells.
    pub left_out: u64,
}

/// Number of requests between two calls of `go_on`.
const STRIDE: u64 = 1 << 16;

/// Writes the requests of `reader` to the file at `path` in `format`, compressed by extension (`.gz`, `.zst`, `.bz2`). `go_on`
/// as in [`survey`](super::survey()). The file is complete only on success.
///
/// # Errors
/// A file cannot be read or written, the format cannot represent a request, or `go_on` returned false.
pub fn convert(
    reader: &mut Reader,
    path: &Path,
    format: &TraceFormat,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Conversion, TraceError> {
    let unwritable = |error: io::Error| TraceError::Unwritable {
        path: path.display().to_string(),
        cause: error.to_string(),
    };
    let mut out = Out::create(path).map_err(unwritable)?;
    let mut written = Conversion::default();
    if *format == TraceFormat::Headrace {
        out.write_all(b"time_ns,op,address,bytes,response_ns,think_ns,device\n").map_err(unwritable)?;
    }
    let mut names = Vec::new();
    while let Some(traced) = reader.next() {
        let traced = traced?;
        if names.len() <= traced.device as usize {
            names = reader.devices();
        }
        let device = names.get(traced.device as usize).map_or("", String::as_str);
        let line = line(&traced, device, format)
            .map_err(|problem| TraceError::Inexpressible { request: written.requests + 1, problem })?;
        out.write_all(line.as_bytes()).map_err(unwritable)?;
        written.requests += 1;
        if written.requests.is_multiple_of(STRIDE) && !go_on(written.requests) {
            return Err(TraceError::Interrupted);
        }
    }
    out.finish().map_err(unwritable)?;
    Ok(Conversion { skipped: reader.skipped, left_out: reader.left_out(), ..written })
}

fn line(traced: &Traced, device: &str, format: &TraceFormat) -> Result<String, String> {
    let Traced { at, stamped, op, bytes, response, think, .. } = *traced;
    let address =
        traced.address.ok_or("its address is unknown; fio records addresses with `log_offset=1`")?;
    let read = op == Op::Read;
    let letter = if read { "R" } else { "W" };
    let known = |time: Option<Nanos>, what: &str| {
        time.map(|time| time.0)
            .ok_or(format!("the format requires a {what}, which the trace does not record"))
    };
    let time = || known(stamped.then_some(at), "timestamp");
    Ok(match format {
        TraceFormat::Headrace => {
            let text = |time: Option<Nanos>| time.map_or_else(String::new, |time| time.0.to_string());
            let (time, op) = (text(stamped.then_some(at)), if read { "read" } else { "write" });
            format!("{time},{op},{address},{bytes},{},{},{device}\n", text(response), text(think))
        }
        TraceFormat::Ascii => {
            if !device.is_empty() && device.parse::<u64>().is_err() {
                return Err(format!("the format requires numeric device names, unlike `{device}`"));
            }
            let (device, first, count) = (named(device, "0"), sector(address)?, sector(bytes)?);
            format!("{} {device} {first} {count} {}\n", decimal(time()?, 1_000_000), u8::from(read))
        }
        TraceFormat::Spc => {
            let (unit, first) = (named(device, "0"), sector(address)?);
            format!("{unit},{first},{bytes},{letter},{}\n", decimal(time()?, 1_000_000_000))
        }
        TraceFormat::Msr => {
            let (host, disk) = device.rsplit_once(':').unwrap_or((named(device, "host"), "0"));
            let op = if read { "Read" } else { "Write" };
            let ticks = |ns: u64| ns / 100 + u64::from(ns % 100 >= 50);
            let (time, response) = (ticks(time()?), ticks(known(response, "response time")?));
            format!("{time},{host},{disk},{op},{address},{bytes},{response}\n")
        }
        TraceFormat::Validate => {
            if traced.device > 0 {
                return Err("the format supports a single device, and the trace has several".to_owned());
            }
            let (first, count) = (sector(address)?, sector(bytes)?);
            let (response, think) = (known(response, "response time")?, known(think, "think time")?);
            format!("{letter} - {first} {count} {} {}\n", decimal(response, 1000), decimal(think, 1000))
        }
        _ => {
            return Err("this format is read-only; use headrace, ascii, spc, msr or validate".to_owned());
        }
    })
}

/// The name of the device, or `other` if it has none.
fn named<'n>(device: &'n str, other: &'n str) -> &'n str {
    if device.is_empty() { other } else { device }
}

fn sector(bytes: u64) -> Result<u64, String> {
    if bytes.is_multiple_of(SECTOR) {
        Ok(bytes / SECTOR)
    } else {
        Err(format!("{bytes} bytes is not a multiple of the format's {SECTOR}-byte sectors"))
    }
}

/// `ns` in units of `unit` ns, exact.
fn decimal(ns: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    format!("{}.{:0digits$}", ns / unit, ns % unit)
}

/// An output file, plain or compressed.
enum Out {
    Plain(BufWriter<File>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
    Bzip(bzip2::write::BzEncoder<BufWriter<File>>),
}

impl Out {
    fn create(path: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, File::create(path)?);
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Self::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => Self::Zstd(zstd::Encoder::new(file, 3)?),
            Some("bz2") => Self::Bzip(bzip2::write::BzEncoder::new(file, bzip2::Compression::default())),
            _ => Self::Plain(file),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.write_all(bytes),
            Self::Gzip(out) => out.write_all(bytes),
            Self::Zstd(out) => out.write_all(bytes),
            Self::Bzip(out) => out.write_all(bytes),
        }
    }

    /// Flushes all buffers to the disk.
    fn finish(self) -> io::Result<()> {
        let mut out = match self {
            Self::Plain(out) => out,
            Self::Gzip(out) => out.finish()?,
            Self::Zstd(out) => out.finish()?,
            Self::Bzip(out) => out.finish()?,
        };
        out.flush()?;
        let file = out.get_ref();
        // A pipe or /dev/null cannot be synced.
        if file.metadata()?.is_file() { file.sync_all() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_time_is_rounded_to_a_file_time() {
        let at = Nanos(u64::MAX);
        let traced = Traced {
            at,
            stamped: true,
            device: 0,
            op: Op::Read,
            address: Some(0),
            bytes: 512,
            response: Some(Nanos(149)),
            think: None,
        };
        let written = line(&traced, "usr:0", &TraceFormat::Msr).unwrap();
        assert_eq!(written, "184467440737095516,usr,0,Read,0,512,1\n");
    }
}
