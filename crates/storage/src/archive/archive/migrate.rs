//! From the pool to tape: streams that sleep, list the files that are due, and copy one after another.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use headrace_stats::Gauge;
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, DriveUse, FileAct, FileOp, NodeId, Request, TimeKind};

use super::Archive;
use super::catalogue::FileNumber;
use super::spec::{MigrateOrder, MigrateSpec};
use crate::archive::fact::Fact;
use crate::archive::tape_library::{Cartridge, Mounted, TapePosition};
use crate::core::meter::add;

/// A stream to tape.
struct TapeStream<'m> {
    spec: MigrateSpec,
    /// Its number among the streams.
    number: usize,
    /// The cartridge that it writes, in its drive.
    writing: Option<(Cartridge, Mounted<'m>)>,
    /// Files in the drive that are not on tape before the next flush, with where they begin; and the bytes since the last.
    unflushed: Vec<(FileNumber, TapePosition)>,
    bytes: u64,
}

/// Files that are due for tape and not being copied, and the streams that copy.
#[derive(Default)]
pub(super) struct TapeQueue {
    files: RefCell<VecDeque<FileNumber>>,
    bytes: Cell<u64>,
    writing: Cell<u64>,
    /// Streams that ask for a drive, until its tape is where they write.
    asking: RefCell<Gauge>,
    /// What the streams spent their time with, but for waiting.
    spent: RefCell<BTreeMap<Spent, Nanos>>,
}

impl TapeQueue {
    /// Returns what the streams spent their time with, waits that last included.
    pub fn spent(&self, now: Nanos) -> BTreeMap<Spent, Nanos> {
        let mut spent = self.spent.borrow().clone();
        let mounts = spent.get(&Spent::Mounts).copied().unwrap_or_default();
        spent.insert(Spent::Drives, Nanos(self.asking.borrow().area(now) as u64) - mounts);
        spent
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
        let Some(spec) = self.plan.migrate else { return };
        for number in 0..spec.streams as usize {
            self.context.shared.sim.spawn(self.migrate(spec, number));
        }
    }

    async fn migrate(&'m self, spec: MigrateSpec, number: usize) {
        let queue = &self.for_tape;
        loop {
            self.sleep(spec).await;
            queue.writing.set(queue.writing.get() + 1);
            let mut stream = TapeStream { spec, number, writing: None, unflushed: Vec::new(), bytes: 0 };
            while let Some(file) = self.next_for_tape() {
                if !self.files.borrow()[file].is_unwanted {
                    self.to_tape(file, &mut stream).await;
                }
            }
            self.flush(&mut stream).await;
            queue.writing.set(queue.writing.get() - 1);
        }
    }

    fn next_for_tape(&self) -> Option<FileNumber> {
        let file = self.for_tape.files.borrow_mut().pop_front()?;
        self.for_tape.bytes.set(self.for_tape.bytes.get() - self.files.borrow()[file].bytes);
        Some(file)
    }

    /// Sleeps `every`, again and again while too little is due. Ticks that change nothing are left out: a run in which nothing else
    /// happens ends.
    async fn sleep(&'m self, spec: MigrateSpec) {
        let (sim, mut since) = (self.context.shared.sim, self.now());
        loop {
            let will_be_old = spec.mount.is_some_and(|rule| rule.age.is_some());
            let is_due = !self.for_tape.files.borrow().is_empty();
            if self.fresh.borrow().is_empty() && !(is_due && (will_be_old || self.is_enough(spec))) {
                self.deposits.wait(()).await;
            }
            let ticks = (sim.now() - since).0.div_ceil(spec.every.0).max(1);
            since += Nanos(ticks * spec.every.0);
            sim.until(since).await;
            self.list(spec);
            if self.is_enough(spec) {
                return;
            }
        }
    }

    /// Returns true if enough is due for one more stream.
    fn is_enough(&self, spec: MigrateSpec) -> bool {
        let (due, queue) = (self.for_tape.files.borrow(), &self.for_tape);
        let Some(rule) = spec.mount else { return !due.is_empty() };
        let (streams, stored) =
            (queue.writing.get() + 1, |file: &FileNumber| self.files.borrow()[*file].stored);
        let is_old =
            |age: Nanos| due.iter().map(stored).min().is_some_and(|oldest| self.now() - oldest >= age);
        rule.bytes.is_some_and(|bytes| queue.bytes.get() >= bytes.0.saturating_mul(streams))
            || rule.files.is_some_and(|files| due.len() as u64 >= files.saturating_mul(streams))
            || streams == 1 && rule.age.is_some_and(is_old)
    }

    /// A file is in the pool and not on tape.
    pub(super) fn is_fresh(&self, file: FileNumber) {
        self.fresh.borrow_mut().push(file);
        add(&self.fresh_bytes, self.files.borrow()[file].bytes);
        self.deposits.offer(|()| Some(()));
    }

    /// Adds the files that are due to those that wait for a stream, in order; the others stay in the list.
    fn list(&self, spec: MigrateSpec) {
        let (files, now) = (self.files.borrow(), self.now());
        let mut fresh = self.fresh.borrow_mut();
        fresh.append(&mut self.unreadable.borrow_mut());
        let is_due = |file: &FileNumber| now.0 - files[*file].stored.0 >= spec.min_age.0;
        let (due, later): (Vec<_>, Vec<_>) =
            fresh.drain(..).filter(|file| !files[*file].is_unwanted).partition(is_due);
        *fresh = later;
        if due.is_empty() {
            return;
        }
        add(&self.for_tape.bytes, due.iter().map(|file| files[*file].bytes).sum());
        let mut queue = self.for_tape.files.borrow_mut();
        queue.extend(due);
        queue.make_contiguous().sort_by_key(|file| {
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
            self.unreadable.borrow_mut().push(file);
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
            self.spend(Spent::Flushes, flush.time);
        }
        stream.bytes = 0;
        for (file, spot) in std::mem::take(&mut stream.unflushed) {
            self.is_on_tape(file, spot);
            self.is_copied(file);
        }
    }

    fn is_copied(&'m self, file: FileNumber) {
        self.unpin(file);
        if self.counts.exhausted.get().is_some() {
            self.purge_now();
        }
    }

    fn spend(&self, on: Spent, time: Nanos) {
        *self.for_tape.spent.borrow_mut().entry(on).or_default() += time;
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

    fn is_on_tape(&self, file: FileNumber, spot: TapePosition) {
        self.files.borrow_mut()[file].tape = Some(spot);
        let bytes = self.files.borrow()[file].bytes;
        self.fresh_bytes.set(self.fresh_bytes.get() - bytes);
        add(&self.counts.stored_bytes, bytes);
        self.tell(Fact::ReadEnds(file));
        self.tell(Fact::OnTape(file));
        let since = self.now() - self.files.borrow()[file].stored;
        add(&self.counts.to_tape_ms, since.0 / 1_000_000);
        add(&self.counts.on_tape, 1);
    }

    /// Writes the data of a file to one cartridge after another. Gives where it begins; nothing where the pool could not read it.
    async fn copy(&'m self, file: FileNumber, stream: &mut TapeStream<'m>) -> Option<TapePosition> {
        let library = self.library.expect("an archive that stores to tape has a library");
        let (volume, bytes) = (self.files.borrow()[file].volume, self.files.borrow()[file].bytes);
        let drive = DriveUse::default();
        let op = FileOp { act: FileAct::Put, file: u64::from(file), bytes, user: 0, host: 0, drive };
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
                self.for_tape.asking.borrow_mut().up(self.now(), 1);
                let mounted = library.1.mount((spot, part), &request, &mut breakdown).await;
                self.for_tape.asking.borrow_mut().down(self.now(), 1);
                stream.writing = Some((spot.cartridge, mounted));
            }
            let mounts = breakdown.legs().len();
            let (_, mounted) = stream.writing.as_ref().expect("it was mounted");
            for piece in self.pool.1.parts(volume, from, part) {
                self.on_tape_path(&request, (library, mounted), piece, &mut breakdown).await;
            }
            self.spend_all(&breakdown, mounts);
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
