//! Devices that documents name or write out: disks, solid-state drives.

use std::any::Any;

use crate::core::graph::{DeviceLookup, Lowering};

/// The parameters of a device.
pub trait Device: Any + Clone {
    /// The `type` of the component that these are for.
    const KIND: &'static str;
    /// The device, in messages.
    const NAME: &'static str;

    /// Returns what is wrong with the parameters, by field.
    fn problems(&self) -> Vec<(&'static str, String)>;

    /// Returns every parameter, by field, with its source or how it was estimated; `None` if neither is given.
    fn origins(&self) -> Vec<(String, Option<String>)>;

    /// Returns maker, model and size; `None` if they are not given.
    fn title(&self) -> Option<&str>;

    /// Returns the measurements that it was compared with, and the result; or `not validated`.
    fn validation(&self) -> &str;
}

/// A device in a document: its name in the catalogue, or its parameters.
pub enum Named<'a, D> {
    /// Its name.
    Name(&'a str),
    /// All parameters.
    Written(&'a D),
}

impl Lowering<'_> {
    /// Returns the parameters of a device that `field` names or writes out.
    pub(crate) fn device<D: Device>(&mut self, field: &str, device: Named<'_, D>) -> Option<D> {
        let device = match device {
            Named::Written(device) => device.clone(),
            Named::Name(name) => self.looked_up(field, name)?,
        };
        for (inner, problem) in &device.problems() {
            let message = format!("invalid {} parameters: {problem}", D::NAME);
            self.refuse::<()>(&format!("{field}.{inner}"), message, None);
        }
        device.problems().is_empty().then_some(device)
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
                self.unknown(field, format!("there is no device `{name}`"), name, known)
            }
        }
    }
}
