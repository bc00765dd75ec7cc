//! What a user may write of a server.

use headrace_units::{Bytes, BytesPerSecond, Nanos, PerSecond};
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
    /// What is attached to it without a switch, by the names in `system`: drives, volumes behind its adapter, file systems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<String>,
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
    /// Rate at which a core makes the data of writes before it submits them, as fio's `refill_buffers` does. Default: in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<BytesPerSecond>,
    /// Time a core works to wake a thread that sleeps until a command is answered. A thread to which more answers come meanwhile finds
    /// them when it runs, and is not woken again.
    #[serde(default)]
    pub wake: Nanos,
    /// The same in addition for each other thread of the server.
    #[serde(default)]
    pub wake_per_thread: Nanos,
    /// Factor by which work takes longer while all cores work: they share what they work with. Default: 1, they share nothing.
    #[serde(default = "alone")]
    #[schemars(range(min = 1.0, max = 100.0))]
    pub contention: f64,
    /// The host bus adapter, one for all ports.
    #[serde(default)]
    pub adapter: AdapterSpec,
    /// Which way a request takes where there are several.
    #[serde(default)]
    pub paths: Paths,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coalescing {
    /// Once it holds this number of completions …
    #[schemars(range(min = 2, max = 65535))]
    pub most: u32,
    /// … or this time after the first of them.
    pub after: Nanos,
    /// Only while the last 64 completions came faster than this. Default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<PerSecond>,
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

const fn alone() -> f64 {
    1.0
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
        if let Some(name) = self.attached.iter().find(|name| at.named_in_system(name).is_none()) {
            let message = format!("there is no component `{name}` in `system`");
            return at.refuse("attached", message, Some("name a drive, an array or a file system"));
        }
        if !(1.0..=100.0).contains(&self.contention) {
            return at.refuse(
                "contention",
                "must be from 1 to 100: a factor by which work takes longer",
                None,
            );
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
