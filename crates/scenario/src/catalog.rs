//! The devices that come with headrace.

use headrace_storage::DiskNumbers;

use crate::document::{self, Problems, Tree};

/// Every file of `catalog/`, by its name. The one list to extend when a device is added.
const FILES: [(&str, &str); 2] = [
    ("seagate-st32171w", include_str!("../../../catalog/seagate-st32171w.yaml")),
    ("seagate-st3500630ns", include_str!("../../../catalog/seagate-st3500630ns.yaml")),
];

/// The names of all devices.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The drive of this name.
pub fn disk(name: &str) -> Option<DiskNumbers> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(parse(name, text).unwrap_or_else(|problems| panic!("our own catalogue: {}", problems.rendered())))
}

fn parse(name: &str, text: &str) -> Result<DiskNumbers, Problems> {
    let tree = Tree::parse(text, name).map_err(|problem| Problems::unparsed(problem, text, name))?;
    let schema = schemars::schema_for!(DiskNumbers).to_value();
    document::read_as(&tree, &schema).map_err(|problems| Problems::of(&tree, problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog");
        let files =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> =
            files.filter_map(|file| file.strip_suffix(".yaml").map(str::to_owned)).collect();
        found.sort();
        assert_eq!(found, names().collect::<Vec<_>>());
    }

    #[test]
    fn every_number_has_an_origin_and_makes_sense() {
        for name in names() {
            let numbers = disk(name).unwrap();
            assert_eq!(numbers.problems(), [], "{name}");
            for (field, origin) in numbers.origins() {
                assert!(origin.is_some(), "{name}: {field} has neither source nor estimate");
            }
        }
    }
}
