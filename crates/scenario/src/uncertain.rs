//! Values of a scenario that are known only approximately: `uncertain: {system.host.submit: 5 us..12 us}`.
//!
//! A value may follow others, since a measurement often says better what two values do together than what each is: `95 us..105 us and 109 us..82 us
//! with system.host.submit` is an interval of the value where the other is as the scenario has it, and what it would be at both ends of the
//! other's interval.

use crate::document::{Path, Problem, Tree};
use crate::spec::ScenarioSpec;

/// Returns a problem for each uncertain value that is no interval, whose ends cannot stand at its path, or that follows what is not before it.
pub fn problems(tree: &Tree, spec: &ScenarioSpec) -> Vec<Problem> {
    let of = |(path, told): (&String, &String)| {
        let at = Path::of(&["uncertain", path]);
        told.split(" and ").enumerate().find_map(|(nth, part)| problem(tree, spec, (path, nth), part, &at))
    };
    spec.uncertain.iter().filter_map(of).collect()
}

/// Returns the problem of the `nth` part of what is said of a value: its own interval, or what it is with another.
fn problem(
    tree: &Tree,
    spec: &ScenarioSpec,
    (path, nth): (&str, usize),
    part: &str,
    at: &Path,
) -> Option<Problem> {
    let here = |message| Problem::at(at.clone(), message);
    let (span, other) = part.split_once(" with ").map_or((part, None), |(span, of)| (span, Some(of.trim())));
    if other.is_some() != (nth > 0) {
        let help = "write its 95 % interval first: `95 us..105 us and 109 us..82 us with system.host.submit`";
        return Some(here(format!("`{part}` is not LOW..HIGH, or behind it LOW..HIGH with PATH")).help(help));
    }
    if let Some(other) = other.filter(|other| !is_before(spec, other, path)) {
        let message = format!("`{other}` is no uncertain value before `{path}`");
        return Some(here(message).help("name a value that stands before this one"));
    }
    let Some((low, high)) = span.split_once("..") else {
        let help = "write its 95 % interval: `5 us..12 us`";
        return Some(here(format!("`{span}` is not LOW..HIGH")).help(help));
    };
    let wrong = [low, high].into_iter().find_map(|end| with(tree, path, end).err())?;
    let message = format!("`{path}` cannot be {span}: {}", wrong.message);
    Some(Problem { help: wrong.help, ..here(message) })
}

/// Returns true if a value stands before another.
fn is_before(spec: &ScenarioSpec, one: &str, other: &str) -> bool {
    let index = |path| spec.uncertain.get_index_of(path);
    index(one).is_some_and(|at| Some(at) < index(other))
}

/// Reads the scenario with another value.
fn with(tree: &Tree, path: &str, value: &str) -> Result<(), Problem> {
    let mut tree = tree.clone();
    tree.set(path, value.trim())?;
    ScenarioSpec::read(&mut tree)
        .map(|_| ())
        .map_err(|problems| problems.into_iter().next().expect("an error has a cause"))
}
