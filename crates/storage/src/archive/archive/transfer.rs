//! Between clients and the pool.

use headrace_work::{Breakdown, FileAct, FileOp, Op, Request};

use super::Archive;
use super::buffer::{Buffer, BufferPart};
use super::catalogue::FileNumber;
use crate::archive::disk_pool::{FilePart, TransferRoute};
use crate::archive::fact::Fact;
use crate::archive::moving::{LinkHop, Moving};

impl<'m> Archive<'m> {
    /// Makes the attempts at a transfer that fail: each has leave of its own, and moves a part of the data. The request fails where all do.
    pub(super) async fn fail_attempts(
        &'m self,
        place: Option<(&'m Buffer<'m>, u32)>,
        request: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) {
        let Some((edge, front)) = self.front else { return };
        for number in 0..front.clients.attempts() {
            let attempt = request.child(u64::from(number), request.work);
            let Some(failed) = front.clients.failure(&attempt) else { return };
            let mut lost = Breakdown::from(self.now());
            let leave = self.admit(&attempt, &mut lost).await;
            let bytes = (request.work.bytes as f64 * failed.moves) as u64;
            let chosen = || (self.for_puts(), self.for_puts().pool.allocate(request.work.bytes));
            self.move_data(place.unwrap_or_else(chosen), bytes, &attempt, &mut lost).await;
            lost.fail();
            self.dismiss(leave, &attempt, &lost);
            if number + 1 == front.clients.attempts() {
                breakdown.fail();
            } else {
                self.context.shared.sim.delay(failed.retry_after).await;
            }
            breakdown.blocked(edge.to(), self.now());
        }
    }

    /// Moves a number of bytes of a file between its client and its volumes.
    pub(super) async fn move_data(
        &'m self,
        (buffer, volume): (&'m Buffer<'m>, u32),
        bytes: u64,
        request: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) {
        for part in buffer.parts(volume, 0, bytes) {
            match request.work.act {
                _ if breakdown.has_failed() => return,
                FileAct::Put => self.receive(request, part, breakdown).await,
                _ => self.send(request, part, breakdown).await,
            }
        }
    }

    /// Sends the data of a file of the pool, as soon as limits and ports let it.
    pub(super) async fn send_out(
        &'m self,
        file: FileNumber,
        request: &Request<FileOp>,
        of_whole: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) {
        let place = (self.buffer_of(file), self.files.borrow()[file].volume);
        self.fail_attempts(Some(place), request, breakdown).await;
        if breakdown.has_failed() {
            return;
        }
        let leave = self.admit(request, breakdown).await;
        self.tell(Fact::ReadBegins(file));
        self.move_data(place, request.work.bytes, of_whole, breakdown).await;
        self.tell(Fact::ReadEnds(file));
        self.dismiss(leave, request, breakdown);
        if !breakdown.has_failed() {
            self.touch(file);
        }
    }

    async fn send(&'m self, request: &Request<FileOp>, piece: BufferPart<'m>, breakdown: &mut Breakdown) {
        self.volume_ready(piece, breakdown).await;
        let hop = piece.buffer.hop(piece.part.chain);
        let network = self.network.map(|(edge, network)| LinkHop { edge, link: network.outward });
        self.transfer(request, [Some(hop), network], piece, Op::Read, breakdown).await;
    }

    async fn receive(&'m self, request: &Request<FileOp>, piece: BufferPart<'m>, breakdown: &mut Breakdown) {
        self.volume_ready(piece, breakdown).await;
        let hop = piece.buffer.hop(piece.part.chain);
        let network = self.network.map(|(edge, network)| LinkHop { edge, link: network.inward });
        self.transfer(request, [network, Some(hop)], piece, Op::Write, breakdown).await;
    }

    /// Waits while the volume of a part has failed.
    pub(super) async fn volume_ready(&'m self, piece: BufferPart<'m>, breakdown: &mut Breakdown) {
        piece.buffer.pool.ready(piece.part.volume).await;
        breakdown.waited(piece.buffer.id(), self.now());
    }

    async fn transfer(
        &'m self,
        request: &Request<FileOp>,
        over: [Option<LinkHop<'m>>; 2],
        piece: BufferPart<'m>,
        op: Op,
        breakdown: &mut Breakdown,
    ) {
        let clients = self.front.map(|(_, front)| &front.clients);
        let most = clients.map_or(f64::INFINITY, |clients| clients.rate(request.work.host));
        let own = self.front.map_or(self.context.id, |(edge, _)| edge.to());
        let route = TransferRoute { over: [over[0], over[1], None], most, own, op };
        match clients.and_then(|clients| clients.block()) {
            Some(block) => self.in_blocks(block, request, piece, route, breakdown).await,
            None => piece.buffer.pool.through(request, piece.part, route, breakdown).await,
        }
    }

    /// Moves a part of a file in blocks: each goes over one link after the other, and then the next begins.
    async fn in_blocks(
        &'m self,
        block: u64,
        request: &Request<FileOp>,
        BufferPart { buffer, part }: BufferPart<'m>,
        route: TransferRoute<'m>,
        breakdown: &mut Breakdown,
    ) {
        let TransferRoute { over, most, own, .. } = route;
        let mut sent = 0;
        while sent < part.bytes && !breakdown.has_failed() {
            let bytes = block.min(part.bytes - sent);
            let piece = FilePart { within: part.within + sent, bytes, ..part };
            for hop in over.into_iter().flatten() {
                if hop.edge.to() == buffer.id() {
                    let alone = TransferRoute { over: [Some(hop), None, None], most: f64::INFINITY, ..route };
                    buffer.pool.through(request, piece, alone, breakdown).await;
                } else {
                    let moving = Moving { bytes, over: &[hop], most, own };
                    self.context.shared.carry(request, moving, breakdown).await;
                }
            }
            sent += bytes;
        }
    }
}
