//! A scenario that is read and planned once, to be checked, solved, run and run further.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use headrace_scenario::job_files::{AskedJobs, JobError, JobFiles, Jobs};
use headrace_scenario::progress::Progress;
use headrace_scenario::run::{End, Options};
use headrace_scenario::{Found, Prepared, document::Problems, durability, results, solve};
use headrace_units::Nanos;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::watch::{sink, unless_interrupted, watched};
use crate::{ScenarioError, json, refused, understood};

/// A scenario that was read. It is planned when its plan is first needed, and never twice.
#[pyclass(name = "Plan")]
pub struct PlanHandle {
    prepared: Prepared,
}

impl PlanHandle {
    /// Reads a scenario. See [`Prepared::read`].
    pub fn read(
        py: Python<'_>,
        text: &str,
        file: &str,
        sets: &[(String, String)],
        jobs: &Py<PyAny>,
    ) -> PyResult<Self> {
        let prepared = with_jobs(jobs, |jobs| py.detach(|| Prepared::read(text, file, sets, jobs)))?;
        Ok(Self { prepared })
    }

    /// Does `work` with the scenario while Python watches; passes Ctrl-C on to it.
    fn watched<T: Send>(
        &mut self,
        py: Python<'_>,
        watch: Option<&Py<PyAny>>,
        work: impl FnOnce(&mut Prepared, &Progress) -> Result<T, Problems> + Send,
    ) -> PyResult<T> {
        let progress = Progress::default();
        let done = watched(py, &progress, watch, &Mutex::new(None), || work(&mut self.prepared, &progress))?;
        unless_interrupted(understood(done, &progress)?, &progress)
    }
}

/// Outputs of a run besides its results, as Python names them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wanted {
    threads: usize,
    watch: Option<Py<PyAny>>,
    requests: Option<Py<PyAny>>,
    first: u64,
    theory: bool,
    headroom: bool,
    replication: Option<u64>,
    widen: f64,
}

/// What an estimate of data loss is asked for, as Python names it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct DurabilityWanted {
    years: f64,
    stretch_ns: Option<f64>,
    replications: u32,
    within: f64,
    threads: usize,
    watch: Option<Py<PyAny>>,
}

#[pymethods]
impl PlanHandle {
    /// The scenario with its defaults filled in, as JSON, whether or not it can work.
    #[getter]
    fn spec(&self) -> String {
        json(self.prepared.spec())
    }

    /// The files that the scenario is read from: its own, traces, logs, job files and devices.
    #[getter]
    fn inputs(&self) -> Vec<PathBuf> {
        self.prepared.inputs()
    }

    /// Options of a job file of fio that have no effect, with the reason.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.prepared.remarks().to_vec()
    }

    /// Checks that the scenario can work and sustain its load; returns what components say of that load.
    fn check(&mut self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.watched(py, None, |prepared, progress| prepared.sustained(progress).map(results::of_components))
    }

    /// Returns a note if formulas sustain only part of the load in the long run.
    fn beyond(&mut self, py: Python<'_>) -> PyResult<Option<String>> {
        self.watched(py, None, |prepared, progress| prepared.plan(progress).map(solve::beyond))
    }

    /// The components by number, as JSON: path, group, kind; and the names of the groups. See `run` for `watch`.
    fn graph(&mut self, py: Python<'_>, watch: Option<Py<PyAny>>) -> PyResult<String> {
        self.watched(py, watch.as_ref(), |prepared, progress| {
            let plan = prepared.sustained(progress)?;
            let graph = &plan.graph;
            let nodes = graph.ids().map(|id| {
                let view = graph.view(id);
                serde_json::json!({ "path": view.path(), "group": graph.group(id), "kind": view.kind() })
            });
            let logs = plan.streams.iter().filter_map(|stream| stream.log.as_ref());
            let users: Vec<_> = logs.flat_map(|log| log.survey.users.iter()).collect();
            let nodes: Vec<_> = nodes.collect();
            let told = serde_json::json!({ "components": nodes, "groups": graph.groups, "users": users });
            Ok(told.to_string())
        })
    }

    /// Solves the scenario by formulas and returns the solution as JSON. `range` is the first and the last load, in requests per
    /// second or clients; without it, from little to saturation.
    fn solve(&mut self, py: Python<'_>, range: Option<(f64, f64)>) -> PyResult<String> {
        self.watched(py, None, |prepared, progress| {
            prepared.solve(range, progress).map(|solved| json(&solved))
        })
    }

    /// Estimates the chance of data loss within a year and within a number of years; returns it as JSON. `wanted` is a mapping with these
    /// `years`, the longest `stretch_ns` of a rebuild or `None` for the default, `replications`, the relative half-width `within` of the
    /// interval, `threads`, and `watch`, which is called as in `run`, with numbers of rebuilds.
    fn durability(&mut self, py: Python<'_>, wanted: DurabilityWanted) -> PyResult<String> {
        let DurabilityWanted { years, stretch_ns, replications, within, threads, watch } = wanted;
        let stretch = stretch_ns.map(Nanos::from_ns);
        let wanted = durability::Wanted { years, stretch, replications, within, threads };
        self.watched(py, watch.as_ref(), |prepared, progress| {
            prepared.durability(&wanted, progress).map(|found| json(&found))
        })
    }

    /// Runs the scenario without the interpreter's lock; returns its results, and the journeys of its `first` requests, as JSON.
    /// `replications` is their number instead of the scenario's own. `wanted` is a mapping with `threads`, `watch`, `requests`,
    /// `first`, `theory`, `headroom`, `replication` and `widen`.
    ///
    /// `watch` is called a few times a second with (requests completed, requests wanted, longest queues), before the run with
    /// (requests read from a trace, 0, nothing). `requests` gets every request in parts: (replication, part, columns, for each
    /// group of components waiting, service and blocked time). Without `theory` nothing is said of it. Without `headroom` an
    /// estimated headroom is not refined by simulations. `replication` is the number of the first replication, where it is one of a set. Ctrl-C ends the run, and what it found until then is returned, marked
    /// incomplete. Intervals are `widen` times as wide as those of a number of replications that was settled on beforehand.
    fn run(
        &mut self,
        py: Python<'_>,
        replications: Option<u32>,
        wanted: Wanted,
    ) -> PyResult<(String, String)> {
        self.simulate(py, wanted, |prepared, options, progress| prepared.run(replications, options, progress))
    }

    /// Runs `more` replications beside those that were run; returns the results of all. See `run`.
    fn extend(&mut self, py: Python<'_>, more: u32, wanted: Wanted) -> PyResult<(String, String)> {
        self.simulate(py, wanted, |prepared, options, progress| prepared.extend(more, options, progress))
    }
}

impl PlanHandle {
    fn simulate(
        &mut self,
        py: Python<'_>,
        wanted: Wanted,
        run: impl FnOnce(&mut Prepared, &Options, &Progress) -> Result<Found, Problems> + Send,
    ) -> PyResult<(String, String)> {
        let Wanted { threads, watch, requests, first, theory, headroom, replication, widen } = wanted;
        let lost = Arc::new(Mutex::new(None));
        let requests = requests.map(|take| sink(take, Arc::clone(&lost)));
        let options = Options { threads, replication, first, requests, theory, headroom, widen };
        let progress = Progress::default();
        let prepared = &mut self.prepared;
        let found = watched(py, &progress, watch.as_ref(), &lost, || run(prepared, &options, &progress))?;
        let mut found = understood(found, &progress)?;
        // Results that were cut short say so themselves, though every replication that was begun may be done.
        if found.results.complete {
            unless_interrupted((), &progress)?;
        } else if progress.cancelled.load(Ordering::Relaxed) {
            found.results.ended = End::Cancelled;
        }
        Ok((json(&found.results), json(&found.journeys)))
    }
}

/// Has `read` read a scenario, and Python the job file of fio that it may name: `jobs` gets and returns JSON. An error of Python's own, other
/// than one in the job file, is passed on.
pub fn with_jobs<T>(jobs: &Py<PyAny>, read: impl FnOnce(JobFiles) -> Result<T, Problems>) -> PyResult<T> {
    let lost = Mutex::new(None);
    let found = read(&|asked: &AskedJobs| {
        Python::attach(|py| {
            streams(py, jobs, asked).map_err(|error| {
                let told = job_error(py, &error);
                *lost.lock().expect("nobody panicked with it") = told.is_none().then_some(error);
                told.unwrap_or(JobError { message: String::new(), help: None })
            })
        })
    });
    lost.into_inner().expect("nobody panicked with it").map_or(Ok(()), Err)?;
    found.map_err(|problems| refused(&problems))
}

/// Has Python read a job file.
fn streams(py: Python<'_>, jobs: &Py<PyAny>, asked: &AskedJobs) -> PyResult<Jobs> {
    let told: String = jobs.call1(py, (json(asked),))?.extract(py)?;
    serde_json::from_str(&told).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

/// The first problem of a `ScenarioError`; `None` for other errors.
fn job_error(py: Python<'_>, error: &PyErr) -> Option<JobError> {
    #[derive(Deserialize)]
    struct ToldProblem {
        message: String,
        help: Option<String>,
    }
    let problems =
        error.is_instance_of::<ScenarioError>(py).then(|| error.value(py).getattr("problems").ok())??;
    let told: Vec<ToldProblem> = serde_json::from_str(&problems.extract::<String>().ok()?).ok()?;
    told.into_iter().next().map(|ToldProblem { message, help }| JobError { message, help })
}
