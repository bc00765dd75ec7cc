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
    /// Which builder the next event goes to.
    #[serde(default)]
    pub assign: Assign,
    /// Number of events that a builder holds at once, from the first sub-event until the event is recorded. Default: no limit; 1 where
    /// builders are assigned by credit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub buffers: Option<u32>,
    /// What the ports are, by name: their rate and frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Rate of a port. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Frames of a port. Default: those of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameSpec>,
    /// Time that the transfer of a sub-event takes besides that of its bytes.
    #[serde(default)]
    pub overhead: TimeSpec,
    /// Time that a builder takes to put an event together, one event at a time.
    #[serde(default)]
    pub assemble: TimeSpec,
    /// A builder gives an event up this long after it would have been received, if a sub-event never comes. Default: it waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_up: Option<Nanos>,
    /// What records the events of each builder: a part, named or written out. Default: an event is done when it is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<Copies>,
}

/// Which builder the next event goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assign {
    /// The next in turn. Where it has no free buffer the event waits, and those behind it.
    #[default]
    RoundRobin,
    /// Any, at random.
    Random,
    /// The one whose buffer has been free for longest: builders ask for events.
    Credit,
    /// The one that holds the fewest bytes; among equals the one that was chosen longest ago.
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
