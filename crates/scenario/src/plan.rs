//! From what a user wrote to what can be built: names looked up, files read, and what cannot work refused in words.

use std::path::Path as FilePath;

use headrace_storage::disk::{DeviceRef, MOST_BYTES};
use headrace_storage::{Blueprint, DiskNumbers};
use headrace_workload::trace::{Replay, ReplayProblem, ReplaySpec, Timing};
use headrace_workload::{ArrivalSpec, Op, StreamSpec};

use crate::catalog;
use crate::document::{Path, Problem};
use crate::run::Onlooker;
use crate::spec::{ComponentSpec, RunSpec, ScenarioSpec};

/// A system of more components is refused: each takes some hundred bytes, and none is drawn as one of so many.
const MOST_COMPONENTS: u64 = 100_000;

/// Arrays may contain arrays so deep.
const DEEPEST: usize = 16;

/// A scenario in which nothing is left to go wrong before it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario as the user wrote it, defaults filled in.
    pub spec: ScenarioSpec,
    /// The components that streams go to, each once.
    pub targets: Vec<(String, Blueprint)>,
    /// The streams.
    pub streams: Vec<StreamPlan>,
}

/// A stream that can be run.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// Its name.
    pub name: String,
    /// What the user wrote.
    pub spec: StreamSpec,
    /// Which of the plan's targets it goes to.
    pub target: usize,
    /// What it replays.
    pub trace: Option<Replay>,
}

impl Plan {
    /// How long to run, and from which seed.
    pub fn run(&self) -> &RunSpec {
        &self.spec.run
    }

    /// The blueprint a stream's requests go to.
    pub fn target(&self, stream: &StreamPlan) -> &Blueprint {
        &self.targets[stream.target].1
    }
}

/// Plans a scenario that came from `file`; every mistake in it where it makes any.
pub fn of(spec: ScenarioSpec, file: &FilePath, onlooker: &Onlooker) -> Result<Plan, Vec<Problem>> {
    let folder = file.parent().unwrap_or(FilePath::new("")).to_owned();
    let mut planner = Planner { spec: &spec, folder, onlooker, problems: Vec::new() };
    let (targets, streams) = planner.all();
    if planner.problems.is_empty() { Ok(Plan { targets, streams, spec }) } else { Err(planner.problems) }
}

struct Planner<'s> {
    spec: &'s ScenarioSpec,
    folder: std::path::PathBuf,
    onlooker: &'s Onlooker,
    problems: Vec<Problem>,
}

impl Planner<'_> {
    fn all(&mut self) -> (Vec<(String, Blueprint)>, Vec<StreamPlan>) {
        if self.spec.workload.is_empty() {
            self.say(Problem::at(Path::of(&["workload"]), "there is no stream: nothing would happen"));
        }
        self.names("system", self.spec.system.keys());
        self.names("workload", self.spec.workload.keys());
        // Every component is looked at, also one that nothing uses: a mistake in it is a mistake.
        let blueprints: Vec<(String, Option<Blueprint>)> = self
            .spec
            .system
            .keys()
            .map(|name| (name.clone(), self.component(name, &mut Vec::new())))
            .collect();
        let (mut targets, mut streams) = (Vec::new(), Vec::new());
        for (name, spec) in &self.spec.workload {
            let path = Path::of(&["workload", name]);
            let Some((_, blueprint)) = blueprints.iter().find(|(component, _)| *component == spec.to) else {
                let problem = Problem::at(path.key("to"), format!("there is no component `{}`", spec.to));
                self.say(problem.nearest(&spec.to, self.spec.system.keys().map(String::as_str)));
                continue;
            };
            let Some(blueprint) = blueprint else { continue };
            let target = targets.iter().position(|(known, _)| *known == spec.to).unwrap_or_else(|| {
                targets.push((spec.to.clone(), blueprint.clone()));
                targets.len() - 1
            });
            let trace = self.stream(&path, spec, blueprint);
            streams.push(StreamPlan { name: name.clone(), spec: spec.clone(), target, trace });
        }
        (targets, streams)
    }

    /// Names stand in paths, sentences and tables, so they are plain words.
    fn names<'n>(&mut self, within: &str, names: impl Iterator<Item = &'n String>) {
        for name in names {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
            if name.trim().is_empty() || !name.chars().all(plain) {
                let problem = Problem::at(
                    Path::of(&[within, name]),
                    format!("`{}` cannot be a name", name.escape_debug()),
                );
                self.say(problem.help("a name has letters, digits, `_`, `-`, `.` and spaces"));
            }
        }
    }

    fn say(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The blueprint of the component `name`; `None` where something is wrong with it, which is then said. `within` are
    /// the arrays on the way to it.
    fn component(&mut self, name: &str, within: &mut Vec<String>) -> Option<Blueprint> {
        let path = Path::of(&["system", name]);
        match &self.spec.system[name] {
            ComponentSpec::Disk(disk) => {
                if let Some((field, problem, help)) = disk.problem() {
                    self.say(Problem::at(path.key(field), problem).help(help));
                    return None;
                }
                let numbers = self.numbers(&disk.device, &path.key("device"))?;
                Some(Blueprint::Disk(Box::new(numbers), Box::new(disk.clone())))
            }
            ComponentSpec::Station(station) => {
                let nothing =
                    (station.service.law().mean() <= 0.0).then(|| "a service takes some time".to_owned());
                if let Some(problem) = station.service.problem().or(nothing) {
                    self.say(Problem::at(path.key("service"), problem));
                    return None;
                }
                if station.capacity.0 > MOST_BYTES {
                    self.say(Problem::at(path.key("capacity"), "a station addresses at most 1 EiB"));
                    return None;
                }
                Some(Blueprint::Station(station.clone()))
            }
            ComponentSpec::Array(array) => {
                let of = self.member(&array.of, name, &path, within)?;
                if array.stripe_unit.0 == 0 || array.stripe_unit > of.capacity() {
                    let problem = format!(
                        "a stripe unit of {} does not fit on a disk of {}; give at least 1 B and at most that",
                        array.stripe_unit,
                        of.capacity()
                    );
                    self.say(Problem::at(path.key("stripe_unit"), problem));
                    return None;
                }
                self.sensible(Blueprint::Array(array.clone(), Box::new(of)), &path)
            }
        }
    }

    /// The same, unless it is larger than can be simulated.
    fn sensible(&mut self, array: Blueprint, path: &Path) -> Option<Blueprint> {
        let (components, capacity) = (array.components(), array.capacity());
        if components > MOST_COMPONENTS {
            let message = format!(
                "it would be made of {components} components; at most {MOST_COMPONENTS} can be simulated"
            );
            self.say(Problem::at(path.key("disks"), message));
        } else if capacity.0 > MOST_BYTES {
            self.say(Problem::at(
                path.key("disks"),
                format!("it would hold {capacity}; at most 1 EiB can be addressed"),
            ));
        } else {
            return Some(array);
        }
        None
    }

    /// What the array `name` is made of.
    fn member(&mut self, of: &str, name: &str, path: &Path, within: &mut Vec<String>) -> Option<Blueprint> {
        let path = path.key("of");
        if !self.spec.system.contains_key(of) {
            let problem = Problem::at(path, format!("there is no component `{of}`"));
            let others = self.spec.system.keys().map(String::as_str).filter(|other| *other != name);
            self.say(problem.nearest(of, others));
            return None;
        }
        within.push(name.to_owned());
        if within.len() > DEEPEST {
            self.say(Problem::at(path, format!("arrays within arrays, more than {DEEPEST} deep")));
            return None;
        }
        if within.iter().any(|array| array == of) {
            self.say(Problem::at(
                path,
                format!("`{}` would contain itself: {} → {of}", of, within.join(" → ")),
            ));
            return None;
        }
        let member = self.component(of, within);
        within.pop();
        member
    }

    fn numbers(&mut self, device: &DeviceRef, path: &Path) -> Option<DiskNumbers> {
        let numbers = match device {
            DeviceRef::Numbers(numbers) => (**numbers).clone(),
            DeviceRef::Named(name) => match catalog::disk(name, &self.folder) {
                Some(Ok(numbers)) => numbers,
                Some(Err(problems)) => {
                    let message = format!("the file of `{name}` has mistakes");
                    self.say(Problem::at(path.clone(), message).help(problems.rendered()));
                    return None;
                }
                None => {
                    let problem = Problem::at(path.clone(), format!("there is no device `{name}`"));
                    let known = catalog::all_names(&self.folder);
                    self.say(problem.nearest(name, known.iter().map(String::as_str)));
                    return None;
                }
            },
        };
        let problems = numbers.problems();
        for (field, problem) in &problems {
            self.say(Problem::at(path.key(*field), format!("this disk cannot be: {problem}")));
        }
        problems.is_empty().then_some(numbers)
    }

    /// Looks a stream over, and its trace where it replays one.
    fn stream(&mut self, path: &Path, spec: &StreamSpec, target: &Blueprint) -> Option<Replay> {
        match &spec.arrivals {
            ArrivalSpec::Replay(replay) => self.replay(&path.key("arrivals").key("replay"), replay, target),
            _ => {
                self.drawn_stream(path, spec, target);
                None
            }
        }
    }

    fn replay(&mut self, path: &Path, spec: &ReplaySpec, target: &Blueprint) -> Option<Replay> {
        let file = self.folder.join(&spec.trace);
        let problem = match Replay::plan(&file, spec, target.capacity().0, &self.onlooker.reads_traces()) {
            Ok(replay) => return Some(replay),
            Err(ReplayProblem::Trace(error)) => Problem::at(path.key("trace"), error.to_string()),
            Err(ReplayProblem::Field(field, message, help)) => {
                Problem::at(path.key(field), message).help(help)
            }
        };
        self.say(problem);
        None
    }

    fn drawn_stream(&mut self, path: &Path, spec: &StreamSpec, target: &Blueprint) {
        if let Some(problem) = spec.size.problem() {
            return self.say(Problem::at(path.key("size"), problem));
        }
        let room = spec.footprint.map_or(target.capacity(), |footprint| footprint.min(target.capacity()));
        let (_, largest) = spec.size.bounds();
        if largest > room {
            let problem = format!("a request of {largest} does not fit into the {room} it goes to");
            self.say(Problem::at(path.key("size"), problem));
        }
        for (field, bytes) in [("align", spec.align), ("footprint", spec.footprint)] {
            if bytes.is_some_and(|bytes| bytes.0 == 0 || bytes > target.capacity()) {
                let message = format!(
                    "`{field}` is at least one byte and at most what is addressed, {}",
                    target.capacity()
                );
                self.say(Problem::at(path.key(field), message));
            }
        }
        if let Some(problem) = spec.arrivals.problem() {
            self.say(Problem::at(path.key("arrivals"), problem));
        }
        if let ArrivalSpec::Closed { think, .. } = &spec.arrivals
            && let Some(problem) = think.problem()
        {
            self.say(Problem::at(path.key("arrivals").key("closed").key("think"), problem));
        }
    }
}

impl StreamPlan {
    /// Whether it has both reads and writes.
    pub fn is_mixed(&self) -> bool {
        match &self.trace {
            None => (0.0..1.0).contains(&self.spec.op.reads()) && self.spec.op.reads() > 0.0,
            Some(trace) => (1..trace.survey.requests).contains(&trace.survey.reads),
        }
    }

    /// Whether requests come whatever became of those before them.
    pub fn is_open(&self) -> bool {
        match &self.trace {
            None => self.spec.arrivals.mean_rate().is_some(),
            Some(trace) => trace.timing() == Timing::Timestamps,
        }
    }

    /// Every kind of request that occurs, with its probability: (probability, op, bytes). For streams that draw theirs.
    pub fn kinds(&self) -> Vec<(f64, Op, u64)> {
        let reads = self.spec.op.reads();
        let ops = [(reads, Op::Read), (1.0 - reads, Op::Write)];
        let sizes = self.spec.size.support(1000);
        let kinds = ops.iter().flat_map(|(p, op)| sizes.iter().map(move |(q, size)| (p * q, *op, size.0)));
        kinds.filter(|(p, ..)| *p > 0.0).collect()
    }
}
