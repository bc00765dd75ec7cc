//! A disk: an arm that serves one request at a time, and the zoned platters it reads.
//!
//! The service of a request is overhead + seek + rotational latency + transfer (Lebrecht, Dingle and Knottenbelt, "A
//! simulator for RAID 0 systems of zoned disks"; zones after Zertal and Harrison). Where the arm goes from and to is
//! sampled in one of three ways, or known exactly: see [`Positioning`].

mod actuator;
mod background;
mod bus;
mod cache;
mod distribution;
mod drive;
mod electronics;
mod history;
pub mod layout;
mod mechanism;
mod model;
mod numbers;
mod pieces;
mod platter;
mod queue;
mod sampled;
mod schedule;
mod spec;
mod steps;
mod zones;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::OnceLock;

use headrace_kernel::{Resource, RngStream, Round};
use headrace_units::{Fraction, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op, Request};

use crate::block::array::OverPath;
use crate::core::component::{Component, InOrder, Plan, Spec};
use crate::core::context::NodeContext;
use crate::core::graph::Lowering;
use crate::core::meter::{Activity, ByCause, Meter};
use crate::core::ranges::Ranges;
use crate::core::work::Serve;

pub use background::Background;
pub use cache::{AliceReading, CacheSpec, ReadAhead, Writes};
pub use drive::{CommandCounts, DataSource, Drive, Handled, Served};
pub use electronics::{Command, Elsewhere, InterfaceSpec};
pub use mechanism::Mechanism;
pub use numbers::{DiskNumbers, MOST_BYTES, SeekTimes};
pub use platter::MechanicsSpec;
pub use schedule::{QueueSpec, Scheduling};
pub use spec::{DiskSpec, Positioning};

pub(crate) use model::INDEPENDENT;
use pieces::Pieces;
use queue::{CommandQueue, QueuedCommand};
use sampled::{Commands, ComputedDistributions};

/// A disk whose numbers are known.
#[derive(Clone, Debug)]
pub struct DiskPlan {
    numbers: DiskNumbers,
    spec: DiskSpec,
    /// What its positioning is sampled by; all disks of the plan share it, as hundreds of thousands can.
    mechanism: Mechanism,
    /// A drive that was never used.
    first: OnceLock<Drive>,
    /// Service times by operation and bytes.
    services: ComputedDistributions<(Op, u64)>,
    /// Times from one of these commands to the next.
    samples: ComputedDistributions<Commands>,
}

impl Spec for DiskSpec {
    type Plan = DiskPlan;

    fn lower(&self, at: &mut Lowering) -> Option<DiskPlan> {
        if let Some(invalid) = self.problem() {
            return at.invalid(invalid);
        }
        let numbers = at.device("device", &self.device)?;
        let capacity = numbers.capacity.get();
        at.holds(capacity);
        Some(DiskPlan {
            mechanism: Mechanism::new(&numbers, self.positioning),
            numbers,
            spec: self.clone(),
            first: OnceLock::new(),
            services: ComputedDistributions::default(),
            samples: ComputedDistributions::default(),
        })
    }
}

/// A disk in a simulation.
pub struct Disk<'m> {
    context: &'m NodeContext<'m>,
    arm: Arm<'m>,
    works: Works<'m>,
    by_cause: ByCause,
    /// Time for which commands held the arm while they waited for the channel, by cause.
    stalled: RefCell<[u128; Cause::ALL.len()]>,
    /// True if it has a cache, whose use it meters.
    caches: bool,
}

/// Order in which the arm serves commands.
#[expect(clippy::large_enum_variant, reason = "most arms are of the large kind, and asked millions of times")]
enum Arm<'m> {
    /// First come, first served.
    InOrder(Resource<'m>),
    /// Whom the drive chooses.
    Choosing(Box<Choosing<'m>>),
}

/// The commands that wait in a drive, and when it reports that they are done.
struct Choosing<'m> {
    arm: Resource<'m, CommandQueue<'m>>,
    batches: Completions<'m>,
}

/// Commands whose completion the drive reports together.
struct Completions<'m> {
    most: u32,
    /// Completed commands of this batch.
    done: Cell<u32>,
    reported: Round<'m>,
}

impl<'m> Completions<'m> {
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

/// Largest number of bytes of a command that are simulated at once: some 100 tracks.
const LONGEST_ACCESS: u64 = 64 << 20;

/// The two ways in which a disk works.
enum Works<'m> {
    /// By sampling.
    Sampled {
        mechanism: &'m Mechanism,
        draws: RngStream,
        /// Position of the idle arm, as a share of the data from the outside.
        rests_at: Cell<f64>,
    },
    /// Exactly.
    Mechanical(Rc<RefCell<Drive>>),
}

impl<'m> Works<'m> {
    fn new(plan: &'m DiskPlan, context: &NodeContext) -> Self {
        if plan.spec.positioning != Positioning::Mechanical {
            let (draws, rests_at) = (context.stream("positions"), Cell::new(0.0));
            return Self::Sampled { mechanism: &plan.mechanism, draws, rests_at };
        }
        let phase = plan.spec.phase.map_or_else(|| context.stream("phase").draws().uniform(), Fraction::get);
        Self::Mechanical(Rc::new(RefCell::new(plan.drive(phase, context.stream("retries")))))
    }
}

impl DiskPlan {
    /// Returns a drive at rest, like all of this plan: the first is made of the numbers.
    fn drive(&self, phase: f64, luck: RngStream) -> Drive {
        let first = || Drive::of(&self.numbers, phase, luck).overlapping(self.overlaps());
        self.first.get_or_init(first).like(phase, luck)
    }

    fn queue(&self) -> QueueSpec {
        self.spec.queue(&self.numbers)
    }

    /// Returns true if it accepts a command while data of the previous one is on its way to the host. A drive without a `queue` takes one
    /// command after another.
    fn overlaps(&self) -> bool {
        let queues = self.numbers.queue.is_some() || self.spec.queue_depth.is_some();
        queues && self.queue().depth > 1
    }
}

impl Plan for DiskPlan {
    type Component<'m> = Disk<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Disk<'m> {
        let works = Works::new(self, context);
        let (sim, queue) = (context.shared.sim, self.queue());
        let arm = match &works {
            Works::Mechanical(drive) if !queue.keeps_order() => {
                let commands = CommandQueue::new(sim, Rc::clone(drive), &queue);
                let batches =
                    Completions { most: queue.batch, done: Cell::new(0), reported: Round::new(sim) };
                Arm::Choosing(Box::new(Choosing { arm: Resource::new(sim, 1, commands), batches }))
            }
            _ => Arm::InOrder(Resource::fcfs(sim, 1)),
        };
        Disk {
            context,
            arm,
            works,
            by_cause: ByCause::default(),
            stalled: RefCell::default(),
            caches: self.numbers.cache.is_some(),
        }
    }
}

impl<'m> Disk<'m> {
    /// Returns the times at which the disk, free at `now`, takes the next command and completes this one.
    #[inline]
    fn work(&self, now: Nanos, request: &Request<Block>) -> Served {
        match &self.works {
            Works::Mechanical(drive) if request.is_durable() => {
                drive.borrow_mut().serve_durably(now, &request.work)
            }
            Works::Mechanical(drive) if request.work.op == Op::Flush => drive.borrow_mut().flush(now),
            Works::Mechanical(drive) => drive.borrow_mut().serve(now, &request.work),
            // Without a cache a flush has nothing to do but to be answered.
            Works::Sampled { mechanism, .. } if request.work.op == Op::Flush => {
                let done = now + self.context.health.slowed(mechanism.overhead());
                Served { ready: done, done }
            }
            Works::Sampled { mechanism, draws, rests_at } => {
                let (service, rests) = mechanism.service(rests_at.get(), request, *draws);
                rests_at.set(rests);
                let done = now + self.context.health.slowed(service);
                Served { ready: done, done }
            }
        }
    }

    /// A command held the arm for `held` ns more than the arm and the heads worked for it.
    fn note_stall(&self, cause: Cause, held: Nanos) {
        self.stalled.borrow_mut()[cause as usize] += u128::from(held.0);
    }

    /// A command begins.
    #[inline]
    fn begin(&self, cause: Cause) {
        self.by_cause.begin(cause, self.context.shared.sim);
        if let Works::Mechanical(drive) = &self.works {
            drive.borrow_mut().set_for_host(cause == Cause::Host);
        }
    }

    #[inline]
    fn charge(&self, breakdown: &mut Breakdown, began: Nanos, ended: Nanos) {
        breakdown.waited(self.context.id, began);
        breakdown.served(self.context.id, ended);
    }

    /// Has the disk, free now, do what is asked, and waits until it takes the next command. Returns when this one is completed. A command
    /// of many megabytes is simulated a part at a time, so that limits and Ctrl-C are heard between.
    #[inline]
    async fn work_until_ready(&self, request: &Request<Block>) -> Nanos {
        let sim = self.context.shared.sim;
        if request.work.bytes > LONGEST_ACCESS
            && let Works::Mechanical(drive) = &self.works
        {
            return self.long_access(drive, request).await;
        }
        let Served { ready, done } = self.work(sim.now(), request);
        sim.until(ready).await;
        done
    }

    #[cold]
    async fn long_access(&self, drive: &RefCell<Drive>, request: &Request<Block>) -> Nanos {
        let (sim, mut done) = (self.context.shared.sim, Nanos::ZERO);
        for part in pieces::pieces(request.work, LONGEST_ACCESS) {
            let served = match part.address == request.work.address {
                true => drive.borrow_mut().serve(sim.now(), &part),
                false => drive.borrow_mut().go_on(sim.now(), &part),
            };
            done = served.done;
            sim.until(served.ready).await;
        }
        done
    }

    /// Waits for the arm and has it do what is asked; gives when that is done.
    async fn in_order(
        &'m self,
        arm: &'m Resource<'m>,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Nanos {
        let sim = self.context.shared.sim;
        let _held = arm.acquire(()).await;
        breakdown.waited(self.context.id, sim.now());
        self.begin(request.cause);
        let done = self.work_until_ready(request).await;
        self.by_cause.end(request.cause, sim);
        done
    }

    /// Serves a command of a drive that chooses among those waiting and reports several together; a completed command is blocked until it
    /// is reported.
    async fn chosen(
        &'m self,
        commands: &'m Choosing<'m>,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Nanos {
        let (sim, Choosing { arm, batches }) = (self.context.shared.sim, commands);
        let held = arm.acquire(QueuedCommand::of(request)).await;
        breakdown.waited(self.context.id, sim.now());
        self.begin(request.cause);
        let done = self.work_until_ready(request).await;
        self.by_cause.end(request.cause, sim);
        let others = arm.usage().queue.value() > 0;
        drop(held);
        batches.one_done(others).await;
        breakdown.served(self.context.id, sim.now().min(done));
        breakdown.blocked(self.context.id, sim.now());
        done
    }
}

impl<'m> Component<'m> for Disk<'m> {
    fn at_risk(&self, written: &Ranges, _: &dyn Fn(usize, &Ranges) -> Ranges) -> Option<Ranges> {
        Some(match &self.works {
            // It answers writes when they are on the platter.
            Works::Sampled { .. } => Ranges::default(),
            Works::Mechanical(drive) => {
                drive.borrow().unwritten(self.context.shared.sim.now()).intersect(written)
            }
        })
    }

    fn lose_power(&'m self) {
        if let Works::Mechanical(drive) = &self.works {
            drive.borrow_mut().lose_power(self.context.shared.sim.now());
        }
    }

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
                let all = drive.background(now).beside(arm).with_hosts(drive.read_ahead_ns(now));
                Activity { stalled: *self.stalled.borrow(), ..all }
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

impl<'m> Serve<'m, Block> for Disk<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let sim = self.context.shared.sim;
        let done = match &self.arm {
            Arm::InOrder(arm) => self.in_order(arm, request, breakdown).await,
            Arm::Choosing(commands) => self.chosen(commands, request, breakdown).await,
        };
        sim.until(done).await;
        breakdown.served(self.context.id, sim.now());
    }
}

impl<'m> Serve<'m, OverPath<'m>> for Disk<'m> {
    async fn serve(&'m self, request: &Request<OverPath<'m>>, breakdown: &mut Breakdown) {
        let OverPath { block, path, disk } = request.work;
        match (&self.works, path.piece()) {
            (Works::Mechanical(drive), Some(piece)) => {
                let pieces =
                    Pieces { disk: self, drive, way: path, number: disk, piece, hidden: Cell::default() };
                pieces.serve(&request.with(block), breakdown).await;
            }
            _ => request.work.around(&request.with(block), breakdown, self).await,
        }
    }
}

impl<'m> InOrder<'m> for Disk<'m> {
    #[inline]
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let Arm::InOrder(arm) = &self.arm else { return breakdown.fail() };
        let now = breakdown.until();
        let mut done = now;
        let pass = arm.pass(now, |start| {
            let served = self.work(start, request);
            done = served.done;
            served.ready
        });
        self.charge(breakdown, pass.start, done);
    }
}
