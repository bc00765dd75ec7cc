//! Running a plan: one replication or many, by events or by recursion.

mod cut;
mod events;
mod faults;
mod log;
mod marks;
mod outcome;
mod phases;
mod points;
mod record;
mod recursion;
mod replication;
mod still;
mod turns;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use headrace_kernel::RngStream;
use headrace_storage::Journey;
use serde::Serialize;

pub use log::{LogBatch, Sink};
pub use marks::MeterReading;
pub use outcome::{ComponentOutcome, MeterKind, Outcome, PhaseOutcome, SeriesOutcome, StreamOutcome};
pub use record::{Record, StreamRecord};

use crate::plan::Plan;
use crate::progress::Progress;
use crate::spec::{Engine, WarmUp};

/// What is wanted of a run besides its results.
pub struct Options {
    /// Maximum number of threads; results do not depend on it.
    pub threads: usize,
    /// The number of the first replication, where it is one of a set: who has run ten may want the eleventh. A single one is then
    /// cut as it would be among the others.
    pub replication: Option<u64>,
    /// Number of requests, the first of the first replication, whose journeys are wanted.
    pub first: u64,
    /// Where every request is handed to.
    pub requests: Option<Sink>,
    /// Whether theory is wanted; it may take longer than a short run.
    pub theory: bool,
    /// How many times as wide intervals are: more than 1 where replications were added until they looked narrow, by which
    /// those that came out narrow by chance are chosen.
    pub widen: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 1, replication: None, first: 0, requests: None, theory: true, widen: 1.0 }
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
    /// No events were left.
    Idle,
    /// Clients asked again and again at one instant, as their requests took no time.
    TimeStandsStill,
    /// It reached the end of simulated time.
    TooFar,
    /// More requests were in flight than the limit.
    TooManyInFlight,
    /// More parts of requests were in flight than the limit.
    TooManyParts,
    /// More events happened than the limit.
    TooManyEvents,
    /// It took more real time than the limit.
    TooLong,
    /// A trace could no longer be read as when it was scanned.
    TraceLost,
    /// Someone cancelled it.
    Cancelled,
}

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

/// The number of requests that all replications of a plan answer together; 1 until it can be estimated.
fn requests_wanted(plan: &Plan) -> u64 {
    wanted(plan).checked_mul(u64::from(plan.run().replications)).unwrap_or(1)
}

/// The number of requests that one replication answers: those asked for, or the trace where one is replayed; the maximum where the time
/// alone ends it.
fn wanted(plan: &Plan) -> u64 {
    let recorded: Option<Vec<u64>> = plan.streams.iter().map(|stream| stream.recorded()).collect();
    recorded.map_or(plan.run().requests.unwrap_or(u64::MAX), |recorded| recorded.into_iter().sum())
}

/// Whether nothing is left out: where that is asked for, where components fail, since there is no one steady state then, and of a
/// replayed trace, which is compared with what was measured, request for request.
pub(crate) fn is_whole(plan: &Plan) -> bool {
    plan.run().warm_up == WarmUp::None
        || plan.has_phases()
        || plan.streams.iter().any(|stream| stream.is_recorded())
}

/// What every replication of `plan` found, in order, and the journeys of the first requests. The outcomes do not depend on
/// the number of threads.
pub fn run(
    plan: &Plan,
    engine: Engine,
    options: &Options,
    progress: &Progress,
) -> (Vec<Outcome>, Vec<Journey>) {
    progress.wanted.store(requests_wanted(plan), Ordering::Relaxed);
    let replications = plan.run().replications as usize;
    let next = AtomicU64::new(0);
    let found = Mutex::new(Vec::new());
    found.lock().expect("nobody has it yet").resize_with(replications, || None);
    std::thread::scope(|scope| {
        for _ in 0..options.threads.clamp(1, replications) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number as usize >= replications || progress.is_cancelled() {
                        return;
                    }
                    let one = replication::run(plan, engine, number, options, progress);
                    found.lock().expect("no replication panicked")[number as usize] = Some(one);
                }
            });
        }
    });
    let found = found.into_inner().expect("no replication panicked");
    let (outcomes, journeys): (Vec<_>, Vec<_>) = found.into_iter().flatten().unzip();
    (cut::shared(outcomes), journeys.into_iter().next().unwrap_or_default())
}

/// The first replication has the scenario's own seed; the others have seeds drawn from it.
pub(crate) fn seed(plan: &Plan, replication: u64) -> u64 {
    let root = plan.run().seed;
    if replication == 0 { root } else { RngStream::named(root, "", "replications").of(replication).bits() }
}
