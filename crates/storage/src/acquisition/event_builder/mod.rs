//! An event builder: builders at whose ports the sub-events of an event meet, with buffers for events.

mod seats;
mod spec;

use std::cell::{Cell, RefCell};

use headrace_kernel::{Resource, RngStream};
use headrace_stats::Gauge;
use headrace_units::{Nanos, counted};
use headrace_work::{Breakdown, DaqEvent, Request};

use crate::core::bookings::BusyPeriods;
use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, EventBooks, Meter, add, by_hosts};

use seats::Seats;

pub use spec::{Assign, EventBuilderPlan, EventBuilderSpec};

/// Sub-event of one concentrator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubEvent {
    pub bytes: u64,
    /// Readout time.
    pub read: Nanos,
    /// Until when it is read; once it is given to a builder, until when it is sent.
    pub until: Nanos,
    /// True if it never arrives.
    pub is_missing: bool,
}

/// An event at a builder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Time at which its last sub-event has arrived.
    pub until: Nanos,
    /// Time for which its sub-events hold the builder's port.
    pub busy: Nanos,
    /// The concentrator whose sub-event never comes.
    pub missing: Option<u32>,
}

/// An event builder in a simulation.
pub struct EventBuilder<'m> {
    context: &'m NodeContext<'m>,
    plan: &'m EventBuilderPlan,
    recorders: &'m [Edge<'m>],
    seats: Box<Seats<'m>>,
    /// When the port of each builder receives.
    inputs: RefCell<Vec<BusyPeriods>>,
    /// Sub-events in the order in which they ask for the port: when, and in the lowest 32 bits which. One number is sorted faster than two.
    order: RefCell<Vec<u128>>,
    assemblers: Vec<Resource<'m>>,
    draws: RngStream,
    counts: Box<EventBuilderCounts>,
}

#[derive(Default)]
struct EventBuilderCounts {
    came: Cell<u64>,
    built: Cell<u64>,
    lost: Cell<u64>,
    held: RefCell<Gauge>,
    /// Events that wait for a buffer of a builder.
    waiting: RefCell<Gauge>,
    received: Cell<u64>,
    service: Cell<u128>,
    waited: Cell<u128>,
    /// Events that wait for a sub-event that never comes: how many, and the first with its concentrator, builder and time.
    stuck: RefCell<Gauge>,
    first_missing: Cell<Option<(u32, u32, Nanos)>>,
}

impl Plan for EventBuilderPlan {
    type Component<'m> = EventBuilder<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> EventBuilder<'m> {
        let uses = context.uses();
        let (sim, spec) = (context.shared.sim, &self.spec);
        EventBuilder {
            context,
            plan: self,
            recorders: uses,
            seats: Box::new(Seats::new(sim, spec.assign, spec.builders, spec.buffers)),
            inputs: RefCell::new((0..spec.builders).map(|_| BusyPeriods::default()).collect()),
            order: RefCell::default(),
            assemblers: (0..spec.builders).map(|_| Resource::fcfs(sim, 1)).collect(),
            draws: context.stream("builders"),
            counts: Box::default(),
        }
    }
}

impl<'m> EventBuilder<'m> {
    fn now(&self) -> Nanos {
        self.context.shared.sim.now()
    }

    /// Takes a buffer of a builder for an event. Gives which builder.
    pub(crate) async fn seat(&'m self, request: &Request<DaqEvent>, breakdown: &mut Breakdown) -> u32 {
        let counts = &self.counts;
        counts.waiting.borrow_mut().up(self.now(), 1);
        let builder = self.seats.take(request.work.bytes, || self.draws.of(request.key)).await;
        counts.waiting.borrow_mut().down(self.now(), 1);
        counts.held.borrow_mut().up(self.now(), 1);
        add(&counts.came, 1);
        breakdown.blocked(self.context.id, self.now());
        builder
    }

    /// The overheads of the transfers of an event's sub-events.
    pub(crate) fn overheads(&self, request: &Request<DaqEvent>) -> impl FnMut() -> Nanos + use<'m> {
        let (mut draws, overhead) = (self.draws.of(request.key ^ 1), &self.plan.spec.overhead);
        move || overhead.draw(&mut draws)
    }

    /// Sends the sub-events to the builder's port in the order in which they ask for it, each as soon as it is ready, its concentrator has
    /// sent the one before, and the port is free. `outputs` says until when each concentrator sends.
    pub(crate) fn receive(
        &self,
        request: &Request<DaqEvent>,
        sub_events: &mut [SubEvent],
        outputs: &mut [Nanos],
    ) -> Received {
        let (now, mut overhead) = (self.now(), self.overheads(request));
        let wire = self.plan.wire.expect("builders without ports of their own are connected by switches");
        let mut order = self.order.borrow_mut();
        order.clear();
        let all = sub_events
            .iter()
            .zip(outputs.iter())
            .enumerate()
            .filter(|(_, (sub_event, _))| !sub_event.is_missing);
        order.extend(all.map(|(at, (sub_event, until))| {
            u128::from(sub_event.until.max(*until).max(now).0) << 32 | at as u128
        }));
        order.sort_unstable();
        let port = &mut self.inputs.borrow_mut()[request.work.builder as usize];
        port.retire(now);
        let mut received = Received { until: now, busy: Nanos::ZERO, missing: None };
        for asks in order.iter() {
            let (came, at) = (Nanos((asks >> 32) as u64), *asks as u32 as usize);
            let lasts = overhead() + wire.time_for(sub_events[at].bytes);
            let end = port.add(came, lasts);
            (outputs[at], sub_events[at].until, received.until) = (end, end, end);
            received.busy += lasts;
        }
        if order.len() < sub_events.len() {
            received.missing =
                sub_events.iter().position(|sub_event| sub_event.is_missing).map(|at| at as u32);
        }
        received
    }

    /// Puts an event together that has been received, has it recorded, and gives its buffer back.
    pub(crate) async fn build(
        &'m self,
        request: &Request<DaqEvent>,
        received: Received,
        breakdown: &mut Breakdown,
    ) {
        self.note(received, breakdown);
        let builder = request.work.builder;
        if let Some(concentrator) = received.missing {
            self.give_up(concentrator, builder, breakdown).await;
        } else {
            self.assemble(request, breakdown).await;
        }
        if let (Some(recorder), false) = (self.recorders.get(builder as usize), breakdown.has_failed()) {
            // A component cannot contain itself, so neither can its future.
            Box::pin(recorder.serve(request, breakdown)).await;
        }
        let counts = &self.counts;
        add(if breakdown.has_failed() { &counts.lost } else { &counts.built }, 1);
        counts.held.borrow_mut().down(self.now(), 1);
        self.seats.give(builder, request.work.bytes);
    }

    /// Charges the transfers: what the port was held for as service, the rest as waiting.
    fn note(&self, received: Received, breakdown: &mut Breakdown) {
        let (counts, now) = (&self.counts, self.now());
        let waited = (now - breakdown.until()) - received.busy.min(now - breakdown.until());
        breakdown.waited(self.context.id, breakdown.until() + waited);
        breakdown.served(self.context.id, now);
        add(&counts.received, 1);
        counts.service.set(counts.service.get() + u128::from(received.busy.0));
        counts.waited.set(counts.waited.get() + u128::from(waited.0));
    }

    async fn assemble(&'m self, request: &Request<DaqEvent>, breakdown: &mut Breakdown) {
        let lasts = self.plan.spec.assemble.draw(&mut self.draws.of(request.key ^ 2));
        if lasts == Nanos::ZERO {
            return;
        }
        self.assemblers[request.work.builder as usize].serve(lasts).await;
        breakdown.waited(self.context.id, self.now() - lasts);
        breakdown.served(self.context.id, self.now());
    }

    /// Waits for a sub-event that never comes; for ever, unless the builder gives up.
    async fn give_up(&'m self, concentrator: u32, builder: u32, breakdown: &mut Breakdown) {
        let counts = &self.counts;
        let first = counts.first_missing.get().unwrap_or((concentrator, builder, self.now()));
        counts.first_missing.set(Some(first));
        counts.stuck.borrow_mut().up(self.now(), 1);
        match self.plan.spec.give_up {
            Some(after) => self.context.shared.sim.delay(after).await,
            None => std::future::pending().await,
        }
        counts.stuck.borrow_mut().down(self.now(), 1);
        breakdown.blocked(self.context.id, self.now());
        breakdown.fail();
    }
}

impl<'m> Component<'m> for EventBuilder<'m> {
    /// A builder receives and assembles side by side: it is in use as the busiest of its port, its assembler and its buffers, which hold what
    /// it receives, assembles, or waits for in vain.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (counts, waiting) = (&self.counts, self.counts.waiting.borrow());
        let (assembling, in_vain) = (self.assembling(now), counts.stuck.borrow().area(now));
        let most = counts.held.borrow().area(now); // Sub-events from several ports of a switch come at the same time.
        let of = |receiving: u128| {
            let held = (receiving + assembling + in_vain).min(most);
            let buffers = self.plan.spec.buffers.map_or(0, |each| held / u128::from(each));
            receiving.max(assembling).max(buffers)
        };
        Some(Activity {
            servers: u64::from(self.plan.spec.builders),
            busy: by_hosts(of(self.receiving(now))),
            queue: waiting.area(now),
            waiting: waiting.value(),
            visits: counts.received.get(),
            waited: counts.waited.get(),
            served: counts.received.get(),
            service: of(counts.service.get()),
            away: 0,
            ..Activity::default()
        })
    }

    fn events(&self) -> Option<EventBooks> {
        let counts = &self.counts;
        let held = counts.held.borrow().value();
        Some(EventBooks { came: counts.came.get(), gone: counts.built.get(), lost: counts.lost.get(), held })
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let (counts, all) = (&self.counts, u128::from(self.plan.spec.builders));
        put("built_events", Meter::Count(counts.built.get()));
        put("lost_events", Meter::Count(counts.lost.get()));
        put("held_events", Meter::Area(counts.held.borrow().area(now)));
        put("waiting_for_a_builder", Meter::Area(counts.waiting.borrow().area(now)));
        put("assembling", Meter::Share((self.assembling(now) / all) as u64, now.0));
    }

    fn remarks(&self, _: Nanos) -> Vec<String> {
        let Some((concentrator, builder, since)) = self.counts.first_missing.get() else { return Vec::new() };
        let (path, lost) = (self.context.path, self.counts.lost.get());
        let stuck = self.counts.stuck.borrow().value();
        let ends = match self.plan.spec.give_up {
            Some(after) => format!("gave up {}, each after {after}", counted(lost, "event")),
            None => "waits for ever: set `give_up`".to_owned(),
        };
        vec![format!(
            "{path}: sub-events of concentrator {concentrator} never come; builder {builder} was the first to wait for one, since {since}, \
             and {ends}; {} held for it at the end",
            counted(stuck, "event")
        )]
    }
}

impl EventBuilder<'_> {
    /// Returns the builder-ns for which ports received. Ports of switches are metered there: of these, events that have arrived count.
    fn receiving(&self, now: Nanos) -> u128 {
        match self.plan.wire {
            Some(_) => self.inputs.borrow().iter().map(|port| port.until(now)).sum(),
            None => self.counts.service.get(),
        }
    }

    /// Builder-ns of assembling.
    fn assembling(&self, now: Nanos) -> u128 {
        self.assemblers.iter().map(|assembler| assembler.usage().busy.area(now)).sum()
    }
}
