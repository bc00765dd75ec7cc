//! What a request asked, whatever its work, as records and results know it.

use headrace_work::{Block, FileAct, FileOp, Op, Request};

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Of a block device.
    Block(Op),
    /// Of an archive.
    File(FileAct),
    /// A get or stage whose file came from tape: what became of a request, beside what it asked.
    Recall,
}

impl Operation {
    /// All names, by [`Operation::code`].
    pub const NAMES: [&str; 11] =
        ["read", "write", "get", "put", "stage", "delete", "session", "recall", "discard", "flush", "cancel"];

    /// Its number in the log of requests.
    pub fn code(self) -> u64 {
        match self {
            Self::Block(Op::Discard) => 8,
            Self::Block(Op::Flush) => 9,
            Self::Block(op) => op as u64,
            Self::File(FileAct::Cancel) => 10,
            Self::File(act) => 2 + act as u64,
            Self::Recall => 7,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self.code() as usize]
    }
}

/// A request as it is recorded when it is answered.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRequest {
    /// Its operation.
    pub operation: Operation,
    /// Its data: of a file operation the file is the address.
    pub data: Block,
    /// The user that issued it, as a number; [`NOBODY`] where that is not known.
    pub user: u64,
}

/// Stands for a user that is not known.
pub const NOBODY: u64 = u64::MAX;

impl From<&Request<Block>> for RecordedRequest {
    #[inline]
    fn from(request: &Request<Block>) -> Self {
        Self { operation: Operation::Block(request.work.op), data: request.work, user: NOBODY }
    }
}

impl From<&Request<FileOp>> for RecordedRequest {
    #[inline]
    fn from(request: &Request<FileOp>) -> Self {
        let FileOp { act, user, .. } = request.work;
        Self { operation: Operation::File(act), data: request.work.data(), user }
    }
}
