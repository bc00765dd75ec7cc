//! Replay: a trace as a workload. Which requests, when, and at which addresses.

mod file_state;
mod layout;
mod order;
mod pace;
mod problem;
mod spec;

use std::path::{Path, PathBuf};

use headrace_units::{Nanos, counted};
use headrace_work::Block;

use crate::TraceError;
use crate::format::TraceFormat;
use crate::reader::{Reader, Traced};
use crate::survey::{Survey, survey};

pub(crate) use file_state::FileState;
use layout::AddressMap;
pub(crate) use order::WINDOW;
use order::{Based, Ordered};
use pace::Pace;

pub use pace::Start;
pub use problem::ReplayProblem;
pub use spec::{Fit, ReplaySpec, Timing};

/// A trace checked for replay on a component.
#[derive(Clone, Debug)]
pub struct Replay {
    path: PathBuf,
    spec: ReplaySpec,
    format: TraceFormat,
    timing: Timing,
    file: FileState,
    /// Contents of the trace.
    pub survey: Survey,
    layout: AddressMap,
}

/// A request that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When to issue it.
    pub start: Start,
    /// Its index in the replay, counted from zero.
    pub number: u64,
    /// The request.
    pub block: Block,
    /// Response time measured on the traced device, if the trace records it.
    pub measured: Option<Nanos>,
}

impl Due {
    /// When it is due, where that does not depend on the request before it.
    pub fn instant(&self) -> Option<Nanos> {
        match self.start {
            Start::At(time) => Some(time),
            Start::After(_) => None,
        }
    }
}

impl Replay {
    /// Scans the trace at `path` and checks that a component of `capacity` bytes can replay it. `go_on` as in [`survey`].
    ///
    /// # Errors
    /// The trace cannot be read, or does not suit `spec` or the component.
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
        let layout = AddressMap::of(&survey, spec, capacity)?;
        if survey.requests == 0 {
            return Err(reader.empty().into());
        }
        let timing = pace::timing(&survey, spec)?;
        let format = reader.format().clone();
        Ok(Self { path: path.to_owned(), spec: spec.clone(), format, timing, file, survey, layout })
    }

    /// When requests are issued.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Remarks for the reader of the results.
    pub fn notes(&self) -> Vec<String> {
        let Survey { requests, skipped, out_of_order, responses, thinks, .. } = self.survey;
        let AddressMap { end, capacity, .. } = self.layout;
        let change = if self.spec.fit == Fit::Scale { "scaled" } else { "wrapped" };
        let notes = [
            (skipped > 0, format!("{} of the trace skipped", counted(skipped, "bad line"))),
            (
                out_of_order > 0,
                format!(
                    "{} of the trace out of order; sorted within a window of {WINDOW}",
                    counted(out_of_order, "request")
                ),
            ),
            (
                responses > 0 && !self.survey.has_responses(),
                format!(
                    "only {responses} of {requests} requests have a measured response time; the comparison is limited to these"
                ),
            ),
            (
                thinks > 0 && !self.survey.has_thinks(),
                format!("only {thinks} of {requests} requests have a think time"),
            ),
            (
                self.timing == Timing::Timestamps && self.survey.has_a_gap(),
                format!(
                    "request {} of the trace comes {} after the one before it, nearly all of the trace's {}: is a timestamp wrong?",
                    self.survey.after_gap, self.survey.longest_gap, self.survey.span
                ),
            ),
            (end > capacity, format!("trace addresses {change} to fit: the trace extends to byte {end}")),
        ];
        notes.into_iter().filter_map(|(applies, note)| applies.then_some(note)).collect()
    }

    /// Reads the trace again and returns its requests as they become due.
    ///
    /// # Errors
    /// The file has changed since it was scanned.
    pub fn due(&self) -> Result<impl Iterator<Item = Result<Due, TraceError>>, TraceError> {
        let (layout, mut pace) = (self.layout.clone(), Pace::new(self.timing, self.spec.speed));
        Ok((0u64..).zip(self.ordered()?).map(move |(number, based)| {
            let (traced, base) = based?;
            let address = layout.fit(base + traced.address.unwrap_or(0), traced.bytes);
            let block = Block { op: traced.op, address, bytes: traced.bytes };
            Ok(Due { start: pace.start(traced), number, block, measured: traced.response })
        }))
    }

    /// The requests to replay, in order of time if they are issued at timestamps.
    fn ordered(&self) -> Result<impl Iterator<Item = Result<Based, TraceError>>, TraceError> {
        let sorts = self.timing == Timing::Timestamps && self.survey.out_of_order > 0;
        let first = usize::try_from(self.survey.requests).unwrap_or(usize::MAX);
        Ok(Ordered::new(self.selected()?.take(first), if sorts { WINDOW } else { 0 }))
    }

    /// The requests to the selected devices, in file order.
    fn selected(&self) -> Result<impl Iterator<Item = Result<Based, TraceError>>, TraceError> {
        if FileState::of(&self.path) != self.file {
            return Err(TraceError::Changed { path: self.path.display().to_string() });
        }
        let reader = Reader::open(&self.path, Some(&self.format), self.spec.skip_bad)?;
        let bases = self.layout.bases.clone();
        let base_of = move |traced: &Traced| bases.get(traced.device as usize).copied().flatten();
        Ok(reader.beginning_at(self.survey.earliest_ns).filter_map(move |traced| match traced {
            Ok(traced) => base_of(&traced).map(|base| Ok((traced, base))),
            Err(error) => Some(Err(error)),
        }))
    }
}
