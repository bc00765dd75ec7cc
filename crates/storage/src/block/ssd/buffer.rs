//! The buffer of a drive: pages that hosts wrote and that are not on flash yet.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Pool, Sim};

use super::geometry::PAGE;
use crate::core::meter::{Balance, Meter};

/// The buffer in a simulation. All numbers are of pages of 4 KiB.
pub struct PageBuffer<'m> {
    /// Room for pages.
    room: Pool<'m>,
    /// Programs that wait for a die.
    ready: Pool<'m>,
    /// Pages that wait for a program, in the order in which they came.
    queue: RefCell<VecDeque<u32>>,
    /// Pages of a program.
    unit: usize,
    /// Pages of a half, where it is drained in halves.
    half: Option<usize>,
    /// Pages of the half that is being drained which are not on flash yet, and of all of it.
    draining: Cell<(usize, usize)>,
    taken_in: Cell<u64>,
    on_flash: Cell<u64>,
}

impl<'m> PageBuffer<'m> {
    /// A buffer for `pages` pages, programmed `unit` at a time.
    pub fn new(sim: &'m Sim<'m>, pages: u64, unit: u32, halves: bool) -> Self {
        let ready = Pool::new(sim, pages + 1, 0);
        Self {
            room: Pool::new(sim, pages, pages),
            ready,
            queue: RefCell::default(),
            unit: unit as usize,
            half: halves.then_some((pages / 2) as usize),
            draining: Cell::default(),
            taken_in: Cell::default(),
            on_flash: Cell::default(),
        }
    }

    /// Takes room for a page.
    pub async fn reserve(&'m self) {
        self.room.take(1).await;
    }

    /// Releases space that was not needed: the page is in the buffer already.
    pub fn give_back(&self) {
        self.room.put(1);
    }

    /// A page is here, in component that was reserved.
    pub fn push(&self, logical: u32) {
        self.taken_in.set(self.taken_in.get() + 1);
        self.queue.borrow_mut().push_back(logical);
        let waiting = self.queue.borrow().len();
        if self.half.is_some() {
            self.drain_half();
        } else if waiting.is_multiple_of(self.unit) {
            self.ready.put(1);
        }
    }

    /// Begins to drain a half that is full, unless the other one still is.
    fn drain_half(&self) {
        let Some(half) = self.half else { return };
        if self.queue.borrow().len() >= half && self.draining.get().0 == 0 {
            self.draining.set((half, half));
            self.ready.put(half.div_ceil(self.unit) as u64);
        }
    }

    /// Waits for the next program that is due, and takes its pages.
    pub async fn next(&'m self) -> Vec<u32> {
        self.ready.take(1).await;
        let mut queue = self.queue.borrow_mut();
        let many = self.unit.min(queue.len()).min(self.left_to_start());
        queue.drain(..many).collect()
    }

    /// Of a half, no more than belongs to it.
    fn left_to_start(&self) -> usize {
        let (_, waiting) = self.draining.get();
        if self.half.is_none() {
            return self.unit;
        }
        let (left, _) = self.draining.get();
        self.draining.set((left, waiting - self.unit.min(waiting)));
        waiting
    }

    /// Pages are on flash.
    pub fn done(&self, pages: usize) {
        self.on_flash.set(self.on_flash.get() + pages as u64);
        let Some(half) = self.half else { return self.room.put(pages as u64) };
        let (left, waiting) = self.draining.get();
        self.draining.set((left - pages, waiting));
        if left == pages {
            self.room.put(half as u64);
            self.drain_half();
        }
    }

    /// Returns the bytes taken in and held.
    pub fn balance(&self) -> Balance {
        let (taken_in, destaged) = (self.taken_in.get(), self.on_flash.get());
        let (size, free) = (self.room.capacity() * PAGE, self.room.held() * PAGE);
        let dirty = (taken_in - destaged) * PAGE;
        Balance { taken_in: taken_in * PAGE, destaged: destaged * PAGE, dirty, used: size - free, free, size }
    }

    /// Returns the mean fill up to `now`.
    pub fn fill(&self, now: headrace_units::Nanos) -> Meter {
        let (size, free) = (u128::from(self.room.capacity()), self.room.level().area(now));
        Meter::Fill((u128::from(now.0) - free / size) as u64, now.0)
    }
}
