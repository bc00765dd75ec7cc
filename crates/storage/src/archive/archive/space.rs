//! Space of the pool: who takes it, who keeps it, and what a purge frees.

use headrace_units::Nanos;
use headrace_work::Breakdown;

use super::Archive;
use super::buffer::Buffer;
use super::catalogue::FileNumber;
use super::purge::Purge;
use crate::archive::fact::Fact;
use crate::core::meter::add;

/// After a purge that found too few files, another is tried when a file has reached the tape, when one that was in use is in use no
/// longer while someone waits for space, or after this time.
const PURGE_AGAIN: Nanos = Nanos(60_000_000_000);

impl<'m> Archive<'m> {
    /// Chooses volumes and takes space for a file that is put or recalled, after waiting until there is some. Returns its pool and its first
    /// volume.
    pub(super) async fn take_space(
        &'m self,
        file: FileNumber,
        bytes: u64,
        breakdown: &mut Breakdown,
    ) -> (&'m Buffer<'m>, u32) {
        let is_put = self.files.borrow()[file].tape.is_none();
        let buffer = if is_put { self.for_puts() } else { self.for_recalls() };
        let volume = buffer.pool.allocate(bytes);
        buffer.wanting.borrow_mut().push_back(file);
        self.purge_if_full(buffer);
        if buffer.filled.get().is_none() && !buffer.pool.has_room(bytes) {
            self.note_full(buffer);
        }
        buffer.pool.take(bytes).await;
        buffer.wanting.borrow_mut().pop_front();
        breakdown.blocked(buffer.id(), self.now());
        self.lies_in(buffer, file, volume);
        (buffer, volume)
    }

    /// The space of a file has been taken in this pool, from this volume on.
    pub(super) fn lies_in(&self, buffer: &Buffer, file: FileNumber, volume: u32) {
        let entry = &mut self.files.borrow_mut()[file];
        (entry.buffer, entry.volume) = (buffer.number, volume);
        self.tell(Fact::SpaceTaken { pool: buffer.id(), file, bytes: entry.bytes });
    }

    /// The data of a file is whole in the pool.
    pub(super) fn arrived(&self, file: FileNumber) {
        let (mut files, now) = (self.files.borrow_mut(), self.now());
        let entry = &mut files[file];
        (entry.on_disk, entry.stored, entry.used) = (true, now, now);
        self.tell(Fact::OnDisk(file));
        self.buffers[usize::from(entry.buffer)].touch(&mut files, file, true);
    }

    /// A user has read a file.
    pub(super) fn touch(&self, file: FileNumber) {
        let (mut files, now) = (self.files.borrow_mut(), self.now());
        let entry = &mut files[file];
        (entry.used, entry.accesses) = (now, entry.accesses + 1);
        self.buffers[usize::from(entry.buffer)].touch(&mut files, file, false);
    }

    pub(super) fn pin(&self, file: FileNumber) {
        self.files.borrow_mut()[file].pins += 1;
    }

    pub(super) fn unpin(&'m self, file: FileNumber) {
        self.files.borrow_mut()[file].pins -= 1;
        self.free_if_unwanted(file);
        let buffer = self.buffer_of(file);
        if buffer.lacks_space() {
            self.purge_now(buffer);
        }
    }

    /// The put of a file failed: nobody can have it.
    pub(super) fn is_lost(&'m self, file: FileNumber) {
        self.files.borrow_mut()[file].is_lost = true;
        self.discard(file);
    }

    /// Space that was taken for a file is given back, because its data did not come.
    pub(super) fn give_space(&'m self, file: FileNumber) {
        let buffer = self.buffer_of(file);
        self.tell(Fact::SpaceGiven { pool: buffer.id(), file });
        buffer.pool.give(self.files.borrow()[file].bytes);
    }

    /// A user deletes or replaces a file; its data goes when nobody reads it.
    pub(super) fn discard(&'m self, file: FileNumber) {
        self.files.borrow_mut()[file].is_unwanted = true;
        self.tell(Fact::Unwanted(file));
        self.release(file);
        self.free_if_unwanted(file);
    }

    pub(super) fn free_if_unwanted(&'m self, file: FileNumber) {
        let goes = {
            let entry = &self.files.borrow()[file];
            entry.is_unwanted && entry.on_disk && entry.pins == 0
        };
        if goes {
            self.tell(Fact::Freed { pool: self.buffer_of(file).id(), file });
            self.leaves_pool(file);
        }
    }

    fn leaves_pool(&'m self, file: FileNumber) {
        let buffer = self.buffer_of(file);
        let mut files = self.files.borrow_mut();
        files[file].on_disk = false;
        if let Some(order) = &mut *buffer.order.borrow_mut() {
            order.remove(&mut files, file);
        }
        let (bytes, is_fresh) = (files[file].bytes, files[file].tape.is_none());
        drop(files);
        if is_fresh {
            self.fresh_bytes.set(self.fresh_bytes.get() - bytes);
        }
        buffer.pool.give(bytes);
    }

    /// Purges a pool if it is full, although a purge has just found too few files.
    pub(super) fn purge_now(&'m self, buffer: &'m Buffer<'m>) {
        buffer.exhausted.set(Some(self.now()));
        self.purge_if_full(buffer);
    }

    /// Purges a pool if its level is high, or if less is free than the first file takes that waits for space.
    pub(super) fn purge_if_full(&'m self, buffer: &'m Buffer<'m>) {
        let Some((spec, _)) = buffer.purge else { return };
        let (pool, now) = (buffer.pool, self.now());
        let wanted = buffer.wanted(&self.files.borrow());
        let level = |share: f64| (pool.capacity() as f64 * share) as u64;
        let is_full = pool.used() >= level(spec.high.get()) || pool.capacity() - pool.used() < wanted;
        let is_hopeless = buffer.exhausted.get().is_some_and(|until| now < until);
        if is_full && !is_hopeless {
            let low = level(spec.low.get()).min(pool.capacity().saturating_sub(wanted) + 1);
            self.purge(buffer, low, spec.min_age);
        }
        if self.waits_for_age(buffer, spec.min_age) && !buffer.is_trying_again.replace(true) {
            self.context.shared.sim.spawn(self.try_again(buffer, spec.min_age));
        }
    }

    /// Takes files out of a pool until fewer than `low` bytes are in use.
    fn purge(&'m self, buffer: &'m Buffer<'m>, low: u64, min_age: Nanos) {
        self.end_pins();
        let mut left = buffer.pool.used();
        let taken = self.candidates(buffer, min_age, |bytes| {
            left -= bytes;
            left >= low
        });
        self.count_purge(buffer, &taken, left < low);
        for file in taken {
            self.tell(Fact::Purged { pool: buffer.id(), file });
            self.leaves_pool(file);
        }
    }

    /// Returns true if someone waits for space, a purge found too few files, and a file used recently will become old enough, or a pin will
    /// expire.
    fn waits_for_age(&self, buffer: &Buffer, min_age: Nanos) -> bool {
        let last = (buffer.last_used.get() + min_age).max(self.pins.borrow().last());
        buffer.lacks_space() && self.now() <= last + PURGE_AGAIN
    }

    async fn try_again(&'m self, buffer: &'m Buffer<'m>, min_age: Nanos) {
        while self.waits_for_age(buffer, min_age) {
            self.context.shared.sim.delay(PURGE_AGAIN).await;
            self.purge_if_full(buffer);
        }
        buffer.is_trying_again.set(false);
    }

    /// The files that a purge takes out of a pool, while `goes_on` with the bytes of each.
    fn candidates(
        &self,
        buffer: &Buffer,
        min_age: Nanos,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Vec<FileNumber> {
        let (files, order, mut taken) = (self.files.borrow(), buffer.order.borrow(), Vec::new());
        let mut take = |file| {
            taken.push(file);
            goes_on(files[file].bytes)
        };
        if let Some(order) = &*order {
            order.purge(&files, Purge { buffer: buffer.number, now: self.now(), min_age, take: &mut take });
        }
        taken
    }

    /// A purge that goes on where the one before took files and found too few is the same one.
    fn count_purge(&self, buffer: &Buffer, taken: &[FileNumber], is_done: bool) {
        let counts = &self.counts;
        buffer.exhausted.set((!is_done).then_some(self.now() + PURGE_AGAIN));
        if taken.is_empty() {
            return;
        }
        let files = self.files.borrow();
        add(&counts.purges, u64::from(!buffer.is_purging.replace(!is_done)));
        add(&counts.purged, taken.len() as u64);
        add(&counts.purged_bytes, taken.iter().map(|file| files[*file].bytes).sum());
        counts.first_purge.set(counts.first_purge.get().or(Some(self.now())));
    }
}
