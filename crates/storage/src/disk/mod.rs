//! A disk: an arm that serves one request at a time, and the zoned platters it reads.
//!
//! The service of a request is overhead + seek + rotational latency + transfer (Lebrecht, Dingle and Knottenbelt, "A
//! simulator for RAID 0 systems of zoned disks"; zones after Zertal and Harrison). Where the arm goes from and to is
//! sampled in one of three ways: see [`Positioning`].

mod cache;
mod drive;
mod electronics;
mod law;
pub mod layout;
mod numbers;
mod platter;
mod queue;
mod schedule;
mod zones;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use headrace_kernel::{Resource, Round, Stream, Usage};
use headrace_units::{Fraction, Nanos};
use headrace_workload::{Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::BlockDevice;
use crate::passage::Passage;
use crate::site::Place;

pub use cache::{CacheSpec, ReadAhead, Writes};
pub use drive::{Drive, Served, Story, Way};
pub use electronics::{Command, Elsewhere, InterfaceSpec};
pub use numbers::{DiskNumbers, MOST_BYTES, SeekTimes, Sourced};
pub use platter::MechanicsSpec;
pub use schedule::{QueueSpec, Scheduling};

use queue::Queue;
use zones::{SeekCurve, Zones};

/// A disk drive, without its cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// A drive of the catalogue by name, or its numbers written out.
    pub device: DeviceRef,
    /// How the places on the platter are sampled.
    #[serde(default)]
    pub positioning: Positioning,
    /// Which of the waiting requests is served next, for `positioning: mechanical`. Default: what the drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Among so many at most it chooses; those behind them wait outside. With more than one it takes the next while data of the
    /// one before still goes to the host. Default: what the drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub queue_depth: Option<u32>,
    /// Where the platter stands at the beginning, as a share of a turn, for `positioning: mechanical`. Default: drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Fraction>,
}

impl DiskSpec {
    /// What a drive of these numbers makes of the commands that wait in it here.
    pub fn queue(&self, numbers: &DiskNumbers) -> QueueSpec {
        if self.positioning != Positioning::Mechanical {
            return QueueSpec::default();
        }
        let own = numbers.queue.clone().unwrap_or_default();
        QueueSpec {
            scheduling: self.scheduling.unwrap_or(own.scheduling),
            depth: self.queue_depth.unwrap_or(own.depth),
            ..own
        }
    }

    /// What does not go together: (field, what is wrong, what would do).
    pub fn problem(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let mechanical = self.positioning == Positioning::Mechanical;
        let only = "it has a meaning only where the platter turns";
        let help = "say `positioning: mechanical`, or leave it out";
        match (mechanical, self.scheduling, self.queue_depth, self.phase) {
            (false, Some(_), ..) => Some(("scheduling", only, help)),
            (false, _, Some(_), _) => Some(("queue_depth", only, help)),
            (false, .., Some(_)) => Some(("phase", only, help)),
            _ => None,
        }
    }
}

/// A drive by name, or its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DeviceRef {
    /// By its name in the catalogue.
    Named(String),
    /// Written out.
    Numbers(Box<DiskNumbers>),
}

/// How the places on the platter are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Positioning {
    /// The arm moves from where the last request left it to where this one's address lies.
    #[default]
    Addressed,
    /// From one random place to another, the second of which decides the transfer rate too. Addresses play no part.
    Coupled,
    /// As in the paper: seek and transfer rate each from random places of their own. Addresses play no part.
    Independent,
    /// Exactly: the platter turns in virtual time, sectors lie where the layout has them, the cache and the interface do what
    /// they do. Where the platter stands at the beginning is drawn.
    Mechanical,
}

/// A disk's mechanism: how long a request takes, given where the arm is.
#[derive(Clone, Debug)]
pub struct Mechanism {
    positioning: Positioning,
    overhead_ns: f64,
    revolution_ns: f64,
    capacity: u64,
    zones: Zones,
    read_seek: SeekCurve,
    write_seek: SeekCurve,
}

impl Mechanism {
    /// The mechanism of a drive with these numbers.
    pub fn new(numbers: &DiskNumbers, positioning: Positioning) -> Self {
        let span = f64::from(numbers.cylinders.get() - 1);
        Self {
            positioning,
            overhead_ns: numbers.overhead.get().0 as f64,
            revolution_ns: 1e9 / numbers.rotation.get().get(),
            capacity: numbers.capacity.get().0,
            zones: Zones::new(numbers.media_rate_outer.get(), numbers.media_rate_inner.get()),
            read_seek: SeekCurve::new(&numbers.seek_read, span),
            write_seek: SeekCurve::new(&numbers.seek_write, span),
        }
    }

    /// How fast data passes under the head, in bytes a second, where the share `u` of the data lies outside.
    pub fn media_rate(&self, u: f64) -> f64 {
        1e9 / self.zones.transfer_ns(u, 1)
    }

    /// How long the arm takes over `distance`, a share of the full stroke, in ms.
    pub fn seek_ms(&self, op: Op, distance: f64) -> f64 {
        self.seek_curve(op).time_ns(distance) * 1e-6
    }

    fn seek_curve(&self, op: Op) -> &SeekCurve {
        match op {
            Op::Read => &self.read_seek,
            Op::Write => &self.write_seek,
        }
    }

    /// How long `request` takes with the arm at `from`, and where it leaves the arm. Places are shares of the data:
    /// 0 is the outermost byte, 1 the innermost.
    #[inline]
    fn service(&self, from: f64, request: &Request, draws: Stream) -> (Nanos, f64) {
        let mut draws = draws.of(request.key);
        let (from, to, transfer_at) = match self.positioning {
            Positioning::Addressed | Positioning::Mechanical => {
                let place = |byte: u64| byte as f64 / self.capacity as f64;
                (from, place(request.address), place(request.address))
            }
            Positioning::Coupled => {
                let to = draws.uniform();
                (draws.uniform(), to, to)
            }
            Positioning::Independent => (draws.uniform(), draws.uniform(), draws.uniform()),
        };
        let distance = (self.zones.radius(from) - self.zones.radius(to)).abs();
        let seek = self.seek_curve(request.op).time_ns(distance);
        let latency = draws.uniform() * self.revolution_ns;
        let transfer = self.zones.transfer_ns(transfer_at, request.bytes);
        let rest_at = (request.address + request.bytes) as f64 / self.capacity as f64;
        (Nanos((self.overhead_ns + seek + latency + transfer + 0.5) as u64), rest_at.min(1.0))
    }
}

/// A disk in a simulation.
pub struct Disk<'m> {
    place: Place<'m>,
    arm: Arm<'m>,
    works: Works,
    /// Whether a command may come while data of the one before is still on its way to the host.
    overlaps: bool,
}

/// Who is served next.
#[expect(clippy::large_enum_variant, reason = "most arms are of the large kind, and asked millions of times")]
enum Arm<'m> {
    /// Who came first.
    InOrder(Resource<'m>),
    /// Whom the drive chooses.
    Choosing(Box<Choosing<'m>>),
}

/// The commands that wait in a drive, and when it says that they are done.
struct Choosing<'m> {
    arm: Resource<'m, Queue<'m>>,
    batches: Batches<'m>,
}

/// Commands of which the drive says together that they are done.
struct Batches<'m> {
    most: u32,
    /// How many of this batch are done.
    done: Cell<u32>,
    told: Round<'m>,
}

impl<'m> Batches<'m> {
    /// Another one is done, and `others` wait: returns when the drive says so.
    async fn one_done(&'m self, others: bool) {
        self.done.set(self.done.get() + 1);
        if others && self.done.get() < self.most {
            return self.told.wait().await;
        }
        self.done.set(0);
        self.told.end();
    }
}

/// The two ways in which a disk works.
enum Works {
    /// By sampling.
    Sampled {
        mechanism: Mechanism,
        draws: Stream,
        /// Where the arm rests, as a share of the data from the outside.
        rests_at: Cell<f64>,
    },
    /// Exactly.
    Mechanical(Rc<RefCell<Drive>>),
}

impl Works {
    fn new(numbers: &DiskNumbers, spec: &DiskSpec, place: &Place) -> Self {
        if spec.positioning != Positioning::Mechanical {
            let mechanism = Mechanism::new(numbers, spec.positioning);
            return Self::Sampled { mechanism, draws: place.stream("positions"), rests_at: Cell::new(0.0) };
        }
        let phase = spec.phase.map_or_else(|| place.stream("phase").draws().uniform(), Fraction::get);
        let drive = Drive::of(numbers, phase, place.stream("retries"));
        Self::Mechanical(Rc::new(RefCell::new(drive)))
    }
}

impl<'m> Disk<'m> {
    pub(crate) fn new(numbers: &DiskNumbers, spec: &DiskSpec, place: Place<'m>) -> Self {
        let works = Works::new(numbers, spec, &place);
        let (sim, queue) = (place.site.sim, spec.queue(numbers));
        let arm = match &works {
            Works::Mechanical(drive) if !queue.keeps_order() => {
                let commands = Queue::new(sim, Rc::clone(drive), &queue);
                let batches = Batches { most: queue.batch, done: Cell::new(0), told: Round::new(sim) };
                Arm::Choosing(Box::new(Choosing { arm: Resource::new(sim, 1, commands), batches }))
            }
            _ => Arm::InOrder(Resource::fcfs(sim, 1)),
        };
        // A drive of which nothing is said of its queue does one after another.
        let tells = numbers.queue.is_some() || spec.queue_depth.is_some();
        Self { arm, works, place, overlaps: tells && queue.depth > 1 }
    }

    /// When the disk, which is free at `now`, takes the next command, and when it has done what `request` asks.
    #[inline]
    fn work(&self, now: Nanos, request: &Request) -> Served {
        match &self.works {
            Works::Mechanical(drive) => {
                let served = drive.borrow_mut().serve(now, request);
                if self.overlaps { served } else { Served { ready: served.done, ..served } }
            }
            Works::Sampled { mechanism, draws, rests_at } => {
                let (service, rests) = mechanism.service(rests_at.get(), request, *draws);
                rests_at.set(rests);
                Served { ready: now + service, done: now + service }
            }
        }
    }

    /// The leg of a request that came at `since` and was served from `begin` to `done`.
    fn leg(&self, since: Nanos, begin: Nanos, done: Nanos) -> Passage {
        Passage::through(self.place.component, begin - since, done - begin)
    }
}

impl<'m> BlockDevice<'m> for Disk<'m> {
    const KIND: &'static str = "disk";

    fn place(&self) -> &Place<'m> {
        &self.place
    }

    fn queue(&self) -> Option<(u64, Usage)> {
        Some(match &self.arm {
            Arm::InOrder(arm) => arm.recorded(),
            Arm::Choosing(commands) => commands.arm.recorded(),
        })
    }

    async fn io(&'m self, request: Request) -> Passage {
        let sim = self.place.site.sim;
        let since = sim.now();
        let (begin, done) = match &self.arm {
            Arm::InOrder(arm) => {
                let _held = arm.acquire(()).await;
                let begin = sim.now();
                let Served { ready, done } = self.work(begin, &request);
                sim.until(ready).await;
                (begin, done)
            }
            Arm::Choosing(commands) => {
                let Choosing { arm, batches } = &**commands;
                let held = arm.acquire(request).await;
                let begin = sim.now();
                let Served { ready, done } = self.work(begin, &request);
                sim.until(ready).await;
                let others = arm.usage().queue.value() > 0;
                drop(held);
                batches.one_done(others).await;
                (begin, done)
            }
        };
        if done > sim.now() {
            sim.until(done).await;
        }
        self.leg(since, begin, sim.now())
    }

    #[inline]
    fn pass(&self, now: Nanos, request: &Request) -> (Nanos, Passage) {
        let Arm::InOrder(arm) = &self.arm else {
            unreachable!("a drive that chooses is not asked without events")
        };
        let mut done = now;
        let pass = arm.pass(now, |start| {
            let served = self.work(start, request);
            done = served.done;
            served.ready
        });
        (done, self.leg(now, pass.start, done))
    }
}
