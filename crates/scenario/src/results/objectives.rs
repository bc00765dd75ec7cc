//! What a run says of its objectives: which share of requests was in time, and whether that is enough.

use headrace_stats::Interval;
use headrace_units::{Fraction, Nanos};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Objective;
use crate::plan::Plan;
use crate::run::{End, Outcome, RunSegment};

/// One objective, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ObjectiveResults {
    /// Stream or operation, as the scenario names it.
    pub name: String,
    /// The objective in words: `99 % within 10 min`.
    pub objective: String,
    /// Full name of the stream or operation: `users`, or `users.reads`.
    pub of: String,
    /// Share of requests that must be in time.
    #[schemars(range(min = 0, max = 1))]
    pub asked: f64,
    /// The time.
    pub within_ms: f64,
    /// Share of requests that was in time. Requests of the stream that were dropped, expired or failed were not, nor those that waited at the
    /// end of a run that ended because nothing went on, or because too many did.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Half-width of the 95 % confidence interval of `share`: from replications, or from the segments of a single run; null if a single run is
    /// too short, or has no steady state: one with faults, of a replayed recording, or at a rate that varies is taken as it is.
    #[schemars(range(min = 0, max = 1))]
    pub half_width: Option<f64>,
    /// True if the objective is met all over the interval, false if it is missed all over it; null if the run does not decide it, no
    /// request was answered, or it seems to be met by a run that ended early.
    pub met: Option<bool>,
}

/// The results of all objectives.
pub(super) fn of(plan: &Plan, outcomes: &[Outcome]) -> Vec<ObjectiveResults> {
    (0..plan.objectives.len()).map(|at| one(plan, at, outcomes)).collect()
}

fn one(plan: &Plan, at: usize, outcomes: &[Outcome]) -> ObjectiveResults {
    let objective = &plan.objectives[at];
    let found: Vec<(f64, u64)> = outcomes.iter().filter_map(|outcome| share(objective, outcome)).collect();
    let all: u64 = found.iter().map(|(_, count)| count).sum();
    let share = found.iter().map(|(share, count)| share * *count as f64).sum::<f64>() / all.max(1) as f64;
    let half_width = half_width(plan, at, outcomes, &found);
    let met = verdict(objective.share, share, half_width, plan.is_whole()).filter(|_| all > 0);
    let is_complete = outcomes.iter().all(|outcome| outcome.end.is_complete());
    ObjectiveResults {
        name: objective.name.clone(),
        objective: format!("{} within {}", Fraction(objective.share), objective.within),
        of: objective.of.clone(),
        asked: objective.share,
        within_ms: objective.within.ms(),
        share,
        half_width,
        met: met.filter(|met| !met || is_complete),
    }
}

/// Returns the share of the requests of a replication that were in time, and how many were answered; none where none was.
fn share(objective: &Objective, outcome: &Outcome) -> Option<(f64, u64)> {
    let stream = &outcome.streams[objective.stream];
    let responses = stream.series(objective.operation)?;
    let count = responses.tally.count();
    let is_stuck = matches!(outcome.end, End::Idle | End::TooManyInFlight | End::TooManyParts);
    let waiting = if is_stuck { stream.in_flight } else { 0 };
    let answered = stream.answered as f64 / (stream.finished() + waiting).max(1) as f64;
    (count > 0).then(|| (objective.share_of(&responses.distribution) * answered, count))
}

fn half_width(plan: &Plan, at: usize, outcomes: &[Outcome], found: &[(f64, u64)]) -> Option<f64> {
    let shares: Vec<f64> = match outcomes {
        [_] if plan.is_whole() => return None,
        [only] => after_warm_up(only).filter_map(|segment| segment.in_time[at]).collect(),
        _ => found.iter().map(|(share, _)| *share).collect(),
    };
    if outcomes.len() == 1 {
        Interval::by_segments(&shares)
    } else {
        Interval::by_replications(&shares, true)
    }
    .map(|interval| interval.half_width)
}

/// The segments of a replication that are kept.
fn after_warm_up(outcome: &Outcome) -> impl Iterator<Item = &RunSegment> {
    outcome.series.iter().filter(|segment| segment.time > outcome.warm_up)
}

fn verdict(asked: f64, share: f64, half_width: Option<f64>, is_whole: bool) -> Option<bool> {
    match half_width {
        Some(half) if share - half >= asked => Some(true),
        Some(half) if share + half < asked => Some(false),
        None if is_whole => Some(share >= asked),
        _ => None,
    }
}

/// Returns what is said of an objective first.
pub(super) fn in_words(found: &ObjectiveResults) -> String {
    let verdict = match found.met {
        Some(true) => "Met",
        Some(false) => "MISSED",
        None => "Undecided",
    };
    let (asked, within) = (Fraction(found.asked), Nanos::from_ms(found.within_ms));
    format!("{verdict}: {} of {} within {within} ({asked} asked).", percent(found), found.name)
}

/// Returns the share in percent, to the digits that its interval supports; what is not quite all is not written as all.
fn percent(found: &ObjectiveResults) -> String {
    let (share, half) = (found.share * 100.0, found.half_width.unwrap_or_default() * 100.0);
    let supported = if half >= 1.0 { 1 } else { 2 + usize::from(half > 0.0 && half < 0.1) };
    let is_told_apart =
        |digits: &usize| share >= 100.0 || 100.0 - share > 0.5 * libm::pow(0.1, *digits as f64);
    let digits = (supported..12).find(is_told_apart).unwrap_or(12);
    if half < 5e-4 { format!("{share:.digits$} %") } else { format!("{share:.digits$} ± {half:.digits$} %") }
}
