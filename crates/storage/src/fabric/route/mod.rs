//! A route: the ways from a server through switches to what it asks.
//!
//! Lowering makes one for each server and each component that it asks. Its capacity is that of the component. A request goes through
//! the server and the hops of one way, is served, and comes back the same way. Which way it takes is chosen in one place, `choose`.

mod model;

use std::cell::Cell;
use std::rc::Rc;

use headrace_kernel::{Pool, Sim, WorkerPool};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, NodeId, Request};

use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, Meter};
use crate::core::theory::Phase;
use crate::core::work::Serve;
use crate::fabric::path_transfer::{PathTransfer, TransferPart};
use crate::fabric::server::{Computing, Paths};
use crate::fabric::switch::Switch;

/// A route whose ways are known.
#[derive(Clone, Debug)]
pub struct RoutePlan {
    /// Each way, by its hops from the server on.
    pub(crate) ways: Vec<Vec<SwitchHop>>,
    /// The server that owns the target, where that is another, by its number among the nodes used.
    pub(crate) engine: Option<usize>,
    pub(crate) policy: Paths,
    /// Maximum number of outstanding requests; `None` for no limit.
    pub(crate) depth: Option<u32>,
    /// Time to wait for an answer while there is another path.
    pub(crate) timeout: Option<Nanos>,
}

/// A switch on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchHop {
    /// Its number among the nodes used.
    pub(crate) edge: usize,
    /// The port by which a request comes in.
    pub(crate) enter: u32,
    /// The port by which it leaves.
    pub(crate) leave: u32,
}

/// The ways on which no answer to a request came in time: there are at most 64.
#[derive(Clone, Copy, Default)]
struct Slow(u64);

impl Slow {
    const fn has(self, way: usize) -> bool {
        self.0 >> way & 1 == 1
    }

    const fn add(&mut self, way: usize) {
        self.0 |= 1 << way;
    }
}

/// The numbers of the server and of the target among the nodes that a route uses.
const SERVER: usize = 0;
pub(crate) const TARGET: usize = 1;

/// A route in a simulation.
pub struct Route<'m> {
    sim: &'m Sim<'m>,
    plan: &'m RoutePlan,
    nodes: &'m [Edge<'m>],
    /// The server that it begins at.
    server: NodeId,
    /// Places for further requests, if their number is limited.
    room: Option<Pool<'m>>,
    /// Of each way, its requests in flight.
    in_flight: Rc<[Cell<u64>]>,
    /// The way that the next choice may begin with.
    turn: Cell<usize>,
    /// Requests that were sent another way because no answer came in time.
    sent_again: Cell<u64>,
    journeys: WorkerPool<'m, (usize, Request<Block>), Breakdown>,
}

/// Steps of a request along a route.
#[derive(Clone, Copy)]
struct RouteSteps<'m> {
    plan: &'m RoutePlan,
    nodes: &'m [Edge<'m>],
}

impl SwitchHop {
    /// Transfers a phase that has fully arrived by `tail` through the node; returns the time at which all of it has passed.
    async fn carry(
        self,
        nodes: &[Edge<'_>],
        phase: Phase,
        tail: Nanos,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> Nanos {
        let path_transfer = PathTransfer {
            block: request.work,
            phase,
            part: TransferPart::All,
            initiator: self.enter,
            target: self.leave,
            tail,
        };
        nodes[self.edge].serve(&request.with(path_transfer), breakdown).await
    }

    /// Returns true if the switch and both of its ports are up.
    pub(crate) fn is_up(self, nodes: &[Edge<'_>]) -> bool {
        let edge = &nodes[self.edge];
        edge.is_up() && edge.get::<Switch>().is_none_or(|switch| switch.connects(self.enter, self.leave))
    }
}

/// Transfers a phase through the switches of a path, each as soon as the head is there.
pub(crate) async fn through(
    nodes: &[Edge<'_>],
    hops: &[SwitchHop],
    phase: Phase,
    request: &Request<Block>,
    breakdown: &mut Breakdown,
) {
    let mut tail = breakdown.until();
    for at in 0..hops.len() {
        let hop = hops[if phase == Phase::Request { at } else { hops.len() - 1 - at }];
        tail = hop.carry(nodes, phase, tail, request, breakdown).await;
        if breakdown.has_failed() {
            return;
        }
    }
}

impl RouteSteps<'_> {
    async fn through(self, way: usize, phase: Phase, request: &Request<Block>, breakdown: &mut Breakdown) {
        through(self.nodes, &self.plan.ways[way], phase, request, breakdown).await;
    }

    async fn at(self, edge: usize, phase: Phase, request: &Request<Block>, breakdown: &mut Breakdown) {
        Self::end(edge).carry(self.nodes, phase, breakdown.until(), request, breakdown).await;
    }

    /// A server at one of the ends, as a hop: it has one adapter for all.
    const fn end(edge: usize) -> SwitchHop {
        SwitchHop { edge, enter: 0, leave: 0 }
    }

    /// Takes a request there and its answer back. One that a component on the way loses goes no further.
    async fn go(self, way: usize, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.at(SERVER, Phase::Request, request, breakdown).await;
        if !breakdown.has_failed() {
            self.through(way, Phase::Request, request, breakdown).await;
        }
        if let Some(engine) = self.plan.engine.filter(|_| !breakdown.has_failed()) {
            self.at(engine, Phase::Request, request, breakdown).await;
        }
        if !breakdown.has_failed() {
            self.nodes[TARGET].serve(request, breakdown).await;
        }
        if !breakdown.has_failed() {
            self.back(way, request, breakdown).await;
        }
    }

    async fn back(self, way: usize, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(engine) = self.plan.engine {
            self.at(engine, Phase::Answer, request, breakdown).await;
        }
        if !breakdown.has_failed() {
            self.through(way, Phase::Answer, request, breakdown).await;
        }
        if !breakdown.has_failed() {
            self.at(SERVER, Phase::Answer, request, breakdown).await;
        }
    }
}

impl Plan for RoutePlan {
    type Component<'m> = Route<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Route<'m> {
        let uses = context.uses();
        let (sim, journey) = (context.shared.sim, RouteSteps { plan: self, nodes: uses });
        let in_flight: Rc<[Cell<u64>]> = self.ways.iter().map(|_| Cell::default()).collect();
        let arrived = Rc::clone(&in_flight);
        let journeys = WorkerPool::new(sim, move |(way, request): (usize, Request<Block>)| {
            let arrived = Rc::clone(&arrived);
            async move {
                let mut breakdown = Breakdown::from(sim.now());
                journey.go(way, &request, &mut breakdown).await;
                arrived[way].set(arrived[way].get() - 1);
                breakdown
            }
        });
        let room = self.depth.map(u64::from).map(|depth| Pool::new(sim, depth, depth));
        Route {
            sim,
            plan: self,
            nodes: uses,
            server: uses[SERVER].to(),
            room,
            in_flight,
            turn: Cell::new(0),
            sent_again: Cell::new(0),
            journeys,
        }
    }
}

impl Route<'_> {
    /// Returns true if all switches of a path and their ports are up.
    fn is_up(&self, way: usize) -> bool {
        self.plan.ways[way].iter().all(|hop| hop.is_up(self.nodes))
    }

    /// Returns the number of failures of the switches of a path and their ports.
    fn failures(&self, way: usize) -> u32 {
        let of = |hop: &SwitchHop| {
            let edge = &self.nodes[hop.edge];
            edge.failures() + edge.get::<Switch>().map_or(0, |switch| switch.failures(hop.enter, hop.leave))
        };
        self.plan.ways[way].iter().map(of).sum()
    }

    /// Returns the time to wait for an answer over a path; `None` (no limit) if there is no other path to try.
    fn patience(&self, way: usize, slow: Slow) -> Option<Nanos> {
        let is_left = |other: usize| other != way && !slow.has(other) && self.is_up(other);
        self.plan.timeout.filter(|_| (0..self.in_flight.len()).any(is_left))
    }

    /// The way that the next request takes, of those that work: one that was not too slow for it; among equals the next in turn.
    fn choose(&self, slow: Slow) -> Option<usize> {
        let ways = self.in_flight.len();
        let in_turn = |way: usize| (way + ways - self.turn.get()) % ways;
        let cost = |way: usize| match self.plan.policy {
            Paths::RoundRobin => 0,
            Paths::ShortestQueue => self.in_flight[way].get(),
            Paths::First => way as u64,
        };
        let usable = (0..ways).filter(|way| self.is_up(*way));
        let way = usable.min_by_key(|way| (slow.has(*way), cost(*way), in_turn(*way)))?;
        self.turn.set((way + 1) % ways);
        Some(way)
    }
}

impl<'m> Route<'m> {
    /// The account of a request that goes a way and back; `None` where no answer comes in time.
    async fn journey(
        &'m self,
        way: usize,
        request: &Request<Block>,
        patience: Option<Nanos>,
    ) -> Option<Breakdown> {
        self.in_flight[way].set(self.in_flight[way].get() + 1);
        let mut journey = self.journeys.all([(way, *request)]);
        let Some(patience) = patience else { return journey.await };
        let found = self.sim.within(self.sim.now() + patience, &mut journey).await;
        if found.is_none() {
            journey.leave();
        }
        found.flatten()
    }

    /// Sends a request one of the ways. Returns true if it has to go another one, for that one failed meanwhile or is too slow.
    async fn goes_again(
        &'m self,
        request: &Request<Block>,
        slow: &mut Slow,
        breakdown: &mut Breakdown,
    ) -> bool {
        let Some(way) = self.choose(*slow) else {
            breakdown.fail();
            return false;
        };
        let failures = self.failures(way);
        let Some(journey) = self.journey(way, request, self.patience(way, *slow)).await else {
            slow.add(way);
            self.sent_again.set(self.sent_again.get() + 1);
            breakdown.blocked(self.server, self.sim.now());
            return true;
        };
        breakdown.follow(&journey);
        let again = journey.has_failed() && self.failures(way) != failures;
        if journey.has_failed() && !again {
            breakdown.fail();
        }
        again
    }
}

impl<'m> Component<'m> for Route<'m> {
    /// Its places, where the number of requests outstanding is limited.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        self.room.as_ref().map(|room| Activity::of_places(room, now))
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        if self.plan.timeout.is_some() {
            put("sent_again", Meter::Count(self.sent_again.get()));
        }
    }
}

impl<'m> Serve<'m, Block> for Route<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(room) = &self.room {
            room.take(1).await;
            breakdown.blocked(self.server, self.sim.now());
        }
        let mut slow = Slow::default();
        while self.goes_again(request, &mut slow, breakdown).await {}
        if let Some(room) = &self.room {
            room.put(1);
        }
    }
}

impl<'m> Serve<'m, Computing> for Route<'m> {
    async fn serve(&'m self, request: &Request<Computing>, breakdown: &mut Breakdown) {
        Box::pin(self.nodes[SERVER].serve(request, breakdown)).await;
    }
}
