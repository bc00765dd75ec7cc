//! An archive: files in a disk pool before a tape library. It knows where files are and decides what is staged, stored to tape and purged;
//! front, network, pool and library do it.

mod backlog;
mod buffer;
mod catalogue;
mod contents;
mod copies;
mod full;
mod migrate;
mod pins;
mod purge;
mod space;
mod spec;
mod staging;
mod tape_pools;
mod transfer;

use std::cell::{Cell, RefCell};

use headrace_kernel::{Locks, subkey};
use headrace_units::{Nanos, counted};
use headrace_work::{Breakdown, FileAct, FileOp, FilePlace, Request, TapePlace};

use crate::archive::fact::Fact;
use crate::archive::front::{Front, Leave};
use crate::archive::network::Network;
use crate::archive::tape_library::TapeLibrary;
use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Meter, Portion, add};
use crate::core::work::Serve;

use buffer::Buffer;
use catalogue::{FileCatalogue, FileNumber};
use copies::TapeCopies;
use migrate::TapeQueue;
use pins::Pins;
use tape_pools::NOBODY;

pub use contents::PoolContents;
pub use copies::CopyChoice;
pub use spec::{
    ArchivePlan, ArchiveSpec, FlushSpec, MigrateOrder, MigrateSpec, MountRule, PurgeSpec, RecallPoolSpec,
};
pub use tape_pools::TapePoolSpec;

/// A component that the archive uses, and the way to it.
type UsedComponent<'m, R> = (&'m Edge<'m>, &'m R);

/// An archive in a simulation.
pub struct Archive<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m ArchivePlan,
    /// The disk pool that files are put into, and the one that recalls go to where that is another.
    buffers: Vec<Buffer<'m>>,
    front: Option<UsedComponent<'m, Front<'m>>>,
    network: Option<UsedComponent<'m, Network<'m>>>,
    /// Its own library first, then those that only tape pools name.
    libraries: Vec<UsedComponent<'m, TapeLibrary<'m>>>,
    files: RefCell<FileCatalogue>,
    /// Files whose data is on its way to a pool.
    arriving: Locks<'m>,
    /// Bytes of files of the pool that are not on tape.
    fresh_bytes: Cell<u64>,
    /// The queue of each tape pool.
    for_tape: Vec<TapeQueue<'m>>,
    copies: RefCell<TapeCopies>,
    pins: RefCell<Pins>,
    is_started: Cell<bool>,
    counts: Box<ArchiveCounts>,
}

#[derive(Default)]
struct ArchiveCounts {
    gets: Cell<u64>,
    hits: Cell<u64>,
    stages: Cell<u64>,
    cancelled: Cell<u64>,
    lost: Cell<u64>,
    purges: Cell<u64>,
    first_purge: Cell<Option<Nanos>>,
    purged: Cell<u64>,
    purged_bytes: Cell<u64>,
    /// Files that were stored to tape, and for how long they had been in the pool until then, in ms.
    on_tape: Cell<u64>,
    to_tape_ms: Cell<u64>,
    /// Bytes that came to the pool by puts and by recalls, and bytes stored to tape.
    put_bytes: Cell<u64>,
    recalled_bytes: Cell<u64>,
    stored_bytes: Cell<u64>,
}

impl Plan for ArchivePlan {
    type Component<'m> = Archive<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Archive<'m> {
        let mut archive = Archive {
            context,
            plan: self,
            buffers: Vec::new(),
            front: None,
            network: None,
            libraries: Vec::new(),
            files: RefCell::default(),
            arriving: Locks::new(context.shared.sim, 1),
            fresh_bytes: Cell::new(0),
            for_tape: (0..self.pools.pools.len() as u8)
                .map(|pool| TapeQueue::new(pool, context.shared.sim))
                .collect(),
            copies: RefCell::default(),
            pins: RefCell::default(),
            is_started: Cell::new(false),
            counts: Box::default(),
        };
        for edge in context.uses() {
            if let Some(pool) = edge.get() {
                let number = archive.buffers.len();
                archive.buffers.push(Buffer::new(number as u8, (edge, pool), self.purges[number].as_ref()));
            }
            archive.front = archive.front.or(edge.get().map(|front| (edge, front)));
            archive.network = archive.network.or(edge.get().map(|network| (edge, network)));
            archive.libraries.extend(edge.get().map(|library| (edge, library)));
        }
        archive
    }
}

impl<'m> Archive<'m> {
    fn now(&self) -> Nanos {
        self.context.shared.sim.now()
    }

    fn tell(&self, fact: Fact) {
        self.context.shared.tell(self.context.id, &fact);
    }

    /// The disk pool that files are put into.
    fn for_puts(&self) -> &Buffer<'m> {
        &self.buffers[0]
    }

    /// The disk pool that recalls go to.
    fn for_recalls(&self) -> &Buffer<'m> {
        &self.buffers[self.buffers.len() - 1]
    }

    /// The disk pool that has the data of a file, or is to get it.
    fn buffer_of(&'m self, file: FileNumber) -> &'m Buffer<'m> {
        &self.buffers[usize::from(self.files.borrow()[file].buffer)]
    }

    async fn get(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        let Some(file) = self.wanted(request, breakdown) else { return };
        add(&self.counts.gets, 1);
        add(&self.counts.hits, u64::from(self.files.borrow()[file].on_disk));
        self.pin(file);
        // All of it comes from tape and lies in the pool, and as much of it is sent as is asked for.
        let of_whole = request.with(FileOp { bytes: self.files.borrow()[file].bytes, ..request.work });
        self.bring(file, &of_whole, breakdown).await;
        if !breakdown.has_failed() {
            self.send_out(file, request, &of_whole, breakdown).await;
        }
        self.unpin(file);
    }

    async fn put(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        let FileOp { file: name, bytes, .. } = request.work;
        // Whoever asks for the file from now on waits for what is put.
        let (file, before) = self.files.borrow_mut().create(name, bytes, self.now());
        before.into_iter().for_each(|before| self.discard(before));
        let arriving = self.arriving.lock(u64::from(file), u64::from(file) + 1).await;
        self.fail_attempts(None, request, breakdown).await;
        if breakdown.has_failed() {
            return self.is_lost(file);
        }
        let leave = self.admit(request, breakdown).await;
        let place = self.take_space(file, bytes, breakdown).await;
        self.move_data(place, bytes, request, breakdown).await;
        if breakdown.has_failed() {
            self.is_lost(file);
            self.give_space(file);
        } else {
            self.arrived(file);
            self.is_fresh(file, request.work.user);
            self.count_put(bytes, request.work.user);
        }
        drop(arriving);
        self.free_if_unwanted(file);
        self.dismiss(leave, request, breakdown);
        self.purge_if_full(self.buffer_of(file));
    }

    fn count_put(&self, bytes: u64, user: u64) {
        add(&self.counts.put_bytes, bytes);
        let pools = self.plan.pools.of_user(user).iter();
        pools.for_each(|pool| add(&self.for_tape[usize::from(*pool)].put_bytes, bytes));
    }

    async fn stage(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        let Some(file) = self.wanted(request, breakdown) else { return };
        self.pin(file);
        self.bring(file, request, breakdown).await;
        if !breakdown.has_failed() {
            self.touch(file);
            self.keep(file);
        }
        self.unpin(file);
    }

    /// A stage is withdrawn: the pin of its file is released, or its recall is not wanted any more, unless that has a drive, or another user
    /// asked for it or waits for the file.
    fn cancel(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        let Some(file) = self.wanted(request, breakdown) else { return };
        self.release(file);
        let is_alone = self.files.borrow()[file].pins == 1;
        let mut libraries = self.libraries.iter().filter(|_| is_alone);
        let is_cancelled = libraries.any(|(_, library)| library.cancel(request.work.file, request.work.user));
        add(&self.counts.cancelled, u64::from(is_cancelled));
    }

    /// The file that is asked for. A log may ask for one that it deleted: that is answered at once. Where its put failed, so does this.
    fn wanted(&self, request: &Request<FileOp>, breakdown: &mut Breakdown) -> Option<FileNumber> {
        let found = self.files.borrow().find(request.work.file);
        match found {
            None if self.files.borrow().is_lost(request.work.file) => breakdown.fail(),
            None => add(&self.counts.lost, 1),
            Some(_) => {}
        }
        found
    }

    /// Waits for limits and ports.
    async fn admit(
        &'m self,
        request: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) -> Option<(Leave<'m>, usize)> {
        let (edge, front) = self.front?;
        let before = breakdown.legs().len();
        edge.begin(request.work.bytes);
        Some((front.admit(request, breakdown).await, before))
    }

    fn dismiss(&self, leave: Option<(Leave<'m>, usize)>, request: &Request<FileOp>, breakdown: &Breakdown) {
        if let (Some((leave, before)), Some((edge, _))) = (leave, self.front) {
            edge.end(&request.with(request.work.data()), breakdown, before);
            drop(leave);
        }
    }
}

impl<'m> Component<'m> for Archive<'m> {
    fn portions(&self, now: Nanos) -> Vec<Portion> {
        self.streams(now)
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let counts = &self.counts;
        put("pool_hit_ratio", Meter::Share(counts.hits.get(), counts.gets.get()));
        put("stages", Meter::Count(counts.stages.get()));
        put("purges", Meter::Marked(counts.purges.get()));
        put("purged_files", Meter::Count(counts.purged.get()));
        put("purged_bytes", Meter::Count(counts.purged_bytes.get()));
        put("stored_to_tape", Meter::Count(counts.on_tape.get()));
        put("to_tape_ms", Meter::Share(counts.to_tape_ms.get(), counts.on_tape.get()));
        if counts.cancelled.get() > 0 {
            put("cancelled", Meter::Count(counts.cancelled.get()));
        }
    }

    fn waiting(&self) -> Vec<String> {
        let files = self.files.borrow();
        self.buffers.iter().flat_map(|buffer| buffer.waiting(&files)).collect()
    }

    fn remarks(&self, now: Nanos) -> Vec<String> {
        let days = |time: Nanos| time.secs() / 86_400.0;
        let counts = &self.counts;
        let first = counts.first_purge.get().map(|first| {
            let pools = if self.buffers.len() == 1 { "pool" } else { "pools" };
            format!(
                "{} of the {pools}, the first after {:.2} days",
                counted(counts.purges.get(), "purge"),
                days(first)
            )
        });
        first
            .into_iter()
            .chain(self.fullness(now))
            .chain(self.backlogs(now))
            .chain(self.idle_pools())
            .map(|remark| format!("{}: {remark}", self.context.path))
            .collect()
    }

    fn recovered(&'m self) {
        self.for_tape.iter().for_each(TapeQueue::try_again);
    }
}

impl<'m> Serve<'m, FileOp> for Archive<'m> {
    async fn serve(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        if !self.is_started.replace(true) {
            self.start();
        }
        match request.work.act {
            FileAct::Get => self.get(request, breakdown).await,
            FileAct::Put => self.put(request, breakdown).await,
            FileAct::Stage => self.stage(request, breakdown).await,
            FileAct::Delete => {
                self.wanted(request, breakdown).into_iter().for_each(|file| self.discard(file))
            }
            FileAct::Cancel => self.cancel(request, breakdown),
            // Sessions are held by tape libraries.
            FileAct::Session => breakdown.fail(),
        }
        breakdown.served(self.context.id, self.now());
    }
}

impl Archive<'_> {
    /// Returns the size of the file of this name; none if there is no such file, or its put failed.
    pub fn size_of(&self, name: u64) -> Option<u64> {
        let files = self.files.borrow();
        files.find(name).map(|file| files[file].bytes)
    }

    /// Takes a file that exists when the run begins; one on tape needs a tape library. Returns false if the pool has no room for it. One that
    /// exists already stays as it is.
    pub fn begin_with(&self, name: u64, bytes: u64, place: FilePlace) -> bool {
        if self.files.borrow().find(name).is_some() {
            return true;
        }
        if place == FilePlace::Pool && !self.for_puts().pool.has_room(bytes) {
            return false;
        }
        let (file, _) = self.files.borrow_mut().create(name, bytes, self.now());
        match place {
            FilePlace::Pool => {
                self.begin_in_pool(self.for_puts(), file);
                self.is_fresh(file, NOBODY);
            }
            FilePlace::Tape(place) => self.begin_on_tape(file, name, place),
        }
        true
    }

    /// The data of a file is in a disk pool when the run begins.
    fn begin_in_pool(&self, buffer: &Buffer, file: FileNumber) {
        let bytes = self.files.borrow()[file].bytes;
        assert!(buffer.pool.take_now(bytes), "the pool has room for what it begins with");
        self.lies_in(buffer, file, buffer.pool.allocate(bytes));
        self.arrived(file);
    }

    /// A file is on tape when the run begins, in each pool that takes those of nobody: in the first where its log says, in others anywhere.
    fn begin_on_tape(&self, file: FileNumber, name: u64, place: Option<TapePlace>) {
        let pools = self.plan.pools.of_user(NOBODY);
        let spot = |(at, pool): (usize, &u8)| {
            let (name, place) = if at == 0 { (name, place) } else { (subkey(name, at as u64), None) };
            (*pool, self.library_of(*pool).1.spot_of(name, place))
        };
        let first = spot((0, pools.first().unwrap_or(&0)));
        let entry = &mut self.files.borrow_mut()[file];
        (entry.tape_pool, entry.tape) = (first.0, Some(first.1));
        if pools.len() > 1 {
            self.copies.borrow_mut().insert(file, pools.iter().enumerate().map(spot).collect());
        }
        self.tell(Fact::OnTape(file));
    }
}
