//! Kinds of devices: how the file of one is read, and what `headrace devices` shows of it.

use std::any::Any;
use std::path::Path;

use headrace_storage::archive::tape_library::TapeDriveNumbers;
use headrace_storage::device::{DeviceCurves, VariedDevice};
use headrace_storage::disk::DiskNumbers;
use headrace_storage::limiter::VolumeNumbers;
use headrace_storage::ssd::SsdNumbers;
use headrace_work::{Invalid, Op};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::catalog::written;
use crate::document::{self, Problems};
use crate::variation;

/// Content of a device file.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "for the schema only")]
pub enum DeviceFile {
    /// The parameters of a disk.
    Disk(Box<DiskNumbers>),
    /// The parameters of a solid-state drive.
    Ssd(Box<SsdNumbers>),
    /// The limits of a volume type.
    Volume(Box<VolumeNumbers>),
    /// The numbers of a tape drive and its cartridges.
    Tape(Box<TapeDriveNumbers>),
    /// Differences from another device.
    Varied(VariedDevice),
}

/// The kinds of devices. A file that has no field of any is read as the first, which says what is missing.
static KINDS: [DeviceKind; 4] = [
    DeviceKind::of::<DiskNumbers>(),
    DeviceKind::of::<SsdNumbers>(),
    DeviceKind::of::<VolumeNumbers>(),
    DeviceKind::of::<TapeDriveNumbers>(),
];

/// The parameters of a device, or errors in its file; `None` where there is no such device.
pub type DeviceRead = Option<Result<Box<dyn AnyNumbers>, Problems>>;

/// A kind of device.
pub struct DeviceKind {
    /// The `type` of the component that such devices are for.
    pub component: &'static str,
    /// The device, in messages.
    pub name: &'static str,
    fields: &'static [&'static str],
    read: fn(&str, &Path) -> DeviceRead,
}

impl DeviceKind {
    const fn of<D: AnyNumbers + headrace_storage::Device + DeserializeOwned + JsonSchema>() -> Self {
        let read = |name: &str, beside: &Path| {
            let numbers = device::<D>(name, beside)?;
            Some(numbers.map(|numbers| Box::new(numbers) as Box<dyn AnyNumbers>))
        };
        Self { component: D::KIND, name: D::NAME, fields: D::FIELDS, read }
    }

    /// Returns the kind that is for components of this `type`.
    fn for_component(component: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.component == component)
    }
}

/// The parameters of a device of any kind.
pub trait AnyNumbers: Any {
    /// Returns the parameters as they stand in a file.
    fn written(&self) -> Value;

    /// Returns what is shown of a device of this name.
    ///
    /// # Errors
    /// All that is wrong with the parameters.
    fn described(&self, name: &str) -> Result<Device, Problems>;
}

impl<D: headrace_storage::Device + Serialize> AnyNumbers for D {
    fn written(&self) -> Value {
        serde_json::to_value(self).expect("numbers and strings")
    }

    fn described(&self, name: &str) -> Result<Device, Problems> {
        let numbers = sound(self.clone(), name)?;
        Ok(Device {
            name: name.to_owned(),
            title: numbers.title().unwrap_or(name).to_owned(),
            validation: numbers.validation().to_owned(),
            numbers: told(&self.written(), numbers.origins()),
            curves: numbers.curves(),
            random_read_ms: numbers.random_ms(Op::Read, SMALL),
            random_write_ms: numbers.random_ms(Op::Write, SMALL),
        })
    }
}

/// The kind of the device of this name, as a field of its file tells, or of the file of the device that it is like; `None` where none
/// does.
pub fn kind(name: &str, beside: &Path) -> Option<&'static DeviceKind> {
    let file = |name: &str| Some(written(name, beside)?.ok()?.root.to_json());
    let own = file(name)?;
    let base = own["like"].as_str().and_then(file).unwrap_or_default();
    let has = |field: &&str| !own[*field].is_null() || !base[*field].is_null();
    KINDS.iter().find(|kind| kind.fields.iter().any(has))
}

/// Returns the parameters of the device of this name, of whichever kind; `None` where there is none.
///
/// # Errors
/// Errors in its file.
pub fn numbers(name: &str, beside: &Path) -> DeviceRead {
    (kind(name, beside).unwrap_or(&KINDS[0]).read)(name, beside)
}

/// Returns the parameters of the device of this name for components of a `type`; `None` where there is none.
///
/// # Errors
/// Errors in its file, also that it has other parameters.
pub fn numbers_for(component: &str, name: &str, beside: &Path) -> DeviceRead {
    (DeviceKind::for_component(component)?.read)(name, beside)
}

/// Returns the device of this name, for a scenario in the folder `beside`; `None` where there is none.
///
/// # Errors
/// Errors in its file.
pub fn shown(name: &str, beside: &Path) -> Option<Result<Device, Problems>> {
    Some(numbers(name, beside)?.and_then(|numbers| numbers.described(name)))
}

/// Returns the parameters of the device of this name, of the kind `D`; `None` where there is no such device.
///
/// # Errors
/// Errors in its file, also that it has other parameters than those of `D`.
fn device<D: DeserializeOwned + JsonSchema + 'static>(
    name: &str,
    beside: &Path,
) -> Option<Result<D, Problems>> {
    Some(written(name, beside)?.and_then(|mut tree| {
        variation::device(&mut tree.root, &document::Path::default(), beside)
            .map_err(|problem| vec![problem])
            .and_then(|()| document::read_as(&tree, document::schema_of::<D>()))
            .map_err(|problems| Problems::of(&tree, problems))
    }))
}

/// Returns parameters that make sense.
///
/// # Errors
/// All that is wrong with them, for the reader of `file`.
pub fn sound<D: headrace_storage::Device>(device: D, file: &str) -> Result<D, Problems> {
    let problems = device.problems();
    let one = |Invalid { field, message, .. }: &Invalid| format!("`{field}`: {message}");
    let wrong: Vec<String> = problems.iter().map(one).collect();
    if wrong.is_empty() {
        return Ok(device);
    }
    Err(Problems::file(file, wrong.join("; "), "correct the device file"))
}

/// Size of the requests whose service times are reported, in bytes.
const SMALL: u64 = 4096;

/// What is shown of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its name in the catalogue.
    pub name: String,
    /// Manufacturer, model, size.
    pub title: String,
    /// The measurements it was validated against, and the result; or `not validated`.
    pub validation: String,
    /// Every number, with where it comes from.
    pub numbers: Vec<Number>,
    /// The curves that follow from them.
    #[serde(flatten)]
    pub curves: DeviceCurves,
    /// Mean service of a random 4 KiB read, in ms, without waiting; `None` where it serves no requests by itself.
    pub random_read_ms: Option<f64>,
    /// Mean service of a random 4 KiB write, in ms, without waiting.
    pub random_write_ms: Option<f64>,
}

/// A number of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Number {
    /// Its field.
    pub field: String,
    /// As it reads in the file.
    pub value: String,
    /// Its source, or how it was estimated.
    pub origin: String,
}

/// The numbers as text, beside their origins.
fn told(document: &Value, origins: Vec<(String, Option<String>)>) -> Vec<Number> {
    let numbers = origins.into_iter().map(|(field, origin)| {
        let node = field.split('.').fold(document, |node, step| &node[step]);
        let value = if node.is_object() { &node["value"] } else { node };
        let value =
            value.as_str().map_or_else(|| value.to_string().trim_end_matches(".0").to_owned(), str::to_owned);
        Number { field, value, origin: origin.unwrap_or_else(|| "not told".to_owned()) }
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::names;

    #[test]
    fn every_number_has_an_origin_and_makes_sense() {
        for name in names() {
            let device = shown(name, Path::new("")).unwrap().unwrap();
            for Number { field, origin, .. } in device.numbers {
                assert_ne!(origin, "not told", "{name}: {field} has neither source nor estimate");
            }
        }
    }
}
