//! The devices that come with headrace.

use std::path::{Path, PathBuf};

use crate::document::{Problems, Tree};

/// Every file of `catalog/`, by its name. The one list to extend when a device is added.
const FILES: [(&str, &str); 33] = [
    ("aws-gp2-100gib", include_str!("../../../catalog/aws-gp2-100gib.yaml")),
    ("aws-gp2-500gib", include_str!("../../../catalog/aws-gp2-500gib.yaml")),
    ("aws-gp3", include_str!("../../../catalog/aws-gp3.yaml")),
    ("aws-io2-16000", include_str!("../../../catalog/aws-io2-16000.yaml")),
    ("azure-premium-ssd-p10", include_str!("../../../catalog/azure-premium-ssd-p10.yaml")),
    ("azure-premium-ssd-p20", include_str!("../../../catalog/azure-premium-ssd-p20.yaml")),
    ("azure-premium-ssd-p30", include_str!("../../../catalog/azure-premium-ssd-p30.yaml")),
    ("azure-premium-ssd-v2", include_str!("../../../catalog/azure-premium-ssd-v2.yaml")),
    ("hp-c2247a", include_str!("../../../catalog/hp-c2247a.yaml")),
    ("hp-c3323a", include_str!("../../../catalog/hp-c3323a.yaml")),
    ("ibm-lto-8", include_str!("../../../catalog/ibm-lto-8.yaml")),
    ("ibm-lto-9", include_str!("../../../catalog/ibm-lto-9.yaml")),
    ("intel-s4610-480gb", include_str!("../../../catalog/intel-s4610-480gb.yaml")),
    ("maxtor-7y250p0", include_str!("../../../catalog/maxtor-7y250p0.yaml")),
    ("maxtor-7y250p0-2mb", include_str!("../../../catalog/maxtor-7y250p0-2mb.yaml")),
    ("micron-6500-ion-30720gb", include_str!("../../../catalog/micron-6500-ion-30720gb.yaml")),
    ("micron-7450-pro-1920gb", include_str!("../../../catalog/micron-7450-pro-1920gb.yaml")),
    ("micron-9400-pro-7680gb", include_str!("../../../catalog/micron-9400-pro-7680gb.yaml")),
    ("micron-9550-max-6400gb", include_str!("../../../catalog/micron-9550-max-6400gb.yaml")),
    ("quantum-atlas-10k", include_str!("../../../catalog/quantum-atlas-10k.yaml")),
    ("quantum-atlas-10k-ultra160", include_str!("../../../catalog/quantum-atlas-10k-ultra160.yaml")),
    ("quantum-qm39100td", include_str!("../../../catalog/quantum-qm39100td.yaml")),
    ("samsung-hd103uj", include_str!("../../../catalog/samsung-hd103uj.yaml")),
    ("samsung-pm883-480gb", include_str!("../../../catalog/samsung-pm883-480gb.yaml")),
    ("seagate-mach2-2x18-actuator", include_str!("../../../catalog/seagate-mach2-2x18-actuator.yaml")),
    ("seagate-st18000nm000j", include_str!("../../../catalog/seagate-st18000nm000j.yaml")),
    ("seagate-st24000nm007h", include_str!("../../../catalog/seagate-st24000nm007h.yaml")),
    ("seagate-st32171w", include_str!("../../../catalog/seagate-st32171w.yaml")),
    ("seagate-st336752fc", include_str!("../../../catalog/seagate-st336752fc.yaml")),
    ("seagate-st34501n", include_str!("../../../catalog/seagate-st34501n.yaml")),
    ("seagate-st34501n-ultra", include_str!("../../../catalog/seagate-st34501n-ultra.yaml")),
    ("seagate-st3500630ns", include_str!("../../../catalog/seagate-st3500630ns.yaml")),
    ("seagate-st3500630ns-ncq", include_str!("../../../catalog/seagate-st3500630ns-ncq.yaml")),
];

/// The names of all devices.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Returns the device that comes with headrace under this name, or the only one that has all words of `name`; its name and its text.
fn shipped(name: &str) -> Option<(&'static str, &'static str)> {
    let exact = FILES.iter().find(|(known, _)| *known == name);
    exact.copied().or_else(|| match matching(name)[..] {
        [only] => Some(only),
        _ => None,
    })
}

/// Returns the devices that have all words of `name` in their own, or in the first line of their files: maker, model, size. Where none has,
/// those that have it without what separates words: `lto9`.
fn matching(name: &str) -> Vec<(&'static str, &'static str)> {
    let words: Vec<String> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has_all = |(known, text): &&(&str, &str)| {
        let title = text.lines().next().unwrap_or_default().to_lowercase();
        words.iter().all(|word| known.contains(word) || title.contains(word))
    };
    if words.is_empty() {
        return Vec::new();
    }
    let found: Vec<_> = FILES.iter().filter(has_all).copied().collect();
    if found.is_empty() {
        FILES.iter().filter(|file| has_joined(file, &words.concat())).copied().collect()
    } else {
        found
    }
}

/// Returns true if the name of a device, or the first line of its file, has `word` if nothing separates words there.
fn has_joined((known, text): &(&str, &str), word: &str) -> bool {
    let joined = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    joined(known).contains(word) || joined(text.lines().next().unwrap_or_default()).contains(word)
}

/// Returns the devices that may be meant by a name that none has: those that have all words of it, else those that have its
/// first long word that any device has, else all.
pub fn candidates(name: &str, beside: &Path) -> Vec<String> {
    let having = |words: &str| -> Vec<String> {
        matching(words).into_iter().map(|(known, _)| known.to_owned()).collect()
    };
    let long = name.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() >= LONG_WORD);
    let mut tries = std::iter::once(name).chain(long).map(having);
    tries.find(|found| !found.is_empty()).unwrap_or_else(|| all_names(beside))
}

/// Number of letters from which on a word says which devices are meant: `exos`, but not `st`.
const LONG_WORD: usize = 3;

/// Your own file of this name: a path from the folder `beside`, or one in `devices/` there.
fn own_file(name: &str, beside: &Path) -> PathBuf {
    path(name, beside).unwrap_or_else(|| beside.join("devices").join(format!("{name}.yaml")))
}

/// The file of a device that is named by its path from the folder `beside`: the name ends in `.yaml` or has a `/`.
pub fn path(name: &str, beside: &Path) -> Option<PathBuf> {
    let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|end| end == "yaml");
    is_path.then(|| beside.join(name))
}

/// The text of the device of this name, and the file it came from: your own beside the scenario if it exists, else what
/// comes with headrace.
fn text(name: &str, beside: &Path) -> Option<Result<(String, String), Problems>> {
    let own = own_file(name, beside);
    let file = own.display().to_string();
    // Reading anything else may never end (`/dev/zero`), or wait for someone.
    if own.exists() && !own.is_file() {
        let message = format!("{file} cannot be read: it is not a plain file");
        return Some(Err(Problems::file(&file, message, "name a plain file")));
    }
    match std::fs::read_to_string(&own) {
        Ok(text) => Some(Ok((text, file))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let (name, text) = shipped(name)?;
            Some(Ok((text.to_owned(), format!("catalog/{name}.yaml"))))
        }
        Err(error) => {
            let message = format!("it cannot be read: {error}");
            Some(Err(Problems::file(&file, message, "a device file is text in UTF-8")))
        }
    }
}

/// The document of the device of this name, as it is written. `None` where there is no such device.
///
/// # Errors
/// It cannot be read.
pub fn written(name: &str, beside: &Path) -> Option<Result<Tree, Problems>> {
    Some(text(name, beside)?.and_then(|(text, file)| {
        Tree::parse(&text, &file).map_err(|problem| Problems::unparsed(problem, &text, &file))
    }))
}

/// The names of all devices: those of the user's own folder beside a scenario, then those that come with headrace.
pub fn all_names(beside: &Path) -> Vec<String> {
    let mut all = own_names(beside);
    let more: Vec<String> = names().map(str::to_owned).filter(|name| !all.contains(name)).collect();
    all.extend(more);
    all
}

/// The files of the devices in the user's own folder beside a scenario.
pub fn own_files(beside: &Path) -> Vec<PathBuf> {
    own_names(beside).iter().map(|name| own_file(name, beside)).collect()
}

/// The names of the devices in the user's own folder beside a scenario.
fn own_names(beside: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(beside.join("devices")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned)).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_found_by_parts_of_its_names() {
        let found = |name| shipped(name).map(|(known, _)| known);
        assert_eq!(found("exos-x18"), Some("seagate-st18000nm000j"));
        assert_eq!(found("Micron 9400"), Some("micron-9400-pro-7680gb"));
        assert_eq!([found("lto-8"), found("LTO9")], [Some("ibm-lto-8"), Some("ibm-lto-9")]);
        assert_eq!(
            found("maxtor-7y250p0"),
            Some("maxtor-7y250p0"),
            "a whole name comes before parts of longer ones"
        );
        assert_eq!((found("micron"), found(""), found("exos x20")), (None, None, None));
        assert_eq!(candidates("micron", Path::new("/nowhere")).len(), 4);
    }

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
}
