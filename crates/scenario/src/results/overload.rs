//! Whether a component is overloaded, and what it sustains then.

use headrace_work::NodeId;

use super::SATURATED;
use super::components::{ends_early, reaching};
use super::steadiness::{self, ALL};
use crate::plan::{Plan, StreamPlan};
use crate::run::Outcome;

/// How a component bore the load of the streams that reach it.
pub(super) struct Overload {
    /// True if a replay ended well before other streams, so that the load changed.
    pub is_mixed: bool,
    /// True if responses had a steady state.
    pub is_steady: bool,
    /// True if requests of any stream wait for ever longer.
    pub is_behind: bool,
    /// True if the component was hardly ever idle.
    pub never_idle: bool,
    /// True if it is overloaded, or all streams that reach it are closed.
    pub saturated: bool,
    /// True if much is left undone although it was idle now and then.
    pub is_held_back: bool,
    /// The share of the load that it sustains, if it is saturated; none where the load changed, or all requests were made at once.
    pub sustains: Option<f64>,
}

/// A component that is busy for this share of the second half of the run, in which requests wait for ever longer, is what they wait for.
pub(super) const FULL_LATER: f64 = 0.985;

/// A load of which a smaller share is answered as it comes is overload for sure.
const FAR: f64 = 0.9;

/// Returns how a component bore its load; `busy` has the utilisation of each component.
pub(super) fn of(plan: &Plan, id: NodeId, busy: &[f64], outcomes: &[Outcome]) -> Overload {
    let reach = || reaching(plan, id);
    let is_mixed = ends_early(plan, outcomes).is_some();
    let is_steady = steadiness::is_steady(plan, reach(), outcomes);
    let is_behind = steadiness::falls_behind(plan, outcomes);
    let always_busy = busy[id.index()] >= SATURATED;
    let open = reach().filter(|(_, stream)| stream.is_open());
    let answered = steadiness::sustained(open.map(|(at, _)| at), outcomes).filter(|_| !is_mixed);
    // What leaves that much undone is overloaded, though no component is always busy: something else stops requests now and then. Faults
    // would do so too, and say nothing of the load.
    let is_even = plan.faults.is_empty() && !reach().any(|(_, stream)| stream.varies());
    let is_far = is_behind && is_even && answered.is_some_and(|share| share < FAR);
    let is_full = always_busy || is_behind && is_full_later(plan, id, busy, outcomes);
    let never_idle = is_full || is_far;
    let is_held_back = is_far && !is_full;
    // A short burst keeps a server busy too, and so do commits that gather for a flush, however few; only a load that is not kept up with
    // overloads it. Requests that were in flight at the end of a steady run were kept up with.
    let usual = as_usual(plan, id, outcomes);
    let is_short = answered.is_some_and(|share| share < ALL && share / usual < ALL) && !is_steady;
    // Beside streams that are kept up with, a closed one takes what they leave.
    let mut streams = reach().peekable();
    let only_closed = streams.peek().is_some() && !streams.any(|(_, stream)| stream.is_open());
    let saturated = never_idle && (only_closed || is_short);
    // While it was idle, it could have done more.
    let idle_before = if always_busy || is_held_back { 1.0 } else { busy[id.index()] };
    let sustains = answered.filter(|_| saturated);
    let sustains = sustains.map(|share| (share / idle_before).min(1.0) / usual);
    Overload { is_mixed, is_steady, is_behind, never_idle, saturated, is_held_back, sustains }
}

/// Returns true if a component was hardly ever idle later in the run, or all of its group where its members share their load: requests pile up
/// there, whatever was before.
fn is_full_later(plan: &Plan, id: NodeId, busy: &[f64], outcomes: &[Outcome]) -> bool {
    let group = plan.graph.nodes[id.index()].group;
    let shares_load = |other: &NodeId| {
        plan.graph.nodes[other.index()].group == group && busy[other.index()] == busy[id.index()]
    };
    let members: Vec<NodeId> = plan.graph.ids().filter(shares_load).collect();
    steadiness::busy_later(&members, outcomes) >= FULL_LATER
}

/// Returns the load that comes to a component in the long run, over that of the run, where it comes in bursts: a run of a few may have had more of them
/// than usual, or fewer. 1 where a rate follows a curve, of which results are those of the run.
pub(super) fn as_usual(plan: &Plan, id: NodeId, outcomes: &[Outcome]) -> f64 {
    let streams: Vec<(usize, &StreamPlan)> = reaching(plan, id).collect();
    let usual: Option<f64> = streams.iter().map(|(_, stream)| stream.spec.arrivals.mean_rate()).sum();
    let seen = |at: usize| outcomes.iter().map(move |of| of.streams[at].born as f64 / of.ended_at.secs());
    let found = streams.iter().flat_map(|(at, _)| seen(*at)).sum::<f64>() / outcomes.len().max(1) as f64;
    let varies = streams.iter().any(|(_, stream)| stream.varies());
    let curves = streams.iter().any(|(_, stream)| stream.curve().is_some());
    usual.filter(|_| varies && !curves && found > 0.0).map_or(1.0, |usual| usual / found)
}
