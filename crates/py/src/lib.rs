//! `headrace._core`: the only crate that knows Python. Documents go in as text, results come out as JSON, so that Python and
//! `--json` read the same contract.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headrace_scenario::document::{self, Problems};
use headrace_scenario::run::{Onlooker, Part, Sink, requests_wanted};
use headrace_scenario::{catalog, devices, prepare};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

create_exception!(
    _core,
    ScenarioError,
    PyException,
    "A scenario that cannot be run: (what a user reads, the same as JSON)."
);

fn refused(problems: &Problems) -> PyErr {
    ScenarioError::new_err((problems.rendered(), problems.to_json().to_string()))
}

/// How often the watcher looks.
const LOOK: Duration = Duration::from_millis(50);

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::ScenarioError;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// The JSON Schema of a scenario, as JSON.
    #[pyfunction]
    fn schema() -> String {
        document::json_schema().to_string()
    }

    /// Reads and checks a scenario; returns it with its defaults filled in, as JSON.
    #[pyfunction]
    fn check(text: &str, file: &str, sets: Vec<(String, String)>) -> PyResult<String> {
        let plan = prepare(text, file, &sets).map_err(|problems| refused(&problems))?;
        Ok(serde_json::to_string(&plan.spec).expect("a specification is made of strings and numbers"))
    }

    /// The names of all devices, those in `devices/` of the folder `beside` first, as JSON.
    #[pyfunction]
    fn device_names(beside: &str) -> String {
        let own = catalog::own_names(Path::new(beside));
        let names: Vec<String> = own.into_iter().chain(catalog::names().map(str::to_owned)).collect();
        serde_json::to_string(&names).expect("names are text")
    }

    /// What there is to show of a device, as JSON; `None` where there is no such device.
    #[pyfunction]
    fn device(name: &str, beside: &str) -> PyResult<Option<String>> {
        let device =
            devices::device(name, Path::new(beside)).transpose().map_err(|problems| refused(&problems))?;
        Ok(device
            .map(|device| serde_json::to_string(&device).expect("a device is made of strings and numbers")))
    }

    /// Runs a scenario without the interpreter's lock; returns its results as JSON. `watch` is called a few times a second
    /// with (requests answered, requests wanted). `requests` gets every request in parts: (replication, part, columns,
    /// legs). Ctrl-C ends the run, and what it found until then is returned,
    /// marked incomplete.
    #[pyfunction]
    fn run(
        py: Python<'_>,
        text: &str,
        file: &str,
        sets: Vec<(String, String)>,
        threads: usize,
        watch: Option<Py<PyAny>>,
        requests: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let plan = prepare(text, file, &sets).map_err(|problems| refused(&problems))?;
        let lost = Arc::new(Mutex::new(None));
        let onlooker =
            Onlooker { requests: requests.map(|take| sink(take, Arc::clone(&lost))), ..Onlooker::default() };
        let results = py.detach(|| {
            std::thread::scope(|scope| {
                let worker = scope.spawn(|| headrace_scenario::run_plan(&plan, file, threads, &onlooker));
                let told = look_on(&worker, &onlooker, requests_wanted(&plan), watch.as_ref(), &lost);
                (worker.join(), told)
            })
        });
        let (results, told) = results;
        told?;
        let results = results.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let results = results.map_err(|problems| refused(&problems))?;
        Ok(serde_json::to_string(&results).expect("results are made of strings and numbers"))
    }
}

/// Looks on until the worker is done: passes Ctrl-C on to it, and tells `watch` how far it is. An error of `watch`, or one
/// kept in `lost`, ends the run.
fn look_on<T>(
    worker: &std::thread::ScopedJoinHandle<'_, T>,
    onlooker: &Onlooker,
    wanted: u64,
    watch: Option<&Py<PyAny>>,
    lost: &Mutex<Option<PyErr>>,
) -> PyResult<()> {
    let mut wait = Duration::from_micros(500);
    let mut told = Ok(());
    while !worker.is_finished() {
        std::thread::sleep(wait);
        wait = (wait * 2).min(LOOK);
        if wait < LOOK || onlooker.cancelled.load(Ordering::Relaxed) {
            continue;
        }
        if lost.lock().is_ok_and(|lost| lost.is_some()) {
            onlooker.cancelled.store(true, Ordering::Relaxed);
            continue;
        }
        let answered = onlooker.answered.load(Ordering::Relaxed);
        let seen = Python::attach(|py| match watch {
            _ if py.check_signals().is_err() => Ok(false),
            Some(watch) => watch.call1(py, (answered, wanted)).map(|_| true),
            None => Ok(true),
        });
        onlooker.cancelled.store(!matches!(seen, Ok(true)), Ordering::Relaxed);
        told = told.and(seen.map(drop));
    }
    lost.lock().map_or(Ok(()), |mut lost| lost.take().map_or(Ok(()), Err)).and(told)
}

/// Hands the parts of a request log to `take`, a column at a time as the bytes of 64-bit numbers; keeps the first error.
fn sink(take: Py<PyAny>, lost: Arc<Mutex<Option<PyErr>>>) -> Sink {
    Box::new(move |part: Part| {
        let mut lost = lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if lost.is_none() {
            *lost = Python::attach(|py| hand_over(py, &take, &part)).err();
        }
    })
}

fn hand_over(py: Python<'_>, take: &Py<PyAny>, part: &Part) -> PyResult<()> {
    let bytes = |column: &[u64]| {
        let raw: Vec<u8> = column.iter().flat_map(|number| number.to_le_bytes()).collect();
        PyBytes::new(py, &raw)
    };
    let columns = [&part.stream, &part.write, &part.address, &part.bytes, &part.born_ns, &part.answered_ns];
    let plain: Vec<_> = columns.into_iter().map(|column| bytes(column)).collect();
    let legs: Vec<_> = part.legs.iter().map(|[waiting, service]| (bytes(waiting), bytes(service))).collect();
    take.call1(py, (part.replication, part.number, plain, legs)).map(drop)
}
