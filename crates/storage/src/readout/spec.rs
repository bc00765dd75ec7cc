//! What a user writes of a readout, and what it becomes.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{SizeSpec, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::Lowering;
use crate::room::{Known, Lowered, Spec};

/// Local data concentrators. A stream to it is the trigger: for each request, every concentrator reads one sub-event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadoutSpec {
    /// Number of concentrators.
    #[schemars(range(min = 1, max = 10_000))]
    pub concentrators: u32,
    /// Size of a sub-event, drawn independently.
    pub sub_event: SizeSpec,
    /// Time to read a sub-event, in addition to its bytes at `rate`. Default: none.
    #[serde(default)]
    pub time: TimeSpec,
    /// Rate at which a concentrator reads. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Buffer per concentrator, which holds a sub-event from the trigger until it has been sent. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Policy for triggers while a buffer is full.
    #[serde(default)]
    pub when_full: FullBuffer,
    /// Name of the event builder in `system`.
    pub builder: String,
    /// Failure of a concentrator. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<FailsSpec>,
}

/// Policy for triggers while a buffer is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullBuffer {
    /// The trigger and all later ones wait. `outstanding` of the stream can block the source.
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
    /// Time from which its sub-events are missing.
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
