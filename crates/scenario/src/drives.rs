//! The drives of the catalogue, read as disks and as solid-state drives.

use std::path::Path;

use headrace_storage::Device;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::catalog::written;
use crate::document::{self, Problems};
use crate::variation;

/// The device of this name, for a scenario in the folder `beside`. `None` where there is no such device.
///
/// # Errors
/// Errors in its file, also that it has other parameters than those of `D`.
pub fn device<D: DeserializeOwned + JsonSchema>(name: &str, beside: &Path) -> Option<Result<D, Problems>> {
    Some(written(name, beside)?.and_then(|mut tree| {
        variation::device(&mut tree.root, &document::Path::default(), beside)
            .map_err(|problem| vec![problem])
            .and_then(|()| document::read_as(&tree, &document::schema_of::<D>()))
            .map_err(|problems| Problems::of(&tree, problems))
    }))
}

/// Parameters that make sense.
///
/// # Errors
/// All that is wrong with them, for the reader of `file`.
pub fn sound<D: Device>(device: D, file: &str) -> Result<D, Problems> {
    let problems = device.problems();
    let wrong: Vec<String> =
        problems.iter().map(|(field, problem)| format!("`{field}`: {problem}")).collect();
    if wrong.is_empty() {
        return Ok(device);
    }
    Err(Problems::file(file, wrong.join("; "), "correct the device file"))
}

#[cfg(test)]
mod tests {
    use headrace_storage::archive::tape_library::TapeDriveNumbers;
    use headrace_storage::disk::DiskNumbers;
    use headrace_storage::limiter::VolumeNumbers;
    use headrace_storage::ssd::SsdNumbers;

    use super::*;
    use crate::catalog::{kind, names};

    fn has_origins<D: Device + DeserializeOwned + JsonSchema>(name: &str) {
        let device: D = device(name, Path::new("")).unwrap().unwrap();
        assert_eq!(device.problems(), [], "{name}");
        for (field, origin) in device.origins() {
            assert!(origin.is_some(), "{name}: {field} has neither source nor estimate");
        }
    }

    #[test]
    fn every_number_has_an_origin_and_makes_sense() {
        for name in names() {
            match kind(name, Path::new("")) {
                Some("ssd") => has_origins::<SsdNumbers>(name),
                Some("limiter") => has_origins::<VolumeNumbers>(name),
                Some("tape_library") => has_origins::<TapeDriveNumbers>(name),
                _ => has_origins::<DiskNumbers>(name),
            }
        }
    }
}
