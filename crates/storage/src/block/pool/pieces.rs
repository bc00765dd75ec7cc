//! Pieces: one access to one drive, over the network and through the cores of servers.

use headrace_work::{Block, Breakdown, Cause, Op, Request};

use super::Pool;
use super::groups::Place;
use crate::core::context::Edge;
use crate::core::meter::add;
use crate::core::theory::Phase;
use crate::fabric::path_transfer::{PathTransfer, TransferPart};

/// An end of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Server(usize),
    /// A client in a rack, or outside of all.
    Client(Option<usize>),
}

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
    pub(super) async fn go(&'m self, piece: &Piece<'m>, breakdown: &mut Breakdown) -> Option<()> {
        let (from, there, request) = (piece.from, self.plan.server_of(piece.drive), &piece.request);
        let (asks, has) = (End::Server(from), End::Server(there));
        self.hop((asks, has), Phase::Request, request, breakdown).await?;
        self.compute(there, Phase::Request, request, breakdown).await?;
        done(&self.drives[piece.drive as usize], request, breakdown).await?;
        self.compute(there, Phase::Answer, request, breakdown).await?;
        self.hop((has, asks), Phase::Answer, request, breakdown).await
    }

    /// The rack of an end.
    pub(super) fn rack(&self, end: End) -> Option<usize> {
        match end {
            End::Server(server) => Some(self.plan.rack_of(server)),
            End::Client(rack) => rack,
        }
    }

    /// The link of an end; `None` where messages take no time there.
    fn link(&self, end: End) -> Option<&'m Edge<'m>> {
        match end {
            End::Server(server) => self.links.get(server),
            End::Client(_) => None,
        }
    }

    /// A message goes from one end to another: out of a server and its rack, and into the other rack and server.
    async fn hop(
        &'m self,
        (from, to): (End, End),
        phase: Phase,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        if from == to {
            return Some(());
        }
        let [out, into] = self.uplinks_between(from, to);
        self.cross(self.link(from), (Op::Read, phase), request, breakdown).await?;
        self.cross(out, (Op::Read, phase), request, breakdown).await?;
        self.cross(into, (Op::Write, phase), request, breakdown).await?;
        self.cross(self.link(to), (Op::Write, phase), request, breakdown).await
    }

    /// The uplinks of the racks between which a message goes; none within a rack.
    fn uplinks_between(&self, from: End, to: End) -> [Option<&'m Edge<'m>>; 2] {
        if self.uplinks.is_empty() {
            return [None; 2];
        }
        let racks = [from, to].map(|end| self.rack(end));
        if racks[0] == racks[1] { [None; 2] } else { racks.map(|rack| self.uplinks.get(rack?)) }
    }

    /// A message crosses a link, out of a server or rack (as reads) or in.
    async fn cross(
        &'m self,
        link: Option<&'m Edge<'m>>,
        (direction, phase): (Op, Phase),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        let Some(link) = link else { return Some(()) };
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
        (client, server): (End, usize),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        self.hop((client, End::Server(server)), Phase::Request, request, breakdown).await?;
        self.compute(server, Phase::Request, request, breakdown).await
    }

    /// The answer of a request leaves the server.
    pub(super) async fn depart(
        &'m self,
        (server, client): (usize, End),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        self.compute(server, Phase::Answer, request, breakdown).await?;
        self.hop((End::Server(server), client), Phase::Answer, request, breakdown).await
    }
}

/// Has a component serve a request; `None` if it failed.
async fn done(edge: &Edge<'_>, request: &Request<Block>, breakdown: &mut Breakdown) -> Option<()> {
    edge.serve(request, breakdown).await;
    (!breakdown.has_failed()).then_some(())
}
