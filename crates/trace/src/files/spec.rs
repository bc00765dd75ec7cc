//! A log of file operations, as written in a scenario.

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A log of file operations: the path of a CSV file relative to the scenario, plain or compressed, or that with options. Its header names
/// the columns `time_s`, `op` (`get`, `put`, `stage`, `delete` or `cancel`), `user`, `host`, `file` and `bytes`; `staged` (1 where the
/// file was read from tape), `cartridge` and `position_bytes` (where on tape it lies, for files older than the log) and `measured_s` (response
/// time on the real system) may follow. A log of sessions of cartridges, which goes
/// to a tape library, has `time_s`, `op` (`session`), `file` (the cartridge), `drive_s` (seconds of drive use), and perhaps `silo` (where
/// the cartridge lies, counted from 0). Lines are in order of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FileLogSpec {
    /// The path.
    File(String),
    /// With options.
    With(FileLogOptions),
}

/// A log of file operations, and how to replay it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileLogOptions {
    /// Path of the CSV file, relative to the scenario.
    pub file: String,
    /// Initial location of files that the log reads before it writes them. A column `staged` overrides it
    /// line by line.
    #[serde(default)]
    pub unseen: Unseen,
    /// Replay speed relative to the recording: times between operations are divided by it.
    #[serde(default = "as_recorded")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub speed: f64,
    /// When an operation is asked for.
    #[serde(default)]
    pub timing: FileTiming,
    /// Time of the log, in its `time_s`, at which the run begins: for logs of one clock that are replayed together, or beside faults. No line is
    /// earlier. Default: that of the first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins: Option<Nanos>,
    /// Replay only the first N operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u64>,
    /// Skip and count bad lines instead of refusing the file.
    #[serde(default)]
    pub skip_bad: bool,
}

/// When the operations of a log are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileTiming {
    /// Each at its time, regardless of earlier completions.
    #[default]
    Timestamps,
    /// The first of each file at its time, each later one its logged gap after the end of the previous one, so a slow system gets
    /// requests later. A gap is the time from a logged end (`time_s` plus `drive_s` or `measured_s`) to the next `time_s` of the file.
    Gaps,
}

/// Initial location of files older than the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// On tape only.
    #[default]
    Tape,
    /// In the disk pool, not yet on tape.
    Disk,
}

const fn as_recorded() -> f64 {
    1.0
}

impl FileLogSpec {
    /// The path of the file.
    pub fn file(&self) -> &str {
        match self {
            Self::File(file) => file,
            Self::With(options) => &options.file,
        }
    }

    pub(super) fn options(&self) -> FileLogOptions {
        match self {
            Self::With(options) => options.clone(),
            Self::File(file) => FileLogOptions {
                file: file.clone(),
                unseen: Unseen::default(),
                speed: as_recorded(),
                timing: FileTiming::default(),
                begins: None,
                first: None,
                skip_bad: false,
            },
        }
    }
}
