//! Sub-events on their way through switches, from the wires of concentrators to those of builders.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use headrace_kernel::{Join, Sim, WorkerPool};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, DaqEvent, NodeId, Op, Request};

use crate::acquisition::event_builder::{Received, SubEvent};
use crate::core::context::Edge;
use crate::core::theory::Phase;
use crate::fabric::lowering;
use crate::fabric::route::{SwitchHop, through};
use crate::fabric::switch::Switch;

/// The ways from each concentrator to each builder. A wire serves as many of them as its neighbours, in their order.
#[derive(Clone, Debug)]
pub struct Mesh {
    pub(super) froms: u32,
    pub(super) tos: u32,
    /// Of each wire of the concentrators, to each wire of the builders, the ways that are shortest.
    pub(super) ways: lowering::Mesh,
}

impl Mesh {
    /// The wire of a concentrator.
    fn wire(&self, concentrator: u32) -> usize {
        concentrator as usize * self.ways.len() / self.froms as usize
    }

    fn ways(&self, concentrator: u32, builder: u32) -> &[Vec<SwitchHop>] {
        let ends = &self.ways[self.wire(concentrator)];
        &ends[builder as usize * ends.len() / self.tos as usize]
    }

    /// The way of a concentrator's sub-events to a builder: always the same of those that work.
    fn way(&self, concentrator: u32, builder: u32, nodes: &[Edge<'_>]) -> Option<&[SwitchHop]> {
        let ways = self.ways(concentrator, builder);
        let works = || ways.iter().filter(|way| way.iter().all(|hop| hop.is_up(nodes)));
        let nth = (concentrator as usize + builder as usize) % works().count().max(1);
        works().nth(nth).map(Vec::as_slice)
    }
}

/// A sub-event that is sent.
struct Sent {
    request: Request<Block>,
    event: u64,
    concentrator: u32,
    builder: u32,
    /// Times at which its concentrator has read it, and at which the wire is free for it.
    ready: Nanos,
    starts: Nanos,
}

/// The mesh of a readout in a simulation.
pub(super) struct Carrier<'m> {
    sim: &'m Sim<'m>,
    mesh: &'m Mesh,
    nodes: &'m [Edge<'m>],
    /// Until when each wire of the concentrators is held.
    wires: RefCell<Vec<Nanos>>,
    workers: WorkerPool<'m, Sent, Breakdown>,
    /// Of events some of whose sub-events the switches lost, the concentrator of one.
    lost: Rc<RefCell<BTreeMap<u64, u32>>>,
}

/// The sub-events of an event, on their way.
pub(super) struct EventTransfer<'m> {
    event: u64,
    /// Time for which they hold the wire of their builder.
    busy: Nanos,
    missing: Option<u32>,
    lost: &'m RefCell<BTreeMap<u64, u32>>,
    arrival: Join<'m, Sent, Breakdown>,
}

impl<'m> Carrier<'m> {
    pub fn new(sim: &'m Sim<'m>, readout: NodeId, mesh: &'m Mesh, nodes: &'m [Edge<'m>]) -> Self {
        let lost = Rc::new(RefCell::new(BTreeMap::new()));
        let missed = Rc::clone(&lost);
        let workers = WorkerPool::new(sim, move |sent: Sent| {
            let missed = Rc::clone(&missed);
            async move {
                let mut breakdown = Breakdown::from(sim.now());
                breakdown.served(readout, sent.ready);
                breakdown.waited(readout, sent.starts);
                sim.until(sent.starts).await;
                match mesh.way(sent.concentrator, sent.builder, nodes) {
                    Some(way) => through(nodes, way, Phase::Request, &sent.request, &mut breakdown).await,
                    None => breakdown.fail(),
                }
                if breakdown.has_failed() {
                    missed.borrow_mut().insert(sent.event, sent.concentrator);
                }
                breakdown
            }
        });
        Self { sim, mesh, nodes, wires: RefCell::new(vec![Nanos::ZERO; mesh.ways.len()]), workers, lost }
    }

    /// Returns the times for which a sub-event holds the wire of its concentrator and that of its builder.
    fn holds(&self, concentrator: u32, builder: u32, sub_event: Block) -> [Nanos; 2] {
        let way = &self.mesh.ways(concentrator, builder)[0];
        let (first, last) = (way[0], way[way.len() - 1]);
        let switch =
            |hop: SwitchHop| self.nodes[hop.edge].get::<Switch>().expect("ways lead through switches");
        [switch(first).holds(first.enter, sub_event)[0], switch(last).holds(last.leave, sub_event)[1]]
    }

    /// Sends the sub-events of an event to its builder, each as soon as its concentrator has read it and sent the one before.
    /// `overhead` gives how long a concentrator prepares each. `outputs` says until when each concentrator sends.
    pub fn begin(
        &'m self,
        request: &Request<DaqEvent>,
        sub_events: &mut [SubEvent],
        outputs: &mut [Nanos],
        mut overhead: impl FnMut() -> Nanos,
    ) -> EventTransfer<'m> {
        let (now, builder, event) = (self.sim.now(), request.work.builder, request.work.number);
        let mut order: Vec<_> = (0..sub_events.len()).filter(|at| !sub_events[*at].is_missing).collect();
        order.sort_by_key(|at| sub_events[*at].until.max(outputs[*at]));
        let (mut busy, mut wires) = (Nanos::ZERO, self.wires.borrow_mut());
        let mut send = |at: usize| {
            let (sub_event, concentrator) = (&mut sub_events[at], at as u32);
            let block = Block { op: Op::Write, address: 0, bytes: sub_event.bytes };
            let [held, arrives] = self.holds(concentrator, builder, block);
            let (wire, ready) = (&mut wires[self.mesh.wire(concentrator)], sub_event.until.max(now));
            let starts = (ready.max(outputs[at]) + overhead()).max(*wire);
            *wire = starts + held;
            (outputs[at], sub_event.until, busy) = (*wire, *wire, busy + arrives);
            Sent { request: request.child(at as u64, block), event, concentrator, builder, ready, starts }
        };
        let all: Vec<Sent> = order.into_iter().map(&mut send).collect();
        let missing = sub_events.iter().position(|sub_event| sub_event.is_missing).map(|at| at as u32);
        EventTransfer { event, busy, missing, lost: &self.lost, arrival: self.workers.all(all) }
    }
}

impl EventTransfer<'_> {
    /// Waits until the sub-events have come; the account follows the last of them.
    pub async fn arrive(self, breakdown: &mut Breakdown) -> Received {
        if let Some(last) = self.arrival.await {
            breakdown.follow(&last);
        }
        let lost = self.lost.borrow_mut().remove(&self.event);
        Received { until: breakdown.until(), busy: self.busy, missing: self.missing.or(lost) }
    }
}
