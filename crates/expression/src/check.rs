//! Units of an expression: which quantities can be combined, and what the result is.

use headrace_units::Dimension;

use super::{Column, Expression, Function, ParseError, Term};

/// A dimension; `None` is a zero that fits any.
type Checked = Option<Dimension>;

impl Expression {
    /// Returns the dimension of the result for variables with these dimensions.
    pub(super) fn dimension(&self, variables: &[Dimension]) -> Result<Dimension, ParseError> {
        Ok(dimension(&self.root, variables)?.unwrap_or(Dimension::NONE))
    }
}

fn dimension(term: &Term, variables: &[Dimension]) -> Result<Checked, ParseError> {
    match term {
        Term::Number(0.0, Dimension::NONE) => Ok(None),
        Term::Number(_, dimension) => Ok(Some(*dimension)),
        Term::Variable(at) => Ok(Some(variables[*at])),
        Term::Call(function, terms, column) => {
            let of: Vec<Checked> =
                terms.iter().map(|term| dimension(term, variables)).collect::<Result<_, _>>()?;
            of_call(*function, &of, terms, *column)
        }
    }
}

fn of_call(
    function: Function,
    of: &[Checked],
    terms: &[Term],
    column: Column,
) -> Result<Checked, ParseError> {
    match function {
        Function::Negative | Function::Abs => Ok(of[0]),
        Function::Add | Function::Subtract => alike(of, "added or subtracted", column),
        Function::Min | Function::Max => alike(of, "compared", column),
        Function::Less | Function::AtMost | Function::Equal | Function::Different => {
            alike(of, "compared", column).map(|_| Some(Dimension::NONE))
        }
        Function::Multiply => Ok(product(of, 1)),
        Function::Divide => Ok(product(of, -1)),
        Function::Ceil | Function::Floor | Function::Round | Function::Log => {
            plain(of[0], "the argument of this function", column)
        }
        Function::Sqrt => half(of[0], column),
        Function::If => {
            plain(of[0], "a condition", column)?;
            alike(&of[1..], "alternatives of each other", column)
        }
        Function::Power => {
            plain(of[1], "an exponent", column)?;
            power(of[0], &terms[1], column)
        }
    }
}

fn product(of: &[Checked], sign: i32) -> Checked {
    let [first, second] = [0, 1].map(|at| of[at].unwrap_or_default());
    Some(first.times(second, sign))
}

/// Returns the dimension that all arguments share.
fn alike(of: &[Checked], done: &str, column: Column) -> Result<Checked, ParseError> {
    let mut known = of.iter().flatten();
    let Some(first) = known.next() else { return Ok(None) };
    match known.find(|other| *other != first) {
        None => Ok(Some(*first)),
        Some(other) => Err(ParseError {
            column: column.0,
            message: format!(
                "{first} and {other} cannot be {done}; divide by a unit, such as `/ 1 GB`, to get a plain number"
            ),
        }),
    }
}

/// Refuses anything that has a unit.
fn plain(found: Checked, role: &str, column: Column) -> Result<Checked, ParseError> {
    match found {
        None | Some(Dimension::NONE) => Ok(Some(Dimension::NONE)),
        Some(other) => Err(ParseError {
            column: column.0,
            message: format!(
                "{role} must be a plain number, not {other}; divide by a unit, such as `/ 1 GB`"
            ),
        }),
    }
}

/// Returns the dimension of a power: an integer that is written out is needed where the base has a unit.
fn power(base: Checked, exponent: &Term, column: Column) -> Result<Checked, ParseError> {
    match (base, exponent) {
        (None | Some(Dimension::NONE), _) => Ok(Some(Dimension::NONE)),
        (Some(base), Term::Number(number, _)) if *number == number.trunc() && number.abs() < 100.0 => {
            Ok(Some(Dimension::NONE.times(base, *number as i32)))
        }
        (base, _) => plain(base, "the base of this power", column),
    }
}

fn half(of: Checked, column: Column) -> Result<Checked, ParseError> {
    match of {
        Some(Dimension { bytes, seconds }) if bytes % 2 == 0 && seconds % 2 == 0 => {
            Ok(Some(Dimension { bytes: bytes / 2, seconds: seconds / 2 }))
        }
        other => plain(other, "the argument of `sqrt`", column),
    }
}
