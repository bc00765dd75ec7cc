//! One long run as several replications, where these are long beside the warm-up. A pilot as long as one of them says so. It is left out of
//! the results: a pilot in which little is correlated is long enough more often than others, and its mean response is too low.

use headrace_stats::settling::CUTS;
use headrace_work::NodeId;

use super::options::{End, Options};
use super::outcome::Outcome;
use super::watch::Deadline;
use super::{Replications, one};
use crate::plan::split::PARTS;
use crate::plan::{Plan, Split};
use crate::spec::Engine;

/// The largest share of a pilot that its warm-up may be: replications then keep most of their requests, whatever they discard.
const SHORT: f64 = CUTS[1];

/// Times the size of what fills that the requests of a pilot must amount to: then it has been full for most of it.
const TIMES_FULL: f64 = 10.0;

impl Replications {
    /// Runs `plan` in as many replications as its pilots allow, or as a whole where all would be too short.
    ///
    /// # Errors
    /// A pilot broke a law: see [`Outcome::lawful`].
    pub fn complete_split(
        &mut self,
        plan: &mut Plan,
        engine: Engine,
        options: &Options,
        deadline: &Deadline,
    ) -> Result<(), String> {
        let mut refused = None;
        for parts in PARTS {
            plan.split = Split { parts, refused: None };
            deadline.expect(plan, 0);
            let (pilot, _) = one::run(plan, engine, plan.split.pilot(), &Options::default(), deadline);
            let Some(found) = pilot.alone.as_ref().filter(|found| !was_stopped(found)) else {
                (self.found, self.each) = (vec![Some(pilot)], plan.requests());
                return Ok(());
            };
            found.lawful()?;
            refused = too_short(plan, found);
            if refused.is_none() {
                self.up_to(parts, plan, engine, options, deadline);
                return Ok(());
            }
        }
        plan.split = Split { parts: 1, refused };
        self.up_to(1, plan, engine, options, deadline);
        Ok(())
    }
}

/// Returns true if someone cancelled the run, or its real time is over.
fn was_stopped(pilot: &Outcome) -> bool {
    matches!(pilot.end, End::Cancelled | End::TooLong)
}

/// Returns why replications as long as this one would be too short; none if they are long enough.
fn too_short(plan: &Plan, pilot: &Outcome) -> Option<String> {
    let requests = plan.requests();
    if !pilot.end.is_complete() {
        return Some(format!("its first {requests} requests were not completed"));
    }
    if !pilot.steady || pilot.too_short {
        return Some(format!("its first {requests} requests show no steady state"));
    }
    let filling = plan.graph.ids().find(|id| is_filling(plan, pilot, *id));
    if let Some(id) = filling {
        return Some(format!("{requests} requests are too few to fill {}", plan.graph.view(id).path()));
    }
    let streams = plan.streams.iter().zip(&pilot.streams);
    streams.map(|(stream, found)| (&stream.name, &found.all)).find_map(|(name, all)| {
        let is_sure = all.interval.is_some_and(|interval| interval.trusted);
        let is_short = all.left_out <= SHORT / (1.0 - SHORT);
        match (is_sure, is_short) {
            (true, true) => None,
            (true, false) => {
                Some(format!("the warm-up of {name} takes more than a quarter of {requests} requests"))
            }
            (false, _) => {
                Some(format!("response times of {name} are correlated over too many of {requests} requests"))
            }
        }
    })
}

/// Returns true if the data that a component was asked for hardly exceeds what builds up in it.
fn is_filling(plan: &Plan, pilot: &Outcome, id: NodeId) -> bool {
    let size = plan.graph.view(id).features().fills.map_or(0.0, |size| size as f64);
    let asked = pilot.components[id.index()].reading.bytes;
    asked > 0.0 && asked < TIMES_FULL * size
}
