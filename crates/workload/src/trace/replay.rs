//! A trace as a workload: which requests, when, and where to.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TraceError;
use super::format::TraceFormat;
use super::reader::{Reader, Traced};
use super::survey::{Survey, survey};
use crate::request::Request;

/// A trace to be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// The file, relative to the scenario's; plain, or compressed with gzip, zstd or bzip2.
    pub trace: String,
    /// How it is written. Default: as its first lines tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TraceFormat>,
    /// When requests are sent. Default: by think time where the trace has think times, else at their timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// So many times as fast as recorded: times between requests are divided by it.
    #[serde(default = "as_recorded")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub speed: f64,
    /// Of a trace of several devices, those replayed; several are laid end to end, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// What becomes of addresses beyond the end of the component.
    #[serde(default)]
    pub fit: Fit,
    /// Only the first so many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u64>,
    /// Pass over lines that cannot be read, and count them, instead of refusing the file.
    #[serde(default)]
    pub skip_bad: bool,
}

impl ReplaySpec {
    /// All of the trace in this file, as it was recorded.
    pub fn of(trace: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            format: None,
            timing: None,
            speed: as_recorded(),
            devices: Vec::new(),
            fit: Fit::Refuse,
            first: None,
            skip_bad: false,
        }
    }
}

const fn as_recorded() -> f64 {
    1.0
}

/// When the requests of a trace are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Each at its timestamp, whatever became of those before it (open).
    Timestamps,
    /// One outstanding: each when the one before it is done and the think time between them has passed (closed).
    Think,
}

/// What becomes of addresses beyond the end of the component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The trace is refused.
    #[default]
    Refuse,
    /// They go on from the beginning: an address is taken modulo the capacity.
    Wrap,
    /// All addresses are drawn together in proportion, to multiples of 512 bytes.
    Scale,
}

/// A trace that can be replayed on a component.
#[derive(Clone, Debug)]
pub struct Replay {
    path: PathBuf,
    spec: ReplaySpec,
    format: TraceFormat,
    timing: Timing,
    file: FileState,
    /// What it holds.
    pub survey: Survey,
    layout: Layout,
}

/// Why a trace cannot be replayed here.
#[derive(Debug, thiserror::Error)]
pub enum ReplayProblem {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A field of the scenario does not suit it: (field, what is wrong, what would do).
    #[error("{1}")]
    Field(&'static str, String, String),
}

/// How a request of a trace begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this instant since the beginning.
    At(Nanos),
    /// So long after the one before it was done.
    After(Nanos),
}

/// A request that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When.
    pub start: Start,
    /// What; its key is its place in the trace.
    pub request: Request,
    /// How long it took on the real device, where the trace tells it.
    pub measured: Option<Nanos>,
}

impl Replay {
    /// Looks over the trace at `path` for a component that holds `capacity` bytes. `go_on` as in [`survey`].
    pub fn plan(
        path: &Path,
        spec: &ReplaySpec,
        capacity: u64,
        go_on: &dyn Fn(u64) -> bool,
    ) -> Result<Self, ReplayProblem> {
        let file = FileState::of(path);
        let mut reader = Reader::open(path, spec.format.as_ref(), spec.skip_bad)?;
        let most = spec.first.unwrap_or(u64::MAX);
        let survey = survey(&mut reader, &spec.devices, most, go_on)?;
        let layout = Layout::of(&survey, spec, capacity)?;
        if survey.requests == 0 {
            return Err(TraceError::Empty { path: path.display().to_string() }.into());
        }
        let timing = timing(&survey, spec)?;
        let format = reader.format().clone();
        Ok(Self { path: path.to_owned(), spec: spec.clone(), format, timing, file, survey, layout })
    }

    /// When its requests are sent.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// What a reader of the results must know of it.
    pub fn notes(&self) -> Vec<String> {
        let Survey { skipped, out_of_order, .. } = self.survey;
        let beyond = self.layout.end > self.layout.capacity;
        let change = if self.spec.fit == Fit::Scale { "drawn together" } else { "wrapped around" };
        let notes = [
            (skipped > 0, format!("{skipped} bad lines of the trace were passed over")),
            (
                out_of_order > 0,
                format!(
                    "{out_of_order} requests stand in the trace after later ones, and were put in order within {WINDOW}"
                ),
            ),
            (
                self.survey.responses > 0 && !self.survey.has_responses(),
                format!(
                    "{} of {} requests have a measured response; only those are compared",
                    self.survey.responses, self.survey.requests
                ),
            ),
            (
                self.survey.thinks > 0 && !self.survey.has_thinks(),
                format!("only {} of {} requests have a think time", self.survey.thinks, self.survey.requests),
            ),
            (beyond, format!("addresses of the trace were {change}: it reaches byte {}", self.layout.end)),
        ];
        notes.into_iter().filter_map(|(told, note)| told.then_some(note)).collect()
    }

    /// Its requests as they become due.
    ///
    /// # Errors
    /// The trace is no longer what was looked over.
    pub fn due(&self) -> Result<impl Iterator<Item = Result<Due, TraceError>>, TraceError> {
        if FileState::of(&self.path) != self.file {
            return Err(TraceError::Changed { path: self.path.display().to_string() });
        }
        let reader = Reader::open(&self.path, Some(&self.format), self.spec.skip_bad)?;
        let reader = reader.beginning_at(self.survey.earliest_ns);
        let bases = self.layout.bases.clone();
        let base_of = move |traced: &Traced| bases.get(traced.device as usize).copied().flatten();
        let chosen = reader.filter_map(move |traced| match traced {
            Ok(traced) => base_of(&traced).map(|base| Ok((traced, base))),
            Err(error) => Some(Err(error)),
        });
        let first = usize::try_from(self.survey.requests).unwrap_or(usize::MAX);
        let window =
            if self.timing == Timing::Timestamps && self.survey.out_of_order > 0 { WINDOW } else { 0 };
        let ordered = Ordered { source: chosen.take(first), waiting: BinaryHeap::new(), window, read: 0 };
        let (layout, timing, speed) = (self.layout.clone(), self.timing, self.spec.speed);
        let mut before: Option<Traced> = None;
        Ok((0u64..).zip(ordered).map(move |(key, traced)| {
            let (traced, base) = traced?;
            let start = match timing {
                Timing::Timestamps => Start::At(slower(traced.at, speed)),
                Timing::Think => Start::After(
                    before
                        .replace(traced)
                        .map_or(Nanos::ZERO, |before| slower(think(&before, &traced), speed)),
                ),
            };
            let address = layout.fit(base + traced.address.unwrap_or(0), traced.bytes);
            let request = Request { key, op: traced.op, address, bytes: traced.bytes };
            Ok(Due { start, request, measured: traced.response })
        }))
    }
}

/// What tells one state of a file from another: its length and when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState(Option<(u64, std::time::SystemTime)>);

impl FileState {
    fn of(path: &Path) -> Self {
        let state = std::fs::metadata(path).and_then(|file| Ok((file.len(), file.modified()?)));
        Self(state.ok())
    }
}

/// A trace sorted by completion has requests after later ones; they are put in order among so many.
const WINDOW: usize = 1 << 16;

/// A request of the trace, and where its device begins.
type Based = (Traced, u64);

/// Requests in the order of their times, as far as a window of them shows it.
struct Ordered<I> {
    source: I,
    waiting: BinaryHeap<Reverse<Waiting>>,
    window: usize,
    /// How many were read.
    read: u64,
}

/// Ordered by time, then by place in the file.
struct Waiting {
    at: (Nanos, u64),
    based: Based,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl<I: Iterator<Item = Result<Based, TraceError>>> Iterator for Ordered<I> {
    type Item = Result<Based, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.window == 0 {
            return self.source.next();
        }
        while self.waiting.len() < self.window
            && let Some(based) = self.source.next()
        {
            match based {
                Ok(based) => self.waiting.push(Reverse(Waiting { at: (based.0.at, self.read), based })),
                Err(error) => return Some(Err(error)),
            }
            self.read += 1;
        }
        self.waiting.pop().map(|Reverse(waiting)| Ok(waiting.based))
    }
}

/// The think time between two requests: as recorded, or from the completion of the one to the arrival of the other.
fn think(before: &Traced, next: &Traced) -> Nanos {
    let recorded = before.think;
    recorded.unwrap_or_else(|| {
        Nanos(next.at.0.saturating_sub((before.at + before.response.unwrap_or_default()).0))
    })
}

fn slower(span: Nanos, speed: f64) -> Nanos {
    if speed == 1.0 { span } else { Nanos((span.0 as f64 / speed + 0.5) as u64) }
}

fn timing(survey: &Survey, spec: &ReplaySpec) -> Result<Timing, ReplayProblem> {
    let wrong =
        |message: &str, help: &str| ReplayProblem::Field("timing", message.to_owned(), help.to_owned());
    match spec.timing {
        Some(Timing::Timestamps) if !survey.is_timed() => {
            Err(wrong("the trace has no timestamps", "leave `timing` out: requests then follow each other"))
        }
        Some(Timing::Think) if survey.timestamps && !survey.has_thinks() && !survey.has_responses() => {
            Err(wrong(
                "the trace has neither think times nor responses to tell them by",
                "replay it with `timing: timestamps`",
            ))
        }
        Some(timing) => Ok(timing),
        None if survey.timestamps && !survey.has_thinks() => Ok(Timing::Timestamps),
        None => Ok(Timing::Think),
    }
}

/// Where the addresses of a trace lie on the component.
#[derive(Clone, Debug)]
struct Layout {
    /// Where each device of the trace begins; none where it is left out.
    bases: Vec<Option<u64>>,
    /// One more than the last byte any request touches.
    end: u64,
    capacity: u64,
    fit: Fit,
}

/// Devices laid end to end begin at multiples of this.
const BORDER: u64 = 1 << 20;

impl Layout {
    fn of(survey: &Survey, spec: &ReplaySpec, capacity: u64) -> Result<Self, ReplayProblem> {
        let wrong = |field, message: String, help: String| Err(ReplayProblem::Field(field, message, help));
        let names: Vec<String> = survey.devices.iter().map(|device| device.name.clone()).collect();
        let known = format!("the trace has {}", listed(&names));
        if !survey.addresses {
            let help = "fio writes them with `log_offset=1`".to_owned();
            return wrong("trace", "the trace tells no addresses".to_owned(), help);
        }
        if let Some(twice) =
            spec.devices.iter().enumerate().find(|(at, name)| spec.devices[..*at].contains(name))
        {
            return wrong("devices", format!("`{}` is named twice", twice.1), "name each once".to_owned());
        }
        if let Some(missing) = spec.devices.iter().find(|name| !names.contains(name)) {
            return wrong("devices", format!("the trace has no device `{missing}`"), known);
        }
        if spec.devices.is_empty() && names.len() > 1 {
            let help = format!("name one, or several to be laid end to end: `devices: {:?}`", &names[..2]);
            return wrong("devices", format!("{known}, each with addresses of its own"), help);
        }
        let mut bases = vec![None; names.len().max(1)];
        let mut end = 0u64;
        for number in order(&names, &spec.devices) {
            bases[number] = Some(end);
            end = end.saturating_add(survey.devices.get(number).map_or(0, |device| device.end));
            end = if spec.devices.len() > 1 { end.saturating_add(BORDER - 1) / BORDER * BORDER } else { end };
        }
        if survey.largest > capacity || (end > capacity && spec.fit == Fit::Refuse) {
            let message = format!(
                "the trace reaches byte {end} (requests of up to {} bytes), and the component it goes to holds {capacity} bytes",
                survey.largest
            );
            let help = "replay it on a device at least as large as the traced one, or say `fit: wrap` or `fit: scale`";
            return wrong("trace", message, help.to_owned());
        }
        Ok(Self { bases, end, capacity, fit: spec.fit })
    }

    /// The address on the component of a request at `address` of the trace.
    #[inline]
    fn fit(&self, address: u64, bytes: u64) -> u64 {
        let wanted = match self.fit {
            _ if self.end <= self.capacity => return address,
            Fit::Refuse | Fit::Wrap => address % self.capacity,
            Fit::Scale => {
                let scaled = u128::from(address) * u128::from(self.capacity) / u128::from(self.end);
                scaled as u64 / 512 * 512
            }
        };
        wanted.min(self.capacity.saturating_sub(bytes))
    }
}

/// The chosen devices by number, in the order asked for.
fn order(names: &[String], chosen: &[String]) -> Vec<usize> {
    if chosen.is_empty() {
        return vec![0];
    }
    chosen.iter().filter_map(|name| names.iter().position(|known| known == name)).collect()
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "one device without a name".to_owned(),
        few if few.len() <= 8 => format!("{} device(s): {few:?}", few.len()),
        many => format!("{} devices, the first of them {:?}", many.len(), &many[..8]),
    }
}
