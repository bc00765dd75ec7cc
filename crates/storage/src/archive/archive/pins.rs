//! Pins: files that were staged stay in their pool for a time, or until the pin is released.

use std::collections::{BTreeMap, VecDeque};

use headrace_units::Nanos;

use super::Archive;
use super::catalogue::FileNumber;
use crate::archive::fact::Fact;

/// The pins of an archive.
#[derive(Default)]
pub(super) struct Pins {
    /// When the pin of each pinned file expires.
    until: BTreeMap<FileNumber, Nanos>,
    /// In order of time; pins that were renewed or released since are passed over.
    expiries: VecDeque<(Nanos, FileNumber)>,
}

impl Pins {
    /// Pins a file, or renews its pin; `until` is not before that of any other. Returns true if the file was not pinned.
    fn add(&mut self, file: FileNumber, until: Nanos) -> bool {
        self.expiries.push_back((until, file));
        self.until.insert(file, until).is_none()
    }

    /// Returns true if the file was pinned.
    fn remove(&mut self, file: FileNumber) -> bool {
        self.until.remove(&file).is_some()
    }

    /// Removes a pin that has expired, and returns its file.
    fn expire(&mut self, now: Nanos) -> Option<FileNumber> {
        while let Some((_, file)) = self.expiries.front().copied().filter(|(until, _)| *until <= now) {
            self.expiries.pop_front();
            if self.until.get(&file).is_some_and(|until| *until <= now) {
                self.until.remove(&file);
                return Some(file);
            }
        }
        None
    }

    /// Returns true if the file is pinned, or its pin has expired since it was last looked at.
    pub fn has(&self, file: FileNumber) -> bool {
        self.until.contains_key(&file)
    }

    /// Time at which the last pin expires; zero if there is none.
    pub fn last(&self) -> Nanos {
        self.expiries.back().map_or(Nanos::ZERO, |(until, _)| *until)
    }
}

impl<'m> Archive<'m> {
    /// A file that was staged stays for the lifetime of a pin. Only the pins of one lifetime are kept in memory.
    pub(super) fn keep(&self, file: FileNumber) {
        if self.plan.pin == Nanos::ZERO || self.files.borrow()[file].is_unwanted {
            return;
        }
        self.end_pins();
        let until = self.now() + self.plan.pin;
        self.tell(Fact::Pinned { file, until });
        if self.pins.borrow_mut().add(file, until) {
            self.pin(file);
        }
    }

    /// Releases the pin of a file, if it has one.
    pub(super) fn release(&'m self, file: FileNumber) {
        if self.pins.borrow_mut().remove(file) {
            self.tell(Fact::Pinned { file, until: self.now() });
            self.unpin(file);
        }
    }

    /// Ends the pins that have expired: a purge may take their files.
    pub(super) fn end_pins(&self) {
        let (mut pins, now) = (self.pins.borrow_mut(), self.now());
        while let Some(file) = pins.expire(now) {
            self.files.borrow_mut()[file].pins -= 1;
        }
    }
}
