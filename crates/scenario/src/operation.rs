//! What a request asked, whatever its work, as records and results know it.

use headrace_work::{Ask, Block, FileAct, FileOp, Op};

/// What a request asked.
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
    pub const NAMES: [&str; 8] = ["read", "write", "get", "put", "stage", "delete", "session", "recall"];

    /// Its number in the log of requests.
    pub fn code(self) -> u64 {
        match self {
            Self::Block(op) => op as u64,
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
pub struct Request {
    /// What was asked.
    pub operation: Operation,
    /// Its data: of a file operation the file is the address.
    pub data: Block,
}

impl From<&Ask<Block>> for Request {
    #[inline]
    fn from(ask: &Ask<Block>) -> Self {
        Self { operation: Operation::Block(ask.work.op), data: ask.work }
    }
}

impl From<&Ask<FileOp>> for Request {
    #[inline]
    fn from(ask: &Ask<FileOp>) -> Self {
        Self { operation: Operation::File(ask.work.act), data: ask.work.data() }
    }
}
