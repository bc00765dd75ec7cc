//! Traces of measured requests.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use headrace_units::Nanos;

use crate::request::{Op, Request};
use crate::spec::TraceFormat;

/// One request of a trace, and what was measured of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The request; its key is its place in the trace.
    pub request: Request,
    /// How long it took on the real device.
    pub response: Nanos,
    /// From its completion to the next request.
    pub think: Nanos,
}

/// A trace, read whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Its requests in order.
    pub requests: Vec<Measured>,
    /// Lines passed over because they could not be read, and `skip_bad` was asked for.
    pub skipped: u64,
}

/// Why a trace cannot be replayed. Fatal for the run that asked for it; correct the file or its name and start again.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("cannot read the trace {path}: {cause}")]
    Unreadable {
        /// Which file.
        path: String,
        /// What the system says.
        cause: String,
    },
    /// There is no request in it.
    #[error("the trace {path} is empty: there is nothing to replay")]
    Empty {
        /// Which file.
        path: String,
    },
    /// A line is not of the format.
    #[error("{path}, line {line}: {problem}\n  {text}")]
    Line {
        /// Which file.
        path: String,
        /// Counted from one.
        line: u64,
        /// What is wrong with it, and what would do.
        problem: String,
        /// The line.
        text: String,
    },
    /// The last line breaks off.
    #[error("{path}, line {line}: {problem}; the line has no end, the trace seems truncated\n  {text}")]
    Truncated {
        /// Which file.
        path: String,
        /// Counted from one.
        line: u64,
        /// What is wrong with it, and what would do.
        problem: String,
        /// The line.
        text: String,
    },
}

/// 512-byte sectors, in which `validate` traces count.
const SECTOR: u64 = 512;

/// Reads the trace in the file at `path`. With `skip_bad`, lines that cannot be read are counted instead of refused.
pub fn read(path: &Path, format: TraceFormat, skip_bad: bool) -> Result<Trace, TraceError> {
    let unreadable = |error: std::io::Error| TraceError::Unreadable {
        path: path.display().to_string(),
        cause: if path.is_dir() { "it is a directory; name a file".to_owned() } else { error.to_string() },
    };
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut trace, mut raw) = (Trace::default(), Vec::new());
    for line in 1.. {
        raw.clear();
        if reader.read_until(b'\n', &mut raw).map_err(unreadable)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&raw);
        if text.trim().is_empty() {
            continue;
        }
        match parse(format, text.trim()) {
            Ok(measured) => trace.push(measured),
            Err(_) if skip_bad => trace.skipped += 1,
            Err(problem) => return Err(bad_line(path, line, problem, &text)),
        }
    }
    if trace.requests.is_empty() {
        Err(TraceError::Empty { path: path.display().to_string() })
    } else {
        Ok(trace)
    }
}

fn bad_line(path: &Path, line: u64, problem: String, text: &str) -> TraceError {
    let path = path.display().to_string();
    let shown: String = text.trim().chars().take(100).collect();
    if text.ends_with('\n') {
        TraceError::Line { path, line, problem, text: shown }
    } else {
        TraceError::Truncated { path, line, problem, text: shown }
    }
}

impl Trace {
    fn push(&mut self, mut measured: Measured) {
        measured.request.key = self.requests.len() as u64;
        self.requests.push(measured);
    }

    /// One more than the last byte any request touches.
    pub fn end(&self) -> u64 {
        self.requests
            .iter()
            .map(|measured| measured.request.address + measured.request.bytes)
            .max()
            .unwrap_or(0)
    }
}

fn parse(format: TraceFormat, line: &str) -> Result<Measured, String> {
    match format {
        TraceFormat::Validate => parse_validate(line),
    }
}

/// `R|W outcome first-sector sectors measured-µs think-µs`.
fn parse_validate(line: &str) -> Result<Measured, String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [op, _outcome, first, sectors, measured, think] = fields[..] else {
        return Err(format!(
            "{} fields, not the six of `R|W outcome sector count measured-µs think-µs`",
            fields.len()
        ));
    };
    let op = match op {
        "R" => Op::Read,
        "W" => Op::Write,
        other => return Err(format!("`{other}` is neither R nor W")),
    };
    let whole = |text: &str, what| text.parse::<u64>().map_err(|_| format!("`{text}` is no {what}"));
    let (first, sectors) = (whole(first, "sector number")?, whole(sectors, "number of sectors")?);
    let (Some(address), Some(bytes)) = (first.checked_mul(SECTOR), sectors.checked_mul(SECTOR)) else {
        return Err(format!("sector {first} + {sectors} lies beyond any disk"));
    };
    if bytes == 0 || address.checked_add(bytes).is_none() {
        return Err(format!("{sectors} sectors from {first} is no request"));
    }
    let request = Request { key: 0, op, address, bytes };
    Ok(Measured { request, response: microseconds(measured)?, think: microseconds(think)? })
}

fn microseconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(us) if (0.0..1e15).contains(&us) => Ok(Nanos((us * 1e3 + 0.5) as u64)),
        _ => Err(format!("`{text}` is no time in µs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_read() {
        let measured = parse_validate("R Miss  564347     2     14095.370     13876.270").unwrap();
        assert_eq!(measured.request, Request { key: 0, op: Op::Read, address: 564_347 * 512, bytes: 1024 });
        assert_eq!((measured.response, measured.think), (Nanos(14_095_370), Nanos(13_876_270)));
    }

    #[test]
    fn a_bad_line_is_told() {
        for (line, says) in [
            ("R Miss 12 2 100.0", "5 fields"),
            ("X Miss 12 2 100.0 1.0", "neither R nor W"),
            ("R Miss 12 0 100.0 1.0", "no request"),
            ("R Miss -1 2 100.0 1.0", "no sector number"),
            ("R Miss 1 2 nan 1.0", "no time"),
        ] {
            assert!(parse_validate(line).unwrap_err().contains(says), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in "[RW] [A-Z]{1,4} [0-9]{1,20} [0-9]{1,20} [0-9.eE+-]{1,12} [0-9.]{1,9}|\\PC{0,60}") {
            if let Ok(measured) = parse_validate(&line) {
                prop_assert!(measured.request.bytes > 0);
            }
        }
    }
}
