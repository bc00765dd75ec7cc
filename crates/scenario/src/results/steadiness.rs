//! Whether a run reached a steady state: whether requests were answered as they came, or waited for ever longer.

use headrace_work::NodeId;

use crate::plan::{Plan, StreamPlan};
use crate::run::{Outcome, RunSegment, StreamOutcome};

/// Responses that are longer by this factor in the last quarter of a run than in the second grow, although a cut may be found behind which they
/// look steady. Chosen by judgement, as the numbers below: a queue that is never empty grows by much more in a quarter of a run.
const GROWN: f64 = 1.2;

/// A load of which a smaller share is answered as it comes is not kept up with.
pub(super) const ALL: f64 = 0.99;

/// With fewer segments, a run is undecided.
const ENOUGH_SEGMENTS: usize = 8;

/// More requests than this in flight at the end, and a larger share of all, are no chance.
const BACKLOG: f64 = 500.0;
const BEHIND: f64 = 0.01;

/// Returns true if requests of an open stream are answered more slowly than they come, and the longer the more so. A run that is taken
/// whole, and a stream at a rate that varies, have no steady state to drift from: a tenth of the requests in flight at the end is more than
/// a burst leaves.
pub(super) fn falls_behind(plan: &Plan, outcomes: &[Outcome]) -> bool {
    let drifts = drifts(outcomes);
    let mut open = plan.streams.iter().enumerate().filter(|(_, stream)| stream.is_open());
    let behind = |at| sustained(std::iter::once(at), outcomes).is_some_and(|share| share < ALL);
    open.any(|(at, stream)| match stream.varies() || plan.is_whole() {
        true => outcomes.iter().any(|outcome| outcome.streams[at].is_behind()),
        false => drifts && behind(at),
    }) || backs_up(plan, outcomes)
}

/// Returns true if the responses of some streams, by their numbers, had a steady state. Those of a recording, and of rates that vary, have
/// none that could be told from a drift. A run that is taken whole has no cut that tells: its responses do not grow, and few requests are left.
pub(super) fn is_steady<'p>(
    plan: &Plan,
    mut streams: impl Iterator<Item = (usize, &'p StreamPlan)>,
    outcomes: &[Outcome],
) -> bool {
    let can_tell = |(at, stream): (usize, &StreamPlan)| {
        let is_level =
            |outcome: &Outcome| grows(at, outcome).map_or_else(|| is_usual(at, outcome), |grows| !grows);
        !stream.varies() && outcomes.iter().all(is_level)
    };
    let left = |outcome: &Outcome| outcome.streams.iter().any(StreamOutcome::is_behind);
    let drifts = if plan.is_whole() { outcomes.iter().any(left) } else { drifts(outcomes) };
    !drifts && streams.all(can_tell)
}

/// Returns the utilisation of some components, on average, over the second half of the time in which requests came; of several replications the
/// highest.
pub(super) fn busy_later(components: &[NodeId], outcomes: &[Outcome]) -> f64 {
    let of = |outcome: &Outcome| {
        let last = outcome.streams.iter().map(|stream| stream.last_born).max().unwrap_or_default();
        let later: Vec<(f64, &RunSegment)> = outcome
            .segments()
            .filter(|(begin, segment)| 2 * begin.0 >= last.0 && segment.time <= last && segment.time > *begin)
            .map(|(begin, segment)| ((segment.time - begin).secs(), segment))
            .collect();
        let all: f64 = later.iter().map(|(seconds, _)| seconds).sum();
        let mean = |segment: &RunSegment| {
            // What has no servers has no utilisation.
            let busy =
                components.iter().map(|id| segment.utilisation[id.index()]).filter(|busy| busy.is_finite());
            busy.sum::<f64>() / components.len().max(1) as f64
        };
        let busy: f64 = later.iter().map(|(seconds, segment)| seconds * mean(segment)).sum();
        if all > 0.0 { busy / all } else { 0.0 }
    };
    outcomes.iter().map(of).fold(0.0, f64::max)
}

/// Returns the share of the offered load of streams that was sustained: the rate of answers over the rate of requests up to the last one made;
/// `None` where all were made at once.
pub(super) fn sustained(streams: impl Iterator<Item = usize>, outcomes: &[Outcome]) -> Option<f64> {
    let (mut offered, mut sustained) = (0.0, 0.0);
    for at in streams {
        for outcome in outcomes {
            let of = &outcome.streams[at];
            if of.last_born.0 == 0 || outcome.ended_at.0 == 0 {
                return None;
            }
            offered += of.born as f64 / of.last_born.secs();
            sustained +=
                (of.answered + of.expired + of.failed - of.abandoned) as f64 / outcome.ended_at.secs();
        }
    }
    (offered > 0.0).then(|| sustained / offered)
}

/// Returns the share of the requests that were dropped, expired or failed.
pub(super) fn lost(outcomes: &[Outcome]) -> f64 {
    let streams = || outcomes.iter().flat_map(|outcome| &outcome.streams);
    let lost: u64 = streams().map(|stream| stream.finished() - stream.answered).sum();
    lost as f64 / streams().map(|stream| stream.born).sum::<u64>().max(1) as f64
}

fn drifts(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|outcome| !outcome.steady)
}

/// Returns true if responses of a stream grew during a replication; `None` if it is too short to tell.
fn grows(at: usize, outcome: &Outcome) -> Option<bool> {
    if outcome.series.len() < ENOUGH_SEGMENTS {
        return None;
    }
    let mean = |from: f64, to: f64| {
        let within = outcome
            .series
            .iter()
            .filter(|segment| (from..=to).contains(&(segment.time.secs() / outcome.ended_at.secs())));
        let (sum, completed) = within.fold((0.0, 0.0), |(sum, completed), segment| {
            let own = segment.completed[at] as f64;
            (sum + own * segment.mean_ns[at], completed + own)
        });
        (completed > 0.0).then(|| sum / completed)
    };
    Some(mean(0.75, 1.0)? > GROWN * mean(0.25, 0.5)?)
}

/// Where waits do not grow, requests in flight at the end are as many as their mean response says, by Little's law; where they grow, twice as many.
const USUAL: f64 = 1.5;

/// Returns true if no more requests of a stream are in flight at the end than its rate and its mean response say.
fn is_usual(at: usize, outcome: &Outcome) -> bool {
    let of = &outcome.streams[at];
    let rate = of.born as f64 / of.last_born.secs().max(1e-9);
    of.in_flight as f64 <= USUAL * rate * of.all.tally.mean_ns() * 1e-9
}

/// Returns true if requests of an open stream at a steady rate wait for ever longer, and many of them at the end.
fn backs_up(plan: &Plan, outcomes: &[Outcome]) -> bool {
    let mut open = plan.streams.iter().enumerate().filter(|(_, stream)| stream.is_open() && !stream.varies());
    open.any(|(at, _)| {
        outcomes.iter().any(|outcome| {
            let of = &outcome.streams[at];
            // Those that were answered after the last had come were in flight then.
            let late = (outcome.ended_at.secs() / of.last_born.secs() - 1.0) * of.born as f64;
            let backlog = late.max(of.in_flight as f64);
            backlog > BEHIND * of.born as f64 && backlog > BACKLOG && grows(at, outcome) == Some(true)
        })
    })
}
