//! A scenario from its text to its results.
//!
//! A [`Prepared`] scenario was read, with all errors reported together. It is planned when that is first needed, solved, run, and
//! run further; [`results::of`] draws up what its replications say. Or all of it in one call:
//!
//! ```
//! use headrace_scenario::{progress::Progress, run::Options};
//! let text = "
//!   system: {clerk: {type: station, service: {exponential: 8 ms}}}
//!   workload: {customers: {to: clerk, arrivals: {poisson: 100 /s}}}
//! ";
//! let (options, progress) = (Options::default(), Progress::default());
//! let results = headrace_scenario::simulate(text, "bank.yaml", &[], &options, &progress).unwrap().results;
//! let response = &results.streams[0].response;
//! let theory = &results.theory[0];
//! assert_eq!(theory.model, "M/G/1");
//! assert!((response.mean_ms - theory.mean_ms.unwrap()).abs() < 3.0 * response.half_width_ms.unwrap());
//! ```

mod alike;
pub mod catalog;
pub mod checks;
pub mod devices;
pub mod document;
pub mod durability;
pub mod embedded;
pub mod experiment;
pub mod faults;
pub mod job_files;
pub mod operation;
pub mod plan;
mod prepared;
pub mod progress;
pub mod rates;
pub mod record;
pub mod results;
pub mod run;
mod samples;
mod significant;
pub mod solve;
pub mod spec;
pub mod theory;
mod uncertain;
pub mod validation;
mod variation;

use document::Problems;
use headrace_storage::Journey;
use progress::Progress;
use run::Options;

pub use prepared::Prepared;

/// Outcome of a run.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its results.
    pub results: results::Results,
    /// Journeys of its first requests, if asked for.
    pub journeys: Vec<Journey>,
}

/// The JSON Schema of a scenario, for editors.
pub fn scenario_schema() -> serde_json::Value {
    let mut schema = document::schema_of::<spec::ScenarioSpec>().clone();
    job_files::add_to(&mut schema);
    schema
}

/// Reads and plans a scenario; see [`Prepared`] for the arguments.
///
/// # Errors
/// All errors in it, overload among them.
pub fn prepare(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    progress: &Progress,
) -> Result<plan::Plan, Problems> {
    Prepared::read(source, file, sets, &job_files::unread)?.into_plan(progress)
}

/// Reads, plans and solves a scenario by formulas; see [`Prepared::solve`].
///
/// # Errors
/// All errors in it, or why it is not a network of queues that formulas are known for.
pub fn solve(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    range: Option<(f64, f64)>,
    progress: &Progress,
) -> Result<solve::Solved, Problems> {
    Prepared::read(source, file, sets, &job_files::unread)?.solve(range, progress)
}

/// Reads, plans and runs a scenario; see [`Prepared::run`].
///
/// # Errors
/// All errors in it.
pub fn simulate(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    options: &Options,
    progress: &Progress,
) -> Result<Found, Problems> {
    Prepared::read(source, file, sets, &job_files::unread)?.run(None, options, progress)
}
