//! Running a plan: one replication or many, by events or by recursion.

mod chosen;
mod cut;
mod events;
mod faults;
mod one;
mod options;
mod outcome;
mod points;
mod recursion;
mod replication;
mod split;
mod steps;
mod still;
mod training;
mod turns;
mod watch;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use headrace_storage::Journey;

pub use options::{End, Options};
pub use outcome::{ComponentOutcome, MeterKind, Outcome, PhaseOutcome, SeriesOutcome, StreamOutcome, meters};
pub use points::RunSegment;

/// The streams of a scenario as the background load of a host.
pub(crate) mod background {
    pub use super::events::start_all as start;
    pub use super::faults::FaultsByCount;
    pub use super::outcome::so_far;
    pub use super::replication::{END_OF_TIME, Hosts, Replication, RequestSource, threads};
    pub use super::still::Still;
}

use crate::plan::Plan;
use crate::spec::Engine;
use cut::Candidates;
pub use watch::Deadline;

/// The engine a plan is run by: the one asked for, or for `auto` the recursion where it gives the same answer.
///
/// # Errors
/// Where the recursion is asked for and cannot give the same answer: why not.
pub fn engine(plan: &Plan) -> Result<Engine, String> {
    match (plan.run().engine, recursion::applies(plan)) {
        (Engine::Events, _) | (Engine::Auto, Err(_)) => Ok(Engine::Events),
        (Engine::Auto | Engine::Recursion, Ok(())) => Ok(Engine::Recursion),
        (Engine::Recursion, Err(why)) => Err(why),
    }
}

/// The replications of a plan that were run so far. None is run twice.
#[derive(Default)]
pub struct Replications {
    /// By their numbers; `None` for one that was not run, or cancelled.
    found: Vec<Option<Candidates<Outcome>>>,
    /// Number of requests of each.
    each: u64,
    /// The journeys of the first requests of the first.
    journeys: Vec<Journey>,
}

impl Replications {
    /// Runs those replications of `plan` that are missing. What they find does not depend on the number of threads.
    pub fn complete(&mut self, plan: &Plan, engine: Engine, options: &Options, deadline: &Deadline) {
        self.up_to(plan.replications(), plan, engine, options, deadline);
    }

    /// Runs those of the first `wanted` replications of `plan` that are missing.
    fn up_to(&mut self, wanted: u32, plan: &Plan, engine: Engine, options: &Options, deadline: &Deadline) {
        let missing = self.missing(wanted as usize, plan.requests());
        deadline.expect(plan, (self.found.len() - missing.len()) as u64);
        let (next, into) = (AtomicUsize::new(0), Mutex::new(self));
        std::thread::scope(|scope| {
            for _ in 0..options.threads.min(missing.len()).max(1) {
                scope.spawn(|| {
                    while let Some(&number) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // The first says how far it came, unless nobody wants to know.
                        let is_over = number > 0 && deadline.end().is_some();
                        if is_over || deadline.end() == Some(End::Cancelled) {
                            return;
                        }
                        let one = one::run(plan, engine, number as u64, options, deadline);
                        into.lock().expect("no replication panicked").keep(number, one);
                    }
                });
            }
        });
    }

    /// Returns the numbers of the replications that were not run of `wanted` in all, and makes room for them. Those of another number of
    /// requests than `each` are forgotten.
    fn missing(&mut self, wanted: usize, each: u64) -> Vec<usize> {
        if self.each != each {
            (self.found, self.each) = (Vec::new(), each);
        }
        self.found.iter_mut().for_each(|one| drop(one.take_if(|found| chosen::was_cancelled(found))));
        self.found.resize_with(wanted.max(self.found.len()), || None);
        (0..self.found.len()).filter(|&number| self.found[number].is_none()).collect()
    }

    fn keep(&mut self, number: usize, (found, journeys): (Candidates<Outcome>, Vec<Journey>)) {
        self.found[number] = Some(found);
        if number == 0 {
            self.journeys = journeys;
        }
    }

    /// Returns what each replication of `plan` that was run found, in order.
    ///
    /// # Errors
    /// One of them broke a law: see [`Outcome::lawful`].
    pub fn outcomes(&self, plan: &Plan) -> Result<Vec<Outcome>, String> {
        let outcomes = chosen::of(plan, &self.found.iter().flatten().collect::<Vec<_>>());
        outcomes.iter().try_for_each(Outcome::lawful)?;
        Ok(outcomes)
    }

    /// Returns the journeys of the first requests.
    pub fn journeys(&self) -> &[Journey] {
        &self.journeys
    }
}
