//! A route: the ways from a server through switches to what it asks.
//!
//! Lowering makes one for each server and each component that it asks. Its capacity is that of the component. A request goes through
//! the server and the hops of one way, is served, and comes back the same way. Which way it takes is chosen in one place, `choose`.

mod model;

use std::cell::Cell;
use std::rc::Rc;

use headrace_kernel::{Crew, Pool, Sim};
use headrace_units::Nanos;
use headrace_work::{Ask, Block, NodeId, Spent, What};

use crate::crossing::{Crossing, Phase};
use crate::place::{Edge, Place};
use crate::room::{Metered, Plan, Room};
use crate::server::Paths;

/// A route whose ways are known.
#[derive(Clone, Debug)]
pub struct RoutePlan {
    /// Each way, by its hops from the server on.
    pub(crate) ways: Vec<Vec<Hop>>,
    /// The server that owns the target, where that is another, by its number among the nodes used.
    pub(crate) engine: Option<usize>,
    pub(crate) policy: Paths,
    /// How many requests may be outstanding at once.
    pub(crate) depth: Option<u32>,
}

/// A switch on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its number among the nodes used.
    pub(crate) edge: usize,
    /// The port by which a request comes in.
    pub(crate) enter: u32,
    /// The port by which it leaves.
    pub(crate) leave: u32,
}

/// The numbers of the server and of the target among the nodes that a route uses.
const SERVER: usize = 0;
const TARGET: usize = 1;

/// A route in a simulation.
pub struct Route<'m> {
    sim: &'m Sim<'m>,
    plan: &'m RoutePlan,
    /// The server that it begins at.
    server: NodeId,
    /// How many more may go, where that is limited.
    room: Option<Pool<'m>>,
    /// Of each way, its requests in flight.
    in_flight: Rc<[Cell<u64>]>,
    /// The way that the next choice may begin with.
    turn: Cell<usize>,
    journeys: Crew<'m, (usize, Ask<Block>), Spent>,
}

/// What a request goes through.
#[derive(Clone, Copy)]
struct Journey<'m> {
    plan: &'m RoutePlan,
    nodes: &'m [Edge<'m>],
}

impl Journey<'_> {
    /// Has one node carry a phase whose whole has come by `tail`; gives when the whole of it has come through.
    async fn cross(self, hop: Hop, phase: Phase, tail: Nanos, ask: &Ask<Block>, spent: &mut Spent) -> Nanos {
        let crossing = Crossing { request: ask.work, phase, initiator: hop.enter, target: hop.leave, tail };
        self.nodes[hop.edge].carry(&ask.with(crossing), spent).await
    }

    /// Has the switches of a way carry a phase, each as soon as its head is there.
    async fn through(self, way: usize, phase: Phase, ask: &Ask<Block>, spent: &mut Spent) {
        let hops = &self.plan.ways[way];
        let mut tail = spent.until();
        for at in 0..hops.len() {
            let hop = hops[if phase == Phase::Request { at } else { hops.len() - 1 - at }];
            tail = self.cross(hop, phase, tail, ask, spent).await;
        }
    }

    async fn at(self, edge: usize, phase: Phase, ask: &Ask<Block>, spent: &mut Spent) {
        self.cross(Self::end(edge), phase, spent.until(), ask, spent).await;
    }

    /// A server at one of the ends, as a hop: it has one adapter for all.
    const fn end(edge: usize) -> Hop {
        Hop { edge, enter: 0, leave: 0 }
    }

    async fn go(self, way: usize, ask: &Ask<Block>, spent: &mut Spent) {
        self.at(SERVER, Phase::Request, ask, spent).await;
        self.through(way, Phase::Request, ask, spent).await;
        if let Some(engine) = self.plan.engine {
            self.at(engine, Phase::Request, ask, spent).await;
        }
        self.nodes[TARGET].serve(ask, spent).await;
        if let Some(engine) = self.plan.engine {
            self.at(engine, Phase::Answer, ask, spent).await;
        }
        self.through(way, Phase::Answer, ask, spent).await;
        self.at(SERVER, Phase::Answer, ask, spent).await;
    }
}

impl Plan for RoutePlan {
    type Room<'m> = Route<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, uses: &'m [Edge<'m>]) -> Route<'m> {
        let (sim, journey) = (place.site.sim, Journey { plan: self, nodes: uses });
        let in_flight: Rc<[Cell<u64>]> = self.ways.iter().map(|_| Cell::default()).collect();
        let arrived = Rc::clone(&in_flight);
        let journeys = Crew::new(sim, move |(way, ask): (usize, Ask<Block>)| {
            let arrived = Rc::clone(&arrived);
            async move {
                let mut spent = Spent::from(sim.now());
                journey.go(way, &ask, &mut spent).await;
                arrived[way].set(arrived[way].get() - 1);
                spent
            }
        });
        let room = self.depth.map(u64::from).map(|depth| Pool::new(sim, depth, depth));
        Route { sim, plan: self, server: uses[SERVER].to(), room, in_flight, turn: Cell::new(0), journeys }
    }
}

impl Route<'_> {
    /// The way that the next request takes; among equals the next in turn. What must not be used is left out here.
    fn choose(&self) -> usize {
        let ways = self.in_flight.len();
        let in_turn = |way: usize| (way + ways - self.turn.get()) % ways;
        let cost = |way: usize| match self.plan.policy {
            Paths::RoundRobin => 0,
            Paths::ShortestQueue => self.in_flight[way].get(),
            Paths::First => way as u64,
        };
        let chosen = (0..ways).min_by_key(|way| (cost(*way), in_turn(*way)));
        let way = chosen.expect("a route without a way is refused");
        self.turn.set((way + 1) % ways);
        way
    }
}

impl Metered for Route<'_> {}

impl<'m> Room<'m> for Route<'m> {
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        if let Some(room) = &self.room {
            room.take(1).await;
            spent.charge(self.server, What::Blocked, self.sim.now());
        }
        let way = self.choose();
        self.in_flight[way].set(self.in_flight[way].get() + 1);
        if let Some(journey) = self.journeys.all([(way, *ask)]).await {
            spent.follow(&journey);
        }
        if let Some(room) = &self.room {
            room.put(1);
        }
    }
}
