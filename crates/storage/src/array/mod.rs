//! An array: several devices that answer as one.

mod access;
mod bay;
pub mod cache;
mod checks;
mod demand;
mod front;
mod layout;
mod members;
mod model;
mod path;
mod ranges;
mod rebuild;
mod recovery;
mod redundant;
mod serving;
mod spec;

use std::cell::Cell;
use std::rc::Rc;

use headrace_kernel::{Crew, Locks, Resource};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Ask, Block, Spent, What};

use crate::health::{Change, Event};
use crate::meter::{Activity, Balance, Meter};
use crate::place::{Edge, Place};
use crate::room::{Metered, Plan, Room};
use bay::{Bay, Job};
use front::Front;
use members::Members;
use rebuild::Rebuild;

pub use access::Access;
pub use layout::{
    Accesses, Declustered, Layout, Mirror, Pairing, Parity, Parts, Placement, Rotation, Stripes, Units, Whole,
};
pub use path::Way;
pub use recovery::{DeclusteredSpec, Precedence, RebuildSpec, Target};
pub use spec::{ArraySpec, FirstUnit, Level, Queueing, ReadFrom, Via};

/// An array whose disks are known.
#[derive(Clone, Debug)]
pub struct ArrayPlan {
    level: Level,
    layout: Layout,
    queueing: Queueing,
    read_from: ReadFrom,
    /// Bytes of each disk that are used.
    each: Bytes,
    /// Of each disk, whether it has failed.
    failed: Vec<bool>,
    /// Number of hot spares, behind the disks.
    spares: usize,
    rebuild: RebuildSpec,
    /// Whether rebuilds go to the distributed spare.
    distributed: bool,
    /// Whether the disks are copies of one part, which nothing else uses.
    copies: bool,
    /// How many of the nodes that it uses after its devices are paths to them, and then controllers.
    paths: usize,
    controllers: usize,
    access: Access,
    cache: Option<cache::CachePlan>,
}

/// An array in a simulation.
pub struct Array<'m> {
    place: &'m Place<'m>,
    plan: &'m ArrayPlan,
    /// Held from the split to the merge, where requests do not overlap.
    lockstep: Option<Resource<'m>>,
    /// Offsets of parity that are being changed.
    stripes: Box<Locks<'m>>,
    /// The disks, and hot spares behind them.
    devices: &'m [Edge<'m>],
    members: Box<Members<'m>>,
    bay: Rc<Bay<'m>>,
    /// What stands between hosts and the layout: controllers, a cache.
    front: Option<Box<Front<'m>>>,
    /// Of each column of a mirror, the copy that the next read may begin its choice with.
    turns: Vec<Cell<u64>>,
    /// Has each device do its part.
    parts: Crew<'m, Job, Spent>,
    /// Groups of jobs so far.
    tickets: Cell<u64>,
    /// Requests in flight.
    hosts: Cell<u64>,
    rebuild: Box<Rebuild<'m>>,
    counts: Counts,
}

/// Requests and accesses to disks, for the meters of redundant levels.
#[derive(Default)]
struct Counts {
    requests: Cell<u64>,
    accesses: Cell<u64>,
    writes: Cell<u64>,
    full_stripes: Cell<u64>,
}

impl Plan for ArrayPlan {
    type Room<'m> = Array<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, uses: &'m [Edge<'m>]) -> Array<'m> {
        let sim = place.site.sim;
        let (devices, others) = uses.split_at(uses.len() - self.paths - self.controllers);
        let (paths, controllers) = others.split_at(self.paths);
        let columns = match &self.layout {
            Layout::Mirrored(mirror) => mirror.columns.disks,
            _ => 0,
        };
        let active = self.access.active(controllers.len());
        let way = |path| Way::of(path, controllers, active, devices.len());
        let ways: Vec<Way> = match paths {
            [] => vec![way(None)],
            paths => paths.iter().map(|path| way(Some(path))).collect(),
        };
        let front = Front::new(self, place, ways[0], controllers);
        let bay = Rc::new(Bay::new(sim, devices, ways, columns > 0));
        let of_parts = Rc::clone(&bay);
        Array {
            lockstep: (self.queueing == Queueing::SplitMerge).then(|| Resource::fcfs(sim, 1)),
            stripes: Box::new(Locks::new(sim, self.layout.unit())),
            plan: self,
            devices,
            members: Box::new(Members::new(&self.layout, self.each, devices, self.distributed)),
            bay,
            front,
            turns: (0..columns).map(|_| Cell::default()).collect(),
            parts: Crew::new(sim, move |job| bay::do_job(Rc::clone(&of_parts), job)),
            tickets: Cell::new(0),
            hosts: Cell::new(0),
            rebuild: Box::new(Rebuild::new(sim, self.rebuild)),
            counts: Counts::default(),
            place,
        }
    }
}

impl<'m> Array<'m> {
    /// Each disk that has a part in a request to a striped array, and the part.
    #[inline]
    fn split(&self, stripes: Stripes, ask: &Ask<Block>) -> impl Iterator<Item = (usize, Ask<Block>)> + use<> {
        let ask = *ask;
        stripes.parts(ask.work).map(move |(disk, part)| (disk, ask.with(part)))
    }

    /// Has each disk do its part without events; charges what the last to end took.
    fn pass_disks(&self, ask: &Ask<Block>, spent: &mut Spent) {
        let Layout::Striped(stripes) = self.plan.layout else {
            unreachable!("only a striped array says that it is in order")
        };
        let now = spent.until();
        let passes = self.split(stripes, ask).map(|(disk, part)| {
            let mut spent = Spent::from(now);
            self.devices[disk].pass(&part, &mut spent);
            spent
        });
        let slowest = passes.max_by_key(Spent::until);
        spent.follow(&slowest.expect("a request needs at least one byte, so at least one part"));
    }
}

impl Counts {
    fn count_write(&self, full: bool) {
        self.writes.set(self.writes.get() + 1);
        self.full_stripes.set(self.full_stripes.get() + u64::from(full));
    }
}

impl Metered for Array<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        if let Some(lockstep) = &self.lockstep {
            return Some(Activity::of(1, &lockstep.usage(), now));
        }
        let used = self.stripes.usage(now);
        // Where nobody ever waited, locks are nothing to show.
        let waited = used.waits.waits.max() > Nanos::ZERO || used.waits.queue.value() > 0;
        waited.then(|| Activity::of_locks(&used, now))
    }

    fn balance(&self) -> Option<Balance> {
        self.front.as_ref()?.balance()
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let counts = &self.counts;
        if !matches!(self.plan.layout, Layout::Striped(_)) {
            put("accesses_per_request", Meter::Share(counts.accesses.get(), counts.requests.get()));
        }
        if matches!(self.plan.layout, Layout::Parity(_)) {
            put("full_stripe_writes", Meter::Share(counts.full_stripes.get(), counts.writes.get()));
        }
        if let Some(front) = &self.front {
            front.meters(now, put);
        }
        let (rebuilt, left, lost) =
            (self.rebuild.units.get(), self.members.to_rebuild(), self.members.lost());
        if rebuilt > 0 || lost > 0 {
            put("rebuild_progress", Meter::Share(rebuilt, rebuilt + left));
            put("rebuild_s", Meter::Share(self.rebuild.took(now).0, 1_000_000_000));
            put("lost_stripes", Meter::Count(lost));
        }
    }

    fn state(&self) -> Option<&'static str> {
        let rebuilds = self.rebuild.is_running();
        match (self.members.lost(), self.members.degraded()) {
            (1.., _) => Some("lost data"),
            (_, 1..) if !self.members.have_all() => Some("unavailable"),
            (_, _) if rebuilds => Some("rebuilding"),
            (_, 1..) => Some("degraded"),
            _ => None,
        }
    }
}

impl<'m> Array<'m> {
    /// What stands before it. Only that asks.
    fn front(&'m self) -> &'m Front<'m> {
        self.front.as_ref().expect("a cache stands before its array")
    }

    /// Has the disks do what is asked, past controllers and cache.
    async fn serve_by_disks(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let _turn = match &self.lockstep {
            Some(lockstep) => Some(lockstep.acquire(()).await),
            None => None,
        };
        spent.charge(self.place.id, What::Waiting, self.place.site.sim.now());
        // Parts come after everything that is due, as requests do.
        self.place.site.sim.settled().await;
        let Layout::Striped(stripes) = self.plan.layout else {
            self.hosts.set(self.hosts.get() + 1);
            self.serve_parts(ask, spent).await;
            self.hosts.set(self.hosts.get() - 1);
            if self.hosts.get() == 0 {
                self.rebuild.hosts_are_idle();
            }
            return;
        };
        let ticket = self.tickets.replace(self.tickets.get() + 1);
        let jobs = self.split(stripes, ask).map(|(device, ask)| Job { device, ask, ticket });
        let slowest = self.parts.all(jobs).await;
        spent.follow(&slowest.expect("a request needs at least one byte, so at least one part"));
        if !self.bay.take_lost(ticket).is_empty() {
            spent.fail();
        }
    }
}

impl<'m> Room<'m> for Array<'m> {
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        match &self.front {
            Some(front) => front.serve(self, ask, spent).await,
            None => self.serve_by_disks(ask, spent).await,
        }
    }

    fn pass(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let Some(lockstep) = &self.lockstep else { return self.pass_disks(ask, spent) };
        lockstep.pass(spent.until(), |start| {
            spent.charge(self.place.id, What::Waiting, start);
            self.pass_disks(ask, spent);
            spent.until()
        });
    }

    fn notice(&'m self, edge: usize, change: Change) {
        // A path that fails or returns changes no disk.
        if edge >= self.devices.len() {
            return;
        }
        if self.members.notice(edge, change) {
            self.place.site.note(self.place.id, Event::LosesData(self.members.lost()));
        }
        self.members.settle();
        if !matches!(self.plan.layout, Layout::Striped(_)) {
            self.start_rebuild();
        }
    }

    fn begin(&'m self) {
        for (disk, _) in self.plan.failed.iter().enumerate().filter(|(_, failed)| **failed) {
            self.devices[disk].begin_failed();
            self.notice(disk, Change::Fails);
        }
    }
}
