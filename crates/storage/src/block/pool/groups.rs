//! Placement groups: on which drives the pieces of each lie, and what of them is not there.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use headrace_kernel::subkey;

use super::placement::{Domains, Placement};
use crate::block::array::Units;
use crate::core::ranges::Ranges;

/// Where the pieces of all groups belong.
#[derive(Clone, Debug)]
pub(super) struct Homes {
    pub domains: Domains,
    pub placement: Placement,
    /// Pieces of a group.
    pub width: usize,
    pub groups: u32,
    /// Objects in each group.
    pub objects: u64,
    /// Of each drive, the number of pieces of groups that it has room for.
    pub slots: Vec<u32>,
}

/// The place of a piece: a drive, and one of its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub drive: u32,
    pub slot: u32,
}

/// A piece of a group. Each of its objects is at its holder, at its source, or nowhere.
#[derive(Default)]
struct Position {
    holder: Cell<Option<Place>>,
    /// The place that it moves from.
    source: Cell<Option<Place>>,
    /// Objects that are still at the source.
    left: RefCell<Ranges>,
    /// Objects that are nowhere: they have to be computed from other pieces.
    lost: RefCell<Ranges>,
}

/// The groups of a pool in a simulation.
pub(super) struct Groups<'m> {
    homes: &'m Homes,
    /// Of all groups, each with its pieces in order.
    positions: Vec<Position>,
    /// Of each group, the number of its pieces of which something is not at its holder.
    gaps: Vec<Cell<u32>>,
    /// Of each drive, true if it can be reached.
    up: Vec<Cell<bool>>,
    /// Of each drive, true if its pieces get other places.
    out: Vec<Cell<bool>>,
    down: Cell<u32>,
    /// Of each drive, the first of the slots that were never taken, and those that are free again.
    free: Vec<(Cell<u32>, RefCell<Vec<u32>>)>,
    /// True if a piece has to wait with its next move until it has come from the last.
    pub waits_to_move: Cell<bool>,
    /// Of the objects that a lost drive held, one in this number is to be recovered: 1, or more for a sample of a long recovery.
    pub lacking: Cell<u64>,
}

impl Homes {
    /// The places of a group of the drives that `takes` allows.
    fn of(&self, group: u32, takes: impl Fn(u32) -> bool) -> Vec<Option<u32>> {
        self.placement.choose(subkey(0, group.into()), self.width, &self.domains, takes)
    }

    /// The drives with the pieces of a group while all work.
    pub fn all_of(&self, group: u32) -> Vec<u32> {
        self.of(group, |_| true).into_iter().flatten().collect()
    }

    /// The number of groups on each drive while all work.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.slots.len()];
        for drive in (0..self.groups).flat_map(|group| self.of(group, |_| true)).flatten() {
            counts[drive as usize] += 1;
        }
        counts
    }

    /// The first drive to which more groups come than it has room for, and how many.
    pub fn overfull(&self) -> Option<(u32, u32)> {
        let counts = (0u32..).zip(self.counts());
        counts.zip(&self.slots).find(|((_, held), slots)| held > slots).map(|(drive, _)| drive)
    }
}

impl<'m> Groups<'m> {
    pub fn new(homes: &'m Homes) -> Self {
        let drives = homes.slots.len();
        let groups = Self {
            homes,
            positions: (0..homes.groups as usize * homes.width).map(|_| Position::default()).collect(),
            gaps: (0..homes.groups).map(|_| Cell::new(0)).collect(),
            up: (0..drives).map(|_| Cell::new(true)).collect(),
            out: (0..drives).map(|_| Cell::new(false)).collect(),
            down: Cell::new(0),
            free: (0..drives).map(|_| (Cell::new(0), RefCell::default())).collect(),
            waits_to_move: Cell::new(false),
            lacking: Cell::new(1),
        };
        for group in 0..homes.groups {
            for (position, drive) in groups.pieces(group).iter().zip(homes.of(group, |_| true)) {
                position.holder.set(drive.and_then(|drive| groups.take(drive)));
            }
        }
        groups
    }

    fn pieces(&self, group: u32) -> &[Position] {
        let from = group as usize * self.homes.width;
        &self.positions[from..from + self.homes.width]
    }

    fn take(&self, drive: u32) -> Option<Place> {
        let (fresh, again) = &self.free[drive as usize];
        let slot = again.borrow_mut().pop().or_else(|| {
            let has_room = fresh.get() < self.homes.slots[drive as usize];
            has_room.then(|| fresh.replace(fresh.get() + 1))
        });
        slot.map(|slot| Place { drive, slot })
    }

    /// The number of free slots of a drive.
    fn free_on(&self, drive: u32) -> u32 {
        let (fresh, again) = &self.free[drive as usize];
        self.homes.slots[drive as usize] - fresh.get() + again.borrow().len() as u32
    }

    fn give_back(&self, place: Place) {
        self.free[place.drive as usize].1.borrow_mut().push(place.slot);
    }

    pub fn is_up(&self, drive: u32) -> bool {
        self.up[drive as usize].get()
    }

    /// Returns true if all of a group is at its holders, and these work.
    pub fn is_whole(&self, group: u32) -> bool {
        self.down.get() == 0 && self.gaps[group as usize].get() == 0
    }

    /// Returns true if something of a group is not at its holder.
    pub fn has_gaps(&self, group: u32) -> bool {
        self.gaps[group as usize].get() > 0
    }

    /// The place of an object's piece; `None` where it is nowhere, or its drive is down.
    pub fn usable(&self, group: u32, position: usize, object: u64) -> Option<Place> {
        let piece = &self.pieces(group)[position];
        if self.has_gaps(group) {
            if piece.lost.borrow().contains(object) {
                return None;
            }
            if piece.left.borrow().contains(object) {
                return piece.source.get().filter(|place| self.is_up(place.drive));
            }
        }
        piece.holder.get().filter(|place| self.is_up(place.drive))
    }

    /// The pieces of an object that can be used, from position `first` on, round the end.
    pub fn all_usable(&self, group: u32, object: u64, first: usize) -> impl Iterator<Item = (usize, Place)> {
        let width = self.homes.width;
        let in_turn = (0..width).map(move |n| (first + n) % width);
        in_turn.filter_map(move |at| Some((at, self.usable(group, at, object)?)))
    }

    /// The drives to which something of a group is to come and can.
    pub fn targets(&self, group: u32) -> impl Iterator<Item = u32> {
        let misses = |piece: &Position| !piece.lost.borrow().is_empty() || !piece.left.borrow().is_empty();
        let holder = move |piece: &Position| piece.holder.get().filter(|_| misses(piece));
        let drives = self.pieces(group).iter().filter_map(holder).map(|place| place.drive);
        drives.filter(|drive| self.is_up(*drive))
    }

    /// The drives that hold the pieces of a group, or are to.
    pub fn holders(&self, group: u32) -> impl Iterator<Item = u32> {
        self.pieces(group).iter().filter_map(|piece| Some(piece.holder.get()?.drive))
    }

    /// Changes a piece, and counts whether it has gaps.
    fn change(&self, group: u32, position: usize, change: impl FnOnce(&Position)) {
        let piece = &self.pieces(group)[position];
        let has_gaps = || u32::from(!piece.lost.borrow().is_empty() || !piece.left.borrow().is_empty());
        let (before, gaps) = (has_gaps(), &self.gaps[group as usize]);
        change(piece);
        if has_gaps() == 0
            && let Some(source) = piece.source.take()
        {
            self.give_back(source);
        }
        gaps.set(gaps.get() + has_gaps() - before);
    }

    /// A piece misses what was written to an object.
    pub fn miss(&self, group: u32, position: usize, object: u64) {
        self.change(group, position, |piece| {
            piece.left.borrow_mut().remove(object, object + 1);
            piece.lost.borrow_mut().insert(object, object + 1);
        });
    }

    /// An object's piece is at its holder now.
    pub fn came(&self, group: u32, position: usize, object: u64) {
        self.change(group, position, |piece| {
            piece.left.borrow_mut().remove(object, object + 1);
            piece.lost.borrow_mut().remove(object, object + 1);
        });
    }

    /// The next object from `from` on of which a piece can come to its holder, as far as is known without looking for its other pieces.
    pub fn next_gap(&self, group: u32, from: u64) -> Option<u64> {
        let next = |piece: &Position| {
            let next = |ranges: &RefCell<Ranges>| ranges.borrow().next(from);
            let here = piece.holder.get().is_some_and(|holder| self.is_up(holder.drive));
            [&piece.lost, &piece.left].into_iter().filter(|_| here).filter_map(next).min()
        };
        self.pieces(group).iter().filter_map(next).min()
    }

    /// The pieces of an object that are to come to their holders, and the places there.
    pub fn gaps(&self, group: u32, object: u64) -> Vec<(usize, Place)> {
        let gap = |(at, piece): (usize, &Position)| {
            let missing = piece.lost.borrow().contains(object) || piece.left.borrow().contains(object);
            let holder = piece.holder.get().filter(|holder| missing && self.is_up(holder.drive))?;
            Some((at, holder))
        };
        self.pieces(group).iter().enumerate().filter_map(gap).collect()
    }

    /// Objects' pieces that are not at their holders, or whose holder is out and has no successor.
    pub fn to_recover(&self) -> u64 {
        let is_out = |place: Place| !self.is_up(place.drive) && self.out[place.drive as usize].get();
        let missing = |piece: &Position| match piece.holder.get() {
            Some(holder) if !is_out(holder) => piece.lost.borrow().count() + piece.left.borrow().count(),
            _ => self.homes.objects,
        };
        self.positions.iter().map(missing).sum()
    }

    /// Returns true if fewer than `needed` pieces of some object can be used now.
    pub fn has_unavailable(&self, needed: usize) -> bool {
        let is_short = |group: u32, object: &u64| self.all_usable(group, *object, 0).count() < needed;
        let has_short =
            |group| self.borders(group).range(..self.homes.objects).any(|object| is_short(group, object));
        self.down.get() > 0 && (0..self.homes.groups).any(has_short)
    }

    /// Returns true if a drive that holds something is down, or anything is not where it belongs.
    pub fn is_degraded(&self) -> bool {
        let is_down = |piece: &Position| piece.holder.get().is_none_or(|holder| !self.is_up(holder.drive));
        self.gaps.iter().any(|gaps| gaps.get() > 0)
            || self.down.get() > 0 && self.positions.iter().any(is_down)
    }

    /// Counts the objects that are lost for good: fewer than `needed` of their pieces are anywhere.
    pub fn lost(&self, needed: usize) -> u64 {
        (0..self.homes.groups)
            .filter(|group| self.has_gaps(*group))
            .map(|group| self.lost_of(group, needed))
            .sum()
    }

    /// The first of the objects of a group that are alike in what is missing of them, and the end of the last.
    fn borders(&self, group: u32) -> BTreeSet<u64> {
        let mut borders = BTreeSet::from([0, self.homes.objects]);
        for piece in self.pieces(group) {
            piece.lost.borrow().each(|from, to| borders.extend([from, to]));
            piece.left.borrow().each(|from, to| borders.extend([from, to]));
        }
        borders
    }

    fn lost_of(&self, group: u32, needed: usize) -> u64 {
        let (pieces, borders) = (self.pieces(group), self.borders(group));
        let is_lost = |from: &u64| {
            pieces.iter().filter(|piece| piece.lost.borrow().contains(*from)).count()
                > self.homes.width - needed
        };
        let spans = borders.iter().zip(borders.iter().skip(1));
        spans.filter(|(from, _)| is_lost(from)).map(|(from, to)| to - from).sum()
    }
}

/// Changes of drives.
impl Groups<'_> {
    /// A drive can be reached, or no longer. Returns true if that changes anything.
    pub fn set_up(&self, drive: u32, up: bool) -> bool {
        let was = self.up[drive as usize].replace(up);
        self.down.set(self.down.get() + u32::from(was && !up) - u32::from(!was && up));
        was != up
    }

    /// The pieces of a drive get other places, or may come back to it. Returns true if that changes anything.
    pub fn set_out(&self, drive: u32, out: bool) -> bool {
        self.out[drive as usize].replace(out) != out
    }

    /// A drive is empty: another one stands in its place.
    pub fn emptied(&self, drive: u32) {
        let is_there = |place: Option<Place>| place.is_some_and(|place| place.drive == drive);
        for (group, at) in
            (0..self.homes.groups).flat_map(|group| (0..self.homes.width).map(move |at| (group, at)))
        {
            let piece = &self.pieces(group)[at];
            if is_there(piece.holder.get()) {
                self.change(group, at, |piece| {
                    self.sampled(self.held(piece)).each(|from, to| piece.lost.borrow_mut().insert(from, to));
                });
            }
            if is_there(piece.source.get()) {
                self.change(group, at, |piece| {
                    piece.left.take().each(|from, to| piece.lost.borrow_mut().insert(from, to));
                });
            }
        }
    }

    /// The objects of these that are to be recovered, all or a sample.
    fn sampled(&self, held: Ranges) -> Ranges {
        let every = self.lacking.get();
        if every <= 1 {
            return held;
        }
        let mut sample = Ranges::default();
        held.each(|from, to| {
            (from.div_ceil(every)..to.div_ceil(every)).for_each(|n| sample.insert(n * every, n * every + 1));
        });
        sample
    }

    /// The objects that are at the holder of a piece.
    fn held(&self, piece: &Position) -> Ranges {
        let mut held = Ranges::default();
        held.insert(0, self.homes.objects);
        piece.left.borrow().each(|from, to| held.remove(from, to));
        piece.lost.borrow().each(|from, to| held.remove(from, to));
        held
    }

    /// Gives the pieces of a group the places that the drives which are in have for them now; those whose place is among
    /// them keep it. A piece takes the place in its own domain before others do, so that no two are in one.
    pub fn place(&self, group: u32) {
        let held: Vec<u32> = self.holders(group).collect();
        let takes = |drive: u32| {
            !self.out[drive as usize].get() && (held.contains(&drive) || self.free_on(drive) > 0)
        };
        let wanted: Vec<u32> = self.homes.of(group, takes).into_iter().flatten().collect();
        let mut others: Vec<u32> = wanted.iter().copied().filter(|drive| !held.contains(drive)).collect();
        let homes = self.homes.of(group, |_| true);
        let drive_of = |piece: &Position| piece.holder.get().map(|holder| holder.drive);
        let moves = self.pieces(group).iter().map(drive_of).enumerate();
        let moves = moves.filter(|(_, drive)| drive.is_none_or(|drive| !wanted.contains(&drive)));
        let (own, rest): (Vec<_>, Vec<_>) =
            moves.partition(|(_, from)| self.of_domain(&others, *from).is_some());
        for (at, from) in own.into_iter().chain(rest) {
            if others.is_empty() {
                return;
            }
            let own = self.of_domain(&others, from);
            let drive = others.remove(own.unwrap_or(0));
            // Another drive of its domain is no reason to move, unless the piece is there when all drives are in.
            let is_in = from.is_some_and(|from| !self.out[from as usize].get());
            if own.is_none() || !is_in || homes.contains(&Some(drive)) {
                self.change(group, at, |piece| self.move_to(piece, drive));
            }
        }
    }

    /// Returns which of these drives stands in the domain of another.
    fn of_domain(&self, drives: &[u32], of: Option<u32>) -> Option<usize> {
        let domains = &self.homes.domains;
        let domain = domains.of(of?);
        drives.iter().position(|drive| domains.of(*drive) == domain)
    }

    /// A piece gets another place.
    fn move_to(&self, piece: &Position, drive: u32) {
        let (holder, source) = (piece.holder.get(), piece.source.get());
        if source.is_some_and(|source| source.drive == drive) {
            let back = self.held(piece);
            piece.left.replace(back);
            piece.holder.set(source);
            piece.source.set(holder);
            return;
        }
        if source.is_some() && holder.is_some_and(|holder| self.is_up(holder.drive)) {
            // It would be in three places.
            return self.waits_to_move.set(true);
        }
        let Some(place) = self.take(drive) else { return };
        let held = self.held(piece);
        if source.is_some() {
            // What had come is gone with the drive that it came to.
            held.each(|from, to| piece.lost.borrow_mut().insert(from, to));
            holder.into_iter().for_each(|holder| self.give_back(holder));
        } else {
            piece.left.replace(self.sampled(held));
            piece.source.set(holder);
        }
        piece.holder.set(Some(place));
    }
}

#[cfg(test)]
impl Groups<'_> {
    /// Returns true if a drive is the holder or the source of a piece.
    pub fn is_place(&self, group: u32, position: usize, drive: u32) -> bool {
        let piece = &self.pieces(group)[position];
        [piece.holder.get(), piece.source.get()].iter().flatten().any(|place| place.drive == drive)
    }

    pub fn free_slots(&self) -> u32 {
        (0..self.free.len() as u32).map(|drive| self.free_on(drive)).sum()
    }
}

/// Where the pieces of one object are, by position, from the position `first` on: copies are read in that order.
pub(super) struct OfObject<'g, 'm> {
    pub groups: &'g Groups<'m>,
    pub group: u32,
    pub object: u64,
    pub first: usize,
}

impl OfObject<'_, '_> {
    /// The position of the layout's `disk`.
    pub fn position(&self, disk: usize) -> usize {
        (self.first + disk) % self.groups.homes.width
    }
}

impl Units for OfObject<'_, '_> {
    fn device(&self, _: u64, disk: usize, _: u64) -> Option<usize> {
        self.groups.usable(self.group, self.position(disk), self.object).map(|_| disk)
    }

    fn are_all_usable(&self) -> bool {
        self.groups.is_whole(self.group)
    }
}
