//! Request traces: reading, characterisation, conversion and replay.
//!
//! A [`Reader`] streams the requests of a file in constant memory. [`Replay::plan`] scans the whole trace and refuses what
//! cannot be replayed before a run starts; [`Replay::due`] reads the trace again during the run.

mod fields;
mod files;
mod format;
mod info;
mod lines;
mod reader;
mod replay;
mod sample;
mod survey;
mod write;

pub use files::{
    FileDue, FileLog, FileLogOptions, FileLogSpec, FileSurvey, FileTiming, Follows, OlderFile, Unseen,
};
pub use format::{ByteColumn, ColumnName, CsvColumns, TimeColumn, TraceFormat};
pub use info::{Info, characterise, characterise_file};
pub use reader::{Reader, Traced};
pub use replay::{Due, Fit, Replay, ReplayProblem, ReplaySpec, Start, Timing};
pub use sample::sample;
pub use survey::{DeviceSurvey, Survey, from_the_earliest, survey};
pub use write::{Conversion, convert};

use reader::shown_line;

/// Says what a trace has instead of requests.
fn of_left_out(records: u64) -> String {
    match records {
        0 => ": it is empty".to_owned(),
        records => format!(": its {records} records are neither reads nor writes, or have a size of 0"),
    }
}

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("cannot read the trace {path}: {cause}")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// The operating system's message.
        cause: String,
    },
    /// The trace has no requests.
    #[error("the trace {path} has no requests{}", of_left_out(*left_out))]
    Empty {
        /// Path of the file.
        path: String,
        /// Number of records that are neither reads nor writes, or of no bytes.
        left_out: u64,
    },
    /// The format is not detected.
    #[error(
        "cannot detect the format of {path}, which begins `{begins}`; specify its format, or its columns if it is CSV"
    )]
    Unknown {
        /// Path of the file.
        path: String,
        /// Its first line.
        begins: String,
    },
    /// The file is what `blktrace` writes.
    #[error("{path} is the binary output of blktrace; write it as text first: `blkparse -i {path}`")]
    Binary {
        /// Path of the file.
        path: String,
    },
    /// The file is an archive, or compressed in a way that is not read.
    #[error("{path} is packed as {how}; unpack it first (gzip, zstd and bzip2 are read as they are)")]
    Packed {
        /// Path of the file.
        path: String,
        /// How it is packed: `zip`.
        how: &'static str,
    },
    /// A line does not conform to the format.
    #[error("{path}, line {line}: {problem}\n  {text}")]
    Line {
        /// Path of the file.
        path: String,
        /// Line number, counted from one.
        line: u64,
        /// Cause, and how to fix it.
        problem: String,
        /// The text of the line.
        text: String,
    },
    /// A record does not conform to the format.
    #[error("{path}, record {record}: {problem}\n  {text}")]
    Record {
        /// Path of the file.
        path: String,
        /// Number of the record, counted from one.
        record: u64,
        /// Cause, and how to fix it.
        problem: String,
        /// Its bytes, in hexadecimal.
        text: String,
    },
    /// The last line is bad and has no newline.
    #[error(
        "{path}, line {line}: {problem}; the last line has no newline: the trace may be truncated\n  {text}"
    )]
    Truncated {
        /// Path of the file.
        path: String,
        /// Line number, counted from one.
        line: u64,
        /// Cause, and how to fix it.
        problem: String,
        /// The text of the line.
        text: String,
    },
    /// The file has changed since it was scanned.
    #[error("the trace {path} changed during the replay")]
    Changed {
        /// Path of the file.
        path: String,
    },
    /// The output file cannot be written.
    #[error("cannot write {path}: {cause}")]
    Unwritable {
        /// Path of the file.
        path: String,
        /// The operating system's message.
        cause: String,
    },
    /// The output format cannot represent a request.
    #[error("request {request}: {problem}")]
    Inexpressible {
        /// Number of the request, counted from one.
        request: u64,
        /// Cause.
        problem: String,
    },
    /// The caller cancelled the operation.
    #[error("reading the trace was interrupted")]
    Interrupted,
}
