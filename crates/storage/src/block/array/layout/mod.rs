//! Layouts: which bytes lie on which disk, and what protects them. One file each.
//!
//! A layout says which disk has which unit of a stripe, and in which row of it: row `r` lies at address `r · unit`. All but
//! the declustered one put stripe `s` in row `s` of each of its disks.

mod declustered;
mod mirror;
mod parity;
mod scattered;
mod stripe;
mod units;

use headrace_units::Bytes;
use headrace_work::{Block, Op};

pub use declustered::Declustered;
pub use mirror::{Mirror, Pairing};
pub use parity::{Parity, Rotation, SmallWrites, UnitPlacement};
pub use stripe::Stripes;
pub use units::{Units, Whole};

/// Accesses to disks: which disk, and what.
pub type DiskAccesses = Vec<(usize, Block)>;

/// Disk accesses of a request: some first and, when all of those are done, the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Reads that must precede any write.
    pub first: DiskAccesses,
    /// The accesses that answer the request.
    pub then: DiskAccesses,
    /// Disks that miss what is written to a stripe.
    pub missed: Vec<(usize, u64)>,
    /// Bytes that parity, or data that is lost, is computed from.
    pub computed: u64,
}

/// Layout of data on the disks of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayLayout {
    /// Without redundancy.
    Striped(Stripes),
    /// Several copies of each unit.
    Mirrored(Mirror),
    /// Units from whose sums others are computed again.
    Parity(Parity),
}

impl ArrayLayout {
    /// Returns the number of disks.
    pub fn disks(&self) -> u64 {
        match self {
            Self::Striped(stripes) => stripes.disks,
            Self::Mirrored(mirror) => mirror.columns.disks * mirror.copies,
            Self::Parity(parity) => parity.disks(),
        }
    }

    /// The bytes that can be addressed on disks that hold `each`: whole stripes only.
    pub fn capacity(&self, each: Bytes) -> Bytes {
        match self {
            Self::Striped(stripes) => stripes.capacity(each),
            Self::Mirrored(mirror) => mirror.columns.capacity(each),
            Self::Parity(parity) => {
                Bytes(parity.stripes_on(each.0).saturating_mul(parity.unit * parity.data()))
            }
        }
    }

    /// Bytes in a stripe unit.
    pub fn unit(&self) -> u64 {
        match self {
            Self::Striped(stripes) => stripes.unit,
            Self::Mirrored(mirror) => mirror.columns.unit,
            Self::Parity(parity) => parity.unit,
        }
    }

    /// Returns the number of stripes on disks of capacity `each`.
    pub fn stripes(&self, each: Bytes) -> u64 {
        match self {
            Self::Parity(parity) => parity.stripes_on(each.0),
            _ => each.0 / self.unit(),
        }
    }

    /// The first and the last stripe of a request.
    pub fn stripes_of(&self, request: Block) -> (u64, u64) {
        let data = match self {
            Self::Striped(stripes) => stripes.disks,
            Self::Mirrored(mirror) => mirror.columns.disks,
            Self::Parity(parity) => parity.data(),
        };
        let size = data * self.unit();
        (request.address / size, (request.end() - 1) / size)
    }

    /// The stripe whose unit lies in a row of a disk; none where it is free.
    pub fn stripe_of(&self, row: u64, disk: usize) -> impl Iterator<Item = u64> + use<> {
        let declustered = match self {
            Self::Parity(Parity { placement: UnitPlacement::Declustered(placement), .. }) => {
                Some(placement.stripe_of(row, disk))
            }
            _ => None,
        };
        declustered.unwrap_or(Some(row)).into_iter()
    }

    /// Returns the number of units in a stripe, redundant ones included.
    pub fn width(&self) -> u64 {
        match self {
            Self::Parity(parity) => parity.width,
            _ => self.disks(),
        }
    }

    /// The disk and the row of the `n`-th unit of a stripe.
    pub fn at(&self, stripe: u64, n: u64) -> (usize, u64) {
        match self {
            Self::Parity(parity) => parity.at(stripe, n),
            _ => (n as usize, stripe),
        }
    }

    /// Number of stripes after which units lie on the same disks again.
    pub fn period(&self) -> u64 {
        match self {
            Self::Parity(Parity { placement: UnitPlacement::Declustered(placement), .. }) => {
                placement.period()
            }
            Self::Parity(parity) => parity.disks(),
            _ => 1,
        }
    }

    /// The disk with the `n`-th free unit of a row, where the layout has a distributed spare.
    pub fn spare(&self, row: u64, n: u64) -> Option<usize> {
        match self {
            Self::Parity(Parity { placement: UnitPlacement::Declustered(placement), .. }) => {
                Some(placement.spare(row, n))
            }
            _ => None,
        }
    }

    /// Returns the number of disks that each row leaves free.
    pub fn spares(&self) -> u64 {
        match self {
            Self::Parity(Parity { placement: UnitPlacement::Declustered(placement), .. }) => {
                placement.spares()
            }
            _ => 0,
        }
    }

    /// The devices to read to know the unit of a stripe that belongs on `disk`, each with the row to read there; `None` where too
    /// few units can be used.
    pub fn sources(&self, stripe: u64, disk: usize, units: &impl Units) -> Option<Vec<(usize, u64)>> {
        match self {
            Self::Striped(_) => None,
            Self::Mirrored(mirror) => mirror.source(stripe, disk, units).map(|device| vec![(device, stripe)]),
            Self::Parity(parity) => parity.survivors(stripe, units),
        }
    }

    /// Returns true if reading one lost unit of a stripe reconstructs the others too.
    pub fn computes(&self) -> bool {
        matches!(self, Self::Parity(_))
    }

    /// Returns true if all data of a stripe can be read.
    pub fn has(&self, stripe: u64, units: &impl Units) -> bool {
        match self {
            Self::Striped(stripes) => {
                (0..stripes.disks as usize).all(|disk| units.device(stripe, disk, stripe).is_some())
            }
            Self::Mirrored(mirror) => mirror.has(stripe, units),
            Self::Parity(parity) => parity.survivors(stripe, units).is_some(),
        }
    }

    /// Returns true if all data of a stripe exists somewhere, so that it can be read once devices that are down return.
    pub fn keeps(&self, stripe: u64, units: &impl Units) -> bool {
        match self {
            Self::Mirrored(mirror) => mirror.keeps(stripe, units),
            Self::Striped(_) | Self::Parity(_) => self.has(stripe, units),
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

    /// Returns true if all data can be read with these disks `failed`.
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
pub(super) fn add(parts: &mut DiskAccesses, disk: usize, op: Op, address: u64, bytes: u64) {
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
