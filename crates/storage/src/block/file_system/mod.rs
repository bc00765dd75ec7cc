//! A file system on a volume: calls cost processor time and copies; a page cache writes back later and reads ahead.

mod pages;
mod spec;
mod write_back;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::pin::Pin;

use headrace_kernel::{Condition, Locks, Round, Sim, WorkerPool};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::View;
use crate::core::meter::{Balance, Meter, add};
use crate::core::work::Serve;

use pages::PageCache;
pub use spec::{Allocation, FileSystemSpec};

/// Number of ends of reads that are remembered, so that a read that follows one is known.
const REMEMBERED: usize = 1024;

/// A file system in which nothing is left to go wrong.
#[derive(Clone, Debug)]
pub struct FileSystemPlan {
    spec: FileSystemSpec,
    volume: Bytes,
}

impl FileSystemPlan {
    fn new(spec: FileSystemSpec, volume: Bytes) -> Self {
        Self { spec, volume }
    }

    /// Whole extents in all groups, or the volume.
    fn capacity(&self) -> Bytes {
        let Some(Allocation { groups, extent }) = self.spec.allocation else { return self.volume };
        let groups = u64::from(groups);
        Bytes(self.volume.0 / groups / extent.0 * extent.0 * groups)
    }

    /// Returns the location of an address on the volume, and the number of contiguous bytes from there.
    fn location(&self, address: u64) -> (u64, u64) {
        let Some(Allocation { groups, extent }) = self.spec.allocation else { return (address, u64::MAX) };
        let (groups, of_group) = (u64::from(groups), self.volume.0 / u64::from(groups));
        let (number, within) = (address / extent.0, address % extent.0);
        (number % groups * of_group + number / groups * extent.0 + within, extent.0 - within)
    }

    /// Number of pages that a share of the memory holds.
    fn pages(&self, share: f64) -> usize {
        (self.spec.memory.0 as f64 * share / self.spec.block.0 as f64) as usize
    }

    /// Processor time of a call.
    fn call(&self, bytes: u64) -> Nanos {
        self.spec.call + self.spec.copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes(bytes)))
    }

    fn is_direct(&self, bytes: u64) -> bool {
        self.spec.direct_above.is_some_and(|most| bytes > most.0)
    }
}

impl Theory for FileSystemPlan {
    fn time_fields(&self) -> &'static [&'static str] {
        &["call", "copy"]
    }

    fn note(&self, view: View, _: &crate::core::theory::Load) -> Option<String> {
        Some(format!(
            "`{}` has a page cache: what it still holds at the end has not reached the volume",
            view.path()
        ))
    }
}

/// A file system in a simulation.
pub struct FileSystem<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m FileSystemPlan,
    volume: &'m Edge<'m>,
    pages: RefCell<PageCache>,
    /// Ends of reads, oldest first: a read that begins at one of them follows it.
    ends: RefCell<(BTreeSet<u64>, VecDeque<u64>)>,
    /// The pages that are being read, so that who wants the same meanwhile waits for them.
    reads: Locks<'m>,
    /// Pages being written back, and workers that do it.
    in_flight: Cell<usize>,
    /// The runs of pages that are being written back, by their numbers.
    runs: RefCell<BTreeSet<u64>>,
    workers: Cell<u32>,
    /// True while dirty pages are written back, until the background limit is kept and none is old.
    drains: Cell<bool>,
    /// Writers that wait for the limit, and for all pages.
    throttled: Cell<u32>,
    syncing: Cell<u32>,
    written_back: Round<'m>,
    /// There may be room for more dirty pages.
    has_room: Condition<'m>,
    is_watched: Cell<bool>,
    pools: OnceCell<Pools<'m>>,
    counts: FileSystemCounts,
}

/// Workers beside the callers: for write-back, and for the periodic check whether it is due.
struct Pools<'m> {
    writers: WorkerPool<'m, ()>,
    watch: WorkerPool<'m, ()>,
}

#[derive(Default)]
struct FileSystemCounts {
    calls: Cell<u64>,
    reads: Cell<u64>,
    hits: Cell<u64>,
    taken_in: Cell<u64>,
    destaged: Cell<u64>,
    /// Requests of write-back that failed, and those of them of which an `fsync` has said so.
    refused: Cell<u64>,
    told: Cell<u64>,
    since_sync: Cell<u64>,
}

impl Plan for FileSystemPlan {
    type Component<'m> = FileSystem<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> FileSystem<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        FileSystem {
            context,
            sim,
            plan: self,
            volume: &uses[0],
            pages: RefCell::new(PageCache::new(self.pages(1.0), self.spec.replacement)),
            ends: RefCell::default(),
            reads: Locks::new(sim, (self.spec.max_request.0 / self.spec.block.0).max(1)),
            in_flight: Cell::default(),
            runs: RefCell::default(),
            workers: Cell::default(),
            drains: Cell::default(),
            throttled: Cell::default(),
            syncing: Cell::default(),
            written_back: Round::new(sim),
            has_room: Condition::new(sim),
            is_watched: Cell::default(),
            pools: OnceCell::new(),
            counts: FileSystemCounts::default(),
        }
    }
}

impl<'m> FileSystem<'m> {
    fn block(&self) -> u64 {
        self.plan.spec.block.0
    }

    /// The pages that a call touches.
    fn touched(&self, work: Block) -> std::ops::Range<u64> {
        work.address / self.block()..work.end().div_ceil(self.block())
    }

    /// Dirty pages, those that are being written back included.
    fn dirty(&self) -> usize {
        self.pages.borrow().dirty() + self.in_flight.get()
    }

    /// Sends a request to the volume, in pieces that lie one after another there. Boxed, since a volume is a component as this is.
    fn ask_volume<'s>(
        &'m self,
        request: &'s Request<Block>,
        breakdown: &'s mut Breakdown,
    ) -> Pin<Box<dyn Future<Output = ()> + 's>>
    where
        'm: 's,
    {
        Box::pin(async move {
            let mut from = request.work.address;
            while from < request.work.end() && !breakdown.has_failed() {
                let (address, whole) = self.plan.location(from);
                let bytes = whole.min(request.work.end() - from);
                self.volume.serve(&request.with(Block { address, bytes, ..request.work }), breakdown).await;
                from += bytes;
            }
        })
    }

    /// Reads what is missing, one run of pages after another; where reads follow each other, as much as is read ahead.
    async fn read(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let pages = self.touched(request.work);
        add(&self.counts.reads, 1);
        let follows = self.remember(pages.start, pages.end);
        let mut hit = 1;
        for page in pages.clone() {
            if self.pages.borrow_mut().uses(page) || breakdown.has_failed() {
                continue;
            }
            hit = 0;
            let ahead = if follows { self.plan.spec.read_ahead.0 / self.block() } else { 0 };
            let most = (self.plan.capacity().0 / self.block()).min(pages.end.max(page + ahead));
            self.fetch(page, most.max(page + 1), request, breakdown).await;
        }
        add(&self.counts.hits, hit);
    }

    /// Reads the pages from one on that are missing, up to `end`, in a request or several; what another call reads is waited for.
    async fn fetch(&'m self, first: u64, end: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        let missing = |page: &u64| *page == first || !self.pages.borrow_mut().uses(*page);
        let end_of_missing =
            |end: u64| (first..end).take_while(missing).last().map_or(first + 1, |last| last + 1);
        let end = end_of_missing(end);
        let _reads = self.reads.lock(first, end).await;
        breakdown.waited(self.context.id, self.sim.now());
        if self.pages.borrow_mut().uses(first) {
            return;
        }
        let end = end_of_missing(end);
        let (mut from, most) = (first * self.block(), self.plan.spec.max_request.0);
        while from < end * self.block() && !breakdown.has_failed() {
            let bytes = most.min(end * self.block() - from);
            self.ask_volume(&request.with(Block { op: Op::Read, address: from, bytes }), breakdown).await;
            from += bytes;
        }
        if !breakdown.has_failed() {
            let mut pages = self.pages.borrow_mut();
            (first..end).for_each(|page| pages.read(page));
        }
    }

    /// Notes where a read ended; returns true if it follows another.
    fn remember(&self, first: u64, end: u64) -> bool {
        let (known, order) = &mut *self.ends.borrow_mut();
        let follows = known.remove(&first) || first == 0;
        if known.insert(end) {
            order.push_back(end);
        }
        while order.len() > REMEMBERED {
            order.pop_front().map(|oldest| known.remove(&oldest));
        }
        follows
    }

    /// Makes pages dirty, when there may be more dirty ones. Pages that are written in part are read first.
    async fn write(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let (pages, work) = (self.touched(request.work), request.work);
        for (page, part) in [(pages.start, work.address), (pages.end - 1, work.end())] {
            let here = self.pages.borrow_mut().uses(page);
            if !part.is_multiple_of(self.block()) && !here {
                self.fetch(page, page + 1, request, breakdown).await;
            }
        }
        self.keep_limit(breakdown).await;
        let before = self.pages.borrow().dirty();
        pages.for_each(|page| self.pages.borrow_mut().write(page, self.sim.now()));
        add(&self.counts.taken_in, (self.pages.borrow().dirty() - before) as u64);
        self.watch();
        self.start_background();
        if self.throttled.get() > 0 {
            self.write_back();
        }
        add(&self.counts.since_sync, work.bytes);
        if self.plan.spec.fsync_every.is_some_and(|every| self.counts.since_sync.get() >= every.0) {
            self.counts.since_sync.set(0);
            self.sync(breakdown).await;
        }
    }

    /// Waits until no more is dirty than may be.
    async fn keep_limit(&'m self, breakdown: &mut Breakdown) {
        let most = self.plan.pages(self.plan.spec.dirty_limit.get());
        if self.dirty() > most {
            self.throttled.set(self.throttled.get() + 1);
            self.write_back();
            self.has_room.wait_until(|| self.dirty() <= most).await;
            self.throttled.set(self.throttled.get() - 1);
        }
        breakdown.blocked(self.context.id, self.sim.now());
    }

    /// Waits until all that is dirty now is on the volume. What is written meanwhile is not waited for.
    async fn sync(&'m self, breakdown: &mut Breakdown) {
        self.syncing.set(self.syncing.get() + 1);
        let told = self.counts.told.get();
        let newest = self.pages.borrow().newest();
        while self.pages.borrow_mut().has_older(newest) {
            self.write_back();
            // A volume that has failed refuses at once, so that nothing may be left to wait for.
            if self.pages.borrow_mut().has_older(newest) {
                self.written_back.wait().await;
            }
        }
        let begun = self.counts.destaged.get();
        while self.runs.borrow().first().is_some_and(|run| *run < begun) {
            self.written_back.wait().await;
        }
        self.syncing.set(self.syncing.get() - 1);
        breakdown.blocked(self.context.id, self.sim.now());
        // Each `fsync` that waited during a failed write-back fails; of an earlier failure, only the next one does.
        let refused = self.counts.refused.get();
        if refused > told {
            breakdown.fail();
        }
        self.counts.told.set(refused);
    }

    /// Answers `fsync`: dirty pages go to the volume, and the volume makes them stable.
    async fn flush(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.sync(breakdown).await;
        if breakdown.has_failed() {
            return;
        }
        Box::pin(self.volume.serve(&request.child(u64::MAX, Block::FLUSH), breakdown)).await;
    }
}

impl<'m> Component<'m> for FileSystem<'m> {
    fn balance(&self) -> Option<Balance> {
        let block = self.block();
        let in_flight = self.in_flight.get() as u64;
        let (taken_in, destaged) = (self.counts.taken_in.get(), self.counts.destaged.get() - in_flight);
        let (dirty, size) = ((taken_in - destaged) * block, self.plan.spec.memory.0);
        let used = self.pages.borrow().held() as u64 * block;
        let used = used.max(dirty).min(size);
        Some(Balance {
            taken_in: taken_in * block,
            destaged: destaged * block,
            dirty,
            used,
            free: size - used,
            size,
        })
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("calls", Meter::Count(self.counts.calls.get()));
        put("read_hit_ratio", Meter::Share(self.counts.hits.get(), self.counts.reads.get()));
    }

    fn lose_power(&'m self) {
        add(&self.counts.destaged, self.pages.borrow().dirty() as u64);
        *self.pages.borrow_mut() = PageCache::new(self.plan.pages(1.0), self.plan.spec.replacement);
        self.ends.take();
        // Who would be told that write-back failed is gone.
        self.counts.told.set(self.counts.refused.get());
        self.written_back.end();
        self.has_room.has_changed();
    }

    fn begin(&'m self) {
        self.pools.get_or_init(|| Pools {
            writers: WorkerPool::new(self.sim, move |()| self.work()),
            watch: WorkerPool::new(self.sim, move |()| self.look()),
        });
    }
}

impl<'m> Serve<'m, Block> for FileSystem<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.context.shared.divides(request.work.bytes / self.block()).await;
        add(&self.counts.calls, 1);
        let direct = self.plan.is_direct(request.work.bytes);
        let time = if direct { self.plan.spec.call } else { self.plan.call(request.work.bytes) };
        self.sim.delay(time).await;
        breakdown.served(self.context.id, self.sim.now());
        match request.work.op {
            _ if direct => self.ask_volume(request, breakdown).await,
            Op::Read => self.read(request, breakdown).await,
            Op::Flush => self.flush(request, breakdown).await,
            Op::Write | Op::Discard => {
                self.write(request, breakdown).await;
                if request.is_durable() && !breakdown.has_failed() {
                    self.flush(request, breakdown).await;
                }
            }
        }
    }
}
