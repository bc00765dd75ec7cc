//! Running a plan: one replication or many, by events or by recursion.

mod engines;
mod log;
mod outcome;
mod record;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use headrace_kernel::Stream;
use headrace_storage::Journey;
use serde::Serialize;

pub use log::{Part, Sink};
pub use outcome::{ComponentOutcome, Outcome, SeriesOutcome, StreamOutcome};

use crate::plan::Plan;
use crate::spec::Engine;

/// Who looks on while a run goes on: sees how far it has come, may end it early, and gets every request if wanted. Shared
/// between the threads that run and the one that watches.
#[derive(Default)]
pub struct Onlooker {
    /// Requests read from a trace that is being looked over.
    pub traced: AtomicU64,
    /// Requests answered, in all replications.
    pub answered: AtomicU64,
    /// Set to end the run: it stops within some thousands of events and keeps what it has.
    pub cancelled: AtomicBool,
    /// Requests wanted of all replications; zero before the scenario is understood.
    pub wanted: AtomicU64,
    /// Set by who wants to see `queues` anew.
    pub wants_queues: AtomicBool,
    /// The longest queues: where, and how many wait.
    pub queues: Mutex<Vec<(String, u64)>>,
    /// Where every request is handed to, where that is wanted.
    pub requests: Option<Sink>,
    /// So many requests, the first of the first replication, are followed on their way …
    pub first: u64,
    /// … and this is what they did.
    pub journeys: Mutex<Journeys>,
    /// Whether theory is left aside: it may take longer than a short run.
    pub without_theory: bool,
    /// The number of the first replication: who has run ten may want the eleventh.
    pub from: u64,
}

/// What the first requests of a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Journeys {
    /// The paths of the components, in the order of their numbers.
    pub components: Vec<String>,
    /// One for each request, in the order of birth.
    pub requests: Vec<Journey>,
}

impl Onlooker {
    /// What is called now and then while a trace is read, with how many requests were: it is to go on unless the onlooker
    /// has cancelled.
    pub fn reads_traces(&self) -> impl Fn(u64) -> bool + '_ {
        |read| {
            self.traced.store(read, Ordering::Relaxed);
            !self.cancelled.load(Ordering::Relaxed)
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It did all that was asked.
    Done,
    /// Its time was up before its requests were.
    TimeUp,
    /// Nothing was left to happen.
    Idle,
    /// It reached the end of simulated time.
    TooFar,
    /// More requests were under way than the limit.
    TooManyInFlight,
    /// More events happened than the limit.
    TooManyEvents,
    /// It took more real time than the limit.
    TooLong,
    /// A trace could no longer be read as when it was looked over.
    TraceLost,
    /// Someone cancelled it.
    Cancelled,
}

/// The engine a plan is run by: the one asked for, or for `auto` the recursion where it gives the same answer.
///
/// # Errors
/// Where the recursion is asked for and cannot give the same answer: why not.
pub fn engine(plan: &Plan) -> Result<Engine, String> {
    match (plan.run().engine, engines::why_not_recursion(plan)) {
        (Engine::Events, _) | (Engine::Auto, Some(_)) => Ok(Engine::Events),
        (Engine::Auto | Engine::Recursion, None) => Ok(Engine::Recursion),
        (Engine::Recursion, Some(why)) => Err(why),
    }
}

/// How many requests all replications of a plan answer together.
fn requests_wanted(plan: &Plan) -> u64 {
    wanted(plan).saturating_mul(u64::from(plan.run().replications))
}

/// How many requests one replication answers: those asked for, or the trace where one is replayed.
fn wanted(plan: &Plan) -> u64 {
    let traced =
        plan.streams.iter().filter_map(|stream| stream.trace.as_ref()).map(|trace| trace.survey.requests);
    let drawn = plan.streams.iter().any(|stream| stream.trace.is_none());
    if drawn { plan.run().requests } else { traced.sum() }
}

/// Runs every replication of `plan` on at most `threads` threads; gives their outcomes in order. The outcomes do not
/// depend on the number of threads.
pub fn run(plan: &Plan, engine: Engine, threads: usize, onlooker: &Onlooker) -> Vec<Outcome> {
    onlooker.wanted.store(requests_wanted(plan), Ordering::Relaxed);
    let replications = plan.run().replications as usize;
    let next = AtomicU64::new(0);
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new((0..replications).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, replications) {
            scope.spawn(|| {
                loop {
                    let replication = next.fetch_add(1, Ordering::Relaxed);
                    if replication as usize >= replications || onlooker.cancelled.load(Ordering::Relaxed) {
                        return;
                    }
                    let outcome = engines::replicate(plan, engine, onlooker.from + replication, onlooker);
                    outcomes.lock().expect("no replication panicked")[replication as usize] = Some(outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("no replication panicked").into_iter().flatten().collect()
}

/// The first replication has the scenario's own seed; the others have seeds drawn from it.
pub(crate) fn seed(plan: &Plan, replication: u64) -> u64 {
    let root = plan.run().seed;
    if replication == 0 { root } else { Stream::named(root, "", "replications").of(replication).bits() }
}
