//! A scenario from its text to its results.
//!
//! [`prepare`] reads a document and refuses what cannot work, every mistake at once; [`run::engine`] chooses how it is
//! computed; [`run::run`] runs its replications; [`results::of`] draws up what they say. Or all of it:
//!
//! ```
//! use headrace_scenario::{results, run};
//! let text = "
//!   system: {clerk: {type: station, service: {exponential: 8 ms}}}
//!   workload: {customers: {to: clerk, arrivals: {poisson: 100 /s}}}
//! ";
//! let results = headrace_scenario::simulate(text, "bank.yaml", &[], 1, &run::Onlooker::default()).unwrap();
//! let response = &results.streams[0].response;
//! let theory = &results.theory[0];
//! assert_eq!(theory.model, "M/G/1");
//! assert!((response.mean_ms - theory.mean_ms.unwrap()).abs() < 3.0 * response.half_width_ms.unwrap());
//! ```

pub mod catalog;
pub mod devices;
pub mod document;
pub mod experiment;
pub mod plan;
pub mod results;
pub mod run;
pub mod spec;
pub mod theory;
pub mod validation;

use document::{Problems, Tree};

/// Reads and plans the scenario `source`, which came from `file` and whose own files lie beside it; refuses what cannot work,
/// an unbearable load among it. `sets` are values to put in the place of what the text has: (`run.seed`, `7`). The onlooker sees how
/// far traces were read.
pub fn prepare(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    onlooker: &run::Onlooker,
) -> Result<plan::Plan, Problems> {
    let mut tree = Tree::parse(source, file).map_err(|problem| Problems::unparsed(problem, source, file))?;
    for (path, text) in sets {
        tree.set(path, text).map_err(|problem| Problems::of(&tree, vec![problem]))?;
    }
    let all = |problems| Problems::of(&tree, problems);
    let spec = document::read(&tree).map_err(all)?;
    let plan = plan::of(spec, std::path::Path::new(file), onlooker).map_err(all)?;
    let unstable = theory::unstable(&plan);
    if unstable.is_empty() { Ok(plan) } else { Err(all(unstable)) }
}

/// Reads, plans and runs a scenario, on at most `threads` threads. See [`prepare`] for `file` and `sets`.
pub fn simulate(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    threads: usize,
    onlooker: &run::Onlooker,
) -> Result<results::Results, Problems> {
    run_plan(&prepare(source, file, sets, onlooker)?, file, threads, onlooker)
}

/// Runs a plan made of the scenario in `file`, on at most `threads` threads.
pub fn run_plan(
    plan: &plan::Plan,
    file: &str,
    threads: usize,
    onlooker: &run::Onlooker,
) -> Result<results::Results, Problems> {
    let engine = run::engine(plan).map_err(|why| {
        let help = "leave `run.engine` out, or choose `events`";
        Problems::file(file, format!("`run.engine`: the recursion does not apply: {why}"), help)
    })?;
    let outcomes = run::run(plan, engine, threads, onlooker);
    results::of(plan, engine, &outcomes, !onlooker.without_theory)
        .map_err(|broken| Problems::file(file, broken, "keep the scenario: it reproduces the defect"))
}
