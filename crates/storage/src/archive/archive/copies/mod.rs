//! Copies of a file on tape, and which of them is read. One policy, one file.

mod first;
mod mounted;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::catalogue::FileNumber;
use crate::archive::tape_library::{Readiness, TapePosition};

/// Which copy of a file is read, where it is in several tape pools. One in a library whose drives have all failed is read only if all are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyChoice {
    /// That of the pool that is listed first.
    #[default]
    First,
    /// One whose cartridge is in a drive; else the one in whose library the fewest requests wait for each drive; of equals the first. One
    /// whose cartridge is being written only if all are.
    Mounted,
}

/// A copy of a file: its tape pool, and where it begins.
pub(super) type TapeCopy = (u8, TapePosition);

/// The copies of files that have more than one, the first pool's first.
pub(super) type TapeCopies = BTreeMap<FileNumber, Vec<TapeCopy>>;

impl CopyChoice {
    /// Returns the copy that is read, of those whose readiness is given.
    pub(super) fn choose(self, copies: &[(TapeCopy, Readiness)]) -> TapeCopy {
        let works = copies.iter().any(|(_, readiness)| readiness.works);
        let usable = copies.iter().filter(|(_, readiness)| readiness.works == works);
        match self {
            Self::First => first::choose(usable),
            Self::Mounted => mounted::choose(usable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(pool: u8, is_mounted: bool, works: bool, waiting: f64) -> (TapeCopy, Readiness) {
        let readiness = Readiness { is_mounted, is_kept: false, works, waiting };
        ((pool, TapePosition { cartridge: 0, offset: 0 }), readiness)
    }

    #[test]
    fn a_copy_is_chosen_by_order_or_by_what_is_mounted() {
        let pool = |choice: CopyChoice, copies: &[(TapeCopy, Readiness)]| choice.choose(copies).0;
        let plain = [copy(0, false, true, 2.0), copy(1, false, true, 1.0), copy(2, true, true, 9.0)];
        assert_eq!(pool(CopyChoice::First, &plain), 0);
        assert_eq!(pool(CopyChoice::Mounted, &plain), 2);
        assert_eq!(pool(CopyChoice::Mounted, &plain[..2]), 1);
        let mut written = plain;
        written[2].1.is_kept = true;
        assert_eq!(pool(CopyChoice::Mounted, &written), 1, "recalls wait for the stream that writes it");
        let failed = [copy(0, true, false, 0.0), copy(1, false, true, 5.0)];
        assert_eq!([pool(CopyChoice::First, &failed), pool(CopyChoice::Mounted, &failed)], [1, 1]);
        assert_eq!(pool(CopyChoice::First, &failed[..1]), 0, "it waits for a drive to return");
        let equal = [copy(0, false, true, 0.0), copy(1, false, true, 0.0)];
        assert_eq!(pool(CopyChoice::Mounted, &equal), 0);
    }
}
