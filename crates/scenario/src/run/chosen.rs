//! The cut that replications share: the first after which their averages no longer move.

use headrace_stats::settling::moves;

use super::cut::Candidates;
use super::options::End;
use super::outcome::Outcome;
use crate::plan::Plan;

/// Returns true if the replication was cancelled, so that it counts as not run.
pub fn was_cancelled(found: &Candidates<Outcome>) -> bool {
    found.shared.iter().any(|outcome| outcome.end == End::Cancelled)
}

/// Returns of each replication the outcome at the first cut after which no stream moves; if there is none, at the last, where none
/// is steady. All replications have the same number of shared candidates; a single one leaves no choice, and nothing to be found
/// steady. The only replication of a plan has a cut of its own.
pub fn of(plan: &Plan, found: &[&Candidates<Outcome>]) -> Vec<Outcome> {
    if let (1, [Candidates { alone: Some(alone), .. }]) = (plan.replications(), found) {
        return vec![alone.clone()];
    }
    let cuts = found.first().map_or(0, |first| first.shared.len());
    if cuts == 1 {
        return found.iter().map(|candidates| candidates.shared[0].clone()).collect();
    }
    let standing = (0..cuts).find(|&at| !any_moves(found.iter().map(|candidates| &candidates.shared[at])));
    let at = standing.unwrap_or(cuts.saturating_sub(1));
    let chosen = found.iter().map(|candidates| candidates.shared[at].clone());
    chosen.map(|outcome| Outcome { steady: outcome.steady && standing.is_some(), ..outcome }).collect()
}

/// Returns true if a stream's response times still move after the cut that the outcomes have.
fn any_moves<'o>(outcomes: impl Iterator<Item = &'o Outcome> + Clone) -> bool {
    let streams = outcomes.clone().next().map_or(0, |outcome| outcome.streams.len());
    (0..streams).any(|stream| {
        let quarters = outcomes.clone().filter_map(|outcome| outcome.streams[stream].all.quarters);
        moves(&quarters.collect::<Vec<_>>())
    })
}
