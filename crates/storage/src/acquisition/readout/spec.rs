//! Specification and plan of a readout.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{NodeId, SizeSpec, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Mesh;
use crate::acquisition::event_builder::EventBuilderSpec;
use crate::core::component::{Spec, Theory};
use crate::core::graph::Lowering;

/// Readout by local data concentrators. Each request of a stream to it is a trigger, on which every concentrator reads one sub-event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadoutSpec {
    /// Number of concentrators.
    #[schemars(range(min = 1, max = 10_000))]
    pub concentrators: u32,
    /// Size of a sub-event, drawn for each concentrator and trigger.
    pub sub_event: SizeSpec,
    /// Time to read a sub-event, in addition to its size divided by `rate`. Default: none.
    #[serde(default)]
    pub time: TimeSpec,
    /// Rate at which a concentrator reads. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Buffer of each concentrator, which holds a sub-event from the trigger until it has been sent. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Treatment of a trigger when a buffer is full.
    #[serde(default)]
    pub when_full: FullBuffer,
    /// Event builder that receives the sub-events, by its name in `system`. They cross the switches that connect it and the readout;
    /// where no switch connects them, each concentrator and builder has a port.
    pub builder: String,
    /// Failure of a concentrator. Default: none fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<FailsSpec>,
}

/// Treatment of a trigger when a buffer is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullBuffer {
    /// The trigger and all later ones wait. `outstanding` limits the triggers in flight and so blocks their source.
    #[default]
    Wait,
    /// The event is lost and counted as failed.
    Drop,
}

/// Failure of a concentrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailsSpec {
    /// Number of the concentrator, from 0.
    pub concentrator: u32,
    /// Time of the failure. Its later sub-events never arrive.
    pub at: Nanos,
}

/// A readout with names looked up.
#[derive(Clone, Debug)]
pub struct ReadoutPlan {
    pub(super) spec: ReadoutSpec,
    /// The switches between it and its builders, if any.
    pub(super) mesh: Option<Mesh>,
}

impl Spec for ReadoutSpec {
    type Plan = ReadoutPlan;

    fn lower(&self, at: &mut Lowering) -> Option<ReadoutPlan> {
        let builder = at.shared_of_kind("builder", &self.builder, "event_builder");
        if let Some(invalid) = self.sub_event.problem() {
            return at.invalid(invalid.within("sub_event"));
        }
        let time = at.time("time", &self.time)?;
        let largest = self.sub_event.bounds().1;
        if let Some(buffer) = self.buffer.filter(|buffer| *buffer < largest) {
            let message = format!("a sub-event of {largest} never fits into a buffer of {buffer}");
            return at.refuse("buffer", message, Some("give room for at least one sub-event"));
        }
        if self.rate.is_some_and(|rate| rate.get() <= 0.0) {
            return at.refuse(
                "rate",
                "must be above 0 B/s",
                Some("leave `rate` out for a readout of unlimited rate"),
            );
        }
        if let Some(fails) = self.fails.filter(|fails| fails.concentrator >= self.concentrators) {
            let message =
                format!("there is no concentrator {} of {}", fails.concentrator, self.concentrators);
            return at.refuse("fails.concentrator", message, Some("they are numbered from 0"));
        }
        let mut uses = vec![builder?];
        let mesh = self.mesh(at, &mut uses)?;
        at.uses(uses);
        Some(ReadoutPlan { spec: Self { time, ..self.clone() }, mesh })
    }
}

impl ReadoutSpec {
    /// The ways through switches to the builders: switches connect both of them, or neither.
    fn mesh(&self, at: &mut Lowering, uses: &mut Vec<NodeId>) -> Option<Option<Mesh>> {
        let (own, to) = (at.path().to_owned(), &self.builder);
        let Some(builders) = at.named_in_system(to).and_then(|spec| spec.get::<EventBuilderSpec>()) else {
            return Some(None);
        };
        let (froms, tos) = (self.concentrators, builders.builders);
        match (at.is_connected(&own), at.is_connected(to)) {
            (false, false) => Some(None),
            (true, true) => {
                let ways = at.mesh("builder", (&own, froms), (to, tos), uses)?;
                Some(Some(Mesh { froms, tos, ways }))
            }
            (here, _) => {
                let (connected, other) = if here { (&own, to) } else { (to, &own) };
                let message = format!("a switch connects `{connected}`, none connects `{other}`");
                at.refuse("builder", message, Some("connect both, or neither, in the `connects` of switches"))
            }
        }
    }
}

impl Theory for ReadoutPlan {}
