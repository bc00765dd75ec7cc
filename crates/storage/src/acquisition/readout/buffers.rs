//! The buffers of concentrators: what each holds, and when that leaves, as far as it is known.

use std::collections::VecDeque;

use headrace_units::Nanos;

use crate::acquisition::event_builder::SubEvent;

/// The buffers of all concentrators of a readout.
pub(super) struct Buffers {
    each: Vec<EventBuffer>,
    size: u64,
}

#[derive(Clone, Default)]
struct EventBuffer {
    held: u64,
    /// Sub-events whose end of sending is known, in that order, with their bytes.
    leaving: VecDeque<(Nanos, u64)>,
}

/// A buffer without room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// Whose it is.
    pub concentrator: usize,
    /// Time at which the first of its contents has left; `None` while that waits for a builder.
    pub until: Option<Nanos>,
}

impl Buffers {
    pub fn new(concentrators: usize, size: u64) -> Self {
        Self { each: vec![EventBuffer::default(); concentrators], size }
    }

    /// A buffer that has no room for its sub-event now.
    pub fn full(&mut self, sub_events: &[SubEvent], now: Nanos) -> Option<Full> {
        let mut each = self.each.iter_mut().zip(sub_events).enumerate();
        each.find_map(|(concentrator, (buffer, sub_event))| {
            buffer.release(now);
            let full = buffer.held + sub_event.bytes > self.size;
            full.then(|| Full { concentrator, until: buffer.leaving.front().map(|(leaves, _)| *leaves) })
        })
    }

    /// The sub-events of an event come.
    pub fn take(&mut self, sub_events: &[SubEvent]) {
        self.each.iter_mut().zip(sub_events).for_each(|(buffer, sub_event)| buffer.held += sub_event.bytes);
    }

    /// They are sent: each says when it leaves.
    pub fn sent(&mut self, sub_events: &[SubEvent]) {
        for (buffer, sub_event) in self.each.iter_mut().zip(sub_events) {
            buffer.leaving.push_back((sub_event.until, sub_event.bytes));
        }
    }
}

impl EventBuffer {
    fn release(&mut self, now: Nanos) {
        while let Some((_, bytes)) = self.leaving.front().filter(|(leaves, _)| *leaves <= now) {
            self.held -= bytes;
            self.leaving.pop_front();
        }
    }
}
