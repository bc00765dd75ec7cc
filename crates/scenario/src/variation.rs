//! Devices that vary another one: `device: {like: seagate-st3500630ns, rotation: 10000 rpm}`. Before a document is checked
//! against its schema, what it does not give is taken from the other device and marked as an estimate.

use std::path::{Path as FilePath, PathBuf};

use serde_json::Value as Json;

use crate::catalog;
use crate::document::{Key, Path, Problem, TextSpan, Value, ValueNode};

/// The field that names the other device.
const LIKE: &str = "like";

/// Returns the files of the devices that a document in the folder `beside` names by their paths.
pub fn named(node: &ValueNode, beside: &FilePath) -> Vec<PathBuf> {
    let Value::Map(entries) = &node.value else { return Vec::new() };
    let of = |(key, inner): &(Key, ValueNode)| match &inner.value {
        Value::Scalar(Json::String(name)) if key.name == "device" || key.name == LIKE => {
            catalog::path(name, beside).into_iter().collect()
        }
        _ => named(inner, beside),
    };
    entries.iter().flat_map(of).collect()
}

/// Completes every device under `node` that varies another one, for a document in the folder `beside`.
///
/// # Errors
/// Every device that varies one which does not exist, or whose file has errors.
pub fn complete(node: &mut ValueNode, path: &Path, beside: &FilePath) -> Result<(), Vec<Problem>> {
    let Value::Map(entries) = &mut node.value else { return Ok(()) };
    let mut problems = Vec::new();
    for (key, inner) in entries {
        let path = path.key(&key.name);
        let done = if key.name == "device" {
            device(inner, &path, beside).map_err(|problem| vec![problem])
        } else {
            complete(inner, &path, beside)
        };
        problems.extend(done.err().unwrap_or_default());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Completes one device, if it varies another.
///
/// # Errors
/// There is no other of that name, or its file has errors.
pub fn device(node: &mut ValueNode, path: &Path, beside: &FilePath) -> Result<(), Problem> {
    device_like(node, path, beside, &mut Vec::new())
}

/// Completes a device that others are like, whose names were `seen`.
fn device_like(
    node: &mut ValueNode,
    path: &Path,
    beside: &FilePath,
    seen: &mut Vec<String>,
) -> Result<(), Problem> {
    let Some(like) = node.child(LIKE) else { return Ok(()) };
    let Value::Scalar(Json::String(name)) = &like.value else { return Ok(()) };
    let (name, span) = (name.clone(), like.span.clone());
    let at = path.key(LIKE);
    let unknown = || {
        let known = catalog::candidates(&name, beside);
        let message = format!("there is no device `{name}`");
        Problem::at(at.clone(), message).nearest(&name, known.iter().map(String::as_str))
    };
    let broken = |why: String| Problem::at(at.clone(), format!("the file of `{name}` has errors")).help(why);
    let tree = catalog::written(&name, beside).ok_or_else(unknown)?;
    let mut base = tree.map_err(|problems| broken(problems.rendered()))?.root;
    if seen.contains(&name) {
        let message = format!("`{name}` is like a device that is like it");
        return Err(Problem::at(at, message).help("give one of them all fields"));
    }
    seen.push(name.clone());
    device_like(&mut base, path, beside, seen)?;
    base.set_spans(span.as_ref());
    mark(&mut base, &name);
    if let Value::Map(given) = &mut node.value {
        given.retain(|(key, _)| key.name != LIKE);
    }
    vary(&mut base, node, &name);
    base.put("validation", Json::from(format!("not validated: a variation of {name}")));
    *node = base;
    Ok(())
}

/// Marks every number of the other device as an estimate for this one.
fn mark(base: &mut ValueNode, name: &str) {
    let Value::Map(entries) = &mut base.value else { return };
    if entries.iter().all(|(key, _)| key.name != "value") {
        return entries.iter_mut().for_each(|(_, inner)| mark(inner, name));
    }
    let text = |node: &ValueNode| node.to_json().as_str().map(str::to_owned);
    let origin = entries.iter().find(|(key, _)| key.name != "value").and_then(|(_, origin)| text(origin));
    let origin = origin.map_or_else(String::new, |origin| format!(": {origin}"));
    entries.retain(|(key, _)| key.name == "value");
    base.put("estimate", Json::from(format!("as {name}{origin}")));
}

/// Replaces values of `base` by those of `varied`.
fn vary(base: &mut ValueNode, varied: &ValueNode, name: &str) {
    let (Value::Map(entries), Value::Map(given)) = (&mut base.value, &varied.value) else {
        *base = changed(base, varied, name);
        return;
    };
    if given.iter().any(|(key, _)| key.name == "value") {
        *base = varied.clone();
        return;
    }
    for (key, node) in given {
        match entries.iter_mut().find(|(known, _)| known.name == key.name) {
            Some((known, inner)) => {
                known.span.clone_from(&key.span);
                vary(inner, node, name);
            }
            None => entries.push((key.clone(), node.clone())),
        }
    }
}

/// The value that replaces `base`: a bare number is marked as changed if the other device gives a source.
fn changed(base: &ValueNode, varied: &ValueNode, name: &str) -> ValueNode {
    let was = base.child("value").filter(|_| matches!(varied.value, Value::Scalar(_)));
    let Some(was) = was else { return varied.clone() };
    let key = Key { name: "value".to_owned(), span: varied.span.clone() };
    let mut told = ValueNode { value: Value::Map(vec![(key, varied.clone())]), span: varied.span.clone() };
    let was = was.shown();
    told.put("source", Json::from(format!("changed here; {name} has {}", was.trim_matches('`'))));
    told
}

impl ValueNode {
    /// Puts a scalar into a map, replacing the one of that name.
    fn put(&mut self, name: &str, scalar: Json) {
        let span: Option<TextSpan> = self.span.clone();
        if let Value::Map(entries) = &mut self.value {
            entries.retain(|(key, _)| key.name != name);
            let key = Key { name: name.to_owned(), span: span.clone() };
            entries.push((key, Self { value: Value::Scalar(scalar), span }));
        }
    }
}
