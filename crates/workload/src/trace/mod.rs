//! Traces of requests: read as a stream, looked over, replayed, characterised, converted.
//!
//! A [`Reader`] gives the requests of a file one after another, however large it is. [`Replay::plan`] reads it once to
//! refuse what cannot be replayed before anything runs, and [`Replay::due`] reads it again while the run goes on.

mod fields;
mod format;
mod info;
mod lines;
mod reader;
mod replay;
mod survey;
mod write;

pub use format::{ByteColumn, CsvColumns, TimeColumn, TraceFormat};
pub use info::{Info, characterise};
pub use reader::{Reader, Traced};
pub use replay::{Due, Fit, Replay, ReplayProblem, ReplaySpec, Start, Timing};
pub use survey::{DeviceSurvey, Survey, from_the_earliest, survey};
pub use write::{Written, convert};

/// Why a trace cannot be read. Fatal for what asked for it; correct the file or its name and start again.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("cannot read the trace {path}: {cause}")]
    Unreadable {
        /// Which file.
        path: String,
        /// What the system says.
        cause: String,
    },
    /// There is no request in it.
    #[error("the trace {path} is empty: there is nothing to replay")]
    Empty {
        /// Which file.
        path: String,
    },
    /// No format reads its first lines.
    #[error(
        "{path} is in none of the formats that tell themselves by their first lines; name its format, or its columns"
    )]
    Unknown {
        /// Which file.
        path: String,
    },
    /// A line is not of the format.
    #[error("{path}, line {line}: {problem}\n  {text}")]
    Line {
        /// Which file.
        path: String,
        /// Counted from one.
        line: u64,
        /// What is wrong with it, and what would do.
        problem: String,
        /// The line.
        text: String,
    },
    /// The last line breaks off.
    #[error("{path}, line {line}: {problem}; the line has no end, the trace seems truncated\n  {text}")]
    Truncated {
        /// Which file.
        path: String,
        /// Counted from one.
        line: u64,
        /// What is wrong with it, and what would do.
        problem: String,
        /// The line.
        text: String,
    },
    /// The file is no longer what it was when the run was planned.
    #[error("the trace {path} changed while it was replayed")]
    Changed {
        /// Which file.
        path: String,
    },
    /// The file to be written cannot be.
    #[error("cannot write {path}: {cause}")]
    Unwritable {
        /// Which file.
        path: String,
        /// What the system says.
        cause: String,
    },
    /// The format to be written cannot tell what the trace holds.
    #[error("request {request}: {problem}")]
    Inexpressible {
        /// Counted from one.
        request: u64,
        /// What it cannot tell.
        problem: String,
    },
    /// Whoever waited for it gave up.
    #[error("reading the trace was interrupted")]
    Interrupted,
}
