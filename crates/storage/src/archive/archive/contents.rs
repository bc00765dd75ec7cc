//! What is in the disk pool when a run begins, beside the files that its log reads.

use headrace_units::{Bytes, Fraction};
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Archive;

/// Files that are in the disk pool when a run begins, and on tape too. No operation of the log is on them: they leave as the purge decides, by
/// the time since the run began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolContents {
    /// Share of the pool that is in use when the run begins, files of the log included.
    pub share: Fraction,
    /// Size of each of these files.
    pub file: Bytes,
}

/// More files than this are refused.
const MOST_FILES: u64 = 10_000_000;

impl PoolContents {
    /// Returns the error of contents that a pool of this capacity does not have; `None` if it can.
    pub(super) fn problem(self, capacity: Bytes) -> Option<Invalid> {
        match self.level(capacity.0).checked_div(self.file.0) {
            None => Some(Invalid::new("file", "files of no bytes fill nothing").help("give some bytes")),
            Some(files) if files > MOST_FILES => {
                let message =
                    format!("the pool would begin with {files} files; at most {MOST_FILES} are kept");
                Some(Invalid::new("file", message).help("give a larger size"))
            }
            Some(_) => None,
        }
    }

    fn level(self, capacity: u64) -> u64 {
        (capacity as f64 * self.share.get()) as u64
    }
}

impl Archive<'_> {
    /// Puts files into the pool that recalls go to, until as much of it is in use as it begins with.
    pub(super) fn fill_pool(&self) {
        let Some(contents) = self.plan.contents else { return };
        let (names, bytes) = (self.context.stream("contents"), contents.file.0);
        let buffer = self.for_recalls();
        let room = contents.level(buffer.pool.capacity()).saturating_sub(buffer.pool.used());
        for number in 0..room / bytes {
            let name = names.key(number);
            let (file, _) = self.files.borrow_mut().create(name, bytes, self.now());
            self.begin_in_pool(buffer, file);
            self.begin_on_tape(file, name, None);
        }
    }
}
