//! From tape to the pool.

use crate::archive::disk_pool::{FilePart, TransferRoute};
use headrace_work::{Block, Breakdown, FileOp, Op, Request};

use super::catalogue::FileNumber;
use super::{Archive, UsedComponent};
use crate::archive::moving::LinkHop;
use crate::archive::tape_library::{Mounted, TapeLibrary};
use crate::core::meter::add;

impl<'m> Archive<'m> {
    /// Brings the data of a file to the pool: at once, when a transfer already on its way ends, or from tape.
    pub(super) async fn bring(
        &'m self,
        file: FileNumber,
        request: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) {
        if self.files.borrow()[file].on_disk {
            return;
        }
        let arriving = self.arriving.lock(u64::from(file), u64::from(file) + 1).await;
        // It was waited for where it came from: the tape library, or a client that puts it.
        let is_on_tape = self.files.borrow()[file].tape.is_some();
        let library = self.library.filter(|_| is_on_tape).map_or(self.context.id, |(edge, _)| edge.to());
        breakdown.waited(library, self.now());
        let is_on_disk = self.files.borrow()[file].on_disk;
        match (is_on_disk, is_on_tape) {
            (true, _) => {}
            (false, true) => self.recall(file, request, breakdown).await,
            // Its put failed.
            (false, false) => breakdown.fail(),
        }
        drop(arriving);
    }

    async fn recall(&'m self, file: FileNumber, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        let library = self.library.expect("a file that is not in the pool is on tape");
        let (spot, bytes) = (self.files.borrow()[file].tape, self.files.borrow()[file].bytes);
        let spot = spot.expect("a file that is not in the pool is on tape");
        add(&self.counts.stages, 1);
        // Space first: drives that wait for space while the pool waits for a drive to be emptied would wait for ever.
        let volume = self.take_space(file, bytes, breakdown).await;
        let mut from = 0;
        for (spot, part) in library.1.parts(spot, bytes) {
            let before = breakdown.legs().len();
            // Its bytes are counted on the link.
            library.0.begin(0);
            let mounted = library.1.mount((spot, part), request, breakdown).await;
            for piece in self.pool.1.parts(volume, from, part) {
                self.on_tape_path(request, (library, &mounted), piece, breakdown).await;
            }
            if breakdown.has_failed() {
                return self.give_space(file);
            }
            library.1.moved(&mounted, part, false);
            library.0.end(&request.with(Block { bytes: 0, ..request.work.data() }), breakdown, before);
            from += part;
        }
        self.arrived(file);
        add(&self.counts.recalled_bytes, bytes);
        self.purge_if_full();
    }

    /// Moves data between a drive and a chain, by the network: inward where it is read from tape, outward where it is written. Nothing
    /// more of it moves once the pool has failed to read or write some.
    pub(super) async fn on_tape_path(
        &'m self,
        request: &Request<FileOp>,
        (library, mounted): (UsedComponent<'m, TapeLibrary<'m>>, &Mounted<'m>),
        part: FilePart,
        breakdown: &mut Breakdown,
    ) {
        if breakdown.has_failed() {
            return;
        }
        self.volume_ready(part, breakdown).await;
        let (link, most) = library.1.link(mounted);
        let is_read = request.cause == headrace_work::Cause::Host;
        let network = self.network.map(|(edge, network)| LinkHop {
            edge,
            link: if is_read { network.inward } else { network.outward },
        });
        let over = [Some(LinkHop { edge: library.0, link }), network, Some(self.hop(part.chain))];
        let op = if is_read { Op::Write } else { Op::Read };
        let since = self.now();
        self.pool
            .1
            .through(request, part, TransferRoute { over, most, own: library.0.to(), op }, breakdown)
            .await;
        if !breakdown.has_failed() {
            library.1.streamed(mounted, part.bytes, self.now() - since, breakdown).await;
        }
    }
}
