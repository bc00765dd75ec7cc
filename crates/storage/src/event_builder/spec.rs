//! What a user writes of an event builder, and what it becomes.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::TimeSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Copies, Lowering};
use crate::room::{Known, Lowered, Spec};
use crate::wire::{FrameSpec, Line, Preset, Wire};

/// Global data concentrators, the builders: the sub-events of one event meet at one of them. A sub-event holds the port of its
/// concentrator and that of the builder while it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventBuilderSpec {
    /// Number of builders.
    #[schemars(range(min = 1, max = 10_000))]
    pub builders: u32,
    /// Policy that assigns events to builders.
    #[serde(default)]
    pub assign: Assign,
    /// Maximum number of events per builder, from the first sub-event until the event is recorded. Default: no
    /// limit; 1 with `assign: credit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub buffers: Option<u32>,
    /// Type of port, which sets rate and frame format. Default: none; `rate` and `frame` apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Rate of a port. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Frame format of a port. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameSpec>,
    /// Overhead per sub-event, in addition to the transfer of its bytes.
    #[serde(default)]
    pub overhead: TimeSpec,
    /// Time to assemble an event. A builder assembles one event at a time.
    #[serde(default)]
    pub assemble: TimeSpec,
    /// Time after which a builder abandons an event with a missing sub-event, measured from when it would have
    /// been complete. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_up: Option<Nanos>,
    /// Recorder of each builder: a part, by name or written out. Default: none; an event is complete when it is
    /// built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<Copies>,
}

/// Policy that assigns events to builders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assign {
    /// Builders in turn. If the next one has no free buffer, the event and all later ones wait.
    #[default]
    RoundRobin,
    /// A random builder.
    Random,
    /// The builder whose buffer has been free for longest, as if builders requested events.
    Credit,
    /// The builder that holds the fewest bytes; among equals, the one chosen longest ago.
    LeastLoad,
}

/// An event builder with names looked up.
#[derive(Clone, Debug)]
pub struct EventBuilderPlan {
    pub(super) spec: EventBuilderSpec,
    pub(super) wire: Wire,
}

impl Spec for EventBuilderSpec {
    type Plan = EventBuilderPlan;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<EventBuilderPlan>> {
        let line = Line { preset: self.preset, rate: self.rate, frame: self.frame, ..Line::default() };
        let wire = line.wire(at);
        let recorders = match &self.recorder {
            Some(of) => at.copies("recorder", of, Some(self.builders)),
            None => Some(Vec::new()),
        };
        for (field, time) in [("overhead", self.overhead), ("assemble", self.assemble)] {
            if let Some(problem) = time.problem() {
                return at.refuse(field, problem, None);
            }
        }
        let (uses, builders) = (recorders?, self.builders as usize);
        if uses.iter().any(|id| !at.is_recorder(*id)) {
            return at.refuse("recorder", "only a `recorder` records events", None);
        }
        if !uses.is_empty() && uses.len() != builders {
            let message = format!("{builders} builders need a recorder each; {} are listed", uses.len());
            return at.refuse("recorder", message, Some("name a part: each builder has a copy of it"));
        }
        let buffers = self.buffers.or((self.assign == Assign::Credit).then_some(1));
        let spec = Self { buffers, ..self.clone() };
        Some(Lowered { plan: EventBuilderPlan { spec, wire: wire? }, uses, capacity: Bytes(0) })
    }
}

impl Known for EventBuilderPlan {
    fn serves_blocks(&self) -> bool {
        false
    }

    fn sends_blocks(&self) -> bool {
        false
    }
}
