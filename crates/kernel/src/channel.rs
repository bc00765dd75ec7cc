//! A channel: items handed from those who send to those who receive, with room for so many in between.

use std::cell::RefCell;
use std::collections::VecDeque;

use headrace_stats::Level;

use crate::signal::{Signal, Waits};
use crate::sim::Sim;

/// A first-in-first-out store of at most `capacity` items. Senders wait for room, receivers for an item.
pub struct Channel<'m, T> {
    sim: &'m Sim<'m>,
    capacity: usize,
    items: RefCell<VecDeque<T>>,
    stored: RefCell<Level>,
    senders: Signal<'m>,
    receivers: Signal<'m>,
}

impl<'m, T: Unpin> Channel<'m, T> {
    /// An empty channel.
    ///
    /// # Panics
    /// If `capacity` is zero: nothing could ever be sent.
    pub fn new(sim: &'m Sim<'m>, capacity: usize) -> Self {
        assert!(capacity > 0, "a channel needs room for at least one item");
        Self {
            sim,
            capacity,
            items: RefCell::default(),
            stored: RefCell::default(),
            senders: Signal::new(sim),
            receivers: Signal::new(sim),
        }
    }

    /// Stores `item`, after waiting for room.
    pub async fn send(&'m self, item: T) {
        let mut item = Some(item);
        self.senders.wait(|| self.store(&mut item)).await;
        self.receivers.notify_first();
    }

    /// Takes the oldest item, after waiting for one.
    pub async fn receive(&'m self) -> T {
        let item = self.receivers.wait(|| self.take()).await;
        self.senders.notify_first();
        item
    }

    fn store(&self, item: &mut Option<T>) -> Option<()> {
        let mut items = self.items.borrow_mut();
        if items.len() == self.capacity {
            return None;
        }
        items.extend(item.take());
        self.stored.borrow_mut().up(self.sim.now(), 1);
        Some(())
    }

    fn take(&self) -> Option<T> {
        let item = self.items.borrow_mut().pop_front()?;
        self.stored.borrow_mut().down(self.sim.now(), 1);
        Some(item)
    }

    /// How many items are stored, over time.
    pub fn stored(&self) -> Level {
        *self.stored.borrow()
    }

    /// The waits of senders for room.
    pub fn sends(&self) -> Waits {
        self.senders.waits()
    }

    /// The waits of receivers for an item.
    pub fn receives(&self) -> Waits {
        self.receivers.waits()
    }
}
