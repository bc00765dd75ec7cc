//! Write-back of dirty blocks, in the order of their addresses.

use headrace_work::{Block, Breakdown, Cause, Op, Request};

use super::{DeviceCache, Goes};
use crate::core::meter::add;

impl<'m> DeviceCache<'m> {
    /// Starts as many workers as are allowed, while more is dirty than may be.
    pub(super) fn write_back(&'m self) {
        while self.workers.get() < self.plan.spec.write_back_depth && self.is_due() {
            self.workers.set(self.workers.get() + 1);
            self.pools().writers.start(());
        }
    }

    /// Returns true if more is dirty than may be.
    fn is_due(&self) -> bool {
        let dirty = self.blocks.borrow().dirty_blocks();
        dirty as f64 > self.plan.spec.dirty.get() * self.plan.slots as f64
    }

    /// One worker: writes runs of dirty blocks back as long as that is due.
    pub(super) async fn work(&'m self) {
        while self.is_due() {
            let parts = self.blocks.borrow_mut().take_run(self.plan.spec.max_request.0);
            let bytes = parts.iter().map(|part| part.bytes).sum();
            add(&self.in_flight, bytes);
            let is_done = self.move_run(&parts, bytes).await;
            self.in_flight.set(self.in_flight.get() - bytes);
            add(if is_done { &self.counts.written_back } else { &self.counts.lost }, bytes);
            parts.iter().for_each(|part| self.blocks.borrow_mut().unpin(*part));
        }
        self.workers.set(self.workers.get() - 1);
    }

    /// Reads a run from the cache, and writes it to the target in one request. Returns true if both succeeded.
    async fn move_run(&'m self, parts: &[Block], bytes: u64) -> bool {
        let [first, ..] = parts else { return true };
        let key = self.context.stream("write-back").key(self.counts.runs.replace(self.counts.runs.get() + 1));
        let mut breakdown = Breakdown::from(self.sim.now());
        let write = Request::new(key, Block { bytes, ..*first }).because(Cause::Destage);
        let reads = parts.iter().map(|part| (Goes::CacheAlone, Block { op: Op::Read, ..*part }));
        self.parts(&write.child(0, write.work), reads, &mut breakdown).await;
        if !breakdown.has_failed() {
            self.ask(self.target, &write, &mut breakdown).await;
        }
        !breakdown.has_failed()
    }
}
