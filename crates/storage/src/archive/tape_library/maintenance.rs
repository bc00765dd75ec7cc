//! Maintenance of cartridges: they are verified, or their data is moved to others (repack), in drives that no request wants.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use headrace_kernel::{LinkId, subkey};
use headrace_units::{Bytes, Fraction, Nanos};
use headrace_work::{Breakdown, Cause, Invalid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::Tape;
use super::drives::DriveRequest;
use super::spec::{DriveGroup, TapeLibrarySpec};
use super::{Cartridge, Mounted, TapeLibrary, TapePosition};
use crate::core::meter::{Meter, add};

/// Repack: the data of old cartridges is copied to new ones, from tape to tape, each pair of cartridges in a pair of drives. A cartridge is read
/// from its beginning to its end. It takes drives that no request wants, and lets go of them between two pieces if one does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepackSpec {
    /// Number of cartridges, of the library's `cartridges`, each full. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub cartridges: Option<u32>,
    /// Number of the group whose cartridges these are, counted from 0. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Number of the group whose cartridges take the data. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
    /// Share of the data of each cartridge that is still wanted, and is copied.
    #[serde(default = "all")]
    pub live: Fraction,
    /// Maximum number of drives at a time, an even number: two for each cartridge that is read. With 0, nothing is repacked.
    #[serde(default = "two")]
    #[schemars(range(max = 10_000))]
    pub drives: u32,
    /// Bytes of a cartridge that are read before drives are left to requests that wait for them.
    #[serde(default = "piece")]
    pub piece: Bytes,
}

/// Verification: cartridges are read from their beginning to their end, in drives that no request wants. A drive is let go of between two
/// pieces if a request wants it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifySpec {
    /// Number of cartridges, of the library's `cartridges`, each full. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub cartridges: Option<u32>,
    /// Maximum number of drives at a time.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub drives: u32,
    /// Bytes of a cartridge that are read before its drive is left to requests that wait for it.
    #[serde(default = "piece")]
    pub piece: Bytes,
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn all() -> Fraction {
    Fraction(1.0)
}

/// Four to five minutes of an LTO-9 drive.
const fn piece() -> Bytes {
    Bytes(100_000_000_000)
}

impl RepackSpec {
    /// Returns the error of values that cannot be in a library; `None` if they can.
    pub(super) fn problem(&self, library: &TapeLibrarySpec) -> Option<Invalid> {
        let groups = library.groups.len() as u32;
        for (field, group) in [("from", self.from), ("to", self.to)] {
            if let Some(group) = group.filter(|group| *group >= groups) {
                let message =
                    format!("there is no group {group}; the library has groups 0 to {}", groups - 1);
                return Some(Invalid::new(field, message));
            }
        }
        if let Some(problem) = too_many(self.cartridges, library) {
            return Some(problem);
        }
        if !self.drives.is_multiple_of(2) {
            let message = format!("{} drives: each cartridge that is read takes two", self.drives);
            return Some(Invalid::new("drives", message).help("give an even number"));
        }
        if self.live.get() <= 0.0 {
            return Some(
                Invalid::new("live", "nothing of the cartridges is copied").help("give a share above 0"),
            );
        }
        problem_of(self.piece)
    }
}

/// Returns the error of more cartridges than a library has; `None` if it has as many.
fn too_many(asked: Option<u32>, library: &TapeLibrarySpec) -> Option<Invalid> {
    let asked = asked.filter(|asked| *asked > library.cartridges)?;
    let message = format!("{asked} of the {} cartridges of the library", library.cartridges);
    Some(
        Invalid::new("cartridges", message)
            .help("give the library more `cartridges`, or leave it out for all of them"),
    )
}

impl RepackSpec {
    /// Returns the error of a repack for which no two drives ever suffice; `None` if two do.
    pub(super) fn lacks_drives(&self, library: &TapeLibrarySpec, tapes: &[Tape]) -> Option<Invalid> {
        let groups = |chosen: Option<u32>| match chosen {
            Some(group) => group as usize..group as usize + 1,
            None => 0..tapes.len(),
        };
        let pairs = groups(self.from).flat_map(|from| groups(self.to).map(move |to| (from, to)));
        let lacking = |(from, to): &(usize, usize)| drives_for(library, tapes, *from, *to) < 2;
        let (from, to) = pairs.into_iter().find(lacking).filter(|_| self.drives > 0)?;
        let message = format!(
            "no two drives can read cartridges of `groups[{from}]` and write those of `groups[{to}]` at a time"
        );
        Some(Invalid::new("drives", message).help("give the group more `drives`, or set `to`"))
    }
}

/// Returns the number of drives that can read the cartridges of one group, or write those of another.
fn drives_for(library: &TapeLibrarySpec, tapes: &[Tape], from: usize, to: usize) -> u32 {
    let can = |drives: usize, group: usize, writes: bool| {
        drives == group || library.pass_through.is_some() && tapes[drives].takes(&tapes[group], writes)
    };
    let of_group = |(at, group): (usize, &DriveGroup)| match (can(at, from, false), can(at, to, true)) {
        (true, true) => group.drives,
        (true, false) => group.drives - group.for_writes,
        (false, true) => group.drives - group.for_reads,
        (false, false) => 0,
    };
    library.groups.iter().enumerate().map(of_group).sum()
}

impl VerifySpec {
    /// Returns the error of invalid values; `None` if they are valid.
    pub(super) fn problem(&self, library: &TapeLibrarySpec) -> Option<Invalid> {
        too_many(self.cartridges, library).or_else(|| problem_of(self.piece))
    }
}

fn problem_of(piece: Bytes) -> Option<Invalid> {
    let problem = || Invalid::new("piece", "a piece of no bytes takes for ever").help("give some bytes");
    (piece.0 == 0).then(problem)
}

/// Maintenance of one kind in a simulation: what is to be done and what is done.
#[derive(Default)]
pub(super) struct Job {
    /// The first cartridge that nobody has begun with, and how many are left of which none has.
    next: Cell<Cartridge>,
    left: Cell<u32>,
    /// Bytes that are to be read, and those that have been.
    all: Cell<u64>,
    done: Cell<u64>,
    /// When the last of them was.
    until: Cell<Nanos>,
}

/// The maintenance of a library in a simulation.
#[derive(Default)]
pub(super) struct Maintenance {
    repack: Job,
    verify: Job,
    /// Where the data of repacked cartridges begins, and the share of it that was copied.
    moved: RefCell<BTreeMap<Cartridge, (TapePosition, f64)>>,
    /// The cartridge that each worker of the repack fills, and how much is on it.
    filling: RefCell<Vec<(Cartridge, u64)>>,
}

/// What a worker does with each cartridge.
#[derive(Clone, Copy)]
struct Task<'m> {
    job: &'m Job,
    /// The group whose cartridges it takes.
    from: Option<usize>,
    /// Bytes that it reads before it lets go of drives that are wanted.
    piece: u64,
    /// Where it writes, if it does.
    copy: Option<Copying>,
}

/// Where a worker of the repack writes.
#[derive(Clone, Copy)]
struct Copying {
    worker: usize,
    group: Option<usize>,
    /// The share of what is read that is written.
    live: f64,
}

/// A piece of a cartridge: the bytes that are read, and those that are written.
struct Piece {
    read: u64,
    written: u64,
}

impl Job {
    /// Begins with a number of cartridges of this capacity.
    fn begin(&self, cartridges: u32, capacity: u64) {
        self.left.set(cartridges);
        self.all.set(u64::from(cartridges).saturating_mul(capacity));
    }

    fn is_read(&self, bytes: u64, now: Nanos) {
        add(&self.done, bytes);
        self.until.set(now);
    }

    /// Puts its progress, the bytes that were read, and since when, once some were.
    fn meters(&self, names: [&'static str; 3], now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let (all, done) = (self.all.get(), self.done.get());
        if done > 0 {
            let took = if done == all { self.until.get() } else { now };
            put(names[0], Meter::Share(done, all));
            put(names[1], Meter::Count(done));
            put(names[2], Meter::Share(took.0, 1_000_000_000));
        }
    }
}

impl Maintenance {
    pub(super) fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        self.repack.meters(["repack_progress", "repacked_bytes", "repack_s"], now, put);
        self.verify.meters(["verification_progress", "verified_bytes", "verification_s"], now, put);
    }
}

impl<'m> TapeLibrary<'m> {
    /// Begins what the library does by itself.
    pub(super) fn begin_maintenance(&'m self) {
        let (work, sim) = (&self.maintenance, self.context.shared.sim);
        if let Some(spec) = &self.spec.repack {
            let (from, to) = (spec.from.map(|group| group as usize), spec.to.map(|group| group as usize));
            self.begin_job(&work.repack, from, spec.cartridges);
            for worker in 0..spec.drives as usize / 2 {
                let copy = Some(Copying { worker, group: to, live: spec.live.get() });
                sim.spawn(self.maintain(Task { job: &work.repack, from, piece: spec.piece.0, copy }));
            }
        }
        if let Some(spec) = &self.spec.verify {
            self.begin_job(&work.verify, None, spec.cartridges);
            for _ in 0..spec.drives {
                let task = Task { job: &work.verify, from: None, piece: spec.piece.0, copy: None };
                sim.spawn(self.maintain(task));
            }
        }
    }

    /// Of a group with cartridges in a share of the silos, about that share of all cartridges is of that group.
    fn begin_job(&self, job: &Job, from: Option<usize>, cartridges: Option<u32>) {
        let silos = from.map_or(self.spec.all_silos(), |group| self.spec.groups[group].silos);
        let share = f64::from(silos) / f64::from(self.spec.all_silos());
        let there = (f64::from(self.spec.cartridges) * share) as u32;
        job.begin(cartridges.map_or(there, |cartridges| cartridges.min(there)), self.expected(from));
    }

    /// Returns the mean capacity of the cartridges of a group, or of all groups.
    fn expected(&self, from: Option<usize>) -> u64 {
        if let Some(group) = from {
            return self.tapes[group].capacity;
        }
        let groups = self.spec.groups.iter().zip(self.tapes);
        let of_silos =
            |(group, tape): (&DriveGroup, &Tape)| u128::from(group.silos) * u128::from(tape.capacity);
        (groups.map(of_silos).sum::<u128>() / u128::from(self.spec.all_silos())) as u64
    }

    async fn maintain(&'m self, task: Task<'m>) {
        while let Some(cartridge) = self.next_old(task) {
            let (mut at, mut begin) = (0, None);
            while at < self.capacity(cartridge) {
                at = self.read_on(task, cartridge, at, &mut begin).await;
            }
            if let (Some(copy), Some(begin)) = (task.copy, begin) {
                self.maintenance.moved.borrow_mut().insert(cartridge, (begin, copy.live));
            }
        }
    }

    /// Returns the next cartridge that is to be read.
    fn next_old(&self, task: Task) -> Option<Cartridge> {
        let job = task.job;
        let left = job.left.get().checked_sub(1)?;
        let is_of = |cartridge: &Cartridge| task.from.is_none_or(|group| self.group_of(*cartridge) == group);
        let expected = self.expected(task.from);
        let Some(found) = (job.next.get()..self.spec.cartridges).find(is_of) else {
            // There were fewer than their share of the silos.
            job.all.set(job.all.get() - job.left.replace(0) as u64 * expected);
            return None;
        };
        job.left.set(left);
        job.next.set(found + 1);
        job.all.set(job.all.get() - expected + self.capacity(found));
        Some(found)
    }

    /// Reads a cartridge from a position on, as long as nobody wants the drives and there is room for what is copied. Gives how far it came.
    async fn read_on(
        &'m self,
        task: Task<'m>,
        cartridge: Cartridge,
        from: u64,
        begin: &mut Option<TapePosition>,
    ) -> u64 {
        let (end, mut at) = (self.capacity(cartridge), from);
        let to = task.copy.map(|copy| self.room(copy, 0).0);
        let asks = (self.asks_idle(cartridge, false), to.map(|to| self.asks_idle(to.cartridge, true)));
        let drives = self.drives.take_idle(asks).await;
        let source = self.hold(drives.0, asks.0, at).await;
        let target = match (drives.1, asks.1, to) {
            (Some(drive), Some(wanted), Some(to)) => Some(self.hold(drive, wanted, to.offset).await),
            _ => None,
        };
        *begin = begin.or(to);
        while at < end {
            let piece = self.piece(task, end - at);
            self.move_piece(task, &piece, &source, target.as_ref()).await;
            at += piece.read;
            let mut held = [Some(&source), target.as_ref()].into_iter().flatten();
            let is_full = task.copy.is_some_and(|copy| self.is_full(copy));
            if is_full || held.any(|mounted| self.drives.is_wanted(mounted.drive)) {
                break;
            }
        }
        at
    }

    /// Returns what a worker asks of the drives: one that no request wants.
    fn asks_idle(&self, cartridge: Cartridge, writes: bool) -> DriveRequest {
        let number = self.drives.next_number();
        let key = subkey(number, u64::from(cartridge));
        let load = self.load_time(cartridge, key);
        let (home, since) = (self.group_of(cartridge), self.context.shared.sim.now());
        DriveRequest {
            cartridge,
            home,
            cause: Cause::Maintenance,
            writes,
            load,
            span: (0, 0),
            number,
            since,
            file: None,
            user: 0,
            share: None,
            priority: u8::MAX,
            within: Nanos::MAX,
        }
    }

    /// Has a cartridge brought to a drive that was taken for it, and goes to a position.
    async fn hold(&'m self, drive: usize, wanted: DriveRequest, position: u64) -> Mounted<'m> {
        let (sim, cause) = (self.context.shared.sim, wanted.cause);
        self.held.borrow_mut().up(sim.now(), 1);
        add(&self.accesses, 1);
        let mounted = Mounted { library: self, drive, cause, since: sim.now(), serves: true };
        self.drives.mount(drive, wanted, &mut Breakdown::from(sim.now())).await;
        self.drives.locate(drive, position).await;
        mounted
    }

    /// Returns the next piece of a cartridge of which this much is left: no more than there is room for.
    fn piece(&self, task: Task, left: u64) -> Piece {
        let read = task.piece.min(left);
        let Some(copy) = task.copy else { return Piece { read, written: 0 } };
        let wanted = ((read as f64 * copy.live) as u64).max(1);
        let (_, written) = self.room(copy, wanted);
        let read = if written == wanted { read } else { (written as f64 / copy.live) as u64 };
        Piece { read: read.clamp(1, left), written }
    }

    /// Returns where a worker writes the next bytes, and how many of them there is room for. They are taken.
    fn room(&self, copy: Copying, bytes: u64) -> (TapePosition, u64) {
        self.part_in(&self.maintenance.filling, copy.worker, copy.group, bytes)
    }

    fn is_full(&self, copy: Copying) -> bool {
        let (cartridge, bytes) = self.maintenance.filling.borrow()[copy.worker];
        bytes == self.capacity(cartridge)
    }

    /// Moves a piece over the paths of its drives, as fast as both of them: what is not live passes under the head too.
    async fn move_piece(
        &'m self,
        task: Task<'m>,
        piece: &Piece,
        source: &Mounted<'m>,
        target: Option<&Mounted<'m>>,
    ) {
        let (from, to) = (self.link(source), target.map(|target| self.link(target)));
        let live = task.copy.map_or(1.0, |copy| copy.live);
        let sent = if to.is_some() { piece.written } else { piece.read };
        let most = to.map_or(from.1, |(_, most)| most.min(from.1 * live));
        // On one path, all of it goes by twice.
        let times = if to.is_some_and(|to| to.0 == from.0) { 2 } else { 1 };
        let links: Vec<LinkId> =
            [Some(from.0), to.map(|to| to.0).filter(|_| times == 1)].into_iter().flatten().collect();
        let fluid = &self.context.shared.fluid;
        fluid.transfer(times * sent, &links, times as f64 * most, Cause::Maintenance as usize).await;
        self.moved(source, piece.read, false);
        if let Some(target) = target {
            self.moved(target, piece.written, true);
        }
        task.job.is_read(piece.read, self.context.shared.sim.now());
    }

    /// Returns where data is now that was written to a place: on another cartridge if that one was repacked.
    pub(super) fn where_is(&self, spot: TapePosition) -> TapePosition {
        let moved = self.maintenance.moved.borrow();
        let Some((begin, live)) = moved.get(&spot.cartridge) else { return spot };
        let mut at = TapePosition { offset: begin.offset + (spot.offset as f64 * live) as u64, ..*begin };
        while at.offset >= self.capacity(at.cartridge) {
            let offset = at.offset - self.capacity(at.cartridge);
            at = TapePosition { cartridge: self.after(at.cartridge), offset };
        }
        at
    }
}
