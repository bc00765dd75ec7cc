//! Declustered placement: stripes narrower than the array, so that every disk has a part in the rebuild of any other.

use std::sync::Arc;

use headrace_kernel::RngStream;

/// Stripes of `width` units over `disks` disks by permutations, with units left free in each row as a distributed spare.
///
/// Rows come in slices. In a slice each disk plays a column, by a permutation; the units of its stripes are dealt out to the columns
/// in turn, round the end to the next row, and the last columns are the spare. Permutations are drawn at random (Merchant and
/// Yu, 1996); each is used once for every rotation of it, so that over as many slices as there are disks every disk plays every column
/// once, as in ZFS's dRAID. A row has `units` consecutive units of each disk, and as many consecutive stripes lie on the same disks: one by
/// default; dRAID has rows of 16 MiB. The same `disks` and `width` give the same placement in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declustered {
    disks: u64,
    width: u64,
    spares: u64,
    /// Units of a disk in a row.
    units: u64,
    /// Permutations of the disks, one after another.
    bases: Arc<[u16]>,
}

/// Number of random permutations; then they repeat.
const BASES: u64 = 64;

/// The greatest common divisor (Euclid).
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A random permutation of this number of disks (Fisher and Yates).
fn permutation(disks: u64, number: u64) -> Vec<u16> {
    let mut draws = RngStream::named(disks, "declustered", "permutations").of(number);
    let mut order: Vec<u16> = (0..disks as u16).collect();
    for last in (1..order.len()).rev() {
        let chosen = (draws.uniform() * (last + 1) as f64) as usize;
        order.swap(last, chosen.min(last));
    }
    order
}

impl Declustered {
    /// Stripes of `width` units over `disks`, of which each row leaves `spares` free.
    ///
    /// # Panics
    /// If a stripe does not fit beside the spares.
    pub fn new(disks: u64, width: u64, spares: u64) -> Self {
        assert!(width + spares <= disks, "{width} units and {spares} spares do not fit on {disks} disks");
        let bases = (0..BASES).flat_map(|number| permutation(disks, number)).collect();
        Self { disks, width, spares, units: 1, bases }
    }

    /// Returns this placement with `units` of each disk in a row.
    pub fn in_rows_of(self, units: u64) -> Self {
        Self { units, ..self }
    }

    /// Returns the number of disks.
    pub fn disks(&self) -> u64 {
        self.disks
    }

    /// Returns the number of disks that each row leaves free.
    pub fn spares(&self) -> u64 {
        self.spares
    }

    fn columns(&self) -> u64 {
        self.disks - self.spares
    }

    /// The rows of a slice, and its stripes: as few as end together.
    fn slice(&self) -> (u64, u64) {
        let common = common_divisor(self.width, self.columns());
        (self.width / common, self.columns() / common)
    }

    /// The disk that plays a column in a slice.
    fn disk(&self, slice: u64, column: u64) -> usize {
        let base = slice / self.disks % BASES;
        let first = u64::from(self.bases[(base * self.disks + column) as usize]);
        ((first + slice) % self.disks) as usize
    }

    /// Number of stripes after which units lie on the same disks again.
    pub fn period(&self) -> u64 {
        self.slice().1 * self.disks * BASES * self.units
    }

    /// The disk of the `n`-th unit of a stripe, and the unit's number there.
    pub fn at(&self, stripe: u64, n: u64) -> (usize, u64) {
        let (disk, row) = self.in_row(stripe / self.units, n);
        (disk, row * self.units + stripe % self.units)
    }

    /// The disk and the row of the `n`-th unit of stripes that share a row.
    fn in_row(&self, stripe: u64, n: u64) -> (usize, u64) {
        let (rows, stripes) = self.slice();
        let (slice, position) = (stripe / stripes, stripe % stripes * self.width + n);
        (self.disk(slice, position % self.columns()), slice * rows + position / self.columns())
    }

    /// The stripe of a unit of a disk; `None` where that is free.
    pub fn stripe_of(&self, unit: u64, disk: usize) -> Option<u64> {
        let stripe = self.stripe_in_row(unit / self.units, disk)?;
        Some(stripe * self.units + unit % self.units)
    }

    /// The stripe, counted by rows, that a row has on a disk; `None` where that is free.
    fn stripe_in_row(&self, row: u64, disk: usize) -> Option<u64> {
        let (rows, stripes) = self.slice();
        let slice = row / rows;
        let column = (0..self.columns()).find(|column| self.disk(slice, *column) == disk)?;
        Some(slice * stripes + (row % rows * self.columns() + column) / self.width)
    }

    /// The disk on which the `n`-th of the units with this number is free.
    pub fn spare(&self, unit: u64, n: u64) -> usize {
        self.disk(unit / self.units / self.slice().0, self.columns() + n)
    }

    /// The number of stripes on this number of units of each disk: whole slices only.
    pub fn stripes(&self, units: u64) -> u64 {
        let (each, stripes) = self.slice();
        units / (each * self.units) * stripes * self.units
    }
}
