//! Validation of a tree against a JSON Schema, with readable messages for all errors.
//!
//! Only what schemars makes of our types is understood: objects, lists, scalars with bounds, quantities (`x-unit`), and
//! choices of three kinds: by a field `type`, by the name of the one key or the bare word, and by shape.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::ends;
use super::other_names;
use super::path::Path;
use super::problem::Problem;
use super::tree::{Key, Tree, Value, ValueNode};
use super::wanted::{either, kind_in_words, list, only_key, ways, words};

/// Every way in which `tree`, which stands at `path` of a document, differs from `schema`.
pub fn check(tree: &Tree, schema: &Json, path: &Path) -> Vec<Problem> {
    let mut checker = Checker { root: schema, problems: Vec::new() };
    checker.node(&tree.root, schema, path);
    ends::complete(tree, &mut checker.problems);
    checker.problems
}

struct Checker<'s> {
    root: &'s Json,
    problems: Vec<Problem>,
}

/// The first sentence of what the schema says of itself.
fn description(schema: &Json) -> Option<&str> {
    let text = schema["description"].as_str()?;
    Some(text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first))
}

/// The value of `type` that chooses this alternative.
fn tag(schema: &Json) -> Option<&str> {
    schema["properties"]["type"]["const"].as_str()
}

fn has_type(schema: &Json, name: &str) -> bool {
    schema["type"] == name || list(schema, "type").iter().any(|kind| kind == name)
}

/// Forms of a scalar that stands for a quantity.
fn scalar_text(scalar: &Json) -> String {
    scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned)
}

impl<'s> Checker<'s> {
    fn say(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The alternatives of a schema, references followed and nested choices opened; itself where it has none.
    fn alternatives(&self, schema: &'s Json) -> Vec<&'s Json> {
        if let Some(reference) = schema["$ref"].as_str()
            && schema["properties"].is_null()
        {
            let target = self.root.pointer(reference.trim_start_matches('#'));
            return self.alternatives(target.expect("a reference of our own schema leads somewhere"));
        }
        let keyword = if schema["oneOf"].is_null() { "anyOf" } else { "oneOf" };
        let choices = list(schema, keyword);
        if choices.is_empty() {
            return vec![schema];
        }
        choices.iter().flat_map(|choice| self.alternatives(choice)).collect()
    }

    fn node(&mut self, node: &ValueNode, schema: &'s Json, path: &Path) {
        let before = self.problems.len();
        self.value(node, &self.alternatives(schema), path);
        // Two definitions of one name share a path, so the path alone would not find the place.
        for problem in self.problems[before..].iter_mut().filter(|problem| problem.path == *path) {
            problem.span = problem.span.take().or_else(|| node.span.clone());
        }
    }

    fn value(&mut self, node: &ValueNode, alternatives: &[&'s Json], path: &Path) {
        let of_type = |names: &[&str]| -> Vec<&'s Json> {
            let fits = |schema: &Json| names.iter().any(|name| has_type(schema, name));
            alternatives.iter().copied().filter(|schema| fits(schema)).collect()
        };
        match &node.value {
            Value::Map(entries) => match of_type(&["object"]).as_slice() {
                [] => self.wrong_kind(node, alternatives, path),
                objects => {
                    self.repeated(entries, path);
                    self.map(entries, objects, alternatives, path);
                }
            },
            Value::List(items) => match of_type(&["array"]).as_slice() {
                [] => self.wrong_kind(node, alternatives, path),
                arrays => self.list(items, arrays[0], path),
            },
            Value::Scalar(scalar) => {
                let scalars = of_type(&["string", "number", "integer", "boolean", "null"]);
                self.scalar(node, scalar, &scalars, alternatives, path);
            }
        }
    }

    fn map(&mut self, entries: &[(Key, ValueNode)], objects: &[&'s Json], all: &[&'s Json], path: &Path) {
        if objects.iter().any(|object| tag(object).is_some()) {
            // Where a map of names may stand too, what is written in place says its type.
            let is_type = |(key, node): &(Key, ValueNode)| {
                key.name == "type" && matches!(node.value, Value::Scalar(Json::String(_)))
            };
            let by_name = objects.iter().find(|object| object["additionalProperties"].is_object());
            return match by_name {
                Some(by_name) if !entries.iter().any(is_type) => self.object(entries, by_name, path),
                _ => self.tagged(entries, objects, path),
            };
        }
        if all.len() > 1 && objects.iter().all(|object| only_key(object).is_some()) {
            return self.by_key(entries, objects, all, path);
        }
        let known = |object: &Json| {
            entries.iter().filter(|(key, _)| !object["properties"][&key.name].is_null()).count()
        };
        let best = objects.iter().max_by_key(|object| known(object)).expect("there is an object to choose");
        self.object(entries, best, path);
    }

    /// A choice by the field `type`.
    fn tagged(&mut self, entries: &[(Key, ValueNode)], objects: &[&'s Json], path: &Path) {
        let tags: Vec<&str> = objects.iter().filter_map(|object| tag(object)).collect();
        let Some((_, node)) = entries.iter().find(|(key, _)| key.name == "type") else {
            let missing = Problem::at(path.clone(), format!("{} needs a `type`", named(path)));
            return self.say(missing.meant(&last(path), tags));
        };
        let Value::Scalar(Json::String(name)) = &node.value else {
            return self
                .say(Problem::at(path.key("type"), format!("`type` is {}", node.shown())).nearest("", tags));
        };
        match objects.iter().find(|object| tag(object) == Some(name)) {
            Some(object) => self.object(entries, object, path),
            None => {
                let unknown = Problem::at(path.key("type"), format!("there is no type `{name}`"));
                self.say(unknown.meant(name, tags));
            }
        }
    }

    /// A choice by the name of the only key.
    fn by_key(&mut self, entries: &[(Key, ValueNode)], objects: &[&'s Json], all: &[&'s Json], path: &Path) {
        let names = || all.iter().flat_map(|schema| ways(schema));
        let [(key, _)] = entries else {
            let found: Vec<String> = entries.iter().map(|(key, _)| format!("`{}`", key.name)).collect();
            let found = format!(
                "{} names {} kinds, {}; it must name one",
                named(path),
                found.len(),
                found.join(" and ")
            );
            return self.say(Problem::at(path.clone(), found).nearest("", names()));
        };
        match objects.iter().find(|object| only_key(object) == Some(&key.name)) {
            Some(object) => self.object(entries, object, path),
            None if all.iter().any(|schema| words(schema).contains(&key.name.as_str())) => {
                let problem = Problem::at(path.clone(), format!("`{}` takes no value", key.name));
                let others = objects.iter().filter_map(|object| only_key(object));
                let field = last(path);
                let or: String = others.map(|other| format!(", or `{field}: {{{other}: …}}`")).collect();
                self.say(Problem { span: key.span.clone(), ..problem }.help(format!(
                    "write `{}: {}`{or}",
                    last(path),
                    key.name
                )));
            }
            None => {
                let problem = Problem::at(path.clone(), format!("unknown {}: `{}`", last(path), key.name));
                let nearest = Problem { span: key.span.clone(), ..problem }.meant(&key.name, names());
                self.say(nearest.or(quantity_in_words(all)));
            }
        }
    }

    fn object(&mut self, entries: &[(Key, ValueNode)], schema: &'s Json, path: &Path) {
        // A tagged variant names its own type beside a reference to the rest.
        let base = schema["$ref"]
            .as_str()
            .and_then(|reference| self.root.pointer(reference.trim_start_matches('#')));
        let layers: Vec<&'s Json> = std::iter::once(schema).chain(base).collect();
        let property =
            |name: &str| layers.iter().map(|layer| &layer["properties"][name]).find(|found| !found.is_null());
        let others =
            layers.iter().map(|layer| &layer["additionalProperties"]).find(|found| found.is_object());
        for (key, node) in entries {
            match property(&key.name).or(others) {
                Some(schema) => self.node(node, schema, &path.key(&key.name)),
                None => self.unknown_field(key, &layers, path),
            }
        }
        for name in layers.iter().flat_map(|layer| list(layer, "required")).filter_map(Json::as_str) {
            if !entries.iter().any(|(key, _)| key.name == name) {
                let what = property(name).and_then(|schema| self.described(schema));
                let problem = Problem::at(path.clone(), format!("{} needs a field `{name}`", named(path)));
                self.say(match what {
                    Some(what) => problem.help(format!("`{name}`: {what}")),
                    None => problem,
                });
            }
        }
    }

    /// What a field is for, and how its values are written unless that says it.
    fn described(&self, schema: &'s Json) -> Option<String> {
        let what = description(schema)?;
        let mut ways = self.alternatives(schema).into_iter().filter(|_| !what.contains('`'));
        let example = ways.find_map(|schema| schema["examples"][0].as_str());
        Some(example.map_or_else(|| what.to_owned(), |example| format!("{what}; written like `{example}`")))
    }

    fn unknown_field(&mut self, key: &Key, layers: &[&'s Json], path: &Path) {
        let known = layers.iter().filter_map(|layer| layer["properties"].as_object());
        let known: Vec<&str> = known.flat_map(|properties| properties.keys().map(String::as_str)).collect();
        let message = format!("{} has no field `{}`", named(path), key.name);
        let problem = Problem { span: key.span.clone(), ..Problem::at(path.key(&key.name), message) };
        self.say(problem.meant(&key.name, known));
    }

    fn repeated(&mut self, entries: &[(Key, ValueNode)], path: &Path) {
        let mut known: BTreeMap<&str, &Key> = BTreeMap::new();
        for (key, _) in entries {
            let first = *known.entry(&key.name).or_insert(key);
            if std::ptr::eq(first, key) {
                continue;
            }
            let line = first.span.as_ref().map_or_else(String::new, |span| format!(" on line {}", span.line));
            let message = format!("`{}` is defined twice; the first definition is{line}", key.name);
            let problem = Problem { span: key.span.clone(), ..Problem::at(path.key(&key.name), message) };
            self.say(problem.help("names must differ: rename one, or take it out"));
        }
    }

    fn list(&mut self, items: &[ValueNode], schema: &'s Json, path: &Path) {
        let count = items.len() as u64;
        let (least, most) = (schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"].as_u64());
        if count < least || most.is_some_and(|most| count > most) {
            let message = match most {
                None => format!("{} must not be empty", named(path)),
                Some(most) => format!("{} has {count} items; it must have {most}", named(path)),
            };
            return self.say(Problem::at(path.clone(), message));
        }
        for (index, item) in items.iter().enumerate() {
            // A tuple has a schema for each item, a list one for all.
            let of = schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
            self.node(item, of, &path.index(index));
        }
    }

    fn scalar(
        &mut self,
        node: &ValueNode,
        scalar: &Json,
        scalars: &[&'s Json],
        all: &[&'s Json],
        path: &Path,
    ) {
        let names: Vec<&str> = scalars.iter().flat_map(|schema| words(schema)).collect();
        if scalar.is_null() && scalars.iter().any(|schema| has_type(schema, "null")) {
            return;
        }
        if let Some(quantity) = scalars.iter().find(|schema| !schema["x-unit"].is_null()) {
            return self.quantity(scalar, quantity, path);
        }
        let plain: Vec<&&Json> = scalars.iter().filter(|schema| words(schema).is_empty()).collect();
        let word = scalar.as_str();
        if word.is_some_and(|word| names.contains(&word)) {
            return;
        }
        if let Some(schema) = plain.iter().find(|schema| is_of_type(scalar, schema)) {
            return self.bounds(scalar, schema, path);
        }
        let meant = self.under_a_key(scalar, all);
        if !meant.is_empty() {
            let message = format!("unknown {}: `{}`", last(path), scalar_text(scalar));
            return self.say(Problem::at(path.clone(), message).help(format!("write {}", either(&meant))));
        }
        let keys: Vec<&str> = all.iter().filter_map(|schema| only_key(schema)).collect();
        match word {
            Some(word) if keys.contains(&word) => {
                let problem = Problem::at(path.clone(), format!("`{word}` needs a value"));
                let or = names.iter().map(|name| format!(", or `{name}`")).collect::<String>();
                self.say(problem.help(format!("write `{{{word}: …}}` with what it needs{or}")));
            }
            Some(word) if word.split_once(' ').is_some_and(|(first, _)| keys.contains(&first)) => {
                let (first, rest) = word.split_once(' ').expect("it has a space");
                let problem = Problem::at(path.clone(), format!("unknown {}: `{word}`", last(path)));
                self.say(problem.help(format!("write `{{{first}: {rest}}}`")));
            }
            Some(word) if !names.is_empty() || !keys.is_empty() => {
                let problem = Problem::at(path.clone(), format!("unknown {}: `{word}`", last(path)));
                let nearest = problem.meant(word, all.iter().flat_map(|schema| ways(schema)));
                self.say(nearest.or(quantity_in_words(all)));
            }
            _ => match names.iter().find(|name| scalar.is_u64() && name.ends_with(&scalar_text(scalar))) {
                Some(meant) => {
                    let message = format!("unknown {}: `{}`", last(path), scalar_text(scalar));
                    let ways = all.iter().flat_map(|schema| ways(schema));
                    self.say(Problem::at(path.clone(), message).nearest(meant, ways));
                }
                None => self.wrong_scalar(node, scalar, all, path),
            },
        }
    }

    /// A number or a word where none can be, or not this one: another name for one that is known, or what belongs into a field.
    fn wrong_scalar(&mut self, node: &ValueNode, scalar: &Json, all: &[&'s Json], path: &Path) {
        let (text, ways) = (scalar_text(scalar), || all.iter().flat_map(|schema| ways(schema)));
        let problem = Self::of_wrong_kind(node, all, path);
        let help = other_names::meant(&text, |name| ways().any(|way| way == name))
            .map(|write| format!("write `{write}`"))
            .or_else(|| all.iter().find_map(|schema| self.in_its_field(scalar, schema)));
        self.say(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    /// Returns how to write a value in the field of a map that needs no other, if it may stand there.
    fn in_its_field(&self, scalar: &Json, schema: &'s Json) -> Option<String> {
        let [field] = list(schema, "required") else { return None };
        let field = field.as_str()?;
        let mut may_be = self.alternatives(&schema["properties"][field]).into_iter();
        may_be
            .any(|schema| {
                schema["x-unit"].is_null() && is_of_type(scalar, schema) && is_within(scalar, schema)
            })
            .then(|| format!("write `{{{field}: {}}}`", scalar_text(scalar)))
    }

    /// Returns under which keys this quantity may stand, with its unit or, for a bare number, with the first example's.
    fn under_a_key(&self, scalar: &Json, all: &[&'s Json]) -> Vec<String> {
        let text = scalar_text(scalar);
        let is_quantity = |unit: &str, text: &str| {
            headrace_units::document::read(unit, text).is_some_and(|read| read.is_ok())
        };
        let mut found = Vec::new();
        for (key, of) in
            all.iter().filter_map(|schema| only_key(schema).map(|key| (key, &schema["properties"][key])))
        {
            for of in self.alternatives(of) {
                let Some(unit) = of["x-unit"].as_str() else { continue };
                let example = of["examples"][0].as_str().unwrap_or_default();
                let with_unit = format!("{text} {}", example.split_once(' ').map_or("", |(_, unit)| unit));
                let meant = [text.clone(), with_unit].into_iter().find(|text| is_quantity(unit, text));
                found.extend(meant.map(|text| format!("`{{{key}: {text}}}`")));
            }
        }
        found
    }

    fn quantity(&mut self, scalar: &Json, schema: &Json, path: &Path) {
        let unit = schema["x-unit"].as_str().unwrap_or_default();
        if let Some(Err(error)) = headrace_units::document::read(unit, &scalar_text(scalar)) {
            self.say(Problem::at(path.clone(), format!("{}: {error}", named(path))));
        }
    }

    fn bounds(&mut self, scalar: &Json, schema: &Json, path: &Path) {
        let Some(number) = scalar.as_f64() else { return };
        if !is_within(scalar, schema) {
            let (least, most) = bounds_of(schema);
            let bound = |bound: Option<f64>, word: &str| bound.map(|bound| format!("{word} {bound}"));
            let wanted: Vec<String> =
                [bound(least, "at least"), bound(most, "at most")].into_iter().flatten().collect();
            let message = format!("{} is {number}; it must be {}", named(path), wanted.join(" and "));
            self.say(Problem::at(path.clone(), message));
        }
    }

    fn wrong_kind(&mut self, node: &ValueNode, alternatives: &[&'s Json], path: &Path) {
        let problem = Self::of_wrong_kind(node, alternatives, path);
        self.say(problem);
    }

    fn of_wrong_kind(node: &ValueNode, alternatives: &[&'s Json], path: &Path) -> Problem {
        let mut wanted: Vec<String> = alternatives.iter().map(|schema| kind_in_words(schema)).collect();
        wanted.dedup();
        let message = format!("{} is {}; it must be {}", named(path), node.shown(), either(&wanted));
        Problem::at(path.clone(), message)
    }
}

/// Returns what kind of quantity may stand there by itself; `None` if none may.
fn quantity_in_words(alternatives: &[&Json]) -> Option<String> {
    alternatives.iter().find(|schema| !schema["x-unit"].is_null()).map(|schema| kind_in_words(schema))
}

/// The field a path ends in; of a text that is one value, that.
fn last(path: &Path) -> String {
    match path.0.last() {
        Some(super::PathStep::Key(name)) => name.clone(),
        Some(super::PathStep::Index(index)) => format!("item {}", index + 1),
        None => "value".to_owned(),
    }
}

/// The same as the subject of a sentence: a name in quotes; the document itself for the empty path.
fn named(path: &Path) -> String {
    match path.0.last() {
        Some(super::PathStep::Key(name)) => format!("`{name}`"),
        Some(super::PathStep::Index(_)) => last(path),
        None => "the document".to_owned(),
    }
}

/// Returns the bounds of a number.
fn bounds_of(schema: &Json) -> (Option<f64>, Option<f64>) {
    let widest = (schema["format"] == "uint32").then_some(f64::from(u32::MAX));
    (schema["minimum"].as_f64(), schema["maximum"].as_f64().or(widest))
}

/// Returns true if a scalar is no number, or one within the bounds of a schema.
fn is_within(scalar: &Json, schema: &Json) -> bool {
    let (Some(number), (least, most)) = (scalar.as_f64(), bounds_of(schema)) else { return true };
    least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
}

fn is_of_type(scalar: &Json, schema: &Json) -> bool {
    match scalar {
        Json::String(_) => has_type(schema, "string"),
        Json::Bool(_) => has_type(schema, "boolean"),
        Json::Null => has_type(schema, "null"),
        Json::Number(number) if number.is_f64() => has_type(schema, "number"),
        _ => has_type(schema, "integer") || has_type(schema, "number"),
    }
}
