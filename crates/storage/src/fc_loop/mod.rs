//! A Fibre Channel arbitrated loop, message by message.
//!
//! A port that sends holds the whole loop for a tenancy: it arbitrates, opens a circuit, sends the frames of one sequence and
//! closes the circuit. A read takes two tenancies, the command's and that of data and status. A write takes four: the command,
//! the disk's word that it is ready, data, and status. Opening and closing take a round of the loop each, arbitration the way
//! from the port that sent before (see `arbitration.rs`).

mod arbitration;
mod frames;
mod model;
mod spec;

use std::cell::Cell;
use std::rc::Rc;

use headrace_kernel::Resource;
use headrace_units::Nanos;
use headrace_work::{Ask, Block, Op, Spent, What};

use crate::crossing::{Crossing, Phase};
use crate::meter::{Activity, Meter};
use crate::place::{Edge, Place};
use crate::room::{Metered, Plan, Room};
use crate::wire::NS_PER_METRE;
use arbitration::{Arbiter, Claim, Window};
use frames::{COMMAND, READY, STATUS, Wire};

pub use spec::{FcLoopSpec, Policy};

/// A transmission word, in bytes before coding.
const WORD: f64 = 4.0;

/// What a port sends while it holds the loop.
struct Sequence {
    claim: Claim,
    data: u64,
    message: u64,
}

/// A loop in a simulation.
pub struct FcLoop<'m> {
    place: &'m Place<'m>,
    spec: &'m FcLoopSpec,
    tenancies: Resource<'m, Arbiter>,
    window: Rc<Window>,
    held: Cell<u64>,
}

impl Plan for FcLoopSpec {
    type Room<'m> = FcLoop<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> FcLoop<'m> {
        let window = Rc::<Window>::default();
        let tenancies = Resource::new(place.site.sim, 1, Arbiter::new(Rc::clone(&window)));
        FcLoop { place, spec: self, tenancies, window, held: Cell::default() }
    }
}

impl FcLoopSpec {
    /// Once round a loop with this number of ports, in ns.
    fn round_ns(&self, ports: u32) -> f64 {
        let word = WORD * self.ns_per_byte();
        f64::from(ports * self.per_node_delay) * word + f64::from(self.metres) * NS_PER_METRE
    }

    /// How long a port holds the loop, in ns, that won it when the word had come this part of the way round.
    fn tenancy_ns(&self, ports: u32, way: f64, data: u64, message: u64) -> f64 {
        let (ns_per_byte, round_ns) = (self.ns_per_byte(), self.round_ns(ports));
        let wire = Wire { ns_per_byte, payload: self.frame_payload.0, credit: self.credit, round_ns };
        way * round_ns + 2.0 * round_ns + wire.ns_for(data, message)
    }
}

impl Policy {
    /// Whether a controller that holds a command, or else data, ignores the access window.
    fn favours(self, op: Op, is_command: bool) -> bool {
        match self {
            Self::Fairness => false,
            Self::ReadCommandFirst => is_command && op == Op::Read,
            Self::FlPortFirst => true,
            Self::CommandsFirst => is_command,
        }
    }
}

impl<'m> FcLoop<'m> {
    /// How long a port holds the loop that won it when the word had passed that many ports.
    fn tenancy(&self, passed: u32, sequence: &Sequence) -> Nanos {
        let ports = self.window.ports();
        let way = f64::from(passed) / f64::from(ports);
        Nanos(self.spec.tenancy_ns(ports, way, sequence.data, sequence.message).round() as u64)
    }

    fn by_controller(&self, crossing: &Crossing, data: u64, message: u64) -> Sequence {
        let favoured = self.spec.policy.favours(crossing.request.op, message > 0);
        Sequence { claim: Claim { port: crossing.initiator, favoured }, data, message }
    }

    /// Has a port send a sequence: it waits for the loop, and holds it.
    async fn send(&'m self, sequence: Sequence, spent: &mut Spent) {
        let sim = self.place.site.sim;
        let _turn = self.tenancies.acquire(sequence.claim).await;
        let passed = self.window.passed(sequence.claim);
        self.held.set(self.held.get() + 1);
        spent.charge(self.place.id, What::Waiting, sim.now());
        sim.delay(self.tenancy(passed, &sequence)).await;
        spent.charge(self.place.id, What::Service, sim.now());
    }
}

fn by_disk(crossing: &Crossing, data: u64, message: u64) -> Sequence {
    Sequence { claim: Claim { port: crossing.target, favoured: false }, data, message }
}

impl Metered for FcLoop<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(Activity::of(1, &self.tenancies.usage(), now))
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("tenancies", Meter::Count(self.held.get()));
        put("access_windows", Meter::Count(self.window.opened()));
    }
}

impl<'m> Room<'m> for FcLoop<'m> {
    async fn serve(&'m self, _: &Ask<Block>, _: &mut Spent) {
        unreachable!("a loop holds no data: arrays use it as a path, and nothing else is sent to it")
    }

    fn attach(&self, ports: u32) -> Option<u32> {
        Some(self.window.attach(ports))
    }

    async fn carry(&'m self, ask: &Ask<Crossing>, spent: &mut Spent) -> Nanos {
        let (crossing, data) = (&ask.work, ask.work.data().bytes);
        if crossing.phase == Phase::Answer {
            self.send(by_disk(crossing, data, STATUS), spent).await;
            return spent.until();
        }
        self.send(self.by_controller(crossing, 0, COMMAND), spent).await;
        if data > 0 {
            self.send(by_disk(crossing, 0, READY), spent).await;
            self.send(self.by_controller(crossing, data, 0), spent).await;
        }
        spent.until()
    }
}
