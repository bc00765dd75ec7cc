//! Data that moves over several links at once, and where its time went.

use headrace_kernel::{LinkId, Moved};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, FileOp, NodeId, Request};
use smallvec::SmallVec;

use crate::core::context::{Edge, SimContext};

/// A link on the way of a transfer, and the component that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct LinkHop<'m> {
    pub edge: &'m Edge<'m>,
    pub link: LinkId,
}

/// A transfer.
pub(crate) struct Moving<'h, 'm> {
    pub bytes: u64,
    pub over: &'h [LinkHop<'m>],
    /// The most that it can have by itself, in bytes a second, and whose limit that is.
    pub most: f64,
    pub own: NodeId,
}

impl<'m> SimContext<'m> {
    /// Moves data for `request`. What a component limits is charged to it: the time that it would have taken there alone as service, and what
    /// sharing added as waiting.
    pub(crate) async fn carry(
        &'m self,
        request: &Request<FileOp>,
        moving: Moving<'_, 'm>,
        breakdown: &mut Breakdown,
    ) {
        let Moving { bytes, over, most, own } = moving;
        let before = breakdown.legs().len();
        over.iter().for_each(|hop| hop.edge.begin(bytes));
        let links: SmallVec<[LinkId; 4]> = over.iter().map(|hop| hop.link).collect();
        let moved = self.fluid.transfer(bytes, &links, most, request.cause as usize).await;
        charge(breakdown, &moved, over, own, self.sim.now());
        let Block { op, address, .. } = request.work.data();
        let done = request.with(Block { op, address, bytes });
        over.iter().for_each(|hop| hop.edge.end(&done, breakdown, before));
    }
}

/// Charges the spans one after another, which is not when they were: what counts is how long each is.
fn charge(breakdown: &mut Breakdown, moved: &Moved, over: &[LinkHop], own: NodeId, now: Nanos) {
    let component = |link: LinkId| over.iter().find(|hop| hop.link == link).map_or(own, |hop| hop.edge.to());
    for (link, time, alone) in &moved.limited {
        let at = link.map_or(own, component);
        let shared = (breakdown.until() + (*time - *alone)).min(now);
        breakdown.waited(at, shared);
        breakdown.served(at, (shared + *alone).min(now));
    }
    // Rounding leaves a few ns.
    let last = moved.limited.last().and_then(|(link, ..)| *link);
    breakdown.served(last.map_or(own, component), now);
}
