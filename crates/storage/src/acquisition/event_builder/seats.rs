//! The buffers of builders: who has room for an event, and who is next.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Draws, Sim, WaitList};

use super::spec::Assign;

/// The event buffers of all builders, and the events that wait for one.
pub(super) struct Seats<'m> {
    assign: Assign,
    /// Free buffers of each builder; none where there is no limit.
    free: Option<RefCell<Vec<u32>>>,
    /// Builders with a free buffer, in the order in which they became free, once for each; where they are chosen by credit.
    credits: RefCell<VecDeque<u32>>,
    /// Bytes that each builder holds, and when it was chosen last.
    load: RefCell<Vec<(u64, u64)>>,
    chosen: Cell<u64>,
    /// Those who wait: for a builder, or for any.
    queue: WaitList<'m, Option<u32>, u32>,
}

impl<'m> Seats<'m> {
    pub fn new(sim: &'m Sim<'m>, assign: Assign, builders: u32, buffers: Option<u32>) -> Self {
        let by_credit = assign == Assign::Credit;
        let rounds = if by_credit { buffers.unwrap_or(1) } else { 0 };
        Self {
            assign,
            free: buffers.map(|buffers| RefCell::new(vec![buffers; builders as usize])),
            credits: RefCell::new((0..rounds).flat_map(|_| 0..builders).collect()),
            load: RefCell::new(vec![(0, 0); builders as usize]),
            chosen: Cell::new(0),
            queue: WaitList::new(sim),
        }
    }

    /// Takes a buffer for an event of `bytes`, after waiting until one is free. Gives whose it is.
    pub async fn take(&'m self, bytes: u64, draws: impl FnOnce() -> Draws) -> u32 {
        let wanted = self.wanted(draws);
        let builder = match self.free_now(wanted) {
            Some(builder) => builder,
            None => self.queue.wait(wanted).await,
        };
        let load = &mut self.load.borrow_mut()[builder as usize];
        *load = (load.0 + bytes, self.chosen.replace(self.chosen.get() + 1) + 1);
        builder
    }

    /// The builder that the event must go to; none where any will do.
    fn wanted(&self, draws: impl FnOnce() -> Draws) -> Option<u32> {
        let builders = self.load.borrow().len() as u64;
        match self.assign {
            Assign::RoundRobin => Some(((self.chosen.get() + self.queue.len() as u64) % builders) as u32),
            Assign::Random => Some(draws().below(builders) as u32),
            Assign::Credit | Assign::LeastLoad => None,
        }
    }

    /// Takes a buffer that is free now, unless others wait for it.
    fn free_now(&self, wanted: Option<u32>) -> Option<u32> {
        if self.queue.any(|other| *other == wanted) {
            return None;
        }
        let builder = match wanted {
            Some(builder) => builder,
            None if self.assign == Assign::Credit => self.credits.borrow_mut().pop_front()?,
            None => self.least_loaded()?,
        };
        self.hold(builder).then_some(builder)
    }

    fn least_loaded(&self) -> Option<u32> {
        let has_room = |builder: usize| self.free.as_ref().is_none_or(|free| free.borrow()[builder] > 0);
        let load = self.load.borrow();
        let all = load.iter().enumerate().filter(|(builder, _)| has_room(*builder));
        all.min_by_key(|(_, load)| **load).map(|(builder, _)| builder as u32)
    }

    fn hold(&self, builder: u32) -> bool {
        let Some(free) = &self.free else { return true };
        let free = &mut free.borrow_mut()[builder as usize];
        let is_free = *free > 0;
        *free -= u32::from(is_free);
        is_free
    }

    /// Releases a buffer to the first who waits for it.
    pub fn give(&self, builder: u32, bytes: u64) {
        self.load.borrow_mut()[builder as usize].0 -= bytes;
        if self.queue.offer(|wanted| wanted.is_none_or(|wanted| wanted == builder).then_some(builder)) {
            return;
        }
        if let Some(free) = &self.free {
            free.borrow_mut()[builder as usize] += 1;
        }
        if self.assign == Assign::Credit {
            self.credits.borrow_mut().push_back(builder);
        }
    }
}
