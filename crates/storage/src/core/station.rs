//! A station: servers with a service time by distribution. The queue of the textbooks, and a placeholder for what is not modelled
//! in detail.

use std::cell::OnceCell;

use headrace_analytic::Distribution;
use headrace_kernel::{Priority, Resource, RngStream};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op, Request, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Component, InOrder, Plan, Spec, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::{Lowering, View};
use crate::core::meter::{Activity, ByCause};
use crate::core::theory::{self, Demand, Features, Load, Model, ServiceKind};
use crate::core::work::Serve;

/// Servers with one queue, whose service time depends on nothing but, with a `rate`, the size of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Number of requests served in parallel.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub servers: u32,
    /// Service time of a request.
    pub service: TimeSpec,
    /// Rate of data: each request takes the time of its data at this rate besides. Default: its size does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
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
    /// The time that the data of a request takes.
    #[inline]
    fn time_of(&self, bytes: u64) -> Nanos {
        self.rate.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes(bytes)))
    }

    /// The mean work of a request, over the number of servers, in ms.
    fn work_ms(&self, load: &Load) -> f64 {
        let data: f64 = load.kinds.iter().map(|(p, _, bytes)| p * self.time_of(*bytes).ms()).sum();
        (self.service.distribution().mean() + data) / f64::from(self.servers)
    }

    /// The distribution of the service times of requests of a size, in ms, where it has a formula.
    fn distribution(&self, view: View, bytes: u64) -> Result<Distribution, String> {
        match (self.time_of(bytes).ms(), self.service.distribution()) {
            (0.0, any) => Ok(any),
            (data, Distribution::Fixed(alone)) => Ok(Distribution::Fixed(alone + data)),
            _ => Err(format!("constant service times beside a `rate`: those of `{}` vary", view.path())),
        }
    }

    /// The distribution of the service times of a load, in ms, where it has a formula.
    fn of_load(&self, view: View, load: &Load) -> Result<Distribution, String> {
        if self.rate.is_none() {
            return Ok(self.service.distribution());
        }
        let kinds = load.kinds.iter();
        let parts = kinds.map(|(p, _, bytes)| Ok((*p, self.distribution(view, *bytes)?)));
        Ok(Distribution::mixed(parts.collect::<Result<_, String>>()?))
    }
}

impl Spec for StationSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        let service = at.time("service", &self.service)?;
        if service.distribution().mean() <= 0.0 {
            return at.refuse("service", "a service takes some time", None);
        }
        if self.capacity.0 > crate::core::graph::MAX_BYTES {
            return at.refuse("capacity", "a station addresses at most 1 EiB", None);
        }
        let plan = Self { service, ..self.clone() };
        at.holds(self.capacity);
        Some(plan)
    }
}

impl Theory for StationSpec {
    fn features(&self) -> Features {
        let has_priorities = self.order == Order::Priority;
        Features {
            addressed: false,
            has_priorities,
            flushes_at_once: true,
            can_be_slow: true,
            is_drive: true,
            fills: Some(0),
            ..Features::default()
        }
    }

    fn service(&self, view: View, _: Op, bytes: u64) -> Result<Distribution, String> {
        if self.servers > 1 {
            return Err(format!("one server: `{}` has {}", view.path(), self.servers));
        }
        self.distribution(view, bytes)
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let busy = |fails| Model::Busy { work_ms: self.work_ms(load), fails };
        if self.order == Order::Priority {
            return Ok(busy(format!(
                "requests are served in order of arrival: `{}` has priorities",
                view.path()
            )));
        }
        let exponential = self.of_load(view, load).ok().filter(Distribution::is_exponential);
        if let Some(service) = exponential.filter(|_| self.servers > 1) {
            return Ok(Model::Several { mean_ms: service.mean(), servers: self.servers, share: 1.0 });
        }
        Ok(match self.service(view, Op::Read, 0).and_then(|_| self.of_load(view, load)) {
            Ok(distribution) => Model::Single { distribution, share: 1.0, formula: "M/G/1", mild: None },
            Err(fails) => busy(fails),
        })
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let order = match self.order {
            Order::FirstCome => theory::QueueOrder::FirstCome,
            Order::Priority => theory::QueueOrder::Urgent,
        };
        let server = ServiceKind::Queue { servers: self.servers, order };
        Ok(vec![Demand::one(view.id(), server, self.of_load(view, load)?)])
    }

    fn in_order(&self, view: View, load: &Load) -> Result<(), String> {
        if self.order == Order::FirstCome && (self.servers == 1 || load.alone) {
            return Ok(());
        }
        Err(format!("`{}` may answer requests out of order", view.path()))
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
    context: &'m NodeContext<'m>,
    servers: Servers<'m>,
    spec: &'m StationSpec,
    draws: RngStream,
    /// Its work that no host waits for; empty until there is any, since most stations have none.
    by_cause: OnceCell<Box<ByCause>>,
}

impl Plan for StationSpec {
    type Component<'m> = Station<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Station<'m> {
        let (sim, many) = (context.shared.sim, u64::from(self.servers));
        let servers = match self.order {
            Order::FirstCome => Servers::FirstCome(Resource::fcfs(sim, many)),
            Order::Priority => Servers::Priority(Resource::new(sim, many, Priority::default())),
        };
        Station { servers, spec: self, draws: context.stream("service"), context, by_cause: OnceCell::new() }
    }
}

impl Station<'_> {
    #[inline]
    fn service_of(&self, request: &Request<Block>) -> Nanos {
        let service = self.spec.service.draw(&mut self.draws.of(request.key));
        self.context.health.slowed(service + self.spec.time_of(request.work.bytes))
    }

    #[inline]
    fn charge(&self, breakdown: &mut Breakdown, began: Nanos, ended: Nanos) {
        breakdown.waited(self.context.id, began);
        breakdown.served(self.context.id, ended);
    }
}

impl<'m> Station<'m> {
    /// Serves what no host waits for, and meters it by its cause.
    async fn serve_background(&'m self, request: &Request<Block>, service: Nanos) {
        let sim = self.context.shared.sim;
        let served =
            || self.by_cause.get_or_init(Box::default).during(request.cause, sim, sim.delay(service));
        match &self.servers {
            Servers::FirstCome(servers) => {
                let _held = servers.acquire(()).await;
                served().await;
            }
            Servers::Priority(servers) => {
                let _held = servers.acquire(u32::from(request.priority)).await;
                served().await;
            }
        }
    }
}

impl<'m> Component<'m> for Station<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let all = match &self.servers {
            Servers::FirstCome(servers) => Activity::of(servers.servers(), &servers.usage(), now),
            Servers::Priority(servers) => Activity::of(servers.servers(), &servers.usage(), now),
        };
        Some(match self.by_cause.get() {
            Some(by_cause) => by_cause.of(all, now),
            None => all,
        })
    }
}

impl<'m> Serve<'m, Block> for Station<'m> {
    #[inline]
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let service = self.service_of(request);
        match &self.servers {
            _ if request.cause != Cause::Host => self.serve_background(request, service).await,
            Servers::FirstCome(servers) => _ = servers.serve(service).await,
            Servers::Priority(servers) => _ = servers.serve_by(u32::from(request.priority), service).await,
        }
        let ended = self.context.shared.sim.now();
        self.charge(breakdown, ended - service, ended);
    }
}

impl<'m> InOrder<'m> for Station<'m> {
    #[inline(always)] // As in the resource.
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let Servers::FirstCome(servers) = &self.servers else { return breakdown.fail() };
        let pass = servers.pass(breakdown.until(), |start| start + self.service_of(request));
        self.charge(breakdown, pass.start, pass.end);
    }
}
