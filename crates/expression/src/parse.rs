//! From text to an expression, by recursive descent.

use headrace_units::{Dimension, Nanos, Quantity, counted};

use super::{Column, Expression, Function, Term};

/// An error in an expression and its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Position in characters, from one.
    pub column: usize,
    /// Cause, and how to correct it.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

/// Deeper nesting is refused: the parser and what evaluates call themselves.
const MAX_DEPTH: usize = 50;

/// Maximum number of operators: `1 + 1 + …` is as deep as it is long.
const MAX_OPERATORS: usize = 1000;

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

/// Parses an expression over the variables `names`; with `open`, other names become variables too.
pub(super) fn parse(text: &str, names: Vec<String>, open: bool) -> Result<Expression, ParseError> {
    let mut parser = Descent { text, at: 0, names, open, depth: 0, operators: 0 };
    let root = parser.level(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.wrong(parser.at, format!("`{}` is unexpected", parser.rest_shown())));
    }
    Ok(Expression { root, names: parser.names })
}

/// A function of its arguments. Those of a minimum or maximum are compared two by two, as in a tournament: terms then nest least.
fn called(function: Function, mut of: Vec<Term>, column: Column) -> Term {
    let compares = matches!(function, Function::Min | Function::Max);
    if compares && of.len() == 1 {
        return of.remove(0);
    }
    if compares && of.len() > 2 {
        let rest = of.split_off(of.len() / 2);
        of = vec![called(function, of, column), called(function, rest, column)];
    }
    Term::Call(function, of, column)
}

struct Descent<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
    names: Vec<String>,
    open: bool,
    depth: usize,
    operators: usize,
}

impl<'t> Descent<'t> {
    fn wrong(&self, at: usize, message: String) -> ParseError {
        ParseError { column: self.column(at).0, message }
    }

    fn column(&self, at: usize) -> Column {
        Column(self.text[..at].chars().count() + 1)
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
        while let Some((token, function, swapped)) = self.operator(operators) {
            let column = self.operates(token.len())?;
            let right = self.level(level + 1)?;
            let of = if *swapped { vec![right, left] } else { vec![left, right] };
            left = Term::Call(*function, of, column);
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

    /// Counts the operator of this length that was just taken; returns its column.
    fn operates(&mut self, length: usize) -> Result<Column, ParseError> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(self.wrong(self.at, format!("more than {MAX_OPERATORS} operators")));
        }
        Ok(self.column(self.at - length))
    }

    fn signed(&mut self) -> Result<Term, ParseError> {
        if self.takes("-") {
            let column = self.operates(1)?;
            return Ok(Term::Call(Function::Negative, vec![self.nested(Self::signed)?], column));
        }
        let base = self.atom()?;
        if self.takes("**") {
            let column = self.operates(2)?;
            return Ok(Term::Call(Function::Power, vec![base, self.nested(Self::signed)?], column));
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

    /// Parses a number, or a quantity where a unit follows.
    fn number(&mut self) -> Result<Term, ParseError> {
        let start = self.at;
        let (number, text) = self.plain_number()?;
        let before = self.at;
        self.blanks();
        let units = self.units();
        if units.is_empty() {
            self.at = before;
            return Ok(Term::Number(number, Dimension::NONE));
        }
        let mut quantities = units.iter().map(|unit| (unit, format!("{text} {unit}").parse::<Quantity>()));
        match quantities.clone().find_map(|(unit, read)| Some((unit, read.ok()?))) {
            Some((unit, Quantity { number, dimension })) => {
                self.at += unit.len();
                Ok(Term::Number(number, dimension))
            }
            // What follows a slash may be a variable.
            None if units[0].starts_with('/') => {
                self.at = before;
                Ok(Term::Number(number, Dimension::NONE))
            }
            None => {
                let error =
                    quantities.next_back().and_then(|(_, read)| read.err()).expect("no unit was read");
                Err(self.wrong(start, self.misread(units[units.len() - 1], &error.to_string())))
            }
        }
    }

    fn plain_number(&mut self) -> Result<(f64, &'t str), ParseError> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let digits =
            |from: usize| (from..bytes.len()).find(|at| !is_of_number(bytes[*at])).unwrap_or(bytes.len());
        self.at = digits(start);
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(self.at + 1), Some(b'+' | b'-')));
            if bytes.get(self.at + 1 + sign).is_some_and(u8::is_ascii_digit) {
                self.at = digits(self.at + 1 + sign);
            }
        }
        let text = &self.text[start..self.at];
        let number = text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.wrong(start, format!("`{text}` is not a number")))?;
        Ok((number, text))
    }

    /// Returns the texts that may be the unit of a number just read, the longest first: `MB/s`, then `MB`.
    fn units(&self) -> Vec<&'t str> {
        let rest = self.rest();
        let word = if rest.starts_with('%') { 1 } else { word(rest) };
        let (first, after) = (&rest[..word], &rest[word..]);
        if self.is_name(first) {
            return Vec::new();
        }
        let over = after
            .strip_prefix('/')
            .map(|time| (time.trim_start(), &time.trim_start()[..self::word(time.trim_start())]));
        let is_time = |time: &str| !self.is_name(time) && format!("1 {time}").parse::<Nanos>().is_ok();
        let with_time = over.filter(|(rest, time)| is_time(time) && !continues(&rest[time.len()..]));
        let long =
            with_time.map(|(rest_of_time, time)| &rest[..rest.len() - rest_of_time.len() + time.len()]);
        long.into_iter().chain(Some(first).filter(|first| !first.is_empty())).collect()
    }

    fn is_name(&self, word: &str) -> bool {
        self.names.iter().any(|name| name == word) || FUNCTIONS.iter().any(|(name, ..)| *name == word)
    }

    fn misread(&self, unit: &str, error: &str) -> String {
        if self.open {
            format!("{error}; write `*` before `{unit}` if it is a field")
        } else {
            error.to_owned()
        }
    }

    fn named(&mut self) -> Result<Term, ParseError> {
        let start = self.at;
        let name = self.path();
        if let Some(variable) = self.names.iter().position(|known| *known == name) {
            return Ok(Term::Variable(variable));
        }
        let Some(&(_, function, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            return self.new_name(start, name);
        };
        let of = self.arguments(start, &name)?;
        if of.len() < least || of.len() > most {
            let more = if least == most { "" } else { "at least " };
            let wanted = counted(least as u64, "argument");
            return Err(self.wrong(start, format!("`{name}` takes {more}{wanted}, not {}", of.len())));
        }
        Ok(called(function, of, self.column(start)))
    }

    /// Takes a name, or a path of names and numbers: `groups[0].drives` is `groups.0.drives`.
    fn path(&mut self) -> String {
        let rest = self.rest();
        let mut end = word_of_name(rest);
        loop {
            let tail = &rest[end..];
            let index =
                tail.strip_prefix('[').and_then(|inner| inner.split_once(']')).map(|(number, _)| number);
            let digits =
                index.filter(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
            end += match (digits, tail.strip_prefix('.').map(word_of_name)) {
                (Some(number), _) => number.len() + 2,
                (None, Some(length)) if length > 0 => length + 1,
                _ => break,
            };
        }
        self.at += end;
        rest[..end].replace('[', ".").replace(']', "")
    }

    fn new_name(&mut self, start: usize, name: String) -> Result<Term, ParseError> {
        if self.open && !self.rest().trim_start().starts_with('(') {
            self.names.push(name);
            return Ok(Term::Variable(self.names.len() - 1));
        }
        Err(self.wrong(start, self.unknown(&name)))
    }

    fn unknown(&self, name: &str) -> String {
        let functions: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        let functions = functions.join(", ");
        if self.open {
            return format!("unknown function `{name}`; functions are {functions}");
        }
        format!("unknown name `{name}`; variables are {}; functions are {functions}", self.names.join(", "))
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

const fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'_')
}

/// Returns the length of the letters that a text begins with.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len())
}

/// Returns the length of the name that a text begins with.
fn word_of_name(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Returns true if a word before this text is a part of something longer than a unit.
fn continues(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | '('))
}
