//! From tape to the pool.

use crate::archive::disk_pool::TransferRoute;
use headrace_work::{Block, Breakdown, FileOp, Op, Request};

use smallvec::SmallVec;

use super::buffer::BufferPart;
use super::catalogue::FileNumber;
use super::copies::{CopyChoice, TapeCopy};
use super::{Archive, UsedComponent};
use crate::archive::moving::LinkHop;
use crate::archive::tape_library::{Mounted, TapeLibrary, TapePosition};
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
        let library = is_on_tape.then(|| self.library_of(self.files.borrow()[file].tape_pool).0.to());
        let library = library.unwrap_or(self.context.id);
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
        let bytes = self.files.borrow()[file].bytes;
        // Space first: drives that wait for space while the pool waits for a drive to be emptied would wait for ever.
        let (buffer, volume) = self.take_space(file, bytes, breakdown).await;
        let (library, spot) = self.copy_to_read(file);
        let mut from = 0;
        for (spot, part) in library.1.parts(spot, bytes) {
            let before = breakdown.legs().len();
            // Its bytes are counted on the link.
            library.0.begin(0);
            let Some(mounted) = library.1.mount((spot, part), request, breakdown).await else {
                breakdown.fail();
                library.0.end(&request.with(Block { bytes: 0, ..request.work.data() }), breakdown, before);
                return self.give_space(file);
            };
            add(&self.counts.stages, u64::from(from == 0));
            for piece in buffer.parts(volume, from, part) {
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
        self.purge_if_full(buffer);
    }

    /// Returns the library of a tape pool.
    pub(super) fn library_of(&self, pool: u8) -> UsedComponent<'m, TapeLibrary<'m>> {
        let pool = self.plan.pools.pools.get(usize::from(pool));
        self.libraries[pool.map_or(0, |pool| pool.library)]
    }

    /// Returns the copy of a file on tape that is read: its library, and where it begins.
    fn copy_to_read(&self, file: FileNumber) -> (UsedComponent<'m, TapeLibrary<'m>>, TapePosition) {
        let copies = self.copies.borrow();
        let Some(copies) = copies.get(&file) else {
            let entry = &self.files.borrow()[file];
            let spot = entry.tape.expect("a file that is not in the pool is on tape");
            return (self.library_of(entry.tape_pool), spot);
        };
        let ready = |copy: &TapeCopy| (*copy, self.library_of(copy.0).1.readiness(copy.1));
        let ready: SmallVec<[_; 4]> = copies.iter().map(ready).collect();
        let choice = self.plan.migrate.as_ref().map_or(CopyChoice::First, |migrate| migrate.read);
        let (pool, spot) = choice.choose(&ready);
        (self.library_of(pool), spot)
    }

    /// Moves data between a drive and a chain, by the network: inward where it is read from tape, outward where it is written. Nothing
    /// more of it moves once the pool has failed to read or write some.
    pub(super) async fn on_tape_path(
        &'m self,
        request: &Request<FileOp>,
        (library, mounted): (UsedComponent<'m, TapeLibrary<'m>>, &Mounted<'m>),
        piece: BufferPart<'m>,
        breakdown: &mut Breakdown,
    ) {
        if breakdown.has_failed() {
            return;
        }
        self.volume_ready(piece, breakdown).await;
        let BufferPart { buffer, part } = piece;
        let (link, most) = library.1.link(mounted);
        let is_read = request.cause == headrace_work::Cause::Host;
        let network = self.network.map(|(edge, network)| LinkHop {
            edge,
            link: if is_read { network.inward } else { network.outward },
        });
        let over = [Some(LinkHop { edge: library.0, link }), network, Some(buffer.hop(part.chain))];
        let op = if is_read { Op::Write } else { Op::Read };
        let since = self.now();
        buffer
            .pool
            .through(request, part, TransferRoute { over, most, own: library.0.to(), op }, breakdown)
            .await;
        if !breakdown.has_failed() {
            library.1.streamed(mounted, part.bytes, self.now() - since, breakdown).await;
        }
    }
}
