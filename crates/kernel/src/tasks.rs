//! The slab of processes, and the ids by which wakes find them.
//!
//! A [`TaskId`] is the number of a slot in its low bits and the number of a wake in its high bits. A process counts its
//! wakes; the process that has the slot next goes on counting. So a wake that is older than the process in its slot was
//! meant for an earlier one.

use std::future::Future;
use std::pin::Pin;

/// Names a wake: the process to be polled, and which of its wakes this is. Those of a process that has ended are known
/// from those of the process that has its place now.
pub type TaskId = u64;

/// A process: a future that lives at most as long as the model `'m` it acts on.
pub type Process<'m> = Pin<Box<dyn Future<Output = ()> + 'm>>;

/// Number of low bits of an id that name the slot: 67 million processes at once. The wakes of one process may span 2³⁷.
const SLOT_BITS: u32 = 26;

/// The distance of two successive wakes of one slot.
pub(crate) const NEXT_WAKE: TaskId = 1 << SLOT_BITS;

/// No task: nobody running, or no wake.
pub(crate) const NOBODY: TaskId = TaskId::MAX;

/// A slab of processes.
#[derive(Default)]
pub(crate) struct Tasks<'m> {
    slots: Vec<TaskSlot<'m>>,
    free: Vec<u32>,
}

struct TaskSlot<'m> {
    /// `None` in a free slot and while the process is being polled.
    process: Option<Process<'m>>,
    /// The first wake of the process, and of the job where it does one after another; older ones are stale.
    first: TaskId,
    /// The next wake.
    next: TaskId,
    /// True if the task was ended while it was being polled.
    doomed: bool,
}

#[inline]
fn slot_of(task: TaskId) -> usize {
    (task & (NEXT_WAKE - 1)) as usize
}

impl TaskSlot<'_> {
    /// Returns true if the wake is meant for the process in this slot. Wakes may wrap around.
    #[inline]
    fn accepts(&self, wake: TaskId) -> bool {
        wake.wrapping_sub(self.first) as i64 >= 0
    }
}

impl<'m> Tasks<'m> {
    /// Adds a process. Gives its first wake.
    ///
    /// # Panics
    /// If there are more than 67 million processes.
    pub fn insert(&mut self, process: Process<'m>) -> TaskId {
        if let Some(free) = self.free.pop() {
            let slot = &mut self.slots[free as usize];
            slot.process = Some(process);
            return slot.first;
        }
        let first = self.slots.len() as TaskId;
        assert!(first < NEXT_WAKE - 1, "more than {} processes at once", NEXT_WAKE - 1);
        self.slots.push(TaskSlot { process: Some(process), first, next: first, doomed: false });
        first
    }

    /// Takes out a process to be polled, and its next wake. `None` if the wake is stale.
    #[inline]
    pub fn take(&mut self, wake: TaskId) -> Option<(Process<'m>, TaskId)> {
        let slot = self.slots.get_mut(slot_of(wake))?;
        if !slot.accepts(wake) {
            return None;
        }
        Some((slot.process.take()?, slot.next))
    }

    /// Puts back a process that was polled and has not ended. Gives it to be dropped if it was ended meanwhile.
    #[inline]
    pub fn put_back(&mut self, next: TaskId, process: Process<'m>) -> Option<Process<'m>> {
        let slot = &mut self.slots[slot_of(next)];
        if slot.doomed {
            self.free(next);
            return Some(process);
        }
        slot.next = next;
        // The place is empty: there is nothing to drop, which an assignment would look for.
        std::mem::forget(slot.process.replace(process));
        None
    }

    /// Frees the slot of the process being polled, for it has ended. False if it was ended from outside before.
    #[inline]
    pub fn ended(&mut self, next: TaskId) -> bool {
        let doomed = self.slots[slot_of(next)].doomed;
        self.free(next);
        !doomed
    }

    /// Ends a process before its time, and gives it to be dropped. `Some(None)` if it is being polled: it is dropped after
    /// that. `None` if the wake is stale.
    pub fn end(&mut self, wake: TaskId) -> Option<Option<Process<'m>>> {
        let slot = self.slots.get_mut(slot_of(wake)).filter(|slot| slot.accepts(wake) && !slot.doomed)?;
        let process = slot.process.take();
        slot.doomed = process.is_none();
        if !slot.doomed {
            let next = slot.next;
            self.free(next);
        }
        Some(process)
    }

    /// Makes the wakes of the process being polled stale, for it rests. Gives its next wake; `None` if it was ended
    /// meanwhile.
    #[inline]
    pub fn rest(&mut self, next: TaskId) -> Option<TaskId> {
        let slot = &mut self.slots[slot_of(next)];
        if slot.doomed {
            return None;
        }
        slot.first = next.wrapping_add(NEXT_WAKE);
        Some(slot.first)
    }

    #[inline]
    fn free(&mut self, next: TaskId) {
        let slot = &mut self.slots[slot_of(next)];
        slot.doomed = false;
        slot.next = next.wrapping_add(NEXT_WAKE);
        slot.first = slot.next;
        self.free.push(slot_of(next) as u32);
    }

    /// Takes all processes out.
    pub fn take_all(&mut self) -> Vec<Process<'m>> {
        self.free = Vec::new();
        std::mem::take(&mut self.slots).into_iter().filter_map(|slot| slot.process).collect()
    }
}
