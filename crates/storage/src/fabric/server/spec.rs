//! Specification of a server.

use headrace_units::{Bytes, BytesPerSecond, Nanos, PerSecond};
use headrace_work::TimeSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerPlan;
use crate::AnyPlan;
use crate::core::component::Spec;
use crate::core::graph::Lowering;
use crate::core::station::{Order, StationSpec};

/// A server that streams come `from:`, and that volumes can belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Components of `system` attached without a switch: drives, arrays behind its adapter, file systems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<String>,
    /// Number of cores.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub cores: u32,
    /// Core time to submit a command, or to take one in. A server that a volume belongs to does both: a request from another server takes
    /// `submit` and `complete` twice, once for the network and once for the drives.
    #[serde(default)]
    pub submit: Nanos,
    /// Core time to complete a command, or to send its answer.
    #[serde(default)]
    pub complete: Nanos,
    /// Additional core time per interrupt.
    #[serde(default)]
    pub interrupt: Nanos,
    /// Rate at which a core copies data between adapter and application, checksums included. Default: no
    /// copying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<BytesPerSecond>,
    /// Rate at which a core generates the data of writes before it submits them, as with fio's `refill_buffers`. Default: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<BytesPerSecond>,
    /// Core time to wake a thread that waits for a completion. Commands that complete before the thread runs
    /// need no further wake-up.
    #[serde(default)]
    pub wake: Nanos,
    /// Additional wake-up time for each other thread on the server.
    #[serde(default)]
    pub wake_per_thread: Nanos,
    /// Slow-down of core work while all cores are busy. Default: 1, no contention.
    #[serde(default = "alone")]
    #[schemars(range(min = 1.0, max = 100.0))]
    pub contention: f64,
    /// The host bus adapter, shared by all ports.
    #[serde(default)]
    pub adapter: AdapterSpec,
    /// Multipath policy.
    #[serde(default)]
    pub paths: Paths,
    /// Time without an answer after which a request is retried on another path, once per path; the last path
    /// has no timeout. Earlier attempts still complete, and their answers are ignored. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_timeout: Option<Nanos>,
}

/// A host bus adapter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdapterSpec {
    /// Processor time per command: one command after another.
    #[serde(default)]
    pub command: Nanos,
    /// Time that a command takes through the adapter and back besides, while others go on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub latency: Nanos,
    /// Rate at which data crosses the adapter's slot, in each direction: after packet headers, about 6.6 GB/s with eight lanes of PCIe 3.0, 13
    /// GB/s of 4.0 and 26 GB/s of 5.0 (estimates). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Maximum number of commands outstanding per target; others wait. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue_depth: Option<u32>,
    /// Interrupt coalescing. Default: one interrupt per completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalescing: Option<Coalescing>,
}

/// Interrupt coalescing: when the adapter interrupts its server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coalescing {
    /// Maximum number of completions per interrupt.
    #[schemars(range(min = 2, max = 65535))]
    pub most: u32,
    /// Maximum delay after the first completion.
    pub after: Nanos,
    /// Completion rate, over the last 64, above which interrupts are coalesced. Default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<PerSecond>,
}

/// Multipath policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Paths {
    /// All paths in turn.
    #[default]
    RoundRobin,
    /// The path with the fewest requests from this server to this target in flight.
    ShortestQueue,
    /// The first path in the order of the switches.
    First,
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

const fn one() -> u32 {
    1
}

const fn alone() -> f64 {
    1.0
}

impl Spec for ServerSpec {
    type Plan = ServerPlan;

    fn lower(&self, at: &mut Lowering) -> Option<ServerPlan> {
        if self.adapter.coalescing.is_some_and(|coalescing| coalescing.after == Nanos::ZERO) {
            let message = "coalescing needs a time above zero";
            return at.refuse(
                "adapter.coalescing.after",
                message,
                Some("set a time, or remove `coalescing`"),
            );
        }
        if let Some(name) = self.attached.iter().find(|name| at.named_in_system(name).is_none()) {
            return at.no_such_component("attached", name);
        }
        if !(1.0..=100.0).contains(&self.contention) {
            return at.refuse("contention", "must be from 1 to 100: a slow-down", None);
        }
        if self.path_timeout == Some(Nanos::ZERO) {
            let message = "a path timeout of zero leaves no time for an answer";
            return at.refuse("path_timeout", message, Some("give a time, or leave `path_timeout` out"));
        }
        if self.adapter.rate.is_some_and(|rate| rate.get() <= 0.0) {
            return at.refuse("adapter.rate", "must be above zero", Some("give a rate, or leave `rate` out"));
        }
        let station = |service, rate| StationSpec {
            servers: 1,
            service: TimeSpec::Fixed(service),
            rate,
            order: Order::FirstCome,
            capacity: Bytes(0),
        };
        let mut part = |name, service, rate| at.part(name, AnyPlan::Station(station(service, rate).into()));
        let busy = Some(self.adapter.command).filter(|command| *command > Nanos::ZERO);
        let commands = busy.map(|command| part("adapter", command, None));
        let slot = self
            .adapter
            .rate
            .map(|rate| ["slot out", "slot in"].map(|direction| part(direction, Nanos::ZERO, Some(rate))));
        let plan = ServerPlan { spec: self.clone() };
        at.uses(commands.into_iter().chain(slot.into_iter().flatten()).collect());
        Some(plan)
    }
}
