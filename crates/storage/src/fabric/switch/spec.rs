//! Specification of a switch.

use headrace_units::{BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ends, Inside, SwitchPlan};
use crate::AnyPlan;
use crate::core::component::Spec;
use crate::core::graph::Lowering;
use crate::fabric::port::{Passes, PortPlan};
use crate::fabric::wire::{FrameSpec, Preset, Wire, WireFields};

/// A non-blocking switch with a port per neighbour, each with a wire and a queue in both directions. Streams `from:` a server are
/// routed through it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Neighbours: servers, storage, other switches, and readouts with their event builders. A link between two switches is listed at
    /// one of them.
    pub connects: Vec<Connection>,
    /// Type of port, which sets rate and frame format. Default: none; `rate` and `frame` apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Rate of each port per direction: of data, or with `frame` of whole frames. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Frame format. Default: that of `preset`, or no frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameSpec>,
    /// Delay from the arrival of a frame at one port to the queue of another. Data sheets give 0.3 µs to 2 µs.
    #[serde(default)]
    pub latency: Nanos,
    /// Time at which a frame is forwarded: before or after it has fully arrived.
    #[serde(default)]
    pub forwarding: Forwarding,
    /// Internal structure.
    #[serde(default)]
    pub form: Form,
    /// Buffer-to-buffer credit of each port: frames sent before the first is acknowledged. Default: enough for any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub credit: Option<u32>,
    /// Number of ports. Default: the number that its neighbours need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub ports: Option<u32>,
}

/// A neighbour of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Connection {
    /// The name of a component of `system`, connected by one wire like the other ports, or of those of all copies of a group.
    Name(String),
    /// A component with different or several wires.
    Written(Linked),
}

/// A neighbour and its wires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// Name of the neighbour in `system`.
    pub to: String,
    /// Number of wires, each on a port of its own. Concentrators and builders share those that lead to them evenly, in order.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub links: u32,
    /// Type of each wire. Default: that of the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Rate of each wire per direction. Default: that of the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Length of each wire in metres (5 ns each).
    #[serde(default)]
    #[schemars(range(min = 0, max = 20_000_000))]
    pub metres: u32,
}

const fn one() -> u32 {
    1
}

/// Time at which a frame is forwarded: before or after it has fully arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// As soon as its header has arrived, as in Fibre Channel and InfiniBand switches.
    #[default]
    CutThrough,
    /// After it has fully arrived, as in many Ethernet switches: one frame time later.
    StoreAndForward,
}

/// Internal structure of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A queue at each input and output port.
    #[default]
    Queued,
    /// A separate connection for each pair, without queues. `rate` or `preset` can be omitted; then messages
    /// take only `latency`.
    Direct,
}

impl Connection {
    /// The neighbour.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Written(linked) => &linked.to,
        }
    }

    /// Number of wires.
    pub(crate) const fn links(&self) -> u32 {
        match self {
            Self::Name(_) => 1,
            Self::Written(linked) => linked.links,
        }
    }
}

impl SwitchSpec {
    /// Returns the fields of the wires to a neighbour.
    pub(crate) fn line(&self, to: &Connection) -> WireFields {
        let Self { preset, rate, frame, credit, .. } = *self;
        let usual = WireFields { preset, rate, frame, metres: 0, credit };
        match to {
            Connection::Name(_) => usual,
            Connection::Written(Linked { preset: None, rate, metres, .. }) => {
                WireFields { rate: rate.or(usual.rate), metres: *metres, ..usual }
            }
            Connection::Written(Linked { preset, rate, metres, .. }) => {
                WireFields { preset: *preset, rate: *rate, frame: None, metres: *metres, ..usual }
            }
        }
    }

    fn check(&self, at: &mut Lowering) -> Option<()> {
        if self.connects.is_empty() {
            let help = "list servers, storage and other switches: `connects: [host, tds]`";
            return at.refuse("connects", "a switch needs at least one neighbour", Some(help));
        }
        let neighbours: Option<Vec<()>> =
            self.connects.iter().map(|connection| at.neighbours("connects", connection)).collect();
        neighbours.map(drop)
    }

    fn direct(&self, at: &mut Lowering) -> Option<Option<Wire>> {
        let Self { preset, rate, frame, credit, .. } = *self;
        match (preset, rate) {
            (None, None) => Some(None),
            _ => WireFields { preset, rate, frame, metres: 0, credit }.wire(at).map(Some),
        }
    }
}

impl Spec for SwitchSpec {
    type Plan = SwitchPlan;

    fn lower(&self, at: &mut Lowering) -> Option<SwitchPlan> {
        self.check(at)?;
        let sockets = at.sockets()?;
        if let Some(ports) = self.ports.filter(|ports| (*ports as usize) < sockets.len()) {
            let message =
                format!("the neighbours of `{}` need {} ports; `ports` is {ports}", at.path(), sockets.len());
            return at.refuse("ports", message, Some("use fewer neighbours, or another switch"));
        }
        let (latency, mut uses, mut ports) = (self.latency, Vec::new(), Vec::new());
        if self.form == Form::Direct {
            let inside = Inside::Direct(self.direct(at)?);
            at.uses(uses);
            return Some(SwitchPlan { latency, inside });
        }
        let passes = match self.forwarding {
            Forwarding::CutThrough => Passes::Head,
            Forwarding::StoreAndForward => Passes::FirstFrame,
        };
        for socket in sockets {
            let wire = socket.line.wire(at)?;
            let mut port = |direction: &str, passes| {
                let plan = PortPlan { wire, messages: true, passes, commands: [Nanos::ZERO; 2] };
                let (like, name) = (&socket.like, &socket.name);
                let port = AnyPlan::Port(plan.clone().into());
                uses.push(at.part_of(&format!("{like} {direction}"), &format!("{name} {direction}"), port));
                (uses.len() - 1, plan)
            };
            let into = (!socket.to_switch).then(|| port("in", passes));
            let leaves = if socket.to_switch { passes } else { Passes::Whole };
            ports.push(Ends { into, out: port("out", leaves), to_switch: socket.to_switch });
        }
        let plan = SwitchPlan { latency, inside: Inside::Queued(ports) };
        at.uses(uses);
        Some(plan)
    }
}
