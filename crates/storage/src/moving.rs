//! Data that moves over several links at once, and where its time went.

use headrace_kernel::{LinkId, Moved};
use headrace_units::Nanos;
use headrace_work::{Ask, Block, FileOp, NodeId, Spent, What};
use smallvec::SmallVec;

use crate::place::{Edge, Site};

/// A link on the way of a transfer, and the room that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Hop<'m> {
    pub edge: &'m Edge<'m>,
    pub link: LinkId,
}

/// A transfer.
pub(crate) struct Moving<'h, 'm> {
    pub bytes: u64,
    pub over: &'h [Hop<'m>],
    /// The most that it can have by itself, in bytes a second, and whose limit that is.
    pub most: f64,
    pub own: NodeId,
}

impl<'m> Site<'m> {
    /// Moves data for `ask`. What a room limits is charged to it: the time that it would have taken there alone as service, and what
    /// sharing added as waiting.
    pub(crate) async fn carry(&'m self, ask: &Ask<FileOp>, moving: Moving<'_, 'm>, spent: &mut Spent) {
        let Moving { bytes, over, most, own } = moving;
        let before = spent.legs().len();
        over.iter().for_each(|hop| hop.edge.begin(bytes));
        let links: SmallVec<[LinkId; 4]> = over.iter().map(|hop| hop.link).collect();
        let moved = self.fluid.transfer(bytes, &links, most, ask.cause as usize).await;
        charge(spent, &moved, over, own, self.sim.now());
        let Block { op, address, .. } = ask.work.data();
        let done = ask.with(Block { op, address, bytes });
        over.iter().for_each(|hop| hop.edge.end(&done, spent, before));
    }
}

/// Charges the spans one after another, which is not when they were: what counts is how long each is.
fn charge(spent: &mut Spent, moved: &Moved, over: &[Hop], own: NodeId, now: Nanos) {
    let room = |link: LinkId| over.iter().find(|hop| hop.link == link).map_or(own, |hop| hop.edge.to());
    for (link, time, alone) in &moved.limited {
        let at = link.map_or(own, room);
        let shared = (spent.until() + (*time - *alone)).min(now);
        spent.charge(at, What::Waiting, shared);
        spent.charge(at, What::Service, (shared + *alone).min(now));
    }
    // Rounding leaves a few ns.
    let last = moved.limited.last().and_then(|(link, ..)| *link);
    spent.charge(last.map_or(own, room), What::Service, now);
}
