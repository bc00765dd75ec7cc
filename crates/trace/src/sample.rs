//! Samples of times: a file with a value on each line, or columns of a CSV file.

use std::path::Path;

use headrace_units::{Nanos, UnitError};
use headrace_work::{EmpiricalSpec, Invalid, MOST_VALUES};

use crate::fields::{Fields, MOST, scaled, shown};
use crate::lines::Lines;

/// Reads the values of a sample with their weights from the file at `path`.
///
/// # Errors
/// The field of `spec` at fault: the file cannot be read, has no such column, or a line has no time.
pub fn sample(path: &Path, spec: &EmpiricalSpec) -> Result<Vec<(Nanos, f64)>, Invalid> {
    check(spec)?;
    let of_file = |why: String| Invalid::new("file", format!("{}: {why}", path.display()));
    let mut lines = Lines::open(path).map_err(|error| of_file(error.to_string()))?;
    let (mut places, mut found) = (spec.column.is_none().then_some((0, None)), Vec::new());
    while let Some((line, _)) = lines.next().map_err(|error| of_file(error.to_string()))? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(places) = places else {
            places = Some(columns(spec, line).map_err(|problem| of_column(path, problem))?);
            continue;
        };
        let read = value(spec, places, line);
        found.push(read.map_err(|problem| Invalid {
            message: format!("{}, line {}: {}", path.display(), lines.number, problem.message),
            ..problem
        })?);
        if found.len() > MOST_VALUES {
            let help = Some("give each value once, and a column of how often it occurs: `weight`");
            return Err(Invalid { help, ..of_file(format!("more than {MOST_VALUES} values")) });
        }
    }
    if found.is_empty() { Err(of_file("it has no values".to_owned())) } else { Ok(found) }
}

/// Fields that make no sense together.
fn check(spec: &EmpiricalSpec) -> Result<(), Invalid> {
    if spec.weight.is_some() && spec.column.is_none() {
        let help = Some("name the column of the values with `column`");
        let message = "`weight` is a column, and the file of a list has none";
        return Err(Invalid { help, ..Invalid::new("weight", message) });
    }
    if spec.unit.is_some_and(|unit| unit.0 == 0) {
        return Err(Invalid::new("unit", "a unit of zero leaves no times; use at least 1 ns"));
    }
    Ok(())
}

fn of_column(path: &Path, problem: Invalid) -> Invalid {
    Invalid { message: format!("{}: {}", path.display(), problem.message), ..problem }
}

/// The places of the columns of values and of weights, by the header.
fn columns(spec: &EmpiricalSpec, header: &[u8]) -> Result<(usize, Option<usize>), Invalid> {
    let fields = Fields::by_comma(header);
    let all = |at| String::from_utf8_lossy(fields.get(at)).trim_matches('"').to_owned();
    let place = |field: &str, name: &str| {
        let known: Vec<String> = (0..fields.count).map(all).collect();
        known.iter().position(|column| column == name).ok_or_else(|| {
            let message =
                format!("no column `{name}` among the first {MOST}; the header has {}", known.join(", "));
            Invalid::new(field, message)
        })
    };
    let value = place("column", spec.column.as_deref().unwrap_or_default())?;
    let weight = spec.weight.as_deref().map(|name| place("weight", name)).transpose()?;
    Ok((value, weight))
}

/// The value of a line, and how often it occurs.
fn value(
    spec: &EmpiricalSpec,
    (value, weight): (usize, Option<usize>),
    line: &[u8],
) -> Result<(Nanos, f64), Invalid> {
    let fields = Fields::by_comma(line);
    let of_file = |why: String| Invalid::new("file", why);
    if memchr::memchr(b'"', line).is_some() {
        return Err(of_file("quoted fields are not supported; remove the quotes".to_owned()));
    }
    let time = match spec.unit {
        Some(unit) => scaled(fields.get(value), unit.0, "time").map(Nanos).map_err(of_file),
        None => with_unit(&shown(fields.get(value))),
    };
    let weight = weight.map_or(Ok(1.0), |at| {
        let text = shown(fields.get(at));
        let number = text.parse::<f64>().ok().filter(|number| (0.0..=1e12).contains(number));
        number.ok_or_else(|| of_file(format!("`{text}` is not a valid weight")))
    });
    Ok((time?, weight?))
}

fn with_unit(text: &str) -> Result<Nanos, Invalid> {
    text.parse().map_err(|error: UnitError| {
        let help = matches!(error, UnitError::NoUnit { .. }).then_some("give the unit of all: `unit: 1 ms`");
        Invalid { help, ..Invalid::new("file", error.to_string()) }
    })
}
