//! Between clients and the pool.

use headrace_kernel::LinkId;
use headrace_work::{Breakdown, FileOp, Op, Request};

use super::Archive;
use super::catalogue::FileNumber;
use crate::archive::disk_pool::{FilePart, TransferRoute};
use crate::archive::fact::Fact;
use crate::archive::moving::LinkHop;

impl<'m> Archive<'m> {
    /// Sends the data of a file of the pool, as soon as limits and ports let it.
    pub(super) async fn send_out(
        &'m self,
        file: FileNumber,
        request: &Request<FileOp>,
        of_whole: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) {
        let leave = self.admit(request, breakdown).await;
        let volume = self.files.borrow()[file].volume;
        self.tell(Fact::ReadBegins(file));
        for part in self.pool.1.parts(volume, 0, request.work.bytes) {
            if !breakdown.has_failed() {
                self.send(of_whole, part, breakdown).await;
            }
        }
        self.tell(Fact::ReadEnds(file));
        self.dismiss(leave, request, breakdown);
        if !breakdown.has_failed() {
            self.touch(file);
        }
    }

    async fn send(&'m self, request: &Request<FileOp>, part: FilePart, breakdown: &mut Breakdown) {
        self.volume_ready(part, breakdown).await;
        let network = self.network.map(|(edge, network)| LinkHop { edge, link: network.outward });
        self.transfer(request, [Some(self.hop(part.chain)), network], part, Op::Read, breakdown).await;
    }

    pub(super) async fn receive(
        &'m self,
        request: &Request<FileOp>,
        part: FilePart,
        breakdown: &mut Breakdown,
    ) {
        self.volume_ready(part, breakdown).await;
        let network = self.network.map(|(edge, network)| LinkHop { edge, link: network.inward });
        self.transfer(request, [network, Some(self.hop(part.chain))], part, Op::Write, breakdown).await;
    }

    /// Waits while the volume of a part has failed.
    pub(super) async fn volume_ready(&'m self, part: FilePart, breakdown: &mut Breakdown) {
        self.pool.1.ready(part.volume).await;
        breakdown.waited(self.pool_id(), self.now());
    }

    pub(super) fn hop(&self, chain: LinkId) -> LinkHop<'m> {
        LinkHop { edge: self.pool.0, link: chain }
    }

    async fn transfer(
        &'m self,
        request: &Request<FileOp>,
        over: [Option<LinkHop<'m>>; 2],
        part: FilePart,
        op: Op,
        breakdown: &mut Breakdown,
    ) {
        let most = self.front.map_or(f64::INFINITY, |(_, front)| front.client_rate());
        let own = self.front.map_or(self.context.id, |(edge, _)| edge.to());
        let route = TransferRoute { over: [over[0], over[1], None], most, own, op };
        self.pool.1.through(request, part, route, breakdown).await;
    }
}
