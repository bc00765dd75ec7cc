//! A log of file operations, as written in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A log of file operations: the path of a CSV file relative to the scenario, plain or compressed, or that with options. Its header names
/// the columns `time_s`, `op` (`get`, `put`, `stage` or `delete`), `user`, `host`, `file` and `bytes`; `staged` (1 where the
/// file was read from tape) and `measured_s` (response time on the real system) may follow. Lines are in order of time.
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
    /// Replay only the first N operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u64>,
    /// Skip and count bad lines instead of refusing the file.
    #[serde(default)]
    pub skip_bad: bool,
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
                first: None,
                skip_bad: false,
            },
        }
    }
}
