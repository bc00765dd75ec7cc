//! Documents: text → tree → checked tree → a type, such as that of a scenario.
//!
//! The text is parsed to a [`Tree`] that knows where everything stands, compared with the schema (which comes from the
//! Rust types) with all errors collected, and only then read into the types.

mod ends;
mod other_names;
mod path;
mod problem;
mod schema;
mod tree;
mod wanted;

pub use path::{Path, PathStep};
pub use problem::{Problem, Problems};
pub use tree::{Key, TextSpan, Tree, Value, ValueNode};

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// Schemas that were made so far: making that of a scenario takes longer than reading one.
static SCHEMAS: Mutex<BTreeMap<TypeId, &'static serde_json::Value>> = Mutex::new(BTreeMap::new());

/// Returns the JSON Schema of a document that is a `T`.
pub fn schema_of<T: JsonSchema + 'static>() -> &'static serde_json::Value {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let new = || -> &'static serde_json::Value { Box::leak(Box::new(schemars::schema_for!(T).to_value())) };
    schemas.entry(TypeId::of::<T>()).or_insert_with(new)
}

/// The JSON Schema of what is printed of a `T`: all of its fields are there.
pub fn schema_of_output<T: JsonSchema>() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Reads `tree` as a `T` whose schema is `schema`.
pub fn read_as<T: DeserializeOwned>(tree: &Tree, schema: &serde_json::Value) -> Result<T, Vec<Problem>> {
    read_at(tree, schema, &Path::default())
}

/// Reads `tree`, which stands at `path` of a document, as a `T` whose schema is `schema`.
pub fn read_at<T: DeserializeOwned>(
    tree: &Tree,
    schema: &serde_json::Value,
    path: &Path,
) -> Result<T, Vec<Problem>> {
    let problems = schema::check(tree, schema, path);
    if !problems.is_empty() {
        return Err(problems);
    }
    // What the schema lets pass and the types do not is a gap in the schema; it is reported all the same.
    serde_json::from_value(tree.to_json())
        .map_err(|error| vec![Problem::at(Path::default(), error.to_string())])
}

/// Reads `text`, which came from `name`, as a `T`.
pub fn read_text<T: DeserializeOwned + JsonSchema + 'static>(text: &str, name: &str) -> Result<T, Problems> {
    let tree = Tree::parse(text, name).map_err(|problem| Problems::unparsed(problem, text, name))?;
    read_as(&tree, schema_of::<T>()).map_err(|problems| Problems::of(&tree, problems))
}
