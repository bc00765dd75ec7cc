//! Pieces: one access to one drive, over the network and through the cores of servers.

use headrace_work::{Block, Breakdown, Cause, Op, Request};

use super::Pool;
use super::groups::Place;
use crate::core::context::Edge;
use crate::core::meter::add;
use crate::core::theory::Phase;
use crate::fabric::path_transfer::{PathTransfer, TransferPart};

/// An access to a drive.
pub(super) struct Piece<'m> {
    pub pool: &'m Pool<'m>,
    /// The server that asks.
    from: usize,
    drive: u32,
    /// Its place in the group.
    position: usize,
    request: Request<Block>,
    ticket: u64,
}

impl<'m> Pool<'m> {
    /// The access of `request` to an object's piece, whose addresses are those of the piece.
    pub(super) fn piece(
        &'m self,
        from: usize,
        (position, place): (usize, Place),
        object: u64,
        request: Request<Block>,
        ticket: u64,
    ) -> Piece<'m> {
        if request.cause == Cause::Host {
            let reads = request.work.op == Op::Read;
            add(if reads { &self.counts.reads } else { &self.counts.writes }, 1);
        }
        let before = u64::from(place.slot) * self.plan.homes.objects + object;
        let work = Block { address: before * self.plan.piece() + request.work.address, ..request.work };
        Piece { pool: self, from, drive: place.drive, position, request: request.with(work), ticket }
    }

    /// Does an access; one that is not done is noted.
    pub(super) async fn do_piece(&'m self, piece: Piece<'m>) -> Breakdown {
        let mut breakdown = Breakdown::from(self.sim.now());
        if self.go(&piece, &mut breakdown).await.is_none() {
            self.undone.borrow_mut().push((piece.ticket, piece.position));
        }
        breakdown
    }

    /// Takes an access to its drive, and the answer back; `None` if anything on the way failed.
    async fn go(&'m self, piece: &Piece<'m>, breakdown: &mut Breakdown) -> Option<()> {
        let (from, there, request) = (piece.from, self.plan.server_of(piece.drive), &piece.request);
        self.hop((from, there), Phase::Request, request, breakdown).await?;
        self.compute(there, Phase::Request, request, breakdown).await?;
        done(&self.drives[piece.drive as usize], request, breakdown).await?;
        self.compute(there, Phase::Answer, request, breakdown).await?;
        self.hop((there, from), Phase::Answer, request, breakdown).await
    }

    /// A message goes from a server to another.
    async fn hop(
        &'m self,
        (from, to): (usize, usize),
        phase: Phase,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        if from == to {
            return Some(());
        }
        self.cross(from, Op::Read, phase, request, breakdown).await?;
        self.cross(to, Op::Write, phase, request, breakdown).await
    }

    /// A message crosses the link of a server, out of it (as reads) or in.
    async fn cross(
        &'m self,
        server: usize,
        direction: Op,
        phase: Phase,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        let Some(link) = self.links.get(server) else { return Some(()) };
        let bytes = if phase.has_data(request.work.op) { request.work.bytes } else { 0 };
        let message = Block { op: direction, bytes, ..request.work };
        done(link, &request.with(message), breakdown).await
    }

    /// A core of a server works for a message.
    async fn compute(
        &'m self,
        server: usize,
        phase: Phase,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        let Some(edge) = self.servers.get(server) else { return Some(()) };
        let work = PathTransfer {
            block: request.work,
            phase,
            part: TransferPart::All,
            initiator: 0,
            target: 0,
            tail: breakdown.until(),
        };
        edge.serve(&request.with(work), breakdown).await;
        (!breakdown.has_failed()).then_some(())
    }

    /// A request comes to the server that is to serve it.
    pub(super) async fn arrive(
        &'m self,
        server: usize,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        self.cross(server, Op::Write, Phase::Request, request, breakdown).await?;
        self.compute(server, Phase::Request, request, breakdown).await
    }

    /// The answer of a request leaves the server.
    pub(super) async fn depart(
        &'m self,
        server: usize,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        self.compute(server, Phase::Answer, request, breakdown).await?;
        self.cross(server, Op::Read, Phase::Answer, request, breakdown).await
    }
}

/// Has a component serve a request; `None` if it failed.
async fn done(edge: &Edge<'_>, request: &Request<Block>, breakdown: &mut Breakdown) -> Option<()> {
    edge.serve(request, breakdown).await;
    (!breakdown.has_failed()).then_some(())
}
