//! `workload: {fio: FILE}`: the jobs of a job file of fio as streams of a scenario. They take its place in the document before
//! that is planned, so that everything behind sees plain streams.

use std::path::{Path as FilePath, PathBuf};

use headrace_storage::{System, View, lower};
use headrace_work::Block;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::document::{self, Key, Path, Problem, Problems, Tree, Value, ValueNode};
use crate::plan;
use crate::spec::ScenarioSpec;

/// The stream that may be a job file.
const FIO: &str = "fio";

/// A job file of fio: each of its jobs is a stream.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobFileSpec {
    /// Job file of fio, beside the scenario.
    pub job: String,
    /// Component that stands for what fio was run on. Default: the one of its name, or the only one.
    pub to: Option<String>,
    /// Server that the requests come from; each copy of a job is a thread of it.
    pub from: Option<String>,
    /// The only job to take. Default: all jobs, which run at once.
    pub section: Option<String>,
}

/// A job file, and the components that its jobs can go to.
#[derive(Debug, Serialize)]
pub struct AskedJobs {
    /// The job file.
    pub file: PathBuf,
    /// Its entry in the scenario.
    #[serde(flatten)]
    pub spec: JobFileSpec,
    /// The kind of each component of the system, by name.
    pub components: IndexMap<String, &'static str>,
    /// Those of them that hold data and that no other component uses.
    pub targets: Vec<String>,
}

/// The streams that a job file describes.
#[derive(Debug, Deserialize)]
pub struct Jobs {
    /// The streams by name.
    pub streams: IndexMap<String, Json>,
    /// Fields of `run`: how long the jobs take, and their seed.
    pub run: IndexMap<String, Json>,
    /// Options that have no effect, with the reason.
    pub remarks: Vec<String>,
}

/// An error in a job file.
#[derive(Debug)]
pub struct JobError {
    /// Errors, with their places.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
}

/// Reads a job file, or returns what is wrong with it.
pub type JobFiles<'j> = &'j (dyn Fn(&AskedJobs) -> Result<Jobs, JobError> + Sync);

/// A job file that a scenario uses.
pub struct UsedJobFile {
    /// The file, as the scenario names it.
    pub file: String,
    /// See [`Jobs::remarks`].
    pub remarks: Vec<String>,
}

/// Refuses every job file: for callers that have no reader.
///
/// # Errors
/// Always.
pub fn unread(_: &AskedJobs) -> Result<Jobs, JobError> {
    Err(JobError { message: "job files of fio are read from Python alone".to_owned(), help: None })
}

/// Applies `sets` to a document, and replaces the job file in it by the streams that `jobs` reads there; returns the job file, if
/// there is one. Changes of streams come last, so that they can change those of the job file.
///
/// # Errors
/// All errors in the system, or the first in the job file.
pub fn put_in(
    tree: &mut Tree,
    sets: &[(String, String)],
    jobs: JobFiles,
) -> Result<Option<UsedJobFile>, Problems> {
    let is_stream = |path: &str| {
        let name = path.strip_prefix("workload.").map(|rest| rest.split('.').next().unwrap_or(rest));
        name.is_some_and(|name| name != FIO)
    };
    let (streams, first): (Vec<_>, Vec<_>) = sets.iter().partition(|(path, _)| is_stream(path));
    open(tree);
    set(tree, &first)?;
    open(tree);
    let used = put_streams_in(tree, jobs).map_err(|problems| Problems::of(tree, problems))?;
    set(tree, &streams)?;
    Ok(used)
}

fn set(tree: &mut Tree, sets: &[&(String, String)]) -> Result<(), Problems> {
    for (path, text) in sets {
        tree.set(path, text).map_err(|problem| Problems::of(tree, vec![problem]))?;
    }
    Ok(())
}

/// Makes the name of a job file a map of fields, so that the others can be set.
fn open(tree: &mut Tree) {
    if let Some(node) = tree.child_mut(&["workload", FIO])
        && let Value::Scalar(Json::String(_)) = node.value
    {
        let key = Key { name: "job".to_owned(), span: node.span.clone() };
        node.value = Value::Map(vec![(key, node.clone())]);
    }
}

fn put_streams_in(tree: &mut Tree, jobs: JobFiles) -> Result<Option<UsedJobFile>, Vec<Problem>> {
    let Some(node) = tree.child_mut(&["workload", FIO]).filter(|node| node.child("job").is_some()) else {
        return Ok(None);
    };
    let node = node.clone();
    let spec = job_file(tree, &node)?;
    tree.remove("workload.fio");
    let asked = asked(spec, &ScenarioSpec::read(&mut tree.clone())?, tree.folder())?;
    let at = Path::of(&["workload", FIO, "job"]);
    let span = node.child("job").and_then(|job| job.span.clone());
    let found = jobs(&asked).map_err(|error| {
        vec![Problem { help: error.help, span: span.clone(), ..Problem::at(at.clone(), error.message) }]
    })?;
    for (name, stream) in &found.streams {
        if tree.child_mut(&["workload", name]).is_some() {
            let message = format!("the job file has a job `{name}`, which is the name of another stream");
            return Err(vec![Problem { span, ..Problem::at(at, message).help("rename the stream") }]);
        }
        tree.put(&["workload", name], located(stream, &node));
    }
    for (field, value) in &found.run {
        if !alike(field).iter().any(|field| tree.child_mut(&["run", field]).is_some()) {
            tree.put(&["run", field], located(value, &node));
        }
    }
    Ok(Some(UsedJobFile { file: asked.spec.job, remarks: found.remarks }))
}

/// Reads what a scenario says of its job file.
fn job_file(tree: &Tree, node: &ValueNode) -> Result<JobFileSpec, Vec<Problem>> {
    let alone = Tree { root: node.clone(), ..tree.clone() };
    document::read_at(&alone, document::schema_of::<JobFileSpec>(), &Path::of(&["workload", FIO]))
}

fn asked(spec: JobFileSpec, scenario: &ScenarioSpec, folder: &FilePath) -> Result<AskedJobs, Vec<Problem>> {
    let system = System::of(&scenario.parts, &scenario.system);
    let graph = lower(&scenario.parts, &system, &[], &plan::KnownDevices::beside(folder))
        .map_err(|errors| errors.into_iter().map(plan::problem).collect::<Vec<_>>())?;
    // Those of all copies of a group have one name.
    let mut views: IndexMap<String, View> = IndexMap::new();
    for view in graph.ids().filter(|id| graph.nodes[id.index()].within.is_none()).map(|id| graph.view(id)) {
        views.entry(view.group_name().to_owned()).or_insert(view);
    }
    let components = views.iter().map(|(name, view)| (name.clone(), view.kind())).collect();
    let targets = views.iter().filter(|(_, view)| is_target(**view)).map(|(name, _)| name.clone()).collect();
    Ok(AskedJobs { file: folder.join(&spec.job), spec, components, targets })
}

/// Returns true for a component that holds blocks and that no other component uses.
fn is_target(view: View) -> bool {
    let serves_blocks = view.serves::<Block>();
    serves_blocks && view.capacity().0 > 0 && view.users().next().is_none()
}

/// Returns the fields that say the same as one of `run`: a scenario that ends by time needs no requests.
fn alike(field: &str) -> Vec<&str> {
    let ends = vec!["requests", "time"];
    if ends.contains(&field) { ends } else { vec![field] }
}

/// Returns a value of the job file as a node; errors in it point at the job file.
fn located(value: &Json, job_file: &ValueNode) -> ValueNode {
    let mut node = ValueNode::from(value);
    node.set_spans(job_file.span.as_ref());
    node
}

/// Adds the job file to the schema of a scenario, as what `workload.fio` may be.
pub fn add_to(schema: &mut Json) {
    let mut job_file = document::schema_of::<JobFileSpec>().clone();
    if let Some(fields) = job_file.as_object_mut() {
        fields.retain(|keyword, _| keyword != "$schema" && keyword != "title");
    }
    let workload = &mut schema["properties"]["workload"];
    let stream = workload["additionalProperties"].clone();
    let text = json!({"type": "string", "description": "Job file of fio: each job is a stream."});
    let choice =
        json!({"description": "Job file of fio: each job is a stream.", "anyOf": [text, job_file, stream]});
    workload["patternProperties"] = json!({ format!("^{FIO}$"): choice });
}
