//! Expressions of numbers and quantities: `ceil(size_mb) * hours_since_access ** 1.5`, `8000 * drives + 20 * volume / 1 TB`.
//!
//! The language is closed: numbers, quantities (`64 KiB`, `8 ms`, `150 MB/s`, `50 /s`, `70 %`), variables, `+ - * / **`, comparisons (1 if
//! true, otherwise 0), parentheses and the functions `ceil`, `floor`, `round`, `sqrt`, `log`, `abs`, `min`, `max` and
//! `if(condition, then, else)`. `**` binds most tightly and to the right. A number followed by a word is a quantity. A variable is a name or
//! a path of names: `system.volume.disks`, `groups[0].drives`.
//!
//! An expression is parsed once. Errors of syntax and of units (a size plus a time) report their column.
//!
//! ```
//! use headrace_expression::Expression;
//! let cost = Expression::open("8000 * drives + 20 * volume / 1 TB")?;
//! assert_eq!(cost.names(), ["drives", "volume"]);
//! let cost = cost.quantity(&["4".parse().unwrap(), "500 GB".parse().unwrap()])?;
//! assert_eq!(cost.number, 32_010.0);
//! # Ok::<(), headrace_expression::ParseError>(())
//! ```

mod check;
mod parse;
mod split;

use headrace_units::{Dimension, Quantity};

pub use parse::ParseError;
pub use split::Split;

/// An expression over variables, numbered in the order of their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Term,
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    /// A literal in base units. A zero without a unit is a zero of any dimension.
    Number(f64, Dimension),
    Variable(usize),
    Call(Function, Vec<Term>, Column),
}

/// Column of an operator or function. Terms are equal wherever they stand.
#[derive(Clone, Copy, Debug)]
struct Column(usize);

impl PartialEq for Column {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A function has at most this many arguments; the parser splits a minimum of more than two.
const MOST_ARGUMENTS: usize = 3;

/// Operators and functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Negative,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    AtMost,
    Equal,
    Different,
    Ceil,
    Floor,
    Round,
    Sqrt,
    Log,
    Abs,
    Min,
    Max,
    If,
}

impl Expression {
    /// Parses an expression of plain numbers over the given variables. Values are passed in the order of `variables`.
    ///
    /// # Errors
    /// Reports an error of syntax, an unknown name, or a result that has a unit.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, ParseError> {
        let expression = parse::parse(text, variables.iter().map(ToString::to_string).collect(), false)?;
        let dimension = expression.dimension(&vec![Dimension::NONE; variables.len()])?;
        match dimension {
            Dimension::NONE => Ok(expression),
            other => {
                Err(ParseError { column: 1, message: format!("the result is {other}, not a plain number") })
            }
        }
    }

    /// Parses an expression in which every name that is not a function is a variable; see [`Self::names`].
    ///
    /// # Errors
    /// Reports an error of syntax.
    pub fn open(text: &str) -> Result<Self, ParseError> {
        parse::parse(text, Vec::new(), true)
    }

    /// Names of the variables, in the order in which values are passed.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Evaluates the expression for numbers in base units, without a check of units. A division by zero or the like gives an infinity or
    /// NaN, as in IEEE 754.
    ///
    /// # Panics
    /// If there are fewer values than names.
    pub fn value(&self, variables: &[f64]) -> f64 {
        self.root.value(variables)
    }

    /// Evaluates the expression for quantities.
    ///
    /// # Errors
    /// Reports quantities that cannot be combined, such as a size plus a time, and a result that is not finite.
    ///
    /// # Panics
    /// If there are fewer values than names.
    pub fn quantity(&self, variables: &[Quantity]) -> Result<Quantity, ParseError> {
        let dimensions: Vec<Dimension> = variables.iter().map(|variable| variable.dimension).collect();
        let dimension = self.dimension(&dimensions)?;
        let numbers: Vec<f64> = variables.iter().map(|variable| variable.number).collect();
        match self.value(&numbers) {
            number if number.is_finite() => Ok(Quantity { number, dimension }),
            number => Err(ParseError {
                column: 1,
                message: format!("the result is {number}: a division by zero, or an overflow"),
            }),
        }
    }

    /// Returns true if the expression uses a variable.
    pub fn uses(&self, variable: usize) -> bool {
        self.root.uses(variable)
    }
}

impl Term {
    fn value(&self, variables: &[f64]) -> f64 {
        match self {
            Self::Number(number, _) => *number,
            Self::Variable(at) => variables[*at],
            Self::Call(function, of, _) => {
                let mut values = [0.0; MOST_ARGUMENTS];
                for (value, term) in values.iter_mut().zip(of) {
                    *value = term.value(variables);
                }
                function.value(values)
            }
        }
    }

    fn uses(&self, variable: usize) -> bool {
        match self {
            Self::Number(..) => false,
            Self::Variable(at) => *at == variable,
            Self::Call(_, of, _) => of.iter().any(|node| node.uses(variable)),
        }
    }
}

impl Function {
    /// The value for the arguments, of which a function may use fewer than are there.
    fn value(self, [x, y, z]: [f64; MOST_ARGUMENTS]) -> f64 {
        let truth = |is: bool| f64::from(u8::from(is));
        match self {
            Self::Negative => -x,
            Self::Add => x + y,
            Self::Subtract => x - y,
            Self::Multiply => x * y,
            Self::Divide => x / y,
            Self::Power => libm::pow(x, y),
            Self::Less => truth(x < y),
            Self::AtMost => truth(x <= y),
            Self::Equal => truth(x == y),
            Self::Different => truth(x != y),
            Self::Ceil => libm::ceil(x),
            Self::Floor => libm::floor(x),
            Self::Round => libm::round(x),
            Self::Sqrt => libm::sqrt(x),
            Self::Log => libm::log(x),
            Self::Abs => libm::fabs(x),
            Self::Min => x.min(y),
            Self::Max => x.max(y),
            Self::If if x == 0.0 => z,
            Self::If => y,
        }
    }
}

#[cfg(test)]
mod tests;
