//! Order of a purge: by weight, the largest first; among equals the file unused longest, then the one that came first.

mod classes;
mod heap;

use headrace_units::Nanos;

use super::catalogue::{Entry, FileCatalogue, FileNumber};
use classes::Classes;
use headrace_expression::Expression;

/// Variables of the weight.
pub(super) const VARIABLES: [&str; 4] = ["size_mb", "hours_since_access", "hours_on_disk", "accesses"];

/// Index of the variable that grows while a file is not used.
const AGE: usize = 1;

/// Indices of the variables that a list in order of last access cannot know.
const BESIDE: [usize; 2] = [2, 3];

const NS_PER_HOUR: f64 = 3.6e12;

/// The files of a pool as a purge sees them.
pub(super) enum PurgeOrder {
    /// Lists in order of last access, for weights that can only rise with the time since then.
    Classes(Classes),
    /// All files are looked at, for any other weight.
    Heap(Expression),
}

/// Conditions of a purge on files.
pub(super) struct Purge<'p> {
    /// The disk pool.
    pub buffer: u8,
    pub now: Nanos,
    pub min_age: Nanos,
    /// Takes a file. Returns true if the purge goes on.
    pub take: &'p mut dyn FnMut(FileNumber) -> bool,
}

impl PurgeOrder {
    pub fn by(weight: &Expression) -> Self {
        let by_age = weight.rises_with(AGE) && !BESIDE.iter().any(|variable| weight.uses(*variable));
        if by_age { Self::Classes(Classes::new(weight)) } else { Self::Heap(weight.clone()) }
    }

    /// A file's data came to the pool, or it was used: it is the last used of all.
    pub fn touch(&mut self, files: &mut FileCatalogue, file: FileNumber, is_new: bool) {
        if let Self::Classes(classes) = self {
            classes.touch(files, file, is_new);
        }
    }

    /// A file's data leaves the pool.
    pub fn remove(&mut self, files: &mut FileCatalogue, file: FileNumber) {
        if let Self::Classes(classes) = self {
            classes.remove(files, file);
        }
    }

    /// Passes the files that may go to `purge`, in order, until it has enough. The caller removes the files taken afterwards.
    pub fn purge(&self, files: &FileCatalogue, purge: Purge) {
        match self {
            Self::Classes(classes) => classes.purge(files, purge),
            Self::Heap(weight) => heap::purge(weight, files, purge),
        }
    }
}

/// A file in the order of a purge: the largest goes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    weight: Weight,
    used: std::cmp::Reverse<Nanos>,
    file: std::cmp::Reverse<FileNumber>,
}

impl Candidate {
    fn new(weight: f64, entry: &Entry, file: FileNumber) -> Self {
        Self {
            weight: Weight::of(weight),
            used: std::cmp::Reverse(entry.used),
            file: std::cmp::Reverse(file),
        }
    }
}

/// A weight that is compared to 12 digits: products and powers that are equal on paper differ in the last bits.
#[derive(PartialEq)]
struct Weight(f64);

impl Weight {
    fn of(weight: f64) -> Self {
        if !weight.is_finite() {
            return Self(if weight.is_nan() { f64::NEG_INFINITY } else { weight });
        }
        let rounded = (weight.abs().to_bits() + (1 << 11)) >> 12 << 12;
        Self(libm::copysign(f64::from_bits(rounded), weight) + 0.0)
    }
}

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The values of [`VARIABLES`] for a file.
fn variables(entry: &Entry, now: Nanos) -> [f64; 4] {
    let hours = |since: Nanos| (now.0 - since.0) as f64 / NS_PER_HOUR;
    [entry.bytes as f64 / 1e6, hours(entry.used), hours(entry.stored), f64::from(entry.accesses)]
}

fn is_old_enough(entry: &Entry, purge: &Purge) -> bool {
    purge.now.0 - entry.used.0 >= purge.min_age.0
}

#[cfg(test)]
mod tests;
