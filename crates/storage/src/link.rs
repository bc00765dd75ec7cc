//! A link: one transfer at a time at a rate, and a latency on the way. Whoever names it shares it.

use headrace_analytic::Law;
use headrace_kernel::Resource;
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Ask, Block, Op, Spent, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Lowering, View};
use crate::meter::Activity;
use crate::place::{Edge, Place};
use crate::room::{Known, Lowered, Metered, Plan, Room, Spec};
use crate::theory::{Demand, Load, Server};

/// A link that carries one transfer at a time, first come, first served. It holds no data: arrays send theirs `via` a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Transfer rate.
    pub rate: BytesPerSecond,
    /// Delay from the last byte sent to the last byte received; the next transfer may begin in the meantime.
    #[serde(default)]
    pub latency: Nanos,
}

impl Spec for LinkSpec {
    type Plan = Self;

    fn lower(&self, _: &mut Lowering) -> Option<Lowered<Self>> {
        Some(Lowered { plan: self.clone(), uses: Vec::new(), capacity: Bytes(0) })
    }
}

impl LinkSpec {
    /// How long transfers of these kinds hold the link, in ms.
    fn law(&self, kinds: &[(f64, Op, u64)]) -> Law {
        let time = |bytes: u64| Law::Fixed(self.rate.time_for(Bytes(bytes)).ms());
        Law::mixed(kinds.iter().map(|(p, _, bytes)| (*p, time(*bytes))).collect())
    }
}

impl Known for LinkSpec {
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let latency = Demand::one(view.id(), Server::Delay, Law::Fixed(self.latency.ms()));
        Ok(vec![Demand::one(view.id(), Server::SINGLE, self.law(&load.kinds)), latency])
    }

    fn in_order(&self, _: View, _: &Load) -> Result<(), String> {
        Ok(())
    }

    fn scales(&self, _: View) -> bool {
        true
    }
}

/// A link in a simulation.
pub struct Link<'m> {
    place: &'m Place<'m>,
    wire: Resource<'m>,
    spec: &'m LinkSpec,
}

impl Plan for LinkSpec {
    type Room<'m> = Link<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> Link<'m> {
        Link { wire: Resource::fcfs(place.site.sim, 1), spec: self, place }
    }
}

impl Link<'_> {
    fn time_for(&self, ask: &Ask<Block>) -> Nanos {
        self.spec.rate.time_for(Bytes(ask.work.bytes))
    }
}

impl Metered for Link<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(Activity::of(1, &self.wire.usage(), now))
    }
}

impl<'m> Room<'m> for Link<'m> {
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let (sim, time) = (self.place.site.sim, self.time_for(ask));
        self.wire.serve(time).await;
        spent.charge(self.place.id, What::Waiting, sim.now() - time);
        sim.delay(self.spec.latency).await;
        spent.charge(self.place.id, What::Service, sim.now());
    }

    fn pass(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let pass = self.wire.pass(spent.until(), |start| start + self.time_for(ask));
        spent.charge(self.place.id, What::Waiting, pass.start);
        spent.charge(self.place.id, What::Service, pass.end + self.spec.latency);
    }
}
