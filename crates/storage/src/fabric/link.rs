//! A link: one transfer at a time at a rate, and a latency on the way. Whoever names it shares it.

use headrace_analytic::Distribution;
use headrace_kernel::{Resource, Sim};
use headrace_units::{BytesPerSecond, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AnyPlan;
use crate::core::component::{Component, InOrder, Plan, Spec, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::{Lowering, View};
use crate::core::meter::{Activity, ByCause};
use crate::core::theory::{Demand, Features, Load, ServiceKind};
use crate::core::work::Serve;
use crate::fabric::port::{Passes, PortPlan};
use crate::fabric::wire::{FrameSpec, Preset, Wire, WireFields};

/// A link that carries one transfer at a time, or one in each direction, first come, first served. Arrays reach their disks `via` a
/// link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Type of wire, which sets rate and frame format. Default: none; `rate` and `frame` apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Data rate; with `frame`, the rate of whole frames after line coding. Default: that of `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Frame format. Default: that of `preset`, or no frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameSpec>,
    /// Sharing of the wire by reads and writes. Default: `full` with a `preset`, otherwise `half`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Duplex>,
    /// Propagation delay, during which the next transfer can start.
    #[serde(default)]
    pub latency: Nanos,
    /// Length in metres (5 ns each).
    #[serde(default)]
    #[schemars(range(min = 0, max = 20_000_000))]
    pub metres: u32,
    /// Buffer-to-buffer credit: frames sent before the first is acknowledged. Default: enough for any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub credit: Option<u32>,
}

/// Sharing of the wire by the two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// One transfer at a time, in either direction.
    Half,
    /// A wire for reads and another for writes.
    Full,
}

/// A link whose wire is known. One of two directions uses a port for each: reads, then writes.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    wire: Wire,
    latency: Nanos,
    duplex: Duplex,
}

/// The directions of a link of two, by the operation whose data goes there.
const DIRECTIONS: [(Op, &str); 2] = [(Op::Read, "reads"), (Op::Write, "writes")];

const fn direction(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write | Op::Discard | Op::Flush => 1,
    }
}

impl LinkSpec {
    /// A link of one direction at a time at this rate of data, with the defaults of all else.
    pub fn new(rate: BytesPerSecond, latency: Nanos) -> Self {
        Self { preset: None, rate: Some(rate), frame: None, duplex: None, latency, metres: 0, credit: None }
    }
}

impl Spec for LinkSpec {
    type Plan = LinkPlan;

    fn lower(&self, at: &mut Lowering) -> Option<LinkPlan> {
        let Self { preset, rate, frame, metres, credit, .. } = *self;
        let wire = WireFields { preset, rate, frame, metres, credit }.wire(at)?;
        let usual = if self.preset.is_some() { Duplex::Full } else { Duplex::Half };
        let duplex = self.duplex.unwrap_or(usual);
        let port = || {
            AnyPlan::Port(
                PortPlan { wire, messages: false, passes: Passes::Whole, commands: [Nanos::ZERO; 2] }.into(),
            )
        };
        let uses = match duplex {
            Duplex::Half => Vec::new(),
            Duplex::Full => DIRECTIONS.iter().map(|(_, name)| at.part(name, port())).collect(),
        };
        at.uses(uses);
        Some(LinkPlan { wire, latency: self.latency, duplex })
    }
}

impl LinkPlan {
    /// Returns the distribution of the time for which transfers of these kinds hold the link, in ms.
    fn distribution(&self, kinds: &[(f64, Op, u64)]) -> Distribution {
        let time = |bytes: u64| Distribution::Fixed(self.wire.time_for(bytes).ms());
        Distribution::mixed(kinds.iter().map(|(p, _, bytes)| (*p, time(*bytes))).collect())
    }

    /// Returns the demands on a link of two directions: each has its share of the transfers.
    fn of_directions(view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let mut demands = Vec::new();
        for (port, (op, _)) in view.uses().zip(DIRECTIONS) {
            let here = load.kinds.iter().filter(|(_, its, _)| *its == op);
            let share: f64 = here.clone().map(|(p, ..)| p).sum();
            if share > 0.0 {
                let kinds = here.map(|(p, op, bytes)| (p / share, *op, *bytes)).collect();
                let found = port.demands(&Load { kinds, ..load.clone() })?;
                demands.extend(found.into_iter().map(|demand| demand.times(share, 1.0)));
            }
        }
        Ok(demands)
    }
}

impl Theory for LinkPlan {
    fn features(&self) -> Features {
        Features { can_be_slow: self.duplex == Duplex::Half, fills: Some(0), ..Features::default() }
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let after = |time: Nanos| Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(time.ms()));
        if self.duplex == Duplex::Full {
            return Ok([Self::of_directions(view, load)?, vec![after(self.latency)]].concat());
        }
        let held = Demand::one(view.id(), ServiceKind::SINGLE, self.distribution(&load.kinds));
        Ok(vec![held, after(self.latency + self.wire.delay())])
    }

    fn in_order(&self, view: View, load: &Load) -> Result<(), String> {
        let both = load.writes() && load.kinds.iter().any(|(_, op, _)| *op == Op::Read);
        if self.duplex == Duplex::Full && both {
            return Err(format!("`{}` may answer requests out of order", view.path()));
        }
        Ok(())
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        true
    }
}

/// A link in a simulation.
pub struct Link<'m> {
    context: &'m NodeContext<'m>,
    wires: Wires<'m>,
    plan: &'m LinkPlan,
}

/// The wires of a link.
enum Wires<'m> {
    One(Box<Shared<'m>>),
    Two(&'m [Edge<'m>]),
}

/// The wire that both directions share.
struct Shared<'m> {
    wire: Resource<'m>,
    by_cause: ByCause,
}

impl Plan for LinkPlan {
    type Component<'m> = Link<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Link<'m> {
        let uses = context.uses();
        let shared = || Shared { wire: Resource::fcfs(context.shared.sim, 1), by_cause: ByCause::default() };
        let wires = match self.duplex {
            Duplex::Half => Wires::One(Box::new(shared())),
            Duplex::Full => Wires::Two(uses),
        };
        Link { wires, plan: self, context }
    }
}

impl<'m> Shared<'m> {
    /// Waits for the wire and holds it.
    async fn carry_for(&'m self, sim: &'m Sim<'m>, cause: Cause, time: Nanos) {
        if cause == Cause::Host {
            self.wire.serve(time).await;
            return;
        }
        let _held = self.wire.acquire(()).await;
        self.by_cause.during(cause, sim, sim.delay(time)).await;
    }
}

impl Link<'_> {
    fn time_for(&self, request: &Request<Block>) -> Nanos {
        self.context.health.slowed(self.plan.wire.time_for(request.work.bytes))
    }
}

impl<'m> Component<'m> for Link<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        match &self.wires {
            Wires::One(shared) => Some(shared.by_cause.of(Activity::of(1, &shared.wire.usage(), now), now)),
            Wires::Two(_) => None,
        }
    }
}

impl<'m> Serve<'m, Block> for Link<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let sim = self.context.shared.sim;
        let Wires::One(shared) = &self.wires else {
            self.pass(request, breakdown);
            return sim.until(breakdown.until()).await;
        };
        let time = self.time_for(request);
        shared.carry_for(sim, request.cause, time).await;
        breakdown.waited(self.context.id, sim.now() - time);
        sim.delay(self.plan.wire.delay() + self.plan.latency).await;
        breakdown.served(self.context.id, sim.now());
    }
}

impl<'m> InOrder<'m> for Link<'m> {
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        match &self.wires {
            Wires::One(shared) => {
                let time = self.time_for(request);
                let pass = shared.wire.pass(breakdown.until(), |start| start + time);
                breakdown.waited(self.context.id, pass.start);
                breakdown.served(self.context.id, pass.end + self.plan.wire.delay());
            }
            Wires::Two(ports) => ports[direction(request.work.op)].pass(request, breakdown),
        }
        breakdown.served(self.context.id, breakdown.until() + self.plan.latency);
    }
}
