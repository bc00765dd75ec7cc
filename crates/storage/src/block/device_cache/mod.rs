//! A cache on a fast device before a slower one.

mod blocks;
mod spec;
#[cfg(test)]
mod tests;
mod write_back;

use std::cell::{Cell, OnceCell, RefCell};

use headrace_kernel::{Sim, WorkerPool};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};
use smallvec::SmallVec;

use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Balance, Meter, add};
use crate::core::work::Serve;

use blocks::{CachedBlocks, Found};
use spec::CacheStart;
pub use spec::{CachedWrites, DeviceCachePlan, DeviceCacheSpec};

/// The place, among the components used, of the one that is cached.
const TARGET: usize = 0;

/// Maximum number of reads whose data is being written to the cache, an estimate; the data of others is not cached. As bcache and the L2ARC do, a cache
/// that falls behind is filled less, rather than slowing reads down.
const MOST_FILLS: usize = 64;

/// A cache that began empty is warm once it holds no more than this share of the bytes that came.
const MOST_FILLING: f64 = 0.1;

/// A cache in a simulation.
pub struct DeviceCache<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m DeviceCachePlan,
    target: &'m Edge<'m>,
    cache: &'m Edge<'m>,
    blocks: RefCell<CachedBlocks>,
    pools: OnceCell<Pools<'m>>,
    /// Requests whose parts are in flight have tickets; those with a part that failed are noted.
    tickets: Cell<u64>,
    failed: RefCell<Vec<u64>>,
    /// Fills in flight, workers that write back, and the dirty bytes that they have taken.
    fills: Cell<usize>,
    workers: Cell<u32>,
    in_flight: Cell<u64>,
    counts: CacheCounts,
}

/// Processes beside those of requests.
struct Pools<'m> {
    parts: WorkerPool<'m, Part, Breakdown>,
    fills: WorkerPool<'m, Request<Block>>,
    writers: WorkerPool<'m, ()>,
}

/// A part of a request that goes to one of the two.
struct Part {
    request: Request<Block>,
    goes: Goes,
    ticket: u64,
}

/// Where a part of a request goes.
#[derive(Clone, Copy)]
enum Goes {
    Target,
    /// To the cache, or to the target if that fails.
    Cached,
    CacheAlone,
}

impl Found {
    fn cached(&self) -> impl Iterator<Item = (Goes, Block)> {
        self.cached.iter().map(|part| (Goes::Cached, *part))
    }

    fn parts(&self) -> impl Iterator<Item = (Goes, Block)> {
        self.cached().chain(self.rest.iter().map(|part| (Goes::Target, *part)))
    }
}

#[derive(Default)]
struct CacheCounts {
    read: Cell<u64>,
    hit: Cell<u64>,
    filled: Cell<u64>,
    written_back: Cell<u64>,
    runs: Cell<u64>,
    lost: Cell<u64>,
}

impl Plan for DeviceCachePlan {
    type Component<'m> = DeviceCache<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> DeviceCache<'m> {
        let (uses, sim) = (context.uses(), context.shared.sim);
        let DeviceCacheSpec { block, begins, replacement, .. } = self.spec;
        let blocks = CachedBlocks::new(block.0, self.slots, begins, replacement);
        DeviceCache {
            context,
            sim,
            plan: self,
            target: &uses[TARGET],
            cache: &uses[1],
            blocks: RefCell::new(blocks),
            pools: OnceCell::new(),
            tickets: Cell::default(),
            failed: RefCell::default(),
            fills: Cell::default(),
            workers: Cell::default(),
            in_flight: Cell::default(),
            counts: CacheCounts::default(),
        }
    }
}

impl<'m> DeviceCache<'m> {
    fn pools(&'m self) -> &'m Pools<'m> {
        self.pools.get_or_init(|| Pools {
            parts: WorkerPool::new(self.sim, move |part| self.part(part)),
            fills: WorkerPool::new(self.sim, move |request| self.filled(request)),
            writers: WorkerPool::new(self.sim, move |()| self.work()),
        })
    }

    /// Reads what is cached from the cache, and the rest from the target.
    async fn read(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let found = self.blocks.borrow_mut().read(request.work);
        let missed: u64 = found.rest.iter().map(|part| part.bytes).sum();
        add(&self.counts.read, request.work.bytes);
        add(&self.counts.hit, request.work.bytes - missed);
        self.parts(request, found.parts(), breakdown).await;
        if !breakdown.has_failed() && !self.plan.is_past(request.work.bytes) {
            found.rest.iter().for_each(|part| self.fill(request, *part));
        }
    }

    /// Has data that was read written to the cache, block by block, while nobody waits for it.
    fn fill(&'m self, request: &Request<Block>, read: Block) {
        let block = self.plan.spec.block.0;
        for number in read.address / block..read.end().div_ceil(block) {
            if self.fills.get() >= MOST_FILLS || !self.blocks.borrow_mut().admit(number) {
                return;
            }
            self.fills.set(self.fills.get() + 1);
            let address = read.address.max(number * block);
            let bytes = read.end().min((number + 1) * block) - address;
            let part = Block { op: Op::Write, address, bytes };
            self.blocks.borrow_mut().expect(part);
            self.pools().fills.start(request.child(!number, part));
        }
    }

    /// Writes what was read from the target to the cache.
    async fn filled(&'m self, request: Request<Block>) {
        let mut breakdown = Breakdown::from(self.sim.now());
        self.ask_cache(&request, &mut breakdown).await;
        if !breakdown.has_failed() {
            add(&self.counts.filled, request.work.bytes);
        }
        self.blocks.borrow_mut().arrive(request.work, breakdown.has_failed());
        self.fills.set(self.fills.get() - 1);
    }

    async fn write(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let work = request.work;
        match self.plan.spec.writes {
            _ if self.plan.is_past(work.bytes) => self.write_past(request, breakdown).await,
            CachedWrites::Around => self.write_past(request, breakdown).await,
            CachedWrites::Through => {
                let found = self.blocks.borrow_mut().write(work, false);
                let all = found.cached().chain([(Goes::Target, work)]);
                self.parts(request, all, breakdown).await;
            }
            CachedWrites::Back => {
                let found = self.blocks.borrow_mut().write(work, true);
                self.parts(request, found.parts(), breakdown).await;
                self.write_back();
            }
        }
    }

    /// Writes to, or discards from, the target alone.
    async fn write_past(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.blocks.borrow_mut().invalidate(request.work);
        self.ask(self.target, request, breakdown).await;
    }

    /// Has parts of a request served side by side; charges the one that ends last.
    async fn parts(
        &'m self,
        request: &Request<Block>,
        parts: impl Iterator<Item = (Goes, Block)>,
        breakdown: &mut Breakdown,
    ) {
        let parts: SmallVec<[(Goes, Block); 4]> = parts.collect();
        if let [(goes, part)] = parts[..] {
            return self.one(goes, &request.with(part), breakdown).await;
        }
        self.context.shared.divides(parts.len() as u64).await;
        let ticket = self.tickets.replace(self.tickets.get() + 1);
        let parts = parts.into_iter().zip(0..);
        let parts = parts.map(|((goes, work), n)| Part { request: request.child(n, work), goes, ticket });
        if let Some(slowest) = self.pools().parts.all(parts).await {
            breakdown.follow(&slowest);
        }
        if self.has_failed(ticket) {
            breakdown.fail();
        }
    }

    fn has_failed(&self, ticket: u64) -> bool {
        let mut failed = self.failed.borrow_mut();
        let before = failed.len();
        failed.retain(|known| *known != ticket);
        failed.len() < before
    }

    async fn part(&'m self, part: Part) -> Breakdown {
        let mut breakdown = Breakdown::from(self.sim.now());
        self.one(part.goes, &part.request, &mut breakdown).await;
        if breakdown.has_failed() {
            self.failed.borrow_mut().push(part.ticket);
        }
        breakdown
    }

    async fn one(&'m self, goes: Goes, request: &Request<Block>, breakdown: &mut Breakdown) {
        match goes {
            Goes::Target => self.ask(self.target, request, breakdown).await,
            Goes::Cached => self.cached(request, breakdown).await,
            Goes::CacheAlone => self.ask_cache(request, breakdown).await,
        }
    }

    /// Serves a part of a request by the cache. If that fails, the target does: it has all but what is dirty.
    async fn cached(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let work = request.work;
        self.ask_cache(request, breakdown).await;
        self.blocks.borrow_mut().unpin(work);
        let is_lost = work.op == Op::Read && self.blocks.borrow().is_dirty(work);
        if breakdown.has_failed() && !is_lost {
            breakdown.retry();
            self.blocks.borrow_mut().invalidate(work);
            self.ask(self.target, &request.child(u64::MAX, work), breakdown).await;
        }
    }

    /// Asks the cache for an access within a block.
    async fn ask_cache(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let there = self.blocks.borrow().location(request.work);
        let there = there.map(|there| Block { address: self.plan.spec.at.0 + there.address, ..there });
        match there {
            Some(there) => self.ask(self.cache, &request.with(there), breakdown).await,
            None => breakdown.fail(),
        }
    }

    /// Asks one of the two. Boxed, since it is a component as this is.
    async fn ask(&'m self, edge: &'m Edge<'m>, request: &Request<Block>, breakdown: &mut Breakdown) {
        Box::pin(edge.serve(request, breakdown)).await;
    }

    /// Makes stable what was acknowledged: the target, and the cache where it has what the target has not.
    async fn flush(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if self.plan.spec.writes == CachedWrites::Back {
            self.ask(self.cache, &request.child(0, request.work), breakdown).await;
        }
        if !breakdown.has_failed() {
            self.ask(self.target, &request.child(1, request.work), breakdown).await;
        }
    }
}

impl<'m> Component<'m> for DeviceCache<'m> {
    fn balance(&self) -> Option<Balance> {
        let (blocks, block) = (self.blocks.borrow(), self.plan.spec.block.0);
        let (dirty, destaged) = (blocks.dirty_bytes() + self.in_flight.get(), self.counts.written_back.get());
        let (used, size) = (blocks.held() * block, self.plan.slots * block);
        Some(Balance { taken_in: destaged + dirty, destaged, dirty, used, free: size - used, size })
    }

    fn is_cold(&self) -> bool {
        let held = self.blocks.borrow().held() * self.plan.spec.block.0;
        self.plan.spec.begins == CacheStart::Empty
            && held as f64 > MOST_FILLING * self.context.answered().bytes as f64
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("read_hit_ratio", Meter::Share(self.counts.hit.get(), self.counts.read.get()));
        put("filled_bytes", Meter::Count(self.counts.filled.get()));
        put("written_back_bytes", Meter::Count(self.counts.written_back.get()));
        if self.counts.lost.get() > 0 {
            put("lost_bytes", Meter::Count(self.counts.lost.get()));
        }
    }
}

impl<'m> Serve<'m, Block> for DeviceCache<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.context.shared.divides(request.work.bytes / self.plan.spec.block.0).await;
        match request.work.op {
            Op::Read => self.read(request, breakdown).await,
            Op::Write => self.write(request, breakdown).await,
            Op::Discard => self.write_past(request, breakdown).await,
            Op::Flush => self.flush(request, breakdown).await,
        }
    }
}
