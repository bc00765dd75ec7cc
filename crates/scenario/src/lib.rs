//! A scenario from its text to its results.
//!
//! [`plan::plan`] reads a document and refuses what cannot work, every mistake at once; [`run::engine`] chooses how it is
//! computed; [`run::run`] runs its replications; [`results::of`] draws up what they say. Or all of it:
//!
//! ```
//! use headrace_scenario::{results, run};
//! let text = "
//!   system: {clerk: {type: station, service: {exponential: 8 ms}}}
//!   workload: {customers: {to: clerk, arrivals: {poisson: 100 /s}}}
//! ";
//! let results = headrace_scenario::simulate(text, "bank.yaml", &[], 1, &run::Progress::default()).unwrap();
//! let response = &results.streams[0].response;
//! let theory = &results.theory[0];
//! assert_eq!(theory.model, "M/G/1");
//! assert!((response.mean_ms - theory.mean_ms.unwrap()).abs() < 3.0 * response.half_width_ms.unwrap());
//! ```

mod answer;
pub mod catalog;
pub mod document;
pub mod measured;
pub mod plan;
pub mod results;
pub mod run;
pub mod spec;
pub mod theory;

use document::Problems;

/// Reads, plans and runs a scenario, on at most `threads` threads. See [`plan::plan`] for `file` and `sets`.
pub fn simulate(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    threads: usize,
    progress: &run::Progress,
) -> Result<results::Results, Problems> {
    run_plan(&plan::plan(source, file, sets)?, file, threads, progress)
}

/// Runs a plan made of the scenario in `file`, on at most `threads` threads.
pub fn run_plan(
    plan: &plan::Plan,
    file: &str,
    threads: usize,
    progress: &run::Progress,
) -> Result<results::Results, Problems> {
    let engine = run::engine(plan).map_err(|why| {
        let help = "leave `run.engine` out, or choose `events`";
        Problems::file(file, format!("`run.engine`: the recursion does not apply: {why}"), help)
    })?;
    let outcomes = run::run(plan, engine, threads, progress);
    results::of(plan, engine, &outcomes)
        .map_err(|broken| Problems::file(file, broken, "keep the scenario: it reproduces the defect"))
}
