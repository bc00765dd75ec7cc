//! Transfers of a pool whose chains are block devices: in pieces, of which one is on the wire while the device has the one before or after it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use headrace_work::{Block, Breakdown, FileOp, NodeId, Op, Request};

use super::{DiskPool, FilePart};
use crate::archive::moving::{LinkHop, Moving};
use crate::core::context::{Edge, SimContext};

/// How data comes to a part of a file, or from it.
#[derive(Clone, Copy)]
pub(crate) struct TransferRoute<'m> {
    /// The links on its way, the chain's own among them.
    pub over: [Option<LinkHop<'m>>; 3],
    /// The most that it can have by itself, in bytes a second, and whose limit that is.
    pub most: f64,
    pub own: NodeId,
    /// Direction: a read from the pool, or a write to it.
    pub op: Op,
}

/// Work of one stage of a transfer on a piece.
pub(super) enum Stage<'m> {
    Wire {
        request: Request<FileOp>,
        route: TransferRoute<'m>,
        bytes: u64,
    },
    /// `transfer` is the number of the transfer that it belongs to.
    Device {
        request: Request<Block>,
        chain: u32,
        transfer: u64,
    },
}

/// The transfers whose device did not answer.
pub(super) type LostTransfers = Rc<RefCell<BTreeSet<u64>>>;

/// Does it; gives what it took.
pub(super) async fn perform<'m>(
    shared: &'m SimContext<'m>,
    devices: &'m [Edge<'m>],
    io: u64,
    lost: LostTransfers,
    stage: Stage<'m>,
) -> Breakdown {
    let mut breakdown = Breakdown::from(shared.sim.now());
    match stage {
        Stage::Wire { request, route, bytes } => shared.follow(&request, &route, bytes, &mut breakdown).await,
        Stage::Device { request, chain, transfer } => {
            let Block { op, address, bytes } = request.work;
            let mut done = 0;
            while done < bytes && !breakdown.has_failed() {
                let block = Block { op, address: address + done, bytes: io.min(bytes - done) };
                devices[chain as usize].serve(&request.child(done / io, block), &mut breakdown).await;
                done += block.bytes;
            }
            if breakdown.has_failed() {
                lost.borrow_mut().insert(transfer);
            }
        }
    }
    breakdown
}

impl<'m> SimContext<'m> {
    /// Moves data along a route.
    async fn follow(
        &'m self,
        request: &Request<FileOp>,
        route: &TransferRoute<'m>,
        bytes: u64,
        breakdown: &mut Breakdown,
    ) {
        let over: smallvec::SmallVec<[LinkHop; 3]> = route.over.iter().copied().flatten().collect();
        self.carry(request, Moving { bytes, over: &over, most: route.most, own: route.own }, breakdown).await;
    }
}

impl<'m> DiskPool<'m> {
    /// Moves a part of a file along a route, and reads or writes it on the device of its chain where there is one.
    pub(crate) async fn through(
        &'m self,
        request: &Request<FileOp>,
        part: FilePart,
        route: TransferRoute<'m>,
        breakdown: &mut Breakdown,
    ) {
        let shared = self.context.shared;
        if self.devices.is_empty() {
            return shared.follow(request, &route, part.bytes, breakdown).await;
        }
        let (whole, each) = (part.bytes, (self.spec.buffer.0 / 2).max(1));
        let (pieces, address) = (whole.div_ceil(each), self.address(part, request.work.bytes));
        let transfer = self.transfers.replace(self.transfers.get() + 1);
        let size = |piece: u64| each.min(whole - piece * each);
        let wire = |piece: u64| Stage::Wire { request: *request, route, bytes: size(piece) };
        let device = |piece: u64| Stage::Device {
            request: request.child(
                address + piece,
                Block { op: route.op, address: address + piece * each, bytes: size(piece) },
            ),
            chain: self.spec.chain_of(part.volume) as u32,
            transfer,
        };
        for step in 0..=pieces {
            let (ahead, behind) = ((step < pieces).then_some(step), step.checked_sub(1));
            let stages = match route.op {
                Op::Read => [ahead.map(device), behind.map(wire)],
                Op::Write | Op::Discard | Op::Flush => [ahead.map(wire), behind.map(device)],
            };
            let last = self.stages.all(stages.into_iter().flatten()).await.expect("each step has a stage");
            breakdown.follow(&last);
            if self.lost.borrow_mut().remove(&transfer) {
                return breakdown.fail();
            }
        }
    }

    /// Returns the address of a part on the device of its chain: the volumes of a chain one after another, and a file smaller than its
    /// volume at its own position there.
    fn address(&self, part: FilePart, file: u64) -> u64 {
        let within = match self.spec.allocate {
            super::Allocate::ChainByChain => part.volume % self.spec.volumes,
            super::Allocate::AcrossChains => part.volume / self.spec.chains,
        };
        let room = (self.spec.volume.0.saturating_sub(file) / BLOCK) as f64;
        let start = self.starts.of(headrace_kernel::subkey(file, u64::from(part.volume))).uniform() * room;
        u64::from(within) * self.spec.volume.0
            + (part.within + start as u64 * BLOCK).min(self.spec.volume.0 - part.bytes)
    }
}

/// Files begin at multiples of this.
const BLOCK: u64 = 4096;
