//! What goes between who asks and who answers on a path with ports: an array's controller and its disks on a loop, a server and
//! an array on a switch.

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown};

use crate::core::theory::Phase;
use crate::core::work::Work;

/// One phase of a request on its way to what serves it, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTransfer {
    /// The request.
    pub block: Block,
    /// Which part of the exchange this is.
    pub phase: Phase,
    /// Part of the phase that crosses now.
    pub part: TransferPart,
    /// The port of who asks.
    pub initiator: u32,
    /// The port of who answers.
    pub target: u32,
    /// When the whole of it has come, where its head has come already: a switch that cuts through begins with that.
    pub tail: Nanos,
}

/// Part of a phase that crosses at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferPart {
    /// All of it.
    All,
    /// The messages without data of one side: a command, the word that a disk is ready for data, a status.
    Messages(Sender),
    /// A piece of the data, of which more follow unless it is the `last`.
    Piece {
        /// True if the data ends with it.
        last: bool,
    },
}

impl Work<'_> for PathTransfer {
    /// When the whole of the phase has come; the breakdown ends with its head.
    type Reply = Nanos;

    /// The data that goes along: the request's, or none of its bytes. Messages have none.
    #[inline]
    fn data(&self) -> Block {
        let has_data = self.phase.has_data(self.block.op) && !matches!(self.part, TransferPart::Messages(_));
        let bytes = if has_data { self.block.bytes } else { 0 };
        Block { bytes, ..self.block }
    }

    fn failed(breakdown: &Breakdown) -> Nanos {
        breakdown.until()
    }
}

/// The side that sends in a tenancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The controller of an array.
    Controller,
    /// A disk.
    Disk,
}
