//! A controller: what the arrays that it runs share. Processors take each command, a bus carries all data (to hosts, to disks,
//! and parity), and its memory can be a cache for all of them.
//!
//! A controller stands in front of its arrays and knows nothing of them: an array that names it in `controllers` asks it for its
//! services.

mod model;
pub(crate) mod pairs;
mod spec;

use headrace_kernel::Resource;
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use crate::block::array::cache::Memory;
use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, ByCause, Meter};
use crate::core::work::Serve;

pub use spec::ControllerSpec;

/// A controller in a simulation.
pub struct Controller<'m> {
    context: &'m NodeContext<'m>,
    spec: &'m ControllerSpec,
    processors: Resource<'m>,
    by_cause: ByCause,
    /// The way to its bus; without one data takes no time.
    bus: Option<&'m Edge<'m>>,
    /// The cache memory that its arrays share.
    memory: Option<Memory<'m>>,
}

impl Plan for ControllerSpec {
    type Component<'m> = Controller<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Controller<'m> {
        let uses = context.uses();
        let processors = Resource::fcfs(context.shared.sim, u64::from(self.processors));
        let memory =
            self.cache.as_ref().map(|cache| Memory::new(context.shared.sim, cache.size.0, cache.replacement));
        Controller {
            context,
            spec: self,
            processors,
            by_cause: ByCause::default(),
            bus: uses.first(),
            memory,
        }
    }
}

impl<'m> Controller<'m> {
    /// The cache memory that its arrays share, if it has one.
    pub fn memory(&'m self) -> Option<&'m Memory<'m>> {
        self.memory.as_ref()
    }

    /// The most data that crosses its bus at once.
    pub fn piece(&self) -> u64 {
        self.spec.transfer.0
    }

    /// A processor handles a command to a disk.
    pub async fn command<W>(&'m self, request: &Request<W>, breakdown: &mut Breakdown) {
        self.process(self.spec.disk_command.unwrap_or(self.spec.command), request, breakdown).await;
    }

    /// A processor computes parity, or lost data, from `bytes` that it reads.
    pub async fn parity<W>(&'m self, bytes: u64, request: &Request<W>, breakdown: &mut Breakdown) {
        let time =
            self.spec.parity_rate.map_or(Nanos::ZERO, |rate| rate.time_for(headrace_units::Bytes(bytes)));
        self.process(time, request, breakdown).await;
    }

    /// Moves `bytes` across the bus, a piece at a time: others cross in between.
    pub async fn cross<W>(&'m self, bytes: u64, request: &Request<W>, breakdown: &mut Breakdown) {
        let Some(bus) = self.bus else { return };
        let mut left = bytes;
        while left > 0 {
            let piece = left.min(self.piece());
            bus.serve(&request.with(Block { op: Op::Write, address: 0, bytes: piece }), breakdown).await;
            left -= piece;
        }
    }

    async fn process<W>(&'m self, time: Nanos, request: &Request<W>, breakdown: &mut Breakdown) {
        if time == Nanos::ZERO {
            return;
        }
        let sim = self.context.shared.sim;
        let _processor = self.processors.acquire(()).await;
        breakdown.waited(self.context.id, sim.now());
        self.by_cause.during(request.cause, sim, sim.delay(time)).await;
        breakdown.served(self.context.id, sim.now());
    }
}

impl<'m> Component<'m> for Controller<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let activity = Activity::of(self.processors.servers(), &self.processors.usage(), now);
        Some(self.by_cause.of(activity, now))
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        if let Some(memory) = &self.memory {
            put("dirty_bytes", Meter::Area(memory.dirty_area(now)));
        }
    }
}

impl<'m> Serve<'m, Block> for Controller<'m> {
    /// A host's command: what it takes a processor, by itself and for its data.
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let data = self
            .spec
            .data_rate
            .map_or(Nanos::ZERO, |rate| rate.time_for(headrace_units::Bytes(request.work.bytes)));
        self.process(self.spec.command + data, request, breakdown).await;
    }
}
