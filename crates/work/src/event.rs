//! The work of a data acquisition.

use crate::block::{Block, Op};

/// An event: what is read out after one trigger. It is a trigger alone until a readout fills in the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaqEvent {
    /// Its number, from 0 on, in its readout.
    pub number: u64,
    /// Number of sub-events that it consists of.
    pub sub_events: u32,
    /// Bytes of all of them.
    pub bytes: u64,
    /// The builder that it goes to, by its number.
    pub builder: u32,
}

impl DaqEvent {
    /// The data that it moves, as whoever counts bytes sees it: its number is the address.
    #[inline]
    pub fn data(&self) -> Block {
        Block { op: Op::Write, address: self.number, bytes: self.bytes }
    }
}
