//! From the pool to tape: streams that sleep, list the files that are due, and copy one after another.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::{Sim, WaitList};
use headrace_stats::Gauge;
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, DriveUse, FileAct, FileOp, NodeId, Request, TimeKind};

use super::Archive;
use super::catalogue::FileNumber;
use super::copies::TapeCopy;
use super::spec::{MigrateOrder, MigrateSpec};
use super::tape_pools::TapePool;
use crate::archive::fact::Fact;
use crate::archive::tape_library::{Cartridge, Mounted, TapePosition};
use crate::core::meter::add;

/// A stream to tape.
struct TapeStream<'m> {
    spec: &'m MigrateSpec,
    queue: &'m TapeQueue<'m>,
    pool: &'m TapePool,
    /// Its number among the streams that write to its library.
    number: usize,
    /// The cartridge that it writes, in its drive.
    writing: Option<(Cartridge, Mounted<'m>)>,
    /// Files in the drive that are not on tape before the next flush, with where they begin; and the bytes since the last.
    unflushed: Vec<(FileNumber, TapePosition)>,
    bytes: u64,
}

/// Files that a tape pool takes: those that are due and not being copied, and the streams that copy.
pub(super) struct TapeQueue<'m> {
    /// The place of its pool among all.
    pub number: u8,
    files: RefCell<VecDeque<FileNumber>>,
    bytes: Cell<u64>,
    /// Files of the disk pool that are not listed yet, and those of them that could not be read.
    fresh: RefCell<Vec<FileNumber>>,
    unreadable: RefCell<Vec<FileNumber>>,
    /// Streams to tape, while nothing is there for them.
    deposits: WaitList<'m, (), ()>,
    /// Streams that do not sleep.
    writing: RefCell<Gauge>,
    /// Bytes that were put for it, and stored.
    pub put_bytes: Cell<u64>,
    pub stored_bytes: Cell<u64>,
    /// Streams that ask for a drive, until its tape is where they write.
    asking: RefCell<Gauge>,
    /// What the streams spent their time with, but for waiting.
    spent: RefCell<BTreeMap<Spent, Nanos>>,
}

impl<'m> TapeQueue<'m> {
    /// The queue of the tape pool with this number. Nothing is due.
    pub fn new(number: u8, sim: &'m Sim<'m>) -> Self {
        Self {
            number,
            files: RefCell::default(),
            bytes: Cell::new(0),
            fresh: RefCell::default(),
            unreadable: RefCell::default(),
            deposits: WaitList::new(sim),
            writing: RefCell::default(),
            put_bytes: Cell::new(0),
            stored_bytes: Cell::new(0),
            asking: RefCell::default(),
            spent: RefCell::default(),
        }
    }

    /// Returns what the streams spent their time with, waits that last included.
    pub fn spent(&self, now: Nanos) -> BTreeMap<Spent, Nanos> {
        let mut spent = self.spent.borrow().clone();
        let mounts = spent.get(&Spent::Mounts).copied().unwrap_or_default();
        spent.insert(Spent::Drives, Nanos(self.asking.borrow().area(now) as u64) - mounts);
        spent
    }

    /// Returns the stream-ns for which streams neither slept nor waited for drives: more drives would shorten those waits, not more streams.
    pub fn busy(&self, now: Nanos) -> u128 {
        let waited = self.spent(now).get(&Spent::Drives).map_or(0, |time| u128::from(time.0));
        self.writing.borrow().area(now).saturating_sub(waited)
    }

    fn add(&self, file: FileNumber) {
        self.fresh.borrow_mut().push(file);
        self.deposits.offer(|()| Some(()));
    }

    /// Some component works again: what could not be read is tried once more.
    pub fn try_again(&self) {
        let mut unreadable = self.unreadable.take();
        if !unreadable.is_empty() {
            self.fresh.borrow_mut().append(&mut unreadable);
            self.deposits.offer(|()| Some(()));
        }
    }

    fn spend(&self, on: Spent, time: Nanos) {
        *self.spent.borrow_mut().entry(on).or_default() += time;
    }

    /// Notes what a copy spent its time with: the first `mounts` spans of its account until data moved.
    fn spend_all(&self, breakdown: &Breakdown, mounts: usize) {
        for (at, (node, kind, time)) in breakdown.spans().enumerate() {
            match kind {
                _ if at >= mounts => self.spend(Spent::Data(node), time),
                TimeKind::Service => self.spend(Spent::Mounts, time),
                TimeKind::Waiting | TimeKind::Blocked => {}
            }
        }
    }
}

/// What a stream to tape spends its time with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spent {
    /// Waiting for a drive, or for an arm that brings it a cartridge.
    Drives,
    /// Mounting and positioning.
    Mounts,
    /// Writing out the buffer of the drive.
    Flushes,
    /// Moving data, as fast as this component lets it.
    Data(NodeId),
}

impl<'m> Archive<'m> {
    /// Starts what the archive does by itself.
    pub(super) fn start(&'m self) {
        self.fill_pool();
        let Some(spec) = &self.plan.migrate else { return };
        for (queue, pool) in self.for_tape.iter().zip(&self.plan.pools.pools) {
            for number in pool.first_stream..pool.first_stream + pool.streams as usize {
                self.context.shared.sim.spawn(self.migrate(spec, queue, pool, number));
            }
        }
    }

    async fn migrate(
        &'m self,
        spec: &'m MigrateSpec,
        queue: &'m TapeQueue<'m>,
        pool: &'m TapePool,
        number: usize,
    ) {
        loop {
            self.sleep(spec, queue).await;
            queue.writing.borrow_mut().up(self.now(), 1);
            let (writing, unflushed) = (None, Vec::new());
            let mut stream = TapeStream { spec, queue, pool, number, writing, unflushed, bytes: 0 };
            while let Some(file) = self.next_for_tape(queue) {
                if !self.files.borrow()[file].is_unwanted {
                    self.to_tape(file, &mut stream).await;
                }
            }
            self.flush(&mut stream).await;
            queue.writing.borrow_mut().down(self.now(), 1);
        }
    }

    fn next_for_tape(&self, queue: &TapeQueue) -> Option<FileNumber> {
        let file = queue.files.borrow_mut().pop_front()?;
        queue.bytes.set(queue.bytes.get() - self.files.borrow()[file].bytes);
        Some(file)
    }

    /// Sleeps `every`, again and again while too little is due. Ticks that change nothing are left out: a run in which nothing else
    /// happens ends.
    async fn sleep(&'m self, spec: &MigrateSpec, queue: &'m TapeQueue<'m>) {
        let (sim, mut since) = (self.context.shared.sim, self.now());
        loop {
            let will_be_old = spec.mount.is_some_and(|rule| rule.age.is_some());
            let is_due = !queue.files.borrow().is_empty();
            if queue.fresh.borrow().is_empty() && !(is_due && (will_be_old || self.is_enough(spec, queue))) {
                queue.deposits.wait(()).await;
            }
            let ticks = (sim.now() - since).0.div_ceil(spec.every.0).max(1);
            since += Nanos(ticks * spec.every.0);
            sim.until(since).await;
            self.list(spec, queue);
            if self.is_enough(spec, queue) {
                return;
            }
        }
    }

    /// Returns true if enough is due for one more stream.
    fn is_enough(&self, spec: &MigrateSpec, queue: &TapeQueue) -> bool {
        let due = queue.files.borrow();
        let Some(rule) = spec.mount else { return !due.is_empty() };
        let (streams, stored) =
            (queue.writing.borrow().value() + 1, |file: &FileNumber| self.files.borrow()[*file].stored);
        let is_old =
            |age: Nanos| due.iter().map(stored).min().is_some_and(|oldest| self.now() - oldest >= age);
        rule.bytes.is_some_and(|bytes| queue.bytes.get() >= bytes.0.saturating_mul(streams))
            || rule.files.is_some_and(|files| due.len() as u64 >= files.saturating_mul(streams))
            || streams == 1 && rule.age.is_some_and(is_old)
    }

    /// A file of a user is in the pool and not on tape.
    pub(super) fn is_fresh(&self, file: FileNumber, user: u64) {
        add(&self.fresh_bytes, self.files.borrow()[file].bytes);
        if self.for_tape.is_empty() {
            return;
        }
        let pools = self.plan.pools.of_user(user);
        let entry = &mut self.files.borrow_mut()[file];
        (entry.tape_pool, entry.copies_left) = (pools[0], pools.len() as u8);
        pools.iter().for_each(|pool| self.for_tape[usize::from(*pool)].add(file));
    }

    /// Adds the files that are due to those that wait for a stream, in order; the others stay in the list.
    fn list(&self, spec: &MigrateSpec, queue: &TapeQueue) {
        let (files, now) = (self.files.borrow(), self.now());
        let mut fresh = queue.fresh.borrow_mut();
        fresh.append(&mut queue.unreadable.borrow_mut());
        let is_due = |file: &FileNumber| now.0 - files[*file].stored.0 >= spec.min_age.0;
        let (due, later): (Vec<_>, Vec<_>) =
            fresh.drain(..).filter(|file| !files[*file].is_unwanted).partition(is_due);
        *fresh = later;
        if due.is_empty() {
            return;
        }
        add(&queue.bytes, due.iter().map(|file| files[*file].bytes).sum());
        let mut queued = queue.files.borrow_mut();
        queued.extend(due);
        queued.make_contiguous().sort_by_key(|file| {
            let entry = &files[*file];
            match spec.order {
                MigrateOrder::ByVolume => u64::from(entry.volume),
                MigrateOrder::Oldest => entry.stored.0,
                MigrateOrder::Smallest => entry.bytes,
                MigrateOrder::Largest => u64::MAX - entry.bytes,
            }
        });
    }

    async fn to_tape(&'m self, file: FileNumber, stream: &mut TapeStream<'m>) {
        self.pin(file);
        self.tell(Fact::ReadBegins(file));
        let Some(spot) = self.copy(file, stream).await else {
            self.tell(Fact::ReadEnds(file));
            stream.queue.unreadable.borrow_mut().push(file);
            return self.is_copied(file);
        };
        stream.unflushed.push((file, spot));
        let is_due = |flush: super::FlushSpec| flush.is_due(stream.unflushed.len() as u64, stream.bytes);
        if stream.spec.flush.is_none_or(is_due) {
            self.flush(stream).await;
        }
    }

    /// Writes out what a drive has in its buffer: its files are on tape.
    async fn flush(&'m self, stream: &mut TapeStream<'m>) {
        if let Some(flush) = stream.spec.flush.filter(|_| !stream.unflushed.is_empty()) {
            self.context.shared.sim.delay(flush.time).await;
            stream.queue.spend(Spent::Flushes, flush.time);
        }
        stream.bytes = 0;
        for (file, spot) in std::mem::take(&mut stream.unflushed) {
            self.is_on_tape(file, spot, stream.queue);
            self.is_copied(file);
        }
    }

    fn is_copied(&'m self, file: FileNumber) {
        self.unpin(file);
        let buffer = self.buffer_of(file);
        if buffer.exhausted.get().is_some() {
            self.purge_now(buffer);
        }
    }

    /// A file is on tape in one pool: it may leave the disk pool once it is in all that take it.
    fn is_on_tape(&self, file: FileNumber, spot: TapePosition, queue: &TapeQueue) {
        let bytes = self.files.borrow()[file].bytes;
        add(&queue.stored_bytes, bytes);
        self.tell(Fact::ReadEnds(file));
        self.tell(Fact::Copied { file, pool: queue.number });
        if !self.is_last_copy(file, (queue.number, spot)) {
            return;
        }
        self.fresh_bytes.set(self.fresh_bytes.get() - bytes);
        add(&self.counts.stored_bytes, bytes);
        self.tell(Fact::OnTape(file));
        let since = self.now() - self.files.borrow()[file].stored;
        add(&self.counts.to_tape_ms, since.0 / 1_000_000);
        add(&self.counts.on_tape, 1);
    }

    /// Notes where a copy is. Returns true if none is left to make.
    fn is_last_copy(&self, file: FileNumber, copy: TapeCopy) -> bool {
        let entry = &mut self.files.borrow_mut()[file];
        entry.copies_left -= 1;
        let mut all = self.copies.borrow_mut();
        if entry.copies_left > 0 || all.contains_key(&file) {
            let copies = all.entry(file).or_default();
            copies.push(copy);
            copies.sort_by_key(|(pool, _)| *pool);
        }
        let first = all.get(&file).map_or(copy, |copies| copies[0]);
        if entry.copies_left == 0 {
            entry.tape = Some(first.1);
        }
        entry.copies_left == 0
    }

    /// Writes the data of a file to one cartridge after another. Gives where it begins; nothing where the pool could not read it.
    async fn copy(&'m self, file: FileNumber, stream: &mut TapeStream<'m>) -> Option<TapePosition> {
        let (library, queue) = (self.libraries[stream.pool.library], stream.queue);
        let (volume, bytes) = (self.files.borrow()[file].volume, self.files.borrow()[file].bytes);
        let drive = DriveUse::default();
        let op = FileOp {
            act: FileAct::Put,
            file: u64::from(file),
            bytes,
            user: stream.pool.user,
            host: 0,
            drive,
        };
        let request = Request::new(u64::from(file), op).because(Cause::Migration);
        let (mut begin, mut from) = (None, 0);
        while from < bytes {
            let (spot, part) = library.1.next_part(stream.number, bytes - from);
            let is_new = stream.writing.as_ref().is_none_or(|(cartridge, _)| *cartridge != spot.cartridge);
            if is_new {
                self.flush(stream).await;
            }
            let mut breakdown = Breakdown::from(self.now());
            // Its bytes are counted on the link.
            library.0.begin(0);
            if is_new {
                // The drive of the full one is let go before another is asked for.
                stream.writing = None;
                queue.asking.borrow_mut().up(self.now(), 1);
                let mounted = library.1.mount((spot, part), &request, &mut breakdown).await;
                let mounted = mounted.expect("only recalls are cancelled");
                queue.asking.borrow_mut().down(self.now(), 1);
                stream.writing = Some((spot.cartridge, mounted));
            }
            let mounts = breakdown.legs().len();
            let (_, mounted) = stream.writing.as_ref().expect("it was mounted");
            for piece in self.for_puts().parts(volume, from, part) {
                self.on_tape_path(&request, (library, mounted), piece, &mut breakdown).await;
            }
            queue.spend_all(&breakdown, mounts);
            if breakdown.has_failed() {
                library.1.give_back(stream.number, spot, part);
                return None;
            }
            library.1.moved(mounted, part, true);
            library.0.end(&request.with(Block { bytes: 0, ..op.data() }), &breakdown, 0);
            begin.get_or_insert(spot);
            (from, stream.bytes) = (from + part, stream.bytes + part);
        }
        begin
    }
}
