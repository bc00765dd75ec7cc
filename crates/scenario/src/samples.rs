//! Samples of times in files beside a scenario.

use std::path::{Path as FilePath, PathBuf};

use serde_json::Value as Json;

use crate::document::{Value, ValueNode};

/// Returns the files of the samples that a document in the folder `beside` names.
pub fn named(node: &ValueNode, beside: &FilePath) -> Vec<PathBuf> {
    match &node.value {
        Value::Map(entries) => entries
            .iter()
            .flat_map(|(key, inner)| match file(&key.name, inner) {
                Some(file) => vec![beside.join(file)],
                None => named(inner, beside),
            })
            .collect(),
        Value::List(items) => items.iter().flat_map(|item| named(item, beside)).collect(),
        Value::Scalar(_) => Vec::new(),
    }
}

/// Returns the file of a sample, if the field `key` is one.
fn file<'n>(key: &str, node: &'n ValueNode) -> Option<&'n str> {
    match &node.child("file").filter(|_| key == "empirical")?.value {
        Value::Scalar(Json::String(file)) => Some(file),
        _ => None,
    }
}
