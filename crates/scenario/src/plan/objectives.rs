//! Objectives: the share of requests of a stream, or of one of its operations, that is to be answered in time.

use headrace_stats::{Histogram, histogram::QUANTILE_ERROR};
use headrace_units::{Fraction, Nanos};
use headrace_work::Op;

use crate::document::{Path, Problem};
use crate::operation::Operation;
use crate::spec::ScenarioSpec;

use super::stream::StreamPlan;

/// A share of requests that is to be answered within a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The stream or operation, as it is written.
    pub name: String,
    /// In full: `users`, or `users.reads`.
    pub of: String,
    /// The stream, by its place in the workload.
    pub stream: usize,
    /// The operation; none for all requests of the stream.
    pub operation: Option<Operation>,
    /// The share that is to be answered in time.
    pub share: f64,
    /// The time.
    pub within: Nanos,
}

impl Objective {
    /// Returns the share of a distribution of response times that is in time; a request that takes longer by less than the
    /// resolution of the distribution, 0.05 %, is in time.
    pub fn share_of(&self, responses: &Histogram) -> f64 {
        responses.cdf(Nanos::from_ns(self.within.ns() * (1.0 + QUANTILE_ERROR)))
    }
}

/// Returns the objectives of a scenario in the order in which they are written; what is wrong with them goes to `problems`.
pub fn of(spec: &ScenarioSpec, streams: &[StreamPlan], problems: &mut Vec<Problem>) -> Vec<Objective> {
    let mut found = Vec::new();
    for (name, text) in &spec.objectives {
        let path = Path::of(&["objectives", name]);
        match aimed_at(name, streams) {
            Ok((of, stream, operation)) => {
                for (share, within) in text.split(" and ").filter_map(|one| read(one, &path, problems)) {
                    let (name, of) = (name.clone(), of.clone());
                    found.push(Objective { name, of, stream, operation, share, within });
                }
            }
            Err(known) => {
                let problem = Problem::at(path, format!("no stream or operation is called `{name}`"));
                problems.push(problem.nearest(name, known));
            }
        }
    }
    found
}

/// A stream or an operation of one, with its full name: `users`, or `users.reads`.
type Aim = (String, usize, Option<Operation>);

/// Returns the stream and operation of a name, or the names that there are.
fn aimed_at(name: &str, streams: &[StreamPlan]) -> Result<Aim, Vec<String>> {
    let every: Vec<Aim> = streams.iter().enumerate().flat_map(|(at, stream)| aims(at, stream)).collect();
    let whole = every.iter().find(|(known, ..)| known == name);
    let end = format!(".{name}");
    let mut by_operation = every.iter().filter(|(known, ..)| known.ends_with(&end));
    match (whole, by_operation.next(), by_operation.next()) {
        (Some(found), ..) | (None, Some(found), None) => Ok(found.clone()),
        _ => Err(every.into_iter().map(|(known, ..)| known).collect()),
    }
}

/// Returns what objectives of a stream can be about: itself, and each of its operations. Of a stream with one operation, that of its blocks
/// means all of it.
fn aims(at: usize, stream: &StreamPlan) -> Vec<Aim> {
    let several = stream.operations();
    let mut found = vec![(stream.name.clone(), at, None)];
    found.extend(several.iter().map(|&op| (format!("{}.{}", stream.name, plural(op)), at, Some(op))));
    if several.is_empty() && !stream.is_recorded() {
        let only = if stream.spec.op.reads() > 0.0 { "reads" } else { "writes" };
        found.push((format!("{}.{only}", stream.name), at, None));
    }
    found
}

/// Returns the name of an operation as results have it.
fn plural(operation: Operation) -> &'static str {
    match operation {
        Operation::Block(Op::Read) => "reads",
        Operation::Block(Op::Write) => "writes",
        other => other.name(),
    }
}

/// Returns `99 % within 1 ms` for `p99 < 1 ms`, which says the same of a quantile.
fn of_quantile(text: &str) -> Option<String> {
    let (quantile, time) = text.split_once('<')?;
    let share: f64 = quantile.trim().strip_prefix('p')?.parse().ok()?;
    Some(format!("{share} % within {}", time.trim_start_matches('=').trim()))
}

/// Returns the share and the time of `99 % within 10 min`.
fn read(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<(f64, Nanos)> {
    let example = of_quantile(text).unwrap_or_else(|| "99 % within 10 min".to_owned());
    let mut wrong = |message: String| {
        let problem = Problem::at(path.clone(), message);
        problems.push(problem.help(format!("write a share and a time, such as `{example}`")));
    };
    let Some((share, within)) = text.split_once(" within ") else {
        wrong(format!("`{}` is not an objective", text.trim()));
        return None;
    };
    match (share.trim().parse::<Fraction>(), within.trim().parse::<Nanos>()) {
        (Ok(share), Ok(within)) if share.0 > 0.0 && share.0 <= 1.0 && within.0 > 0 => Some((share.0, within)),
        (Err(error), _) | (_, Err(error)) => {
            wrong(format!("`{}`: {error}", text.trim()));
            None
        }
        _ => {
            wrong(format!("`{}`: the share is above 0 % and at most 100 %, the time above 0 s", text.trim()));
            None
        }
    }
}
