//! Service of a host's request by a cache.

use headrace_work::{Block, Breakdown, Op, Request};

use super::{ArrayCache, ByteSpan};
use crate::block::array::Array;
use crate::block::array::front::ArrayFront;
use crate::core::meter::add;

/// Location of a read's data.
enum DataPlace {
    Here,
    /// On its way by read-ahead.
    Coming,
    Nowhere,
}

impl<'m> ArrayCache<'m> {
    /// Answers a write.
    pub async fn write(&'m self, array: &'m Array<'m>, request: &Request<Block>, breakdown: &mut Breakdown) {
        array.context.shared.divides(request.work.bytes / self.plan.stripe).await;
        self.enter(array);
        self.note_use();
        let written = ByteSpan { from: request.work.address, to: request.work.end() };
        if self.plan.back {
            self.write_back(array, request, written, breakdown).await;
            if request.is_durable() {
                self.flush(array, request, breakdown).await;
            }
        } else {
            self.write_through(array, request, written, breakdown).await;
        }
        self.note_use();
    }

    /// Answers a flush. What a cache without power keeps is stable; so is what writes through it, once the disks are flushed.
    pub async fn flush(&'m self, array: &'m Array<'m>, request: &Request<Block>, breakdown: &mut Breakdown) {
        if self.plan.back && !self.plan.volatile {
            return;
        }
        self.empty(array).await;
        breakdown.blocked(self.context.id, self.now());
        array.flush_disks(request, breakdown).await;
    }

    /// Destages all that is dirty now, and waits until it is on the disks. What is written meanwhile is not waited for.
    async fn empty(&'m self, array: &'m Array<'m>) {
        let newest = self.contents.borrow().dirty.newest();
        self.wanted.set(newest);
        self.move_on(array);
        while self.contents.borrow().dirty.has_older(newest) {
            self.progress.wait().await;
        }
        let mut leaving = self.contents.borrow().leaving.clone();
        while !leaving.is_empty() {
            self.progress.wait().await;
            leaving.retain(|span| self.contents.borrow().leaving.contains(span));
        }
    }

    /// Takes a write in, a piece at a time: each waits for room.
    async fn write_back(
        &'m self,
        array: &'m Array<'m>,
        request: &Request<Block>,
        written: ByteSpan,
        breakdown: &mut Breakdown,
    ) {
        let front = array.front();
        let mut left = written;
        while left.from < left.to {
            array.context.shared.breathe((left.from - written.from) / self.plan.stripe).await;
            let piece = left.first(self.piece(front), self.plan.stripe);
            self.take(piece.bytes()).await;
            breakdown.blocked(self.context.id, self.now());
            front.exchange(piece.bytes(), request, breakdown).await;
            front.mirror(piece.bytes(), request, breakdown).await;
            self.hold(piece);
            self.move_on(array);
            self.memory().move_others(self);
            left.from = piece.to;
        }
    }

    /// Marks a piece of one stripe dirty, for which space was taken.
    fn hold(&self, piece: ByteSpan) {
        let mut contents = self.contents.borrow_mut();
        let dropped = contents.lines.invalidate(piece);
        let new = contents.dirty.add(piece);
        drop(contents);
        add(&self.counts.taken_in, new);
        self.memory().put(dropped);
        self.counts.reserved.set(self.counts.reserved.get() - new);
        self.give_back(piece.bytes() - new);
        self.note_dirty();
    }

    async fn write_through(
        &'m self,
        array: &'m Array<'m>,
        request: &Request<Block>,
        written: ByteSpan,
        breakdown: &mut Breakdown,
    ) {
        let front = array.front();
        front.exchange(written.bytes(), request, breakdown).await;
        let dropped = self.contents.borrow_mut().lines.invalidate(written);
        self.memory().put(dropped);
        array.serve_by_disks(request, breakdown).await;
        if !breakdown.has_failed() && self.try_take(self.lines_of(written)) {
            self.keep(written);
        }
    }

    /// Answers a read, a piece at a time: what is not here is fetched, or is on its way.
    pub async fn read(&'m self, array: &'m Array<'m>, request: &Request<Block>, breakdown: &mut Breakdown) {
        array.context.shared.divides(request.work.bytes / self.plan.stripe).await;
        self.enter(array);
        self.note_use();
        let mut left = ByteSpan { from: request.work.address, to: request.work.end() };
        self.contents.borrow_mut().streams.note(left);
        self.move_on(array);
        let (mut fetched, mut fetches) = (left.from, 0);
        while left.from < left.to {
            array.context.shared.breathe((left.from - request.work.address) / self.plan.stripe).await;
            let piece = left.first(self.piece(array.front()), self.plan.stripe);
            if left.from >= fetched && !self.finds(piece, breakdown).await {
                fetched = self.fetch(array, request, left, fetches, breakdown).await;
                fetches += 1;
                if breakdown.has_failed() {
                    break;
                }
            } else {
                add(&self.counts.found, if left.from >= fetched { piece.bytes() } else { 0 });
            }
            add(&self.counts.read, piece.bytes());
            array.front().exchange(piece.bytes(), request, breakdown).await;
            left.from = piece.to;
        }
        self.note_use();
    }

    /// Returns true if a piece is in the cache or arrives by read-ahead; waits until it has arrived.
    async fn finds(&'m self, piece: ByteSpan, breakdown: &mut Breakdown) -> bool {
        loop {
            match self.place_of(piece) {
                DataPlace::Here => return true,
                DataPlace::Nowhere => return false,
                DataPlace::Coming => self.progress.wait().await,
            }
            breakdown.waited(self.context.id, self.now());
        }
    }

    /// Returns the location of a piece, and counts as its use if it is in the cache.
    fn place_of(&self, piece: ByteSpan) -> DataPlace {
        let mut contents = self.contents.borrow_mut();
        if contents.hold(piece) {
            contents.lines.touch(piece);
            return DataPlace::Here;
        }
        if contents.awaits(piece) { DataPlace::Coming } else { DataPlace::Nowhere }
    }

    /// Fetches what is missing from the beginning of `left` on, in whole lines, and keeps it if there is room; what another read fetches
    /// is waited for. Returns where that ends.
    async fn fetch(
        &'m self,
        array: &'m Array<'m>,
        request: &Request<Block>,
        left: ByteSpan,
        fetches: u64,
        breakdown: &mut Breakdown,
    ) -> u64 {
        let missing =
            |left: ByteSpan| self.in_lines(ByteSpan { to: self.end_of_missing(array.front(), left), ..left });
        let wanted = missing(left);
        let _fetched = self.fetched.lock(wanted.from, wanted.to).await;
        breakdown.waited(self.context.id, self.now());
        let left = ByteSpan { to: left.to.min(wanted.to), ..left };
        let piece = left.first(self.piece(array.front()), self.plan.stripe);
        if self.finds(piece, breakdown).await {
            return piece.to;
        }
        let missing = missing(left);
        let room = self.try_take(missing.bytes());
        let block = Block { op: Op::Read, address: missing.from, bytes: missing.bytes() };
        array.serve_by_disks(&request.child(fetches, block), breakdown).await;
        match (room, breakdown.has_failed()) {
            (true, false) => self.keep(missing),
            (true, true) => self.give_back(missing.bytes()),
            (false, _) => {}
        }
        missing.to.min(left.to)
    }

    /// Returns the end of the span, from the beginning of `left`, that is neither in the cache nor on its way.
    fn end_of_missing(&self, front: &ArrayFront, left: ByteSpan) -> u64 {
        let (contents, mut end) = (self.contents.borrow(), left.from);
        while end < left.to {
            let piece = ByteSpan { from: end, ..left }.first(self.piece(front), self.plan.stripe);
            if contents.hold(piece) || contents.awaits(piece) {
                break;
            }
            end = piece.to;
        }
        end
    }

    /// A span with the rest of its first and last line. Lines divide stripes, and arrays hold whole stripes.
    fn in_lines(&self, span: ByteSpan) -> ByteSpan {
        let line = self.plan.line;
        ByteSpan { from: span.from / line * line, to: span.to.next_multiple_of(line) }
    }

    /// The most of a request that is moved at once.
    fn piece(&self, front: &ArrayFront) -> u64 {
        front.piece().unwrap_or(u64::MAX).min(self.plan.at_most())
    }

    fn note_use(&self) {
        self.used.set(self.now());
        self.flushing.set(false);
    }
}
