//! `headrace._core`: the only crate that knows Python. Documents go in as text, results come out as JSON, so that Python and
//! `--json` read the same contract.

mod embedded;
mod expression;
mod plan;
mod replay;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use headrace_scenario::document::{self, Problems};
use headrace_scenario::durability::Durability;
use headrace_scenario::experiment::ExperimentFile;
use headrace_scenario::progress::Progress;
use headrace_scenario::solve::Solved;
use headrace_scenario::{catalog, devices, results, scenario_schema};
use headrace_storage::disk::DiskNumbers;
use headrace_storage::disk::layout::LayoutSpec;
use headrace_trace::{TraceError, TraceFormat};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use plan::PlanHandle;
use replay::{Clock, replayed};
use watch::{unless_interrupted, watched};

create_exception!(
    headrace,
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
    use super::{PlanHandle, ScenarioError};

    #[pymodule_export]
    use super::embedded::StorageHandle;
    #[pymodule_export]
    use super::expression::ParsedExpression;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// The JSON Schema of a `scenario`, an `experiment`, a `device`, the `results` of a run, a `solution` or `durability`, as JSON.
    #[pyfunction]
    fn schema(of: &str) -> PyResult<String> {
        match of {
            "scenario" => Ok(scenario_schema().to_string()),
            "experiment" => Ok(document::schema_of::<ExperimentFile>().to_string()),
            "results" => Ok(document::schema_of_output::<results::Results>().to_string()),
            "solution" => Ok(document::schema_of_output::<Solved>().to_string()),
            "durability" => Ok(document::schema_of_output::<Durability>().to_string()),
            "device" => Ok(document::schema_of::<devices::DeviceFile>().to_string()),
            _ => Err(PyValueError::new_err(format!("unknown document `{of}`"))),
        }
    }

    /// Reads a scenario once; see [`PlanHandle`]. `sets` are values to put instead of what the text has: (`run.seed`, `7`). `jobs` reads
    /// a job file of fio that the scenario names: it gets and returns JSON.
    #[pyfunction]
    fn prepare(
        py: Python<'_>,
        text: &str,
        file: &str,
        sets: Vec<(String, String)>,
        jobs: Py<PyAny>,
    ) -> PyResult<PlanHandle> {
        PlanHandle::read(py, text, file, &sets, &jobs)
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

    /// The names of the devices that may be meant by a name that none has, as JSON: those with all words of it, or all.
    #[pyfunction]
    fn device_candidates(name: &str, beside: &str) -> String {
        json(&catalog::candidates(name, Path::new(beside)))
    }

    /// Returns true if replications that were run one by one have settled: the means and the settlings that their results have.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over lists")]
    fn have_settled(means: Vec<f64>, settlings: Vec<f64>) -> bool {
        results::have_settled(&means, &settlings)
    }

    /// Returns the note on intervals of this number of replications; `None` if they are enough.
    #[pyfunction]
    fn of_few(replications: usize) -> Option<String> {
        results::of_few(replications)
    }

    /// Returns true if a cache that still holds this share of what was written to it is far from steady state.
    #[pyfunction]
    fn is_filling(undestaged: f64) -> bool {
        results::is_filling(undestaged)
    }

    /// Returns the description of a device, as JSON; `None` if there is no such device.
    #[pyfunction]
    fn device(name: &str, beside: &str) -> PyResult<Option<String>> {
        let device =
            devices::shown(name, Path::new(beside)).transpose().map_err(|problems| refused(&problems))?;
        Ok(device.map(|device| json(&device)))
    }

    /// The numbers of a device as they stand in its file, as JSON; `None` where there is no such device.
    #[pyfunction]
    fn device_numbers(name: &str, beside: &str) -> PyResult<Option<String>> {
        let numbers = devices::numbers(name, Path::new(beside))
            .map(|read| read.map(|numbers| numbers.written().to_string()));
        numbers.transpose().map_err(|problems| refused(&problems))
    }

    /// The type of component that a device is for; `None` where its file has no field of any, or there is no such device.
    #[pyfunction]
    fn device_kind(name: &str, beside: &str) -> Option<&'static str> {
        devices::kind(name, Path::new(beside)).map(|kind| kind.component)
    }

    /// The numbers of a device as they stand in the `text` of its file, checked, as JSON.
    #[pyfunction]
    fn read_device(text: &str, file: &str) -> PyResult<String> {
        let numbers: Result<DiskNumbers, Problems> = document::read_text(text, file);
        let sound = numbers.and_then(|numbers| devices::sound(numbers, file));
        Ok(json(&sound.map_err(|problems| refused(&problems))?))
    }

    /// Returns the number of sectors of a disk's layout, given as in a device file; raises an error if it has problems.
    #[pyfunction]
    fn layout_sectors(layout: &str) -> PyResult<u64> {
        let read: Result<LayoutSpec, Problems> = document::read_text(layout, "layout");
        let layout = read.map_err(|problems| refused(&problems))?;
        match layout.problem() {
            None => Ok(layout.sectors()),
            Some(invalid) => Err(refused(&Problems::file("layout", invalid.message, ""))),
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
            .and_then(|numbers| devices::sound(numbers, "device"))
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

/// Returns the outcome of a scenario, or its errors, unless a user has interrupted it.
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

/// Returns the outcome of reading a trace; its error has the form of a scenario's errors.
fn traced<T>(read: Result<T, TraceError>, path: &Path) -> PyResult<T> {
    read.map_err(|error| match error {
        TraceError::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => {
            let is_there = path.exists();
            let help = if is_there { "`--help` lists the formats" } else { "check the path" };
            refused(&Problems::file(&path.display().to_string(), error.to_string(), help))
        }
    })
}
