//! A document as a tree that knows where everything stands in its text.

use std::fmt;
use std::path::Path as FilePath;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_saphyr::{DuplicateKeyPolicy, Location, Spanned};

use super::Problem;
use super::path::{Path, PathStep};

/// Where a piece of text stands. Lines and columns count from one; bytes are a range of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSpan {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
    /// The bytes.
    pub bytes: std::ops::Range<usize>,
}

/// A value and where it stands; `None` where it was not in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueNode {
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub span: Option<TextSpan>,
}

/// Value of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, number, truth or nothing.
    Scalar(Json),
    /// A list.
    List(Vec<ValueNode>),
    /// A map, its keys in the order of the text, repeated ones included.
    Map(Vec<(Key, ValueNode)>),
}

/// A key of a map and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Option<TextSpan>,
}

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The text it was parsed from.
    pub source: String,
    /// The file's name, as the user wrote it.
    pub file: String,
    /// Its content.
    pub root: ValueNode,
}

/// The most values of a document, maps and lists included: 40,000 components of a few fields each, read in a second.
const MOST_VALUES: usize = 500_000;

/// What the parser says of usual mistakes, and the fix.
const YAML_HELP: [(&str, &str); 2] = [
    (
        "mapping values are not allowed",
        "is a `:` missing at the end of the line before, or is this line indented further than others beside it?",
    ),
    ("tabs disallowed", "indent with spaces"),
];

impl Tree {
    /// Parses `source`, which came from `file`. YAML's own errors come one at a time.
    pub fn parse(source: &str, file: &str) -> Result<Self, Problem> {
        let options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::PassThrough,
            with_snippet: false,
            strict_booleans: true, // A disk may be called `y` or `on`.
            budget: serde_saphyr::budget! { max_nodes: MOST_VALUES, max_events: 4 * MOST_VALUES },
        };
        let root =
            serde_saphyr::from_str_with_options::<Spanned<ValueNode>>(source, options).map_err(|error| {
                let span = error.location().and_then(|at| TextSpan::at_column(at, source));
                let text = error.without_snippet().to_string();
                let text = match text.split(" at line ").next().unwrap_or(&text) {
                    several if several.contains("from_str_multiple") => {
                        "it has several documents, and a scenario is one"
                    }
                    large if large.contains("budget breached: Nodes") => {
                        "it has more than 500,000 values; alike components can be copies of one part, and alike streams one stream"
                    }
                    other => other,
                };
                let problem = Problem { span, ..Problem::at(Path::default(), format!("invalid YAML: {text}")) };
                let known = YAML_HELP.iter().find(|(what, _)| text.contains(what));
                known.map_or(problem.clone(), |(_, help)| problem.help(*help))
            })?;
        let mut tree = Self { source: source.to_owned(), file: file.to_owned(), root: located(root) };
        tree.root.shorten_spans(source);
        Ok(tree)
    }

    /// Returns the folder that the document's own files lie in.
    pub fn folder(&self) -> &FilePath {
        FilePath::new(&self.file).parent().unwrap_or(FilePath::new(""))
    }

    /// Replaces what `path` (`workload.users.size`) names with `text`, read as YAML, or adds it there. `null` removes it.
    pub fn set(&mut self, path: &str, text: &str) -> Result<(), Problem> {
        let wrong = |message: String| Problem::at(Path::default(), message);
        if let Some(dotted) = with_dots(path) {
            return Err(wrong(format!("`{path}`: an item of a list is set by its number: `{dotted}`")));
        }
        let mut value =
            Self::parse(text, "").map_err(|problem| wrong(format!("`{path}`: {}", problem.message)))?.root;
        value.forget_spans();
        let mut node = &mut self.root;
        // Names are free: a new one may well resemble another, and only a place below it shows that it is misspelt. The schema checks
        // fields.
        let steps: Vec<&str> = path.split('.').collect();
        let is_name = |depth: usize| depth == 1 && matches!(steps[0], "system" | "workload" | "parts");
        let mut within = "";
        for (depth, step) in steps.iter().copied().enumerate() {
            if within == "device" {
                node.open_name();
            }
            within = step;
            let is_new_name = is_name(depth) && depth + 1 == steps.len();
            let near = if is_new_name { None } else { node.nearly(step, depth == 0 || is_name(depth)) };
            if let Some(near) = near {
                return Err(wrong(format!("`{path}`: there is no `{step}`; did you mean `{near}`?")));
            }
            if let (Value::List(items), false) = (&node.value, step.parse::<usize>().is_ok()) {
                let list = steps[..depth].join(".");
                let has_fields = items.first().is_some_and(|item| matches!(item.value, Value::Map(_)));
                let below = if has_fields { format!(".{}", steps[depth..].join(".")) } else { String::new() };
                return Err(wrong(format!(
                    "`{path}`: `{list}` is a list: write `{list}.0{below}` for its first item"
                )));
            }
            if let (Value::List(items), Ok(at)) = (&node.value, step.parse::<usize>())
                && at >= items.len()
            {
                let (list, many) = (steps[..depth].join("."), items.len());
                return Err(wrong(format!(
                    "`{path}`: there is no item {at} in `{list}`, which has {many}, numbered from 0"
                )));
            }
            node = node.child_to_set(step).ok_or_else(|| {
                wrong(format!("`{path}`: `{step}` cannot be set: its parent has no such field"))
            })?;
        }
        if value.value == Value::Scalar(Json::Null) {
            self.remove(path);
            return Ok(());
        }
        *node = value;
        Ok(())
    }

    /// Returns what stands at a path of names.
    pub fn child_mut(&mut self, path: &[&str]) -> Option<&mut ValueNode> {
        path.iter().try_fold(&mut self.root, |node, name| {
            let Value::Map(entries) = &mut node.value else { return None };
            entries.iter_mut().find(|(key, _)| key.name == *name).map(|(_, child)| child)
        })
    }

    /// Puts a node at a path of names, in place of what stands there. A scalar on the way has no children and is left as it is.
    pub fn put(&mut self, path: &[&str], node: ValueNode) {
        if let Some(place) = path.iter().try_fold(&mut self.root, |node, name| node.child_to_set(name)) {
            *place = node;
        }
    }

    /// Removes what stands at `path`.
    pub fn remove(&mut self, path: &str) {
        self.root.remove(path);
    }

    /// Where what `path` names stands, or the nearest that contains it. `None` for what was [set](Tree::set).
    pub fn locate(&self, path: &Path) -> Option<TextSpan> {
        let mut node = &self.root;
        for step in &path.0 {
            let child = match (&node.value, step) {
                (Value::Map(entries), PathStep::Key(name)) => {
                    entries.iter().find(|(key, _)| key.name == *name).map(|(_, child)| child)
                }
                (Value::List(items), PathStep::Index(index)) => items.get(*index),
                _ => None,
            };
            match child {
                Some(child) => node = child,
                None => break,
            }
        }
        node.span.clone()
    }

    /// The document without its places.
    pub fn to_json(&self) -> Json {
        self.root.to_json()
    }
}

/// Returns a path whose items of lists are in brackets, as in messages, with dots: `faults.0.fails`; `None` if none are.
fn with_dots(path: &str) -> Option<String> {
    let is_item = |step: &str| {
        let number = step.strip_suffix(']').and_then(|step| step.split_once('[')).map(|(_, number)| number);
        number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    path.split('.').any(is_item).then(|| path.replace('[', ".").replace(']', ""))
}

impl From<&Json> for ValueNode {
    fn from(json: &Json) -> Self {
        let value = match json {
            Json::Array(items) => Value::List(items.iter().map(Self::from).collect()),
            Json::Object(fields) => {
                let entry = |(name, field): (&String, &Json)| {
                    (Key { name: name.clone(), span: None }, Self::from(field))
                };
                Value::Map(fields.iter().map(entry).collect())
            }
            scalar => Value::Scalar(scalar.clone()),
        };
        Self { value, span: None }
    }
}

impl ValueNode {
    /// Returns the child `name` of a map.
    pub fn child(&self, name: &str) -> Option<&Self> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// It without its places.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Scalar(scalar) => scalar.clone(),
            Value::List(items) => items.iter().map(ValueNode::to_json).collect(),
            Value::Map(entries) => {
                entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect()
            }
        }
    }

    /// A key of this map that `name`, which it does not have, is likely to be a misspelling of. A map of fields may lack one that
    /// resembles another; a single key is a choice, which a second one would contradict.
    fn nearly(&self, name: &str, has_names: bool) -> Option<&str> {
        let Value::Map(entries) = &self.value else { return None };
        if !has_names && entries.len() > 1 {
            return None;
        }
        let keys = || entries.iter().map(|(key, _)| key.name.as_str());
        let alike = |key: &&str| strsim::normalized_damerau_levenshtein(key, name) >= 0.8;
        keys().all(|key| key != name).then(|| keys().find(alike)).flatten()
    }

    /// Makes the name of a device a variation of that device, so that its fields can be set.
    fn open_name(&mut self) {
        if let Value::Scalar(Json::String(_)) = &self.value {
            let key = Key { name: "like".to_owned(), span: self.span.clone() };
            let open = Self { value: Value::Map(Vec::new()), span: self.span.clone() };
            let name = std::mem::replace(self, open);
            self.value = Value::Map(vec![(key, name)]);
        }
    }

    /// The child `name` of a map, which is added where it is missing, or the item of that number of a list.
    fn child_to_set(&mut self, name: &str) -> Option<&mut ValueNode> {
        let entries = match &mut self.value {
            Value::Map(entries) => entries,
            Value::List(items) => return items.get_mut(name.parse::<usize>().ok()?),
            Value::Scalar(_) => return None,
        };
        let at = entries.iter().position(|(key, _)| key.name == name).unwrap_or_else(|| {
            let empty = ValueNode { value: Value::Map(Vec::new()), span: None };
            entries.push((Key { name: name.to_owned(), span: None }, empty));
            entries.len() - 1
        });
        Some(&mut entries[at].1)
    }

    /// Removes the key that `path` names from its map.
    fn remove(&mut self, path: &str) {
        let Value::Map(entries) = &mut self.value else { return };
        match path.split_once('.') {
            None => entries.retain(|(key, _)| key.name != path),
            Some((name, rest)) => {
                let children = entries.iter_mut().filter(|(key, _)| key.name == name);
                children.for_each(|(_, child)| child.remove(rest));
            }
        }
    }

    /// Returns the text of the document at this node, for messages.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Scalar(Json::String(text)) if text.chars().count() > 80 => {
                format!("`{}…`", text.chars().take(80).collect::<String>())
            }
            Value::Scalar(Json::String(text)) => format!("`{text}`"),
            Value::Scalar(Json::Null) => "empty".to_owned(),
            Value::Scalar(scalar) => format!("`{scalar}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map of fields".to_owned(),
        }
    }

    fn visit_spans(&mut self, change: &mut impl FnMut(&mut Option<TextSpan>)) {
        change(&mut self.span);
        match &mut self.value {
            Value::Scalar(_) => {}
            Value::List(items) => items.iter_mut().for_each(|item| item.visit_spans(change)),
            Value::Map(entries) => entries.iter_mut().for_each(|(key, node)| {
                change(&mut key.span);
                node.visit_spans(change);
            }),
        }
    }

    fn forget_spans(&mut self) {
        self.set_spans(None);
    }

    /// Has all of it stand in one place: where it is asked for, if it comes from another text.
    pub fn set_spans(&mut self, at: Option<&TextSpan>) {
        self.visit_spans(&mut |span| *span = at.cloned());
    }

    fn shorten_spans(&mut self, source: &str) {
        self.visit_spans(&mut |span| *span = span.take().and_then(|span| span.first_line(source)));
    }
}

impl TextSpan {
    /// Where the parser says it was.
    fn at(at: Location) -> Option<Self> {
        let start = usize::try_from(at.span().byte_offset()?).ok()?;
        let length = usize::try_from(at.span().byte_len()?).ok()?;
        Some(Self { line: at.line(), column: at.column(), bytes: start..start + length })
    }

    /// One character, by its line and column: errors of the scanner name no bytes.
    fn at_column(at: Location, source: &str) -> Option<Self> {
        let (line, column) = (usize::try_from(at.line()).ok()?, usize::try_from(at.column()).ok()?);
        let start: usize = source.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
        let before: usize = source[start..].chars().take(column.checked_sub(1)?).map(char::len_utf8).sum();
        Self { line: at.line(), column: at.column(), bytes: start + before..start + before }
            .first_line(source)
    }

    /// As much of it as stands on its first line: enough to point at it.
    fn first_line(self, source: &str) -> Option<Self> {
        let start = self.bytes.start.min(source.len());
        let text = source.get(start..self.bytes.end.min(source.len()))?;
        let shown = text.split('\n').next().unwrap_or_default().trim_end();
        let end = (start + shown.len().max(1)).min(source.len());
        source.is_char_boundary(end).then_some(Self { bytes: start..end, ..self })
    }
}

fn located(spanned: Spanned<ValueNode>) -> ValueNode {
    ValueNode { span: TextSpan::at(spanned.referenced), ..spanned.value }
}

impl<'de> Deserialize<'de> for ValueNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

fn scalar<E>(value: impl Into<Json>) -> Result<ValueNode, E> {
    Ok(ValueNode { value: Value::Scalar(value.into()), span: None })
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = ValueNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list or a map")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<ValueNode, E> {
        scalar(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<ValueNode, E> {
        scalar(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<ValueNode, E> {
        scalar(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<ValueNode, E> {
        // `1e5` is a whole number too.
        if value >= 0.0 && value == value.trunc() && value < 9e15 {
            scalar(value as u64)
        } else {
            scalar(value)
        }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<ValueNode, E> {
        scalar(value)
    }

    fn visit_unit<E: de::Error>(self) -> Result<ValueNode, E> {
        scalar(Json::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<ValueNode, E> {
        scalar(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<ValueNode, D::Error> {
        ValueNode::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ValueNode, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<ValueNode>>()? {
            list.push(located(item));
        }
        Ok(ValueNode { value: Value::List(list), span: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ValueNode, A::Error> {
        let mut map = Vec::new();
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, Spanned<ValueNode>>()? {
            map.push((Key { name: key.value, span: TextSpan::at(key.referenced) }, located(node)));
        }
        Ok(ValueNode { value: Value::Map(map), span: None })
    }
}
