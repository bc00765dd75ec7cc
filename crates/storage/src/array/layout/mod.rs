//! Layouts: which bytes lie on which disk, and what protects them. One file each.
//!
//! Every layout here puts stripe `s` at address `s · unit` of each of its disks, so a layout is told by which disk has which
//! unit of a stripe.

mod mirror;
mod parity;
mod stripe;

use headrace_units::Bytes;
use headrace_work::{Block, Op};

pub use mirror::{Mirror, Pairing};
pub use parity::{Parity, Rotation};
pub use stripe::Stripes;

/// Accesses to disks: which disk, and what.
pub type Parts = Vec<(usize, Block)>;

/// What a request asks of the disks: first some accesses, and when all of those are done, the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// What must be read before anything can be written.
    pub first: Parts,
    /// The accesses that answer the request.
    pub then: Parts,
}

/// How data lies on the disks of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Without redundancy.
    Striped(Stripes),
    /// Several copies of each unit.
    Mirrored(Mirror),
    /// Units from whose sums others are computed again.
    Parity(Parity),
}

impl Layout {
    /// How many disks it is laid out over.
    pub fn disks(&self) -> u64 {
        match self {
            Self::Striped(stripes) => stripes.disks,
            Self::Mirrored(mirror) => mirror.columns.disks * mirror.copies,
            Self::Parity(parity) => parity.disks,
        }
    }

    /// The bytes that can be addressed on disks that hold `each`: whole stripes only.
    pub fn capacity(&self, each: Bytes) -> Bytes {
        match self {
            Self::Striped(stripes) => stripes.capacity(each),
            Self::Mirrored(mirror) => mirror.columns.capacity(each),
            Self::Parity(parity) => Bytes((each.0 / parity.unit * parity.unit).saturating_mul(parity.data())),
        }
    }

    /// The bytes of data in a stripe.
    pub fn stripe_bytes(&self) -> u64 {
        match self {
            Self::Striped(stripes) => stripes.unit * stripes.disks,
            Self::Mirrored(mirror) => mirror.columns.unit * mirror.columns.disks,
            Self::Parity(parity) => parity.unit * parity.data(),
        }
    }

    /// Whether all data can be read while those disks have `failed`.
    pub fn survives(&self, failed: &[bool]) -> bool {
        let lost = failed.iter().filter(|failed| **failed).count() as u64;
        match self {
            Self::Striped(_) => lost == 0,
            Self::Mirrored(mirror) => mirror.survives(failed),
            Self::Parity(parity) => lost <= parity.redundant,
        }
    }
}

/// Adds an access; one that goes on where the last one to its disk ends makes that one longer.
fn add(parts: &mut Parts, disk: usize, op: Op, address: u64, bytes: u64) {
    if bytes == 0 {
        return;
    }
    match parts.iter_mut().rev().find(|(other, _)| *other == disk) {
        Some((_, before)) if before.address + before.bytes == address => before.bytes += bytes,
        _ => parts.push((disk, Block { op, address, bytes })),
    }
}

#[cfg(test)]
mod tests;
