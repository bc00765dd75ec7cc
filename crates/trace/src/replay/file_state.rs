//! Detection of a file that changes between two reads.

use std::path::Path;
use std::time::SystemTime;

/// Length and modification time of a file; `None` if it has no metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState(Option<(u64, SystemTime)>);

impl FileState {
    pub fn of(path: &Path) -> Self {
        let state = std::fs::metadata(path).and_then(|file| Ok((file.len(), file.modified()?)));
        Self(state.ok())
    }
}
