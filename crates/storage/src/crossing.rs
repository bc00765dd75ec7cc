//! What goes between an array's controller and its disks on a path with ports, such as a Fibre Channel loop.

use headrace_work::{Block, Op};

/// One phase of a request on its way to a disk, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// What the disk is asked.
    pub request: Block,
    /// Which part of the exchange this is.
    pub phase: Phase,
    /// The port of the controller.
    pub controller: u32,
    /// The port of the disk.
    pub disk: u32,
}

/// A part of the exchange between controller and disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the disk does its part: the command, and the data of a write.
    Request,
    /// After it: the data of a read, and the status.
    Answer,
}

impl Phase {
    /// Whether the data of such a request goes along.
    #[inline]
    pub fn has_data(self, op: Op) -> bool {
        matches!((self, op), (Self::Request, Op::Write) | (Self::Answer, Op::Read))
    }
}

impl Crossing {
    /// The data that goes along: the request's, or none of its bytes.
    #[inline]
    pub fn data(&self) -> Block {
        let bytes = if self.phase.has_data(self.request.op) { self.request.bytes } else { 0 };
        Block { bytes, ..self.request }
    }
}
