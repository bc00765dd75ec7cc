//! Input and output of lowering: names of parts and components, devices, and errors.

use std::any::Any;

use headrace_units::Nanos;
use headrace_work::{EmpiricalSpec, Invalid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ComponentSpec;

/// The elements of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Copies {
    /// A part by its name in `parts`. Each copy is a separate component.
    Part(String),
    /// Components of `system` by name. They exist once and can be shared.
    Shared(Vec<String>),
    /// A part written in place.
    Written(Box<ComponentSpec>),
}

/// Where a stream comes from and goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedWay {
    /// The stream, by its name in `workload`.
    pub stream: String,
    /// The server that its requests come from, or the servers of several copies; `None` if they come from none.
    pub from: Option<String>,
    /// The component that they go to, or those of several copies.
    pub to: String,
}

/// Something wrong with a document.
#[derive(Clone, Debug, PartialEq)]
pub struct LoweringError {
    /// The field, from the top of the document.
    pub field: Vec<String>,
    /// Value found, and the reason why it is invalid.
    pub message: String,
    /// Fix, if one is known.
    pub help: Option<String>,
    /// The name that was not found, and those it could have been.
    pub unknown: Option<(String, Vec<String>)>,
}

/// The devices and samples that documents can name.
pub trait DeviceCatalogue {
    /// Returns the device of this name, for a component of the `type` `kind`.
    fn device(&self, kind: &'static str, name: &str) -> DeviceLookup;

    /// Returns the values of a sample that lies in a file, with their weights.
    ///
    /// # Errors
    /// The field at fault, and why it cannot be read.
    fn sample(&self, sample: &EmpiricalSpec) -> Result<Vec<(Nanos, f64)>, Invalid>;
}

/// Answer of a catalogue to a name.
pub enum DeviceLookup {
    /// Its parameters.
    Found(Box<dyn Any>),
    /// Its file has errors: these.
    Broken(String),
    /// The device is for components of another `type`: this type, and the device's.
    Other((&'static str, &'static str)),
    /// There is no such device; there are these.
    Unknown(Vec<String>),
}

/// A name on the way to a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameStep {
    System(String),
    Part(String),
    Written(&'static str),
}

impl std::fmt::Display for NameStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(name) | Self::Part(name) => f.write_str(name),
            Self::Written(kind) => f.write_str(kind),
        }
    }
}
