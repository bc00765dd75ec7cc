//! What is wrong with a value of a document.

/// Why a value is invalid: what every check of values returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The field below that of the value, steps divided by dots; empty for the value itself.
    pub field: String,
    /// What was found, and the reason why it is invalid.
    pub message: String,
    /// Fix, if one is known.
    pub help: Option<&'static str>,
}

impl Invalid {
    /// An invalid field of a value, or with an empty field the value itself. The fix is not known.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into(), help: None }
    }

    /// Returns it with the fix.
    #[must_use]
    pub fn help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }

    /// Returns it as seen from the value whose `field` holds this one.
    #[must_use]
    pub fn within(self, field: &str) -> Self {
        let below = Some(self.field).filter(|below| !below.is_empty());
        Self { field: below.map_or_else(|| field.to_owned(), |below| format!("{field}.{below}")), ..self }
    }
}
