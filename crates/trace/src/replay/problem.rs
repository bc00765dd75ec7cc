//! Why a trace cannot be replayed.

use crate::TraceError;

/// Why a trace cannot be replayed on this component.
#[derive(Debug, thiserror::Error)]
pub enum ReplayProblem {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A field of the scenario does not suit the trace: (field, what is wrong, how to fix it).
    #[error("{1}")]
    Field(&'static str, String, String),
}

impl ReplayProblem {
    pub(crate) fn field(name: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Field(name, message.into(), help.into())
    }
}
