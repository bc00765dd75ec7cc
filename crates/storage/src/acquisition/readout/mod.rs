//! A readout: local data concentrators, each with a buffer, which read a sub-event after every trigger and send it to a builder.
//!
//! An event is one process. When its sub-events are ready, sent and received is known as soon as its turn to be sent comes.

mod buffers;
mod mesh;
mod spec;

use std::cell::{Cell, RefCell};

use headrace_kernel::{Resource, RngStream, Round};
use headrace_stats::Gauge;
use headrace_units::Nanos;
use headrace_work::{Breakdown, DaqEvent, Request};

use crate::acquisition::event_builder::{EventBuilder, Received, SubEvent};
use crate::acquisition::event_work::Trigger;
use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, EventBooks, Meter, by_hosts};
use crate::core::work::Serve;

use buffers::{Buffers, Full};
use mesh::{Carrier, EventTransfer};

pub use mesh::Mesh;
pub use spec::{FailsSpec, FullBuffer, ReadoutPlan, ReadoutSpec};

/// A readout in a simulation.
pub struct Readout<'m> {
    context: &'m NodeContext<'m>,
    spec: &'m ReadoutSpec,
    builder: (&'m Edge<'m>, &'m EventBuilder<'m>),
    /// Transport of sub-events through switches, if switches connect the readout to its builders.
    carrier: Option<Box<Carrier<'m>>>,
    draws: RngStream,
    /// Times at which each concentrator has read all triggers so far, and sent all sub-events given to a builder so far.
    reads_until: RefCell<Vec<Nanos>>,
    sends_until: RefCell<Vec<Nanos>>,
    buffers: Option<RefCell<Buffers>>,
    /// The trigger that waits for room comes before later ones; likewise the event that waits to be sent.
    gate: Box<Resource<'m>>,
    turn: Box<Resource<'m>>,
    sent: Box<Round<'m>>,
    /// Lists that events no longer need.
    spare: RefCell<Vec<Vec<SubEvent>>>,
    counts: Box<ReadoutCounts>,
}

/// The sub-events of an event, sent.
enum Sending<'m> {
    /// Over ports whose use is known beforehand.
    Booked(Received),
    /// Through switches.
    Crosses(EventTransfer<'m>),
}

#[derive(Default)]
struct ReadoutCounts {
    triggers: Cell<u64>,
    sent: Cell<u64>,
    held: RefCell<Gauge>,
    /// Triggers that wait for room.
    blocked: RefCell<Gauge>,
    /// For how long, and how many events were lost, by the concentrator that had no room.
    by_concentrator: RefCell<Vec<(Nanos, u64)>>,
    /// Concentrator-ns of reading and of sending, of events that were received.
    reading: Cell<u128>,
    sending: Cell<u128>,
}

impl ReadoutCounts {
    fn lost(&self) -> u64 {
        self.by_concentrator.borrow().iter().map(|(_, lost)| lost).sum()
    }
}

impl Plan for ReadoutPlan {
    type Component<'m> = Readout<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Readout<'m> {
        let uses = context.uses();
        let (sim, n) = (context.shared.sim, self.spec.concentrators as usize);
        let builder = uses[0].get().expect("a readout is lowered with an event builder");
        let counts = ReadoutCounts {
            by_concentrator: RefCell::new(vec![Default::default(); n]),
            ..ReadoutCounts::default()
        };
        Readout {
            context,
            spec: &self.spec,
            builder: (&uses[0], builder),
            carrier: self.mesh.as_ref().map(|mesh| Box::new(Carrier::new(sim, context.id, mesh, uses))),
            draws: context.stream("sub-events"),
            reads_until: RefCell::new(vec![Nanos::ZERO; n]),
            sends_until: RefCell::new(vec![Nanos::ZERO; n]),
            buffers: self.spec.buffer.map(|size| RefCell::new(Buffers::new(n, size.0))),
            gate: Box::new(Resource::fcfs(sim, 1)),
            turn: Box::new(Resource::fcfs(sim, 1)),
            sent: Box::new(Round::new(sim)),
            spare: RefCell::default(),
            counts: Box::new(counts),
        }
    }
}

impl<'m> Readout<'m> {
    fn now(&self) -> Nanos {
        self.context.shared.sim.now()
    }

    /// The sub-events of a trigger: sizes, and how long each is read. A concentrator that failed has none.
    fn draw(&self, request: &Request<DaqEvent>) -> Vec<SubEvent> {
        let (spec, mut draws) = (self.spec, self.draws.of(request.key));
        let mut sub_events = self.spare.borrow_mut().pop().unwrap_or_default();
        sub_events.clear();
        sub_events.extend((0..spec.concentrators).map(|_| {
            let bytes = spec.sub_event.draw(&mut draws);
            let data = spec.rate.map_or(Nanos::ZERO, |rate| rate.time_for(bytes));
            SubEvent { bytes: bytes.0, read: data + spec.time.draw(&mut draws), ..SubEvent::default() }
        }));
        if let Some(fails) = spec.fails.filter(|fails| fails.at <= self.now()) {
            sub_events[fails.concentrator as usize] = SubEvent { is_missing: true, ..SubEvent::default() };
        }
        sub_events
    }

    /// Takes room in all buffers, or gives whose has none: then the event is lost.
    async fn admit(&'m self, sub_events: &[SubEvent], breakdown: &mut Breakdown) -> Result<(), usize> {
        let Some(buffers) = &self.buffers else { return Ok(()) };
        let turn = match self.spec.when_full {
            FullBuffer::Wait => Some(self.gate.acquire(()).await),
            FullBuffer::Drop => None,
        };
        while let Some(full) = { buffers.borrow_mut().full(sub_events, self.now()) } {
            if turn.is_none() {
                return Err(full.concentrator);
            }
            self.wait_for(full).await;
        }
        buffers.borrow_mut().take(sub_events);
        breakdown.blocked(self.context.id, self.now());
        Ok(())
    }

    /// The trigger waits until something has left a buffer.
    async fn wait_for(&'m self, full: Full) {
        let since = self.now();
        match full.until {
            Some(leaves) => self.context.shared.sim.until(leaves).await,
            None => self.sent.wait().await,
        }
        self.counts.by_concentrator.borrow_mut()[full.concentrator].0 += self.now() - since;
    }

    /// Concentrators read one sub-event after another. Gives when the last is ready.
    fn read(&self, sub_events: &mut [SubEvent]) -> Nanos {
        let now = self.now();
        let mut last = now;
        for (sub_event, until) in sub_events.iter_mut().zip(self.reads_until.borrow_mut().iter_mut()) {
            *until = now.max(*until) + sub_event.read;
            sub_event.until = *until;
            last = last.max(*until);
        }
        last
    }

    /// Waits for the event's turn to be sent, and for when the first of its sub-events can be.
    async fn wait_for_turn(&'m self, sub_events: &[SubEvent]) {
        let first = {
            let sends = self.sends_until.borrow();
            let can =
                sub_events.iter().zip(sends.iter()).map(|(sub_event, until)| sub_event.until.max(*until));
            can.min().unwrap_or_default()
        };
        if first > self.now() {
            self.context.shared.sim.until(first).await;
        }
    }

    /// Sends the sub-events to a builder that has a buffer for the event. Gives what that took.
    async fn send(
        &'m self,
        request: &mut Request<DaqEvent>,
        sub_events: &mut [SubEvent],
        breakdown: &mut Breakdown,
    ) -> Received {
        let ready = self.read(sub_events);
        let turn = self.turn.acquire(()).await;
        self.wait_for_turn(sub_events).await;
        breakdown.served(self.context.id, ready.clamp(breakdown.until(), self.now()));
        breakdown.waited(self.context.id, self.now());
        let (edge, builder) = self.builder;
        edge.begin(request.work.bytes);
        request.work.builder = builder.seat(request, breakdown).await;
        let sending = self.begin(request, sub_events);
        if let Some(buffers) = &self.buffers {
            buffers.borrow_mut().sent(sub_events);
        }
        self.counts.sent.set(self.counts.sent.get() + 1);
        self.counts.held.borrow_mut().down(self.now(), 1);
        drop(turn);
        self.sent.end();
        let received = self.arrive(sending, ready, breakdown).await;
        self.counted(sub_events, &received);
        received
    }

    /// Sends what is, or will be, read: over the ports of the builders, or through switches.
    fn begin(&'m self, request: &Request<DaqEvent>, sub_events: &mut [SubEvent]) -> Sending<'m> {
        let (outputs, builder) = (&mut self.sends_until.borrow_mut(), self.builder.1);
        match &self.carrier {
            Some(carrier) => {
                Sending::Crosses(carrier.begin(request, sub_events, outputs, builder.overheads(request)))
            }
            None => Sending::Booked(builder.receive(request, sub_events, outputs)),
        }
    }

    /// Waits until all has come that was read by `ready`.
    async fn arrive(&'m self, sending: Sending<'m>, ready: Nanos, breakdown: &mut Breakdown) -> Received {
        match sending {
            Sending::Crosses(path_transfer) => path_transfer.arrive(breakdown).await,
            Sending::Booked(received) => {
                let ready = ready.clamp(self.now(), received.until);
                self.context.shared.sim.until(received.until).await;
                breakdown.served(self.context.id, ready);
                received
            }
        }
    }

    fn counted(&self, sub_events: &[SubEvent], received: &Received) {
        let reading = sub_events.iter().map(|sub_event| u128::from(sub_event.read.0)).sum::<u128>();
        self.counts.reading.set(self.counts.reading.get() + reading);
        self.counts.sending.set(self.counts.sending.get() + u128::from(received.busy.0));
    }
}

impl<'m> Component<'m> for Readout<'m> {
    /// A concentrator reads and sends side by side: it is in use as the busier of the two.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (counts, servers) = (&self.counts, u64::from(self.spec.concentrators));
        let (blocked, done) = (counts.blocked.borrow(), counts.sent.get());
        let busy = counts.reading.get().max(counts.sending.get());
        Some(Activity {
            servers,
            busy: by_hosts(busy),
            queue: blocked.area(now),
            waiting: blocked.value(),
            visits: done,
            waited: blocked.area(now),
            served: done * servers,
            service: busy,
            away: 0,
            ..Activity::default()
        })
    }

    fn events(&self) -> Option<EventBooks> {
        let counts = &self.counts;
        let held = counts.held.borrow().value() + counts.blocked.borrow().value();
        Some(EventBooks { came: counts.triggers.get(), gone: counts.sent.get(), lost: counts.lost(), held })
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let counts = &self.counts;
        put("triggers", Meter::Count(counts.triggers.get()));
        put("lost_events", Meter::Count(counts.lost()));
        put("lost_share", Meter::Share(counts.lost(), counts.triggers.get()));
        put("blocked_triggers", Meter::Area(counts.blocked.borrow().area(now)));
        put("blocked_share", Meter::Share(self.blocked().0, now.0));
        put("buffered_events", Meter::Area(counts.held.borrow().area(now)));
    }

    fn remarks(&self, now: Nanos) -> Vec<String> {
        let by = self.counts.by_concentrator.borrow();
        let lost = by.iter().enumerate().max_by_key(|(at, (_, lost))| (*lost, std::cmp::Reverse(*at)));
        let lost = lost.filter(|(_, (_, lost))| *lost > 0).map(|(at, (_, most))| {
            format!(
                "{} events were lost of {} triggers; the buffer of concentrator {at} was full at {most} of them",
                self.counts.lost(),
                self.counts.triggers.get()
            )
        });
        let blocked = by.iter().enumerate().max_by_key(|(at, (time, _))| (*time, std::cmp::Reverse(*at)));
        let blocked = blocked.filter(|(_, (time, _))| *time > Nanos::ZERO).map(|(at, (most, _))| {
            format!(
                "full buffers blocked the trigger for {} ({:.2} % of the time), that of concentrator {at} for {most}",
                self.blocked(),
                self.blocked().secs() / now.secs() * 100.0
            )
        });
        lost.into_iter().chain(blocked).map(|remark| format!("{}: {remark}", self.context.path)).collect()
    }
}

impl<'m> Serve<'m, Trigger> for Readout<'m> {
    async fn serve(&'m self, request: &Request<Trigger>, breakdown: &mut Breakdown) -> DaqEvent {
        let mut request = request.with(DaqEvent::default());
        let counts = &self.counts;
        request.work.number = counts.triggers.replace(counts.triggers.get() + 1);
        let mut sub_events = self.draw(&request);
        request.work.sub_events = self.spec.concentrators;
        request.work.bytes = sub_events.iter().map(|sub_event| sub_event.bytes).sum();
        counts.blocked.borrow_mut().up(self.now(), 1);
        let admitted = self.admit(&sub_events, breakdown).await;
        counts.blocked.borrow_mut().down(self.now(), 1);
        if let Err(concentrator) = admitted {
            counts.by_concentrator.borrow_mut()[concentrator].1 += 1;
            breakdown.fail();
            return request.work;
        }
        counts.held.borrow_mut().up(self.now(), 1);
        let before = breakdown.legs().len();
        let received = self.send(&mut request, &mut sub_events, breakdown).await;
        self.spare.borrow_mut().push(sub_events);
        let (edge, builder) = self.builder;
        builder.build(&request, received, breakdown).await;
        if !breakdown.has_failed() {
            edge.end(&request.with(request.work.data()), breakdown, before);
        }
        request.work
    }
}

impl Readout<'_> {
    /// For how long the trigger was blocked.
    fn blocked(&self) -> Nanos {
        Nanos(self.counts.by_concentrator.borrow().iter().map(|(time, _)| time.0).sum())
    }
}
