//! Expressions of policies: `ceil(size_mb) * ceil(hours_since_access) ** 1.5`.
//!
//! The language is closed: numbers, the variables that a policy names, `+ - * / **`, comparisons (1 where true, else 0), parentheses and
//! the functions `ceil`, `floor`, `round`, `sqrt`, `log`, `abs`, `min`, `max` and `if(condition, then, else)`. `**` binds most
//! tightly and to the right. An expression is parsed once; an error is reported with its column.

mod parse;
mod split;

pub use parse::ParseError;
pub use split::Split;

/// An expression over variables by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Term,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    Variable(usize),
    Call(Function, Vec<Term>),
}

/// What is computed of its arguments.
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
    /// Reads an expression; `variables` are the names that it may use, and their order is that of values.
    ///
    /// # Errors
    /// What is wrong, and at which column.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, ParseError> {
        Ok(Self { root: parse::parse(text, variables)? })
    }

    /// Its value where the variables have these. A division by zero or the like gives an infinity or no number, as in IEEE 754.
    pub fn value(&self, variables: &[f64]) -> f64 {
        self.root.value(variables)
    }

    /// Whether it uses a variable.
    pub fn uses(&self, variable: usize) -> bool {
        self.root.uses(variable)
    }
}

impl Term {
    fn value(&self, variables: &[f64]) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Variable(at) => variables[*at],
            Self::Call(Function::If, of) => {
                let chosen = if of[0].value(variables) == 0.0 { &of[2] } else { &of[1] };
                chosen.value(variables)
            }
            Self::Call(function, of) => match &of[..] {
                [only] => function.of_one(only.value(variables)),
                [first, rest @ ..] => rest.iter().fold(first.value(variables), |so_far, next| {
                    function.of_two(so_far, next.value(variables))
                }),
                [] => unreachable!("the parser sees to arguments"),
            },
        }
    }

    fn uses(&self, variable: usize) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Variable(at) => *at == variable,
            Self::Call(_, of) => of.iter().any(|node| node.uses(variable)),
        }
    }
}

impl Function {
    fn of_one(self, x: f64) -> f64 {
        match self {
            Self::Negative => -x,
            Self::Ceil => libm::ceil(x),
            Self::Floor => libm::floor(x),
            Self::Round => libm::round(x),
            Self::Sqrt => libm::sqrt(x),
            Self::Log => libm::log(x),
            Self::Abs => libm::fabs(x),
            _ => x,
        }
    }

    fn of_two(self, x: f64, y: f64) -> f64 {
        let truth = |is: bool| f64::from(u8::from(is));
        match self {
            Self::Add => x + y,
            Self::Subtract => x - y,
            Self::Multiply => x * y,
            Self::Divide => x / y,
            Self::Power => libm::pow(x, y),
            Self::Less => truth(x < y),
            Self::AtMost => truth(x <= y),
            Self::Equal => truth(x == y),
            Self::Different => truth(x != y),
            Self::Min => x.min(y),
            Self::Max => x.max(y),
            _ => unreachable!("the parser gives these one argument or three"),
        }
    }
}

#[cfg(test)]
mod tests;
