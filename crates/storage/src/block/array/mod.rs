//! An array: several devices that answer as one.

mod access;
mod bay;
mod bitmap;
pub mod cache;
mod checks;
mod demand;
mod eviction;
mod front;
mod hedge;
mod layout;
mod members;
mod model;
mod path;
mod power;
mod rebuild;
mod recovery;
mod redundancy;
mod redundant;
mod scrub;
mod serving;
mod spec;

use std::cell::Cell;
use std::rc::Rc;

use headrace_kernel::{Locks, Pool, Resource, WorkerPool};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::component::{Component, InOrder, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::health::{Change, Event};
use crate::core::meter::{Activity, Balance, Meter};
use crate::core::ranges::Ranges;
use crate::core::work::Serve;
use bay::{Bay, Job};
use bitmap::Bitmap;
use eviction::Watch;
use front::ArrayFront;
use members::Members;
use rebuild::Rebuild;
use scrub::Scrub;

pub use access::Access;
pub use bitmap::BitmapSpec;
pub use eviction::EvictSlowSpec;
pub use layout::{
    Accesses, ArrayLayout, Declustered, DiskAccesses, Mirror, Pairing, Parity, Rotation, SmallWrites,
    Stripes, UnitPlacement, Units, Whole,
};
pub use path::{BackendPath, OverPath};
pub use recovery::{DeclusteredSpec, RebuildSpec, Target};
pub use scrub::ScrubSpec;
pub use spec::{ArraySpec, FirstUnit, Level, Queueing, ReadFrom, Via};

/// An array whose disks are known.
#[derive(Clone, Debug)]
pub struct ArrayPlan {
    level: Level,
    layout: ArrayLayout,
    queueing: Queueing,
    read_from: ReadFrom,
    hedge: Option<Nanos>,
    evict_slow: Option<EvictSlowSpec>,
    /// Bytes of each disk that are used.
    each: Bytes,
    /// Of each disk, whether it has failed.
    failed: Vec<bool>,
    /// Number of hot spares, behind the disks.
    spares: usize,
    rebuild: RebuildSpec,
    scrub: Option<ScrubSpec>,
    /// True if rebuilds go to the distributed spare.
    distributed: bool,
    /// True if the disks are copies of one part, which nothing else uses.
    copies: bool,
    /// Number of paths, and then of controllers, among the nodes that it uses after its devices.
    paths: usize,
    controllers: usize,
    access: Access,
    bitmap: Option<BitmapSpec>,
    stripe_cache: Option<u32>,
    cache: Option<cache::CachePlan>,
}

/// An array in a simulation.
pub struct Array<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m ArrayPlan,
    /// Held from the split to the merge, where requests do not overlap.
    lockstep: Option<Resource<'m>>,
    /// Offsets of parity that are being changed.
    stripes: Box<Locks<'m>>,
    /// Rows of pages in which no write is in progress, where their number is limited.
    rows: Option<Box<Pool<'m>>>,
    bitmap: Option<Box<Bitmap<'m>>>,
    /// The disks, and hot spares behind them.
    devices: &'m [Edge<'m>],
    members: Box<Members<'m>>,
    bay: Rc<Bay<'m>>,
    /// Controllers and cache between hosts and the layout; `None` without both.
    front: Option<Box<ArrayFront<'m>>>,
    /// Of each column of a mirror, the copy that the next read may begin its choice with.
    turns: Vec<Cell<u64>>,
    /// Workers that send each device its part.
    parts: WorkerPool<'m, Job, Breakdown>,
    /// Groups of jobs so far.
    tickets: Cell<u64>,
    /// Requests in flight.
    hosts: Cell<u64>,
    rebuild: Box<Rebuild<'m>>,
    scrub: Option<Box<Scrub<'m>>>,
    counts: ArrayCounts,
}

/// Requests and accesses to disks, for the meters of redundant levels.
#[derive(Default)]
struct ArrayCounts {
    requests: Cell<u64>,
    accesses: Cell<u64>,
    writes: Cell<u64>,
    full_stripes: Cell<u64>,
    hedges: Cell<u64>,
}

impl Plan for ArrayPlan {
    type Component<'m> = Array<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Array<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        let (devices, others) = uses.split_at(uses.len() - self.paths - self.controllers);
        let (paths, controllers) = others.split_at(self.paths);
        let columns = match &self.layout {
            ArrayLayout::Mirrored(mirror) => mirror.columns.disks,
            _ => 0,
        };
        let active = self.access.active(controllers.len());
        let way = |path| BackendPath::of(path, controllers, active, devices.len());
        let ways: Vec<BackendPath> = match paths {
            [] => vec![way(None)],
            paths => paths.iter().map(|path| way(Some(path))).collect(),
        };
        let front = ArrayFront::new(self, context, ways[0], controllers);
        let watch = self.evict_slow.map(|spec| Watch::new(spec, devices.len()));
        let bay = Rc::new(Bay::new(sim, devices, ways, (columns > 0, self.hedge.is_some()), watch));
        let of_parts = Rc::clone(&bay);
        Array {
            lockstep: (self.queueing == Queueing::SplitMerge).then(|| Resource::fcfs(sim, 1)),
            stripes: Box::new(Locks::new(sim, self.layout.unit())),
            rows: self.stripe_cache.map(u64::from).map(|rows| Box::new(Pool::new(sim, rows, rows))),
            bitmap: self.bitmap.map(|spec| Box::new(Bitmap::new(sim, spec, context.stream("bitmap")))),
            plan: self,
            devices,
            members: Box::new(Members::new(&self.layout, self.each, devices, self.distributed)),
            bay,
            front,
            turns: (0..columns).map(|_| Cell::default()).collect(),
            parts: WorkerPool::new(sim, move |job| bay::do_job(Rc::clone(&of_parts), job)),
            tickets: Cell::new(0),
            hosts: Cell::new(0),
            rebuild: Box::new(Rebuild::new(sim, self.rebuild)),
            scrub: self.scrub.map(|spec| Box::new(Scrub::new(sim, spec))),
            counts: ArrayCounts::default(),
            context,
        }
    }
}

impl<'m> Array<'m> {
    /// Each disk that has a part in a request to a striped array, and the part.
    #[inline]
    fn split(
        &self,
        stripes: Stripes,
        request: &Request<Block>,
    ) -> impl Iterator<Item = (usize, Request<Block>)> + use<> {
        let request = *request;
        stripes.parts(request.work).map(move |(disk, part)| (disk, request.with(part)))
    }

    /// Passes each disk its part without events; charges the part that ends last. Only a striped array keeps the order of requests.
    fn pass_disks(&self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let ArrayLayout::Striped(stripes) = self.plan.layout else { return breakdown.fail() };
        let now = breakdown.until();
        let passes = self.split(stripes, request).map(|(disk, part)| {
            let mut breakdown = Breakdown::from(now);
            self.devices[disk].pass(&part, &mut breakdown);
            breakdown
        });
        let slowest = passes.max_by_key(Breakdown::until);
        breakdown.follow(&slowest.expect("a request needs at least one byte, so at least one part"));
    }
}

impl ArrayCounts {
    fn count_request(&self) {
        self.requests.set(self.requests.get() + 1);
    }

    fn count_write(&self, full: bool) {
        self.writes.set(self.writes.get() + 1);
        self.full_stripes.set(self.full_stripes.get() + u64::from(full));
    }
}

impl<'m> Array<'m> {
    /// Returns its front. Called only by the front itself.
    fn front(&'m self) -> &'m ArrayFront<'m> {
        self.front.as_ref().expect("a cache stands before its array")
    }

    /// Sends a request to the disks, past controllers and cache.
    async fn serve_by_disks(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.serve_pieces(request, &[], breakdown).await;
    }

    /// Like `serve_by_disks`, for a write of several pieces of a stripe with parity; without any it is of all bytes.
    async fn serve_pieces(&'m self, request: &Request<Block>, pieces: &[Block], breakdown: &mut Breakdown) {
        let _turn = match &self.lockstep {
            Some(lockstep) => Some(lockstep.acquire(()).await),
            None => None,
        };
        breakdown.waited(self.context.id, self.context.shared.sim.now());
        if request.is_durable() {
            // Earlier writes may lie on other disks than this one's.
            self.flush_disks(request, breakdown).await;
        }
        // Parts come after everything that is due, as requests do.
        self.context.shared.sim.settled().await;
        let ArrayLayout::Striped(stripes) = self.plan.layout else {
            self.context.shared.divides(request.work.bytes / self.plan.layout.unit()).await;
            self.evict_slow();
            self.hosts.set(self.hosts.get() + 1);
            self.serve_parts(request, pieces, breakdown).await;
            self.hosts.set(self.hosts.get() - 1);
            if self.hosts.get() == 0 {
                self.rebuild.background.hosts_are_idle();
                self.scrub.iter().for_each(|scrub| scrub.background.hosts_are_idle());
            }
            return;
        };
        self.context.shared.divides(stripes.disks).await;
        let ticket = self.tickets.replace(self.tickets.get() + 1);
        let jobs = self.split(stripes, request).map(|(device, request)| Job { device, request, ticket });
        let slowest = self.parts.all(jobs).await;
        breakdown.follow(&slowest.expect("a request needs at least one byte, so at least one part"));
        if !self.bay.take_lost(ticket).is_empty() {
            breakdown.fail();
        }
    }
}

impl<'m> Component<'m> for Array<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        if let Some(lockstep) = &self.lockstep {
            return Some(Activity::of(1, &lockstep.usage(), now));
        }
        let used = self.stripes.usage(now);
        // Where nobody ever waited, locks are nothing to show.
        let waited = used.waits.waits.max() > Nanos::ZERO || used.waits.queue.value() > 0;
        waited.then(|| Activity::of_locks(&used, now))
    }

    fn balance(&self) -> Option<Balance> {
        self.front.as_ref()?.balance()
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let counts = &self.counts;
        if !matches!(self.plan.layout, ArrayLayout::Striped(_)) {
            put("accesses_per_request", Meter::Share(counts.accesses.get(), counts.requests.get()));
        }
        if matches!(self.plan.layout, ArrayLayout::Parity(_)) {
            put("full_stripe_writes", Meter::Share(counts.full_stripes.get(), counts.writes.get()));
        }
        if self.plan.hedge.is_some() {
            put("hedged_reads", Meter::Count(counts.hedges.get()));
        }
        if let Some(watch) = &self.bay.watch {
            watch.meters(put);
        }
        if let Some(bitmap) = &self.bitmap {
            put("bitmap_writes", Meter::Count(bitmap.pages()));
        }
        if let Some(front) = &self.front {
            front.meters(now, put);
        }
        let (rebuilt, lost) = (self.rebuild.units.get(), self.members.lost());
        // Of stripes that are narrower than the array, a disk has a unit in some.
        let (width, disks) = (self.plan.layout.width(), self.plan.layout.disks());
        let left = (self.members.stripes_to_rebuild() * width).div_ceil(disks);
        if rebuilt > 0 || lost > 0 {
            put("rebuild_progress", Meter::Share(rebuilt, rebuilt + left));
            put("rebuilt_bytes", Meter::Count(rebuilt * self.plan.layout.unit()));
            put("rebuild_s", Meter::Share(self.rebuild.background.took(now).0, 1_000_000_000));
            put("lost_stripes", Meter::Count(lost));
        }
        if let Some(scrub) = &self.scrub {
            put("scrub_progress", Meter::Share(scrub.done.get(), self.members.stripes()));
            put("scrubbed_bytes", Meter::Count(scrub.bytes.get()));
            put("scrub_s", Meter::Share(scrub.background.took(now).0, 1_000_000_000));
        }
    }

    fn state(&self) -> Option<&'static str> {
        let rebuilds = self.rebuild.background.is_running();
        match (self.members.lost(), self.members.degraded()) {
            (1.., _) => Some("lost data"),
            (_, 1..) if !self.members.have_all() => Some("unavailable"),
            (_, _) if rebuilds => Some("rebuilding"),
            (_, 1..) => Some("degraded"),
            _ => None,
        }
    }

    fn notice(&'m self, edge: usize, change: Change) {
        // A path that fails or returns changes no disk.
        if edge >= self.devices.len() {
            return;
        }
        if self.members.notice(edge, change) {
            self.context.shared.note(self.context.id, Event::LosesData(self.members.lost()));
        }
        self.members.settle();
        if !matches!(self.plan.layout, ArrayLayout::Striped(_)) {
            self.start_rebuild();
            self.go_on_scrubbing();
        }
    }

    fn rebuild_from(&'m self, from: f64, _: u64) {
        self.go_on_from(from);
    }

    fn at_risk(&self, written: &Ranges, ask: &dyn Fn(usize, &Ranges) -> Ranges) -> Option<Ranges> {
        let on_disks = |written: &Ranges| self.at_risk_on_disks(written, ask);
        Some(self.front.as_ref().map_or_else(|| on_disks(written), |front| front.at_risk(written, &on_disks)))
    }

    fn lose_power(&'m self) {
        self.front.iter().for_each(|front| front.lose_power());
    }

    fn recovered(&'m self) {
        if !self.members.are_whole() && !matches!(self.plan.layout, ArrayLayout::Striped(_)) {
            self.start_rebuild();
        }
        self.go_on_scrubbing();
    }

    fn begin(&'m self) {
        for (disk, _) in self.plan.failed.iter().enumerate().filter(|(_, failed)| **failed) {
            self.devices[disk].begin_failed();
            self.notice(disk, Change::Fails);
        }
        if let Some(scrub) = &self.scrub {
            self.context.shared.sim.spawn(self.begin_scrub(scrub));
        }
    }
}

impl<'m> Serve<'m, Block> for Array<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        match &self.front {
            Some(front) => front.serve(self, request, breakdown).await,
            None if request.work.op == Op::Flush => self.flush_disks(request, breakdown).await,
            None => self.serve_by_disks(request, breakdown).await,
        }
    }
}

impl<'m> InOrder<'m> for Array<'m> {
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let Some(lockstep) = &self.lockstep else { return self.pass_disks(request, breakdown) };
        lockstep.pass(breakdown.until(), |start| {
            breakdown.waited(self.context.id, start);
            self.pass_disks(request, breakdown);
            breakdown.until()
        });
    }
}
