//! Values of a scenario that are known only approximately: `uncertain: {system.host.submit: 5 us..12 us}`.

use crate::document::{Path, Problem, Tree};
use crate::spec::ScenarioSpec;

/// Returns a problem for each uncertain value that is no interval, or whose ends cannot stand at its path.
pub fn problems(tree: &Tree, spec: &ScenarioSpec) -> Vec<Problem> {
    spec.uncertain.iter().filter_map(|(path, span)| problem(tree, path, span)).collect()
}

fn problem(tree: &Tree, path: &str, span: &str) -> Option<Problem> {
    let at = Path::of(&["uncertain", path]);
    let Some((low, high)) = span.split_once("..") else {
        let help = "write its 95 % interval: `5 us..12 us`";
        return Some(Problem::at(at, format!("`{span}` is not LOW..HIGH")).help(help));
    };
    let wrong = [low, high].into_iter().find_map(|end| with(tree, path, end).err())?;
    let message = format!("`{path}` cannot be {span}: {}", wrong.message);
    Some(Problem { help: wrong.help, ..Problem::at(at, message) })
}

/// Reads the scenario with another value.
fn with(tree: &Tree, path: &str, value: &str) -> Result<(), Problem> {
    let mut tree = tree.clone();
    tree.set(path, value.trim())?;
    ScenarioSpec::read(&mut tree)
        .map(|_| ())
        .map_err(|problems| problems.into_iter().next().expect("an error has a cause"))
}
