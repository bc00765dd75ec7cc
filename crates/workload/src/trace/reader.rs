//! A trace as a stream of requests.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use headrace_units::Nanos;

use super::TraceError;
use super::format::{Parser, Raw, TraceFormat, detect};
use super::lines::Lines;
use crate::request::Op;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it came, since the beginning (the first line's time, unless [told otherwise](Reader::beginning_at)); where the
    /// trace has no timestamps, the sum of responses and think times before it.
    pub at: Nanos,
    /// Whether that is a timestamp of the trace.
    pub stamped: bool,
    /// Which device it went to, by its place in [`Reader::devices`].
    pub device: u32,
    /// Read or write.
    pub op: Op,
    /// The first byte, where the trace tells it.
    pub address: Option<u64>,
    /// How many bytes; at least one.
    pub bytes: u64,
    /// How long it took on the real device, where the trace tells it.
    pub response: Option<Nanos>,
    /// From its completion to the next request, where the trace tells it.
    pub think: Option<Nanos>,
}

/// Gives the requests of a trace file in order, in memory that does not grow with it.
pub struct Reader {
    path: PathBuf,
    format: TraceFormat,
    lines: Lines,
    parser: Parser,
    skip_bad: bool,
    ready: VecDeque<Raw>,
    clock: Clock,
    over: bool,
    /// Lines passed over because they could not be read.
    pub skipped: u64,
    /// Requests that came before one that stands earlier in the file.
    pub out_of_order: u64,
    /// Whether requests have timestamps; none before the first.
    stamped: Option<bool>,
    bad_in_a_row: u64,
}

/// So many bad lines one after another are no trace, whatever may be passed over.
const HOPELESS: u64 = 100_000;

/// So many lines tell a format.
const SAMPLE: usize = 64;

impl Reader {
    /// Opens the trace at `path`. Without a `format`, the first lines tell it. With `skip_bad`, lines that cannot be read
    /// are counted instead of refused.
    pub fn open(path: &Path, format: Option<&TraceFormat>, skip_bad: bool) -> Result<Self, TraceError> {
        let sample = sample(path).map_err(|error| unreadable(path, &error))?;
        let sample: Vec<&[u8]> = sample.iter().map(Vec::as_slice).collect();
        let shown = || path.display().to_string();
        if sample.is_empty() {
            return Err(TraceError::Empty { path: shown() });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let format = match format {
            Some(format) => format.clone(),
            None => detect(&name, &sample).ok_or_else(|| TraceError::Unknown { path: shown() })?,
        };
        Ok(Self {
            lines: Lines::open(path).map_err(|error| unreadable(path, &error))?,
            parser: Parser::new(&format, &sample),
            path: path.to_owned(),
            format,
            skip_bad,
            ready: VecDeque::new(),
            clock: Clock::default(),
            over: false,
            skipped: 0,
            out_of_order: 0,
            stamped: None,
            bad_in_a_row: 0,
        })
    }

    /// The same, times counted from `origin`, in ns since whatever the format counts from.
    pub fn beginning_at(mut self, origin: Option<u64>) -> Self {
        self.clock.origin_ns = origin;
        self
    }

    /// The earliest time of a request so far, in ns since whatever the format counts from.
    pub fn earliest_ns(&self) -> Option<u64> {
        self.clock.earliest_ns
    }

    /// The format it is read in.
    pub fn format(&self) -> &TraceFormat {
        &self.format
    }

    /// The names of the devices met so far.
    pub fn devices(&self) -> Vec<String> {
        self.parser.devices.names()
    }

    /// Reads lines until a request is ready or the file is over.
    fn read_on(&mut self) -> Result<(), TraceError> {
        while self.ready.is_empty() && !self.over {
            let line = self.lines.next().map_err(|error| unreadable(&self.path, &error))?;
            let Some((line, ended)) = line else {
                self.over = true;
                self.parser.end(&mut self.ready);
                break;
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let read = self
                .parser
                .line(line, &mut self.ready)
                .and_then(|()| consistent(&mut self.stamped, &self.ready));
            match read {
                Ok(()) => self.bad_in_a_row = 0,
                Err(_) if self.skip_bad && self.bad_in_a_row < HOPELESS => {
                    self.ready.clear();
                    self.skipped += 1;
                    self.bad_in_a_row += 1;
                }
                Err(problem) => {
                    let text = shown_line(line);
                    return Err(self.bad_line(problem, text, ended));
                }
            }
        }
        Ok(())
    }

    /// The error of a trace without requests.
    pub(super) fn empty(&self) -> TraceError {
        TraceError::Empty { path: self.path.display().to_string() }
    }

    fn bad_line(&mut self, problem: String, text: String, ended: bool) -> TraceError {
        self.over = true;
        let (path, line) = (self.path.display().to_string(), self.lines.number);
        if ended {
            TraceError::Line { path, line, problem, text }
        } else {
            TraceError::Truncated { path, line, problem, text }
        }
    }

    fn timed(&mut self, raw: Raw) -> Traced {
        let (at, in_order) = self.clock.tell(&raw);
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

/// Refuses a request without a timestamp among others that have one: a replay would mistake it.
#[inline]
fn consistent(stamped: &mut Option<bool>, ready: &VecDeque<Raw>) -> Result<(), String> {
    let Some(raw) = ready.back() else { return Ok(()) };
    let has = raw.time_ns.is_some();
    match stamped.replace(has) {
        Some(others) if others != has => {
            *stamped = Some(others);
            Err(format!(
                "it has {} timestamp, and those before it have {}",
                if has { "a" } else { "no" },
                if has { "none" } else { "one" }
            ))
        }
        _ => Ok(()),
    }
}

/// Tells when requests came since the beginning.
#[derive(Default)]
struct Clock {
    /// The beginning; the first request's time unless told.
    origin_ns: Option<u64>,
    earliest_ns: Option<u64>,
    latest: Nanos,
    /// When the next comes, where the trace has no timestamps.
    next: Nanos,
}

impl Clock {
    /// When this one came, and whether none before it came later.
    fn tell(&mut self, raw: &Raw) -> (Nanos, bool) {
        let at = match raw.time_ns {
            Some(ns) => {
                self.earliest_ns = Some(self.earliest_ns.map_or(ns, |earliest| earliest.min(ns)));
                Nanos(ns.saturating_sub(*self.origin_ns.get_or_insert(ns)))
            }
            None => self.next,
        };
        self.next = at + raw.response.unwrap_or_default() + raw.think.unwrap_or_default();
        // One that is earlier than the beginning is out of order, though its time cannot be told.
        let in_order = at >= self.latest && raw.time_ns.is_none_or(|ns| Some(ns) >= self.origin_ns);
        self.latest = self.latest.max(at);
        (at, in_order)
    }
}

/// The first lines of a file that are not blank.
fn sample(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = Lines::open(path)?;
    let mut sample: Vec<Vec<u8>> = Vec::new();
    while sample.len() < SAMPLE
        && let Some((line, ended)) = lines.next()?
    {
        // A last line that breaks off tells nothing of the format, unless there is no other.
        if !line.trim_ascii().is_empty() && (ended || sample.is_empty()) {
            sample.push(line.to_vec());
        }
    }
    Ok(sample)
}

fn unreadable(path: &Path, error: &io::Error) -> TraceError {
    let cause = if path.is_dir() { "it is a directory; name a file".to_owned() } else { error.to_string() };
    TraceError::Unreadable { path: path.display().to_string(), cause }
}

fn shown_line(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(400)]).trim().chars().take(100).collect()
}
