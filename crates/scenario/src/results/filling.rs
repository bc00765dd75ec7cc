//! Caches that are still filling: what they took in is work that the disks have not done yet.

use headrace_work::NodeId;

use crate::plan::Plan;
use crate::run::Outcome;

/// Up to this share of what was written to a cache may stay there: the disks then did nearly all that steady state asks of them.
const MOST_LEFT: f64 = 0.1;

/// Returns true if a cache that still holds this share of what was written to it is far from steady state.
#[must_use]
pub fn is_filling(share: f64) -> bool {
    share > MOST_LEFT
}

/// The share of what was written to the cache of a component that has not left it yet; none where nothing was.
pub(super) fn undestaged(id: NodeId, outcomes: &[Outcome]) -> Option<f64> {
    let readings = outcomes.iter().map(|outcome| &outcome.components[id.index()].reading);
    let (came, gone) =
        readings.fold((0.0, 0.0), |(came, gone), reading| (came + reading.taken_in, gone + reading.destaged));
    (came > 0.0).then(|| (1.0 - gone / came).max(0.0))
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
         no headroom is given; run several times as long",
        plan.graph.nodes[id.index()].path,
        share * 100.0
    ))
}
