//! Space of the pool: who takes it, who keeps it, and what a purge frees.

use headrace_units::Nanos;
use headrace_work::Breakdown;

use super::Archive;
use super::catalogue::FileNumber;
use super::purge::Purge;
use crate::archive::fact::Fact;
use crate::core::meter::add;

/// After a purge that found too few files, another is tried when a file has reached the tape, when one that was in use is in use no
/// longer while someone waits for space, or after this time.
const PURGE_AGAIN: Nanos = Nanos(60_000_000_000);

impl<'m> Archive<'m> {
    /// Chooses volumes and takes space for a file, after waiting until there is some. Gives the first volume.
    pub(super) async fn take_space(&'m self, file: FileNumber, bytes: u64, breakdown: &mut Breakdown) -> u32 {
        let (pool, volume) = (self.pool.1, self.pool.1.allocate(bytes));
        self.wanting.borrow_mut().push_back(file);
        self.purge_if_full();
        if self.counts.filled.get().is_none() && !pool.has_room(bytes) {
            self.note_full();
        }
        pool.take(bytes).await;
        self.wanting.borrow_mut().pop_front();
        breakdown.blocked(self.pool_id(), self.now());
        self.tell(Fact::SpaceTaken { pool: self.pool_id(), file, bytes });
        self.files.borrow_mut()[file].volume = volume;
        volume
    }

    /// The data of a file is whole in the pool.
    pub(super) fn arrived(&self, file: FileNumber) {
        let (mut files, now) = (self.files.borrow_mut(), self.now());
        let entry = &mut files[file];
        (entry.on_disk, entry.stored, entry.used) = (true, now, now);
        self.last_used.set(now);
        self.tell(Fact::OnDisk(file));
        if let Some(order) = &mut *self.order.borrow_mut() {
            order.touch(&mut files, file, true);
        }
    }

    /// A user has read a file.
    pub(super) fn touch(&self, file: FileNumber) {
        let (mut files, now) = (self.files.borrow_mut(), self.now());
        let entry = &mut files[file];
        (entry.used, entry.accesses) = (now, entry.accesses + 1);
        self.last_used.set(now);
        if let Some(order) = &mut *self.order.borrow_mut() {
            order.touch(&mut files, file, false);
        }
    }

    pub(super) fn pin(&self, file: FileNumber) {
        self.files.borrow_mut()[file].pins += 1;
    }

    pub(super) fn unpin(&'m self, file: FileNumber) {
        self.files.borrow_mut()[file].pins -= 1;
        self.free_if_unwanted(file);
        if self.counts.exhausted.get().is_some() && !self.wanting.borrow().is_empty() {
            self.purge_now();
        }
    }

    /// The put of a file failed: nobody can have it.
    pub(super) fn is_lost(&self, file: FileNumber) {
        self.files.borrow_mut()[file].is_lost = true;
        self.discard(file);
    }

    /// Space that was taken for a file is given back, because its data did not come.
    pub(super) fn give_space(&self, file: FileNumber) {
        self.tell(Fact::SpaceGiven { pool: self.pool_id(), file });
        self.pool.1.give(self.files.borrow()[file].bytes);
    }

    /// A user deletes or replaces a file; its data goes when nobody reads it.
    pub(super) fn discard(&self, file: FileNumber) {
        self.files.borrow_mut()[file].is_unwanted = true;
        self.tell(Fact::Unwanted(file));
        self.free_if_unwanted(file);
    }

    pub(super) fn free_if_unwanted(&self, file: FileNumber) {
        let goes = {
            let entry = &self.files.borrow()[file];
            entry.is_unwanted && entry.on_disk && entry.pins == 0
        };
        if goes {
            self.tell(Fact::Freed { pool: self.pool_id(), file });
            self.leaves_pool(file);
        }
    }

    fn leaves_pool(&self, file: FileNumber) {
        let mut files = self.files.borrow_mut();
        files[file].on_disk = false;
        if let Some(order) = &mut *self.order.borrow_mut() {
            order.remove(&mut files, file);
        }
        let (bytes, is_fresh) = (files[file].bytes, files[file].tape.is_none());
        drop(files);
        if is_fresh {
            self.fresh_bytes.set(self.fresh_bytes.get() - bytes);
        }
        self.pool.1.give(bytes);
    }

    /// Purges the pool if it is full, although a purge has just found too few files.
    pub(super) fn purge_now(&'m self) {
        self.counts.exhausted.set(Some(self.now()));
        self.purge_if_full();
    }

    /// Purges the pool if its level is high, or if less is free than the first file takes that waits for space.
    pub(super) fn purge_if_full(&'m self) {
        let Some((spec, _)) = &self.plan.purge else { return };
        let (pool, now) = (self.pool.1, self.now());
        let wanted = self.wanting.borrow().front().map_or(0, |file| self.files.borrow()[*file].bytes);
        let level = |share: f64| (pool.capacity() as f64 * share) as u64;
        let is_full = pool.used() >= level(spec.high.get()) || pool.capacity() - pool.used() < wanted;
        let is_hopeless = self.counts.exhausted.get().is_some_and(|until| now < until);
        if is_full && !is_hopeless {
            let low = level(spec.low.get()).min(pool.capacity().saturating_sub(wanted) + 1);
            self.purge(low, spec.min_age);
        }
        if self.waits_for_age(spec.min_age) && !self.is_trying_again.replace(true) {
            self.context.shared.sim.spawn(self.try_again(spec.min_age));
        }
    }

    /// Takes files out of the pool until fewer than `low` bytes are in use.
    fn purge(&self, low: u64, min_age: Nanos) {
        let mut left = self.pool.1.used();
        let taken = self.candidates(min_age, |bytes| {
            left -= bytes;
            left >= low
        });
        self.count_purge(&taken, left < low);
        for file in taken {
            self.tell(Fact::Purged { pool: self.pool_id(), file });
            self.leaves_pool(file);
        }
    }

    /// Returns true if someone waits for space, a purge found too few files, and a file used recently will become old enough.
    fn waits_for_age(&self, min_age: Nanos) -> bool {
        self.counts.exhausted.get().is_some()
            && !self.wanting.borrow().is_empty()
            && self.now() <= self.last_used.get() + min_age + PURGE_AGAIN
    }

    async fn try_again(&'m self, min_age: Nanos) {
        while self.waits_for_age(min_age) {
            self.context.shared.sim.delay(PURGE_AGAIN).await;
            self.purge_if_full();
        }
        self.is_trying_again.set(false);
    }

    /// The files that a purge takes, while `goes_on` with the bytes of each.
    fn candidates(&self, min_age: Nanos, mut goes_on: impl FnMut(u64) -> bool) -> Vec<FileNumber> {
        let (files, order, mut taken) = (self.files.borrow(), self.order.borrow(), Vec::new());
        let mut take = |file| {
            taken.push(file);
            goes_on(files[file].bytes)
        };
        if let Some(order) = &*order {
            order.purge(&files, Purge { now: self.now(), min_age, take: &mut take });
        }
        taken
    }

    /// A purge that goes on where the one before took files and found too few is the same one.
    fn count_purge(&self, taken: &[FileNumber], is_done: bool) {
        let counts = &self.counts;
        counts.exhausted.set((!is_done).then_some(self.now() + PURGE_AGAIN));
        if taken.is_empty() {
            return;
        }
        let files = self.files.borrow();
        add(&counts.purges, u64::from(!counts.is_purging.replace(!is_done)));
        add(&counts.purged, taken.len() as u64);
        add(&counts.purged_bytes, taken.iter().map(|file| files[*file].bytes).sum());
        counts.first_purge.set(counts.first_purge.get().or(Some(self.now())));
    }
}
