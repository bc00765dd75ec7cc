//! How much is left out at the beginning of a run.
//!
//! A run alone finds its warm-up by MSER-5. Replications share one cut, the first of [`CUTS`] after which their averages no longer
//! move: each would else take its own early excursions for a transient, and what remains would be biased. Of a replication that
//! is run for itself, to stand beside others, the first cut is made.

use headrace_stats::settling::{CUTS, moves};

use super::outcome::Outcome;
use super::record::Record;
use super::{Options, is_whole};
use crate::plan::Plan;

/// A place to cut a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first segment to keep.
    pub first: usize,
    /// Whether a warm-up was found.
    pub steady: bool,
    /// Whether the run has too few answers to find one, so that nothing is left out.
    pub too_short: bool,
}

impl Cut {
    const NOTHING: Self = Self { first: 0, steady: true, too_short: false };
}

/// The cuts that may be made in a run: one, or where replications are to share one, all of [`CUTS`].
pub fn candidates(plan: &Plan, options: &Options, record: &Record) -> Vec<Cut> {
    let shares = match (plan.run().replications, options.replication) {
        _ if is_whole(plan) => return vec![Cut::NOTHING],
        (1, None) => return vec![by_mser(record)],
        (1, Some(_)) => &CUTS[..1],
        _ => &CUTS[..],
    };
    let segments = record.marks.len() as f64;
    shares.iter().map(|share| Cut { first: (segments * share) as usize, ..Cut::NOTHING }).collect()
}

fn by_mser(record: &Record) -> Cut {
    let found: Option<Vec<usize>> =
        record.streams.iter().map(|stream| stream.all.warm_up_segments()).collect();
    let most = record.streams.iter().map(|stream| stream.all.segments_of_half()).min().unwrap_or(0);
    let first = found.as_ref().and_then(|found| found.iter().max()).map_or(0, |first| *first.min(&most));
    let too_short = record.streams.iter().any(|stream| stream.all.is_short());
    Cut { first, steady: found.is_some(), too_short }
}

/// Of each replication the outcome at the first cut after which no stream moves, else at the last, where none is steady. Each has
/// the same number of candidates; a single one leaves no choice, and nothing to be found steady.
pub fn shared(replications: Vec<Vec<Outcome>>) -> Vec<Outcome> {
    let cuts = replications.first().map_or(0, Vec::len);
    if cuts == 1 {
        return replications.into_iter().flatten().collect();
    }
    let standing = (0..cuts).find(|&at| !any_moves(replications.iter().map(|outcomes| &outcomes[at])));
    let at = standing.unwrap_or(cuts.saturating_sub(1));
    let chosen = replications.into_iter().map(|mut outcomes| outcomes.swap_remove(at));
    chosen.map(|outcome| Outcome { steady: outcome.steady && standing.is_some(), ..outcome }).collect()
}

/// Whether a stream's response times still move after the cut that the outcomes have.
fn any_moves<'o>(outcomes: impl Iterator<Item = &'o Outcome> + Clone) -> bool {
    let streams = outcomes.clone().next().map_or(0, |outcome| outcome.streams.len());
    (0..streams).any(|stream| {
        let quarters = outcomes.clone().filter_map(|outcome| outcome.streams[stream].all.quarters);
        moves(&quarters.collect::<Vec<_>>())
    })
}
