//! The work of archives.

use headrace_units::Nanos;

use crate::block::{Block, Op};

/// Operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileAct {
    /// Its data goes to the client.
    Get,
    /// Its data comes from the client; a file of that name is replaced.
    Put,
    /// Its data goes from tape to disk, to be there when it is asked for.
    Stage,
    /// Removes a file that is no longer wanted.
    Delete,
    /// A cartridge is used in a drive, for whatever files: the work of a tape library without its archive.
    Session,
    /// Its recall is not wanted any more, unless another user waits for the file too.
    Cancel,
}

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOp {
    /// Operation.
    pub act: FileAct,
    /// Which file: its name as a number, or a hash of it.
    pub file: u64,
    /// The bytes that it moves, at least one: of a get those that are sent, which may be a part of the file, of others the whole file.
    pub bytes: u64,
    /// User that issues the operation, numbered as `file` is.
    pub user: u64,
    /// From where, as `file`.
    pub host: u64,
    /// Use of the drive by a session; zero for other operations.
    pub drive: DriveUse,
}

/// Use of a drive by a session. The cartridge is the `file`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriveUse {
    /// For how long, once the cartridge is ready.
    pub time: Nanos,
    /// The silo where the cartridge lies, where that is known.
    pub silo: Option<u32>,
}

/// Where a file lies on tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapePlace {
    /// The cartridge: its name as a number, or a hash of it.
    pub cartridge: u64,
    /// Where the file begins, in bytes from the beginning of the tape, where that is known.
    pub position: Option<u64>,
}

impl FileOp {
    /// An operation of nobody in particular.
    pub const fn new(act: FileAct, file: u64, bytes: u64) -> Self {
        Self { act, file, bytes, user: 0, host: 0, drive: DriveUse { time: Nanos::ZERO, silo: None } }
    }
}

/// Where a file is that exists when a simulation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// In the disk pool of its archive.
    Pool,
    /// On tape, at this place or at one of the archive's choice.
    Tape(Option<TapePlace>),
}

impl FileAct {
    /// All acts, in the order in which tables show them.
    pub const ALL: [Self; 6] = [Self::Get, Self::Put, Self::Stage, Self::Delete, Self::Session, Self::Cancel];

    /// Its name in logs and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Stage => "stage",
            Self::Delete => "delete",
            Self::Session => "session",
            Self::Cancel => "cancel",
        }
    }

    /// Returns true if it moves a known number of bytes.
    pub const fn has_bytes(self) -> bool {
        !matches!(self, Self::Delete | Self::Session | Self::Cancel)
    }
}

impl FileOp {
    /// The data that it moves, as whoever counts bytes sees it: the file's number is its address. Deletions and
    /// cancellations move nothing, and what a session moves is not known.
    #[inline]
    pub fn data(&self) -> Block {
        let op = if matches!(self.act, FileAct::Put | FileAct::Delete) { Op::Write } else { Op::Read };
        let bytes = if self.act.has_bytes() { self.bytes } else { 0 };
        Block { op, address: self.file, bytes }
    }
}

/// Returns the number that stands for a name of a log, of a file, user, host or cartridge: the name itself where it is a number, otherwise
/// FNV-1a of its bytes, with bits mixed and the highest set.
pub fn number_of(name: &[u8]) -> u64 {
    if let Some(number) = digits(name)
        && number < 1 << 63
    {
        return number;
    }
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1 << 63
}

/// Returns a text of decimal digits as a whole number; `None` if it is something else, or too large.
#[inline]
pub fn digits(text: &[u8]) -> Option<u64> {
    let number = text.iter().try_fold(0u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { number.checked_mul(10)?.checked_add(u64::from(digit)) }
    });
    number.filter(|_| !text.is_empty())
}
