//! An expression seen as a function of one variable, the others being fixed.

use super::{Expression, Function, Term};

/// An expression in two steps: parts that do not use one variable, and the rest as a function of that variable and the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    parts: Vec<Term>,
    /// Variable 0 is the one; variable `n` is part `n − 1`.
    rest: Term,
}

/// A value while the variable grows from zero on: how it changes, and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Course {
    rises: bool,
    falls: bool,
    /// Zero or more, always.
    is_positive: bool,
}

impl Course {
    const UNKNOWN: Self = Self { rises: false, falls: false, is_positive: false };

    const fn constant(is_positive: bool) -> Self {
        Self { rises: true, falls: true, is_positive }
    }

    const fn turned(self) -> Self {
        Self { rises: self.falls, falls: self.rises, is_positive: false }
    }
}

impl Expression {
    /// The expression as a function of `variable`. Parts are as large as can be.
    pub fn split(&self, variable: usize) -> Split {
        let mut parts = Vec::new();
        let rest = without(&self.root, variable, &mut parts);
        Split { parts, rest }
    }

    /// Returns true if its value can only rise, or stay, while `variable` grows and the others are fixed; all variables are zero or more.
    /// What cannot be told is no.
    pub fn rises_with(&self, variable: usize) -> bool {
        course(&self.root, variable).rises
    }
}

impl Split {
    /// The values of the parts.
    pub fn parts(&self, variables: &[f64]) -> Vec<f64> {
        self.parts.iter().map(|part| part.value(variables)).collect()
    }

    /// The value of the whole. `scratch` is memory for it.
    pub fn value(&self, variable: f64, parts: &[f64], scratch: &mut Vec<f64>) -> f64 {
        scratch.clear();
        scratch.push(variable);
        scratch.extend_from_slice(parts);
        self.rest.value(scratch)
    }
}

fn without(node: &Term, variable: usize, parts: &mut Vec<Term>) -> Term {
    match node {
        Term::Number(number, dimension) => Term::Number(*number, *dimension),
        _ if !node.uses(variable) => {
            let at = parts.iter().position(|part| part == node).unwrap_or_else(|| {
                parts.push(node.clone());
                parts.len() - 1
            });
            Term::Variable(at + 1)
        }
        Term::Variable(_) => Term::Variable(0),
        Term::Call(function, of, column) => {
            Term::Call(*function, of.iter().map(|node| without(node, variable, parts)).collect(), *column)
        }
    }
}

fn course(node: &Term, variable: usize) -> Course {
    match node {
        Term::Number(number, _) => Course::constant(*number >= 0.0),
        Term::Variable(at) if *at == variable => Course { rises: true, falls: false, is_positive: true },
        Term::Variable(_) => Course::constant(true),
        Term::Call(function, of, _) => {
            let courses: Vec<Course> = of.iter().map(|node| course(node, variable)).collect();
            let exponent = match &of[..] {
                [_, Term::Number(number, _)] => Some(*number),
                _ => None,
            };
            of_call(*function, &courses, exponent)
        }
    }
}

/// The course of a function by those of its arguments; `second` is the second of them where that is a number.
fn of_call(function: Function, of: &[Course], second: Option<f64>) -> Course {
    let all = |is: fn(&Course) -> bool| of.iter().all(is);
    let (rises, falls, positive) = (all(|c| c.rises), all(|c| c.falls), all(|c| c.is_positive));
    let (first, last) = (of[0], of[of.len() - 1]);
    let together = Course { rises, falls, is_positive: positive };
    if rises && falls {
        let is_never_negative = matches!(
            function,
            Function::Less
                | Function::AtMost
                | Function::Equal
                | Function::Different
                | Function::Abs
                | Function::Sqrt
        );
        let keeps_sign = !matches!(function, Function::Subtract | Function::Negative | Function::Log);
        return Course::constant(is_never_negative || (keeps_sign && positive));
    }
    match function {
        Function::Add
        | Function::Ceil
        | Function::Floor
        | Function::Round
        | Function::Min
        | Function::Max => together,
        Function::Sqrt => Course { is_positive: true, ..together },
        Function::Log => Course { is_positive: false, ..together },
        Function::Multiply if positive => together,
        Function::Negative => first.turned(),
        Function::Subtract => {
            let turned = last.turned();
            Course {
                rises: first.rises && turned.rises,
                falls: first.falls && turned.falls,
                is_positive: false,
            }
        }
        Function::Divide if positive => {
            let turned = last.turned();
            Course {
                rises: first.rises && turned.rises,
                falls: first.falls && turned.falls,
                is_positive: true,
            }
        }
        Function::Power if first.is_positive => match second {
            Some(exponent) if exponent >= 0.0 => Course { is_positive: true, ..first },
            Some(_) => Course { is_positive: true, ..first.turned() },
            None => Course::UNKNOWN,
        },
        // `a < b` becomes true, and stays so, where b rises and a falls.
        Function::Less | Function::AtMost => {
            Course { rises: last.rises && first.falls, falls: last.falls && first.rises, is_positive: true }
        }
        _ => Course::UNKNOWN,
    }
}
