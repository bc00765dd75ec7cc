//! Transfers in classes: those of one class use the same links with the same limit, so they have the same rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_units::Nanos;
use smallvec::SmallVec;

use super::{LinkId, Moved};
use crate::tasks::TaskId;

/// Number of labels under which the use of links is counted.
pub const LABELS: usize = 8;

/// Use of a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkUsage {
    /// The time for which it was in use, in ns at its full rate, by label.
    pub busy: [u128; LABELS],
    /// Transfer-ns lost by sharing it.
    pub waited: u128,
    /// Transfer-ns at its full rate that went to transfers it limited.
    pub service: u128,
    /// Transfers that ended.
    pub ended: u64,
}

pub(super) struct FluidLink {
    /// Bytes a ns.
    pub rate: f64,
    pub usage: LinkUsage,
    /// Remainder of the time being accounted that can still be charged as use.
    pub budget: f64,
}

/// All transfers over the same links.
pub(super) struct TransferClass {
    pub links: Box<[u32]>,
    /// The most that each may have, in bytes a ns.
    pub most: f64,
    pub label: usize,
    pub running: u64,
    /// Of each transfer, in bytes a ns.
    pub rate: f64,
    /// Which of its links limits it, by its place among them; their number where its own limit does.
    pub limit: usize,
    /// Bytes that a transfer has moved that runs since the class was last idle.
    pub volume: f64,
    /// For each link, and its own limit last: how long it limited the class, and bytes moved meanwhile.
    pub limited: Box<[(f64, f64)]>,
    /// By the volume at which they end.
    pub ends: BinaryHeap<Reverse<TransferEnd>>,
}

#[derive(PartialEq)]
pub(super) struct TransferEnd {
    pub volume: f64,
    pub number: u64,
    pub slot: u32,
}

impl Eq for TransferEnd {}

impl PartialOrd for TransferEnd {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TransferEnd {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.volume.total_cmp(&other.volume).then(self.number.cmp(&other.number))
    }
}

/// A transfer that runs.
pub(super) struct Running {
    pub class: usize,
    /// The number of its end: a slot used again has another.
    pub number: u64,
    pub task: TaskId,
    /// Limits of the class of this transfer when it began.
    pub before: SmallVec<[(f64, f64); 4]>,
    pub moved: Option<Moved>,
}

impl TransferClass {
    pub fn advance(&mut self, span: f64, links: &mut [FluidLink]) {
        let (running, bytes) = (self.running as f64, self.rate * span);
        self.volume += bytes;
        let limited = &mut self.limited[self.limit];
        *limited = (limited.0 + span, limited.1 + bytes);
        for (place, &at) in self.links.iter().enumerate() {
            let link = &mut links[at as usize];
            let alone = bytes / link.rate;
            // Rounding must not have a link in use for longer than there was time.
            let busy = (running * alone).min(link.budget);
            link.budget -= busy;
            link.usage.busy[self.label] += busy as u128;
            if place == self.limit {
                link.usage.service += (running * alone) as u128;
                link.usage.waited += (running * (span - alone)).max(0.0) as u128;
            }
        }
    }

    /// Takes the slot of a transfer that is done: what is left of it would not take a ns.
    pub fn next_done(&mut self, slots: &[Option<Running>]) -> Option<u32> {
        self.drop_given_up(slots);
        let Reverse(first) = self.ends.peek()?;
        let slot = first.slot;
        if first.volume - self.volume >= self.rate {
            return None;
        }
        self.ends.pop();
        Some(slot)
    }

    fn drop_given_up(&mut self, slots: &[Option<Running>]) {
        while self.ends.peek().is_some_and(|Reverse(end)| !end.is_live(slots)) {
            self.ends.pop();
        }
    }

    /// The ns until its next transfer ends, once those given up are dropped.
    pub fn next_end(&self) -> Option<f64> {
        let Reverse(first) = self.ends.peek()?;
        Some(((first.volume - self.volume) / self.rate).max(0.0))
    }

    pub fn moved_since(&self, before: &[(f64, f64)], links: &[FluidLink]) -> Moved {
        let mut limited = Vec::new();
        for (place, (now, then)) in self.limited.iter().zip(before).enumerate() {
            let (time, bytes) = (now.0 - then.0, now.1 - then.1);
            if time > 0.0 {
                let link = self.links.get(place).map(|link| LinkId(*link));
                let rate = link.map_or(self.most, |link| links[link.0 as usize].rate);
                limited.push((link, Nanos(time as u64), Nanos((bytes / rate).min(time) as u64)));
            }
        }
        Moved { limited }
    }
}

impl TransferEnd {
    fn is_live(&self, slots: &[Option<Running>]) -> bool {
        let running = slots[self.slot as usize].as_ref();
        running.is_some_and(|running| running.number == self.number && running.moved.is_none())
    }
}
