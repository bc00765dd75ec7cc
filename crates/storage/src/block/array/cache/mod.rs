//! The cache of an array: what was written and is not on the disks yet, and lines of what is.
//!
//! A write is answered when it is here, if the cache writes back; whole stripes then go to the disks at once, parts of stripes when
//! they take too much room or nothing else happens. A read that goes on where another ended has whole stripes fetched ahead of it.
//! What moves between cache and disks is done by movers, beside what hosts wait for.

mod dirty;
mod lines;
mod memory;
mod movers;
mod serve;
mod span;
mod spec;
mod streams;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};

use headrace_kernel::{Locks, RngStream, Round};
use headrace_stats::Gauge;
use headrace_units::Nanos;

use super::Array;
use crate::core::context::NodeContext;
use crate::core::meter::{Balance, Meter, add};
use crate::core::ranges::Ranges;
use dirty::Dirty;
use lines::CacheLines;
use span::ByteSpan;
use streams::{ReadStreams, Rules};

pub use memory::Memory;
pub use spec::{ArrayCacheSpec, CachePlan, DestageSpec, WritePolicy};

/// The cache of an array in a simulation.
pub(super) struct ArrayCache<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m CachePlan,
    memory: Holds<'m>,
    /// True once the memory has listed it.
    entered: Cell<bool>,
    contents: RefCell<Contents>,
    /// Ends each time something came from the disks or went to them.
    progress: Round<'m>,
    /// The bytes that reads fetch, so that who wants the same meanwhile waits for them.
    fetched: Locks<'m>,
    /// Movers at work: those that destage, and those that read ahead.
    destaging: RefCell<Gauge>,
    fetching: Cell<u32>,
    /// Bytes that may be read ahead while others are destaged.
    allowed: Cell<u64>,
    /// True while all partial stripes are destaged.
    flushing: Cell<bool>,
    flusher: Cell<bool>,
    /// Stripes of at most this age are destaged, whole or not: a host's flush waits for them.
    wanted: Cell<u64>,
    /// Time of the last service of a host.
    used: Cell<Nanos>,
    /// The stripe that was destaged last, and how much of a run it ended.
    last: Cell<(u64, u64)>,
    keys: RngStream,
    jobs: Cell<u64>,
    counts: CacheCounts,
}

/// Whose memory a cache has.
#[expect(clippy::large_enum_variant, reason = "an array has one")]
enum Holds<'m> {
    Own(Memory<'m>),
    Shared(&'m Memory<'m>),
}

/// Contents of a cache.
struct Contents {
    dirty: Dirty,
    lines: CacheLines,
    /// On the way to the disks, and on the way from them.
    leaving: Vec<ByteSpan>,
    coming: Vec<ByteSpan>,
    streams: ReadStreams,
}

/// Counters behind the meters, in bytes except for the destages.
#[derive(Default)]
struct CacheCounts {
    read: Cell<u64>,
    found: Cell<u64>,
    /// Written, without what was written over while it was dirty.
    taken_in: Cell<u64>,
    destaged: Cell<u64>,
    destages: Cell<u64>,
    whole: Cell<u64>,
    /// Taken from what is free for something that is not here yet.
    reserved: Cell<u64>,
    dirty: RefCell<Gauge>,
    /// Data that could not be destaged for lack of a disk.
    lost: Cell<u64>,
}

impl<'m> ArrayCache<'m> {
    /// An empty cache of an array of `capacity` bytes, in memory that others have too or in its own.
    pub fn new(
        plan: &'m CachePlan,
        capacity: u64,
        context: &'m NodeContext<'m>,
        shared: Option<&'m Memory<'m>>,
    ) -> Self {
        let sim = context.shared.sim;
        let memory =
            shared.map_or_else(|| Holds::Own(Memory::new(sim, plan.size, plan.replacement)), Holds::Shared);
        let rules = Rules {
            window: plan.read_ahead,
            run: plan.run,
            stripe: plan.stripe,
            most: plan.at_most(),
            joins: plan.at_once.is_none(),
            capacity,
        };
        let contents = Contents {
            dirty: Dirty::of_stripes(plan.stripe),
            lines: memory.get().lines(plan.line),
            leaving: Vec::new(),
            coming: Vec::new(),
            streams: ReadStreams::new(rules),
        };
        Self {
            context,
            plan,
            memory,
            entered: Cell::new(false),
            contents: RefCell::new(contents),
            progress: Round::new(sim),
            fetched: Locks::new(sim, plan.stripe),
            destaging: RefCell::default(),
            fetching: Cell::new(0),
            allowed: Cell::new(0),
            flushing: Cell::new(false),
            flusher: Cell::new(false),
            wanted: Cell::default(),
            used: Cell::default(),
            last: Cell::new((u64::MAX, 0)),
            keys: context.stream("cache"),
            jobs: Cell::new(0),
            counts: CacheCounts::default(),
        }
    }

    fn now(&self) -> Nanos {
        self.context.shared.sim.now()
    }

    fn memory(&self) -> &Memory<'m> {
        self.memory.get()
    }

    /// Hosts of its array begin to use it.
    fn enter(&'m self, array: &'m Array<'m>) {
        if !self.entered.replace(true) {
            self.memory().enter(self, array);
        }
    }

    /// Takes `bytes` of the memory, once they are free.
    async fn take(&'m self, bytes: u64) {
        self.memory().take(bytes).await;
        add(&self.counts.reserved, bytes);
    }

    /// Takes `bytes` if they are free, or are once lines have made room.
    fn try_take(&self, bytes: u64) -> bool {
        let taken = bytes <= self.plan.at_most() && self.memory().try_take(bytes);
        add(&self.counts.reserved, if taken { bytes } else { 0 });
        taken
    }

    /// Its number among the caches of the memory.
    fn owner(&self) -> u32 {
        self.contents.borrow().lines.owner()
    }

    /// Notes that one of its lines gave way. Returns its bytes.
    fn gave_way(&self) -> u64 {
        self.contents.borrow_mut().lines.gave_way()
    }

    /// Dirty bytes of stripes that are dirty in part.
    fn in_parts(&self) -> u64 {
        self.contents.borrow().dirty.in_parts()
    }

    /// Returns true if data is going to its disks, or is about to.
    fn is_making_room(&self) -> bool {
        let contents = self.contents.borrow();
        !contents.leaving.is_empty() || contents.dirty.oldest_full().is_some()
    }

    /// Bytes that it takes of the memory.
    fn used(&self) -> u64 {
        let contents = self.contents.borrow();
        contents.dirty_bytes() + contents.lines.bytes() + self.counts.reserved.get()
    }

    fn dirty_area(&self, now: Nanos) -> u128 {
        self.counts.dirty.borrow().area(now)
    }

    /// Releases space that was taken for data that is in the cache already.
    fn give_back(&self, bytes: u64) {
        self.counts.reserved.set(self.counts.reserved.get() - bytes);
        self.memory().put(bytes);
    }

    /// Keeps what was read or written of a span, for which as many bytes were taken as its whole lines have.
    fn keep(&self, span: ByteSpan) {
        let mut again = 0;
        let mut contents = self.contents.borrow_mut();
        for line in contents.lines.within(span).collect::<Vec<_>>() {
            if contents.is_written(line) || !contents.lines.insert(line.from) {
                again += line.bytes();
            }
        }
        drop(contents);
        let bytes = self.lines_of(span);
        self.counts.reserved.set(self.counts.reserved.get() - bytes + again);
        self.give_back(again);
        self.memory().make_room();
    }

    /// The bytes of the whole lines of a span.
    fn lines_of(&self, span: ByteSpan) -> u64 {
        let line = self.plan.line;
        (span.to / line * line).saturating_sub(span.from.div_ceil(line) * line)
    }

    /// Bytes that are not on the disks yet.
    fn dirty_bytes(&self) -> u64 {
        self.counts.dirty.borrow().value()
    }

    /// Updates the level of dirty data.
    fn note_dirty(&self) {
        let held = self.contents.borrow().dirty_bytes();
        let mut level = self.counts.dirty.borrow_mut();
        let before = level.value();
        level.up(self.now(), held.saturating_sub(before));
        level.down(self.now(), before.saturating_sub(held));
    }

    /// Returns which bytes of those written would be lost if power failed now; `on_disks` asks the disks. What a cache with a battery has
    /// taken in is safe, as a flush says that it is.
    pub fn at_risk(&self, written: &Ranges, on_disks: &dyn Fn(&Ranges) -> Ranges) -> Ranges {
        match (self.plan.back, self.plan.volatile) {
            (false, _) => on_disks(written),
            (true, false) => Ranges::default(),
            (true, true) => {
                let mut lost = self.contents.borrow().unwritten().intersect(written);
                let mut rest = written.clone();
                lost.each(|from, to| rest.remove(from, to));
                on_disks(&rest).each(|from, to| lost.insert(from, to));
                lost
            }
        }
    }

    /// Power has failed and is back. Without a battery all is lost but what is on its way.
    pub fn lose_power(&self) {
        if !self.plan.volatile {
            return;
        }
        let mut contents = self.contents.borrow_mut();
        let (dirty, lines) = (contents.dirty.bytes(), contents.lines.clear());
        contents.dirty.clear();
        drop(contents);
        add(&self.counts.lost, dirty);
        add(&self.counts.destaged, dirty);
        self.memory().put(dirty + lines);
        self.note_dirty();
        self.progress.end();
    }

    /// See [`Component::balance`](crate::Component::balance).
    pub fn balance(&self) -> Balance {
        let (contents, counts) = (self.contents.borrow(), &self.counts);
        Balance {
            taken_in: counts.taken_in.get(),
            destaged: counts.destaged.get(),
            dirty: contents.dirty_bytes(),
            used: self.used(),
            free: self.memory().free() + self.memory().used_by_others(self),
            size: self.plan.size,
        }
    }

    /// See [`Component::meters`](crate::Component::meters).
    pub fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let counts = &self.counts;
        put("read_hit_ratio", Meter::Share(counts.found.get(), counts.read.get()));
        put("dirty_bytes", Meter::Area(self.dirty_area(now)));
        put("destages", Meter::Count(counts.destages.get()));
        let room = u128::from(self.plan.at_once.unwrap_or(self.plan.most_destaged));
        put("destages_in_flight", Meter::Share((self.destaging.borrow().area(now) / room) as u64, now.0));
        put("full_stripe_destages", Meter::Share(counts.whole.get(), counts.destages.get()));
        if counts.lost.get() > 0 {
            put("lost_bytes", Meter::Count(counts.lost.get()));
        }
    }
}

impl<'m> Holds<'m> {
    fn get(&self) -> &Memory<'m> {
        match self {
            Self::Own(memory) => memory,
            Self::Shared(memory) => memory,
        }
    }
}

impl CachePlan {
    /// The most that one piece of work takes of the cache: a quarter, in whole lines.
    fn at_most(&self) -> u64 {
        self.size / 4 / self.line * self.line
    }
}

impl Contents {
    /// Bytes that are not on the disks yet.
    fn dirty_bytes(&self) -> u64 {
        self.dirty.bytes() + self.leaving.iter().map(|span| span.bytes()).sum::<u64>()
    }

    /// The bytes that are not on the disks yet.
    fn unwritten(&self) -> Ranges {
        let mut unwritten = Ranges::default();
        let mut add = |span: ByteSpan| unwritten.insert(span.from, span.to);
        self.leaving.iter().for_each(|span| add(*span));
        self.dirty.each(add);
        unwritten
    }

    /// Returns true if all of a span of one stripe is in the cache.
    fn hold(&self, span: ByteSpan) -> bool {
        self.lines.hold(span) || self.dirty.holds(span) || self.leaving.iter().any(|going| going.holds(span))
    }

    /// Returns true if some of a span is newer in the cache than on the disks.
    fn is_written(&self, span: ByteSpan) -> bool {
        self.dirty.touches(span) || self.leaving.iter().any(|going| going.overlaps(span))
    }

    /// Returns true if some of a span is being fetched, or will be by read-ahead.
    fn awaits(&self, span: ByteSpan) -> bool {
        self.coming.iter().any(|coming| coming.overlaps(span)) || self.streams.will_fetch(span)
    }
}
