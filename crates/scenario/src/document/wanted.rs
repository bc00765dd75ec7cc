//! The kind of value that a schema wants, in words.

use serde_json::Value as Json;

/// The items of a list in the schema, none where it is missing.
pub(super) fn list<'s>(schema: &'s Json, keyword: &str) -> &'s [Json] {
    schema[keyword].as_array().map_or(&[], Vec::as_slice)
}

/// The one key that chooses this alternative.
pub(super) fn only_key(schema: &Json) -> Option<&str> {
    match (list(schema, "required"), schema["properties"].as_object()) {
        ([key], Some(properties)) if properties.len() == 1 => key.as_str(),
        _ => None,
    }
}

/// The bare words this alternative stands for.
pub(super) fn words(schema: &Json) -> Vec<&str> {
    let constant = schema["const"].as_str();
    list(schema, "enum").iter().filter_map(Json::as_str).chain(constant).collect()
}

/// The kind of value that a schema wants; of one that may be left out, the other.
fn kind(schema: &Json) -> Option<&str> {
    let several = list(schema, "type").iter().filter_map(Json::as_str);
    schema["type"].as_str().or_else(|| several.into_iter().find(|kind| *kind != "null"))
}

/// A map by the field that it needs first, or by names where those are free.
fn map_in_words(schema: &Json) -> String {
    match list(schema, "required").first().and_then(Json::as_str) {
        Some(field) => format!("a map of fields such as `{{{field}: …}}`"),
        None if schema["additionalProperties"].is_object() => "a map by name, `{name: …}`".to_owned(),
        None => "a map of fields".to_owned(),
    }
}

fn whole_number_in_words(schema: &Json) -> String {
    match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
        (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
        _ => "a whole number".to_owned(),
    }
}

/// What is to be written for this alternative: its bare words, or its key with a value.
pub fn ways(schema: &Json) -> Vec<String> {
    let key = only_key(schema).map(|key| format!("{{{key}: …}}"));
    key.into_iter().chain(words(schema).into_iter().map(str::to_owned)).collect()
}

/// `a, b or c`.
pub fn either(ways: &[String]) -> String {
    match ways {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => ways.concat(),
    }
}

/// Form that a value must have.
pub fn kind_in_words(schema: &Json) -> String {
    let named = |name: &str| format!("`{{{name}: …}}`");
    match kind(schema) {
        _ if !schema["x-unit"].is_null() => format!("a {}", schema["x-unit"].as_str().unwrap_or("quantity")),
        _ if !words(schema).is_empty() => {
            either(&words(schema).iter().map(|word| format!("`{word}`")).collect::<Vec<_>>())
        }
        Some("object") => only_key(schema).map_or_else(|| map_in_words(schema), named),
        Some("array") => "a list".to_owned(),
        Some("integer") => whole_number_in_words(schema),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("null") => "left out".to_owned(),
        _ => "text".to_owned(),
    }
}
