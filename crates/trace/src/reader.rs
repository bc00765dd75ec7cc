//! The reader: a trace as a stream of requests.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use headrace_units::Nanos;
use headrace_work::Op;

use crate::TraceError;
use crate::format::{Devices, LineParser, Raw, TraceFormat, detect, detect_records};
use crate::lines::Lines;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Arrival time since the origin: the first request, unless [set](Reader::beginning_at). In a trace without timestamps,
    /// the sum of all earlier response and think times.
    pub at: Nanos,
    /// True if `at` is a timestamp of the trace.
    pub stamped: bool,
    /// Index of the device in [`Reader::devices`].
    pub device: u32,
    /// Read or write.
    pub op: Op,
    /// Address of the first byte, if the trace records it.
    pub address: Option<u64>,
    /// Size in bytes; at least 1.
    pub bytes: u64,
    /// Response time measured on the traced device, if the trace records it.
    pub response: Option<Nanos>,
    /// Think time: from the completion of this request to the next, if the trace records it.
    pub think: Option<Nanos>,
}

/// Reads the requests of a trace file in file order and constant memory.
pub struct Reader {
    path: PathBuf,
    format: TraceFormat,
    lines: Lines,
    parser: Box<dyn LineParser>,
    devices: Devices,
    skip_bad: bool,
    ready: VecDeque<Raw>,
    clock: TraceClock,
    over: bool,
    /// Bad lines skipped.
    pub skipped: u64,
    /// Requests with an earlier time than a request before them in the file.
    pub out_of_order: u64,
    /// True if requests have timestamps; `None` before the first.
    stamped: Option<bool>,
    bad_in_a_row: u64,
}

/// A file with this many consecutive bad lines is not a trace, even if bad lines are skipped.
const HOPELESS: u64 = 100_000;

/// Number of lines from which the format is detected.
const SAMPLE: usize = 1024;

impl Reader {
    /// Opens the trace at `path`. Without `format`, the format is detected from the first lines. With `skip_bad`, bad lines
    /// are skipped and counted instead of refused.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or its format is not detected.
    pub fn open(path: &Path, format: Option<&TraceFormat>, skip_bad: bool) -> Result<Self, TraceError> {
        let (format, sample) = format_of(path, format)?;
        let sample: Vec<&[u8]> = sample.iter().map(Vec::as_slice).collect();
        let lines = Lines::open(path).map_err(|error| unreadable(path, &error))?;
        Ok(Self {
            lines: lines.in_records(format.record()),
            parser: format.parser(&sample),
            devices: Devices::default(),
            path: path.to_owned(),
            format,
            skip_bad,
            ready: VecDeque::new(),
            clock: TraceClock::default(),
            over: false,
            skipped: 0,
            out_of_order: 0,
            stamped: None,
            bad_in_a_row: 0,
        })
    }

    /// Sets the origin of times, in ns on the clock of the trace.
    pub fn beginning_at(mut self, origin: Option<u64>) -> Self {
        self.clock.origin_ns = origin;
        self
    }

    /// The earliest time of a request so far, in ns on the clock of the trace.
    pub fn earliest_ns(&self) -> Option<u64> {
        self.clock.earliest_ns
    }

    /// Returns true if a request came before the origin, so that its time was clamped.
    pub(super) fn precedes_origin(&self) -> bool {
        self.clock.earliest_ns < self.clock.origin_ns
    }

    /// The format, given or detected.
    pub fn format(&self) -> &TraceFormat {
        &self.format
    }

    /// Number of requests so far that are neither reads nor writes, and were left out.
    pub fn left_out(&self) -> u64 {
        self.parser.left_out()
    }

    /// Names of the devices seen so far.
    pub fn devices(&self) -> Vec<String> {
        self.devices.names()
    }

    /// Reads lines until a request is ready or the file ends.
    fn read_on(&mut self) -> Result<(), TraceError> {
        while self.ready.is_empty() && !self.over {
            let line = self.lines.next().map_err(|error| unreadable(&self.path, &error))?;
            let Some((line, ended)) = line else {
                self.over = true;
                self.parser.end(&mut self.ready);
                break;
            };
            let is_record = self.format.record().is_some();
            if !is_record && line.trim_ascii().is_empty() {
                continue;
            }
            let read = self
                .parser
                .line(line, &mut self.devices, &mut self.ready)
                .and_then(|()| consistent(&mut self.stamped, &self.ready));
            match read {
                Ok(()) => self.bad_in_a_row = 0,
                Err(_) if self.skip_bad && self.bad_in_a_row < HOPELESS => {
                    self.ready.clear();
                    self.skipped += 1;
                    self.bad_in_a_row += 1;
                }
                Err(problem) => {
                    let text = if is_record { in_hex(line) } else { shown_line(line) };
                    return Err(self.bad_line(problem, text, ended));
                }
            }
        }
        Ok(())
    }

    /// The error of a trace without requests.
    pub(super) fn empty(&self) -> TraceError {
        TraceError::Empty { path: self.path.display().to_string(), left_out: self.left_out() }
    }

    fn bad_line(&mut self, problem: String, text: String, ended: bool) -> TraceError {
        self.over = true;
        let (path, line) = (self.path.display().to_string(), self.lines.number);
        if self.format.record().is_some() {
            TraceError::Record { path, record: line, problem, text }
        } else if ended {
            TraceError::Line { path, line, problem, text }
        } else {
            TraceError::Truncated { path, line, problem, text }
        }
    }

    fn timed(&mut self, raw: Raw) -> Traced {
        let (at, in_order) = self.clock.time(&raw);
        self.out_of_order += u64::from(!in_order);
        let Raw { device, op, address, bytes, response, think, .. } = raw;
        Traced { at, stamped: raw.time_ns.is_some(), device, op, address, bytes, response, think }
    }
}

impl Iterator for Reader {
    type Item = Result<Traced, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.read_on() {
            return Some(Err(error));
        }
        let raw = self.ready.pop_front()?;
        Some(Ok(self.timed(raw)))
    }
}

/// Refuses a mixture of requests with and without timestamps: their order in time is undefined.
#[inline]
fn consistent(stamped: &mut Option<bool>, ready: &VecDeque<Raw>) -> Result<(), String> {
    let Some(raw) = ready.back() else { return Ok(()) };
    let has = raw.time_ns.is_some();
    match stamped.replace(has) {
        Some(others) if others != has => {
            *stamped = Some(others);
            Err(format!(
                "the request has {} timestamp, but earlier requests have {}",
                if has { "a" } else { "no" },
                if has { "none" } else { "one" }
            ))
        }
        _ => Ok(()),
    }
}

/// Computes arrival times relative to the origin.
#[derive(Default)]
struct TraceClock {
    /// The origin; the time of the first request unless set.
    origin_ns: Option<u64>,
    earliest_ns: Option<u64>,
    latest: Nanos,
    /// Time of the next request in a trace without timestamps.
    next: Nanos,
}

impl TraceClock {
    /// The arrival time of `raw`, and whether no earlier request has a later one.
    fn time(&mut self, raw: &Raw) -> (Nanos, bool) {
        let at = match raw.time_ns {
            Some(ns) => {
                self.earliest_ns = Some(self.earliest_ns.map_or(ns, |earliest| earliest.min(ns)));
                Nanos(ns.saturating_sub(*self.origin_ns.get_or_insert(ns)))
            }
            None => self.next,
        };
        self.next = at + raw.response.unwrap_or_default() + raw.think.unwrap_or_default();
        // Times before the origin are clamped to it, but are out of order.
        let in_order = at >= self.latest && raw.time_ns.is_none_or(|ns| Some(ns) >= self.origin_ns);
        self.latest = self.latest.max(at);
        (at, in_order)
    }
}

/// How a file of blktrace begins: its magic number and version 7, as little-endian machines write them (`blktrace_api.h`).
const BLKTRACE: [u8; 4] = [0x07, 0x74, 0x61, 0x65];

/// Number of bytes from which the format of a file with records is detected.
const HEAD: usize = 4096;

/// The format of the file at `path`, the `given` one if there is one, and its first lines, none if it has records.
fn format_of(path: &Path, given: Option<&TraceFormat>) -> Result<(TraceFormat, Vec<Vec<u8>>), TraceError> {
    let unreadable = |error: io::Error| unreadable(path, &error);
    let shown = || path.display().to_string();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let head = Lines::open(path).and_then(|lines| lines.head(HEAD)).map_err(unreadable)?;
    if head.is_empty() {
        return Err(TraceError::Empty { path: shown(), left_out: 0 });
    }
    let known = given.cloned().or_else(|| detect_records(&name, &head));
    if let Some(format) = known.as_ref().filter(|format| format.record().is_some()) {
        return Ok((format.clone(), Vec::new()));
    }
    let lines = sample(path).map_err(unreadable)?;
    if lines.is_empty() {
        return Err(TraceError::Empty { path: shown(), left_out: 0 });
    }
    let seen: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    if head.starts_with(&BLKTRACE) {
        return Err(TraceError::Binary { path: shown() });
    }
    if let Some(how) = packed(&head) {
        return Err(TraceError::Packed { path: shown(), how });
    }
    let unknown = || TraceError::Unknown { path: shown(), begins: shown_line(seen[0]) };
    let format = known.or_else(|| detect(&name, &seen)).ok_or_else(unknown)?;
    Ok((format, lines))
}

/// Returns how a file is packed, by how it begins; a tar has its name behind the header of its first file.
fn packed(head: &[u8]) -> Option<&'static str> {
    let begins: [(&[u8], &str); 3] =
        [(b"\xfd7zXZ\0", "xz"), (b"PK\x03\x04", "zip"), (b"7z\xbc\xaf\x27\x1c", "7z")];
    let known = begins.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, how)| how);
    known.or_else(|| head.get(257..262).is_some_and(|name| name == b"ustar").then_some("tar"))
}

/// The first lines of a file, without blank lines.
fn sample(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = Lines::open(path)?;
    let mut sample: Vec<Vec<u8>> = Vec::new();
    while sample.len() < SAMPLE
        && let Some((line, ended)) = lines.next()?
    {
        // A truncated last line says nothing about the format, unless it is the only one.
        if !line.trim_ascii().is_empty() && (ended || sample.is_empty()) {
            sample.push(line.to_vec());
        }
    }
    Ok(sample)
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> TraceError {
    let cause = if path.is_dir() { "it is a directory, not a file".to_owned() } else { error.to_string() };
    TraceError::Unreadable { path: path.display().to_string(), cause }
}

/// The bytes of a record, as an error shows them.
fn in_hex(record: &[u8]) -> String {
    record.iter().take(40).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn shown_line(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(400)]).trim().chars().take(100).collect()
}
