//! How much is left out at the beginning of a run.
//!
//! A run alone finds its warm-up by MSER-5. Replications share one of [`CUTS`]: each would else take its own early excursions for a
//! transient, and what remains would be biased. Of a replication that is run for itself, to stand beside others, the first cut is
//! made.

use headrace_stats::settling::CUTS;

use super::options::Options;
use crate::plan::Plan;
use crate::record::Record;

/// A place to cut a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first segment to keep.
    pub first: usize,
    /// True if a warm-up was found.
    pub steady: bool,
    /// True if the run has too few answers to find one, so that nothing is left out.
    pub too_short: bool,
}

impl Cut {
    /// Nothing is left out.
    pub const NOTHING: Self = Self { first: 0, steady: true, too_short: false };
}

/// Something at each place where a replication may be cut.
pub struct Candidates<T> {
    /// By MSER-5, where the replication is the only one.
    pub alone: Option<T>,
    /// At the places of which replications share one.
    pub shared: Vec<T>,
}

impl<T> Candidates<T> {
    /// Returns the results of `of` for each place.
    pub fn map<U>(&self, of: impl Fn(&T) -> U) -> Candidates<U> {
        Candidates { alone: self.alone.as_ref().map(&of), shared: self.shared.iter().map(of).collect() }
    }
}

/// Returns the cuts that may be made in the `number`-th replication. A single run, and the pilot of one that is split, keep those that
/// replications share too: others may follow.
pub fn candidates(plan: &Plan, options: &Options, number: u64, record: &Record) -> Candidates<Cut> {
    let shares = match (plan.run().replications, options.replication) {
        _ if plan.is_whole() => return Candidates { alone: None, shared: vec![Cut::NOTHING] },
        (1, Some(_)) => &CUTS[..1],
        _ => &CUTS[..],
    };
    let is_alone =
        plan.run().replications == 1 && options.replication.is_none() && number == plan.split.pilot();
    let segments = record.marks.count() as f64;
    let shared = shares.iter().map(|share| Cut { first: (segments * share) as usize, ..Cut::NOTHING });
    Candidates { alone: is_alone.then(|| by_mser(record)), shared: shared.collect() }
}

fn by_mser(record: &Record) -> Cut {
    let found: Option<Vec<usize>> =
        record.streams.iter().map(|stream| stream.all.warm_up_segments()).collect();
    let most = record.streams.iter().map(|stream| stream.all.segments_of_half()).min().unwrap_or(0);
    let first = found.as_ref().and_then(|found| found.iter().max()).map_or(0, |first| *first.min(&most));
    let too_short = record.streams.iter().any(|stream| stream.all.is_short());
    Cut { first, steady: found.is_some(), too_short }
}
