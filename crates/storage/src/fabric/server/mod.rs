//! A server: cores that submit commands and finish them, and an adapter. What may be outstanding at each target its routes know.

mod spec;
mod threads;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_analytic::Distribution;
use headrace_kernel::{Resource, Round, Sim};
use headrace_units::{Bytes, Nanos, PerSecond};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::View;
use crate::core::meter::{Meter, Portion};
use crate::core::theory::{self, Demand, Features, Load, Phase};
use crate::core::work::{Serve, Work};
use crate::fabric::path_transfer::PathTransfer;

pub use spec::{AdapterSpec, Coalescing, Paths, ServerSpec};
use threads::Threads;

/// A server in which nothing is left to go wrong. Where its adapter takes a time for each command, that is a station that it uses; where its slot
/// has a rate, two more are the directions of data: out to drives, and in.
#[derive(Clone, Debug)]
pub struct ServerPlan {
    spec: ServerSpec,
}

impl ServerPlan {
    /// Returns the core time of one phase of a request, without interrupts.
    fn time_for(&self, phase: Phase, op: Op, bytes: u64) -> Nanos {
        let command = match phase {
            Phase::Request => self.spec.submit,
            Phase::Answer => self.spec.complete,
        };
        let copied = if phase.has_data(op) { bytes } else { 0 };
        let filled = if (phase, op) == (Phase::Request, Op::Write) { bytes } else { 0 };
        command
            + self.spec.fill.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes(filled)))
            + self.spec.copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes(copied)))
    }

    /// Returns the place of the station of a direction among those that the server uses: data go out with a request, and come in with an answer.
    fn slot(&self, phase: Phase) -> Option<usize> {
        self.spec.adapter.rate?;
        let commands = usize::from(self.spec.adapter.command > Nanos::ZERO);
        Some(commands + usize::from(phase == Phase::Answer))
    }

    /// Returns the demand of a phase on the slot: that of the requests whose data go along.
    fn of_slot(&self, view: View, load: &Load, phase: Phase) -> Option<Demand> {
        let (slot, rate) = (view.uses().nth(self.slot(phase)?)?, self.spec.adapter.rate?);
        let moved: Vec<(f64, u64)> = load
            .kinds
            .iter()
            .filter(|(_, op, _)| phase.has_data(*op))
            .map(|(p, _, bytes)| (*p, *bytes))
            .collect();
        let visits: f64 = moved.iter().map(|(p, _)| p).sum();
        let time =
            |(p, bytes): &(f64, u64)| (*p / visits, Distribution::Fixed(rate.time_for(Bytes(*bytes)).ms()));
        let server = theory::ServiceKind::Queue { servers: 1, order: theory::QueueOrder::FirstCome };
        let distribution = || Distribution::mixed(moved.iter().map(time).collect());
        (visits > 0.0).then(|| Demand { visits, ..Demand::one(slot.id(), server, distribution()) })
    }

    const fn coalescing(&self) -> Option<Coalescing> {
        self.spec.adapter.coalescing
    }

    /// Returns true if the time of a core for a request depends on what else it has to do.
    fn varies(&self) -> bool {
        self.spec.wake > Nanos::ZERO || self.spec.contention > 1.0
    }

    /// Returns the number of cores that a load can use: a thread is on one at a time.
    fn cores(&self, load: &Load) -> u32 {
        if load.threads > 0 { self.spec.cores.min(load.threads) } else { self.spec.cores }
    }

    /// Returns the assumption that fails for a server.
    fn fails(&self, view: View, load: &Load) -> Option<String> {
        if load.threads > 0 {
            return Some(format!(
                "any core that is free serves a request: one of `{}` waits for the thread that it belongs to (`threads: {}`)",
                load.stream, load.threads
            ));
        }
        if self.coalescing().is_some() {
            return Some(format!("completions are reported one by one: `{}` coalesces them", view.path()));
        }
        self.varies().then(|| {
            format!("work takes the same time under any load: `{}` sleeps, or its cores share", view.path())
        })
    }
}

impl Theory for ServerPlan {
    fn features(&self) -> Features {
        Features { fills: Some(0), ..Features::default() }
    }

    fn carries(
        &self,
        view: View,
        load: &Load,
        path_transfer: (Phase, u32, u32),
    ) -> Result<Vec<Demand>, String> {
        let (phase, ..) = path_transfer;
        let interrupt = if phase == Phase::Answer { self.spec.interrupt } else { Nanos::ZERO };
        let time = |(p, op, bytes): &(f64, Op, u64)| {
            (*p, Distribution::Fixed((self.time_for(phase, *op, *bytes) + interrupt).ms()))
        };
        let distribution = Distribution::mixed(load.kinds.iter().map(time).collect());
        let server =
            theory::ServiceKind::Queue { servers: self.cores(load), order: theory::QueueOrder::FirstCome };
        let cores = Demand {
            fails: self.fails(view, load).into_iter().collect(),
            ..Demand::one(view.id(), server, distribution)
        };
        let mut demands = Vec::new();
        if cores.work_ms() > 0.0 {
            demands.push(cores);
        }
        let commands = view.uses().next().filter(|_| self.spec.adapter.command > Nanos::ZERO);
        if let (Phase::Request, Some(adapter)) = (phase, commands) {
            demands.extend(adapter.demands(load)?);
        }
        demands.extend(self.of_slot(view, load, phase));
        let latency = self.spec.adapter.latency;
        if phase == Phase::Request && latency > Nanos::ZERO {
            demands.push(Demand::one(
                view.id(),
                theory::ServiceKind::Delay,
                Distribution::Fixed(latency.ms()),
            ));
        }
        Ok(demands)
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        self.coalescing().is_none() && !self.varies()
    }
}

/// Completions whose rate says whether an adapter holds them back.
const COUNTED: usize = 64;

/// A server in a simulation.
pub struct Server<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m ServerPlan,
    cores: Resource<'m>,
    adapter: Option<&'m Edge<'m>>,
    /// The directions of its slot.
    slot: Option<[&'m Edge<'m>; 2]>,
    /// Completions that the adapter holds back.
    held: Cell<u32>,
    told: Round<'m>,
    interrupts: Cell<u64>,
    /// Times of the last completions, for an adapter that holds them back only while they are frequent.
    recent: RefCell<VecDeque<Nanos>>,
    threads: Threads<'m>,
}

impl Plan for ServerPlan {
    type Component<'m> = Server<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Server<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        Server {
            context,
            sim,
            plan: self,
            cores: Resource::fcfs(sim, u64::from(self.spec.cores)),
            adapter: uses.first().filter(|_| self.spec.adapter.command > Nanos::ZERO),
            slot: self.slot(Phase::Request).map(|out| [&uses[out], &uses[out + 1]]),
            held: Cell::new(0),
            told: Round::new(sim),
            interrupts: Cell::new(0),
            recent: RefCell::default(),
            threads: Threads::new(sim, &context.shared.threads),
        }
    }
}

impl<'m> Server<'m> {
    /// A core works for a while, if at all: for no thread, or for one that may have to be woken.
    async fn work(&'m self, thread: u32, time: Nanos, breakdown: &mut Breakdown) {
        if time == Nanos::ZERO {
            return;
        }
        if let Some(thread) = self.threads.get(thread) {
            return self.work_of(thread, time, breakdown).await;
        }
        let time = self.contended(time);
        self.cores.serve(time).await;
        breakdown.waited(self.context.id, self.sim.now() - time);
        breakdown.served(self.context.id, self.sim.now());
    }

    /// Returns a time lengthened by contention while all cores work. A change of contention before its end is ignored.
    fn contended(&self, time: Nanos) -> Nanos {
        let shares = self.cores.usage().busy.value() >= self.cores.servers();
        if shares { Nanos((time.0 as f64 * self.plan.spec.contention) as u64) } else { time }
    }

    /// Waits until the adapter tells of this completion; returns true if this one makes it do so.
    async fn held_back(&'m self, Coalescing { most, after, above }: Coalescing) -> bool {
        if above.is_some_and(|above| !self.come_faster_than(above)) {
            return true;
        }
        let number = self.held.get() + 1;
        self.held.set(number);
        if number >= most {
            return self.tell();
        }
        if number > 1 {
            self.told.wait().await;
            return false;
        }
        let told = self.sim.within(self.sim.now() + after, Box::pin(self.told.wait())).await;
        told.is_none() && self.tell()
    }

    /// Notes that a completion came; returns true if the last ones came faster than this.
    fn come_faster_than(&self, rate: PerSecond) -> bool {
        let (mut recent, now) = (self.recent.borrow_mut(), self.sim.now());
        recent.push_back(now);
        if recent.len() <= COUNTED {
            return false;
        }
        let first = recent.pop_front().unwrap_or_default();
        (now - first).secs() * rate.get() < COUNTED as f64
    }

    fn tell(&self) -> bool {
        self.held.set(0);
        self.told.end();
        true
    }

    async fn send(&'m self, request: &Request<PathTransfer>, breakdown: &mut Breakdown) {
        let PathTransfer { block, phase, .. } = request.work;
        let time = self.plan.time_for(phase, block.op, block.bytes);
        self.work(request.thread, time, breakdown).await;
        if let Some(adapter) = self.adapter {
            adapter.serve(&request.with(request.work.data()), breakdown).await;
        }
        if self.slot.is_some() {
            Box::pin(self.cross_slot(request, breakdown)).await;
        }
        let latency = self.plan.spec.adapter.latency;
        if latency > Nanos::ZERO {
            self.sim.delay(latency).await;
            breakdown.served(self.context.id, self.sim.now());
        }
    }

    /// The data that go along cross the slot of the adapter.
    async fn cross_slot(&'m self, request: &Request<PathTransfer>, breakdown: &mut Breakdown) {
        let (Some([out, back]), data) = (self.slot, request.work.data()) else { return };
        if data.bytes > 0 {
            let direction = if request.work.phase == Phase::Request { out } else { back };
            direction.serve(&request.with(data), breakdown).await;
        }
    }

    async fn receive(&'m self, request: &Request<PathTransfer>, breakdown: &mut Breakdown) {
        let PathTransfer { block, phase, .. } = request.work;
        if self.slot.is_some() {
            Box::pin(self.cross_slot(request, breakdown)).await;
        }
        let interrupts = match self.plan.coalescing() {
            Some(coalescing) => self.held_back(coalescing).await,
            None => true,
        };
        breakdown.blocked(self.context.id, self.sim.now());
        let mut time = self.plan.time_for(phase, block.op, block.bytes);
        if interrupts {
            self.interrupts.set(self.interrupts.get() + 1);
            time += self.plan.spec.interrupt;
        }
        if request.thread == 0 {
            time += self.plan.spec.wake;
        }
        self.work(request.thread, time, breakdown).await;
    }
}

impl<'m> Component<'m> for Server<'m> {
    fn servers(&self) -> Option<&Resource<'m>> {
        Some(&self.cores)
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("interrupts", Meter::Count(self.interrupts.get()));
    }

    fn portions(&self, _: Nanos) -> Vec<Portion> {
        self.threads.portions()
    }

    fn begin(&'m self) {
        self.threads.begin(self);
    }
}

/// Work of a thread on its data, which takes this time of a core.
#[derive(Clone, Copy, Debug)]
pub struct Computing(pub Nanos);

impl Work<'_> for Computing {
    type Reply = ();

    fn data(&self) -> Block {
        Block { op: Op::Read, address: 0, bytes: 0 }
    }

    fn failed(_: &Breakdown) {}
}

impl<'m> Serve<'m, Computing> for Server<'m> {
    async fn serve(&'m self, request: &Request<Computing>, breakdown: &mut Breakdown) {
        self.work(request.thread, request.work.0, breakdown).await;
    }
}

impl<'m> Serve<'m, PathTransfer> for Server<'m> {
    async fn serve(&'m self, request: &Request<PathTransfer>, breakdown: &mut Breakdown) -> Nanos {
        match request.work.phase {
            Phase::Request => self.send(request, breakdown).await,
            Phase::Answer => self.receive(request, breakdown).await,
        }
        breakdown.until()
    }
}
