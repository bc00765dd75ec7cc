//! The work of a data acquisition: triggers, and the events that they become.

use headrace_work::{Block, Breakdown, DaqEvent};

use crate::core::work::Work;

/// A trigger: what belongs to it is read out and becomes an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger;

impl Work<'_> for Trigger {
    type Reply = DaqEvent;

    fn data(&self) -> Block {
        DaqEvent::default().data()
    }

    fn done(&self, event: &DaqEvent) -> Block {
        event.data()
    }

    fn failed(_: &Breakdown) -> DaqEvent {
        DaqEvent::default()
    }
}

impl Work<'_> for DaqEvent {
    type Reply = ();

    fn data(&self) -> Block {
        self.data()
    }

    fn failed(_: &Breakdown) {}
}
