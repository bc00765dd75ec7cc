//! By how much formulas are off whose assumptions fail: measured by a short simulation of the scenario's own load.

use super::{StreamResults, filling};
use crate::plan::{Plan, StreamPlan};
use crate::progress::Progress;
use crate::run::{self, Deadline, End, Options, Replications};
use crate::solve::{FormulaError, SolvedPoint};
use crate::spec::Engine;
use crate::theory;

/// Requests of each replication: enough for about 2 % of a mean at moderate load.
const REQUESTS: u64 = 20_000;

/// Number of replications. The intervals of one run this short could seldom be trusted.
const REPLICATIONS: u32 = 4;

/// Maximum number of events of each replication: about a second of real time.
const EVENTS: u64 = 5_000_000;

/// Simulates the scenario's own load without its faults. `None` where that is overloaded, takes too long, or is too short to tell.
///
/// # Errors
/// The simulation broke a law: see [`crate::run::Outcome::lawful`].
pub fn formula_error(
    plan: &Plan,
    own: &SolvedPoint,
    progress: &Progress,
) -> Result<Option<FormulaError>, String> {
    let Some(predicted) = own.response_ms else { return Ok(None) };
    let mut plan = plan.clone();
    plan.faults.clear();
    // Replications of a recording have the same requests: that their means agree says nothing of how sure these are.
    let replications = if plan.streams.iter().any(StreamPlan::is_recorded) { 1 } else { REPLICATIONS };
    let run = &mut plan.spec.run;
    (run.requests, run.replications, run.time) = (Some(REQUESTS), replications, None);
    run.limits.events = run.limits.events.min(EVENTS);
    if !theory::unstable(&plan).is_empty() {
        return Ok(None);
    }
    let Ok(engine) = run::engine(&plan) else { return Ok(None) };
    let deadline = Deadline::new(&plan, progress);
    for requests in (0..LENGTHENED).map(|times| REQUESTS * LONGER.pow(times)) {
        plan.spec.run.requests = Some(requests);
        match simulated(&plan, engine, &deadline)? {
            Simulated::Filling => {}
            Simulated::Unknown => return Ok(None),
            Simulated::Mean { requests, response_ms, half_width_ms } => {
                let error = predicted / response_ms - 1.0;
                return Ok(Some(FormulaError { requests, response_ms, half_width_ms, error }));
            }
        }
    }
    Ok(None)
}

/// While a cache still fills, a run says nothing of the steady state that formulas are of: it is made this many times longer, so often.
const LONGER: u64 = 4;
const LENGTHENED: u32 = 3;

/// What a simulation found: the mean response with its half-width, nothing that can be trusted, or caches that still fill.
enum Simulated {
    Mean { requests: u64, response_ms: f64, half_width_ms: f64 },
    Unknown,
    Filling,
}

fn simulated(plan: &Plan, engine: Engine, deadline: &Deadline) -> Result<Simulated, String> {
    let options = Options { theory: false, ..Options::default() };
    let mut replications = Replications::default();
    replications.complete(plan, engine, &options, deadline);
    let outcomes = replications.outcomes(plan)?;
    let found = super::of(plan, engine, &outcomes, &options, deadline)?;
    if found.ended != End::Done {
        return Ok(Simulated::Unknown);
    }
    if filling::hides_work(plan, &outcomes) {
        return Ok(Simulated::Filling);
    }
    let requests = found.streams.iter().map(|stream| stream.completed).sum();
    Ok(match mean(&found.streams) {
        Some((response_ms, half_width_ms)) => Simulated::Mean { requests, response_ms, half_width_ms },
        None => Simulated::Unknown,
    })
}

/// The mean response of all streams with its half-width, each by its rate; `None` where an interval cannot be trusted.
fn mean(streams: &[StreamResults]) -> Option<(f64, f64)> {
    let all: f64 = streams.iter().map(|stream| stream.requests_per_s).sum();
    let (mut sum, mut variance) = (0.0, 0.0);
    for stream in streams {
        let (share, response) = (stream.requests_per_s / all, &stream.response);
        let half =
            response.half_width_ms.filter(|_| response.interval.as_ref().is_some_and(|it| it.trusted))?;
        sum += share * response.mean_ms;
        variance += share * share * half * half;
    }
    (sum > 0.0).then(|| (sum, variance.sqrt()))
}
