//! An array: several devices that answer as one.

mod access;
pub mod cache;
mod demand;
mod front;
mod layout;
mod model;
mod path;
mod redundant;
mod spec;

use std::cell::Cell;
use std::rc::Rc;

use headrace_kernel::{Crew, Locks, Resource};
use headrace_units::Nanos;
use headrace_work::{Ask, Block, Op, Spent, What};

use crate::meter::{Activity, Balance, Meter};
use crate::place::{Edge, Place};
use crate::room::{Metered, Plan, Room};
use front::Front;

pub use access::Access;
pub use layout::{Accesses, Layout, Mirror, Pairing, Parity, Parts, Rotation, Stripes};
pub use path::Way;
pub use spec::{ArraySpec, FirstUnit, Level, Queueing, ReadFrom};

/// An array whose disks are known.
#[derive(Clone, Debug)]
pub struct ArrayPlan {
    level: Level,
    layout: Layout,
    queueing: Queueing,
    read_from: ReadFrom,
    /// Of each disk, whether it has failed.
    failed: Vec<bool>,
    /// Whether the disks are copies of one part, which nothing else uses.
    copies: bool,
    /// Whether the node it uses after its disks is the way to them.
    via: bool,
    access: Access,
    cache: Option<cache::CachePlan>,
}

/// An array in a simulation.
pub struct Array<'m> {
    place: &'m Place<'m>,
    plan: &'m ArrayPlan,
    /// Held from the split to the merge, where requests do not overlap.
    lockstep: Option<Resource<'m>>,
    /// Stripes whose parity is being changed.
    stripes: Locks<'m>,
    disks: &'m [Edge<'m>],
    /// What a mirror knows of its disks.
    heads: Rc<[Head]>,
    /// Of each column of a mirror, the copy that the next read may begin its choice with.
    turns: Vec<Cell<u64>>,
    /// What stands between hosts and the layout: controllers, a cache.
    front: Option<Box<Front<'m>>>,
    /// Has each disk do its part.
    parts: Crew<'m, (usize, Ask<Block>), Spent>,
    counts: Counts,
}

/// What the array knows of a disk, from the accesses that it sent there.
#[derive(Default)]
struct Head {
    in_flight: Cell<u64>,
    /// The end of the last access.
    at: Cell<u64>,
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
        let (disks, way) = uses.split_at(self.layout.disks() as usize);
        let (via, controllers) = way.split_at(usize::from(self.via));
        let way = Way::of(via.first(), self.access.active(controllers), disks.len());
        let (mirrored, columns) = match self.layout {
            Layout::Mirrored(mirror) => (disks.len(), mirror.columns.disks),
            _ => (0, 0),
        };
        let turns = (0..columns).map(|_| Cell::default()).collect();
        let heads: Rc<[Head]> = (0..mirrored).map(|_| Head::default()).collect();
        let of_parts = Rc::clone(&heads);
        Array {
            lockstep: (self.queueing == Queueing::SplitMerge).then(|| Resource::fcfs(sim, 1)),
            stripes: Locks::new(sim),
            front: Front::new(self, place, way, controllers),
            plan: self,
            disks,
            turns,
            parts: Crew::new(sim, move |(disk, ask): (usize, Ask<Block>)| {
                part(sim.now(), &disks[disk], way, ask, Rc::clone(&of_parts), disk)
            }),
            heads,
            counts: Counts::default(),
            place,
        }
    }
}

/// One disk does its part; what it is asked and what it answers goes over the way between array and disks.
async fn part<'m>(
    now: Nanos,
    edge: &'m Edge<'m>,
    way: Way<'m>,
    ask: Ask<Block>,
    heads: Rc<[Head]>,
    disk: usize,
) -> Spent {
    let mut spent = Spent::from(now);
    if way.is_free() {
        edge.serve(&ask, &mut spent).await;
    } else {
        edge.serve_over(&ask, way, disk, &mut spent).await;
    }
    if let Some(head) = heads.get(disk) {
        head.in_flight.set(head.in_flight.get() - 1);
    }
    spent
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
            self.disks[disk].pass(&part, &mut spent);
            spent
        });
        let slowest = passes.max_by_key(Spent::until);
        spent.follow(&slowest.expect("a request has at least one byte, so at least one part"));
    }

    /// What a request asks of the disks.
    fn accesses(&self, request: Block) -> Accesses {
        let failed = &self.plan.failed;
        let at_once = |then| Accesses { first: Parts::new(), then };
        match (&self.plan.layout, request.op) {
            (Layout::Striped(stripes), _) => at_once(stripes.parts(request).collect()),
            (Layout::Mirrored(mirror), Op::Write) => at_once(mirror.write(request, failed)),
            (Layout::Mirrored(mirror), Op::Read) => {
                at_once(mirror.read(request, |column, address| self.choose(mirror, column, address)))
            }
            (Layout::Parity(parity), Op::Write) => parity.write(request, failed),
            (Layout::Parity(parity), Op::Read) => at_once(parity.read(request, failed)),
        }
    }

    /// The disk that a read at `address` of a mirrored column is taken from; among equals the next in turn.
    fn choose(&self, mirror: &Mirror, column: u64, address: u64) -> usize {
        let turn = &self.turns[column as usize];
        let in_turn = |copy: u64| (copy + mirror.copies - turn.get()) % mirror.copies;
        let cost = |disk: usize| match self.plan.read_from {
            ReadFrom::RoundRobin => 0,
            ReadFrom::ShortestQueue => self.heads[disk].in_flight.get(),
            ReadFrom::Nearest => self.heads[disk].at.get().abs_diff(address),
        };
        let holders = mirror.holders(column, &self.plan.failed);
        let chosen = holders.min_by_key(|&(copy, disk)| (cost(disk), in_turn(copy)));
        let (copy, disk) = chosen.expect("an array that loses data is refused");
        turn.set((copy + 1) % mirror.copies);
        disk
    }

    /// Has the disks do `parts` of `ask`; charges what the last to end took. `phase` keeps the keys of both phases apart.
    async fn have_done(&'m self, parts: Parts, ask: &Ask<Block>, phase: u64, spent: &mut Spent) {
        self.counts.accesses.set(self.counts.accesses.get() + parts.len() as u64);
        let asks = parts.into_iter().enumerate().map(|(n, (disk, block))| {
            if let Some(head) = self.heads.get(disk) {
                head.in_flight.set(head.in_flight.get() + 1);
                head.at.set(block.address + block.bytes);
            }
            (disk, ask.child(2 * n as u64 + phase, block))
        });
        if let Some(slowest) = self.parts.all(asks).await {
            spent.follow(&slowest);
        }
    }

    /// Serves a request of a redundant level. Writes that change the same parity do so one after another.
    async fn serve_redundant(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let mut held = Vec::new();
        if let (Layout::Parity(parity), Op::Write) = (&self.plan.layout, ask.work.op) {
            let (first, last) = parity.stripes(ask.work);
            self.counts.count_write(parity.is_whole(ask.work));
            for stripe in first..=last {
                held.push(self.stripes.lock(stripe).await);
            }
            spent.charge(self.place.id, What::Waiting, self.place.site.sim.now());
        }
        let Accesses { first, then } = self.accesses(ask.work);
        self.counts.requests.set(self.counts.requests.get() + 1);
        if !first.is_empty() {
            self.have_done(first, ask, 0, spent).await;
        }
        self.have_done(then, ask, 1, spent).await;
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
        self.lockstep.as_ref().map(|lockstep| Activity::of(1, &lockstep.usage(), now))
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
            return self.serve_redundant(ask, spent).await;
        };
        let slowest = self.parts.all(self.split(stripes, ask)).await;
        spent.follow(&slowest.expect("a request has at least one byte, so at least one part"));
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
}
