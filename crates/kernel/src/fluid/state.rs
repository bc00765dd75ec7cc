//! All links, and the transfers over them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headrace_units::Nanos;
use smallvec::SmallVec;

use super::class::{FluidLink, LinkUsage, Running, TransferClass, TransferEnd};
use super::fill::{Filling, fill};
use super::{LinkId, Moved};
use crate::tasks::TaskId;

/// Which links, with what limit, under which label.
type Way = (SmallVec<[u32; 8]>, u64, usize);

#[derive(Default)]
pub(super) struct FluidState {
    links: Vec<FluidLink>,
    classes: Vec<TransferClass>,
    by_way: BTreeMap<Way, usize>,
    /// Classes with transfers, in the order of their numbers.
    active: Vec<usize>,
    slots: Vec<Option<Running>>,
    free: Vec<u32>,
    begun: u64,
    at: Nanos,
    changed: bool,
    filling: Filling,
}

impl FluidState {
    pub fn add_link(&mut self, rate: f64) -> LinkId {
        self.links.push(FluidLink { rate, usage: LinkUsage::default(), budget: 0.0 });
        LinkId(self.links.len() as u32 - 1)
    }

    /// The class of a way; a link that is named twice counts once.
    pub fn class_of(&mut self, links: &[LinkId], most: f64, label: usize) -> usize {
        let mut links: SmallVec<[u32; 8]> = links.iter().map(|link| link.0).collect();
        links.sort_unstable();
        links.dedup();
        let way = (links, most.to_bits(), label);
        if let Some(&known) = self.by_way.get(&way) {
            return known;
        }
        let links: Box<[u32]> = way.0[..].into();
        let limited = vec![(0.0, 0.0); links.len() + 1].into();
        let ends = BinaryHeap::new();
        let class =
            TransferClass { links, most, label, running: 0, rate: 0.0, limit: 0, volume: 0.0, limited, ends };
        self.classes.push(class);
        self.by_way.insert(way, self.classes.len() - 1);
        self.classes.len() - 1
    }

    /// Lets transfers move on to `now` at their rates.
    pub fn advance(&mut self, now: Nanos) {
        let span = (now.0 - self.at.0) as f64;
        self.at = now;
        if span == 0.0 {
            return;
        }
        let links = &mut self.links;
        for &at in &self.active {
            self.classes[at].links.iter().for_each(|link| links[*link as usize].budget = span);
        }
        for &at in &self.active {
            self.classes[at].advance(span, links);
        }
    }

    /// Begins a transfer. Gives its slot.
    pub fn begin(&mut self, class: usize, bytes: u64, task: TaskId) -> u32 {
        let of = &mut self.classes[class];
        if of.running == 0 {
            // Small volumes are exact ones.
            of.volume = 0.0;
            of.limited.fill((0.0, 0.0));
            of.ends.clear();
            let place = self.active.partition_point(|other| *other < class);
            self.active.insert(place, class);
        }
        of.running += 1;
        let number = self.begun;
        let running = Running { class, number, task, before: SmallVec::from_slice(&of.limited), moved: None };
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        if slot as usize == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot as usize] = Some(running);
        of.ends.push(Reverse(TransferEnd { volume: of.volume + bytes as f64, number, slot }));
        self.begun += 1;
        self.changed = true;
        slot
    }

    /// Ends the transfers that have moved all they had. Gives the tasks that wait for them.
    pub fn end_done(&mut self) -> Vec<TaskId> {
        let mut tasks = Vec::new();
        for at in 0..self.active.len() {
            let at = self.active[at];
            while let Some(slot) = self.classes[at].next_done(&self.slots) {
                tasks.push(self.end(at, slot));
            }
        }
        if !tasks.is_empty() {
            self.sort_out();
        }
        tasks
    }

    fn end(&mut self, class: usize, slot: u32) -> TaskId {
        let of = &mut self.classes[class];
        of.running -= 1;
        for link in &of.links {
            self.links[*link as usize].usage.ended += 1;
        }
        let running = self.slots[slot as usize].as_mut().expect("it is running");
        running.moved = Some(of.moved_since(&running.before, &self.links));
        running.task
    }

    /// Forgets classes without transfers.
    fn sort_out(&mut self) {
        let classes = &self.classes;
        self.active.retain(|at| classes[*at].running > 0);
        self.changed = true;
    }

    /// Takes the record of a transfer that has ended; `None` before, and if the slot is free.
    pub fn take_moved(&mut self, slot: u32) -> Option<Moved> {
        let moved = self.slots[slot as usize].as_mut()?.moved.take()?;
        self.slots[slot as usize] = None;
        self.free.push(slot);
        Some(moved)
    }

    /// Stops a transfer. Returns true if it was running.
    pub fn give_up(&mut self, slot: u32) -> bool {
        let Some(running) = self.slots[slot as usize].take() else { return false };
        self.free.push(slot);
        if running.moved.is_some() {
            return false;
        }
        self.classes[running.class].running -= 1;
        self.sort_out();
        true
    }

    /// Recomputes the rates where the transfers are others than before. Returns true if they are.
    pub fn fill_if_changed(&mut self) -> bool {
        if !std::mem::take(&mut self.changed) {
            return false;
        }
        let rates = self.links.iter().map(|link| link.rate);
        fill(&mut self.filling, rates, &mut self.classes, &self.active);
        true
    }

    /// When the next transfer ends.
    pub fn next_end(&self) -> Option<Nanos> {
        let ends = self.active.iter().filter_map(|at| self.classes[*at].next_end());
        ends.min_by(f64::total_cmp).map(|left| Nanos(self.at.0.saturating_add(libm::ceil(left) as u64)))
    }

    pub fn usage(&mut self, link: LinkId, now: Nanos) -> LinkUsage {
        self.advance(now);
        self.links[link.0 as usize].usage
    }

    pub fn transfers(&self) -> usize {
        self.active.iter().map(|at| self.classes[*at].running as usize).sum()
    }

    pub fn rates(&self) -> Vec<(Vec<LinkId>, f64, u64)> {
        let rate = |class: &TransferClass| {
            let links = class.links.iter().map(|link| LinkId(*link)).collect();
            (links, class.rate * 1e9, class.running)
        };
        self.active.iter().map(|at| rate(&self.classes[*at])).collect()
    }
}
