//! The memory of caches: an array's own, or that of a controller, which all of its arrays share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use headrace_kernel::{Pool, Sim};
use headrace_units::Nanos;

use super::ArrayCache;
use super::lines::CacheLines;
use crate::block::array::Array;
use crate::core::replacement::{AnyReplacement, ReplacementSpec};

/// Memory that caches take their room from.
pub struct Memory<'m> {
    /// Bytes that are free.
    free: Pool<'m>,
    /// Bytes that are waited for.
    wanted: Cell<u64>,
    /// True while partial stripes are destaged, until little is left of them.
    draining: Cell<bool>,
    size: u64,
    replacement: ReplacementSpec,
    /// Bytes of the smallest line, and the number of caches.
    line: Cell<u64>,
    owners: Cell<u32>,
    /// The lines of all caches, in the order in which they give way.
    order: Rc<RefCell<AnyReplacement>>,
    /// The caches that hold something, each with its array.
    caches: RefCell<Vec<(&'m ArrayCache<'m>, &'m Array<'m>)>>,
}

impl<'m> Memory<'m> {
    /// Memory of this number of bytes, all of it free.
    pub fn new(sim: &'m Sim<'m>, size: u64, replacement: ReplacementSpec) -> Self {
        Self {
            free: Pool::new(sim, size, size),
            wanted: Cell::new(0),
            draining: Cell::new(false),
            size,
            replacement,
            line: Cell::new(u64::MAX),
            owners: Cell::new(0),
            order: Rc::new(RefCell::new(replacement.of(0))),
            caches: RefCell::default(),
        }
    }

    /// Returns the lines of another of its caches, each of this number of bytes, before any cache holds one.
    pub(super) fn lines(&self, line: u64) -> CacheLines {
        let owner = self.owners.replace(self.owners.get() + 1);
        self.line.set(line.min(self.line.get()));
        *self.order.borrow_mut() = self.replacement.of((self.size / self.line.get()) as usize);
        CacheLines::of(line, owner, Rc::clone(&self.order))
    }

    /// A cache begins to use it.
    pub(super) fn enter(&self, cache: &'m ArrayCache<'m>, array: &'m Array<'m>) {
        self.caches.borrow_mut().push((cache, array));
    }

    /// Returns true if someone waits for space.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.get() > 0
    }

    /// Takes `bytes`: lines make room, and then it waits until something has gone to the disks.
    pub(super) async fn take(&'m self, bytes: u64) {
        self.evict(bytes);
        self.wanted.set(self.wanted.get() + bytes);
        if self.free.held() < bytes {
            self.move_on();
        }
        self.free.take(bytes).await;
        self.wanted.set(self.wanted.get() - bytes);
    }

    /// Takes `bytes` if they are free, or are once lines have made room.
    pub(super) fn try_take(&self, bytes: u64) -> bool {
        if self.is_wanted() {
            return false;
        }
        self.evict(bytes);
        self.free.try_take(bytes)
    }

    /// Releases space that was taken.
    pub(super) fn put(&self, bytes: u64) {
        self.free.put(bytes);
    }

    /// Bytes that are free.
    pub(super) fn free(&self) -> u64 {
        self.free.held()
    }

    /// Drops lines for those that wait.
    pub(super) fn make_room(&self) {
        if self.is_wanted() {
            self.evict(self.wanted.get());
        }
    }

    /// Drops lines, as the replacement policy chooses, until `bytes` are free.
    fn evict(&self, bytes: u64) {
        while self.free.held() < bytes {
            let Some((owner, _)) = self.order.borrow_mut().evict(None, |_| true) else { return };
            let evicted = self.cache(owner).gave_way();
            self.free.put(evicted);
        }
    }

    fn cache(&self, owner: u32) -> &'m ArrayCache<'m> {
        let caches = self.caches.borrow();
        let found = caches.iter().map(|(cache, _)| *cache).find(|cache| cache.owner() == owner);
        found.expect("a cache enters the memory before it holds lines")
    }

    /// Returns true if partial stripes are destaged: from above `high` until below `low`, in bytes.
    pub(super) fn drains(&self, high: u64, low: u64) -> bool {
        let parts: u64 = self.caches.borrow().iter().map(|(cache, _)| cache.in_parts()).sum();
        let draining = parts >= if self.draining.get() { low } else { high };
        self.draining.set(draining && parts > 0);
        self.draining.get() || self.is_stuck()
    }

    /// Returns how urgently dirty data has to go: 0 while there is at most `high` of it (bytes), 1 where it fills the memory or a request waits
    /// for space, and in proportion in between.
    pub(super) fn urgency(&self, high: u64) -> f64 {
        if self.is_wanted() {
            return 1.0;
        }
        let dirty: u64 = self.caches.borrow().iter().map(|(cache, _)| cache.dirty_bytes()).sum();
        (dirty.saturating_sub(high) as f64 / self.size.saturating_sub(high).max(1) as f64).min(1.0)
    }

    /// Returns true if someone waits for space and nothing else would free any.
    fn is_stuck(&self) -> bool {
        self.is_wanted() && !self.caches.borrow().iter().any(|(cache, _)| cache.is_making_room())
    }

    /// Makes all its caches move what they can.
    fn move_on(&self) {
        let caches = self.caches.borrow().clone();
        caches.into_iter().for_each(|(cache, array)| cache.move_on(array));
    }

    /// Makes all caches but one move what they can, because that one freed or needs space.
    pub(super) fn move_others(&self, cache: &ArrayCache<'m>) {
        if self.is_wanted() || self.draining.get() {
            let others = self.caches.borrow().clone();
            let others = others.into_iter().filter(|(other, _)| !std::ptr::eq(*other, cache));
            others.for_each(|(cache, array)| cache.move_on(array));
        }
    }

    /// Returns the space that all its caches but one use, in bytes.
    pub(super) fn used_by_others(&self, cache: &ArrayCache<'m>) -> u64 {
        let others = self.caches.borrow();
        others.iter().filter(|(other, _)| !std::ptr::eq(*other, cache)).map(|(other, _)| other.used()).sum()
    }

    /// Bytes that are not on the disks yet, times how long: in byte-ns.
    pub fn dirty_area(&self, now: Nanos) -> u128 {
        self.caches.borrow().iter().map(|(cache, _)| cache.dirty_area(now)).sum()
    }
}
