//! Specification and plan of an event builder.

use headrace_units::{BytesPerSecond, Nanos};
use headrace_work::{DaqEvent, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Spec, Theory};
use crate::core::graph::{Copies, Lowering};
use crate::core::theory::Features;
use crate::fabric::wire::{FrameSpec, Preset, Wire, WireFields};

/// Event building by global data concentrators, the builders: all sub-events of an event are sent to the same builder. A transfer
/// occupies the port of the concentrator and that of the builder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventBuilderSpec {
    /// Number of builders.
    #[schemars(range(min = 1, max = 10_000))]
    pub builders: u32,
    /// Choice of the builder of the next event.
    #[serde(default)]
    pub assign: Assign,
    /// Maximum number of events in a builder, from the first sub-event until the event is recorded. Default: unlimited; 1 with `assign:
    /// credit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub buffers: Option<u32>,
    /// Type of the ports, which sets rate and frame. Switches that connect the builders set it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Rate of each port. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Frame overhead. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameSpec>,
    /// Overhead of the transfer of a sub-event; through switches, of its concentrator before it sends.
    #[serde(default)]
    pub overhead: TimeSpec,
    /// Time to assemble an event. A builder assembles one event at a time.
    #[serde(default)]
    pub assemble: TimeSpec,
    /// Time after which a builder abandons an event with a missing sub-event, counted from the arrival of the others. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_up: Option<Nanos>,
    /// Recorder of each builder: the name of a part, or its definition. Default: an event is complete when it is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<Copies>,
}

/// Choice of the builder of the next event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assign {
    /// Each builder in turn. If that builder has no free buffer, the event and all later ones wait.
    #[default]
    RoundRobin,
    /// Uniformly at random.
    Random,
    /// The builder whose buffer has been free longest: builders request events.
    Credit,
    /// The builder that holds the fewest bytes; among equals the one chosen least recently.
    LeastLoad,
}

/// An event builder with names looked up.
#[derive(Clone, Debug)]
pub struct EventBuilderPlan {
    pub(super) spec: EventBuilderSpec,
    /// That of its ports, unless they are those of switches.
    pub(super) wire: Option<Wire>,
}

impl Spec for EventBuilderSpec {
    type Plan = EventBuilderPlan;

    fn lower(&self, at: &mut Lowering) -> Option<EventBuilderPlan> {
        let wire = self.wire(at);
        let recorders = match &self.recorder {
            Some(of) => at.copies::<DaqEvent>("recorder", of, Some(self.builders)),
            None => Some(Vec::new()),
        };
        let overhead = at.time("overhead", &self.overhead)?;
        let assemble = at.time("assemble", &self.assemble)?;
        let (uses, builders) = (recorders?, self.builders as usize);
        if !uses.is_empty() && uses.len() != builders {
            let message = format!("{builders} builders need a recorder each; {} are listed", uses.len());
            return at.refuse("recorder", message, Some("name a part: each builder has a copy of it"));
        }
        let buffers = self.buffers.or((self.assign == Assign::Credit).then_some(1));
        let spec = Self { buffers, overhead, assemble, ..self.clone() };
        at.uses(uses);
        Some(EventBuilderPlan { spec, wire: wire? })
    }
}

impl EventBuilderSpec {
    /// The wire of each port; none where switches connect the builders.
    fn wire(&self, at: &mut Lowering) -> Option<Option<Wire>> {
        let line =
            WireFields { preset: self.preset, rate: self.rate, frame: self.frame, ..WireFields::default() };
        let own_path = at.path().to_owned();
        if !at.is_connected(&own_path) {
            return line.wire(at).map(Some);
        }
        let own = [
            ("preset", line.preset.is_some()),
            ("rate", line.rate.is_some()),
            ("frame", line.frame.is_some()),
        ];
        match own.iter().find(|(_, is_set)| *is_set) {
            None => Some(None),
            Some((field, _)) => {
                let message = "a switch connects these builders: its ports are theirs";
                at.refuse(field, message, Some("remove it here, and set it at the switch"))
            }
        }
    }
}

impl Theory for EventBuilderPlan {
    fn features(&self) -> Features {
        Features { sends_in_turn: true, ..Features::default() }
    }
}
