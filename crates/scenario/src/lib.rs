//! A scenario from its text to its results.
//!
//! [`prepare`] reads a document and reports all errors together; [`run::engine`] chooses how it is
//! computed; [`run::run`] runs its replications; [`results::of`] draws up what they say. Or all of it:
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

pub mod catalog;
mod checks;
pub mod devices;
pub mod document;
pub mod experiment;
pub mod faults;
pub mod operation;
pub mod plan;
pub mod progress;
pub mod results;
pub mod run;
pub mod solve;
pub mod spec;
pub mod theory;
pub mod validation;
mod variation;

use document::{Problems, Tree};
use headrace_storage::Journey;
use progress::Progress;
use run::Options;

/// What a run found.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it says.
    pub results: results::Results,
    /// What its first requests did, where that was wanted.
    pub journeys: Vec<Journey>,
}

/// Reads and plans the scenario `source`, which came from `file` and whose own files lie beside it; refuses what cannot work,
/// an overload among it. `sets` are values to put instead of what the text has: (`run.seed`, `7`).
///
/// # Errors
/// All errors in it.
pub fn prepare(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    progress: &Progress,
) -> Result<plan::Plan, Problems> {
    let (plan, tree) = planned(source, file, sets, progress)?;
    let unstable = theory::unstable(&plan);
    if unstable.is_empty() { Ok(plan) } else { Err(Problems::of(&tree, unstable)) }
}

/// The same, overload or not; with the document, for what else is wrong with it.
fn planned(
    source: &str,
    file: &str,
    sets: &[(String, String)],
    progress: &Progress,
) -> Result<(plan::Plan, Tree), Problems> {
    let (tree, spec) = read(source, file, sets)?;
    let plan = plan::of(spec, std::path::Path::new(file), progress);
    Ok((plan.map_err(|problems| Problems::of(&tree, problems))?, tree))
}

/// Reads, plans and solves a scenario by formulas, at the loads between `range`. See [`prepare`] for `file` and `sets`; an overload
/// is no error here.
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
    let (plan, tree) = planned(source, file, sets, progress)?;
    solve::solve(&plan, range).map_err(|problems| Problems::of(&tree, problems))
}

/// Reads a scenario and fills in its defaults, whether or not it can work. See [`prepare`] for `file` and `sets`.
///
/// # Errors
/// Every place that does not have what the schema asks for.
pub fn read(
    source: &str,
    file: &str,
    sets: &[(String, String)],
) -> Result<(Tree, spec::ScenarioSpec), Problems> {
    let mut tree = Tree::parse(source, file).map_err(|problem| Problems::unparsed(problem, source, file))?;
    for (path, text) in sets {
        tree.set(path, text).map_err(|problem| Problems::of(&tree, vec![problem]))?;
    }
    let beside = std::path::Path::new(file).parent().unwrap_or(std::path::Path::new(""));
    let mut spec: spec::ScenarioSpec =
        variation::complete(&mut tree.root, &document::Path::default(), beside)
            .and_then(|()| document::read(&tree))
            .map_err(|problems| Problems::of(&tree, problems))?;
    spec.run.complete();
    Ok((tree, spec))
}

/// Reads, plans and runs a scenario. See [`prepare`] for `file` and `sets`.
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
    run_plan(&prepare(source, file, sets, progress)?, file, options, progress)
}

/// Runs a plan made of the scenario in `file`.
///
/// # Errors
/// An engine is asked for that does not apply, or the program has a defect.
pub fn run_plan(
    plan: &plan::Plan,
    file: &str,
    options: &Options,
    progress: &Progress,
) -> Result<Found, Problems> {
    let engine = run::engine(plan).map_err(|why| {
        let help = "remove `run.engine`, or use `events`";
        Problems::file(file, format!("`run.engine`: the recursion does not apply: {why}"), help)
    })?;
    let (outcomes, journeys) = run::run(plan, engine, options, progress);
    let results = results::of(plan, engine, &outcomes, options)
        .map_err(|broken| Problems::file(file, broken, "keep the scenario: it reproduces the defect"))?;
    Ok(Found { results, journeys })
}
