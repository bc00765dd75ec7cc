//! Drives that no request has. Those that any request could have equally soon are one set: a request looks at each set, and not at each of
//! hundreds of drives.

use std::collections::{BTreeMap, BTreeSet};

use headrace_units::Nanos;

use super::drives::TapeDrive;

/// The group of a drive, what it is for, and the group of the cartridge in it.
type Alike = (usize, bool, bool, Option<usize>);

/// Which drives are unused, and which are being emptied. What `alike` looks at changes only while a drive is held, when
/// it is not among the unused.
#[derive(Default)]
pub(super) struct Vacant {
    /// Unused drives that are alike, by since when they are unused.
    unused: BTreeMap<Alike, BTreeSet<(Nanos, usize)>>,
    emptying: BTreeSet<usize>,
}

impl Vacant {
    pub fn of(drives: &[TapeDrive]) -> Self {
        let mut all = Self::default();
        drives.iter().enumerate().for_each(|(at, drive)| all.enter(at, drive));
        all
    }

    /// Enters a drive by its state, if it is unused or is being emptied.
    pub fn enter(&mut self, at: usize, drive: &TapeDrive) {
        if drive.is_put_away() {
            self.emptying.insert(at);
        } else if !drive.is_held {
            self.unused.entry(drive.alike()).or_default().insert((drive.since, at));
        }
    }

    /// Removes a drive, before its state changes.
    pub fn leave(&mut self, at: usize, drive: &TapeDrive) {
        if drive.is_put_away() {
            self.emptying.remove(&at);
        } else if let Some(alike) = self.unused.get_mut(&drive.alike()) {
            alike.remove(&(drive.since, at));
        }
    }

    /// Returns, of each set of drives that are alike, the one unused longest for which a condition holds.
    pub fn longest_unused(&self, is: impl Fn(usize) -> bool + Copy) -> impl Iterator<Item = usize> {
        self.unused.values().filter_map(move |alike| alike.iter().map(|(_, at)| *at).find(|at| is(*at)))
    }

    /// Drives whose cartridges are being put away, and that no request has.
    pub fn emptying(&self) -> impl Iterator<Item = usize> {
        self.emptying.iter().copied()
    }
}

impl TapeDrive {
    /// Returns true if its cartridge is being put away, and no request has it.
    pub fn is_put_away(&self) -> bool {
        self.is_held && self.used_for.is_none()
    }

    fn alike(&self) -> Alike {
        (self.group, self.reads, self.writes, self.cartridge.map(|_| self.home))
    }
}
