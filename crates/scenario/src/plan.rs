//! From what a user wrote to what can be run: names looked up, files read, and what cannot work refused in words.

mod extents;
mod files;
mod stream;
mod streams;

use std::path::{Path as FilePath, PathBuf};

use headrace_storage::{Device, DeviceCatalogue, DeviceLookup, Graph, LoweringError, WantedRoute, lower};
use headrace_work::NodeId;

use crate::catalog;
use crate::document::{Path, Problem, Problems};
use crate::faults::{self, Fault};
use crate::progress::Progress;
use crate::spec::{RunSpec, ScenarioSpec};

pub use stream::StreamPlan;

/// A scenario in which nothing is left to go wrong before it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario as the user wrote it, defaults filled in.
    pub spec: ScenarioSpec,
    /// The components, and who uses whom.
    pub graph: Graph,
    /// The streams.
    pub streams: Vec<StreamPlan>,
    /// The components that fail, and when.
    pub faults: Vec<Fault>,
}

impl Plan {
    /// Length of the run, seed, and warm-up.
    pub fn run(&self) -> &RunSpec {
        &self.spec.run
    }

    /// Whether components fail or are rebuilt during a run, so that it has phases rather than one steady state.
    pub fn has_phases(&self) -> bool {
        !self.faults.is_empty() || self.graph.nodes.iter().any(|node| node.plan.theory().features().changes)
    }

    /// The streams that go to a component.
    pub fn streams_to(&self, target: NodeId) -> impl Iterator<Item = &StreamPlan> {
        self.streams.iter().filter(move |stream| stream.target == target)
    }

    /// The components that streams go to, each once, in the order of the streams.
    pub fn targets(&self) -> Vec<NodeId> {
        let mut targets = Vec::new();
        for stream in &self.streams {
            if !targets.contains(&stream.target) {
                targets.push(stream.target);
            }
        }
        targets
    }
}

/// Plans a scenario that came from `file`, or returns all its errors.
pub fn of(spec: ScenarioSpec, file: &FilePath, progress: &Progress) -> Result<Plan, Vec<Problem>> {
    let folder = file.parent().unwrap_or(FilePath::new("")).to_owned();
    let mut problems = names(&spec);
    let devices = KnownDevices { folder: folder.clone() };
    let graph = lower(&spec.parts, &spec.system, &routes(&spec), &devices);
    let graph = graph.map_err(|errors| problems.extend(errors.into_iter().map(problem)));
    let (streams, wrong) = streams::of(&spec, graph.as_ref().ok(), &folder, progress);
    problems.extend(wrong);
    let faults =
        graph.as_ref().map_or_else(|()| Vec::new(), |graph| faults::of(&spec.faults, graph, &mut problems));
    match graph {
        Ok(graph) if problems.is_empty() => Ok(Plan { graph, streams, faults, spec }),
        _ => Err(problems),
    }
}

/// The routes that streams want.
fn routes(spec: &ScenarioSpec) -> Vec<WantedRoute> {
    let wanted = spec.workload.iter().filter_map(|(name, stream)| {
        let from = stream.from.clone()?;
        Some(WantedRoute { stream: name.clone(), from, to: stream.to.clone() })
    });
    wanted.collect()
}

/// The devices that a scenario in this folder can name.
struct KnownDevices {
    folder: PathBuf,
}

impl DeviceCatalogue for KnownDevices {
    fn device(&self, kind: &'static str, name: &str) -> DeviceLookup {
        let other = catalog::kind(name, &self.folder).filter(|other| *other != kind);
        match (other, kind) {
            (Some("ssd"), _) => DeviceLookup::Other(("ssd", "solid-state drive")),
            (Some(other), _) => DeviceLookup::Other((other, "disk")),
            (None, "ssd") => self.found(catalog::ssd(name, &self.folder)),
            (None, _) => self.found(catalog::disk(name, &self.folder)),
        }
    }
}

impl KnownDevices {
    fn found<D: Device>(&self, read: Option<Result<D, Problems>>) -> DeviceLookup {
        match read {
            Some(Ok(device)) => DeviceLookup::Found(Box::new(device)),
            Some(Err(problems)) => DeviceLookup::Broken(problems.rendered()),
            None => DeviceLookup::Unknown(catalog::all_names(&self.folder)),
        }
    }
}

fn problem(error: LoweringError) -> Problem {
    let field: Vec<&str> = error.field.iter().map(String::as_str).collect();
    let problem = Problem { help: error.help, ..Problem::at(Path::of(&field), error.message) };
    match error.unknown {
        Some((name, known)) => problem.nearest(&name, known.iter().map(String::as_str)),
        None => problem,
    }
}

/// Names stand in paths, sentences and tables, so they are plain words.
fn names(spec: &ScenarioSpec) -> Vec<Problem> {
    let parts = spec.parts.keys().map(|name| ("parts", name));
    let system = spec.system.keys().map(|name| ("system", name));
    let workload = spec.workload.keys().map(|name| ("workload", name));
    let wrong =
        parts.chain(system).chain(workload).filter(|(_, name)| !is_plain(name)).map(|(within, name)| {
            let message = format!("`{}` is an invalid name", name.escape_debug());
            Problem::at(Path::of(&[within, name]), message)
                .help("names consist of letters, digits, `_`, `-` and spaces")
        });
    let none =
        spec.workload.is_empty().then(|| Problem::at(Path::of(&["workload"]), "no streams are defined"));
    none.into_iter().chain(wrong).collect()
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    !name.trim().is_empty() && name.chars().all(plain)
}
