//! Background transfers between a cache and its disks: destaging and reading ahead.

use headrace_units::Fraction;
use headrace_work::{Block, Breakdown, Cause, Op, Request};

use super::spec::LEAST_DESTAGED;
use super::{ArrayCache, ByteSpan};
use crate::block::array::Array;
use crate::core::meter::add;

/// All that is dirty of one stripe, on its way.
struct Destage {
    spans: Vec<ByteSpan>,
    whole: bool,
}

impl<'m> ArrayCache<'m> {
    /// Starts as many movers as there is work for.
    pub(super) fn move_on(&'m self, array: &'m Array<'m>) {
        let sim = self.context.shared.sim;
        while self.destaging() < self.destaged_at_once() {
            let Some(first) = self.next_destage() else { break };
            self.destaging.borrow_mut().up(self.now(), 1);
            sim.spawn(self.destage_from(array, first));
        }
        while self.plan.at_once.is_none_or(|most| self.fetching.get() < most) {
            let Some(first) = self.next_fetch() else { break };
            self.fetching.set(self.fetching.get() + 1);
            sim.spawn(self.fetch_from(array, first));
        }
        if !self.flusher.get() && self.contents.borrow().dirty.bytes() > 0 {
            self.flusher.set(true);
            sim.spawn(self.flush_when_idle(array));
        }
    }

    /// Returns the number of stripes that are being destaged.
    fn destaging(&self) -> u32 {
        self.destaging.borrow().value() as u32
    }

    /// Returns the number of stripes to destage in parallel: the fuller the cache, the more. While it has room, reads of hosts wait little
    /// (linear threshold scheduling: Varma and Jacobson, "Destage algorithms for disk arrays with nonvolatile caches", 1995).
    fn destaged_at_once(&self) -> u32 {
        self.plan.at_once.unwrap_or_else(|| {
            let more = f64::from(self.plan.most_destaged - LEAST_DESTAGED);
            LEAST_DESTAGED + (more * self.memory().urgency(self.plan.high)) as u32
        })
    }

    /// Destages for as long as there is something to do.
    async fn destage_from(&'m self, array: &'m Array<'m>, first: Destage) {
        let mut next = Some(first);
        while let Some(destage) = next {
            self.destage(array, destage).await;
            let goes_on = self.destaging() <= self.destaged_at_once();
            next = if goes_on { self.next_destage() } else { None };
        }
        self.destaging.borrow_mut().down(self.now(), 1);
        self.move_on(array);
        self.memory().move_others(self);
    }

    async fn destage(&'m self, array: &'m Array<'m>, destage: Destage) {
        add(&self.counts.destages, 1);
        add(&self.counts.whole, u64::from(destage.whole));
        // Parity is written once for all that is dirty of a stripe; where there is none, nothing is saved.
        let most = if array.plan.layout.computes() { destage.spans.len() } else { 1 };
        for spans in destage.spans.chunks(most.max(1)) {
            self.put_on_disks(array, spans).await;
        }
        self.progress.end();
    }

    async fn put_on_disks(&'m self, array: &'m Array<'m>, spans: &[ByteSpan]) {
        let write = |span: &ByteSpan| Block { op: Op::Write, address: span.from, bytes: span.bytes() };
        let whole = spans.iter().copied().reduce(|a, b| a.and(b)).expect("what is destaged has bytes");
        let pieces: Vec<Block> = if spans.len() > 1 { spans.iter().map(write).collect() } else { Vec::new() };
        let request = self.job(write(&whole)).because(Cause::Destage);
        let mut breakdown = Breakdown::from(self.now());
        array.serve_pieces(&request, &pieces, &mut breakdown).await;
        for span in spans {
            add(&self.counts.lost, if breakdown.has_failed() { span.bytes() } else { 0 });
            self.is_on_disks(*span);
            self.allow_read_ahead(span.bytes());
        }
    }

    /// Lets read-ahead have its share of what was destaged.
    fn allow_read_ahead(&self, destaged: u64) {
        let share = self.plan.read_ahead_share.map_or(0.0, Fraction::get);
        add(&self.allowed, (destaged as f64 * share) as u64);
    }

    /// Waits until read-ahead of `bytes` may begin: nothing is destaged, or as much has been as allows it.
    async fn wait_for_share(&'m self, bytes: u64) {
        if self.plan.read_ahead_share.is_none() {
            return;
        }
        while self.destaging() > 0 && self.allowed.get() < bytes {
            self.progress.wait().await;
        }
        self.allowed.set(self.allowed.get().saturating_sub(bytes));
    }

    /// Work of the cache's own, with a key of its own.
    fn job(&self, block: Block) -> Request<Block> {
        add(&self.jobs, 1);
        Request::new(self.keys.key(self.jobs.get()), block)
    }

    /// A span has arrived on the disks: its lines are kept, unless room is wanted or they were written again.
    fn is_on_disks(&self, span: ByteSpan) {
        let mut contents = self.contents.borrow_mut();
        let at = contents.leaving.iter().position(|going| *going == span);
        contents.leaving.swap_remove(at.expect("what is destaged is on its way until it is there"));
        drop(contents);
        add(&self.counts.destaged, span.bytes());
        add(&self.counts.reserved, span.bytes());
        let kept = if self.memory().is_wanted() { 0 } else { self.lines_of(span) };
        self.give_back(span.bytes() - kept);
        if kept > 0 {
            self.keep(span);
        }
        self.note_dirty();
    }

    /// The stripe that is to be destaged next, if one is.
    fn next_destage(&self) -> Option<Destage> {
        let stripe = self.next_in_run().or_else(|| self.next_oldest())?;
        let mut contents = self.contents.borrow_mut();
        let whole = contents.dirty.state(stripe) == Some(true);
        let spans = contents.dirty.take(stripe);
        contents.leaving.extend(&spans);
        let (last, run) = self.last.get();
        let run = if last.wrapping_add(1) == stripe { run } else { 0 };
        self.last.set((stripe, run + spans.iter().map(|span| span.bytes()).sum::<u64>()));
        Some(Destage { spans, whole })
    }

    /// The stripe behind the last, if the run goes on.
    fn next_in_run(&self) -> Option<u64> {
        let (last, run) = self.last.get();
        let next = last.wrapping_add(1);
        let whole = self.contents.borrow().dirty.state(next)?;
        (run < self.plan.run && (whole || self.drains_parts())).then_some(next)
    }

    /// The oldest stripe, a whole one before others.
    fn next_oldest(&self) -> Option<u64> {
        let drains = self.drains_parts();
        let contents = self.contents.borrow();
        let wanted = |stripe: &u64| contents.dirty.age(*stripe).is_some_and(|age| age <= self.wanted.get());
        let partial = contents.dirty.oldest_partial().filter(|stripe| drains || wanted(stripe));
        contents.dirty.oldest_full().or(partial)
    }

    /// Returns true if partial stripes are destaged: they take too much space, all data is to go, or nothing else would free space.
    fn drains_parts(&self) -> bool {
        let drains = self.memory().drains(self.plan.high, self.plan.low);
        drains || self.flushing.get()
    }

    /// Sends all that is dirty to the disks when no host came for long enough.
    async fn flush_when_idle(&'m self, array: &'m Array<'m>) {
        let sim = self.context.shared.sim;
        while sim.now() < self.used.get() + self.plan.idle {
            sim.until(self.used.get() + self.plan.idle).await;
        }
        self.flusher.set(false);
        if self.contents.borrow().dirty.bytes() > 0 {
            self.flushing.set(true);
            self.flusher.set(true);
            self.move_on(array);
            self.flusher.set(false);
        }
    }

    /// Reads ahead for as long as there is something to read.
    async fn fetch_from(&'m self, array: &'m Array<'m>, first: ByteSpan) {
        let mut next = Some(first);
        while let Some(span) = next {
            self.read_ahead(array, span).await;
            next = self.next_fetch();
        }
        self.fetching.set(self.fetching.get() - 1);
    }

    async fn read_ahead(&'m self, array: &'m Array<'m>, span: ByteSpan) {
        self.wait_for_share(span.bytes()).await;
        self.take(self.lines_of(span)).await;
        let block = Block { op: Op::Read, address: span.from, bytes: span.bytes() };
        let mut breakdown = Breakdown::from(self.now());
        array.serve_by_disks(&self.job(block), &mut breakdown).await;
        let mut contents = self.contents.borrow_mut();
        let at = contents.coming.iter().position(|coming| *coming == span);
        contents.coming.swap_remove(at.expect("what is read ahead is on its way until it is here"));
        drop(contents);
        if breakdown.has_failed() {
            self.give_back(self.lines_of(span));
        } else {
            self.keep(span);
        }
        self.progress.end();
    }

    /// Returns the next span to read ahead, and marks it as on its way.
    fn next_fetch(&self) -> Option<ByteSpan> {
        let mut contents = self.contents.borrow_mut();
        let span = contents.streams.pick()?;
        contents.coming.push(span);
        Some(span)
    }
}
