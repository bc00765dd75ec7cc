//! A pool: drives in servers that act as one volume, in placement groups.
//!
//! ```text
//! request ─► its objects ─► primary (link, core) ─► accesses of the layout ─► pieces (link, core, drive) ─► and back
//! drive or server fails ─► groups miss pieces ─► out: other places ─► recovery, group by group
//! ```
//!
//! An object is a small array of its own over the drives of its group: its accesses are those of [`Parity`].

mod groups;
mod pieces;
mod placement;
mod recovery;
mod scrub;
mod spec;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::ops::Range;

use headrace_kernel::{Locks, Sim, WorkerPool, subkey};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::block::array::{Accesses, DiskAccesses, Parity};
use crate::core::component::{Component, Plan, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::View;
use crate::core::health::Change;
use crate::core::meter::{Activity, Meter, add};
use crate::core::redundancy::Redundancy;
use crate::core::theory::{Features, Load};
use crate::core::work::Serve;
use groups::{Groups, Homes, OfObject, Place};
use pieces::{End, Piece};
use recovery::Recovery;
use scrub::Scrub;

pub use placement::Placement;
pub use scrub::PoolScrubSpec;
pub use spec::{Clients, Domain, ErasureSpec, PoolSpec, ReadReplica, RecoverySpec, StripeAccess};

/// Stream of the hash that says where a request comes from.
const CLIENT: u64 = 0xC11E;

/// Times that a request is tried while drives and servers fail.
const TRIES: u64 = 64;

/// A pool that addresses a smaller share of its `size` says so.
const LEAST_ADDRESSED: f64 = 0.9;

/// A pool whose drives are known. It uses its servers, then its links, then its uplinks, then its drives.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    layout: Parity,
    /// Bytes of an object.
    object: u64,
    /// The size that was asked for, of which whole objects in each group are addressed.
    asked: Bytes,
    homes: Homes,
    access: StripeAccess,
    read_from: ReadReplica,
    recovery: RecoverySpec,
    scrub: Option<PoolScrubSpec>,
    /// Drives of a server.
    per_server: u32,
    clients: Clients,
    racks: u32,
    servers: usize,
    links: usize,
    uplinks: usize,
}

impl PoolPlan {
    /// Bytes of an object's piece.
    fn piece(&self) -> u64 {
        self.object / self.layout.data()
    }

    fn server_of(&self, drive: u32) -> usize {
        (drive / self.per_server) as usize
    }

    /// Number of servers, also where none has cores or a link.
    fn server_count(&self) -> u32 {
        self.homes.slots.len() as u32 / self.per_server
    }

    fn rack_of(&self, server: usize) -> usize {
        spec::rack_of(server as u32, self.server_count(), self.racks)
    }

    /// The drives that can no longer be reached when a component fails that the pool uses, by its place among those, and true if it is
    /// the drive itself.
    fn drives_behind(&self, edge: usize) -> (Range<usize>, bool) {
        let (of_servers, per_server) = (self.servers + self.links, self.per_server as usize);
        let servers = match edge.checked_sub(of_servers) {
            None => {
                let server = edge % self.server_count() as usize;
                server..server + 1
            }
            Some(rack) if rack < self.uplinks => spec::servers_of(rack, self.server_count(), self.racks),
            Some(other) => {
                let drive = other - self.uplinks;
                return (drive..drive + 1, true);
            }
        };
        (servers.start * per_server..servers.end * per_server, false)
    }

    /// Where a request comes from.
    fn client_of(&self, request: &Request<Block>) -> End {
        let rack = || (subkey(request.key, CLIENT) % u64::from(self.racks)) as usize;
        End::Client((self.clients == Clients::InRacks).then(rack))
    }

    /// The drives of each domain of a kind.
    fn drives_of(&self, kind: Domain) -> Vec<Vec<u32>> {
        let drives = self.homes.slots.len() as u32;
        let mut all = Vec::new();
        for drive in 0..drives {
            let domain = kind.of(drive, self.server_count(), self.per_server, self.racks);
            all.resize_with(all.len().max(domain + 1), Vec::new);
            all[domain].push(drive);
        }
        all
    }

    /// The group of an object, and its number there. Of as many objects that follow each other as there are groups, each belongs to another,
    /// so that all groups have as many.
    fn group_of(&self, object: u64) -> (u32, u64) {
        let groups = u64::from(self.homes.groups);
        let (row, column) = (object / groups, object % groups);
        (((column + subkey(1, row) % groups) % groups) as u32, row)
    }

    /// The object with a number in a group.
    fn object_of(&self, group: u32, row: u64) -> u64 {
        let groups = u64::from(self.homes.groups);
        row * groups + (u64::from(group) + groups - subkey(1, row) % groups) % groups
    }

    /// The parts of a request that belong to one object each: the object, and the bytes in it.
    fn objects_of(&self, request: Block) -> impl Iterator<Item = (u64, Block)> + use<> {
        let (object, end) = (self.object, request.end());
        (request.address / object..=(end - 1) / object).map(move |at| {
            let from = request.address.max(at * object);
            let block =
                Block { address: from - at * object, bytes: end.min((at + 1) * object) - from, ..request };
            (at, block)
        })
    }

    /// The bytes of an object that are read or written for a part of it.
    fn widened(&self, part: Block) -> Block {
        let stripe = self.layout.unit * self.layout.data();
        if self.access == StripeAccess::Parts {
            return part;
        }
        let from = part.address / stripe * stripe;
        Block { address: from, bytes: part.end().next_multiple_of(stripe) - from, ..part }
    }

    /// The accesses of a part of an object to its pieces; `None` where too few can be used.
    fn accesses(&self, part: Block, units: &OfObject) -> Option<Accesses> {
        let wide = self.widened(part);
        match part.op {
            Op::Read => self.layout.read(wide, units),
            _ if wide == part => self.layout.write(part, units),
            _ => {
                let old = self.layout.read(Block { op: Op::Read, ..wide }, units)?;
                Some(Accesses { first: old.then, ..self.layout.write(wide, units)? })
            }
        }
    }
}

impl Theory for PoolPlan {
    fn features(&self) -> Features {
        Features { spreads: true, fills: Some(0), changes: self.scrub.is_some(), ..Features::default() }
    }

    /// Work on the pieces of an object grows with the number of requests; writes to a part of an erasure code wait for each other.
    fn scales(&self, view: View, load: &Load) -> bool {
        let waits = self.layout.data() > 1 && load.writes();
        !waits && self.scrub.is_none() && view.uses().all(|used| used.scales(load))
    }

    fn note(&self, view: View, _: &Load) -> Option<String> {
        let (addressed, groups) = (view.capacity(), self.homes.groups);
        ((addressed.0 as f64) < LEAST_ADDRESSED * self.asked.0 as f64).then(|| {
            format!(
                "`{}` addresses {addressed} of its `size` of {}: each of its {groups} groups has the same number of whole objects; give fewer \
                 groups, or a multiple of {} as `size`",
                view.path(),
                self.asked,
                Bytes(u64::from(groups) * self.object)
            )
        })
    }

    fn redundancy(&self, _: View) -> Result<Option<Redundancy>, String> {
        let others = (self.servers + self.links + self.uplinks) as u32;
        let drives = (others..others + self.homes.slots.len() as u32).collect();
        let bytes = (self.homes.objects * self.object) as f64;
        Ok(Some(Redundancy {
            groups: (0..self.homes.groups).map(|group| self.homes.all_of(group)).collect(),
            tolerates: self.layout.redundant as u32,
            objects: Some(self.homes.objects),
            critical_bytes: bytes,
            spares: None,
            wait: self.recovery.out_after,
            together: vec![
                ("server", self.drives_of(Domain::Server)),
                ("rack", self.drives_of(Domain::Rack)),
            ],
            ..Redundancy::none(drives, bytes)
        }))
    }
}

/// A pool in a simulation.
pub struct Pool<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m PoolPlan,
    servers: &'m [Edge<'m>],
    links: &'m [Edge<'m>],
    uplinks: &'m [Edge<'m>],
    drives: &'m [Edge<'m>],
    groups: Groups<'m>,
    /// Bytes that are being written or recovered.
    locks: Locks<'m>,
    parts: WorkerPool<'m, Part<'m>, Breakdown>,
    pieces: WorkerPool<'m, Piece<'m>, Breakdown>,
    /// Parts and groups of pieces so far.
    tickets: Cell<u64>,
    /// Pieces, and parts, that were not done, each with its ticket; pieces have positions.
    undone: RefCell<Vec<(u64, usize)>>,
    /// Changes of the health of servers, links and drives.
    changes: Cell<u64>,
    recovery: Recovery<'m>,
    scrub: Option<Box<Scrub<'m>>>,
    counts: PoolCounts,
    /// The share of its room that the fullest drive fills while all work, over that of all drives together.
    fullest: f64,
}

/// Parts of requests, and accesses to drives for them.
#[derive(Default)]
struct PoolCounts {
    requests: Cell<u64>,
    reads: Cell<u64>,
    writes: Cell<u64>,
}

/// The part of a request that belongs to one object.
struct Part<'m> {
    pool: &'m Pool<'m>,
    client: End,
    object: u64,
    request: Request<Block>,
    ticket: u64,
}

impl Plan for PoolPlan {
    type Component<'m> = Pool<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Pool<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        let (servers, others) = uses.split_at(self.servers);
        let (links, others) = others.split_at(self.links);
        let (uplinks, drives) = others.split_at(self.uplinks);
        let counts = self.homes.counts();
        let of_room = |(groups, room): (&u32, &u32)| f64::from(*groups) / f64::from((*room).max(1));
        let fullest = counts.iter().zip(&self.homes.slots).map(of_room).fold(0.0, f64::max);
        let sum = |all: &[u32]| all.iter().map(|each| f64::from(*each)).sum::<f64>();
        Pool {
            context,
            sim,
            plan: self,
            servers,
            links,
            uplinks,
            drives,
            groups: Groups::new(&self.homes),
            locks: Locks::new(sim, self.object),
            parts: WorkerPool::new(sim, |part: Part<'m>| part.pool.do_part(part)),
            pieces: WorkerPool::new(sim, |piece: Piece<'m>| piece.pool.do_piece(piece)),
            tickets: Cell::new(0),
            undone: RefCell::default(),
            changes: Cell::new(0),
            recovery: Recovery::new(sim, self.recovery, drives.len(), self.homes.groups),
            scrub: self.scrub.map(|spec| Box::new(Scrub::new(sim, spec, drives.len(), self.homes.groups))),
            counts: PoolCounts::default(),
            fullest: fullest * sum(&self.homes.slots) / sum(&counts),
        }
    }
}

impl<'m> Pool<'m> {
    /// Does the part of a request that belongs to one object. All parts of a large request begin at one instant, so each looks at the limits.
    async fn do_part(&'m self, part: Part<'m>) -> Breakdown {
        if self.context.shared.is_interrupted() {
            std::future::pending::<()>().await;
        }
        let mut breakdown = Breakdown::from(self.sim.now());
        self.serve_part((part.client, part.object), &part.request, &mut breakdown).await;
        if breakdown.has_failed() {
            self.undone.borrow_mut().push((part.ticket, 0));
        }
        breakdown
    }

    /// Serves the part of a request that belongs to one object. Who asks tries again what failed because a drive or server did.
    async fn serve_part(&'m self, of: (End, u64), request: &Request<Block>, breakdown: &mut Breakdown) {
        for attempt in 0..TRIES {
            let changes = self.changes.get();
            breakdown.retry();
            let request = if attempt == 0 { *request } else { request.child(attempt, request.work) };
            if self.attempt(of, &request, breakdown).await.is_some() || changes == self.changes.get() {
                return;
            }
        }
    }

    /// Tries to serve a part; `None` if it failed.
    async fn attempt(
        &'m self,
        (client, object): (End, u64),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        let (group, row) = self.plan.group_of(object);
        let first = self.first_piece((client, group, row), request);
        let mut usable = self.groups.all_usable(group, row, first);
        let Some((at, primary)) = usable.next() else {
            breakdown.fail();
            return None;
        };
        drop(usable);
        let server = self.plan.server_of(primary.drive);
        self.arrive((client, server), request, breakdown).await?;
        let first = if self.plan.layout.data() == 1 { at } else { 0 };
        let units = OfObject { groups: &self.groups, group, object: row, first };
        if request.work.op == Op::Read {
            self.read(server, &units, request, breakdown).await?;
        } else {
            self.write(server, (object, &units), request, breakdown).await?;
        }
        self.depart((server, client), request, breakdown).await
    }

    /// The position at which the search for the piece begins whose server takes a request.
    fn first_piece(&self, (client, group, row): (End, u32, u64), request: &Request<Block>) -> usize {
        if request.work.op != Op::Read || self.plan.layout.data() > 1 {
            return 0;
        }
        let key = subkey(request.key, subkey(group.into(), row));
        let any = (key % self.plan.layout.width) as usize;
        match self.plan.read_from {
            ReadReplica::Primary => 0,
            ReadReplica::Any => any,
            ReadReplica::Nearest => {
                let here = |place: Place| {
                    self.rack(End::Server(self.plan.server_of(place.drive))) == self.rack(client)
                };
                let mut usable = self.groups.all_usable(group, row, any);
                usable.find(|(_, place)| here(*place)).map_or(0, |(at, _)| at)
            }
        }
    }

    async fn read(
        &'m self,
        server: usize,
        units: &OfObject<'_, 'm>,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        let Some(accesses) = self.plan.accesses(request.work, units) else {
            breakdown.fail();
            return None;
        };
        let failed = self.have_done(server, units, accesses.then, request, 0, breakdown).await;
        if failed.is_empty() { Some(()) } else { fail(breakdown) }
    }

    /// Writes a part. Writes to the same bytes of parity, and recovery of the same object, wait for each other. It is done when enough pieces
    /// are; the others miss it.
    async fn write(
        &'m self,
        server: usize,
        (object, units): (u64, &OfObject<'_, 'm>),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Option<()> {
        let wide = self.plan.widened(request.work);
        let (from, to) = if self.plan.layout.data() == 1 {
            (wide.address, wide.end())
        } else {
            self.plan.layout.changed(wide)
        };
        let base = object * self.plan.object;
        let _held = self.locks.lock(base + from, base + to).await;
        breakdown.waited(self.context.id, self.sim.now());
        let Some(Accesses { first, then, missed, .. }) = self.plan.accesses(request.work, units) else {
            return fail(breakdown);
        };
        if !first.is_empty() && !self.have_done(server, units, first, request, 0, breakdown).await.is_empty()
        {
            return fail(breakdown);
        }
        let failed = self.have_done(server, units, then, &request.durably(), 1, breakdown).await;
        let missed = missed.into_iter().map(|(disk, _)| units.position(disk));
        for position in missed.chain(failed) {
            self.groups.miss(units.group, position, units.object);
        }
        let left = self.groups.all_usable(units.group, units.object, 0).count();
        if left as u64 >= self.plan.layout.data() { Some(()) } else { fail(breakdown) }
    }

    /// Has the drives do accesses for an object, asked by a server; charges the one that ends last, and returns the positions of those that
    /// failed, or could not begin.
    async fn have_done(
        &'m self,
        server: usize,
        units: &OfObject<'_, 'm>,
        accesses: DiskAccesses,
        request: &Request<Block>,
        phase: u64,
        breakdown: &mut Breakdown,
    ) -> Vec<usize> {
        self.context.shared.divides(accesses.len() as u64).await;
        let ticket = self.ticket();
        let (mut jobs, mut undone) = (Vec::new(), Vec::new());
        for (n, (disk, block)) in accesses.into_iter().enumerate() {
            let position = units.position(disk);
            // A drive may have failed since the accesses were chosen: a write reads first.
            let Some(place) = self.groups.usable(units.group, position, units.object) else {
                undone.push(position);
                continue;
            };
            let request = request.child(2 * n as u64 + phase, block);
            jobs.push(self.piece(server, (position, place), units.object, request, ticket));
        }
        if let Some(slowest) = self.pieces.all(jobs).await {
            breakdown.follow(&slowest);
        }
        undone.extend(self.take_undone(ticket));
        undone
    }

    fn ticket(&self) -> u64 {
        self.tickets.replace(self.tickets.get() + 1)
    }

    fn take_undone(&self, ticket: u64) -> Vec<usize> {
        let mut undone = self.undone.borrow_mut();
        if undone.is_empty() {
            return Vec::new();
        }
        undone.extract_if(.., |(of, _)| *of == ticket).map(|(_, position)| position).collect()
    }
}

/// Notes that a request failed.
fn fail(breakdown: &mut Breakdown) -> Option<()> {
    breakdown.fail();
    None
}

impl<'m> Serve<'m, Block> for Pool<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if request.work.op == Op::Flush {
            // Pieces are written durably.
            return;
        }
        add(&self.counts.requests, 1);
        let mut parts = self.plan.objects_of(request.work);
        let (object, part) = parts.next().expect("a request has at least one byte");
        let client = self.plan.client_of(request);
        if part.bytes == request.work.bytes {
            return Box::pin(self.serve_part((client, object), &request.with(part), breakdown)).await;
        }
        let ticket = self.ticket();
        let all = std::iter::once((object, part)).chain(parts);
        self.context.shared.divides(request.work.bytes / self.plan.object).await;
        let jobs = all.enumerate().map(|(n, (object, part))| {
            let request = if n == 0 { request.with(part) } else { request.child(!(n as u64), part) };
            Part { pool: self, client, object, request, ticket }
        });
        if let Some(slowest) = self.parts.all(jobs).await {
            breakdown.follow(&slowest);
        }
        if !self.take_undone(ticket).is_empty() {
            breakdown.fail();
        }
    }
}

impl<'m> Component<'m> for Pool<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let used = self.locks.usage(now);
        // Where nobody ever waited, locks are nothing to show.
        let waited = used.waits.waits.max() > Nanos::ZERO || used.waits.queue.value() > 0;
        waited.then(|| Activity::of_locks(&used, now))
    }

    fn notice(&'m self, edge: usize, change: Change) {
        self.changed(edge, change);
    }

    fn rebuild_from(&'m self, _: f64, every: u64) {
        self.groups.lacking.set(every);
        self.give_up_all();
    }

    fn recovered(&'m self) {
        self.start_recovery();
        self.go_on_scrubbing();
    }

    fn begin(&'m self) {
        if let Some(scrub) = &self.scrub {
            self.sim.spawn(self.begin_scrub(scrub));
        }
    }

    fn state(&self) -> Option<&'static str> {
        let needed = self.plan.layout.data() as usize;
        match () {
            () if self.recovery.lost() > 0 => Some("lost data"),
            () if self.groups.has_unavailable(needed) => Some("unavailable"),
            () if self.recovery.is_running() => Some("rebuilding"),
            () if self.groups.is_degraded() => Some("degraded"),
            () => None,
        }
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let counts = &self.counts;
        put("reads_per_request", Meter::Share(counts.reads.get(), counts.requests.get()));
        put("writes_per_request", Meter::Share(counts.writes.get(), counts.requests.get()));
        // By requests, so that it is the same ratio in each part of a run.
        let parts = |times: f64| (times * 1e6) as u64 * counts.requests.get();
        put("fullest_drive", Meter::Share(parts(self.fullest), parts(1.0)));
        self.recovery.meters(now, self.groups.to_recover(), self.plan.piece(), put);
        if let Some(scrub) = &self.scrub {
            scrub.meters(now, self.plan.homes.objects * u64::from(self.plan.homes.groups), put);
        }
    }
}
