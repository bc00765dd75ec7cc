//! What a user writes of a readout, and what it becomes.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{SizeSpec, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::Lowering;
use crate::room::{Known, Lowered, Spec};

/// Local data concentrators. A stream to it is the trigger: after each of its requests, every concentrator reads one sub-event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadoutSpec {
    /// Number of concentrators.
    #[schemars(range(min = 1, max = 10_000))]
    pub concentrators: u32,
    /// Size of a sub-event, drawn for each.
    pub sub_event: SizeSpec,
    /// Time for which a concentrator is held to read a sub-event, besides that of its bytes at `rate`. Default: none.
    #[serde(default)]
    pub time: TimeSpec,
    /// Rate at which a concentrator reads. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Buffer of each concentrator. It holds a sub-event from the trigger until it has been sent. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// What happens to a trigger while a buffer has no room for its sub-event.
    #[serde(default)]
    pub when_full: FullBuffer,
    /// The event builder that sub-events are sent to, by its name in `system`.
    pub builder: String,
    /// A concentrator that stops working. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<FailsSpec>,
}

/// What happens to a trigger while a buffer has no room for its sub-event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullBuffer {
    /// It waits, and all later ones behind it. `outstanding` of the stream holds the source back too.
    #[default]
    Wait,
    /// Its event is lost, and counted as failed.
    Drop,
}

/// A concentrator that stops working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailsSpec {
    /// Which, from 0 on.
    pub concentrator: u32,
    /// From when on its sub-events never come.
    pub at: Nanos,
}

/// A readout with names looked up.
#[derive(Clone, Debug)]
pub struct ReadoutPlan(pub(super) ReadoutSpec);

impl Spec for ReadoutSpec {
    type Plan = ReadoutPlan;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<ReadoutPlan>> {
        let builder = at.shared_of_kind("builder", &self.builder, "event_builder");
        if let Some(problem) = self.sub_event.problem() {
            return at.refuse("sub_event", problem, None);
        }
        if let Some(problem) = self.time.problem() {
            return at.refuse("time", problem, None);
        }
        let largest = self.sub_event.bounds().1;
        if let Some(buffer) = self.buffer.filter(|buffer| *buffer < largest) {
            let message = format!("a sub-event of {largest} never fits into a buffer of {buffer}");
            return at.refuse("buffer", message, Some("give room for at least one sub-event"));
        }
        if self.rate.is_some_and(|rate| rate.get() <= 0.0) {
            return at.refuse("rate", "a concentrator reads something", None);
        }
        if let Some(fails) = self.fails.filter(|fails| fails.concentrator >= self.concentrators) {
            let message =
                format!("there is no concentrator {} of {}", fails.concentrator, self.concentrators);
            return at.refuse("fails.concentrator", message, Some("they are numbered from 0 on"));
        }
        Some(Lowered { plan: ReadoutPlan(self.clone()), uses: vec![builder?], capacity: Bytes(0) })
    }
}

impl Known for ReadoutPlan {
    fn serves_blocks(&self) -> bool {
        false
    }

    fn sends_blocks(&self) -> bool {
        false
    }

    fn takes_events(&self) -> bool {
        true
    }
}
