//! What an array loses if power fails.

use headrace_work::{Block, Op};

use super::Array;
use super::layout::{ArrayLayout, DiskAccesses};
use crate::core::ranges::Ranges;

/// Maximum number of units that are looked up one by one. If more have been written, all are at risk.
const MOST_UNITS: u64 = 1 << 17;

impl Array<'_> {
    /// Returns which bytes of those written are lost with the volatile memory of disks: those that the disks they are read from would lose, and
    /// of a mirror those that any copy would lose, since the copies then differ.
    pub(super) fn at_risk_on_disks(
        &self,
        written: &Ranges,
        ask: &dyn Fn(usize, &Ranges) -> Ranges,
    ) -> Ranges {
        let unit = self.plan.layout.unit();
        let mut units = 0;
        written.each(|from, to| units += to.div_ceil(unit) - from / unit);
        if units > MOST_UNITS {
            return written.clone();
        }
        let mut on_disks = vec![Ranges::default(); self.devices.len()];
        self.each_unit(written, |_, accesses| {
            accesses
                .iter()
                .flatten()
                .for_each(|(disk, block)| on_disks[*disk].insert(block.address, block.end()));
        });
        let lost: Vec<Ranges> = on_disks.iter().enumerate().map(|(disk, asked)| ask(disk, asked)).collect();
        let mut at_risk = Ranges::default();
        self.each_unit(written, |part, accesses| match accesses {
            Some(accesses) => accesses.iter().for_each(|(disk, block)| {
                add_lost(&mut at_risk, part, *block, &lost[*disk]);
            }),
            None => at_risk.insert(part.address, part.end()),
        });
        at_risk
    }

    /// Calls `act` with the written part of each unit, and the accesses that read it, or all copies of it; with none where it cannot be read.
    fn each_unit(&self, written: &Ranges, mut act: impl FnMut(Block, Option<DiskAccesses>)) {
        let unit = self.plan.layout.unit();
        let op = if matches!(self.plan.layout, ArrayLayout::Mirrored(_)) { Op::Write } else { Op::Read };
        written.each(|from, to| {
            for number in from / unit..to.div_ceil(unit) {
                let address = from.max(number * unit);
                let part = Block { op, address, bytes: to.min((number + 1) * unit) - address };
                let accesses = self.accesses_of(part, &*self.members);
                act(part, accesses.map(|accesses| [accesses.first, accesses.then].concat()));
            }
        });
    }
}

/// Adds what is lost of a part of a unit with what is lost of a disk, where it lies at `block`.
fn add_lost(at_risk: &mut Ranges, part: Block, block: Block, lost: &Ranges) {
    lost.within(block.address, block.end()).each(|from, to| match block.bytes == part.bytes {
        true => at_risk.insert(part.address + from - block.address, part.address + to - block.address),
        false => at_risk.insert(part.address, part.end()),
    });
}
