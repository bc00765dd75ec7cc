//! A station: servers with a service time by law. The queue of the textbooks, and a placeholder for what is not modelled
//! in detail.

use headrace_analytic::Law;
use headrace_kernel::{Priority, Resource, Stream};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Ask, Block, Op, Spent, TimeSpec, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Lowering, View};
use crate::meter::Activity;
use crate::place::{Edge, Place};
use crate::room::{Known, Lowered, Metered, Plan, Room, Spec};
use crate::theory::{self, Demand, Load, Model, Server};

/// Servers with one queue, whose service time does not depend on the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Number of requests served in parallel.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub servers: u32,
    /// Service time of a request.
    pub service: TimeSpec,
    /// Order of service.
    #[serde(default)]
    pub order: Order,
    /// Addressable bytes.
    #[serde(default = "one_tib")]
    pub capacity: Bytes,
}

/// Order of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// First come, first served.
    #[default]
    FirstCome,
    /// The stream with the smallest `priority` first, without preemption; equal priorities in order of
    /// arrival.
    Priority,
}

const fn one() -> u32 {
    1
}

const fn one_tib() -> Bytes {
    Bytes(1 << 40)
}

impl StationSpec {
    /// The mean work of a request, over the number of servers, in ms.
    fn work_ms(&self) -> f64 {
        self.service.law().mean() / f64::from(self.servers)
    }
}

impl Spec for StationSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<Self>> {
        let nothing = (self.service.law().mean() <= 0.0).then(|| "a service takes some time".to_owned());
        if let Some(problem) = self.service.problem().or(nothing) {
            return at.refuse("service", problem, None);
        }
        if self.capacity.0 > crate::graph::MAX_BYTES {
            return at.refuse("capacity", "a station addresses at most 1 EiB", None);
        }
        Some(Lowered { plan: self.clone(), uses: Vec::new(), capacity: self.capacity })
    }
}

impl Known for StationSpec {
    fn service(&self, view: View, _: Op, _: u64) -> Result<Law, String> {
        if self.servers > 1 {
            return Err(format!("one server: `{}` has {}", view.path(), self.servers));
        }
        Ok(self.service.law())
    }

    fn model(&self, view: View, _: &Load) -> Result<Model, String> {
        let busy = |fails| Model::Busy { work_ms: self.work_ms(), fails };
        if self.order == Order::Priority {
            return Ok(busy(format!(
                "requests are served in order of arrival: `{}` has priorities",
                view.path()
            )));
        }
        Ok(match self.service(view, Op::Read, 0) {
            Ok(law) => Model::Single { law, share: 1.0, formula: "M/G/1", mild: None },
            Err(fails) => busy(fails),
        })
    }

    fn demands(&self, view: View, _: &Load) -> Result<Vec<Demand>, String> {
        let order = match self.order {
            Order::FirstCome => theory::Order::FirstCome,
            Order::Priority => theory::Order::Urgent,
        };
        let server = Server::Queue { servers: self.servers, order };
        Ok(vec![Demand::one(view.id(), server, self.service.law())])
    }

    fn in_order(&self, view: View, load: &Load) -> Result<(), String> {
        if self.order == Order::FirstCome && (self.servers == 1 || load.alone) {
            return Ok(());
        }
        Err(format!("`{}` may answer requests out of order", view.path()))
    }

    fn addressed(&self, _: View) -> bool {
        false
    }

    fn has_priorities(&self) -> bool {
        self.order == Order::Priority
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        true
    }
}

/// The servers, by who is next.
enum Servers<'m> {
    FirstCome(Resource<'m>),
    Priority(Resource<'m, Priority>),
}

/// A station in a simulation.
pub struct Station<'m> {
    place: &'m Place<'m>,
    servers: Servers<'m>,
    service: TimeSpec,
    draws: Stream,
}

impl Plan for StationSpec {
    type Room<'m> = Station<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> Station<'m> {
        let (sim, many) = (place.site.sim, u64::from(self.servers));
        let servers = match self.order {
            Order::FirstCome => Servers::FirstCome(Resource::fcfs(sim, many)),
            Order::Priority => Servers::Priority(Resource::new(sim, many, Priority::default())),
        };
        Station { servers, service: self.service, draws: place.stream("service"), place }
    }
}

impl Station<'_> {
    #[inline]
    fn service_of(&self, ask: &Ask<Block>) -> Nanos {
        self.service.draw(&mut self.draws.of(ask.key))
    }

    #[inline]
    fn charge(&self, spent: &mut Spent, began: Nanos, ended: Nanos) {
        spent.charge(self.place.id, What::Waiting, began);
        spent.charge(self.place.id, What::Service, ended);
    }
}

impl Metered for Station<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(match &self.servers {
            Servers::FirstCome(servers) => Activity::of(servers.servers(), &servers.usage(), now),
            Servers::Priority(servers) => Activity::of(servers.servers(), &servers.usage(), now),
        })
    }
}

impl<'m> Room<'m> for Station<'m> {
    #[inline]
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let service = self.service_of(ask);
        match &self.servers {
            Servers::FirstCome(servers) => servers.serve(service).await,
            Servers::Priority(servers) => servers.serve_by(u32::from(ask.priority), service).await,
        };
        let ended = self.place.site.sim.now();
        self.charge(spent, ended - service, ended);
    }

    #[inline(always)] // As in the resource.
    fn pass(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let Servers::FirstCome(servers) = &self.servers else {
            unreachable!("a station with priorities is not in order")
        };
        let pass = servers.pass(spent.until(), |start| start + self.service_of(ask));
        self.charge(spent, pass.start, pass.end);
    }
}
