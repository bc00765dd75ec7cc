//! The disks of an array while some of them fail: who stands in for whom, and what each has missed.

use std::cell::{Cell, RefCell};

use headrace_units::Bytes;

use super::layout::{ArrayLayout, Units};
use crate::core::context::Edge;
use crate::core::health::Change;
use crate::core::ranges::Ranges;

/// The members of an array: devices, and the disks of the layout that they stand for.
pub(super) struct Members<'m> {
    layout: &'m ArrayLayout,
    /// Number of stripes.
    stripes: u64,
    /// The disks of the layout, and hot spares behind them.
    devices: &'m [Edge<'m>],
    /// Of each device, whether it was evicted and not replaced since.
    evicted: Box<[Cell<bool>]>,
    slots: Box<[MemberSlot]>,
    /// Spares that stand for no disk.
    free: RefCell<Vec<usize>>,
    /// True if rebuilds go to free units of the layout.
    distributed: bool,
    /// True if every disk is its own, works, and has missed nothing.
    whole: Cell<bool>,
    /// Stripes that are lost for good.
    lost: Cell<u64>,
}

/// One disk of the layout.
struct MemberSlot {
    /// The device that stands for it.
    device: Cell<usize>,
    /// Stripes whose unit the device does not have: it missed a write, or has not been rebuilt so far.
    missing: RefCell<Ranges>,
    /// Free unit of each row that stands in for one of its units.
    column: Cell<Option<u64>>,
    /// Missing stripes whose unit is on the distributed spare.
    spared: RefCell<Ranges>,
}

/// Content that is not gone for good: what lies on disks that are down comes back with them.
struct Content<'a, 'm>(&'a Members<'m>);

impl Units for Content<'_, '_> {
    fn device(&self, stripe: u64, disk: usize, _: u64) -> Option<usize> {
        let slot = &self.0.slots[disk];
        let gone = slot.missing.borrow().contains(stripe) && !slot.spared.borrow().contains(stripe);
        (!gone).then(|| slot.device.get())
    }
}

impl Units for Members<'_> {
    fn device(&self, stripe: u64, disk: usize, row: u64) -> Option<usize> {
        let slot = &self.slots[disk];
        let device = slot.device.get();
        if self.works(device) && !slot.missing.borrow().contains(stripe) {
            return Some(device);
        }
        let spared = slot.column.get().is_some() && slot.spared.borrow().contains(stripe);
        if spared { self.spare(disk, row) } else { None }
    }
}

impl<'m> Members<'m> {
    /// The members on `devices`, of which those behind the layout's disks are spares; each holds `each`.
    pub fn new(layout: &'m ArrayLayout, each: Bytes, devices: &'m [Edge<'m>], distributed: bool) -> Self {
        let disks = layout.disks() as usize;
        let slot = |device| MemberSlot {
            device: Cell::new(device),
            missing: RefCell::default(),
            column: Cell::new(None),
            spared: RefCell::default(),
        };
        Self {
            layout,
            stripes: layout.stripes(each),
            devices,
            evicted: devices.iter().map(|_| Cell::new(false)).collect(),
            slots: (0..disks).map(slot).collect(),
            free: RefCell::new((disks..devices.len()).collect()),
            distributed,
            whole: Cell::new(true),
            lost: Cell::new(0),
        }
    }

    /// Returns true if every disk is its own, works, and has missed nothing.
    #[inline]
    pub fn are_whole(&self) -> bool {
        self.whole.get()
    }

    /// Stripes that are lost for good.
    pub fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Returns true if the first and the last stripe can be read: rebuilds begin with the first.
    pub fn have_all(&self) -> bool {
        [0, self.stripes.saturating_sub(1)].iter().all(|stripe| self.layout.has(*stripe, self))
    }

    /// Returns the number of disks whose data is, in whole or in part, neither on a working device nor on a spare.
    pub fn degraded(&self) -> usize {
        (0..self.slots.len()).filter(|disk| self.is_behind(*disk)).count()
    }

    fn is_behind(&self, disk: usize) -> bool {
        let slot = &self.slots[disk];
        let (missing, spared) = (slot.missing.borrow().count(), slot.spared.borrow().count());
        match (self.is_up(disk), slot.column.get()) {
            (true, _) => missing > spared,
            (false, Some(_)) => spared < self.stripes,
            (false, None) => true,
        }
    }

    fn is_up(&self, disk: usize) -> bool {
        self.works(self.slots[disk].device.get())
    }

    /// Returns true if a device is up and was not evicted.
    pub fn works(&self, device: usize) -> bool {
        self.devices[device].is_up() && !self.evicted[device].get()
    }

    /// Returns the devices that stand for the disks of the layout.
    pub fn in_use(&self) -> Vec<usize> {
        self.slots.iter().map(|slot| slot.device.get()).filter(|device| self.works(*device)).collect()
    }

    /// A device is used no more until it is replaced.
    pub fn evict(&self, device: usize) {
        self.evicted[device].set(true);
    }

    /// The device with the free unit of `row` that stands in for a unit of `disk`; `None` where it is down.
    fn spare(&self, disk: usize, row: u64) -> Option<usize> {
        let spare = self.layout.spare(row, self.slots[disk].column.get()?)?;
        let device = self.slots[spare].device.get();
        self.works(device).then_some(device)
    }

    /// Notes that a disk misses what was written to a stripe.
    pub fn miss(&self, disk: usize, stripe: u64) {
        let slot = &self.slots[disk];
        slot.missing.borrow_mut().insert(stripe, stripe + 1);
        slot.spared.borrow_mut().remove(stripe, stripe + 1);
        self.whole.set(false);
    }

    /// The disk that a device stands for.
    pub fn disk_of(&self, device: usize) -> Option<usize> {
        self.slots.iter().position(|slot| slot.device.get() == device)
    }

    /// A device fails, returns or is replaced. Returns true if more stripes than before are lost for good.
    pub fn notice(&self, device: usize, change: Change) -> bool {
        self.whole.set(false);
        if change == Change::Replaced {
            self.evicted[device].set(false);
        }
        match (change, self.disk_of(device)) {
            (Change::Replaced, Some(disk)) => {
                self.forget_spared_on(device);
                self.slots[disk].missing.borrow_mut().insert(0, self.stripes);
            }
            (Change::Fails, Some(_)) => self.forget_spared_on(device),
            (Change::Returns | Change::Replaced, None) if !self.free.borrow().contains(&device) => {
                self.free.borrow_mut().push(device);
            }
            _ => {}
        }
        (0..self.slots.len()).filter(|disk| !self.is_up(*disk)).for_each(|disk| self.stand_in(disk));
        self.count_lost()
    }

    /// Finds a spare for a disk that is down.
    fn stand_in(&self, disk: usize) {
        let slot = &self.slots[disk];
        if self.distributed && slot.column.get().is_none() {
            let used: Vec<Option<u64>> = self.slots.iter().map(|slot| slot.column.get()).collect();
            slot.column.set((0..self.layout.spares()).find(|column| !used.contains(&Some(*column))));
        }
        let mut free = self.free.borrow_mut();
        let spare = free.iter().position(|spare| self.works(*spare));
        if let (Some(at), None) = (spare, slot.column.get()) {
            slot.device.set(free.remove(at));
            slot.missing.borrow_mut().insert(0, self.stripes);
        }
    }

    /// Units that stood on the free rows of a device are no longer there.
    fn forget_spared_on(&self, device: usize) {
        for (disk, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.column.get().is_some()) {
            let column = slot.column.get().unwrap_or_default();
            slot.spared.borrow_mut().retain(|stripe| {
                let spare = self.row_of(stripe, disk).and_then(|row| self.layout.spare(row, column));
                spare.is_none_or(|spare| self.slots[spare].device.get() != device)
            });
        }
    }

    /// The row of the unit of a stripe that lies on a disk; `None` where none does.
    fn row_of(&self, stripe: u64, disk: usize) -> Option<u64> {
        let units = (0..self.layout.width()).map(|n| self.layout.at(stripe, n));
        units.filter(|(at, _)| *at == disk).map(|(_, row)| row).next()
    }

    /// Counts the stripes that are lost for good; returns true if there are more than before.
    fn count_lost(&self) -> bool {
        let gone =
            self.slots.iter().filter(|slot| slot.missing.borrow().count() > slot.spared.borrow().count());
        // What one disk has not, the others make good.
        let least = if matches!(self.layout, ArrayLayout::Striped(_)) { 1 } else { 2 };
        let lost = if gone.count() >= least { self.lost_stripes() } else { 0 };
        self.lost.replace(lost.max(self.lost.get())) < lost
    }

    fn lost_stripes(&self) -> u64 {
        let mut missing = Ranges::default();
        for slot in &self.slots {
            slot.missing.borrow().each(|from, to| missing.insert(from, to));
        }
        let mut lost = 0;
        missing.each(|mut from, to| {
            while from < to {
                let end = self.next_change(from).min(to);
                lost += self.lost_between(from, end);
                from = end;
            }
        });
        lost
    }

    /// Counts the lost stripes from `from` to before `to`, of all of which the same disks miss their units: one period of the layout
    /// stands for all.
    fn lost_between(&self, from: u64, to: u64) -> u64 {
        let period = self.layout.period();
        let first = from..to.min(from + period);
        let lost = first.filter(|stripe| !self.layout.keeps(*stripe, &Content(self)));
        lost.map(|stripe| (to - stripe).div_ceil(period)).sum()
    }

    /// The first stripe after `stripe` at which other disks miss their units, or have them on the distributed spare.
    fn next_change(&self, stripe: u64) -> u64 {
        let borders = |slot: &MemberSlot| {
            [slot.missing.borrow().next_border(stripe), slot.spared.borrow().next_border(stripe)]
        };
        self.slots.iter().flat_map(borders).flatten().min().unwrap_or(self.stripes)
    }
}

/// Operations of a rebuild on members.
impl Members<'_> {
    /// The first stripe from `from` on with a unit that can be rebuilt now, as far as is known without looking at the others.
    pub fn next_to_rebuild(&self, from: u64) -> Option<u64> {
        (0..self.slots.len()).filter_map(|disk| self.next_on(disk, from)).min()
    }

    /// The end of the stripes from `from` on of which none can be rebuilt now, as far as one period of the layout shows; `from` where
    /// some can.
    pub fn hopeless_to(&self, from: u64) -> u64 {
        let to = self.next_change(from);
        let mut first = from..to.min(from + self.layout.period());
        if first.any(|stripe| self.can_rebuild(stripe)) { from } else { to }
    }

    fn can_rebuild(&self, stripe: u64) -> bool {
        (0..self.slots.len()).filter(|disk| self.next_on(*disk, stripe) == Some(stripe)).any(|disk| {
            let Some(row) = self.row_of(stripe, disk) else { return false };
            let has_place = self.is_up(disk) || self.spare(disk, row).is_some();
            let is_copied = self.device(stripe, disk, row).is_some();
            has_place && (is_copied || self.layout.sources(stripe, disk, self).is_some())
        })
    }

    fn next_on(&self, disk: usize, from: u64) -> Option<u64> {
        let slot = &self.slots[disk];
        if self.is_up(disk) {
            return slot.missing.borrow().next(from);
        }
        slot.column.get()?;
        Some(slot.spared.borrow().next_gap(from)).filter(|stripe| *stripe < self.stripes)
    }

    /// Stripes that each disk still lacks, those that cannot be rebuilt now included: if it has a unit there, it is to be rebuilt.
    pub fn stripes_to_rebuild(&self) -> u64 {
        let of = |disk: usize| match (self.is_up(disk), self.slots[disk].column.get()) {
            (false, Some(_)) => self.stripes - self.slots[disk].spared.borrow().count(),
            _ => self.slots[disk].missing.borrow().count(),
        };
        (0..self.slots.len()).map(of).sum()
    }

    /// Returns the number of stripes.
    pub fn stripes(&self) -> u64 {
        self.stripes
    }

    /// The units of a stripe that are to be rebuilt: the disk, the row, and the device to write; a disk without a unit there is done.
    pub fn units_to_rebuild(&self, stripe: u64) -> Vec<(usize, u64, usize)> {
        let behind = (0..self.slots.len()).filter(|disk| self.next_on(*disk, stripe) == Some(stripe));
        let unit = |disk: usize| {
            let Some(row) = self.row_of(stripe, disk) else {
                // There is nothing to do: done, wherever it would have gone.
                self.rebuilt(
                    disk,
                    stripe,
                    if self.is_up(disk) { self.slots[disk].device.get() } else { usize::MAX },
                );
                return None;
            };
            let device =
                if self.is_up(disk) { Some(self.slots[disk].device.get()) } else { self.spare(disk, row) };
            Some((disk, row, device?))
        };
        behind.filter_map(unit).collect()
    }

    /// A disk's unit of a stripe is rebuilt on `device`: its own, or one with the distributed spare.
    pub fn rebuilt(&self, disk: usize, stripe: u64, device: usize) {
        let slot = &self.slots[disk];
        if device == slot.device.get() {
            slot.missing.borrow_mut().remove(stripe, stripe + 1);
            slot.spared.borrow_mut().remove(stripe, stripe + 1);
        } else {
            slot.missing.borrow_mut().insert(stripe, stripe + 1);
            slot.spared.borrow_mut().insert(stripe, stripe + 1);
        }
    }

    /// Frees the free units of the layout again once nothing is missing.
    pub fn settle(&self) {
        for (disk, slot) in self.slots.iter().enumerate() {
            if self.is_up(disk) && slot.missing.borrow().is_empty() {
                slot.column.set(None);
            }
        }
        let own = |(disk, slot): (usize, &MemberSlot)| {
            slot.device.get() == disk && self.is_up(disk) && slot.missing.borrow().is_empty()
        };
        self.whole.set(self.slots.iter().enumerate().all(own));
    }
}
