//! From text to an expression, by recursive descent.

use headrace_units::counted;

use super::{Function, Term};

/// What is wrong with the text of an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Counted in characters, from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

/// Deeper nesting is refused: the parser and what evaluates call themselves.
const MAX_DEPTH: usize = 50;

/// Operators by how tightly they bind, the loosest first; longer ones before those they begin with. The flag swaps the operands.
const LEVELS: [&[(&str, Function, bool)]; 3] = [
    &[
        ("<=", Function::AtMost, false),
        (">=", Function::AtMost, true),
        ("==", Function::Equal, false),
        ("!=", Function::Different, false),
        ("<", Function::Less, false),
        (">", Function::Less, true),
    ],
    &[("+", Function::Add, false), ("-", Function::Subtract, false)],
    &[("*", Function::Multiply, false), ("/", Function::Divide, false)],
];

/// Functions, with the least and the largest number of arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 9] = [
    ("ceil", Function::Ceil, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("round", Function::Round, 1, 1),
    ("sqrt", Function::Sqrt, 1, 1),
    ("log", Function::Log, 1, 1),
    ("abs", Function::Abs, 1, 1),
    ("min", Function::Min, 2, 100),
    ("max", Function::Max, 2, 100),
    ("if", Function::If, 3, 3),
];

pub(super) fn parse(text: &str, variables: &[&str]) -> Result<Term, ParseError> {
    let mut parser = Descent { text, at: 0, variables, depth: 0 };
    let root = parser.level(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.wrong(parser.at, format!("`{}` is unexpected", parser.rest_shown())));
    }
    Ok(root)
}

struct Descent<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
    variables: &'t [&'t str],
    depth: usize,
}

impl<'t> Descent<'t> {
    fn wrong(&self, at: usize, message: String) -> ParseError {
        ParseError { column: self.text[..at].chars().count() + 1, message }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn rest_shown(&self) -> String {
        self.rest().chars().take(20).collect()
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes `token` if it is next.
    fn takes(&mut self, token: &str) -> bool {
        self.blanks();
        let is = self.rest().starts_with(token);
        self.at += if is { token.len() } else { 0 };
        is
    }

    /// Operators of this level and of those that bind more tightly.
    fn level(&mut self, level: usize) -> Result<Term, ParseError> {
        let Some(operators) = LEVELS.get(level) else { return self.signed() };
        let mut left = self.level(level + 1)?;
        while let Some((_, function, swapped)) = self.operator(operators) {
            let right = self.level(level + 1)?;
            let of = if *swapped { vec![right, left] } else { vec![left, right] };
            left = Term::Call(*function, of);
        }
        Ok(left)
    }

    fn operator<'o>(
        &mut self,
        operators: &'o [(&str, Function, bool)],
    ) -> Option<&'o (&'o str, Function, bool)> {
        self.blanks();
        let is_power = self.rest().starts_with("**");
        let found = operators.iter().find(|(token, ..)| self.rest().starts_with(token) && !is_power)?;
        self.at += found.0.len();
        Some(found)
    }

    fn signed(&mut self) -> Result<Term, ParseError> {
        if self.takes("-") {
            return Ok(Term::Call(Function::Negative, vec![self.nested(Self::signed)?]));
        }
        let base = self.atom()?;
        if self.takes("**") {
            return Ok(Term::Call(Function::Power, vec![base, self.nested(Self::signed)?]));
        }
        Ok(base)
    }

    /// Parses what may contain itself.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong(self.at, format!("nested more than {MAX_DEPTH} deep")));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn atom(&mut self) -> Result<Term, ParseError> {
        self.blanks();
        let start = self.at;
        match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.nested(|parser| parser.level(0))?;
                self.close(start)?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(),
            Some(_) => Err(self.wrong(
                start,
                format!(
                    "`{}` is unexpected; a number, a variable or a function belongs here",
                    self.rest_shown()
                ),
            )),
            None => Err(self.wrong(
                start,
                "the expression ends here; a number, a variable or a function belongs here".to_owned(),
            )),
        }
    }

    fn close(&mut self, opened: usize) -> Result<(), ParseError> {
        if self.takes(")") {
            Ok(())
        } else {
            Err(self.wrong(opened, "this parenthesis is not closed".to_owned()))
        }
    }

    fn number(&mut self) -> Result<Term, ParseError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let is_part = |at: usize| {
            let sign_of_exponent = matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
            bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.' || (at > start && sign_of_exponent)
        };
        self.at = (start..bytes.len()).find(|at| !is_part(*at)).unwrap_or(bytes.len());
        let text = &self.text[start..self.at];
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Term::Number).ok_or_else(|| self.wrong(start, format!("`{text}` is not a number")))
    }

    fn named(&mut self) -> Result<Term, ParseError> {
        let start = self.at;
        let end = self.rest().find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        let name = &self.rest()[..end];
        self.at += end;
        if let Some(variable) = self.variables.iter().position(|known| *known == name) {
            return Ok(Term::Variable(variable));
        }
        let Some(&(_, function, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            return Err(self.wrong(start, self.unknown(name)));
        };
        let of = self.arguments(start, name)?;
        if of.len() < least || of.len() > most {
            let more = if least == most { "" } else { "at least " };
            let wanted = counted(least as u64, "argument");
            return Err(self.wrong(start, format!("`{name}` takes {more}{wanted}, not {}", of.len())));
        }
        Ok(Term::Call(function, of))
    }

    fn unknown(&self, name: &str) -> String {
        let functions: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        let (variables, functions) = (self.variables.join(", "), functions.join(", "));
        format!("unknown name `{name}`; variables are {variables}; functions are {functions}")
    }

    fn arguments(&mut self, start: usize, name: &str) -> Result<Vec<Term>, ParseError> {
        let opened = self.at;
        if !self.takes("(") {
            return Err(self.wrong(start, format!("`{name}` is a function: write `{name}(…)`")));
        }
        let mut of = vec![self.nested(|parser| parser.level(0))?];
        while self.takes(",") {
            of.push(self.nested(|parser| parser.level(0))?);
        }
        self.close(opened)?;
        Ok(of)
    }
}
