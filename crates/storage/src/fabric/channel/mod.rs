//! A channel between array controllers and their disks: a port that sends holds one of its lanes for a tenancy.
//!
//! Fibre Channel loops, SCSI buses and SAS ports are channels. They differ in who sends next ([`Arbitration`]), in what the tenancies of
//! a command carry ([`LaneProtocol`]), and in how long a tenancy lasts ([`Channel::tenancy_ns`]).

mod frames;
mod model;

use std::cell::Cell;
use std::fmt::Debug;

use headrace_kernel::{Discipline, Locks, Resource};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::component::{Component, Plan};
use crate::core::context::NodeContext;
use crate::core::graph::View;
use crate::core::meter::{Activity, Meter, add};
use crate::core::theory::Phase;
use crate::core::work::Serve;
use crate::fabric::path_transfer::{PathTransfer, Sender, TransferPart};

pub(crate) use frames::{FCP, Frames};

/// One tenancy of a command: a message, after the data if there is any.
#[derive(Clone, Copy, Debug)]
pub struct Tenancy {
    /// Sender.
    pub sender: Sender,
    /// True if the data of the request goes along.
    pub has_data: bool,
    /// Bytes of the message; 0 for none.
    pub message: u64,
    /// Bytes of the message of a tenancy after which more of the data follows.
    pub more: u64,
}

/// The tenancies of a read and of a write, each list before and after the disk works.
#[derive(Clone, Copy, Debug)]
pub struct LaneProtocol {
    /// Of a read.
    pub read: [&'static [Tenancy]; 2],
    /// Of a write.
    pub write: [&'static [Tenancy]; 2],
}

/// Messages that a port sends while it holds a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneTurn {
    /// Sender.
    pub sender: Sender,
    /// Its port.
    pub port: u32,
    /// The request it is part of.
    pub op: Op,
    /// Bytes of data.
    pub data: u64,
    /// Bytes of the message after them.
    pub message: u64,
}

impl LaneProtocol {
    fn steps(&self, op: Op, phase: Phase) -> &'static [Tenancy] {
        let of = match op {
            Op::Read => &self.read,
            Op::Write | Op::Discard | Op::Flush => &self.write,
        };
        of[usize::from(phase == Phase::Answer)]
    }
}

impl Tenancy {
    /// Returns true if the step belongs to this part of its phase.
    fn is_of(self, part: TransferPart) -> bool {
        match part {
            TransferPart::All => true,
            TransferPart::Messages(sender) => !self.has_data && self.sender == sender,
            TransferPart::Piece { .. } => self.has_data,
        }
    }

    /// The turns it takes, each with at most `burst` bytes of the data, of which more follow unless these are the `last`.
    fn turns(self, request: Block, port: u32, burst: u64, last: bool) -> impl Iterator<Item = LaneTurn> {
        let Self { sender, has_data, message, more } = self;
        let data = if has_data { request.bytes } else { 0 };
        let turns = data.div_ceil(burst).max(1);
        (0..turns).map(move |nth| {
            let message = if last && nth + 1 == turns { message } else { more };
            LaneTurn { sender, port, op: request.op, data: (data - nth * burst).min(burst), message }
        })
    }
}

/// The rule by which ports take turns.
pub trait Arbitration {
    /// The queue of those that wait.
    type Queue: Discipline;

    /// A new queue that follows the rule.
    fn queue(&self) -> Self::Queue;

    /// A controller gets port `first`, and its disks those after it, up to `ports` in all.
    fn attach(&self, first: u32, ports: u32);

    /// Returns the key by which the queue chooses.
    fn key(&self, turn: &LaneTurn) -> <Self::Queue as Discipline>::Key;

    /// A port begins its turn. Returns how far round the channel arbitration went, from 0 to 2 rounds.
    fn begin(&self, turn: &LaneTurn) -> f64 {
        _ = turn;
        0.0
    }

    /// Measures of its own.
    fn meters(&self, put: &mut dyn FnMut(&'static str, Meter)) {
        _ = put;
    }
}

/// A kind of channel, as a user describes it.
pub trait Channel: Debug + Send + Sync {
    /// Rule that chooses the next sender.
    type Access: Arbitration;

    /// Messages in the tenancies of a command.
    const PROTOCOL: LaneProtocol;

    /// The rule of a new channel.
    fn access(&self) -> Self::Access;

    /// Number of tenancies at once, each of another disk.
    fn lanes(&self) -> u32 {
        1
    }

    /// Maximum amount of data of one tenancy, in bytes.
    fn burst(&self) -> u64 {
        u64::MAX
    }

    /// Maximum number of ports.
    fn room_for(&self) -> Option<usize> {
        None
    }

    /// Returns the duration of a turn on a channel with this number of ports, in ns, after arbitration over `way` rounds.
    fn tenancy_ns(&self, ports: u32, way: f64, turn: &LaneTurn) -> f64;

    /// Rank of a turn, for theory: of several that wait, the smallest is next.
    fn rank(&self, turn: &LaneTurn) -> u32 {
        _ = turn;
        0
    }

    /// Returns true if the duration of its tenancies is independent of the load.
    fn scales(&self) -> bool {
        true
    }

    /// The assumption of the formulas that its rule violates.
    fn fails(&self, view: View) -> Option<String> {
        _ = view;
        None
    }
}

/// A channel in a simulation.
pub struct Tenancies<'m, C: Channel> {
    context: &'m NodeContext<'m>,
    channel: &'m C,
    access: C::Access,
    lanes: Resource<'m, <C::Access as Arbitration>::Queue>,
    /// The links of the disks, by port: each holds one tenancy, whatever the number of lanes.
    links: Locks<'m>,
    ports: Cell<u32>,
    held: Cell<u64>,
    /// Waits of the controller's commands.
    commands: LaneWaits,
    /// Waits of data.
    data: LaneWaits,
}

/// For how long turns of a kind waited for a lane.
#[derive(Default)]
struct LaneWaits {
    turns: Cell<u64>,
    ns: Cell<u64>,
}

impl LaneWaits {
    fn record(&self, wait: Nanos) {
        add(&self.turns, 1);
        add(&self.ns, wait.0);
    }

    /// The mean, in ms.
    fn mean_ms(&self) -> Meter {
        Meter::Share(self.ns.get() / 1_000_000, self.turns.get())
    }
}

impl<C: Channel> Plan for C {
    type Component<'m>
        = Tenancies<'m, C>
    where
        C: 'm;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Tenancies<'m, C> {
        let (sim, access) = (context.shared.sim, self.access());
        let lanes = Resource::new(sim, u64::from(self.lanes()), access.queue());
        let links = Locks::new(sim, 1);
        let (commands, data) = (LaneWaits::default(), LaneWaits::default());
        Tenancies {
            context,
            channel: self,
            access,
            lanes,
            links,
            ports: Cell::new(0),
            held: Cell::new(0),
            commands,
            data,
        }
    }
}

impl<'m, C: Channel> Tenancies<'m, C> {
    /// Sends from a port: waits for the link of the disk and for a lane, and holds both.
    async fn send(&'m self, turn: LaneTurn, disk: u32, breakdown: &mut Breakdown) {
        let sim = self.context.shared.sim;
        let came = sim.now();
        let _link = match self.channel.lanes() {
            1 => None,
            _ => Some(self.links.lock(u64::from(disk), u64::from(disk) + 1).await),
        };
        let _lane = self.lanes.acquire(self.access.key(&turn)).await;
        let way = self.access.begin(&turn);
        self.record_wait(&turn, sim.now() - came);
        breakdown.waited(self.context.id, sim.now());
        let tenancy = self.channel.tenancy_ns(self.ports.get(), way, &turn);
        sim.delay(Nanos(tenancy.round() as u64)).await;
        breakdown.served(self.context.id, sim.now());
    }

    fn record_wait(&self, turn: &LaneTurn, wait: Nanos) {
        add(&self.held, 1);
        if turn.data > 0 {
            self.data.record(wait);
        } else if turn.sender == Sender::Controller {
            self.commands.record(wait);
        }
    }
}

impl<'m, C: Channel> Component<'m> for Tenancies<'m, C> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(Activity::of(self.lanes.servers(), &self.lanes.usage(), now))
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("tenancies", Meter::Count(self.held.get()));
        put("command_wait_ms", self.commands.mean_ms());
        put("data_wait_ms", self.data.mean_ms());
        self.access.meters(put);
    }

    fn attach(&self, ports: u32) -> Option<u32> {
        let first = self.ports.get();
        self.ports.set(first + ports);
        self.access.attach(first, ports);
        Some(first)
    }
}

impl<'m, C: Channel> Serve<'m, PathTransfer> for Tenancies<'m, C> {
    async fn serve(&'m self, request: &Request<PathTransfer>, breakdown: &mut Breakdown) -> Nanos {
        let PathTransfer { block, phase, part, initiator, target, .. } = request.work;
        let last = part != TransferPart::Piece { last: false };
        for step in C::PROTOCOL.steps(block.op, phase).iter().filter(|step| step.is_of(part)) {
            let port = if step.sender == Sender::Controller { initiator } else { target };
            for turn in step.turns(block, port, self.channel.burst(), last) {
                self.send(turn, target, breakdown).await;
            }
        }
        breakdown.until()
    }
}
