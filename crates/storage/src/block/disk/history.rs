//! History of a drive: the commands before the current one.

use headrace_work::Op;

/// The end of a command that never came.
const NEVER: u64 = u64::MAX;

/// The commands before.
#[derive(Clone, Copy, Debug)]
pub struct History {
    before: Op,
    /// One more than the last sector of the last read, and of the last write.
    read_end: u64,
    write_end: u64,
}

impl History {
    /// No command yet.
    pub fn new() -> Self {
        Self { before: Op::Read, read_end: NEVER, write_end: NEVER }
    }

    /// Returns the operation of the previous command.
    #[inline]
    pub fn before(&self) -> Op {
        self.before
    }

    /// Returns true if a command at `first` begins at the end of the last command of its kind.
    #[inline]
    pub fn continues(&self, op: Op, first: u64) -> bool {
        first == self.end_of(op)
    }

    /// The last sector of the command before. Before the first command the arm is where the disk begins.
    pub fn last_sector(&self) -> u64 {
        match self.end_of(self.before) {
            NEVER => 0,
            end => end - 1,
        }
    }

    /// Remembers a command that ended before sector `end`.
    #[inline]
    pub fn remember(&mut self, op: Op, end: u64) {
        self.before = op;
        match op {
            Op::Read => self.read_end = end,
            Op::Write | Op::Discard | Op::Flush => self.write_end = end,
        }
    }

    #[inline]
    fn end_of(&self, op: Op) -> u64 {
        match op {
            Op::Read => self.read_end,
            Op::Write | Op::Discard | Op::Flush => self.write_end,
        }
    }
}
