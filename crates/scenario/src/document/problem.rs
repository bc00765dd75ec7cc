//! What is wrong with a document, told so that it can be put right.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;

use super::other_names;
use super::path::Path;
use super::tree::{TextSpan, Tree};

/// One error.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The field it is about.
    pub path: Path,
    /// Message: the value found, and the reason why it is refused.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
    /// Where to point; when `None`, at the value that `path` names.
    pub span: Option<TextSpan>,
    /// True if nothing is misspelt or missing, but the load is more than the system sustains.
    pub overload: bool,
}

impl Problem {
    /// A problem with what stands at `path`.
    pub fn at(path: Path, message: impl Into<String>) -> Self {
        Self { path, message: message.into(), help: None, span: None, overload: false }
    }

    /// The same, with the fix.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Returns the problem with one more value that is possible, at the end of its help.
    pub fn or(self, other: Option<String>) -> Self {
        let help = self
            .help
            .map(|help| help + &other.map_or_else(String::new, |other| format!(", or {other} by itself")));
        Self { help, ..self }
    }

    /// Returns the problem with the name among `known` that was perhaps meant, and a list of those known: all where they are few, else the
    /// likest. Of `{key: …}` the key counts.
    pub fn nearest<K: AsRef<str>>(self, name: &str, known: impl IntoIterator<Item = K>) -> Self {
        self.suggesting(None, name, known)
    }

    /// Returns the problem with what to write for what other tools call `name`, if that is among those `known`; else with the
    /// [nearest](Self::nearest) of these.
    pub fn meant<K: AsRef<str>>(self, name: &str, known: impl IntoIterator<Item = K>) -> Self {
        let known: Vec<K> = known.into_iter().collect();
        let write = other_names::meant(name, |other| known.iter().any(|known| known.as_ref() == other));
        self.suggesting(write, name, known)
    }

    fn suggesting<K: AsRef<str>>(
        self,
        write: Option<&str>,
        name: &str,
        known: impl IntoIterator<Item = K>,
    ) -> Self {
        let name = name.to_lowercase();
        let known: Vec<(f64, K)> =
            known.into_iter().map(|known| (likeness(&name, known.as_ref()), known)).collect();
        let Some((likeness, likest)) = known.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else { return self };
        let meant = match write {
            Some(write) => format!("write `{write}`; "),
            None if *likeness > ALIKE => format!("did you mean `{}`? ", likest.as_ref()),
            None => String::new(),
        };
        if known.len() == 1 && !meant.is_empty() {
            return self.help(meant.trim_end_matches([' ', ';']).to_owned());
        }
        self.help(format!("{meant}possible are {}", listed(known)))
    }
}

/// Returns a list of names, which come with their likeness: of many, of the likest.
fn listed<K: AsRef<str>>(mut known: Vec<(f64, K)>) -> String {
    let unnamed = if known.len() > MOST_LISTED { known.len() - LIKEST } else { 0 };
    if unnamed > 0 {
        known.reverse(); // Of names that are equally like, the last is meant.
        known.sort_by(|a, b| b.0.total_cmp(&a.0));
        known.truncate(LIKEST);
    }
    let names = known.iter().map(|(_, name)| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ");
    if unnamed > 0 { format!("{names} and {unnamed} others") } else { names }
}

/// From this likeness on, a name is taken for a slip of another: `len` for `length`, but not `file` for `fit`.
const ALIKE: f64 = 1.35;

/// Number of names up to which a problem lists all that are possible.
const MOST_LISTED: usize = 60;

/// Number of names that are listed where more are possible.
const LIKEST: usize = 12;

/// Letters from which on a known name within another one is what is meant: `back` in `writeback`.
const WORD: usize = 4;

/// Returns how much a name, in lower case, is like one that is known: 0 to 2, and more if they differ by one slip, or it has the known name
/// within it.
fn likeness(name: &str, known: &str) -> f64 {
    let key = known.trim_start_matches('{').trim_end_matches(": …}").to_lowercase();
    let has_it = key.len() >= WORD && name.contains(&key);
    let slip = if has_it || strsim::damerau_levenshtein(name, &key) <= 1 { ALIKE } else { 0.0 };
    slip + strsim::jaro_winkler(name, &key) + strsim::normalized_damerau_levenshtein(name, &key)
}

/// All errors of a document, with the document.
#[derive(Clone, Debug)]
pub struct Problems {
    /// The errors, in the order of the document.
    pub problems: Vec<Problem>,
    source: Option<String>,
    file: String,
}

/// A problem as `--json` prints it.
#[derive(Serialize)]
struct ProblemRecord<'p> {
    file: &'p str,
    line: Option<u64>,
    column: Option<u64>,
    path: String,
    message: &'p str,
    help: Option<&'p str>,
    overload: bool,
}

/// Maximum number of problems shown at once.
const MOST_SHOWN: usize = 20;

impl Problems {
    /// The errors of a document that could be parsed.
    pub fn of(tree: &Tree, mut problems: Vec<Problem>) -> Self {
        for problem in &mut problems {
            if problem.span.is_none() && !problem.path.0.is_empty() {
                problem.span = tree.locate(&problem.path);
            }
        }
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.bytes.start));
        Self { problems, file: tree.file.clone(), source: Some(tree.source.clone()) }
    }

    /// A error that keeps a document from being parsed.
    pub fn unparsed(problem: Problem, source: &str, file: &str) -> Self {
        Self { problems: vec![problem], file: file.to_owned(), source: Some(source.to_owned()) }
    }

    /// A error about the file as a whole.
    pub fn file(file: &str, message: String, help: &str) -> Self {
        Self {
            problems: vec![Problem::at(Path::default(), message).help(help)],
            file: file.to_owned(),
            source: None,
        }
    }

    /// As a user reads them: each with the line it stands in.
    pub fn rendered(&self) -> String {
        let first = self.problems.iter().take(MOST_SHOWN);
        let mut shown: Vec<String> = first.map(|problem| self.render(problem)).collect();
        if self.problems.len() > MOST_SHOWN {
            shown.push(format!("and {} more", self.problems.len() - MOST_SHOWN));
        }
        shown.join("\n\n")
    }

    fn render(&self, problem: &Problem) -> String {
        let title = Level::ERROR.primary_title(&problem.message);
        let mut group = match (&problem.span, &self.source) {
            (Some(span), Some(source)) => {
                let pointer = AnnotationKind::Primary.span(span.bytes.clone());
                title.element(Snippet::source(source).path(&self.file).annotation(pointer))
            }
            (None, Some(_)) if !problem.path.0.is_empty() => title.element(Level::NOTE.message(format!(
                "`{}` was set on the command line or in Python, not in {}",
                problem.path, self.file
            ))),
            _ => title.element(Level::NOTE.message(format!("in {}", self.file))),
        };
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help));
        }
        Renderer::plain().render(&[group])
    }

    /// As a program reads them: a list of objects with file, line, column, path, message, help and overload.
    pub fn to_json(&self) -> serde_json::Value {
        let told = self.problems.iter().map(|problem| ProblemRecord {
            file: &self.file,
            line: problem.span.as_ref().map(|span| span.line),
            column: problem.span.as_ref().map(|span| span.column),
            path: problem.path.to_string(),
            message: &problem.message,
            help: problem.help.as_deref(),
            overload: problem.overload,
        });
        told.map(|told| serde_json::to_value(told).expect("strings and numbers")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(name: &str, known: &[String]) -> String {
        Problem::at(Path::default(), "").nearest(name, known).help.unwrap_or_default()
    }

    #[test]
    fn few_names_are_all_listed_and_of_many_the_likest() {
        let drives: Vec<String> = (0..MOST_LISTED as u64).map(|i| format!("drive{i}")).collect();
        assert_eq!(help("size", &[]), "");
        assert_eq!(
            help("sice", &["from".into(), "size".into()]),
            "did you mean `size`? possible are `from`, `size`"
        );
        assert_eq!(help("x", &["from".into()]), "possible are `from`");
        assert_eq!(help("drive07", &drives).matches('`').count(), 2 * (1 + MOST_LISTED));
        let more: Vec<String> = drives.into_iter().chain(["link".into()]).collect();
        let listed = help("Drive7", &more);
        assert_eq!(listed.matches('`').count(), 2 * (1 + LIKEST), "{listed}");
        assert!(listed.starts_with("did you mean `drive7`? possible are `drive7`, "), "{listed}");
        assert!(listed.ends_with(&format!(" and {} others", MOST_LISTED + 1 - LIKEST)), "{listed}");
    }
}
