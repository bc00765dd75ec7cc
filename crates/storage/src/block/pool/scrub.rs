//! Scrubs: all pieces of a group are read where they lie, and their digests compared, group by group, while hosts go on.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;

use headrace_kernel::{Pool as Places, Sim, WorkerPool};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Pool;
use crate::block::paced_work::{Pace, PacedWork, RETRY};
use crate::core::health::Event;
use crate::core::meter::{Meter, add};

/// Groups looked at for one whose drives all have a place.
const LOOKS: usize = 256;

/// A scrub: each server reads the pieces that it holds of a group's objects, and the primary compares their digests, whose messages take no
/// time. No group begins while anything recovers. It corrects nothing, because latent errors are not simulated. Defaults are those of Ceph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PoolScrubSpec {
    /// Time at which it begins.
    pub starts: Nanos,
    /// Number of groups that are scrubbed at a time on a drive (`osd_max_scrubs`; 1 before Reef).
    #[schemars(range(min = 1, max = 1000))]
    pub groups_per_drive: u32,
    /// Number of objects of a group that are compared together; writes to them wait meanwhile (`osd_scrub_chunk_max`).
    #[schemars(range(min = 1, max = 1000))]
    pub objects: u32,
    /// Number of bytes that a drive reads at once; one read of a group follows the other (`osd_deep_scrub_stride`; 512 KiB in older versions).
    pub read: Bytes,
    /// Pause of a group between its objects that are compared together (`osd_scrub_sleep`).
    pub sleep: Nanos,
}

impl Default for PoolScrubSpec {
    fn default() -> Self {
        Self {
            starts: Nanos::ZERO,
            groups_per_drive: 3,
            objects: 15,
            read: Bytes(4 << 20),
            sleep: Nanos::ZERO,
        }
    }
}

impl PoolScrubSpec {
    /// Returns true if nothing would ever be read.
    pub(super) const fn reads_nothing(&self) -> bool {
        self.groups_per_drive == 0 || self.objects == 0 || self.read.0 == 0
    }
}

/// A scrub, and what is recorded of it.
pub(super) struct Scrub<'m> {
    spec: PoolScrubSpec,
    background: PacedWork<'m>,
    /// Of each drive, places for groups that are scrubbed.
    places: Vec<Places<'m>>,
    /// Groups that were not begun.
    waiting: RefCell<VecDeque<u32>>,
    running: Cell<u32>,
    readers: WorkerPool<'m, Reader<'m>>,
    /// Objects that were compared.
    objects: Cell<u64>,
    /// Bytes read.
    bytes: Cell<u64>,
}

/// A reader of the pieces of some objects that lie at one position of their group.
struct Reader<'m> {
    pool: &'m Pool<'m>,
    scrub: &'m Scrub<'m>,
    group: u32,
    position: usize,
    objects: Range<u64>,
}

impl<'m> Scrub<'m> {
    pub fn new(sim: &'m Sim<'m>, spec: PoolScrubSpec, drives: usize, groups: u32) -> Self {
        let places = u64::from(spec.groups_per_drive);
        Self {
            spec,
            background: PacedWork::new(sim, Pace::unlimited(Cause::Scrub)),
            places: (0..drives).map(|_| Places::new(sim, places, places)).collect(),
            waiting: RefCell::new((0..groups).collect()),
            running: Cell::new(0),
            readers: WorkerPool::new(sim, |reader: Reader<'m>| reader.pool.read_pieces(reader)),
            objects: Cell::new(0),
            bytes: Cell::new(0),
        }
    }

    pub fn meters(&self, now: Nanos, all: u64, put: &mut dyn FnMut(&'static str, Meter)) {
        put("scrub_progress", Meter::Share(self.objects.get(), all));
        put("scrubbed_bytes", Meter::Count(self.bytes.get()));
        put("scrub_s", Meter::Share(self.background.took(now).0, 1_000_000_000));
    }

    /// Takes a place on each of the drives; returns false if one has none.
    fn try_take(&self, drives: &[u32]) -> bool {
        let place = |drive: &u32| &self.places[*drive as usize];
        let taken = drives.iter().take_while(|drive| place(drive).try_take(1)).count();
        if taken < drives.len() {
            drives[..taken].iter().for_each(|drive| place(drive).put(1));
        }
        taken == drives.len()
    }
}

impl<'m> Pool<'m> {
    /// Begins the scrub at its time.
    pub(super) async fn begin_scrub(&'m self, scrub: &'m Scrub<'m>) {
        self.sim.until(scrub.spec.starts).await;
        self.context.shared.note(self.context.id, Event::Begins("scrub"));
        self.go_on_scrubbing();
    }

    /// Begins the groups whose drives all have a place, if there is a scrub that has begun and nothing recovers.
    pub(super) fn go_on_scrubbing(&'m self) {
        let Some(scrub) = &self.scrub else { return };
        if self.sim.now() < scrub.spec.starts
            || self.recovery.is_running()
            || self.context.shared.is_interrupted()
        {
            return;
        }
        let mut waiting = scrub.waiting.borrow_mut();
        let mut passed_over = Vec::new();
        while let Some(group) = waiting.pop_front() {
            let drives = self.readable_drives(group);
            if scrub.try_take(&drives) {
                scrub.running.set(scrub.running.get() + 1);
                scrub.background.begin();
                self.sim.spawn(self.scrub_group(scrub, group, drives));
            } else {
                passed_over.push(group);
            }
            if passed_over.len() == LOOKS {
                break;
            }
        }
        passed_over.into_iter().rev().for_each(|group| waiting.push_front(group));
    }

    /// The drives with pieces of a group that can be read.
    fn readable_drives(&self, group: u32) -> Vec<u32> {
        let mut drives: Vec<u32> =
            self.groups.holders(group).filter(|drive| self.groups.is_up(*drive)).collect();
        drives.sort_unstable();
        drives.dedup();
        drives
    }

    async fn scrub_group(&'m self, scrub: &'m Scrub<'m>, group: u32, drives: Vec<u32>) {
        let (objects, mut from) = (self.plan.homes.objects, 0);
        while from < objects && !self.context.shared.is_interrupted() {
            let to = objects.min(from + u64::from(scrub.spec.objects));
            self.scrub_objects(scrub, group, from..to).await;
            scrub.objects.set(scrub.objects.get() + to - from);
            self.sim.delay(scrub.spec.sleep).await;
            from = to;
        }
        drives.iter().for_each(|drive| scrub.places[*drive as usize].put(1));
        scrub.running.set(scrub.running.get() - 1);
        self.go_on_scrubbing();
        let is_last = scrub.running.get() == 0 && scrub.background.end();
        if is_last && scrub.waiting.borrow().is_empty() && from == objects {
            self.context.shared.note(self.context.id, Event::Ends("scrub"));
        }
    }

    /// Reads and compares some objects of a group. Writes to them wait.
    async fn scrub_objects(&'m self, scrub: &'m Scrub<'m>, group: u32, objects: Range<u64>) {
        let began = self.sim.now();
        let mut held = Vec::new();
        for object in objects.clone() {
            let from = self.plan.object_of(group, object) * self.plan.object;
            held.push(self.locks.lock(from, from + self.plan.object).await);
        }
        let reader = |position| Reader { pool: self, scrub, group, position, objects: objects.clone() };
        scrub.readers.all((0..self.plan.homes.width).map(reader)).await;
        if self.sim.now() == began {
            self.sim.delay(RETRY).await;
        }
    }

    async fn read_pieces(&'m self, reader: Reader<'m>) {
        for object in reader.objects.clone() {
            let mut from = 0;
            while from < self.plan.piece() && self.read_part(&reader, object, from).await.is_some() {
                from += reader.scrub.spec.read.0;
            }
        }
    }

    /// Reads a part of a piece where it lies; `None` if it cannot be read.
    async fn read_part(&'m self, reader: &Reader<'m>, object: u64, from: u64) -> Option<()> {
        let place = self.groups.usable(reader.group, reader.position, object)?;
        let bytes = reader.scrub.spec.read.0.min(self.plan.piece() - from);
        let request = reader.scrub.background.access(self.context.stream("scrub"));
        let request = request.with(Block { op: Op::Read, address: from, bytes });
        let server = self.plan.server_of(place.drive);
        let piece = self.piece(server, (reader.position, place), object, request, self.ticket());
        self.go(&piece, &mut Breakdown::from(self.sim.now())).await?;
        add(&reader.scrub.bytes, bytes);
        Some(())
    }
}
