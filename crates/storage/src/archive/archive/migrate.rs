//! From the pool to tape: one process that sleeps, lists the files that are due, and copies one after another.

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, DriveUse, FileAct, FileOp, Request};

use super::Archive;
use super::catalogue::FileNumber;
use super::spec::{MigrateOrder, MigrateSpec};
use crate::archive::fact::Fact;
use crate::archive::tape_library::{Cartridge, Mounted, TapePosition};
use crate::core::meter::add;

/// The cartridge that is being written, in its drive.
type Writing<'m> = Option<(Cartridge, Mounted<'m>)>;

impl<'m> Archive<'m> {
    /// Starts what the archive does by itself.
    pub(super) fn start(&'m self) {
        if let Some(spec) = self.plan.migrate {
            self.context.shared.sim.spawn(self.migrate(spec));
        }
    }

    async fn migrate(&'m self, spec: MigrateSpec) {
        loop {
            self.sleep(spec.every).await;
            let mut writing = None;
            for file in self.due_for_tape(spec) {
                if !self.files.borrow()[file].is_unwanted {
                    self.to_tape(file, &mut writing).await;
                }
            }
        }
    }

    /// Sleeps `every`, again and again while the list is empty. Such ticks change nothing, so they are left out: a run in which nothing else
    /// happens ends.
    async fn sleep(&'m self, every: Nanos) {
        let (sim, since) = (self.context.shared.sim, self.now());
        if self.fresh.borrow().is_empty() {
            self.deposits.wait(()).await;
        }
        let ticks = (sim.now() - since).0.div_ceil(every.0).max(1);
        sim.until(since + Nanos(ticks * every.0)).await;
    }

    /// A file is in the pool and not on tape.
    pub(super) fn is_fresh(&self, file: FileNumber) {
        self.fresh.borrow_mut().push(file);
        add(&self.fresh_bytes, self.files.borrow()[file].bytes);
        self.deposits.offer(|()| Some(()));
    }

    /// The files that are due, in order; the others stay in the list.
    fn due_for_tape(&self, spec: MigrateSpec) -> Vec<FileNumber> {
        let (files, now) = (self.files.borrow(), self.now());
        let mut fresh = self.fresh.borrow_mut();
        fresh.append(&mut self.unreadable.borrow_mut());
        let is_due = |file: &FileNumber| now.0 - files[*file].stored.0 >= spec.min_age.0;
        let (mut due, later): (Vec<_>, Vec<_>) =
            fresh.drain(..).filter(|file| !files[*file].is_unwanted).partition(is_due);
        *fresh = later;
        due.sort_by_key(|file| {
            let entry = &files[*file];
            match spec.order {
                MigrateOrder::ByVolume => u64::from(entry.volume),
                MigrateOrder::Oldest => entry.stored.0,
                MigrateOrder::Smallest => entry.bytes,
                MigrateOrder::Largest => u64::MAX - entry.bytes,
            }
        });
        due
    }

    async fn to_tape(&'m self, file: FileNumber, writing: &mut Writing<'m>) {
        self.pin(file);
        self.tell(Fact::ReadBegins(file));
        match self.copy(file, writing).await {
            Some(spot) => self.is_on_tape(file, spot),
            None => {
                self.tell(Fact::ReadEnds(file));
                self.unreadable.borrow_mut().push(file);
            }
        }
        self.unpin(file);
        if self.counts.exhausted.get().is_some() {
            self.purge_now();
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
    async fn copy(&'m self, file: FileNumber, writing: &mut Writing<'m>) -> Option<TapePosition> {
        let library = self.library.expect("an archive that stores to tape has a library");
        let (volume, bytes) = (self.files.borrow()[file].volume, self.files.borrow()[file].bytes);
        let drive = DriveUse::default();
        let op = FileOp { act: FileAct::Put, file: u64::from(file), bytes, user: 0, host: 0, drive };
        let request = Request::new(u64::from(file), op).because(Cause::Migration);
        let (mut breakdown, mut begin, mut from) = (Breakdown::from(self.now()), None, 0);
        while from < bytes {
            let (spot, part) = library.1.next_part(bytes - from);
            let before = breakdown.legs().len();
            // Its bytes are counted on the link.
            library.0.begin(0);
            if writing.as_ref().is_none_or(|(cartridge, _)| *cartridge != spot.cartridge) {
                // The drive of the full one is let go before another is asked for.
                *writing = None;
                *writing = Some((spot.cartridge, library.1.mount(spot, &request, &mut breakdown).await));
            }
            let (_, mounted) = writing.as_ref().expect("it was mounted");
            for piece in self.pool.1.parts(volume, from, part) {
                self.on_tape_path(&request, (library, mounted), piece, &mut breakdown).await;
            }
            if breakdown.has_failed() {
                library.1.give_back(spot, part);
                return None;
            }
            library.1.moved(mounted, part, true);
            library.0.end(&request.with(Block { bytes: 0, ..op.data() }), &breakdown, before);
            begin.get_or_insert(spot);
            from += part;
        }
        begin
    }
}
