//! A simulation that owns all that its processes borrow: its components, the streams of its scenario, and the requests of a host.
#![expect(clippy::too_many_arguments, clippy::future_not_send, reason = "what the macro makes of the fields")]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Pool, Sim, WorkerPool};
use headrace_storage::{Archive, Arena, Edge, NodeContext, SimContext, Slots, Timeline};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, FileAct, FileOp, NodeId, Request};
use ouroboros::self_referencing;

use super::Completion;
use super::power::PowerRecord;
use crate::checks::FileBooks;
use crate::plan::Plan;
use crate::record::Record;
use crate::run::background::{self, FaultsByCount, Hosts, Replication, RequestSource, Still, threads};

/// A request that a host submits, on its way.
#[derive(Clone, Copy)]
pub struct Visit<W> {
    pub ticket: u64,
    pub at: Nanos,
    pub target: NodeId,
    pub request: Request<W>,
}

/// What a host and the simulation share.
#[derive(Clone, Copy)]
pub struct Handle<'m> {
    pub plan: &'m Plan,
    pub completions: &'m RefCell<VecDeque<Completion>>,
    pub power: &'m RefCell<PowerRecord>,
    pub sim: &'m Sim<'m>,
    pub arena: Arena<'m>,
    /// The way to each component that requests can be submitted to.
    pub targets: &'m [Option<Edge<'m>>],
    pub visits: &'m WorkerPool<'m, Visit<Block>>,
    pub file_visits: &'m WorkerPool<'m, Visit<FileOp>>,
    pub background: &'m Replication<'m>,
}

impl<'m> Handle<'m> {
    /// The archive that takes the operations of a target.
    pub fn archive(&self, target: NodeId) -> Option<&'m Archive<'m>> {
        self.targets[target.index()].as_ref().and_then(Edge::get)
    }

    /// Returns false if too many writes to a component are not stable, where they are remembered.
    pub fn has_room(&self, target: NodeId) -> bool {
        self.power.borrow_mut().has_room(target, |written| self.arena.at_risk(target, written))
    }
}

/// A simulation that owns what it borrows.
#[self_referencing]
pub struct Machine {
    plan: Plan,
    completions: RefCell<VecDeque<Completion>>,
    power: RefCell<PowerRecord>,
    #[borrows(plan)]
    #[not_covariant]
    sim: Sim<'this>,
    #[borrows(plan, sim)]
    #[not_covariant]
    shared: SimContext<'this>,
    #[borrows(plan, shared)]
    #[not_covariant]
    contexts: Vec<NodeContext<'this>>,
    #[borrows(plan)]
    #[not_covariant]
    slots: Slots<'this>,
    #[borrows(plan, shared, contexts, slots)]
    #[not_covariant]
    arena: Arena<'this>,
    #[borrows(plan, arena)]
    #[not_covariant]
    record: RefCell<Record<'this>>,
    #[borrows(plan, sim, arena)]
    #[not_covariant]
    sources: Vec<RequestSource<'this>>,
    #[borrows(plan, arena)]
    #[not_covariant]
    targets: Vec<Option<Edge<'this>>>,
    #[borrows(plan, shared, arena, sources, targets, record)]
    #[not_covariant]
    background: Replication<'this>,
    #[borrows(sim, background)]
    #[not_covariant]
    hosts: Hosts<'this>,
    #[borrows(sim)]
    #[not_covariant]
    turn: Pool<'this>,
    #[borrows(sim, turn, targets, completions, power)]
    #[not_covariant]
    visits: WorkerPool<'this, Visit<Block>>,
    #[borrows(sim, turn, targets, completions)]
    #[not_covariant]
    file_visits: WorkerPool<'this, Visit<FileOp>>,
    #[borrows(plan, completions, power, sim, arena, targets, visits, file_visits, background, hosts)]
    #[not_covariant]
    pub handle: Handle<'this>,
}

impl Machine {
    /// Builds a system and starts its background load.
    pub fn start(plan: Plan, seed: u64) -> Self {
        MachineBuilder {
            plan,
            completions: RefCell::default(),
            power: RefCell::default(),
            sim_builder: |_| Sim::new(),
            shared_builder: |plan, sim| {
                SimContext::new(sim, seed, Timeline::of_first(0))
                    .watched_by(Box::new(FileBooks::new(&plan.graph)))
                    .with_threads(threads(&plan.streams))
                    .limited_by(&|| false, plan.run().limits.parts)
            },
            contexts_builder: |plan, shared| NodeContext::of_all(&plan.graph, shared),
            slots_builder: |plan| Slots::of(&plan.graph),
            arena_builder: |plan, shared, contexts, slots| Arena::build(&plan.graph, shared, contexts, slots),
            record_builder: |plan, arena| RefCell::new(Record::new(plan, *arena, u64::MAX, None)),
            sources_builder: |plan, sim, arena| RequestSource::of_all(plan, (seed, false), *arena, sim),
            targets_builder: |plan, arena| targets(plan, *arena),
            background_builder: |plan, shared, arena, sources, targets, record| Replication {
                plan,
                seed,
                shared,
                arena: *arena,
                sources,
                callers: targets,
                record,
                end: Cell::new(None),
                still: Still::new(u64::MAX),
                counted: FaultsByCount::of(&plan.faults),
            },
            hosts_builder: |sim, background| {
                Hosts::new(sim, move |(stream, thread)| background.host(stream, thread))
            },
            turn_builder: |sim| Pool::new(sim, 1, 1),
            visits_builder: |sim, turn, targets, completions, power| {
                WorkerPool::new(sim, move |visit| serve((sim, turn), targets, (completions, power), visit))
            },
            file_visits_builder: |sim, turn, targets, completions| {
                WorkerPool::new(sim, move |visit| serve_file((sim, turn), targets, completions, visit))
            },
            handle_builder: |plan,
                             completions,
                             power,
                             sim,
                             arena,
                             targets,
                             visits,
                             file_visits,
                             background,
                             hosts| {
                background::start(background, hosts);
                let arena = *arena;
                Handle { plan, completions, power, sim, arena, targets, visits, file_visits, background }
            },
        }
        .build()
    }
}

/// Returns the way to each component that requests can be submitted to.
fn targets<'m>(plan: &Plan, arena: Arena<'m>) -> Vec<Option<Edge<'m>>> {
    let edge = |id| {
        let view = plan.graph.view(id);
        (view.serves::<Block>() || view.serves::<FileOp>()).then(|| arena.edge_to(id))
    };
    plan.graph.ids().map(edge).collect()
}

/// Serves a request from its time to its answer.
async fn serve<'m>(
    (sim, turn): (&'m Sim<'m>, &'m Pool<'m>),
    targets: &'m [Option<Edge<'m>>],
    (completions, power): (&'m RefCell<VecDeque<Completion>>, &'m RefCell<PowerRecord>),
    visit: Visit<Block>,
) {
    arrive(sim, turn, visit.at).await;
    let mut breakdown = Breakdown::from(sim.now());
    let edge = targets[visit.target.index()].as_ref().expect("only what serves requests is a target");
    let begun = power.borrow_mut().begin(visit.ticket, visit.target);
    edge.serve(&visit.request, &mut breakdown).await;
    let of = (visit.ticket, visit.target);
    if !power.borrow_mut().end(of, &visit.request, begun, breakdown.has_failed()) {
        return;
    }
    complete(sim, completions, visit.ticket, breakdown);
}

/// Serves an operation on a file from its time to its answer. It fails if there is no such file.
async fn serve_file<'m>(
    (sim, turn): (&'m Sim<'m>, &'m Pool<'m>),
    targets: &'m [Option<Edge<'m>>],
    completions: &'m RefCell<VecDeque<Completion>>,
    visit: Visit<FileOp>,
) {
    arrive(sim, turn, visit.at).await;
    let mut breakdown = Breakdown::from(sim.now());
    let edge = targets[visit.target.index()].as_ref().expect("only what serves requests is a target");
    let archive: &Archive = edge.get().expect("only an archive takes files");
    match known(archive, visit.request.work) {
        Some(work) => edge.serve(&visit.request.with(work), &mut breakdown).await,
        None => breakdown.fail(),
    }
    complete(sim, completions, visit.ticket, breakdown);
}

/// Returns an operation with the bytes that it moves: a get has no more than the file, and other operations but a put are on the whole file.
fn known(archive: &Archive, op: FileOp) -> Option<FileOp> {
    let size = archive.size_of(op.file);
    match op.act {
        FileAct::Put => Some(op),
        FileAct::Get => size.map(|size| FileOp { bytes: op.bytes.min(size), ..op }),
        _ => size.map(|bytes| FileOp { bytes, ..op }),
    }
}

/// Waits for the time of a request. Requests come after everything that is due, as those of streams do; of one instant, each comes after what
/// those before it caused.
async fn arrive<'m>(sim: &'m Sim<'m>, turn: &'m Pool<'m>, at: Nanos) {
    sim.until(at).await;
    if !turn.try_take(1) {
        turn.take(1).await;
    }
    if !sim.is_settled() {
        sim.settled().await;
    }
    turn.put(1);
}

fn complete(sim: &Sim, completions: &RefCell<VecDeque<Completion>>, ticket: u64, breakdown: Breakdown) {
    let (at, failed) = (sim.now(), breakdown.has_failed());
    completions.borrow_mut().push_back(Completion { ticket, at, failed, breakdown });
    sim.stop();
}
