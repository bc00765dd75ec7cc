//! The drives of the catalogue, read as disks and as solid-state drives.

use std::path::Path;

use headrace_storage::disk::DiskNumbers;
use headrace_storage::ssd::SsdNumbers;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::catalog::written;
use crate::document::{self, Problems};
use crate::variation;

/// The disk of this name, for a scenario in the folder `beside`. `None` where there is no such device.
///
/// # Errors
/// Errors in its file.
pub fn disk(name: &str, beside: &Path) -> Option<Result<DiskNumbers, Problems>> {
    device(name, beside)
}

/// The solid-state drive of this name, for a scenario in the folder `beside`. `None` where there is no such device.
///
/// # Errors
/// Errors in its file.
pub fn ssd(name: &str, beside: &Path) -> Option<Result<SsdNumbers, Problems>> {
    device(name, beside)
}

/// The parameters of a device, read as those of a disk or of a solid-state drive.
fn device<N: DeserializeOwned + JsonSchema>(name: &str, beside: &Path) -> Option<Result<N, Problems>> {
    Some(written(name, beside)?.and_then(|mut tree| {
        variation::device(&mut tree.root, &document::Path::default(), beside)
            .map_err(|problem| vec![problem])
            .and_then(|()| document::read_as(&tree, &document::schema_of::<N>()))
            .map_err(|problems| Problems::of(&tree, problems))
    }))
}

/// Numbers that make sense.
///
/// # Errors
/// All that is wrong with them, for the reader of `file`.
pub fn sound(numbers: DiskNumbers, file: &str) -> Result<DiskNumbers, Problems> {
    let problems = numbers.problems();
    without(&problems, numbers, file)
}

/// Returns a description of a solid-state drive.
///
/// # Errors
/// All that is wrong with them, for the reader of `file`.
pub fn sound_ssd(numbers: SsdNumbers, file: &str) -> Result<SsdNumbers, Problems> {
    let problems = numbers.problems();
    without(&problems, numbers, file)
}

fn without<N>(problems: &[(&'static str, String)], numbers: N, file: &str) -> Result<N, Problems> {
    let wrong: Vec<String> =
        problems.iter().map(|(field, problem)| format!("`{field}`: {problem}")).collect();
    if wrong.is_empty() {
        return Ok(numbers);
    }
    Err(Problems::file(file, wrong.join("; "), "correct the device file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{is_ssd, names};

    #[test]
    fn every_number_has_an_origin_and_makes_sense() {
        let here = Path::new("");
        for name in names() {
            let (problems, origins) = if is_ssd(name, here) {
                let numbers = ssd(name, here).unwrap().unwrap();
                (numbers.problems(), numbers.origins())
            } else {
                let numbers = disk(name, here).unwrap().unwrap();
                (numbers.problems(), numbers.origins())
            };
            assert_eq!(problems, [], "{name}");
            for (field, origin) in origins {
                assert!(origin.is_some(), "{name}: {field} has neither source nor estimate");
            }
        }
    }
}
