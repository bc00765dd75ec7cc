//! The streams of a plan: where they go, what they replay, and whether their requests fit there.

use std::path::Path as FilePath;

use headrace_storage::graph::MOST_EXPLAINED;
use headrace_storage::{CartridgeSession, DeviceCatalogue, Graph, System, Trigger};
use headrace_trace::{Replay, ReplayProblem, ReplaySpec, Timing};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Invalid, NodeId, SizeSpec};
use headrace_workload::{ArrivalSpec, DataSet, OpSpec, PatternSpec, Region, StepSpec, StreamSpec, WhenFull};

use super::stream::StreamPlan;
use super::{KnownDevices, extents};
use crate::document::{Path, Problem};
use crate::progress::Progress;
use crate::spec::ScenarioSpec;

/// The streams of a scenario, and what is wrong with them. Where there is no graph, only names are looked up.
pub fn of(
    (spec, system): (&ScenarioSpec, &System),
    graph: Option<&Graph>,
    folder: &FilePath,
    progress: &Progress,
) -> (Vec<StreamPlan>, Vec<Problem>) {
    let mut planner = Planner { spec, system, folder, progress, problems: Vec::new() };
    let mut streams = Vec::new();
    for (name, stream) in &spec.workload {
        let path = Path::of(&["workload", name]);
        let Some(target) = planner.target(&path, stream, graph) else { continue };
        let log = planner.log(&path, stream, target.0, graph);
        let is_trigger = graph.is_some_and(|graph| graph.view(target.0).serves::<Trigger>());
        let trace =
            if is_trigger { planner.trigger(&path, stream) } else { planner.stream(&path, stream, target.1) };
        let extents = extents::place(spec, &path, name, stream, target.1).unwrap_or_else(|problem| {
            planner.say(problem);
            None
        });
        let (name, spec) =
            (name.clone(), StreamSpec { arrivals: planner.arrivals(&path, stream), ..stream.clone() });
        streams.push(StreamPlan { name, spec, target: target.0, trace, log, extents });
    }
    (streams, planner.problems)
}

pub(super) struct Planner<'s> {
    spec: &'s ScenarioSpec,
    system: &'s System<'s>,
    pub(super) folder: &'s FilePath,
    pub(super) progress: &'s Progress,
    problems: Vec<Problem>,
}

impl Planner<'_> {
    pub(super) fn say(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The component a stream goes to, and its capacity.
    fn target(&mut self, path: &Path, stream: &StreamSpec, graph: Option<&Graph>) -> Option<(NodeId, Bytes)> {
        if self.system.count(&stream.to) == 0 {
            self.unknown_target(path, &stream.to);
            return None;
        }
        let graph = graph?;
        let entered = graph.entered(stream.from.as_deref(), &stream.to);
        let target = entered.expect("every way that a stream wants is in the graph");
        let capacity = graph.view(target).capacity();
        let takes_sessions = graph.view(target).serves::<CartridgeSession>();
        if capacity.0 == 0 && !takes_sessions && !graph.view(target).serves::<Trigger>() {
            let message = format!("`{}` holds no data; a stream needs a component that does", stream.to);
            self.say(Problem::at(path.key("to"), message));
            return None;
        }
        if stream.op == OpSpec::Discard && !graph.view(target).discards() {
            let message = format!("`{}` does not discard data", stream.to);
            self.say(Problem::at(path.key("op"), message).help("name a solid-state drive, or write"));
            return None;
        }
        Some((target, capacity))
    }

    fn unknown_target(&mut self, path: &Path, name: &str) {
        if self.spec.parts.contains_key(name) {
            let message = format!("`{name}` is a part, which exists only as a copy in an array");
            let help = format!("define `{name}` under `system:` to make it a component");
            return self.say(Problem::at(path.key("to"), message).help(help));
        }
        if !self.system.errors().is_empty() {
            return; // Components of a group that has errors may be missing.
        }
        let path = path.key("to");
        if let Some((message, help)) = self.system.group_refusal("", name) {
            return self.say(Problem::at(path, message).help(help));
        }
        let problem = Problem::at(path, format!("there is no component `{name}`"));
        let is_explained = self.problems.len() < MOST_EXPLAINED;
        self.say(if is_explained { problem.nearest(name, self.system.names("")) } else { problem });
    }

    /// Checks a stream, and its trace where it replays one.
    fn stream(&mut self, path: &Path, spec: &StreamSpec, capacity: Bytes) -> Option<Replay> {
        self.limits(path, spec);
        match &spec.arrivals {
            ArrivalSpec::Replay(replay) => {
                let trace = self.replay(&path.key("arrivals").key("replay"), replay, capacity);
                if trace.as_ref().is_some_and(|trace| trace.timing() == Timing::Think)
                    && spec.outstanding.is_some()
                {
                    let message = "a trace replayed by think times has one request in flight";
                    let help = "remove `outstanding`, or use `timing: timestamps`";
                    self.say(Problem::at(path.key("outstanding"), message).help(help));
                }
                trace
            }
            ArrivalSpec::Log(_) => None,
            ArrivalSpec::Steps(steps) => {
                self.drawn_stream(path, spec, capacity);
                self.training(path, spec, steps, capacity);
                None
            }
            _ => {
                self.drawn_stream(path, spec, capacity);
                None
            }
        }
    }

    /// Checks a stream of triggers, which have neither data nor addresses.
    fn trigger(&mut self, path: &Path, spec: &StreamSpec) -> Option<Replay> {
        self.limits(path, spec);
        if spec.steps().is_some() || spec.arrivals.file().is_some() {
            let problem = Problem::at(
                path.key("arrivals"),
                format!("`{}` takes triggers, which neither a trace nor training has", spec.to),
            );
            self.say(problem.help("let them come at a rate: `arrivals: {poisson: 1000 /s}`"));
        }
        if spec.draws_requests() {
            let problem = Problem::at(path.clone(), "a trigger has no size, operation or address of its own");
            self.say(problem.help(
                "leave `size`, `op`, `pattern` and the like out; the readout says how large sub-events are",
            ));
        }
        for (field, is_set) in [("timeout", spec.timeout.is_some()), ("from", spec.from.is_some())] {
            if is_set {
                self.say(Problem::at(path.key(field), format!("a stream of triggers has no `{field}`")));
            }
        }
        None
    }

    fn limits(&mut self, path: &Path, spec: &StreamSpec) {
        let closed = spec.arrivals.think().is_some();
        let is_limited = spec.outstanding.is_some() || spec.when_full != WhenFull::Wait;
        if spec.steps().is_some() && is_limited {
            let problem =
                Problem::at(path.key("outstanding"), "each reader thread has one request in flight");
            return self.say(problem.help("remove it; set `arrivals.steps.threads` instead"));
        }
        if closed && (spec.outstanding.is_some() || spec.when_full != WhenFull::Wait) {
            let problem =
                Problem::at(path.key("outstanding"), "a closed stream has `depth` requests in flight");
            self.say(problem.help("remove `outstanding`; set `arrivals.closed.depth` instead"));
        }
        if !closed && spec.outstanding.is_none() && spec.when_full != WhenFull::Wait {
            let problem =
                Problem::at(path.key("when_full"), "`when_full` has no effect without `outstanding`");
            self.say(problem.help("set a limit on requests in flight: `outstanding: 32`"));
        }
        if spec.timeout.is_some_and(|timeout| timeout.0 == 0) {
            self.say(Problem::at(path.key("timeout"), "with a timeout of zero every request expires"));
        }
    }

    fn replay(&mut self, path: &Path, spec: &ReplaySpec, capacity: Bytes) -> Option<Replay> {
        let file = self.folder.join(&spec.trace);
        let problem = match Replay::plan(&file, spec, capacity.0, &self.progress.reads_traces()) {
            Ok(replay) => return Some(replay),
            Err(ReplayProblem::Trace(error)) => Problem::at(path.key("trace"), error.to_string()),
            Err(ReplayProblem::Field(field, message, help)) => {
                Problem::at(path.key(field), message).help(help)
            }
        };
        self.say(problem);
        None
    }

    fn drawn_stream(&mut self, path: &Path, spec: &StreamSpec, capacity: Bytes) {
        let writes = spec.op.reads() < 1.0 && spec.op != OpSpec::Discard;
        let of_writes = [
            ("flush_every", spec.flush_every.is_some()),
            ("durable", spec.durable),
            ("write_size", spec.write_size.is_some()),
        ];
        for (field, is_set) in of_writes {
            if is_set && !writes {
                let message = format!("`{field}` is about writes, and the stream has none");
                self.say(Problem::at(path.key(field), message).help("remove it, or set `op: write`"));
            }
        }
        if spec.flush_every == Some(0) {
            self.say(Problem::at(path.key("flush_every"), "must be at least 1"));
        }
        if let Some(problem) = spec.size.problem() {
            return self.invalid(path.key("size"), problem);
        }
        if let Some(problem) = spec.write_size.as_ref().and_then(SizeSpec::problem) {
            return self.invalid(path.key("write_size"), problem);
        }
        if let Some(problem) = region_problem(path, spec, capacity) {
            return self.say(problem);
        }
        let (_, room) = spec.addressed(capacity);
        let (_, largest) = spec.sizes();
        if largest > room {
            let problem = format!("a request of {largest} does not fit into the {room} it goes to");
            self.say(Problem::at(path.key("size"), problem));
        }
        for (field, bytes) in [("align", spec.align), ("footprint", spec.footprint)] {
            if bytes.is_some_and(|bytes| bytes.0 == 0 || bytes > capacity) {
                let message =
                    format!("`{field}` is at least one byte and at most what is addressed, {capacity}");
                self.say(Problem::at(path.key(field), message));
            }
        }
    }

    /// Checks what training needs beyond drawn requests: a data set of samples that lie side by side.
    fn training(&mut self, path: &Path, spec: &StreamSpec, steps: &StepSpec, capacity: Bytes) {
        let drawn = [
            ("op", spec.op != OpSpec::Read, "reader threads read; `checkpoint` says what is written"),
            (
                "pattern",
                spec.pattern != PatternSpec::Uniform,
                "`arrivals.steps.shuffle` says in which order samples come",
            ),
            (
                "file",
                spec.file.is_some(),
                "each sample lies by itself; `arrivals.steps.samples` says how many there are",
            ),
        ];
        for (field, is_set, help) in drawn {
            if is_set {
                self.say(Problem::at(path.key(field), format!("training has no `{field}`")).help(help));
            }
        }
        let at = path.key("arrivals").key("steps");
        if let Some(invalid) = steps.problem() {
            return self.invalid(at, invalid);
        }
        if let Err(invalid) = DataSet::new(spec, steps, capacity, (0, "")) {
            self.invalid(at, invalid);
        }
    }

    /// Returns the arrivals of a stream with the samples of their times read.
    fn arrivals(&mut self, path: &Path, spec: &StreamSpec) -> ArrivalSpec {
        for problem in [self.threads_problem(path, spec), ending_problem(path, spec, self.spec.run.time)] {
            problem.into_iter().for_each(|problem| self.say(problem));
        }
        let files = KnownDevices::beside(self.folder);
        spec.arrivals.checked(&|sample| files.sample(sample)).unwrap_or_else(|invalid| {
            self.invalid(path.key("arrivals"), invalid);
            spec.arrivals.clone()
        })
    }

    /// Returns an error in the threads of a stream's clients.
    fn threads_problem(&self, path: &Path, spec: &StreamSpec) -> Option<Problem> {
        let ArrivalSpec::Closed { threads: Some(threads), depth, .. } = spec.arrivals else { return None };
        let problem =
            |message: String| Problem::at(path.key("arrivals").key("closed").key("threads"), message);
        let servers = spec.from.as_deref().map_or(0, |from| self.system.count(from));
        if servers > 1 {
            let message =
                format!("threads run on the cores of one server, and the stream comes from {servers}");
            return Some(problem(message).help("name one server in `from`, or leave `threads` out"));
        }
        if spec.from.is_none() {
            let message = "threads run on the cores of a server, and the stream comes from none".to_owned();
            return Some(problem(message).help("say which with `from`, or leave `threads` out"));
        }
        (threads > depth)
            .then(|| problem(format!("{threads} threads cannot share {depth} clients; each needs one")))
    }

    /// Says what is wrong with the value at `path`.
    fn invalid(&mut self, path: Path, invalid: Invalid) {
        let fields = invalid.field.split('.').filter(|field| !field.is_empty());
        let path = fields.fold(path, |path, field| path.key(field));
        self.say(Problem { help: invalid.help.map(str::to_owned), ..Problem::at(path, invalid.message) });
    }
}

/// Returns an error in arrivals that end, if the run does not.
fn ending_problem(path: &Path, spec: &StreamSpec, time: Option<Nanos>) -> Option<Problem> {
    let ends = spec.arrivals.curve()?.ends().filter(|_| time.is_none())?;
    let message =
        format!("no request comes after {ends}, where the last rate is zero, and the run has no end");
    let help = "give the run a `time`, the curve a `period`, or end with a rate above zero";
    Some(Problem::at(path.key("arrivals").key("varying").key("rates"), message).help(help))
}

/// Returns an error in the region of a stream to a component of this `capacity`.
fn region_problem(path: &Path, spec: &StreamSpec, capacity: Bytes) -> Option<Problem> {
    let region = spec.region?;
    let path = path.key("region");
    if spec.footprint.is_some() {
        let help = "remove one: `footprint` is a `region` that starts at 0";
        return Some(Problem::at(path, "`region` and `footprint` both set the addressed bytes").help(help));
    }
    if region.size.0 == 0 {
        return Some(
            Problem::at(path.key("size"), "a region of 0 B is empty").help("give at least one request"),
        );
    }
    let end = region.from.0.saturating_add(region.size.0);
    if end > capacity.0 {
        let Region { from, size } = region;
        let message = format!("{size} from {from} exceed the capacity of `{}`, {capacity}", spec.to);
        let help = "give at most the bytes from `from` to the end of the component";
        return Some(Problem::at(path, message).help(help));
    }
    None
}
