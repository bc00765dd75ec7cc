//! A port: one direction of a wire, and the queue before it. Switches and links of two directions are made of these.
//!
//! The time for which a message holds its port is known when it arrives, and is booked then: nobody is woken for its turn, and a switch
//! knows at once when the head arrives at the next port.

use std::cell::RefCell;

use headrace_analytic::Distribution;
use headrace_kernel::Sim;
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::bookings::Bookings;
use crate::core::component::{Component, InOrder, Plan, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::View;
use crate::core::meter::Activity;
use crate::core::theory::{Demand, Features, Load, ServiceKind};
use crate::core::work::Serve;
use crate::fabric::wire::Wire;

/// Part of a message that must have arrived before the next port forwards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// All of it.
    Whole,
    /// Its first frame is there: the switch stores frames before it forwards them.
    FirstFrame,
    /// The head of its first frame is there: the switch cuts through.
    Head,
}

/// A port whose wire is known.
#[derive(Clone, Debug)]
pub struct PortPlan {
    pub(crate) wire: Wire,
    /// True if commands and statuses go along with data.
    pub(crate) messages: bool,
    pub(crate) passes: Passes,
    /// Additional time for each read and each write.
    pub(crate) commands: [Nanos; 2],
}

impl PortPlan {
    /// Returns true for a command, false for a status: data goes with the command of a write and the status of a read.
    fn is_command(block: Block) -> bool {
        (block.op == Op::Write) == (block.bytes > 0)
    }

    /// Returns the time for which a message and its data hold the port.
    pub(crate) fn time_for(&self, data: Block) -> Nanos {
        let message = if self.messages { self.wire.message(Self::is_command(data)) } else { Nanos::ZERO };
        self.wire.time_for(data.bytes) + message + self.commands[usize::from(data.op != Op::Read)]
    }

    /// Returns the time for the part of a message that is stored before it is forwarded.
    fn stored(&self, data: Block) -> Nanos {
        match self.passes {
            Passes::FirstFrame => self.wire.first_frame(data.bytes, Self::is_command(data)),
            Passes::Whole | Passes::Head => Nanos::ZERO,
        }
    }

    /// Returns the delay from its start after which the next port can begin with a message that holds the port for `held`.
    fn head(&self, data: Block, held: Nanos) -> Nanos {
        let passed = if self.passes == Passes::Whole { held } else { self.stored(data) };
        passed + self.wire.delay()
    }

    /// Returns the time from the arrival of the head to that of the tail.
    pub(crate) fn behind_head(&self, data: Block) -> Nanos {
        match self.passes {
            Passes::Whole => Nanos::ZERO,
            Passes::FirstFrame | Passes::Head => self.time_for(data) - self.stored(data),
        }
    }
}

impl Plan for PortPlan {
    type Component<'m> = Port<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Port<'m> {
        Port { context, plan: self, sim: context.shared.sim, bookings: RefCell::default() }
    }
}

impl Theory for PortPlan {
    fn features(&self) -> Features {
        Features {
            addressed: false,
            flushes_at_once: true,
            can_be_slow: true,
            fills: Some(0),
            ..Features::default()
        }
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let block = |op: Op, bytes: u64| Block { op, address: 0, bytes };
        let distribution = |(p, op, bytes): &(f64, Op, u64)| {
            (*p, Distribution::Fixed(self.time_for(block(*op, *bytes)).ms()))
        };
        let held = Distribution::mixed(load.kinds.iter().map(distribution).collect());
        // A message is in several ports at once: who carries it counts its time on the wire once. What is stored first adds up.
        let head = |&(p, op, bytes): &(f64, Op, u64)| p * self.stored(block(op, bytes)).ms();
        let stored: f64 = load.kinds.iter().map(head).sum();
        let delay =
            Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(self.wire.delay().ms() + stored));
        let demands = vec![Demand::one(view.id(), ServiceKind::SINGLE, held), delay];
        Ok(demands)
    }

    fn in_order(&self, _: View, _: &Load) -> Result<(), String> {
        Ok(())
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        true
    }
}

/// A port in a simulation.
pub struct Port<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m PortPlan,
    sim: &'m Sim<'m>,
    bookings: RefCell<Bookings>,
}

impl<'m> Component<'m> for Port<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(self.bookings.borrow().activity(now))
    }
}

impl<'m> Serve<'m, Block> for Port<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.pass(request, breakdown);
        self.sim.until(breakdown.until()).await;
    }
}

impl<'m> InOrder<'m> for Port<'m> {
    /// Books the port for what comes now; the account ends when the next port may begin with it.
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let now = breakdown.until();
        let health = &self.context.health;
        let held = self.plan.time_for(request.work);
        let start = self.bookings.borrow_mut().book(now, health.slowed(held), request.cause);
        breakdown.waited(self.context.id, start);
        breakdown.served(self.context.id, start + health.slowed(self.plan.head(request.work, held)));
    }
}
