//! A write-intent bitmap, as Linux md has it (md(4), `md-bitmap.c`): a bit for each region of the disks says that a write to it
//! may be in progress, so that only marked regions are made consistent after a crash.
//!
//! A write to a region whose bit is clear waits until the bit is on all disks. The page is written durably (md flushes each
//! disk's write cache before it, and has the page on the medium), so the cost of a bit is that of draining all caches. Bits that
//! are needed at the same time share a page write. md has one thread for all this: while it waits for the page, no write goes
//! from reading to writing, and none completes. Bits are cleared lazily: a region without writes loses its bit in the
//! second pass of a periodic task, and the page goes to the disks in the pass after that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use headrace_kernel::{RngStream, Round, Sim};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Array;
use super::spec::{ArraySpec, Level};
use crate::core::graph::Lowering;
use crate::core::meter::add;

/// The page of the bitmap: 4 KiB behind the superblock, which is 4 KiB from the beginning (metadata version 1.2). Data lies there
/// too: the model's disks have no room for metadata.
const PAGE_AT: u64 = 8 << 10;
const PAGE: u64 = 4 << 10;

/// A write-intent bitmap, as Linux md has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BitmapSpec {
    /// Region of each disk that a bit stands for. Default: 64 MiB, that of mdadm.
    pub chunk: Bytes,
    /// Time between two passes that clear bits of regions without writes. Default: 5 s, that of mdadm.
    pub delay: Nanos,
}

impl Default for BitmapSpec {
    fn default() -> Self {
        Self { chunk: Bytes(64 << 20), delay: Nanos(5_000_000_000) }
    }
}

impl ArraySpec {
    /// Refuses a bitmap of an array without redundancy, or with regions or passes of nothing.
    pub(super) fn check_bitmap(&self, at: &mut Lowering) -> Option<()> {
        let Some(BitmapSpec { chunk, delay }) = self.bitmap else { return Some(()) };
        if self.level == Level::Raid0 {
            let message = "raid0 has no redundancy that a crash could make inconsistent";
            return at.refuse("bitmap", message, Some("leave it out"));
        }
        if chunk.0 == 0 {
            return at.refuse("bitmap.chunk", "a region holds at least one byte", None);
        }
        if delay == Nanos::ZERO {
            return at.refuse("bitmap.delay", "passes need time between them", None);
        }
        Some(())
    }
}

/// A region whose bit is set.
#[derive(Clone, Copy, Default)]
struct Region {
    /// Writes in progress.
    writes: u32,
    /// True if the last pass found no write since the one before.
    idle: bool,
}

/// The bitmap of an array in a simulation.
pub(super) struct Bitmap<'m> {
    sim: &'m Sim<'m>,
    spec: BitmapSpec,
    /// The regions whose bits are set.
    regions: RefCell<BTreeMap<u64, Region>>,
    /// True if a bit is set that is in no page write so far.
    wanted: Cell<bool>,
    /// True while writes wait for the page.
    writing: Cell<bool>,
    /// Page writes that writes waited for: begun, and done.
    begun: Cell<u64>,
    done: Cell<u64>,
    written: Round<'m>,
    /// True if bits were cleared since the page was last written.
    stale: Cell<bool>,
    passes: Cell<bool>,
    keys: RngStream,
    pages: Cell<u64>,
}

impl<'m> Bitmap<'m> {
    /// A bitmap with all bits clear.
    pub fn new(sim: &'m Sim<'m>, spec: BitmapSpec, keys: RngStream) -> Self {
        Self {
            sim,
            spec,
            regions: RefCell::default(),
            wanted: Cell::new(false),
            writing: Cell::new(false),
            begun: Cell::new(0),
            done: Cell::new(0),
            written: Round::new(sim),
            stale: Cell::new(false),
            passes: Cell::new(false),
            keys,
            pages: Cell::new(0),
        }
    }

    /// Returns the number of page writes so far.
    pub fn pages(&self) -> u64 {
        self.pages.get()
    }

    /// Begins a write to the bytes `from` to before `to` of each disk: waits until their bits are on the disks.
    pub async fn begin(&'m self, array: &'m Array<'m>, (from, to): (u64, u64)) {
        let regions = self.regions_of(from, to);
        array.context.shared.divides(regions.end() - regions.start()).await;
        self.mark(regions);
        if !self.passes.replace(true) {
            self.sim.spawn(self.clear_lazily(array));
        }
        if !self.wanted.get() {
            return self.thread().await;
        }
        let mine = self.begun.get() + 1;
        while self.done.get() < mine {
            match self.writing.get() {
                true => self.written.wait().await,
                false => self.write_for_hosts(array).await,
            }
        }
    }

    /// Waits until md's thread is free, if it waits for the page.
    pub async fn thread(&'m self) {
        if self.writing.get() {
            self.written.wait().await;
        }
    }

    /// Ends a write.
    pub fn end(&self, (from, to): (u64, u64)) {
        let mut regions = self.regions.borrow_mut();
        for (_, region) in regions.range_mut(self.regions_of(from, to)) {
            region.writes -= 1;
        }
    }

    fn regions_of(&self, from: u64, to: u64) -> RangeInclusive<u64> {
        from / self.spec.chunk.0..=(to - 1) / self.spec.chunk.0
    }

    fn mark(&self, those: RangeInclusive<u64>) {
        let mut regions = self.regions.borrow_mut();
        for at in those {
            let region = regions.entry(at).or_insert_with(|| {
                self.wanted.set(true);
                Region::default()
            });
            *region = Region { writes: region.writes + 1, idle: false };
        }
    }

    /// Writes the page while hosts' writes wait, with the bits of all that come at this instant.
    async fn write_for_hosts(&'m self, array: &'m Array<'m>) {
        self.writing.set(true);
        self.sim.settled().await;
        self.wanted.set(false);
        self.begun.set(self.begun.get() + 1);
        self.write_page(array, Cause::Host).await;
        self.done.set(self.begun.get());
        self.writing.set(false);
        self.written.end();
    }

    /// Writes the page to all disks that work. One that fails meanwhile is not needed.
    async fn write_page(&'m self, array: &'m Array<'m>, cause: Cause) {
        add(&self.pages, 1);
        let page = Block { op: Op::Write, address: PAGE_AT, bytes: PAGE };
        let request = Request::new(self.keys.key(self.pages.get()), page).because(cause).durably();
        let disks = 0..array.plan.layout.disks() as usize;
        let works = |disk: &usize| array.members.works(*disk);
        let accesses = disks.filter(works).map(|disk| (disk, page)).collect();
        array.have_done(accesses, &request, 0, &mut Breakdown::from(self.sim.now())).await;
    }

    /// Clears bits, a pass at a time, as long as some are set.
    async fn clear_lazily(&'m self, array: &'m Array<'m>) {
        while self.passes.get() {
            let delay = self.spec.delay.0;
            self.sim.until(Nanos((self.sim.now().0 / delay + 1) * delay)).await;
            let stale = self.stale.replace(false);
            self.pass();
            if stale {
                self.write_page(array, Cause::Destage).await;
            }
            self.passes.set(stale || self.stale.get() || !self.regions.borrow().is_empty());
        }
    }

    /// Clears the bits of regions that had no write since the last pass but one.
    fn pass(&self) {
        self.regions.borrow_mut().retain(|_, region| {
            let clear = region.writes == 0 && region.idle;
            region.idle = region.writes == 0;
            self.stale.set(self.stale.get() || clear);
            !clear
        });
    }
}
