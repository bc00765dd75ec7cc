//! Between clients and the pool.

use headrace_kernel::LinkId;
use headrace_work::{Ask, FileOp, Op, Spent, What};

use super::Archive;
use super::catalogue::FileNumber;
use crate::disk_pool::{Part, Route};
use crate::moving::Hop;
use crate::witness::Fact;

impl<'m> Archive<'m> {
    /// Sends the data of a file of the pool, as soon as limits and ports let it.
    pub(super) async fn send_out(
        &'m self,
        file: FileNumber,
        ask: &Ask<FileOp>,
        of_whole: &Ask<FileOp>,
        spent: &mut Spent,
    ) {
        let leave = self.admit(ask, spent).await;
        let volume = self.files.borrow()[file].volume;
        self.tell(Fact::ReadBegins(file));
        for part in self.pool.1.parts(volume, 0, ask.work.bytes) {
            if !spent.has_failed() {
                self.send(of_whole, part, spent).await;
            }
        }
        self.tell(Fact::ReadEnds(file));
        self.dismiss(leave, ask, spent);
        if !spent.has_failed() {
            self.touch(file);
        }
    }

    async fn send(&'m self, ask: &Ask<FileOp>, part: Part, spent: &mut Spent) {
        self.volume_ready(part, spent).await;
        let network = self.network.map(|(edge, network)| Hop { edge, link: network.outward });
        self.transfer(ask, [Some(self.hop(part.chain)), network], part, Op::Read, spent).await;
    }

    pub(super) async fn receive(&'m self, ask: &Ask<FileOp>, part: Part, spent: &mut Spent) {
        self.volume_ready(part, spent).await;
        let network = self.network.map(|(edge, network)| Hop { edge, link: network.inward });
        self.transfer(ask, [network, Some(self.hop(part.chain))], part, Op::Write, spent).await;
    }

    /// Waits while the volume of a part has failed.
    pub(super) async fn volume_ready(&'m self, part: Part, spent: &mut Spent) {
        self.pool.1.ready(part.volume).await;
        spent.charge(self.pool_id(), What::Waiting, self.now());
    }

    pub(super) fn hop(&self, chain: LinkId) -> Hop<'m> {
        Hop { edge: self.pool.0, link: chain }
    }

    async fn transfer(
        &'m self,
        ask: &Ask<FileOp>,
        over: [Option<Hop<'m>>; 2],
        part: Part,
        op: Op,
        spent: &mut Spent,
    ) {
        let most = self.front.map_or(f64::INFINITY, |(_, front)| front.client_rate());
        let own = self.front.map_or(self.place.id, |(edge, _)| edge.to());
        let route = Route { over: [over[0], over[1], None], most, own, op };
        self.pool.1.through(ask, part, route, spent).await;
    }
}
