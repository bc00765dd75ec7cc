//! How an array serves a request: which accesses it takes, and what is done again when a device fails meanwhile.

use headrace_kernel::{Join, Lock};
use headrace_work::{Block, Breakdown, Cause, Op, Request};

use super::bay::{Job, LostJob};
use super::bitmap::Bitmap;
use super::layout::{Accesses, ArrayLayout, DiskAccesses, Mirror, Units, Whole};
use super::{Array, ReadFrom};

/// Bytes of each disk in a row of the stripe cache: a page of memory.
const PAGE: u64 = 4096;

impl<'m> Array<'m> {
    /// Returns the device accesses of a request; `None` if it cannot be served. `pieces` are those that a write consists of, within one
    /// stripe with parity; without any it writes all.
    fn accesses(&self, request: Block, pieces: &[Block]) -> Option<Accesses> {
        if self.members.are_whole() {
            return self.accesses_with(request, pieces, &Whole);
        }
        let accesses =
            self.accesses_with(request, pieces, &*self.members).filter(|_| self.bay.is_reachable())?;
        accesses.missed.iter().for_each(|(disk, stripe)| self.members.miss(*disk, *stripe));
        Some(accesses)
    }

    fn accesses_with(&self, request: Block, pieces: &[Block], units: &impl Units) -> Option<Accesses> {
        match &self.plan.layout {
            ArrayLayout::Parity(parity) if !pieces.is_empty() => parity.write_together(pieces, units),
            _ => self.accesses_of(request, units),
        }
    }

    pub(super) fn accesses_of(&self, request: Block, units: &impl Units) -> Option<Accesses> {
        let at_once = |then| Accesses { then, ..Accesses::default() };
        match (&self.plan.layout, request.op) {
            (ArrayLayout::Striped(stripes), _) => Some(at_once(stripes.parts(request).collect())),
            // It accesses no data.
            (_, Op::Flush) => Some(Accesses::default()),
            (ArrayLayout::Mirrored(mirror), Op::Write | Op::Discard) => mirror.write(request, units),
            (ArrayLayout::Mirrored(mirror), Op::Read) if self.members.are_whole() => {
                let choose = |column, address| self.choose(mirror, column, 0, address, units);
                Some(at_once(mirror.read(request, |column, at| choose(column, at).unwrap_or_default())))
            }
            (ArrayLayout::Mirrored(mirror), Op::Read) => {
                let choose = |column, stripe, address| self.choose(mirror, column, stripe, address, units);
                mirror.read_units(request, units, choose).map(at_once)
            }
            (ArrayLayout::Parity(parity), Op::Write | Op::Discard) => parity.write(request, units),
            (ArrayLayout::Parity(parity), Op::Read) => parity.read(request, units),
        }
    }

    /// The device that a read at `address` of a mirrored column is taken from; among equals the next in turn.
    fn choose(
        &self,
        mirror: &Mirror,
        column: u64,
        stripe: u64,
        address: u64,
        units: &impl Units,
    ) -> Option<usize> {
        let turn = &self.turns[column as usize];
        let in_turn = |copy: u64| (copy + mirror.copies - turn.get()) % mirror.copies;
        let heads = &self.bay.heads;
        let cost = |device: usize| match self.plan.read_from {
            ReadFrom::RoundRobin => 0,
            ReadFrom::ShortestQueue => heads[device].in_flight.get(),
            ReadFrom::Nearest => heads[device].at.get().abs_diff(address),
        };
        let holders = mirror.holders(column, stripe, units);
        let (copy, device) = holders.min_by_key(|&(copy, device)| (cost(device), in_turn(copy)))?;
        turn.set((copy + 1) % mirror.copies);
        Some(device)
    }

    /// Sends `parts` of `request` to the devices; charges the part that ends last, and returns the parts that failed.
    pub(super) async fn have_done(
        &'m self,
        parts: DiskAccesses,
        request: &Request<Block>,
        phase: u64,
        breakdown: &mut Breakdown,
    ) -> Vec<LostJob> {
        let (ticket, asked) = self.ask(parts, request, phase).await;
        if let Some(slowest) = asked.await {
            breakdown.follow(&slowest);
        }
        self.bay.take_lost(ticket)
    }

    /// Has each disk that works make stable what it has acknowledged, as md does. A disk that fails meanwhile is missed only if others do not
    /// make up for it.
    pub(super) async fn flush_disks(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let works = |disk: &usize| self.members.works(*disk);
        let all = (0..self.devices.len()).filter(works).map(|disk| (disk, Block::FLUSH)).collect();
        let flush = request.child(u64::MAX, Block::FLUSH);
        self.have_done(all, &flush, 0, breakdown).await;
        if !self.members.have_all() || !self.bay.is_reachable() {
            breakdown.fail();
        }
    }

    /// Sends `parts` of `request` to the devices; returns their ticket, and who waits for the last. `phase` separates the keys of the two
    /// phases.
    pub(super) async fn ask(
        &'m self,
        parts: DiskAccesses,
        request: &Request<Block>,
        phase: u64,
    ) -> (u64, Join<'m, Job, Breakdown>) {
        self.context.shared.divides(parts.len() as u64).await;
        if !matches!(request.cause, Cause::Rebuild | Cause::Scrub) && request.work.op != Op::Flush {
            self.counts.accesses.set(self.counts.accesses.get() + parts.len() as u64);
        }
        let ticket = self.tickets.replace(self.tickets.get() + 1);
        let jobs = parts.into_iter().enumerate().map(|(n, (device, block))| {
            if let Some(head) = self.bay.heads.get(device) {
                head.in_flight.set(head.in_flight.get() + 1);
                head.at.set(if block.op == Op::Flush { head.at.get() } else { block.end() });
            }
            let job = Job { device, request: request.child(2 * n as u64 + phase, block), ticket };
            self.bay.ask(&job);
            job
        });
        (ticket, self.parts.all(jobs))
    }

    /// Waits until nobody else changes the parity that a write changes. Copies of a mirror are locked only while some are behind.
    async fn hold(&'m self, request: Block, pieces: &[Block], breakdown: &mut Breakdown) -> Option<Lock<'m>> {
        let (from, to) = match (&self.plan.layout, request.op) {
            (ArrayLayout::Parity(parity), Op::Write) => {
                self.counts.count_write(pieces.is_empty() && parity.is_whole(request));
                parity.changed(request)
            }
            (_, Op::Write) if !self.members.are_whole() => {
                let (first, last) = self.plan.layout.stripes_of(request);
                (first * self.plan.layout.unit(), (last + 1) * self.plan.layout.unit())
            }
            _ => return None,
        };
        let held = self.stripes.lock(from, to).await;
        breakdown.waited(self.context.id, self.context.shared.sim.now());
        Some(held)
    }

    /// Serves a request. Writes that change the same parity do so one after another. What was lost because a device failed is done
    /// another way.
    pub(super) async fn serve_parts(
        &'m self,
        request: &Request<Block>,
        pieces: &[Block],
        breakdown: &mut Breakdown,
    ) {
        let rows = self.take_rows(request.work, breakdown).await;
        let held = self.hold(request.work, pieces, breakdown).await;
        // With a cache, those of hosts count: several are one destage, and some none.
        if !self.front.as_ref().is_some_and(|front| front.has_cache()) {
            self.counts.count_request();
        }
        match self.bitmap.as_ref().filter(|_| request.work.op != Op::Read) {
            Some(bitmap) => Box::pin(self.serve_marked(bitmap, request, pieces, breakdown)).await,
            None => self.serve_attempts(request, pieces, breakdown).await,
        }
        drop(held);
        if let Some(pool) = &self.rows {
            pool.put(rows);
        }
    }

    /// Takes the rows of pages that a write changes, of those that the stripe cache holds, and returns their number. One of more rows
    /// than that takes all.
    async fn take_rows(&'m self, request: Block, breakdown: &mut Breakdown) -> u64 {
        let (Some(pool), ArrayLayout::Parity(parity), Op::Write) =
            (&self.rows, &self.plan.layout, request.op)
        else {
            return 0;
        };
        let (from, to) = parity.changed(request);
        let rows = (to.div_ceil(PAGE) - from / PAGE).min(pool.capacity());
        pool.take(rows).await;
        breakdown.waited(self.context.id, self.context.shared.sim.now());
        rows
    }

    /// Serves a write whose regions are marked in the bitmap first.
    async fn serve_marked(
        &'m self,
        bitmap: &'m Bitmap<'m>,
        request: &Request<Block>,
        pieces: &[Block],
        breakdown: &mut Breakdown,
    ) {
        let ((first, last), unit) = (self.plan.layout.stripes_of(request.work), self.plan.layout.unit());
        let written = (first * unit, (last + 1) * unit);
        bitmap.begin(self, written).await;
        breakdown.waited(self.context.id, self.context.shared.sim.now());
        self.serve_attempts(request, pieces, breakdown).await;
        bitmap.thread().await;
        breakdown.waited(self.context.id, self.context.shared.sim.now());
        bitmap.end(written);
    }

    async fn serve_attempts(&'m self, request: &Request<Block>, pieces: &[Block], breakdown: &mut Breakdown) {
        let mut attempt = 0;
        while !self.attempt(request, pieces, attempt, breakdown).await {
            attempt += 1;
        }
    }

    /// Tries to serve a request; returns true if that ended it.
    async fn attempt(
        &'m self,
        request: &Request<Block>,
        pieces: &[Block],
        attempt: u64,
        breakdown: &mut Breakdown,
    ) -> bool {
        let phase = attempt << 32;
        let Some(accesses) = self.accesses(request.work, pieces) else {
            breakdown.fail();
            return true;
        };
        if request.work.op == Op::Read {
            let lost = self.have_read(accesses, request, phase + 1, breakdown).await;
            return lost.is_empty() || self.is_unreachable(&lost, breakdown);
        }
        let Accesses { first, then, computed, .. } = accesses;
        if !first.is_empty() {
            let lost = self.have_done(first, request, phase, breakdown).await;
            if !lost.is_empty() {
                return self.is_unreachable(&lost, breakdown);
            }
        }
        if let Some(bitmap) = &self.bitmap {
            bitmap.thread().await;
            breakdown.waited(self.context.id, self.context.shared.sim.now());
        }
        if request.work.op == Op::Write {
            self.compute(computed, request, breakdown).await;
        }
        let lost = self.have_done(then, request, phase + 1, breakdown).await;
        lost.is_empty() || self.is_unreachable(&lost, breakdown) || self.is_written(request, &lost, breakdown)
    }

    /// Computes parity, or lost data, from this number of bytes on a controller.
    pub(super) async fn compute(&'m self, bytes: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(front) = self.front.as_ref().filter(|_| bytes > 0) {
            front.compute(bytes, request, breakdown).await;
        }
    }

    /// Returns true if no path to the devices is left, so that a request fails. Data that working devices lost is missing from now on.
    fn is_unreachable(&self, lost: &[LostJob], breakdown: &mut Breakdown) -> bool {
        if !self.bay.is_reachable() {
            breakdown.fail();
            return true;
        }
        lost.iter().filter(|lost| lost.works).for_each(|lost| self.miss(lost));
        false
    }

    /// Marks the data of a lost job as missing on its device.
    fn miss(&self, lost: &LostJob) {
        let unit = self.plan.layout.unit();
        let Some(disk) = self.members.disk_of(lost.device) else { return };
        for row in lost.block.address / unit..=(lost.block.end() - 1) / unit {
            self.plan.layout.stripe_of(row, disk).for_each(|stripe| self.members.miss(disk, stripe));
        }
    }

    /// Returns true if a request that lost some parts was a write that the other devices keep where they can.
    fn is_written(&'m self, request: &Request<Block>, lost: &[LostJob], breakdown: &mut Breakdown) -> bool {
        lost.iter().for_each(|lost| self.miss(lost));
        let (first, last) = self.plan.layout.stripes_of(request.work);
        if !(first..=last).all(|stripe| self.plan.layout.has(stripe, &*self.members)) {
            breakdown.fail();
        }
        self.start_rebuild();
        true
    }
}
