//! Write-back of dirty pages.

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, Op, Request};

use super::FileSystem;
use crate::core::meter::add;

impl<'m> FileSystem<'m> {
    /// Starts write-back by as many workers as are allowed.
    pub fn write_back(&'m self) {
        let Some(pools) = self.pools.get() else { return };
        while self.workers.get() < self.plan.spec.write_back_depth && self.is_due() {
            self.workers.set(self.workers.get() + 1);
            pools.writers.start(());
        }
    }

    /// Returns true if a dirty page is due to be written back.
    fn is_due(&self) -> bool {
        let mut pages = self.pages.borrow_mut();
        if pages.dirty() == 0 {
            return false;
        }
        if self.syncing.get() > 0 || self.throttled.get() > 0 {
            return true;
        }
        let above = pages.dirty() > self.plan.pages(self.plan.spec.dirty_background.get());
        let old = pages.oldest().is_some_and(|since| since + self.plan.spec.dirty_age <= self.sim.now());
        self.drains.set(self.drains.get() && (above || old));
        self.drains.get()
    }

    /// One worker: writes runs of pages back as long as some are due.
    pub async fn work(&'m self) {
        let most = self.plan.spec.max_request.0 / self.block();
        while self.is_due() {
            let Some((first, many)) = self.pages.borrow_mut().take_run(most) else { break };
            self.in_flight.set(self.in_flight.get() + many as usize);
            let block = Block { op: Op::Write, address: first * self.block(), bytes: many * self.block() };
            let run = self.counts.destaged.get();
            self.runs.borrow_mut().insert(run);
            let key = self.context.stream("write-back").key(run);
            add(&self.counts.destaged, many);
            let mut breakdown = Breakdown::from(self.sim.now());
            self.ask_volume(&Request::new(key, block).because(Cause::Destage), &mut breakdown).await;
            add(&self.counts.refused, u64::from(breakdown.has_failed()));
            self.in_flight.set(self.in_flight.get() - many as usize);
            self.runs.borrow_mut().remove(&run);
            self.written_back.end();
            self.has_room.has_changed();
        }
        self.workers.set(self.workers.get() - 1);
    }

    /// Starts to write back when a writer crosses the background limit, as Linux does, rather than at the next look.
    pub fn start_background(&'m self) {
        let most = self.plan.pages(self.plan.spec.dirty_background.get());
        if !self.drains.get() && self.pages.borrow().dirty() > most {
            self.drains.set(true);
            self.write_back();
        }
    }

    /// Starts the periodic check, which runs as long as pages are dirty.
    pub fn watch(&'m self) {
        if let (false, Some(pools)) = (self.is_watched.get(), self.pools.get()) {
            self.is_watched.set(true);
            pools.watch.start(());
        }
    }

    /// Looks at every multiple of the interval, until nothing is dirty.
    pub async fn look(&'m self) {
        let every = self.plan.spec.wake.0;
        while self.pages.borrow().dirty() > 0 {
            self.sim.until(Nanos((self.sim.now().0 / every + 1) * every)).await;
            self.drains.set(true);
            self.write_back();
        }
        self.is_watched.set(false);
    }
}
