//! A recorder: the streams of one builder, which format events on shared cores and write them to volumes or an archive.

mod spec;
mod stream;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Fluid, LinkId, WaitList};
use headrace_stats::Gauge;
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Breakdown, Cause, DaqEvent, Request};

use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, Balance, EventBooks, Meter, add};
use crate::core::work::Serve;

use stream::RecorderStream;

pub use spec::{Affinity, CompressSpec, FormatSpec, RecorderPlan, RecorderSpec};

/// A core does this much in a second, in ns.
const CORE: f64 = 1e9;

/// A recorder in a simulation.
pub struct Recorder<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m RecorderPlan,
    targets: &'m [Edge<'m>],
    streams: Vec<RecorderStream<'m>>,
    /// Streams without an event, the longest idle first, and the events that wait for one.
    idle: RefCell<VecDeque<usize>>,
    queue: Box<WaitList<'m, (), usize>>,
    /// Root of the names of its files.
    files: u64,
    /// The cores, as a link that work in ns goes over. Nothing else shares it: rates here change nowhere else.
    cores: (Box<Fluid<'m>>, LinkId),
    came: Cell<u64>,
    recorded: Cell<u64>,
    held: RefCell<Gauge>,
    /// Streams whose memory has no room.
    blocked: RefCell<Gauge>,
    taken_in: Cell<u64>,
    written: Cell<u64>,
    /// Writes that were done, and that failed.
    writes: Cell<u64>,
    failed: Cell<u64>,
    closed: Cell<u64>,
    /// Ns for which writes were collected, and from then until they were done.
    collecting: Cell<u128>,
    writing: Cell<u128>,
}

impl Plan for RecorderPlan {
    type Component<'m> = Recorder<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Recorder<'m> {
        let uses = context.uses();
        let (sim, spec) = (context.shared.sim, &self.spec);
        let fluid = Box::new(Fluid::new(sim));
        let cores = fluid.link(BytesPerSecond(f64::from(spec.cores) * spec.smt * CORE));
        Recorder {
            context,
            plan: self,
            targets: uses,
            streams: (0..spec.streams)
                .map(|number| RecorderStream::new(u64::from(number), sim, self.buffer))
                .collect(),
            idle: RefCell::new((0..spec.streams as usize).collect()),
            queue: Box::new(WaitList::new(sim)),
            files: context.stream("files").key(0),
            cores: (fluid, cores),
            came: Cell::new(0),
            recorded: Cell::new(0),
            held: RefCell::default(),
            blocked: RefCell::default(),
            taken_in: Cell::new(0),
            written: Cell::new(0),
            writes: Cell::new(0),
            failed: Cell::new(0),
            closed: Cell::new(0),
            collecting: Cell::new(0),
            writing: Cell::new(0),
        }
    }
}

impl<'m> Recorder<'m> {
    fn now(&self) -> Nanos {
        self.context.shared.sim.now()
    }

    /// Returns the core time of an event.
    fn work(&self, event: &DaqEvent) -> Nanos {
        let spec = &self.plan.spec;
        let bytes =
            |rate: Option<BytesPerSecond>| rate.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes(event.bytes)));
        let each = Nanos(spec.format.per_sub_event.0.saturating_mul(u64::from(event.sub_events)));
        spec.format.per_event
            + each
            + bytes(spec.format.rate)
            + bytes(spec.compress.map(|compress| compress.rate))
    }

    /// The bytes that are left of an event.
    fn compressed(&self, bytes: u64) -> u64 {
        self.plan.spec.compress.map_or(bytes, |compress| libm::ceil(bytes as f64 / compress.ratio) as u64)
    }

    async fn idle_stream(&'m self) -> usize {
        let idle = self.idle.borrow_mut().pop_front();
        match idle {
            Some(stream) => stream,
            None => self.queue.wait(()).await,
        }
    }

    fn dismiss(&self, stream: usize) {
        if !self.queue.offer(|()| Some(stream)) {
            self.idle.borrow_mut().push_back(stream);
        }
    }

    /// Formats and compresses on a core.
    async fn format(&'m self, request: &Request<DaqEvent>, breakdown: &mut Breakdown) {
        let work = self.work(&request.work);
        if work > Nanos::ZERO {
            let (fluid, cores) = &self.cores;
            fluid.transfer(work.0, &[*cores], CORE, Cause::Host as usize).await;
        }
        let shared = (self.now() - breakdown.until()) - work.min(self.now() - breakdown.until());
        breakdown.waited(self.context.id, breakdown.until() + shared);
        breakdown.served(self.context.id, self.now());
    }
}

impl<'m> Component<'m> for Recorder<'m> {
    /// Its cores.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let usage = self.cores.0.usage(self.cores.1);
        let (queue, servers) = (self.queue.waits().queue, u64::from(self.plan.spec.cores));
        let cores = Activity::of_links(std::iter::once(usage));
        let busy = cores.busy.map(|busy| busy * u128::from(servers));
        Some(Activity { servers, busy, queue: queue.area(now), waiting: queue.value(), ..cores })
    }

    fn balance(&self) -> Option<Balance> {
        let used = self.streams.iter().map(RecorderStream::held).sum();
        let size = self.plan.buffer * self.streams.len() as u64;
        let (taken_in, destaged) = (self.taken_in.get(), self.written.get());
        let free = self.streams.iter().map(|stream| stream.room.held()).sum();
        Some(Balance { taken_in, destaged, dirty: used, used, free, size })
    }

    fn events(&self) -> Option<EventBooks> {
        let held = self.held.borrow().value();
        Some(EventBooks { came: self.came.get(), gone: self.recorded.get(), lost: 0, held })
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let ms = |ns: &Cell<u128>| (ns.get() / 1_000_000) as u64;
        put("recorded_events", Meter::Count(self.recorded.get()));
        put("recorded_bytes", Meter::Count(self.taken_in.get()));
        put("written_bytes", Meter::Count(self.written.get()));
        put("failed_writes", Meter::Count(self.failed.get()));
        put("blocked_streams", Meter::Area(self.blocked.borrow().area(now)));
        put("collect_ms", Meter::Share(ms(&self.collecting), self.closed.get()));
        put("write_ms", Meter::Share(ms(&self.writing), self.writes.get() + self.failed.get()));
    }
}

impl<'m> Serve<'m, DaqEvent> for Recorder<'m> {
    async fn serve(&'m self, request: &Request<DaqEvent>, breakdown: &mut Breakdown) {
        add(&self.came, 1);
        self.held.borrow_mut().up(self.now(), 1);
        let stream = self.idle_stream().await;
        breakdown.waited(self.context.id, self.now());
        self.format(request, breakdown).await;
        self.blocked.borrow_mut().up(self.now(), 1);
        self.collect(request, &self.streams[stream], self.compressed(request.work.bytes)).await;
        self.blocked.borrow_mut().down(self.now(), 1);
        breakdown.blocked(self.context.id, self.now());
        self.dismiss(stream);
        self.held.borrow_mut().down(self.now(), 1);
        add(&self.recorded, 1);
    }
}
