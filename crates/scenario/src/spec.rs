//! What a user may write: the scenario.

use headrace_storage::ComponentSpec;
use headrace_units::Nanos;
use headrace_workload::StreamSpec;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::faults::FaultSpec;

/// A storage system, a load, and how long to watch them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    /// Templates, each under a name of its own: arrays are made of copies of them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub parts: IndexMap<String, ComponentSpec>,
    /// The components, each under a name of its own. Each exists once; whoever names it shares it.
    pub system: IndexMap<String, ComponentSpec>,
    /// The streams of requests, each under a name of its own.
    pub workload: IndexMap<String, StreamSpec>,
    /// Components that fail during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
    /// How long to run, and from which seed.
    #[serde(default)]
    pub run: RunSpec,
}

/// How long to run, and from which seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSpec {
    /// The root of all random streams. Same scenario, same seed: same results, bit for bit.
    pub seed: u64,
    /// How many requests are answered, dropped, expired or failed before the run ends. A replayed trace ends with its last request.
    #[schemars(range(min = 1))]
    pub requests: u64,
    /// End after this simulated time, if that comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// How many independent runs, each with random streams of its own.
    #[schemars(range(min = 1, max = 100_000))]
    pub replications: u32,
    /// How much of the beginning is left out.
    pub warm_up: WarmUp,
    /// How the run is computed.
    pub engine: Engine,
    /// What ends a run before its time.
    pub limits: Limits,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            seed: 1,
            requests: 200_000,
            time: None,
            replications: 1,
            warm_up: WarmUp::Auto,
            engine: Engine::Auto,
            limits: Limits::default(),
        }
    }
}

/// How much of the beginning is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmUp {
    /// As much as MSER-5 finds in one run; of replications, the first eleventh or, while their averages still move, more.
    Auto,
    /// Nothing.
    None,
}

/// How a run is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// By recursion where it gives the same answer, else by events.
    Auto,
    /// Event by event.
    Events,
    /// By Lindley's recursion: one open stream to devices that serve first come, first served.
    Recursion,
}

/// What ends a run before its time; what was found until then is kept and marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum number of requests in flight: beyond it the system does not keep up. A run by recursion has none in flight.
    #[schemars(range(min = 1))]
    pub in_flight: u64,
    /// Maximum number of events.
    #[schemars(range(min = 1))]
    pub events: u64,
    /// Maximum real time.
    pub wall_time: Nanos,
}

impl Default for Limits {
    fn default() -> Self {
        Self { in_flight: 1_000_000, events: 1_000_000_000_000, wall_time: Nanos(3600 * 1_000_000_000) }
    }
}
