//! Devices that documents name or write out: disks, solid-state drives, volume types, tape drives.

use std::any::Any;

use headrace_work::{Invalid, Op};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::core::graph::{DeviceLookup, Lowering};

/// The parameters of a device.
pub trait Device: Any + Clone {
    /// The `type` of the component that these are for.
    const KIND: &'static str;
    /// The device, in messages.
    const NAME: &'static str;
    /// The fields by which its files are known: those of no other kind have one of them.
    const FIELDS: &'static [&'static str];

    /// Returns what is wrong with the parameters.
    fn problems(&self) -> Vec<Invalid>;

    /// Returns every parameter, by field, with its source or how it was estimated; `None` if neither is given.
    fn origins(&self) -> Vec<(String, Option<String>)>;

    /// Returns maker, model and size; `None` if they are not given.
    fn title(&self) -> Option<&str>;

    /// Returns the measurements that it was compared with, and the result; or `not validated`.
    fn validation(&self) -> &str;

    /// Returns the mean service of a request at a random address, in ms, without waiting; `None` if it serves no requests by itself.
    fn random_ms(&self, op: Op, bytes: u64) -> Option<f64> {
        _ = (op, bytes);
        None
    }

    /// Returns the curves that follow from the parameters; none where nothing turns.
    fn curves(&self) -> DeviceCurves {
        DeviceCurves::default()
    }
}

/// Curves that follow from the parameters of a device.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeviceCurves {
    /// Media rate by place: (share of the capacity from the outside, MB/s).
    pub zone_rates: Vec<(f64, f64)>,
    /// Seek time of reads by distance: (cylinders, ms).
    pub seek_read: Vec<(f64, f64)>,
    /// Seek time of writes by distance: (cylinders, ms).
    pub seek_write: Vec<(f64, f64)>,
}

/// A value and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Sourced<T> {
    /// The value alone.
    Plain(T),
    /// The value with its source, or with the reason for an estimate.
    Told(Told<T>),
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Told<T> {
    /// The value.
    pub value: T,
    /// Publication of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How the value was estimated, if no source gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<String>,
}

impl<T: Copy> Sourced<T> {
    /// The number itself.
    pub fn get(&self) -> T {
        match self {
            Self::Plain(value) => *value,
            Self::Told(number) => number.value,
        }
    }

    /// Returns its source, or `estimate: …`.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Told(Told { source, estimate, .. }) => {
                source.clone().or_else(|| estimate.as_ref().map(|why| format!("estimate: {why}")))
            }
        }
    }
}

/// Value of `validation` where nothing was compared.
pub(crate) fn not_validated() -> String {
    "not validated".to_owned()
}

/// A device in a document, once variations are resolved: its name, or its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DeviceRef<D> {
    /// Its name in the catalogue.
    Named(String),
    /// All parameters.
    Written(Box<D>),
}

/// A device: one of the catalogue, a file of its own, a variation of either, or its parameters in full.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "for the schema only")]
enum DeviceField<D> {
    /// Name of a device in the catalogue, or path of its file.
    Named(String),
    /// A variation of another device.
    Varied(VariedDevice),
    /// All parameters.
    Written(Box<D>),
}

/// A device that equals another but for the fields given beside `like`.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[allow(dead_code, reason = "for the schema only")]
pub struct VariedDevice {
    /// The device that supplies all fields not given here, each marked as an estimate.
    like: String,
}

/// What a document has for it is a field, whose schema is named after the parameters: `DiskField` of `DiskNumbers`.
impl<D: JsonSchema> JsonSchema for DeviceRef<D> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}Field", D::schema_name().trim_end_matches("Numbers")).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        DeviceField::<D>::json_schema(generator)
    }
}

impl Lowering<'_> {
    /// Returns the parameters of a device that `field` names or writes out.
    pub(crate) fn device<D: Device>(&mut self, field: &str, device: &DeviceRef<D>) -> Option<D> {
        let device = match device {
            DeviceRef::Written(device) => (**device).clone(),
            DeviceRef::Named(name) => self.looked_up(field, name)?,
        };
        let problems = device.problems();
        let is_sound = problems.is_empty();
        for invalid in problems {
            let message = format!("invalid {} parameters: `{}`: {}", D::NAME, invalid.field, invalid.message);
            self.invalid::<()>(Invalid { message, ..invalid.within(field) });
        }
        is_sound.then_some(device)
    }

    fn looked_up<D: Device>(&mut self, field: &str, name: &str) -> Option<D> {
        match self.catalogue().device(D::KIND, name) {
            DeviceLookup::Found(device) => {
                Some(*device.downcast().expect("a catalogue gives the kind that is asked for"))
            }
            DeviceLookup::Broken(why) => {
                self.refuse(field, format!("the file of `{name}` has errors"), Some(&why))
            }
            DeviceLookup::Other(kind) => {
                let help = format!("write `type: {}`, or name another device", kind.0);
                self.refuse(field, format!("`{name}` is a {}", kind.1), Some(&help))
            }
            DeviceLookup::Unknown(known) => {
                self.unknown(field, format!("there is no device `{name}`"), name, |_| known)
            }
        }
    }
}
