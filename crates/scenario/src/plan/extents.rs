//! The files of streams: where those of each lie, beside those of other streams to the same component.

use headrace_units::Bytes;
use headrace_workload::{Extents, PatternSpec, Placement, StreamSpec};

use crate::document::{Path, Problem};
use crate::spec::ScenarioSpec;

/// Where the files of a stream lie on a component that holds `capacity`; none for a stream without files.
///
/// # Errors
/// They cannot lie there: why.
pub fn place(
    scenario: &ScenarioSpec,
    path: &Path,
    name: &str,
    spec: &StreamSpec,
    capacity: Bytes,
) -> Result<Option<Extents>, Problem> {
    let Some(size) = spec.file else { return no_files(path, spec).map_or(Ok(None), Err) };
    if let Some(problem) = contradiction(path, spec, size) {
        return Err(problem);
    }
    let (from, room) = spec.addressed(capacity);
    let beside = beside(scenario, name, spec);
    let before: u64 = beside.iter().take_while(|(other, _)| *other != name).map(|(_, files)| files).sum();
    let all: u64 = beside.iter().map(|(_, files)| files).sum();
    if size.0 == 0 || Extents::room(size, all) > room {
        let message = format!("{all} files of {size} do not fit into the {room} they share of `{}`", spec.to);
        return Err(Problem::at(path.key("files"), message).help("give fewer `files`, or a smaller `file`"));
    }
    let placement = spec.placement.unwrap_or_default();
    Ok(Some(Extents::place(placement, size, (before, spec.files(), all), from.0, room.0)))
}

/// The streams whose files share the same place, in order, with how many files each has.
fn beside<'s>(scenario: &'s ScenarioSpec, name: &str, spec: &StreamSpec) -> Vec<(&'s str, u64)> {
    let alike = |other: &StreamSpec| {
        (&other.to, other.file, other.region, other.footprint, other.placement)
            == (&spec.to, spec.file, spec.region, spec.footprint, spec.placement)
    };
    let streams = scenario.workload.iter().filter(|(other, stream)| *other == name || alike(stream));
    streams.map(|(other, stream)| (other.as_str(), stream.files())).collect()
}

/// Fields that apply to a stream with files only.
fn no_files(path: &Path, spec: &StreamSpec) -> Option<Problem> {
    let field = match (spec.files, spec.placement) {
        (Some(_), _) => "files",
        (None, Some(Placement::Contiguous | Placement::Spread)) => "placement",
        (None, None) => return None,
    };
    Some(
        Problem::at(path.key(field), "a stream without `file` has no files")
            .help("set their size: `file: 2 GB`"),
    )
}

fn contradiction(path: &Path, spec: &StreamSpec, size: Bytes) -> Option<Problem> {
    if !matches!(spec.pattern, PatternSpec::Uniform | PatternSpec::Sequential) {
        let message = "files are accessed sequentially";
        return Some(Problem::at(path.key("pattern"), message).help("remove `pattern` or `file`"));
    }
    let (_, largest) = spec.sizes();
    (largest > size).then(|| {
        let message = format!("a request of {largest} does not fit into a file of {size}");
        Problem::at(path.key("size"), message).help("give a smaller `size`, or a larger `file`")
    })
}
