//! What a user may write: the scenario.

use headrace_storage::{ComponentSpec, SystemSpec};
use headrace_units::Nanos;
use headrace_workload::StreamSpec;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{self, Path, Problem, Tree};
use crate::faults::FaultSpec;
use crate::rates::RatesSpec;
use crate::variation;

/// A storage system, its load, and the length of the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    /// Templates by name. Arrays consist of copies of them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub parts: IndexMap<String, ComponentSpec>,
    /// Components by name. Each exists once and is shared by everything that names it. A `group` is several copies of components.
    pub system: IndexMap<String, SystemSpec>,
    /// Streams of requests by name.
    pub workload: IndexMap<String, StreamSpec>,
    /// Components that fail during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
    /// Failure rates, for the chance of data loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RatesSpec>,
    /// Shares of requests that are to be answered in time, by stream or operation: `users: 99 % within 20 ms`. Several are joined by
    /// `and`: `recall: 50 % within 2 min and 99 % within 10 min`. An operation (`reads`, `writes`, `get`, `recall` …) is that of the
    /// only stream that has it; of others, write `stream.operation`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub objectives: IndexMap<String, String>,
    /// Values that are known only approximately, by path, with their 95 % intervals: `system.host.submit: 5 us..12 us`. A run takes the
    /// value at the path; `headrace validate` says how far its predictions vary with them. `headrace calibrate scenario` writes them. A
    /// value may follow others before it, each with its own values at the ends of their intervals: `95 us..105 us and 109 us..82 us with
    /// system.host.submit`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub uncertain: IndexMap<String, String>,
    /// Length of the run, seed, and warm-up.
    #[serde(default)]
    pub run: RunSpec,
}

impl ScenarioSpec {
    /// Completes the devices of a document, and reads it.
    ///
    /// # Errors
    /// Every place that does not have what the schema asks for.
    pub(crate) fn read(tree: &mut Tree) -> Result<Self, Vec<Problem>> {
        let beside = tree.folder().to_owned();
        variation::complete(&mut tree.root, &Path::default(), &beside)?;
        let mut spec: Self = document::read_as(tree, document::schema_of::<Self>())?;
        spec.run.complete();
        Ok(spec)
    }

    /// Returns the component of `system` at a place of the document, such as `system.node.of.volume`; `None` if there is none.
    pub(crate) fn component(&self, place: &str) -> Option<&ComponentSpec> {
        let within: Vec<&str> = place.strip_prefix("system.")?.split('.').collect();
        SystemSpec::at(&self.system, &within)
    }
}

/// Length of the run, seed, and warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSpec {
    /// Seed of all random streams. The same scenario and seed give bit-identical results.
    pub seed: u64,
    /// Number of requests answered, dropped, expired or failed before the run ends. Default: 200,000, or
    /// no limit where `time` is given. A replayed trace ends with its last request.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Simulated time after which the run ends, or `requests` if they are given and come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// Number of independent runs, each with its own random streams.
    #[schemars(range(min = 1, max = 100_000))]
    pub replications: u32,
    /// Splits one run of `requests` into replications of equal length, which processors share: 32 or 8 of them, if these are long
    /// beside the warm-up, otherwise none. For questions about a steady state, with `replications: 1`.
    pub split: bool,
    /// Warm-up: what is discarded at the beginning.
    pub warm_up: WarmUp,
    /// Simulation engine.
    pub engine: Engine,
    /// Limits that stop a run early.
    pub limits: Limits,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            seed: 1,
            requests: None,
            time: None,
            replications: 1,
            split: false,
            warm_up: WarmUp::Auto,
            engine: Engine::Auto,
            limits: Limits::default(),
        }
    }
}

/// Number of requests of a run whose length is not given.
pub const DEFAULT_REQUESTS: u64 = 200_000;

impl RunSpec {
    /// Fills in the number of requests, unless the time alone ends the run.
    pub fn complete(&mut self) {
        if self.time.is_none() {
            self.requests.get_or_insert(DEFAULT_REQUESTS);
        }
    }
}

/// Warm-up: what is discarded at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmUp {
    /// Single runs: as determined by MSER-5. Replications: the first eleventh, or more while their averages
    /// still change.
    Auto,
    /// Nothing.
    None,
}

/// Method of computing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Recursion where it gives the same result, otherwise events.
    Auto,
    /// Event simulation.
    Events,
    /// Lindley's recursion: one open stream to devices that serve first come, first served.
    Recursion,
}

/// Limits that stop a run early; results up to then are kept and marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum number of requests in flight, beyond which the system is overloaded. Not applicable to the
    /// recursion.
    #[schemars(range(min = 1))]
    pub in_flight: u64,
    /// Maximum number of parts of requests in flight, such as accesses to the disks of an array, with all other
    /// processes of the simulation.
    #[schemars(range(min = 1))]
    pub parts: u64,
    /// Maximum number of events.
    #[schemars(range(min = 1))]
    pub events: u64,
    /// Maximum real time of all replications together.
    pub wall_time: Nanos,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 1_000_000,
            parts: 300_000,
            events: 1_000_000_000_000,
            wall_time: Nanos(3600 * 1_000_000_000),
        }
    }
}
