//! What a user may write of a server.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::TimeSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerPlan;
use crate::AnyPlan;
use crate::graph::Lowering;
use crate::room::{Lowered, Spec};
use crate::station::{Order, StationSpec};

/// A server that streams come `from:`, and that volumes can belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Number of cores.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub cores: u32,
    /// Time a core works to submit a command.
    #[serde(default)]
    pub submit: Nanos,
    /// Time a core works to finish a command that is answered.
    #[serde(default)]
    pub complete: Nanos,
    /// Time a core works for each interrupt besides.
    #[serde(default)]
    pub interrupt: Nanos,
    /// Rate at which a core moves data between adapter and application: copies, and checksums where protocols run in software.
    /// Default: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<BytesPerSecond>,
    /// The host bus adapter, one for all ports.
    #[serde(default)]
    pub adapter: AdapterSpec,
    /// Which way a request takes where there are several.
    #[serde(default)]
    pub paths: Paths,
    /// Time after which a request without an answer is sent another way, once each; the last way is waited for. What is still under
    /// way is finished, and its answer ignored. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_timeout: Option<Nanos>,
}

/// A host bus adapter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdapterSpec {
    /// Time its processor takes for each command.
    #[serde(default)]
    pub command: Nanos,
    /// Maximum number of commands outstanding at each target; others wait. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue_depth: Option<u32>,
    /// Completions reported together. Default: an interrupt for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalescing: Option<Coalescing>,
}

/// When an adapter that holds completions back interrupts its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coalescing {
    /// Once it holds this number of completions …
    #[schemars(range(min = 2, max = 65535))]
    pub most: u32,
    /// … or this time after the first of them.
    pub after: Nanos,
}

/// Which way a request takes where there are several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Paths {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// The one with the fewest requests of this server to this target in flight.
    ShortestQueue,
    /// The first, as the switches list it.
    First,
}

const fn one() -> u32 {
    1
}

impl Spec for ServerSpec {
    type Plan = ServerPlan;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<ServerPlan>> {
        if self.adapter.coalescing.is_some_and(|coalescing| coalescing.after == Nanos::ZERO) {
            let message = "completions held back for no time are reported one by one";
            return at.refuse(
                "adapter.coalescing.after",
                message,
                Some("give a time, or leave `coalescing` out"),
            );
        }
        if self.path_timeout == Some(Nanos::ZERO) {
            let message = "a path timeout of zero leaves no time for an answer";
            return at.refuse("path_timeout", message, Some("give a time, or leave `path_timeout` out"));
        }
        let station = |service| StationSpec {
            servers: 1,
            service: TimeSpec::Fixed(service),
            order: Order::FirstCome,
            capacity: Bytes(0),
        };
        let busy = Some(self.adapter.command).filter(|command| *command > Nanos::ZERO);
        let uses = busy.map(|command| at.part("adapter", AnyPlan::Station(station(command).into())));
        let plan = ServerPlan { spec: self.clone() };
        Some(Lowered { plan, uses: uses.into_iter().collect(), capacity: Bytes(0) })
    }
}
