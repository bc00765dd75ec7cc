//! The work of archives.

use crate::block::{Block, Op};

/// What is asked of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileAct {
    /// Its data goes to the client.
    Get,
    /// Its data comes from the client; a file of that name is replaced.
    Put,
    /// Its data goes from tape to disk, to be there when it is asked for.
    Stage,
    /// It is no longer wanted.
    Delete,
}

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOp {
    /// What is asked.
    pub act: FileAct,
    /// Which file: its name as a number, or a hash of it.
    pub file: u64,
    /// The size of the file; at least one byte.
    pub bytes: u64,
    /// Who asks, as `file`.
    pub user: u64,
    /// From where, as `file`.
    pub host: u64,
}

impl FileAct {
    /// All acts, in the order in which tables show them.
    pub const ALL: [Self; 4] = [Self::Get, Self::Put, Self::Stage, Self::Delete];

    /// Its name in logs and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Stage => "stage",
            Self::Delete => "delete",
        }
    }
}

impl FileOp {
    /// The data that it moves, as whoever counts bytes sees it: the file's number is its address, and a deletion moves nothing.
    #[inline]
    pub fn data(&self) -> Block {
        let op = if matches!(self.act, FileAct::Get | FileAct::Stage) { Op::Read } else { Op::Write };
        let bytes = if self.act == FileAct::Delete { 0 } else { self.bytes };
        Block { op, address: self.file, bytes }
    }
}
