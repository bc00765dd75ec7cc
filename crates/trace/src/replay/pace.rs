//! When requests of a replay are issued: at timestamps, or after think times.

use headrace_units::Nanos;

use super::problem::ReplayProblem;
use super::spec::{ReplaySpec, Timing};
use crate::reader::Traced;
use crate::survey::Survey;

/// When a request of a trace is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time since the start of the replay.
    At(Nanos),
    /// This long after the completion of the previous request.
    After(Nanos),
}

/// Gives each request of a trace its start.
pub struct Pace {
    timing: Timing,
    speed: f64,
    before: Option<Traced>,
}

impl Pace {
    pub fn new(timing: Timing, speed: f64) -> Self {
        Self { timing, speed, before: None }
    }

    /// The start of `traced`, which follows the request passed last.
    pub fn start(&mut self, traced: Traced) -> Start {
        if self.timing == Timing::Timestamps {
            return Start::At(self.scaled(traced.at));
        }
        let before = self.before.replace(traced);
        Start::After(before.map_or(Nanos::ZERO, |before| self.scaled(think(&before, &traced))))
    }

    fn scaled(&self, span: Nanos) -> Nanos {
        if self.speed == 1.0 { span } else { Nanos((span.0 as f64 / self.speed + 0.5) as u64) }
    }
}

/// The think time between two requests: as recorded, or else from the completion of one to the arrival of the next.
fn think(before: &Traced, next: &Traced) -> Nanos {
    let completed = before.at + before.response.unwrap_or_default();
    before.think.unwrap_or(next.at.saturating_sub(completed))
}

/// The timing that `spec` asks for, or the default for this trace.
///
/// # Errors
/// The trace does not record the times this needs.
pub fn timing(survey: &Survey, spec: &ReplaySpec) -> Result<Timing, ReplayProblem> {
    let has_gaps = !survey.timestamps || survey.has_thinks() || survey.has_responses();
    match spec.timing {
        Some(Timing::Timestamps) if !survey.is_timed() => Err(ReplayProblem::field(
            "timing",
            "the trace has no timestamps",
            "omit `timing`: each request then follows the completion of the previous one",
        )),
        Some(Timing::Think) if !has_gaps => Err(ReplayProblem::field(
            "timing",
            "the trace has neither think times nor the response times to derive them from",
            "use `timing: timestamps`",
        )),
        Some(timing) => Ok(timing),
        None if survey.timestamps && !survey.has_thinks() => Ok(Timing::Timestamps),
        None => Ok(Timing::Think),
    }
}
