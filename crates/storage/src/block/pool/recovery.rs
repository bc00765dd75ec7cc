//! Recovery: what groups miss comes to their places, from other places or computed from the other pieces, while hosts go on.

use std::cell::Cell;

use headrace_kernel::{Pool as Reservations, Sim, WorkerPool};
use headrace_units::Nanos;
use headrace_work::{Block, Cause, Op, Request};

use super::groups::Place;
use super::{Pool, RecoverySpec};
use crate::core::context::Edge;
use crate::core::health::{Change, Event};
use crate::core::meter::{Meter, add};

/// The time that an object takes whose drives fail at once, a rule of ours: recovery would otherwise try all objects at one instant.
const RETRY: Nanos = Nanos(1_000);

/// Groups placed between two looks at whether the run must end.
const GROUPS_BETWEEN_LOOKS: u32 = 256;

/// A piece of a group by its position, and a place for it.
type PieceAt = (usize, Place);

/// One of those that recover a group's objects.
pub(super) struct Worker<'m> {
    pool: &'m Pool<'m>,
    group: u32,
}

/// Recovery of a pool, and what is recorded of it.
pub(super) struct Recovery<'m> {
    spec: RecoverySpec,
    /// Of each drive, places for groups that recover from or to it.
    reservations: Vec<Reservations<'m>>,
    /// Of each group, true while it recovers or waits for its turn.
    active: Vec<Cell<bool>>,
    /// Of each group, the object to go on with.
    cursors: Vec<Cell<u64>>,
    /// Of each drive, how often it could no longer be reached.
    failures: Vec<Cell<u32>>,
    /// Groups that recover or wait for their turn.
    running: Cell<u32>,
    /// True if the groups are to be placed again at this instant.
    places_soon: Cell<bool>,
    began: Cell<Option<Nanos>>,
    took: Cell<Nanos>,
    /// Pieces of objects that came to their places.
    objects: Cell<u64>,
    /// Objects that were lost for good.
    lost: Cell<u64>,
    workers: WorkerPool<'m, Worker<'m>>,
}

impl<'m> Recovery<'m> {
    pub fn new(sim: &'m Sim<'m>, spec: RecoverySpec, drives: usize, groups: u32) -> Self {
        let places = u64::from(spec.groups_per_drive);
        Self {
            spec,
            reservations: (0..drives).map(|_| Reservations::new(sim, places, places)).collect(),
            workers: WorkerPool::new(sim, |worker: Worker<'m>| worker.pool.recover_objects(worker.group)),
            active: (0..groups).map(|_| Cell::new(false)).collect(),
            cursors: (0..groups).map(|_| Cell::new(0)).collect(),
            failures: (0..drives).map(|_| Cell::new(0)).collect(),
            running: Cell::new(0),
            places_soon: Cell::new(false),
            began: Cell::new(None),
            took: Cell::default(),
            objects: Cell::new(0),
            lost: Cell::new(0),
        }
    }

    /// Returns true if something recovers.
    pub fn is_running(&self) -> bool {
        self.began.get().is_some()
    }

    /// Returns the number of objects that were lost for good.
    pub fn lost(&self) -> u64 {
        self.lost.get()
    }

    pub fn meters(&self, now: Nanos, left: u64, piece: u64, put: &mut dyn FnMut(&'static str, Meter)) {
        let (done, took) = (self.objects.get(), self.took.get());
        let took = took + self.began.get().map_or(Nanos::ZERO, |began| now - began);
        if done > 0 || self.lost.get() > 0 {
            put("rebuild_progress", Meter::Share(done, done + left));
            put("rebuilt_bytes", Meter::Count(done * piece));
            put("rebuild_s", Meter::Share(took.0, 1_000_000_000));
            put("recovered_objects", Meter::Count(done));
            put("lost_objects", Meter::Count(self.lost.get()));
        }
    }
}

/// Changes of health.
impl<'m> Pool<'m> {
    /// A server, a link, an uplink or a drive fails or works again: drives can no longer be reached, or can.
    pub(super) fn changed(&'m self, edge: usize, change: Change) {
        if matches!(change, Change::Slow(_)) {
            return;
        }
        add(&self.changes, 1);
        let (drives, is_drive) = self.plan.drives_behind(edge);
        if change == Change::Replaced && is_drive {
            self.groups.emptied(drives.start as u32);
            let lost = self.groups.lost(self.plan.layout.data() as usize);
            self.recovery.lost.set(lost.max(self.recovery.lost.get()));
        }
        drives.for_each(|drive| self.look_at(drive as u32));
        self.start_recovery();
    }

    /// Notes whether a drive can be reached now.
    fn look_at(&'m self, drive: u32) {
        let server = self.plan.server_of(drive);
        let reached = |edges: &[Edge], at: usize| edges.get(at).is_none_or(|edge| edge.is_up());
        let up = self.drives[drive as usize].is_up()
            && reached(self.servers, server)
            && reached(self.links, server)
            && reached(self.uplinks, self.plan.rack_of(server));
        if !self.groups.set_up(drive, up) {
            return;
        }
        if !up {
            self.sim.spawn(self.give_up(drive));
        } else if self.groups.set_out(drive, false) {
            self.place_soon();
        }
    }

    /// A drive that does not come back for long is out.
    async fn give_up(&'m self, drive: u32) {
        let failures = self.recovery.failures[drive as usize].get() + 1;
        self.recovery.failures[drive as usize].set(failures);
        self.sim.delay(self.recovery.spec.out_after).await;
        let is_same = self.recovery.failures[drive as usize].get() == failures;
        if is_same && !self.groups.is_up(drive) && self.groups.set_out(drive, true) {
            self.place_soon();
        }
    }

    /// Drives that are down are out at once.
    pub(super) fn give_up_all(&'m self) {
        let down = (0..self.drives.len() as u32).filter(|drive| !self.groups.is_up(*drive));
        if down.filter(|drive| self.groups.set_out(*drive, true)).count() > 0 {
            self.place_soon();
        }
    }

    /// Places all groups again when all that happens at this instant is known.
    fn place_soon(&'m self) {
        if !self.recovery.places_soon.replace(true) {
            self.sim.spawn(async move {
                self.sim.settled().await;
                self.recovery.places_soon.set(false);
                self.place_all();
            });
        }
    }

    fn place_all(&'m self) {
        self.groups.waits_to_move.set(false);
        for group in 0..self.plan.homes.groups {
            if group.is_multiple_of(GROUPS_BETWEEN_LOOKS) && self.context.shared.is_interrupted() {
                return;
            }
            self.groups.place(group);
        }
        self.start_recovery();
    }
}

/// Recovery of groups.
impl<'m> Pool<'m> {
    /// Begins to recover each group of which something can come to its place.
    pub(super) fn start_recovery(&'m self) {
        let recovery = &self.recovery;
        for group in (0..self.plan.homes.groups).filter(|group| self.groups.has_gaps(*group)) {
            if self.groups.next_gap(group, 0).is_some() && !recovery.active[group as usize].replace(true) {
                recovery.running.set(recovery.running.get() + 1);
                self.sim.spawn(self.recover(group));
            }
        }
    }

    /// Recovers a group, once its primary and the drives that it comes to have places for it.
    async fn recover(&'m self, group: u32) {
        let recovery = &self.recovery;
        let drives = self.reserve(group).await;
        loop {
            let before = recovery.objects.get();
            recovery.cursors[group as usize].set(0);
            let workers = (0..recovery.spec.objects_per_group).map(|_| Worker { pool: self, group });
            recovery.workers.all(workers).await;
            if recovery.objects.get() == before || self.groups.next_gap(group, 0).is_none() {
                break;
            }
        }
        drives.iter().for_each(|drive| recovery.reservations[*drive as usize].put(1));
        recovery.active[group as usize].set(false);
        recovery.running.set(recovery.running.get() - 1);
        self.group_ended();
    }

    /// Takes a place of each drive that a group reserves, in the order of drives, so that nobody waits in a circle. Who has to reserve others
    /// meanwhile begins again.
    async fn reserve(&'m self, group: u32) -> Vec<u32> {
        let places = |drive: &u32| &self.recovery.reservations[*drive as usize];
        loop {
            let drives = self.reserved_by(group);
            for drive in &drives {
                places(drive).take(1).await;
            }
            if drives == self.reserved_by(group) {
                return drives;
            }
            drives.iter().for_each(|drive| places(drive).put(1));
        }
    }

    fn reserved_by(&self, group: u32) -> Vec<u32> {
        let object = self.groups.next_gap(group, 0).unwrap_or_default();
        let primary = self.groups.all_usable(group, object, 0).next().map(|(_, place)| place.drive);
        let mut drives: Vec<u32> = self.groups.targets(group).chain(primary).collect();
        drives.sort_unstable();
        drives.dedup();
        drives
    }

    fn group_ended(&'m self) {
        if self.recovery.running.get() > 0 {
            return;
        }
        if let Some(began) = self.recovery.began.take() {
            self.recovery.took.set(self.recovery.took.get() + (self.sim.now() - began));
            self.context.shared.note(self.context.id, Event::Ends("rebuild"));
        }
        self.go_on_scrubbing();
        if self.groups.waits_to_move.get() {
            self.place_soon();
        }
    }

    /// Recovers the objects of a group from its cursor on, one after another.
    pub(super) async fn recover_objects(&'m self, group: u32) {
        let cursor = &self.recovery.cursors[group as usize];
        while let Some(object) = self.groups.next_gap(group, cursor.get()) {
            cursor.set(object + 1);
            let began = self.sim.now();
            if !self.recover_object(group, object).await && self.sim.now() == began {
                self.sim.delay(RETRY).await;
            }
        }
    }

    /// Brings the pieces of an object to their holders; returns true if something came.
    async fn recover_object(&'m self, group: u32, object: u64) -> bool {
        let from = self.plan.object_of(group, object) * self.plan.object;
        let _held = self.locks.lock(from, from + self.plan.object).await;
        let (sources, gaps) = self.recoverable(group, object);
        let Some((_, primary)) = self.groups.all_usable(group, object, 0).next().filter(|_| !gaps.is_empty())
        else {
            return false;
        };
        if self.recovery.began.get().is_none() {
            self.recovery.began.set(Some(self.sim.now()));
            self.context.shared.note(self.context.id, Event::Begins("rebuild"));
        }
        let server = self.plan.server_of(primary.drive);
        if !self.have_moved((server, object), Op::Read, &sources).await.is_empty() {
            return false;
        }
        let failed = self.have_moved((server, object), Op::Write, &gaps).await;
        let came = gaps.iter().filter(|(position, _)| !failed.contains(position));
        let came = came.map(|(position, _)| self.groups.came(group, *position, object)).count();
        add(&self.recovery.objects, came as u64);
        came > 0
    }

    /// The pieces of an object to read, and those that come to their holders then: copied where they are elsewhere, otherwise computed from
    /// as many others as it takes, from one on that changes with the object.
    fn recoverable(&self, group: u32, object: u64) -> (Vec<PieceAt>, Vec<PieceAt>) {
        let gaps = self.groups.gaps(group, object);
        let copy = |(position, _): &PieceAt| Some((*position, self.groups.usable(group, *position, object)?));
        let copies: Vec<PieceAt> = gaps.iter().filter_map(copy).collect();
        if copies.len() == gaps.len() {
            return (copies, gaps);
        }
        let (data, first) = (self.plan.layout.data() as usize, object as usize % self.plan.homes.width);
        let computed: Vec<PieceAt> = self.groups.all_usable(group, object, first).take(data).collect();
        if computed.len() < data {
            let here = |(position, _): &PieceAt| copies.iter().any(|(copied, _)| copied == position);
            let gaps = gaps.iter().copied().filter(here).collect();
            return (copies, gaps);
        }
        let more = copies.into_iter().filter(|copy| !computed.contains(copy));
        (more.chain(computed.iter().copied()).collect(), gaps)
    }

    /// Reads or writes whole pieces of an object from a server; returns the positions of those that failed.
    async fn have_moved(&'m self, (server, object): (usize, u64), op: Op, pieces: &[PieceAt]) -> Vec<usize> {
        self.context.shared.divides(pieces.len() as u64).await;
        let ticket = self.ticket();
        let block = Block { op, address: 0, bytes: self.plan.piece() };
        let key = self.context.stream("recovery").key(ticket);
        let request = Request::new(key, block).because(Cause::Rebuild).durably();
        let jobs = pieces.iter().enumerate();
        let jobs =
            jobs.map(|(n, at)| self.piece(server, *at, object, request.child(n as u64, block), ticket));
        self.pieces.all(jobs).await;
        self.take_undone(ticket)
    }
}
