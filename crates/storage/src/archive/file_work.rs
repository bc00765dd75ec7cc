//! The work of an archive: operations on files, and sessions of cartridges.

use headrace_work::{Block, Breakdown, FileOp};

use crate::core::work::Work;

impl Work<'_> for FileOp {
    type Reply = ();

    fn data(&self) -> Block {
        self.data()
    }

    fn failed(_: &Breakdown) {}
}

/// A session of a cartridge in a drive, for whatever files: the work of a tape library without its archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CartridgeSession(pub FileOp);

impl Work<'_> for CartridgeSession {
    type Reply = ();

    fn data(&self) -> Block {
        self.0.data()
    }

    fn failed(_: &Breakdown) {}
}
