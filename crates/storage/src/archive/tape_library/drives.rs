//! The drives of a library: which cartridge is in which, and which request gets one next.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::{Locking, Locks, RngStream, Sim, WaitList};
use headrace_stats::Gauge;
use headrace_units::Nanos;
use headrace_work::{Breakdown, Cause, NodeId};

use super::arms::Arms;
use super::cells::{Cells, Shelves};
use super::device::Tape;
use super::queue::Rank;
use super::recall::{Batch, Recall};
use super::shares::{SharedUse, Shares};
use super::spec::{Cleaning, DriveGroup, TapeLibraryPlan, TapeLibrarySpec};
use super::vacant::Vacant;
use crate::core::context::NodeContext;

/// A cartridge, by its number.
pub(crate) type Cartridge = u32;

/// How soon a cartridge could be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Readiness {
    /// True if it is in a drive, or on its way to one.
    pub is_mounted: bool,
    /// True if a stream writes it, or maintenance uses it: recalls wait until that ends.
    pub is_kept: bool,
    /// True if a drive of its library works.
    pub works: bool,
    /// Requests that wait for a drive of its library, for each drive.
    pub waiting: f64,
}

/// A request for a drive.
#[derive(Clone, Copy)]
pub(super) struct DriveRequest {
    pub cartridge: Cartridge,
    /// The group in whose silos the cartridge lies.
    pub home: usize,
    pub cause: Cause,
    /// True if it writes to the cartridge.
    pub writes: bool,
    /// Time of the load, if the cartridge must be mounted.
    pub load: Nanos,
    /// Where its data begins on the tape and where it ends, in bytes.
    pub span: (u64, u64),
    /// Its number among all, and when it came.
    pub number: u64,
    pub since: Nanos,
    /// The file that is recalled, or stored, and the user that asked for it.
    pub file: Option<u64>,
    pub user: u64,
    /// The share of the drives that it belongs to, its priority, and within which time it should have a drive; [`Nanos::MAX`] for any.
    pub share: Option<u32>,
    pub priority: u8,
    pub within: Nanos,
}

/// Requests that waited, or were served, and for how long together, in ns. One that lets others go first after it had its cartridge mounted
/// comes twice, and is one visit.
#[derive(Clone, Copy, Default)]
pub(super) struct Visits {
    pub count: u64,
    pub time: u128,
}

impl Visits {
    fn and(self, time: Nanos, ends: bool) -> Self {
        Self { count: self.count + u64::from(ends), time: self.time + u128::from(time.0) }
    }
}

#[derive(Clone, Copy)]
pub(super) struct TapeDrive {
    pub group: usize,
    /// True if it mounts cartridges to read them, and to write.
    pub reads: bool,
    pub writes: bool,
    pub cartridge: Option<Cartridge>,
    /// The cartridge that it has, or had last: put away for others, it does not come back before them.
    pub last: Option<Cartridge>,
    /// The group that its cartridge goes back to.
    pub home: usize,
    /// Position of its tape, in bytes from the beginning.
    position: u64,
    /// The share of its buffer that is used up since it started or last went back.
    drained: f64,
    /// True if a request uses the drive, or a robot is about to; and the cartridge that it is used for.
    pub is_held: bool,
    /// True if the drive has failed: it takes no request until it returns.
    pub is_down: bool,
    pub used_for: Option<Cartridge>,
    /// True if its cartridge is stuck in it.
    pub is_stuck: bool,
    /// When its cartridge will be put away, if that goes on and waits for no arm.
    empty_at: Nanos,
    /// What it is used for, or was last: its cartridge is put away for that too. A host wants the data of its cartridge; a stream that fills one
    /// could as well fill another, and maintenance yields to requests.
    cause: Cause,
    /// The share whose request uses it.
    shared: Option<SharedUse>,
    /// Since when it is unused, or held.
    pub since: Nanos,
    /// Number of mounts since it was cleaned.
    pub mounts: u32,
    /// Number of times that it was taken: a deferred dismount is dropped if the drive was taken again.
    taken: u64,
}

/// The drives and robots of a library in a simulation.
pub(super) struct Drives<'m> {
    /// The library, in breakdowns.
    library: NodeId,
    pub(super) sim: &'m Sim<'m>,
    pub(super) spec: &'m TapeLibrarySpec,
    pub(super) tapes: &'m [Tape],
    /// The time to put a cartridge of each group away from the middle of its tape, by the group of the drive.
    put_away: Vec<Vec<Nanos>>,
    pub(super) drives: RefCell<Vec<TapeDrive>>,
    /// The drives that no request has, so that requests need not look at all.
    pub(super) vacant: RefCell<Vacant>,
    /// The drive that a cartridge is in or on its way to.
    pub(super) places: RefCell<BTreeMap<Cartridge, usize>>,
    /// Time for which requests used the drives of each group, and each cartridge.
    used_groups: RefCell<Vec<Nanos>>,
    used_cartridges: RefCell<BTreeMap<Cartridge, Nanos>>,
    /// Time at which requests that accumulate for a cartridge ask for a drive.
    accumulating: RefCell<BTreeMap<Cartridge, Nanos>>,
    /// Those requests; one that is given something is cancelled.
    gathering: WaitList<'m, DriveRequest, ()>,
    pub(super) arms: Arms<'m>,
    /// The cells, and the cartridges that an arm moves from one to another.
    cells: Shelves<'m>,
    moving: Locks<'m>,
    /// Those that wait; one that is cancelled is given none.
    pub(super) queue: WaitList<'m, DriveRequest, Option<usize>>,
    /// Those that wait, by rank and ticket.
    pub(super) ranked: RefCell<BTreeMap<(Rank, u64), DriveRequest>>,
    /// Maintenance that waits for a drive to be idle.
    idle: WaitList<'m, (), ()>,
    pub shares: Shares<'m>,
    /// Those that wait, by cartridge and ticket; and the ticket of each, by its number.
    pub(super) asked: RefCell<BTreeMap<(Cartridge, u64), DriveRequest>>,
    pub(super) tickets: RefCell<BTreeMap<u64, u64>>,
    /// The requests that each drive serves next for its cartridge, by their numbers.
    pub(super) batches: RefCell<Vec<VecDeque<u64>>>,
    requests: Cell<u64>,
    /// Requests that wait for a drive, by the group of their cartridge; and the drives of each group that have failed and are not in use.
    pub(super) waiting: RefCell<Vec<Gauge>>,
    pub(super) away: RefCell<Vec<Gauge>>,
    pub busy: RefCell<[Gauge; Cause::ALL.len()]>,
    pub waits: Cell<Visits>,
    pub services: Cell<Visits>,
    pub mounts: Cell<u64>,
    pub passed: Cell<u64>,
    pub relocated: Cell<u64>,
    pub cleanings: Cell<u64>,
    /// What fails after a mount, a move and a dismount; numbers of the latter two, and of failures.
    pub(super) failing: [RngStream; 3],
    pub(super) moves: Cell<u64>,
    pub(super) dismounts: Cell<u64>,
    pub failures: Cell<u64>,
}

fn drives_of((group, of): (usize, &DriveGroup)) -> impl Iterator<Item = TapeDrive> + use<> {
    let DriveGroup { drives, for_reads, for_writes, .. } = *of;
    (0..drives).map(move |number| TapeDrive {
        group,
        reads: number >= for_writes,
        writes: !(for_writes..for_writes + for_reads).contains(&number),
        cartridge: None,
        last: None,
        home: group,
        position: 0,
        drained: 0.0,
        is_held: false,
        is_down: false,
        used_for: None,
        is_stuck: false,
        empty_at: Nanos::ZERO,
        cause: Cause::Host,
        shared: None,
        since: Nanos::ZERO,
        mounts: 0,
        taken: 0,
    })
}

/// Returns the time to put a cartridge of each group away from the middle of its tape, by a drive.
fn put_away_by(drive: &Tape, plan: &TapeLibraryPlan) -> Vec<Nanos> {
    let time = |tape: &Tape| drive.unload_time(tape, tape.capacity / 2) + plan.spec.robot_move;
    plan.tapes.iter().map(time).collect()
}

impl<'m> Drives<'m> {
    pub fn new(context: &'m NodeContext<'m>, plan: &'m TapeLibraryPlan) -> Self {
        let (library, sim, spec) = (context.id, context.shared.sim, &plan.spec);
        let drives: Vec<TapeDrive> = spec.groups.iter().enumerate().flat_map(drives_of).collect();
        Self {
            library,
            sim,
            spec,
            tapes: &plan.tapes,
            put_away: plan.tapes.iter().map(|drive| put_away_by(drive, plan)).collect(),
            batches: RefCell::new(vec![VecDeque::new(); drives.len()]),
            asked: RefCell::default(),
            tickets: RefCell::default(),
            requests: Cell::new(0),
            vacant: RefCell::new(Vacant::of(&drives)),
            drives: RefCell::new(drives),
            places: RefCell::default(),
            used_groups: RefCell::new(vec![Nanos::ZERO; spec.groups.len()]),
            used_cartridges: RefCell::default(),
            accumulating: RefCell::default(),
            gathering: WaitList::new(sim),
            arms: Arms::new(sim, spec),
            cells: Shelves::new(spec.cells.as_ref(), spec.groups.len(), context.stream("cells")),
            moving: Locks::new(sim, 1),
            queue: WaitList::new(sim),
            ranked: RefCell::default(),
            idle: WaitList::new(sim),
            shares: Shares::new(&spec.shares),
            waiting: RefCell::new(vec![Gauge::default(); spec.groups.len()]),
            away: RefCell::new(vec![Gauge::default(); spec.groups.len()]),
            busy: RefCell::default(),
            waits: Cell::default(),
            services: Cell::default(),
            mounts: Cell::new(0),
            passed: Cell::new(0),
            relocated: Cell::new(0),
            cleanings: Cell::new(0),
            failing: ["drive failures", "arm failures", "stuck cartridges"]
                .map(|purpose| context.stream(purpose)),
            moves: Cell::new(0),
            dismounts: Cell::new(0),
            failures: Cell::new(0),
        }
    }

    /// Returns how soon a cartridge could be read.
    pub fn readiness(&self, cartridge: Cartridge) -> Readiness {
        let drives = self.drives.borrow();
        let place = self.places.borrow().get(&cartridge).copied();
        let keeps = |at: usize| {
            let drive = &drives[at];
            drive.is_held && drive.used_for == Some(cartridge) && drive.cause != Cause::Host
        };
        Readiness {
            is_mounted: place.is_some(),
            is_kept: place.is_some_and(keeps),
            works: drives.iter().any(|drive| !drive.is_down),
            waiting: self.queue.len() as f64 / drives.len() as f64,
        }
    }

    /// Returns a number that no request had before.
    pub fn next_number(&self) -> u64 {
        self.requests.replace(self.requests.get() + 1)
    }

    /// Waits for a drive for a cartridge, the `first` time or again: the one that it is in, or one that can take it. `None` if it is
    /// cancelled.
    pub async fn acquire(&'m self, wanted: DriveRequest, first: bool) -> Option<usize> {
        let since = self.sim.now();
        if self.accumulate(wanted).await {
            return None;
        }
        let drive = match self.drive_for(&wanted).filter(|drive| self.is_ready(*drive, &wanted)) {
            Some(drive) => self.take(drive, Some(&wanted)),
            None => self.wait(wanted).await?,
        };
        self.cells.use_of(wanted.home, wanted.cartridge, self.sim.now());
        self.waits.set(self.waits.get().and(self.sim.now() - since, first));
        self.busy.borrow_mut()[wanted.cause as usize].up(self.sim.now(), 1);
        Some(drive)
    }

    async fn wait(&'m self, wanted: DriveRequest) -> Option<usize> {
        self.waiting.borrow_mut()[wanted.home].up(self.sim.now(), 1);
        self.shares.waits(&wanted, self.sim.now());
        let ticket = self.queue.next_ticket();
        self.tickets.borrow_mut().insert(wanted.number, ticket);
        self.asked.borrow_mut().insert((wanted.cartridge, ticket), wanted);
        self.ranked.borrow_mut().insert((self.spec.queue.rank(&wanted), ticket), wanted);
        let waiting = self.queue.wait(wanted);
        if let Some(idle) = self.drive_for(&wanted) {
            self.hand(idle);
        }
        let drive = waiting.await;
        self.waiting.borrow_mut()[wanted.home].down(self.sim.now(), 1);
        self.shares.waited(&wanted, self.sim.now());
        drive
    }

    /// Cancels the recall of a file by a user, if it waits for a drive, or for others to come. Returns true if one did.
    pub fn cancel(&self, file: u64, user: u64) -> bool {
        let is_it =
            |wanted: &DriveRequest| wanted.file == Some(file) && wanted.user == user && !wanted.writes;
        let found = self.asked.borrow().values().find(|wanted| is_it(wanted)).copied();
        let ticket = found.and_then(|wanted| self.leaves_queue(&wanted));
        match ticket {
            Some(ticket) => self.queue.offer_to(ticket, |_| None),
            None => self.gathering.offer(|wanted| is_it(wanted).then_some(())),
        }
    }

    /// A request does not wait any more. Gives its ticket, if it did.
    fn leaves_queue(&self, wanted: &DriveRequest) -> Option<u64> {
        let ticket = self.tickets.borrow_mut().remove(&wanted.number)?;
        self.asked.borrow_mut().remove(&(wanted.cartridge, ticket));
        self.ranked.borrow_mut().remove(&(self.spec.queue.rank(wanted), ticket));
        Some(ticket)
    }

    /// Lets requests for a cartridge that is in no drive, or is being put away, come together. Returns true if this one was cancelled meanwhile.
    async fn accumulate(&'m self, wanted: DriveRequest) -> bool {
        let cartridge = wanted.cartridge;
        let place = self.places.borrow().get(&cartridge).copied();
        if self.spec.accumulate == Nanos::ZERO || place.is_some_and(|at| !self.is_put_away(at)) {
            return false;
        }
        let fresh = self.sim.now() + self.spec.accumulate;
        let due = *self.accumulating.borrow_mut().entry(cartridge).or_insert(fresh);
        let is_cancelled = self.sim.within(due, self.gathering.wait(wanted)).await.is_some();
        if !is_cancelled || !self.gathering.any(|other| other.cartridge == cartridge) {
            self.accumulating.borrow_mut().remove(&cartridge);
        }
        is_cancelled
    }

    /// Brings the cartridge into a drive that was acquired for it. Gives false if it is there.
    pub async fn mount(&'m self, drive: usize, wanted: DriveRequest, breakdown: &mut Breakdown) -> bool {
        if self.drives.borrow()[drive].cartridge == Some(wanted.cartridge) {
            return false;
        }
        self.dismount(drive, true, breakdown).await;
        let (group, near) = (self.drives.borrow()[drive].group, (Nanos::ZERO, Nanos::ZERO));
        self.clean_if_due(drive, breakdown).await;
        let cell = self.take_from_cell(wanted).await;
        self.move_cartridge(wanted.home, (cell, Nanos::ZERO), self.spec.prepare, breakdown).await;
        if let Some(pass) = self.spec.pass_through.filter(|_| group != wanted.home) {
            self.sim.delay(pass).await;
            self.passed.set(self.passed.get() + 1);
            self.move_cartridge(group, near, Nanos::ZERO, breakdown).await;
        }
        self.keep_free(group);
        self.sim.delay(wanted.load).await;
        self.has_mounted(drive, wanted);
        self.wear_drive(drive);
        true
    }

    fn has_mounted(&self, drive: usize, wanted: DriveRequest) {
        let state = &mut self.drives.borrow_mut()[drive];
        (state.cartridge, state.home) = (Some(wanted.cartridge), wanted.home);
        (state.last, state.position, state.drained) = (state.cartridge, 0, 0.0);
        state.mounts += 1;
        self.mounts.set(self.mounts.get() + 1);
    }

    /// Returns the cleaning of a drive, if it is due.
    pub(super) fn cleaning_due(&self, drive: usize) -> Option<Cleaning> {
        self.spec.cleaning.filter(|cleaning| self.drives.borrow()[drive].mounts >= cleaning.mounts)
    }

    async fn clean_if_due(&'m self, drive: usize, breakdown: &mut Breakdown) {
        let group = self.drives.borrow()[drive].group;
        let Some(cleaning) = self.cleaning_due(drive) else { return };
        let near = (Nanos::ZERO, Nanos::ZERO);
        self.move_cartridge(group, near, Nanos::ZERO, breakdown).await;
        self.sim.delay(cleaning.time).await;
        self.move_cartridge(group, near, Nanos::ZERO, breakdown).await;
        self.drives.borrow_mut()[drive].mounts = 0;
        self.cleanings.set(self.cleanings.get() + 1);
    }

    /// A cartridge leaves its cell, once it is in one. Gives how far from the drives that is.
    async fn take_from_cell(&'m self, wanted: DriveRequest) -> Nanos {
        if self.spec.cells.as_ref().is_some_and(Cells::relocates) {
            drop(self.lock(wanted.cartridge).await);
        }
        self.cells.take(wanted.home, wanted.cartridge)
    }

    /// Waits for an arm of a group, which moves a cartridge. Charges what came before as service and the wait as waiting.
    async fn move_cartridge(
        &'m self,
        group: usize,
        way: (Nanos, Nanos),
        prepare: Nanos,
        breakdown: &mut Breakdown,
    ) {
        breakdown.served(self.library, self.sim.now());
        let time = self.arms.carry(group, way, prepare).await;
        breakdown.waited(self.library, self.sim.now() - time);
        self.wear_arm(group);
        self.tidy(group);
    }

    /// Lets arms of a group that have nothing to do move cartridges that have cooled down.
    fn tidy(&'m self, group: usize) {
        if self.spec.cells.as_ref().is_some_and(Cells::relocates) {
            self.sim.spawn(self.relocate(group));
        }
    }

    /// Waits until no arm moves a cartridge from one cell to another. Until this is dropped, none does.
    fn lock(&'m self, cartridge: Cartridge) -> Locking<'m> {
        self.moving.lock(u64::from(cartridge), u64::from(cartridge) + 1)
    }

    async fn relocate(&'m self, group: usize) {
        while self.arms.is_idle(group)
            && let Some(cartridge) = self.cells.next_cold(group)
        {
            let still = self.lock(cartridge).await;
            if let Some(way) = self.cells.move_away(group, cartridge) {
                self.arms.carry(group, way, Nanos::ZERO).await;
                self.relocated.set(self.relocated.get() + 1);
            }
            drop(still);
        }
    }

    /// Dismounts cartridges of a group until enough of its drives are empty, or about to be.
    fn keep_free(&'m self, group: usize) {
        for _ in 0..self.spec.free_drives {
            let Some(drive) = self.to_be_emptied(group) else { return };
            self.put_away(drive, false);
        }
    }

    /// The drive that was unused longest, if too few are empty.
    fn to_be_emptied(&self, group: usize) -> Option<usize> {
        let drives = self.drives.borrow();
        let own = || drives.iter().enumerate().filter(|(_, drive)| drive.group == group && !drive.is_down);
        let is_empty =
            |drive: &TapeDrive| drive.used_for.is_none() && (drive.is_held || drive.cartridge.is_none());
        if own().filter(|(_, drive)| is_empty(drive)).count() >= self.spec.free_drives as usize {
            return None;
        }
        let unused = own().filter(|(_, drive)| !drive.is_held && drive.cartridge.is_some());
        unused.min_by_key(|(_, drive)| drive.since).map(|(at, _)| at)
    }

    /// Has the cartridge of an unused drive put away, in a hurry if a request waits for a drive.
    pub(super) fn put_away(&'m self, drive: usize, is_urgent: bool) {
        self.take(drive, None);
        self.sim.spawn(self.empty(drive, is_urgent));
    }

    /// Puts the cartridge of a drive away, and cleans the drive if that is due. Both are work of who used it. No request has the drive meanwhile:
    /// which is next is known when it is empty, and another drive may be empty before.
    async fn empty(&'m self, drive: usize, is_urgent: bool) {
        let TapeDrive { cause, group, home, position, .. } = self.drives.borrow()[drive];
        let (cause, unload) = (cause as usize, self.tapes[group].unload_time(&self.tapes[home], position));
        self.drives.borrow_mut()[drive].empty_at = self.sim.now() + unload + self.spec.robot_move;
        self.busy.borrow_mut()[cause].up(self.sim.now(), 1);
        let mut breakdown = Breakdown::from(self.sim.now());
        self.dismount(drive, is_urgent, &mut breakdown).await;
        self.clean_if_due(drive, &mut breakdown).await;
        self.busy.borrow_mut()[cause].down(self.sim.now(), 1);
        self.hand_on(drive);
    }

    /// Goes to a position on the tape. Gives how long that took.
    pub async fn locate(&'m self, drive: usize, to: u64) -> Nanos {
        let from = self.stand_at(drive, to);
        let time = self.locate_time(drive, from, to);
        self.sim.delay(time).await;
        time
    }

    /// The tape of a drive stands at a position. Gives where it stood before. Elsewhere the drive starts afresh.
    pub fn stand_at(&self, drive: usize, position: u64) -> u64 {
        let state = &mut self.drives.borrow_mut()[drive];
        if state.position != position {
            state.drained = 0.0;
        }
        std::mem::replace(&mut state.position, position)
    }

    /// The number of back-hitches while data came from a drive or to it in `time`, and what they cost.
    pub fn starved(&self, drive: usize, bytes: u64, time: Nanos) -> (u64, Nanos) {
        let drained = &mut self.drives.borrow_mut()[drive].drained;
        self.spec.streaming.map_or((0, Nanos::ZERO), |streaming| streaming.starved(bytes, time, drained))
    }

    /// Data went by under the head.
    pub fn pass(&self, drive: usize, bytes: u64) {
        self.drives.borrow_mut()[drive].position += bytes;
    }

    /// A drive is free for the next. Its request was served, or comes again.
    pub fn release(&'m self, drive: usize, cause: Cause, held_since: Nanos, is_served: bool) {
        let now = self.sim.now();
        self.busy.borrow_mut()[cause as usize].down(now, 1);
        self.services.set(self.services.get().and(now - held_since, is_served));
        self.hand_on(drive);
    }

    /// A drive is not used any more.
    pub(super) fn hand_on(&'m self, drive: usize) {
        let was_full = self.let_go(drive);
        if !self.drives.borrow()[drive].is_down {
            self.offer(drive);
        }
        was_full.into_iter().for_each(|share| self.hand_to(share));
    }

    /// Hands an unused drive to the next waiting request, or leaves it idle.
    pub(super) fn offer(&'m self, drive: usize) {
        if self.hand(drive) {
            return;
        }
        let TapeDrive { taken, group, cartridge, .. } = self.drives.borrow()[drive];
        if cartridge.is_some() {
            self.sim.spawn(self.dismount_later(drive, taken));
            self.keep_free(group);
        }
        while self.idle.offer(|()| Some(())) {}
    }

    /// Takes drives for maintenance once they are idle: one for a cartridge, and another for a second one beside it.
    pub async fn take_idle(
        &'m self,
        (source, target): (DriveRequest, Option<DriveRequest>),
    ) -> (usize, Option<usize>) {
        loop {
            if let Some(drives) = self.idle_drives(&source, target.as_ref()) {
                let taken = [Some((drives.0, source)), drives.1.zip(target)];
                taken
                    .into_iter()
                    .flatten()
                    .for_each(|(drive, wanted)| self.take_for_maintenance(drive, &wanted));
                return drives;
            }
            self.idle.wait(()).await;
        }
    }

    fn idle_drives(
        &self,
        source: &DriveRequest,
        target: Option<&DriveRequest>,
    ) -> Option<(usize, Option<usize>)> {
        // One that requests wait for is theirs, as soon as a drive is empty.
        if [Some(source), target].into_iter().flatten().any(|wanted| self.is_asked_for(wanted.cartridge)) {
            return None;
        }
        let Some(target) = target else { return Some((self.drive_beside(source, None)?, None)) };
        let by_source = || {
            let first = self.drive_beside(source, None)?;
            Some((first, Some(self.drive_beside(target, Some(first))?)))
        };
        // The only drive that could write may be the first choice of who reads.
        let by_target = || {
            let second = self.drive_beside(target, None)?;
            Some((self.drive_beside(source, Some(second))?, Some(second)))
        };
        by_source().or_else(by_target)
    }

    fn is_asked_for(&self, cartridge: Cartridge) -> bool {
        self.asked.borrow().range((cartridge, 0)..=(cartridge, u64::MAX)).next().is_some()
    }

    fn take_for_maintenance(&self, drive: usize, wanted: &DriveRequest) {
        self.take(drive, Some(wanted));
        self.cells.use_of(wanted.home, wanted.cartridge, self.sim.now());
        self.waits.set(self.waits.get().and(Nanos::ZERO, true));
        self.busy.borrow_mut()[wanted.cause as usize].up(self.sim.now(), 1);
    }

    /// Returns true if a drive in use has failed, or a request that waits could have it.
    pub fn is_wanted(&self, drive: usize) -> bool {
        self.drives.borrow()[drive].is_down || self.next(drive).is_some()
    }

    /// Puts the requests for a cartridge in order, after its mount with the one that had it mounted. Returns true if this one is the first.
    pub fn goes_first(&self, drive: usize, wanted: DriveRequest) -> bool {
        if self.spec.recall == Recall::Arrival {
            return true;
        }
        self.make_batch(drive, wanted.cartridge, Some(wanted));
        let batch = &mut self.batches.borrow_mut()[drive];
        let is_first = batch.front() == Some(&wanted.number);
        batch.drain(..usize::from(is_first));
        is_first
    }

    /// Makes a batch of those that may use the drive now: after the one that has it, if it is still used. One for which another share would
    /// have to wait is left out: nobody would be served, and the next cartridge would be mounted in vain.
    pub(super) fn make_batch(&self, drive: usize, cartridge: Cartridge, own: Option<DriveRequest>) {
        let (asked, most) = (self.asked.borrow(), self.spec.batch as usize);
        let leaves = own.and_then(|own| own.shared());
        let may_go = |wanted: &DriveRequest| {
            leaves.is_some() && wanted.shared() == leaves || self.shares.has_room(wanted, 0)
        };
        let waiting = asked.range((cartridge, 0)..=(cartridge, u64::MAX)).map(|(_, wanted)| *wanted);
        let requests: Vec<DriveRequest> = own.into_iter().chain(waiting.filter(may_go)).take(most).collect();
        let batch = Batch {
            spans: requests.iter().map(|wanted| wanted.span).collect(),
            head: self.drives.borrow()[drive].position,
            locate: |from, to| self.locate_time(drive, from, to).secs(),
        };
        let order = self.spec.recall.order(&batch).into_iter();
        self.batches.borrow_mut()[drive] = order.map(|at| requests[at].number).collect();
    }

    /// Dismounts a cartridge that no request wanted for as long as it is held.
    async fn dismount_later(&'m self, drive: usize, taken: u64) {
        self.sim.delay(self.spec.hold).await;
        let state = self.drives.borrow()[drive];
        if state.is_held || state.is_down || state.taken != taken {
            return;
        }
        self.take(drive, None);
        self.empty(drive, false).await;
    }

    /// Puts the cartridge of a drive away: in a hurry if a request waits for the drive.
    async fn dismount(&'m self, drive: usize, is_urgent: bool, breakdown: &mut Breakdown) {
        let TapeDrive { cartridge, position, group, home, cause, .. } = self.drives.borrow()[drive];
        let (Some(cartridge), since) = (cartridge, self.sim.now()) else { return };
        self.sim.delay(self.tapes[group].unload_time(&self.tapes[home], position)).await;
        self.free_stuck(drive).await;
        let (near, cell) = (Nanos::ZERO, self.cells.put(home, cartridge, is_urgent, self.sim.now()));
        let to = if group == home { cell } else { near };
        self.move_cartridge(group, (near, to), near, breakdown).await;
        self.drives.borrow_mut()[drive].cartridge = None;
        self.batches.borrow_mut()[drive].clear();
        self.stand_at(drive, 0);
        self.places.borrow_mut().remove(&cartridge);
        if is_urgent && cause == Cause::Host {
            *self.used_cartridges.borrow_mut().entry(cartridge).or_default() += self.sim.now() - since;
        }
        if group != home {
            self.sim.spawn(self.bring_home(home, cell));
        }
        // A request that came for it meanwhile waited for this drive, and may have another.
        let asked = self
            .asked
            .borrow()
            .range((cartridge, 0)..=(cartridge, u64::MAX))
            .next()
            .map(|(_, wanted)| *wanted);
        if let Some(other) = asked.and_then(|wanted| self.drive_for(&wanted)) {
            self.hand(other);
        }
    }

    async fn bring_home(&'m self, home: usize, cell: Nanos) {
        self.sim.delay(self.spec.pass_through.unwrap_or_default()).await;
        self.arms.carry(home, (Nanos::ZERO, cell), Nanos::ZERO).await;
    }

    /// Returns the time to locate on the cartridge of a drive.
    fn locate_time(&self, drive: usize, from: u64, to: u64) -> Nanos {
        let (group, home) = self.groups(drive);
        self.tapes[group].locate_time(&self.tapes[home], from, to)
    }

    /// The unused drive for a request: the one that has its cartridge, else the one that can have it soonest; of equal ones, the nearest to the
    /// cartridge, and of these the one that was unused longest. None where all are held, or the one that has it is.
    pub(super) fn drive_for(&self, wanted: &DriveRequest) -> Option<usize> {
        self.shares.has_room(wanted, 0).then(|| self.drive_beside(wanted, None)).flatten()
    }

    /// As `drive_for`, without regard to shares, and beside a drive that is taken otherwise.
    fn drive_beside(&self, wanted: &DriveRequest, taken: Option<usize>) -> Option<usize> {
        let drives = self.drives.borrow();
        let is_free = |at: usize| !drives[at].is_held && !drives[at].is_down && taken != Some(at);
        if let Some(at) = self.places.borrow().get(&wanted.cartridge) {
            return is_free(*at).then_some(*at);
        }
        let vacant = self.vacant.borrow();
        let free = vacant.longest_unused(is_free).filter(|at| self.suits(wanted, &drives[*at]));
        // Maintenance has time: it leaves the drives of other groups, which may be the only ones that others can use.
        let soonest = |drive: &TapeDrive| {
            if wanted.cause == Cause::Maintenance {
                Nanos::ZERO
            } else {
                self.time_until_ready(wanted, drive)
            }
        };
        let away = |drive: &TapeDrive| drive.group.abs_diff(wanted.home);
        let key = |drive: &TapeDrive| (soonest(drive), away(drive), drive.cartridge.is_some(), drive.since);
        free.min_by_key(|at| (key(&drives[*at]), *at))
    }

    /// Returns about how much later than in an empty drive of its own group a cartridge can be loaded in a drive that is unused or is being
    /// emptied: the time to put its cartridge away, where it has not begun from the middle of the tape, and of the way to another group.
    pub(super) fn time_until_ready(&self, wanted: &DriveRequest, drive: &TapeDrive) -> Nanos {
        let put_away = || self.put_away[drive.group][drive.home];
        let until_empty = match drive.is_put_away() {
            true => Nanos(drive.empty_at.0.saturating_sub(self.sim.now().0)),
            false => drive.cartridge.map_or(Nanos::ZERO, |_| put_away()),
        };
        let pass = || self.spec.pass_through.unwrap_or_default() + self.spec.robot_move;
        until_empty + if drive.group == wanted.home { Nanos::ZERO } else { pass() }
    }

    pub(super) fn suits(&self, wanted: &DriveRequest, drive: &TapeDrive) -> bool {
        let takes = || self.tapes[drive.group].takes(&self.tapes[wanted.home], wanted.writes);
        let is_near = drive.group == wanted.home || self.spec.pass_through.is_some() && takes();
        is_near && if wanted.writes { drive.writes } else { drive.reads }
    }

    /// Changes whether a request has a drive, and keeps `vacant` in step.
    fn change_use<R>(&self, drive: usize, change: impl FnOnce(&mut TapeDrive) -> R) -> R {
        let (state, vacant) = (&mut self.drives.borrow_mut()[drive], &mut self.vacant.borrow_mut());
        vacant.leave(drive, state);
        let found = change(state);
        vacant.enter(drive, state);
        found
    }

    pub(super) fn take(&self, drive: usize, wanted: Option<&DriveRequest>) -> usize {
        let used_for = wanted.map(|wanted| wanted.cartridge);
        if let Some(wanted) = wanted {
            self.leaves_queue(wanted);
            self.shares.take(wanted, self.sim.now());
        }
        if let Some(cartridge) = used_for {
            self.places.borrow_mut().insert(cartridge, drive);
        }
        self.change_use(drive, |state| {
            (state.is_held, state.used_for, state.since) = (true, used_for, self.sim.now());
            state.cause = wanted.map_or(state.cause, |wanted| wanted.cause);
            state.shared = wanted.and_then(DriveRequest::shared);
            state.taken += 1;
        });
        drive
    }

    /// A drive is not used any more. Gives its share, where requests may have waited for that alone.
    fn let_go(&self, drive: usize) -> Option<SharedUse> {
        self.change_use(drive, |state| self.ends_use(state))
    }

    /// Gives the share of a drive whose use ends, where requests may have waited for that alone.
    fn ends_use(&self, state: &mut TapeDrive) -> Option<SharedUse> {
        let used = self.sim.now() - state.since;
        if state.is_held && state.cause != Cause::Maintenance {
            self.used_groups.borrow_mut()[state.group] += used;
        }
        if let Some(cartridge) = state.used_for.filter(|_| state.cause == Cause::Host) {
            *self.used_cartridges.borrow_mut().entry(cartridge).or_default() += used;
        }
        let unused = state.used_for.filter(|cartridge| state.cartridge != Some(*cartridge));
        if state.is_held && state.is_down {
            self.away.borrow_mut()[state.group].up(self.sim.now(), 1);
        }
        (state.is_held, state.used_for, state.since) = (false, None, self.sim.now());
        if let Some(cartridge) = unused {
            self.places.borrow_mut().remove(&cartridge);
        }
        state.shared.take().filter(|shared| self.shares.give(*shared, self.sim.now()))
    }

    /// Returns the time for which requests used the drives of each group, and recalls the cartridge used longest.
    pub fn used(&self) -> (Vec<Nanos>, Nanos) {
        let (mut groups, mut cartridges) =
            (self.used_groups.borrow().clone(), self.used_cartridges.borrow().clone());
        for drive in self.drives.borrow().iter().filter(|drive| drive.is_held) {
            let used = self.sim.now() - drive.since;
            groups[drive.group] += if drive.cause == Cause::Maintenance { Nanos::ZERO } else { used };
            if let Some(cartridge) = drive.used_for.filter(|_| drive.cause == Cause::Host) {
                *cartridges.entry(cartridge).or_default() += used;
            }
        }
        (groups, cartridges.into_values().max().unwrap_or_default())
    }

    /// Returns the group of a drive, and that of the cartridge in it.
    pub fn groups(&self, drive: usize) -> (usize, usize) {
        let TapeDrive { group, home, .. } = self.drives.borrow()[drive];
        (group, home)
    }

    pub fn number(&self) -> u64 {
        self.drives.borrow().len() as u64
    }

    pub fn queue(&self) -> Gauge {
        self.queue.waits().queue
    }
}
