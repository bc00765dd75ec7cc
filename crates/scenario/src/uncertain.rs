//! Values of a scenario that are known only approximately: `uncertain: {system.host.submit: 5 us..12 us}`.
//!
//! A value may follow others, since a measurement often says better what two values do together than what each is: `95 us..105 us and 109 us..82 us
//! with system.host.submit` is an interval of the value where the other is as the scenario has it, and what it would be at both ends of the
//! other's interval.

use crate::document::{Path, Problem, Tree};
use crate::spec::ScenarioSpec;

/// Returns a problem for each uncertain value that is no interval, whose ends cannot stand at its path, or that follows what is not before it.
pub fn problems(tree: &Tree, spec: &ScenarioSpec) -> Vec<Problem> {
    let values = spec.uncertain.iter().enumerate();
    values.filter_map(|(at, (path, told))| problem(tree, spec, (at, path), told).err()).collect()
}

fn problem(tree: &Tree, spec: &ScenarioSpec, (at, path): (usize, &str), told: &str) -> Result<(), Problem> {
    let here = |message| Problem::at(Path::of(&["uncertain", path]), message);
    for (nth, part) in told.split(" and ").enumerate() {
        let (span, follows) =
            part.split_once(" with ").map_or((part, None), |(span, of)| (span, Some(of.trim())));
        if follows.is_some() != (nth > 0) {
            let help =
                "write its 95 % interval first: `95 us..105 us and 109 us..82 us with system.host.submit`";
            return Err(here(format!("`{told}` is not LOW..HIGH and LOW..HIGH with PATH")).help(help));
        }
        if let Some(other) =
            follows.filter(|other| spec.uncertain.get_index_of(*other).is_none_or(|index| index >= at))
        {
            let help = "name a value that stands before this one";
            return Err(here(format!("`{other}` is no uncertain value before `{path}`")).help(help));
        }
        let Some((low, high)) = span.split_once("..") else {
            let help = "write its 95 % interval: `5 us..12 us`";
            return Err(here(format!("`{span}` is not LOW..HIGH")).help(help));
        };
        if let Some(wrong) = [low, high].into_iter().find_map(|end| with(tree, path, end).err()) {
            let message = format!("`{path}` cannot be {span}: {}", wrong.message);
            return Err(Problem { help: wrong.help, ..here(message) });
        }
    }
    Ok(())
}

/// Reads the scenario with another value.
fn with(tree: &Tree, path: &str, value: &str) -> Result<(), Problem> {
    let mut tree = tree.clone();
    tree.set(path, value.trim())?;
    ScenarioSpec::read(&mut tree)
        .map(|_| ())
        .map_err(|problems| problems.into_iter().next().expect("an error has a cause"))
}
