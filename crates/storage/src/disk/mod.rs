//! A disk: an arm that serves one request at a time, and the zoned platters it reads.
//!
//! The service of a request is overhead + seek + rotational latency + transfer (Lebrecht, Dingle and Knottenbelt, "A
//! simulator for RAID 0 systems of zoned disks"; zones after Zertal and Harrison). Where the arm goes from and to is
//! sampled in one of three ways, or known exactly: see [`Positioning`].

mod actuator;
mod background;
mod bus;
mod cache;
mod drive;
mod electronics;
mod history;
mod law;
pub mod layout;
mod mechanism;
mod model;
mod numbers;
mod pieces;
mod platter;
mod queue;
mod schedule;
mod spec;
mod zones;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use headrace_kernel::{Resource, Round, Stream};
use headrace_units::{Fraction, Nanos};
use headrace_work::{Ask, Block, Spent, What};

use crate::array::Way;
use crate::crossing::Phase;
use crate::graph::Lowering;
use crate::meter::{Activity, ByCause, Meter};
use crate::place::{Edge, Place};
use crate::room::{Lowered, Metered, Plan, Room, Spec};

pub use background::Background;
pub use cache::{AliceReading, CacheSpec, ReadAhead, Writes};
pub use drive::{Counts, Drive, Handled, Served, Source};
pub use electronics::{Command, Elsewhere, InterfaceSpec};
pub use mechanism::Mechanism;
pub use numbers::{DiskNumbers, MOST_BYTES, SeekTimes, Sourced};
pub use platter::MechanicsSpec;
pub use schedule::{QueueSpec, Scheduling};
pub use spec::{DeviceRef, DiskSpec, Positioning, VariedDevice};

pub(crate) use model::INDEPENDENT;
use pieces::Pieces;
use queue::Queue;

/// A disk whose numbers are known.
#[derive(Clone, Debug)]
pub struct DiskPlan {
    numbers: DiskNumbers,
    spec: DiskSpec,
}

impl Spec for DiskSpec {
    type Plan = DiskPlan;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<DiskPlan>> {
        if let Some((field, problem, help)) = self.problem() {
            return at.refuse(field, problem, Some(help));
        }
        let numbers = at.drive("device", &self.device)?;
        let capacity = numbers.capacity.get();
        Some(Lowered { plan: DiskPlan { numbers, spec: self.clone() }, uses: Vec::new(), capacity })
    }
}

/// A disk in a simulation.
pub struct Disk<'m> {
    place: &'m Place<'m>,
    arm: Arm<'m>,
    works: Works,
    by_cause: ByCause,
    /// Whether there is a cache, whose use it meters.
    caches: bool,
}

/// Who is served next.
#[expect(clippy::large_enum_variant, reason = "most arms are of the large kind, and asked millions of times")]
enum Arm<'m> {
    /// Who came first.
    InOrder(Resource<'m>),
    /// Whom the drive chooses.
    Choosing(Box<Choosing<'m>>),
}

/// The commands that wait in a drive, and when it reports that they are done.
struct Choosing<'m> {
    arm: Resource<'m, Queue<'m>>,
    batches: Batches<'m>,
}

/// Commands whose completion the drive reports together.
struct Batches<'m> {
    most: u32,
    /// Completed commands of this batch.
    done: Cell<u32>,
    reported: Round<'m>,
}

impl<'m> Batches<'m> {
    /// Another one is done, and `others` wait: returns when the drive reports it.
    async fn one_done(&'m self, others: bool) {
        self.done.set(self.done.get() + 1);
        if others && self.done.get() < self.most {
            return self.reported.wait().await;
        }
        self.done.set(0);
        self.reported.end();
    }
}

/// The two ways in which a disk works.
enum Works {
    /// By sampling.
    Sampled {
        mechanism: Box<Mechanism>,
        draws: Stream,
        /// Where the arm rests, as a share of the data from the outside.
        rests_at: Cell<f64>,
    },
    /// Exactly.
    Mechanical(Rc<RefCell<Drive>>),
}

impl Works {
    fn new(plan: &DiskPlan, place: &Place) -> Self {
        let DiskPlan { numbers, spec } = plan;
        if spec.positioning != Positioning::Mechanical {
            let mechanism = Box::new(Mechanism::new(numbers, spec.positioning));
            return Self::Sampled { mechanism, draws: place.stream("positions"), rests_at: Cell::new(0.0) };
        }
        let phase = spec.phase.map_or_else(|| place.stream("phase").draws().uniform(), Fraction::get);
        let drive = Drive::of(numbers, phase, place.stream("retries")).overlapping(plan.overlaps());
        Self::Mechanical(Rc::new(RefCell::new(drive)))
    }
}

impl DiskPlan {
    fn queue(&self) -> QueueSpec {
        self.spec.queue(&self.numbers)
    }

    /// Whether a command may come while data of the one before is still on its way to the host. A drive without a `queue`
    /// takes one command after another.
    fn overlaps(&self) -> bool {
        let queues = self.numbers.queue.is_some() || self.spec.queue_depth.is_some();
        queues && self.queue().depth > 1
    }
}

impl Plan for DiskPlan {
    type Room<'m> = Disk<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> Disk<'m> {
        let works = Works::new(self, place);
        let (sim, queue) = (place.site.sim, self.queue());
        let arm = match &works {
            Works::Mechanical(drive) if !queue.keeps_order() => {
                let commands = Queue::new(sim, Rc::clone(drive), &queue);
                let batches = Batches { most: queue.batch, done: Cell::new(0), reported: Round::new(sim) };
                Arm::Choosing(Box::new(Choosing { arm: Resource::new(sim, 1, commands), batches }))
            }
            _ => Arm::InOrder(Resource::fcfs(sim, 1)),
        };
        Disk { place, arm, works, by_cause: ByCause::default(), caches: self.numbers.cache.is_some() }
    }
}

impl<'m> Disk<'m> {
    /// When the disk, which is free at `now`, takes the next command, and when it has done what is asked.
    #[inline]
    fn work(&self, now: Nanos, ask: &Ask<Block>) -> Served {
        match &self.works {
            Works::Mechanical(drive) => drive.borrow_mut().serve(now, &ask.work),
            Works::Sampled { mechanism, draws, rests_at } => {
                let (service, rests) = mechanism.service(rests_at.get(), ask, *draws);
                rests_at.set(rests);
                Served { ready: now + service, done: now + service }
            }
        }
    }

    #[inline]
    fn charge(&self, spent: &mut Spent, began: Nanos, ended: Nanos) {
        spent.charge(self.place.id, What::Waiting, began);
        spent.charge(self.place.id, What::Service, ended);
    }

    /// Waits for the arm and has it do what is asked; gives when that is done.
    async fn in_order(&'m self, arm: &'m Resource<'m>, ask: &Ask<Block>, spent: &mut Spent) -> Nanos {
        let sim = self.place.site.sim;
        let _held = arm.acquire(()).await;
        spent.charge(self.place.id, What::Waiting, sim.now());
        let Served { ready, done } = self.work(sim.now(), ask);
        self.by_cause.begin(ask.cause, sim);
        sim.until(ready).await;
        self.by_cause.end(ask.cause, sim);
        done
    }

    /// The same where the drive chooses whom to serve, and reports several together: what is done is blocked until then.
    async fn chosen(&'m self, commands: &'m Choosing<'m>, ask: &Ask<Block>, spent: &mut Spent) -> Nanos {
        let (sim, Choosing { arm, batches }) = (self.place.site.sim, commands);
        let held = arm.acquire(ask.work).await;
        spent.charge(self.place.id, What::Waiting, sim.now());
        let Served { ready, done } = self.work(sim.now(), ask);
        self.by_cause.begin(ask.cause, sim);
        sim.until(ready).await;
        self.by_cause.end(ask.cause, sim);
        let others = arm.usage().queue.value() > 0;
        drop(held);
        batches.one_done(others).await;
        spent.charge(self.place.id, What::Service, sim.now().min(done));
        spent.charge(self.place.id, What::Blocked, sim.now());
        done
    }
}

impl Metered for Disk<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let arm = match &self.arm {
            Arm::InOrder(arm) => Activity::of(1, &arm.usage(), now),
            Arm::Choosing(commands) => Activity::of(1, &commands.arm.usage(), now),
        };
        let arm = self.by_cause.of(arm, now);
        Some(match &self.works {
            Works::Sampled { .. } => arm,
            Works::Mechanical(drive) => {
                let drive = drive.borrow();
                arm.beside(drive.background(now)).with_hosts(drive.read_ahead_ns(now))
            }
        })
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let (Works::Mechanical(drive), true) = (&self.works, self.caches) else { return };
        let counts = drive.borrow().counts();
        let hits = counts.read_hits + counts.read_ahead_hits;
        put("read_hit_ratio", Meter::Share(hits, hits + counts.read_misses));
        put("cached_writes", Meter::Count(counts.cached_writes));
        put("destages", Meter::Count(counts.destaged));
    }
}

impl<'m> Room<'m> for Disk<'m> {
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let sim = self.place.site.sim;
        let done = match &self.arm {
            Arm::InOrder(arm) => self.in_order(arm, ask, spent).await,
            Arm::Choosing(commands) => self.chosen(commands, ask, spent).await,
        };
        sim.until(done).await;
        spent.charge(self.place.id, What::Service, sim.now());
    }

    async fn serve_over(&'m self, ask: &Ask<Block>, way: Way<'m>, number: usize, spent: &mut Spent) {
        match (&self.works, way.piece()) {
            (Works::Mechanical(drive), Some(piece)) => {
                Pieces { disk: self, drive, way, number, piece }.serve(ask, spent).await;
            }
            _ => {
                way.cross(Phase::Request, number, ask, spent).await;
                if !spent.has_failed() {
                    self.serve(ask, spent).await;
                    way.cross(Phase::Answer, number, ask, spent).await;
                }
            }
        }
    }

    #[inline]
    fn pass(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let Arm::InOrder(arm) = &self.arm else { unreachable!("a drive that chooses is not in order") };
        let now = spent.until();
        let mut done = now;
        let pass = arm.pass(now, |start| {
            let served = self.work(start, ask);
            done = served.done;
            served.ready
        });
        self.charge(spent, pass.start, done);
    }
}
