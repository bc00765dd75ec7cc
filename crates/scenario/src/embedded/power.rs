//! What a loss of power leaves: which writes that were answered are lost, and which requests are never answered.

use std::collections::{BTreeSet, VecDeque};

use headrace_storage::Ranges;
use headrace_work::{Block, NodeId, Op, Request};

/// Maximum number of writes to a target that are answered and not stable, 50 MB of them.
pub const MOST_UNSTABLE: usize = 1 << 20;

/// Number of remembered writes from which on those that are stable by now are looked for and forgotten.
const MOST_UNCHECKED: usize = 1 << 16;

/// What a loss of power left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PowerLoss {
    /// Writes that were answered, and of which data is lost: by target, in the order of their answers.
    pub lost: Vec<LostWrite>,
    /// Tickets of the requests that were in flight, and are never answered. Each sector of a write among them has its old data or the new.
    pub unanswered: Vec<u64>,
}

/// A write that was answered, and of which data is lost. Where it is, an address has what was there after the last flush or before, or any
/// write since then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWrite {
    /// The number that [`Storage::submit`](super::Storage::submit) gave it.
    pub ticket: u64,
    /// The number of its target.
    pub target: usize,
    /// What was written.
    pub block: Block,
    /// The parts of it that are lost, in the units that the device writes as a whole: their addresses and bytes.
    pub parts: Vec<(u64, u64)>,
}

impl LostWrite {
    /// Returns true if some of the write is lost, and some is there.
    pub fn is_torn(&self) -> bool {
        self.parts.iter().map(|(_, bytes)| bytes).sum::<u64>() < self.block.bytes
    }
}

/// A write that was answered.
struct Answered {
    /// Its number among those of its target.
    number: u64,
    ticket: u64,
    block: Block,
}

/// Writes to a target that were answered and that no flush has covered since, in the order of their answers.
#[derive(Default)]
struct Ledger {
    answered: u64,
    writes: VecDeque<Answered>,
    /// Number of writes at which those that are stable are looked for.
    check_at: usize,
}

impl Ledger {
    fn note(&mut self, ticket: u64, block: Block) {
        self.writes.push_back(Answered { number: self.answered, ticket, block });
        self.answered += 1;
    }

    /// A flush has ended that began when this number of writes was answered.
    fn flushed(&mut self, answered: u64) {
        while self.writes.front().is_some_and(|write| write.number < answered) {
            self.writes.pop_front();
        }
    }

    fn written(&self) -> Ranges {
        let mut written = Ranges::default();
        self.writes.iter().for_each(|write| written.insert(write.block.address, write.block.end()));
        written
    }

    /// Forgets the writes of which nothing is at risk, if there are many.
    fn check(&mut self, at_risk: impl FnOnce(&Ranges) -> Ranges) {
        if self.writes.len() < self.check_at.max(MOST_UNCHECKED) {
            return;
        }
        let at_risk = at_risk(&self.written());
        self.writes.retain(|write| at_risk.touches(write.block.address, write.block.end()));
        self.check_at = 2 * self.writes.len();
    }

    /// Takes the writes of which something is lost.
    fn lost(&mut self, target: usize, lost: &Ranges) -> impl Iterator<Item = LostWrite> {
        let writes = std::mem::take(&mut self.writes);
        writes.into_iter().filter_map(move |Answered { ticket, block, .. }| {
            let mut parts = Vec::new();
            lost.within(block.address, block.end()).each(|from, to| parts.push((from, to - from)));
            (!parts.is_empty()).then_some(LostWrite { ticket, target, block, parts })
        })
    }
}

/// Requests of the host, as a loss of power concerns them.
#[derive(Default)]
pub struct PowerRecord {
    /// One for each component, if writes are remembered.
    ledgers: Vec<Ledger>,
    in_flight: BTreeSet<u64>,
    losses: u64,
}

/// A request in flight: the number of losses of power before it, and of writes that its target had answered.
#[derive(Clone, Copy)]
pub struct Begun {
    losses: u64,
    answered: u64,
}

impl PowerRecord {
    /// Remembers writes to the components of a system, of which there are `components`.
    pub fn remember(&mut self, components: usize) {
        self.ledgers = (0..components).map(|_| Ledger::default()).collect();
    }

    /// Returns true if writes are remembered.
    pub fn is_on(&self) -> bool {
        !self.ledgers.is_empty()
    }

    /// A request begins.
    pub fn begin(&mut self, ticket: u64, target: NodeId) -> Begun {
        if !self.is_on() {
            return Begun { losses: 0, answered: 0 };
        }
        self.in_flight.insert(ticket);
        Begun { losses: self.losses, answered: self.ledgers[target.index()].answered }
    }

    /// A request ends. Returns false if power failed meanwhile: it is not answered.
    pub fn end(
        &mut self,
        (ticket, target): (u64, NodeId),
        request: &Request<Block>,
        begun: Begun,
        failed: bool,
    ) -> bool {
        if !self.is_on() {
            return true;
        }
        if self.losses != begun.losses {
            return false;
        }
        self.in_flight.remove(&ticket);
        let ledger = &mut self.ledgers[target.index()];
        match request.work.op {
            _ if failed => {}
            Op::Flush => ledger.flushed(begun.answered),
            Op::Write if !request.durable => ledger.note(ticket, request.work),
            Op::Write | Op::Read | Op::Discard => {}
        }
        true
    }

    /// Returns false if a target has [`MOST_UNSTABLE`] writes that are not stable, and takes no more. `at_risk` says what would be lost now.
    pub fn has_room(&mut self, target: NodeId, at_risk: impl FnOnce(&Ranges) -> Ranges) -> bool {
        let Some(ledger) = self.ledgers.get_mut(target.index()) else { return true };
        ledger.check(at_risk);
        ledger.writes.len() < MOST_UNSTABLE
    }

    /// Power fails. `at_risk` says what is lost of what was written to a target.
    pub fn lose(
        &mut self,
        targets: impl Iterator<Item = NodeId>,
        at_risk: impl Fn(NodeId, &Ranges) -> Ranges,
    ) -> PowerLoss {
        self.losses += 1;
        let mut lost = Vec::new();
        for (number, id) in targets.enumerate() {
            let ledger = &mut self.ledgers[id.index()];
            let gone = at_risk(id, &ledger.written());
            lost.extend(ledger.lost(number, &gone));
        }
        PowerLoss { lost, unanswered: std::mem::take(&mut self.in_flight).into_iter().collect() }
    }
}
