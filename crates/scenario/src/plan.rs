//! From what a user wrote to what can be run: names looked up, files read, and what cannot work refused in words.

mod extents;
mod files;
mod objectives;
pub mod split;
mod stream;
mod streams;

use std::collections::BTreeSet;
use std::path::{Path as FilePath, PathBuf};

use headrace_kernel::RngStream;
use headrace_storage::graph::{GroupMembers, GroupSpec};
use headrace_storage::{
    DeviceCatalogue, DeviceLookup, Graph, LoweringError, System, SystemSpec, WantedWay, lower,
};
use headrace_units::Nanos;
use headrace_work::{EmpiricalSpec, Invalid, NodeId};
use indexmap::IndexMap;

use crate::document::{Path, Problem};
use crate::faults::{self, Fault};
use crate::progress::Progress;
use crate::spec::{RunSpec, ScenarioSpec, WarmUp};
use crate::{catalog, devices};

pub use objectives::Objective;
pub use split::Split;
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
    /// Shares of requests that are to be answered in time.
    pub objectives: Vec<Objective>,
    /// The replications that a long run is split into.
    pub split: Split,
    /// True if the health of a component changes by itself: it is rebuilt.
    changes: bool,
    /// True if a stream replays what was recorded, or its rate follows a curve.
    follows_time: bool,
}

impl Plan {
    /// Length of the run, seed, and warm-up.
    pub fn run(&self) -> &RunSpec {
        &self.spec.run
    }

    /// Returns true if components fail or are rebuilt during a run, so that it has phases rather than one steady state.
    pub fn has_phases(&self) -> bool {
        !self.faults.is_empty() || self.changes
    }

    /// The number of requests that one replication completes: those asked for, or its part of them where the run is split, or the trace
    /// where one is replayed; the maximum where the time alone ends it.
    pub fn requests(&self) -> u64 {
        let recorded: Option<Vec<u64>> = self.streams.iter().map(StreamPlan::recorded).collect();
        let asked = self.run().requests.map_or(u64::MAX, |asked| asked.div_ceil(u64::from(self.split.parts)));
        recorded.map_or(asked, |recorded| recorded.into_iter().sum())
    }

    /// Maximum number of events of one replication.
    pub fn events(&self) -> u64 {
        self.run().limits.events.div_ceil(u64::from(self.split.parts))
    }

    /// The number of replications: those asked for, or those that the only one is split into.
    pub fn replications(&self) -> u32 {
        self.run().replications * self.split.parts
    }

    /// Returns true if the scenario asks for its run to be split. Several replications share processors as they are.
    pub fn is_to_split(&self) -> bool {
        self.run().split && self.run().replications == 1
    }

    /// Returns true if nothing is left out as warm-up: where that is asked for, where components fail, since there is no one steady
    /// state then, where a rate varies with time, and of a replayed trace, which is compared with what was measured, request for request.
    pub fn is_whole(&self) -> bool {
        self.run().warm_up == WarmUp::None || self.has_phases() || self.follows_time
    }

    /// The seed of a replication: the first has the scenario's own; those of the others are drawn from it.
    pub fn seed(&self, replication: u64) -> u64 {
        let root = self.run().seed;
        if replication == 0 {
            root
        } else {
            RngStream::named(root, "", "replications").of(replication).bits()
        }
    }

    /// The components that streams go to, each once, in the order of the streams.
    pub fn targets(&self) -> Vec<NodeId> {
        let mut seen = BTreeSet::new();
        self.streams.iter().map(|stream| stream.target).filter(|target| seen.insert(*target)).collect()
    }
}

/// Plans a scenario that came from `file`, or returns all its errors; to have no streams is one.
pub fn of(spec: ScenarioSpec, file: &FilePath, progress: &Progress) -> Result<Plan, Vec<Problem>> {
    let none =
        spec.workload.is_empty().then(|| Problem::at(Path::of(&["workload"]), "no streams are defined"));
    match (with_any_streams(spec, file, progress), none) {
        (planned, None) => planned,
        (planned, Some(none)) => Err(planned.err().into_iter().flatten().chain([none]).collect()),
    }
}

/// Plans a scenario that came from `file`, with or without streams, or returns all its errors.
pub fn with_any_streams(
    spec: ScenarioSpec,
    file: &FilePath,
    progress: &Progress,
) -> Result<Plan, Vec<Problem>> {
    let folder = file.parent().unwrap_or(FilePath::new("")).to_owned();
    let mut problems = names(&spec);
    problems.extend(spec.run.time.filter(|time| *time == Nanos::ZERO).map(|_| {
        Problem::at(Path::of(&["run", "time"]), "a run of no time answers no request")
            .help("give a time above 0 s")
    }));
    let devices = KnownDevices::beside(&folder);
    let system = System::of(&spec.parts, &spec.system);
    let graph = lower(&spec.parts, &system, &ways(&spec), &devices);
    let graph = graph.map_err(|errors| problems.extend(errors.into_iter().map(problem)));
    let (streams, wrong) = streams::of((&spec, &system), graph.as_ref().ok(), &folder, progress);
    problems.extend(wrong);
    let faults =
        graph.as_ref().map_or_else(|()| Vec::new(), |graph| faults::of(&spec.faults, graph, &mut problems));
    // Streams that go nowhere are not among those of the plan.
    let objectives =
        if problems.is_empty() { objectives::of(&spec, &streams, &mut problems) } else { Vec::new() };
    match graph {
        Ok(graph) if problems.is_empty() => {
            let changes = graph.nodes.iter().any(|node| node.plan.theory().features().changes);
            let follows_time = streams.iter().any(|stream| stream.is_recorded() || stream.curve().is_some());
            let split = Split::NONE;
            let plan = Plan { graph, streams, faults, objectives, split, changes, follows_time, spec };
            split::problem(&plan).map_or(Ok(plan), |problem| Err(vec![problem]))
        }
        _ => Err(problems),
    }
}

/// Where streams come from and go to.
fn ways(spec: &ScenarioSpec) -> Vec<WantedWay> {
    let wanted = spec.workload.iter().map(|(name, stream)| WantedWay {
        stream: name.clone(),
        from: stream.from.clone(),
        to: stream.to.clone(),
    });
    wanted.collect()
}

/// The devices and samples that a scenario in this folder can name.
pub(crate) struct KnownDevices {
    folder: PathBuf,
}

impl DeviceCatalogue for KnownDevices {
    fn device(&self, kind: &'static str, name: &str) -> DeviceLookup {
        match devices::kind(name, &self.folder) {
            Some(other) if other.component != kind => DeviceLookup::Other((other.component, other.name)),
            _ => match devices::numbers_for(kind, name, &self.folder) {
                Some(Ok(numbers)) => DeviceLookup::Found(numbers),
                Some(Err(problems)) => DeviceLookup::Broken(problems.rendered()),
                None => DeviceLookup::Unknown(catalog::candidates(name, &self.folder)),
            },
        }
    }

    fn sample(&self, sample: &EmpiricalSpec) -> Result<Vec<(Nanos, f64)>, Invalid> {
        headrace_trace::sample(&self.folder.join(sample.file.as_deref().unwrap_or_default()), sample)
    }
}

impl KnownDevices {
    /// Those that a scenario in `folder` can name.
    pub fn beside(folder: &FilePath) -> Self {
        Self { folder: folder.to_owned() }
    }
}

/// Returns an error of lowering as one of the document.
pub(crate) fn problem(error: LoweringError) -> Problem {
    let field: Vec<&str> = error.field.iter().map(String::as_str).collect();
    let problem = Problem { help: error.help, ..Problem::at(Path::of(&field), error.message) };
    match error.unknown {
        Some((name, known)) => problem.nearest(&name, known.iter().map(String::as_str)),
        None => problem,
    }
}

/// Names stand in paths, sentences and tables, so they are plain words.
fn names(spec: &ScenarioSpec) -> Vec<Problem> {
    let of = |within: &str, names: Vec<&String>| -> Vec<(Path, String)> {
        names.into_iter().map(|name| (Path::of(&[within, name]), name.clone())).collect()
    };
    let parts = of("parts", spec.parts.keys().collect());
    let system = names_in(&spec.system, &Path::of(&["system"]));
    let workload = of("workload", spec.workload.keys().collect());
    let all = parts.into_iter().chain(system).chain(workload);
    let wrong = all.filter(|(_, name)| !is_plain(name)).map(|(path, name)| {
        let message = format!("`{}` is an invalid name", name.escape_debug());
        Problem::at(path, message).help("names consist of letters, digits, `_`, `-` and spaces")
    });
    wrong.collect()
}

/// The names of entries of a system and of those within its groups, with their places.
fn names_in(entries: &IndexMap<String, SystemSpec>, path: &Path) -> Vec<(Path, String)> {
    let each = |(name, entry): (&String, &SystemSpec)| {
        let own = path.key(name);
        let within = match entry {
            SystemSpec::Group(GroupSpec { of: GroupMembers::System(inner), .. }) => {
                names_in(inner, &own.key("of"))
            }
            _ => Vec::new(),
        };
        std::iter::once((own, name.clone())).chain(within)
    };
    entries.iter().flat_map(each).collect()
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    !name.trim().is_empty() && name.chars().all(plain)
}
