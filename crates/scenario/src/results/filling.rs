//! Caches that are still filling: what they took in is work that the disks have not done yet.

use headrace_work::NodeId;

use crate::plan::Plan;
use crate::run::Outcome;

/// Up to this share of what was written to a cache may stay there: the disks then did nearly all that steady state asks of them.
const MOST_LEFT: f64 = 0.1;

/// The share of what was written to the cache of a component that has not left it yet; none where nothing was.
pub(super) fn undestaged(id: NodeId, outcomes: &[Outcome]) -> Option<f64> {
    let readings = outcomes.iter().map(|outcome| &outcome.components[id.index()].reading);
    let (came, gone) =
        readings.fold((0.0, 0.0), |(came, gone), reading| (came + reading.taken_in, gone + reading.destaged));
    (came > 0.0).then(|| (1.0 - gone / came).max(0.0))
}

/// The cache that most of what was written to it has not left yet, and that share; none where all write on what they take in.
pub(super) fn cache(plan: &Plan, outcomes: &[Outcome]) -> Option<(NodeId, f64)> {
    let shares = plan.graph.ids().filter_map(|id| Some((id, undestaged(id, outcomes)?)));
    shares.filter(|(_, share)| *share > MOST_LEFT).max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// What to know of it.
pub(super) fn note(plan: &Plan, outcomes: &[Outcome]) -> Option<String> {
    let (id, share) = cache(plan, outcomes)?;
    Some(format!(
        "{}: {:.0} % of the data written to its cache has not left it yet, so what is behind it is less busy than in steady state, and no \
         headroom is given; run several times as long",
        plan.graph.nodes[id.index()].path,
        share * 100.0
    ))
}
