//! `headrace._core`: the only crate that knows Python. Documents go in as text, results come out as JSON, so that Python and
//! `--json` read the same contract.

mod expression;
mod replay;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use headrace_scenario::document::{self, Problems};
use headrace_scenario::experiment::ExperimentFile;
use headrace_scenario::progress::Progress;
use headrace_scenario::run::{End, Options};
use headrace_scenario::{catalog, devices, prepare, results};
use headrace_storage::disk::DiskNumbers;
use headrace_storage::disk::layout::LayoutSpec;
use headrace_trace::{TraceError, TraceFormat};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use replay::{Clock, replayed};
use watch::{sink, unless_interrupted, watched};

create_exception!(
    _core,
    ScenarioError,
    PyException,
    "A scenario that cannot be run. Its text is what a user reads; `problems` is the same as JSON."
);

fn refused(problems: &Problems) -> PyErr {
    let error = ScenarioError::new_err(problems.rendered());
    Python::attach(|py| error.value(py).setattr("problems", problems.to_json().to_string()))
        .map_or_else(|e| e, |()| error)
}

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::ScenarioError;

    #[pymodule_export]
    use super::expression::ParsedExpression;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// The JSON Schema of a `scenario`, an `experiment` or a `device`, as JSON.
    #[pyfunction]
    fn schema(of: &str) -> PyResult<String> {
        match of {
            "scenario" => Ok(document::json_schema().to_string()),
            "experiment" => Ok(document::schema_of::<ExperimentFile>().to_string()),
            "device" => Ok(document::schema_of::<catalog::DeviceFile>().to_string()),
            _ => Err(PyValueError::new_err(format!("unknown document `{of}`"))),
        }
    }

    /// Reads and checks a scenario; returns it with its defaults filled in, as JSON, and what components say of their load.
    #[pyfunction]
    fn check(
        py: Python<'_>,
        text: &str,
        file: &str,
        sets: Vec<(String, String)>,
    ) -> PyResult<(String, Vec<String>)> {
        let progress = Progress::default();
        let plan = watched(py, &progress, None, &Mutex::new(None), || prepare(text, file, &sets, &progress))?;
        let plan = unless_interrupted(understood(plan, &progress)?, &progress)?;
        Ok((json(&plan.spec), headrace_scenario::results::of_components(&plan)))
    }

    /// Reads a scenario; returns it with its defaults filled in, as JSON, whether or not it can work.
    #[pyfunction]
    fn read(text: &str, file: &str, sets: Vec<(String, String)>) -> PyResult<String> {
        let (_, spec) = headrace_scenario::read(text, file, &sets).map_err(|problems| refused(&problems))?;
        Ok(json(&spec))
    }

    /// Reads and checks an experiment; returns it with its defaults filled in, as JSON.
    #[pyfunction]
    fn experiment(text: &str, file: &str) -> PyResult<String> {
        let read = document::read_text::<ExperimentFile>(text, file);
        Ok(json(&read.map_err(|problems| refused(&problems))?.experiment))
    }

    /// The number that `text` is as a `time` (ns), `size` (bytes), `data rate` (bytes a second), `frequency` (a second) or `share`.
    #[pyfunction]
    fn quantity(kind: &str, text: &str) -> PyResult<f64> {
        let read = headrace_units::document::read(kind, text)
            .ok_or_else(|| PyValueError::new_err(format!("unknown quantity `{kind}`")))?;
        read.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Reads a plain number or a quantity of any kind: (number in base units, power of bytes, power of seconds).
    #[pyfunction]
    fn any_quantity(text: &str) -> PyResult<(f64, i32, i32)> {
        expression::any_quantity(text)
    }

    /// Parses an expression of quantities and named values.
    #[pyfunction]
    #[pyo3(name = "expression")]
    fn parsed_expression(text: &str) -> PyResult<ParsedExpression> {
        expression::parsed(text)
    }

    /// The names of all devices, those in `devices/` of the folder `beside` first, as JSON.
    #[pyfunction]
    fn device_names(beside: &str) -> String {
        json(&catalog::all_names(Path::new(beside)))
    }

    /// Whether replications that were run one by one have settled: the means and the settlings that their results have.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over lists")]
    fn have_settled(means: Vec<f64>, settlings: Vec<f64>) -> bool {
        results::have_settled(&means, &settlings)
    }

    /// What to know of intervals of this number of replications; `None` where they are enough.
    #[pyfunction]
    fn of_few(replications: usize) -> Option<String> {
        results::of_few(replications)
    }

    /// Whether a cache that still holds this share of what was written to it is far from steady state.
    #[pyfunction]
    fn is_filling(undestaged: f64) -> bool {
        results::is_filling(undestaged)
    }

    /// What there is to show of a device, as JSON; `None` where there is no such device.
    #[pyfunction]
    fn device(name: &str, beside: &str) -> PyResult<Option<String>> {
        let device =
            devices::device(name, Path::new(beside)).transpose().map_err(|problems| refused(&problems))?;
        Ok(device.map(|device| json(&device)))
    }

    /// The components of a scenario by number, as JSON: path, group, kind; and the names of the groups.
    #[pyfunction]
    fn graph(py: Python<'_>, text: &str, file: &str, sets: Vec<(String, String)>) -> PyResult<String> {
        let progress = Progress::default();
        let plan = watched(py, &progress, None, &Mutex::new(None), || prepare(text, file, &sets, &progress))?;
        let graph = unless_interrupted(understood(plan, &progress)?, &progress)?.graph;
        let nodes = graph.ids().map(|id| {
            let view = graph.view(id);
            serde_json::json!({ "path": view.path(), "group": graph.group(id), "kind": view.kind() })
        });
        Ok(serde_json::json!({ "components": nodes.collect::<Vec<_>>(), "groups": graph.groups }).to_string())
    }

    /// Solves a scenario by formulas and returns the solution as JSON. `range` is the first and the last load, in requests per
    /// second or clients; without it, from little to saturation.
    #[pyfunction]
    fn solve(
        py: Python<'_>,
        text: &str,
        file: &str,
        sets: Vec<(String, String)>,
        range: Option<(f64, f64)>,
    ) -> PyResult<String> {
        let progress = Progress::default();
        let solve = || headrace_scenario::solve(text, file, &sets, range, &progress);
        let solved = watched(py, &progress, None, &Mutex::new(None), solve)?;
        unless_interrupted(json(&understood(solved, &progress)?), &progress)
    }

    /// Runs a scenario without the interpreter's lock; returns its results, and the journeys of its `first` requests, as
    /// JSON. `watch` is called a few times a second with (requests answered, requests wanted, longest queues), before the run
    /// with (requests read from a trace, 0, nothing). `requests` gets every request in parts: (replication, part,
    /// columns, for each group of components waiting, service and blocked time). Without `theory` nothing is said of it. `replication` is the
    /// number of the first replication, where it is one of a set. Ctrl-C ends the run, and what it found until then is returned, marked incomplete.
    /// Intervals are `widen` times as wide as those of a number of replications that was settled on beforehand.
    #[pyfunction]
    #[expect(clippy::too_many_arguments, reason = "they are what the Python side names")]
    fn run(
        py: Python<'_>,
        text: &str,
        file: &str,
        sets: Vec<(String, String)>,
        threads: usize,
        watch: Option<Py<PyAny>>,
        requests: Option<Py<PyAny>>,
        first: u64,
        theory: bool,
        replication: Option<u64>,
        widen: f64,
    ) -> PyResult<(String, String)> {
        let lost = Arc::new(Mutex::new(None));
        let sink = requests.map(|take| sink(take, Arc::clone(&lost)));
        let options = Options { threads, replication, first, requests: sink, theory, widen };
        let progress = Progress::default();
        let simulate = || headrace_scenario::simulate(text, file, &sets, &options, &progress);
        let found = watched(py, &progress, watch.as_ref(), &lost, simulate)?;
        let mut found = understood(found, &progress)?;
        // Results that were cut short say so themselves, though every replication that was begun may be done.
        if found.results.complete {
            unless_interrupted((), &progress)?;
        } else if progress.cancelled.load(Ordering::Relaxed) {
            found.results.ended = End::Cancelled;
        }
        Ok((json(&found.results), json(&found.journeys)))
    }

    /// The numbers of a device as they stand in its file, as JSON; `None` where there is no such device.
    #[pyfunction]
    fn device_numbers(name: &str, beside: &str) -> PyResult<Option<String>> {
        let beside = Path::new(beside);
        if catalog::is_ssd(name, beside) {
            let numbers = catalog::ssd(name, beside).transpose().map_err(|problems| refused(&problems))?;
            return Ok(numbers.map(|numbers| json(&numbers)));
        }
        let numbers = catalog::disk(name, beside).transpose().map_err(|problems| refused(&problems))?;
        Ok(numbers.map(|numbers| json(&numbers)))
    }

    /// The numbers of a device as they stand in the `text` of its file, checked, as JSON.
    #[pyfunction]
    fn read_device(text: &str, file: &str) -> PyResult<String> {
        let numbers: Result<DiskNumbers, Problems> = document::read_text(text, file);
        let sound = numbers.and_then(|numbers| catalog::sound(numbers, file));
        Ok(json(&sound.map_err(|problems| refused(&problems))?))
    }

    /// How many sectors a disk's layout (as a device file has it) holds; refused where it has problems.
    #[pyfunction]
    fn layout_sectors(layout: &str) -> PyResult<u64> {
        let read: Result<LayoutSpec, Problems> = document::read_text(layout, "layout");
        let layout = read.map_err(|problems| refused(&problems))?;
        match layout.problem() {
            None => Ok(layout.sectors()),
            Some((zone, problem)) => {
                Err(refused(&Problems::file("layout", format!("zone {zone}: {problem}"), "")))
            }
        }
    }

    /// Replays a trace on a drive of these `numbers` (a device file's text), once for each of `phases`. `clock` is
    /// `simulated`, `drawn` (the same, but where the platter is at each request is drawn) or `measured`. Returns columns of
    /// 64-bit numbers as bytes: write (1 or 0), address, bytes, measured ns, how far apart from the request before (0 on its
    /// track, 1 in its cylinder, 2 in its zone, 3 further), and, phase after phase, simulated ns, way (0 cache, 1
    /// read-ahead, 2 platter), ns moved, ns waited, ns when it was issued.
    #[pyfunction]
    fn replay_on_drive(
        py: Python<'_>,
        numbers: &str,
        path: PathBuf,
        clock: &str,
        phases: Vec<f64>,
    ) -> PyResult<Vec<Py<PyBytes>>> {
        let numbers: DiskNumbers = document::read_text(numbers, "device")
            .and_then(|numbers| catalog::sound(numbers, "device"))
            .map_err(|problems| refused(&problems))?;
        let clock = Clock::named(clock)?;
        let columns = py.detach(|| replayed(&numbers, &path, clock, &phases))?;
        Ok(columns.iter().map(|column| PyBytes::new(py, column).unbind()).collect())
    }

    /// Characterises a trace; as JSON. `format` is a word or a map as a scenario has it; none for the one its first lines tell.
    #[pyfunction]
    fn trace_info(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        skip_bad: bool,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let format = format.map(|text| trace_format(text, "--format")).transpose()?;
        let progress = Progress::default();
        let read = || {
            let go_on = progress.reads_traces();
            headrace_trace::characterise_file(&path, format.as_ref(), skip_bad, &go_on)
        };
        let (format, info) = traced(watched(py, &progress, watch.as_ref(), &Mutex::new(None), read)?, &path)?;
        let told = serde_json::json!({ "format": format, "info": info }).to_string();
        unless_interrupted(told, &progress)
    }

    /// Writes a trace in another format; returns how many requests, as JSON. Formats as for `trace_info`.
    #[pyfunction]
    fn trace_convert(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        skip_bad: bool,
        to: PathBuf,
        to_format: &str,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let format = format.map(|text| trace_format(text, "--format")).transpose()?;
        let to_format = trace_format(to_format, "--to")?;
        let progress = Progress::default();
        let write = || {
            let go_on = progress.reads_traces();
            let mut reader = headrace_trace::from_the_earliest(&path, format.as_ref(), skip_bad, &go_on)?;
            headrace_trace::convert(&mut reader, &to, &to_format, &go_on)
        };
        let written = traced(watched(py, &progress, watch.as_ref(), &Mutex::new(None), write)?, &path)?;
        unless_interrupted(json(&written), &progress)
    }
}

/// What a scenario gave; its errors where it made any, unless they are that someone lost patience.
fn understood<T>(result: Result<T, Problems>, progress: &Progress) -> PyResult<T> {
    result.map_err(|problems| match progress.cancelled.load(Ordering::Relaxed) {
        true => PyKeyboardInterrupt::new_err(()),
        false => refused(&problems),
    })
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it is made of strings and numbers")
}

/// A trace format from its text; refused as a scenario's errors are.
fn trace_format(text: &str, option: &str) -> PyResult<TraceFormat> {
    document::read_text(text, option).map_err(|problems| refused(&problems))
}

/// What reading a trace gave; its error in the form of a scenario's errors.
fn traced<T>(read: Result<T, TraceError>, path: &Path) -> PyResult<T> {
    read.map_err(|error| match error {
        TraceError::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => refused(&Problems::file(
            &path.display().to_string(),
            error.to_string(),
            "`--help` lists the formats",
        )),
    })
}
