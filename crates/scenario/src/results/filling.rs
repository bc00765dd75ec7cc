//! Caches that are still filling: what they took in is work that the disks have not done yet.

use headrace_work::NodeId;

use super::ComponentResults;
use crate::plan::Plan;
use crate::record::MeterReading;
use crate::run::Outcome;
use crate::significant::Significant;

/// Up to this share of what was written to a cache may stay there: the disks then did nearly all that steady state asks of them.
const MOST_LEFT: f64 = 0.1;

/// From this share on, answers are those of the cache alone.
const MOSTLY_LEFT: f64 = 0.5;

/// Returns true if a cache that still holds this share of what was written to it is far from steady state.
#[must_use]
pub fn is_filling(share: f64) -> bool {
    share > MOST_LEFT
}

fn readings(id: NodeId, outcomes: &[Outcome]) -> impl Iterator<Item = &MeterReading> {
    outcomes.iter().map(move |outcome| &outcome.components[id.index()].reading)
}

/// Bytes written to the cache of a component, and those of them that have left it.
fn came_and_gone(id: NodeId, outcomes: &[Outcome]) -> (f64, f64) {
    readings(id, outcomes)
        .fold((0.0, 0.0), |(came, gone), reading| (came + reading.taken_in, gone + reading.destaged))
}

/// The share of what was written to the cache of a component that has not left it yet; none where nothing was.
pub(super) fn undestaged(id: NodeId, outcomes: &[Outcome]) -> Option<f64> {
    let (came, gone) = came_and_gone(id, outcomes);
    (came > 0.0).then(|| (1.0 - gone / came).max(0.0))
}

/// Returns the factor by which runs should be longer, at most, for a full cache to hold a tenth of what was written; 2 or more. Where the time in
/// which it fills is left out as warm-up, less will do.
fn times_as_long(id: NodeId, outcomes: &[Outcome]) -> f64 {
    let room: f64 = readings(id, outcomes).map(|reading| reading.cache_size).sum();
    (room / MOST_LEFT / came_and_gone(id, outcomes).0).max(2.0)
}

/// Returns the sentence to begin with where the cache that fills has answered for what is behind it: no cache does for long.
pub(super) fn in_words(components: &[ComponentResults]) -> Option<String> {
    let left = components.iter().filter_map(|component| Some((component.undestaged?, &component.path)));
    let (share, path) = left.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (share > MOSTLY_LEFT).then(|| {
        format!(
            "FILLING: {:.0} % of what was written is still in the cache of {path}; once that is full, writes are no faster than what is \
             behind it.",
            100.0 * share
        )
    })
}

/// The cache that still holds the largest share of what was written to it, and that share; none where no cache is filling.
pub(super) fn cache(plan: &Plan, outcomes: &[Outcome]) -> Option<(NodeId, f64)> {
    let shares = plan.graph.ids().filter_map(|id| Some((id, undestaged(id, outcomes)?)));
    shares.filter(|(_, share)| is_filling(*share)).max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// Returns true if a longer run would find a component busier: work that its requests cause is still to come.
pub(super) fn is_unsettled(id: NodeId, outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|outcome| !outcome.components[id.index()].is_settled)
}

/// Returns true if a longer run may find any component busier.
pub(super) fn hides_work(plan: &Plan, outcomes: &[Outcome]) -> bool {
    cache(plan, outcomes).is_some() || plan.graph.ids().any(|id| is_unsettled(id, outcomes))
}

/// Returns the note on a cache that is filling.
pub(super) fn note(plan: &Plan, outcomes: &[Outcome]) -> Option<String> {
    let (id, share) = cache(plan, outcomes)?;
    Some(format!(
        "{}: {:.0} % of the data written to its cache is still there, so the components behind it are less busy than in steady state, and \
         no headroom is given; run up to {:.2} times as long",
        plan.graph.nodes[id.index()].path,
        share * 100.0,
        Significant(times_as_long(id, outcomes))
    ))
}
