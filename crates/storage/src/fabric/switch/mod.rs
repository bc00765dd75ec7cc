//! A switch: ports, each with a queue before either direction of its wire, and nothing between them that anybody waits for.
//!
//! A message books the port by which it comes in and, when its head is there and `latency` is over, the port by which it leaves; it
//! is in both at once. So it takes its time on the wire once, and one frame more where frames are stored first. The queue before a
//! port that leads in stands in who sends; between switches there is one wire, that of the port which leads out.

mod spec;

use headrace_analytic::Distribution;
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::View;
use crate::core::theory::{Demand, Features, Load, Phase, ServiceKind};
use crate::core::work::{Serve, Work};
use crate::fabric::path_transfer::PathTransfer;
use crate::fabric::port::PortPlan;
use crate::fabric::wire::Wire;

pub use spec::{Connection, Form, Forwarding, Linked, SwitchSpec};

/// A switch whose neighbours are known.
#[derive(Clone, Debug)]
pub struct SwitchPlan {
    latency: Nanos,
    inside: Inside,
}

/// Connection between two neighbours.
#[derive(Clone, Debug)]
enum Inside {
    /// Ports with queues.
    Queued(Vec<Ends>),
    /// A wire of their own for each two, or nothing at all.
    Direct(Option<Wire>),
}

/// The two directions of a port, by the numbers of the nodes that the switch uses.
#[derive(Clone, Debug)]
struct Ends {
    /// From a server or what holds data; the queue before another switch's wire stands there.
    into: Option<(usize, PortPlan)>,
    out: (usize, PortPlan),
    /// True if it leads to another switch.
    to_switch: bool,
}

impl Phase {
    /// The ports by which a message comes in and leaves.
    const fn through(self, initiator: u32, target: u32) -> (usize, usize) {
        match self {
            Self::Request => (initiator as usize, target as usize),
            Self::Answer => (target as usize, initiator as usize),
        }
    }
}

impl SwitchPlan {
    /// Returns the time of a message of a direct switch on its wire.
    fn direct_time(wire: &Option<Wire>, phase: Phase, data: Block) -> Nanos {
        let is_command = phase == Phase::Request;
        wire.map_or(Nanos::ZERO, |wire| wire.time_for(data.bytes) + wire.message(is_command) + wire.delay())
    }
}

impl Theory for SwitchPlan {
    fn features(&self) -> Features {
        Features { fills: Some(0), ..Features::default() }
    }

    fn carries(
        &self,
        view: View,
        load: &Load,
        path_transfer: (Phase, u32, u32),
    ) -> Result<Vec<Demand>, String> {
        let (phase, initiator, target) = path_transfer;
        let data = load.data(phase);
        let mean = |of: &dyn Fn(Block) -> Nanos| {
            let each =
                |(p, op, bytes): &(f64, Op, u64)| p * of(Block { op: *op, address: 0, bytes: *bytes }).ms();
            data.kinds.iter().map(each).sum::<f64>()
        };
        let delay = |ms: f64| Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(ms));
        let ports = match &self.inside {
            Inside::Direct(wire) => {
                let ms = mean(&|block| Self::direct_time(wire, phase, block));
                return Ok(vec![delay(self.latency.ms() + ms)]);
            }
            Inside::Queued(ports) => ports,
        };
        let (enter, leave) = phase.through(initiator, target);
        let of_port = |at: usize| view.uses().nth(at).expect("a switch uses its ports").demands(&data);
        let mut demands = vec![delay(self.latency.ms())];
        if let Some((into, _)) = &ports[enter].into {
            demands.extend(of_port(*into)?);
        }
        demands.extend(of_port(ports[leave].out.0)?);
        Ok(demands)
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        true
    }
}

/// A switch in a simulation.
pub struct Switch<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m SwitchPlan,
    nodes: &'m [Edge<'m>],
}

impl Plan for SwitchPlan {
    type Component<'m> = Switch<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Switch<'m> {
        let uses = context.uses();
        Switch { context, plan: self, nodes: uses }
    }
}

impl<'m> Switch<'m> {
    /// Returns true if the ports of two neighbours are up in both directions: an answer takes the other one.
    pub(crate) fn connects(&self, initiator: u32, target: u32) -> bool {
        self.ports_of(initiator, target).all(Edge::is_up)
    }

    /// Returns the number of failures of the ports of two neighbours.
    pub(crate) fn failures(&self, initiator: u32, target: u32) -> u32 {
        self.ports_of(initiator, target).map(Edge::failures).sum()
    }

    /// Returns the times for which a message holds a port when it enters and when it leaves: zero in a switch without queues.
    pub(crate) fn holds(&self, port: u32, data: Block) -> [Nanos; 2] {
        let Inside::Queued(ports) = &self.plan.inside else { return [Nanos::ZERO; 2] };
        let Ends { into, out, .. } = &ports[port as usize];
        [into.as_ref().map_or(Nanos::ZERO, |(_, port)| port.time_for(data)), out.1.time_for(data)]
    }

    /// The ports of two neighbours whose health matters: none as long as the health of no component has changed.
    fn ports_of(&self, initiator: u32, target: u32) -> impl Iterator<Item = &Edge<'m>> {
        let ports = match &self.plan.inside {
            Inside::Queued(ports) if self.context.shared.has_health_events() => &ports[..],
            _ => &[],
        };
        let two = [initiator, target].into_iter().filter_map(|port| ports.get(port as usize));
        let nodes = two.flat_map(|ends| ends.into.iter().chain([&ends.out]));
        nodes.map(move |(node, _)| &self.nodes[*node])
    }

    /// Receives the head of a message; returns the time at which all of it has arrived.
    fn enters(
        &self,
        ends: &Ends,
        request: &Request<PathTransfer>,
        data: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Nanos {
        let Some((into, port)) = &ends.into else { return request.work.tail };
        self.nodes[*into].pass(data, breakdown);
        breakdown.until() + port.behind_head(data.work)
    }

    /// Sends a message that has fully arrived by `whole`; returns the time at which all of it has arrived at the other end. It continues
    /// to another switch with its head.
    fn leaves(&self, ends: &Ends, whole: Nanos, data: &Request<Block>, breakdown: &mut Breakdown) -> Nanos {
        let (out, port) = &ends.out;
        self.nodes[*out].pass(data, breakdown);
        let arrived = (breakdown.until() + port.behind_head(data.work)).max(whole + port.wire.delay());
        if !ends.to_switch {
            breakdown.served(self.context.id, arrived);
        }
        arrived
    }
}

impl<'m> Component<'m> for Switch<'m> {}

impl<'m> Serve<'m, PathTransfer> for Switch<'m> {
    async fn serve(&'m self, request: &Request<PathTransfer>, breakdown: &mut Breakdown) -> Nanos {
        let (sim, id, latency) = (self.context.shared.sim, self.context.id, self.plan.latency);
        let (PathTransfer { phase, initiator, target, .. }, data) =
            (request.work, request.with(request.work.data()));
        let ports = match &self.plan.inside {
            Inside::Direct(wire) => {
                let time = latency + SwitchPlan::direct_time(wire, phase, data.work);
                sim.delay(time).await;
                breakdown.served(id, sim.now());
                return sim.now();
            }
            Inside::Queued(ports) => ports,
        };
        let failures = self.failures(initiator, target);
        if !self.connects(initiator, target) {
            breakdown.fail();
            return breakdown.until();
        }
        let (enter, leave) = phase.through(initiator, target);
        let whole = self.enters(&ports[enter], request, &data, breakdown);
        breakdown.served(id, breakdown.until() + latency);
        sim.until(breakdown.until()).await;
        let arrived = self.leaves(&ports[leave], whole + latency, &data, breakdown);
        sim.until(breakdown.until()).await;
        if self.failures(initiator, target) != failures {
            breakdown.fail();
        }
        arrived
    }
}
