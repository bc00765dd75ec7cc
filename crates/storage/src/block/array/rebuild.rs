//! Rebuilding: what a disk has lost or missed is computed from the others and written, chunk by chunk, while hosts go on.

use std::cell::Cell;

use headrace_kernel::Sim;
use headrace_units::Bytes;
use headrace_work::{Breakdown, Op};

use super::Array;
use super::layout::{DiskAccesses, Units, add};
use super::recovery::RebuildSpec;
use crate::block::paced_work::{PacedWork, RETRY};
use crate::core::health::Event;

/// Chunks in progress at a time, by default: one is read while the other is written.
const WORKERS: u32 = 2;

/// A rebuild, and what is recorded of it.
pub(super) struct Rebuild<'m> {
    spec: RebuildSpec,
    pub background: PacedWork<'m>,
    /// The stripe to go on with.
    cursor: Cell<u64>,
    /// True if something was rebuilt, or could be, since the cursor was last at the first stripe.
    progressed: Cell<bool>,
    /// Units rebuilt.
    pub units: Cell<u64>,
}

impl<'m> Rebuild<'m> {
    pub fn new(sim: &'m Sim<'m>, spec: RebuildSpec) -> Self {
        Self {
            spec,
            background: PacedWork::new(sim, spec.pace()),
            cursor: Cell::new(0),
            progressed: Cell::new(false),
            units: Cell::new(0),
        }
    }
}

/// Accesses that rebuild a chunk.
#[derive(Default)]
struct ChunkWork {
    reads: DiskAccesses,
    writes: DiskAccesses,
    /// Bytes that lost units are computed from.
    computed: u64,
    /// The units: disk, stripe, and the device that gets it.
    units: Vec<(usize, u64, usize)>,
}

impl<'m> Array<'m> {
    /// Starts to rebuild what can be rebuilt now.
    pub(super) fn start_rebuild(&'m self) {
        self.rebuild.progressed.set(true);
        if self.rebuild.background.workers.get() > 0 || self.members.next_to_rebuild(0).is_none() {
            return;
        }
        self.rebuild.cursor.set(0);
        let workers = self.in_flight();
        self.rebuild.background.workers.set(workers);
        (0..workers).for_each(|_| self.context.shared.sim.spawn(self.rebuild_chunks()));
    }

    /// Has a rebuild go on at this share of the stripes; it begins again at the first where it comes to the last.
    pub(super) fn go_on_from(&self, share: f64) {
        self.rebuild.cursor.set((share * self.members.stripes() as f64) as u64);
    }

    /// Returns the number of chunks in progress at a time.
    fn in_flight(&self) -> u32 {
        let layout = &self.plan.layout;
        let groups = if self.plan.distributed { layout.disks().div_ceil(layout.width()) as u32 } else { 1 };
        self.rebuild.spec.in_flight.unwrap_or(WORKERS * groups)
    }

    async fn rebuild_chunks(&'m self) {
        while let Some((from, to)) = self.next_chunk() {
            let bytes = Bytes((to - from) * self.plan.layout.unit());
            self.rebuild.background.give_way(bytes, &self.hosts).await;
            self.rebuild_chunk(from, to).await;
        }
        if self.rebuild.background.leave() {
            self.end_rebuild();
        }
    }

    fn end_rebuild(&'m self) {
        self.members.settle();
        self.bay.watch.iter().for_each(|watch| watch.forget(self.context.shared.sim.now()));
        if self.rebuild.background.end() {
            self.context.shared.note(self.context.id, Event::Ends("rebuild"));
        }
        self.go_on_scrubbing();
    }

    /// The stripes to look at next; none where nothing can be rebuilt now. Whole chunks of stripes that cannot be are passed over
    /// together.
    fn next_chunk(&self) -> Option<(u64, u64)> {
        let (cursor, chunk, stripes) =
            (&self.rebuild.cursor, self.stripes_of_chunk(self.rebuild.spec.chunk), self.members.stripes());
        while self.bay.is_reachable() && !self.context.shared.is_interrupted() {
            let from = self.next_stripe()?;
            let hopeless = self.members.hopeless_to(from);
            if hopeless - from < chunk && hopeless < stripes {
                cursor.set((from + chunk).min(stripes));
                return Some((from, cursor.get()));
            }
            cursor.set(if hopeless < stripes { from + (hopeless - from) / chunk * chunk } else { stripes });
        }
        None
    }

    /// The next stripe that misses a unit, once more from the first where something changed since.
    fn next_stripe(&self) -> Option<u64> {
        let next = self.members.next_to_rebuild(self.rebuild.cursor.get());
        next.or_else(|| self.members.next_to_rebuild(0).filter(|_| self.rebuild.progressed.replace(false)))
    }

    /// As many stripes as have a chunk's bytes of one disk, about.
    pub(super) fn stripes_of_chunk(&self, chunk: Bytes) -> u64 {
        let layout = &self.plan.layout;
        (chunk.0 / layout.unit()).max(1) * layout.disks().div_ceil(layout.width())
    }

    async fn rebuild_chunk(&'m self, from: u64, to: u64) {
        let (sim, unit) = (self.context.shared.sim, self.plan.layout.unit());
        let _held = self.stripes.lock(from * unit, to * unit).await;
        let work = self.work(from, to);
        if work.units.is_empty() {
            return;
        }
        if self.rebuild.background.begin() {
            self.context.shared.note(self.context.id, Event::Begins("rebuild"));
        }
        self.rebuild.background.spend(Bytes(work.units.len() as u64 * unit));
        let began = sim.now();
        if self.have_rebuilt(work.reads, 0).await
            && self.computed(work.computed).await
            && self.have_rebuilt(work.writes, 1).await
        {
            work.units.iter().for_each(|&(disk, stripe, device)| self.members.rebuilt(disk, stripe, device));
            self.rebuild.units.set(self.rebuild.units.get() + work.units.len() as u64);
            self.rebuild.progressed.set(true);
        } else if sim.now() == began {
            sim.delay(RETRY).await;
        }
    }

    /// Returns the accesses for the stripes `from` to before `to`, as far as they can be rebuilt now.
    fn work(&self, from: u64, to: u64) -> ChunkWork {
        let (mut work, unit, layout) = (ChunkWork::default(), self.plan.layout.unit(), &self.plan.layout);
        for stripe in from..to {
            let mut known = false;
            for (disk, row, device) in self.members.units_to_rebuild(stripe) {
                let copy = self.members.device(stripe, disk, row).map(|device| vec![(device, row)]);
                let copied = copy.is_some();
                let Some(sources) = copy.or_else(|| layout.sources(stripe, disk, &*self.members)) else {
                    continue;
                };
                // What was read for one unit of parity gives the others too.
                let redundant = known && !copied;
                if !redundant && !copied && layout.computes() {
                    work.computed += sources.len() as u64 * unit;
                }
                for (source, row) in sources.into_iter().filter(|_| !redundant) {
                    add(&mut work.reads, source, Op::Read, row * unit, unit);
                }
                known |= !copied && layout.computes();
                add(&mut work.writes, device, Op::Write, row * unit, unit);
                work.units.push((disk, stripe, device));
            }
        }
        work
    }

    /// Computes lost units from this number of bytes on a controller; returns true if it did.
    async fn computed(&'m self, bytes: u64) -> bool {
        let mut breakdown = Breakdown::from(self.context.shared.sim.now());
        let request = self.rebuild.background.request(self.context.stream("rebuild"));
        self.compute(bytes, &request, &mut breakdown).await;
        !breakdown.has_failed()
    }

    /// Performs accesses for the rebuild; returns true if all were done.
    async fn have_rebuilt(&'m self, parts: DiskAccesses, phase: u64) -> bool {
        let request = self.rebuild.background.access(self.context.stream("rebuild"));
        let mut breakdown = Breakdown::from(self.context.shared.sim.now());
        self.have_done(parts, &request, phase, &mut breakdown).await.is_empty()
    }
}
