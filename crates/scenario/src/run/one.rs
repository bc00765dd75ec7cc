//! One replication: its components are built, one of the engines runs it, and what it found is drawn up.

use std::cell::{Cell, RefCell};

use headrace_kernel::Sim;
use headrace_storage::{Arena, Journey, NodeContext, SimContext, Slots, Timeline};

use super::cut::{self, Candidates};
use super::events;
use super::faults::FaultsByCount;
use super::options::Options;
use super::outcome::{self, Outcome};
use super::replication::{Hosts, Replication, RequestSource, threads};
use super::still::Still;
use super::watch::{Deadline, Watch};
use crate::checks::FileBooks;
use crate::plan::Plan;
use crate::record::{Record, RequestLog};
use crate::spec::Engine;

/// Runs one replication, the `number`-th of those asked for; gives what it found at each place where it may be cut.
pub fn run(
    plan: &Plan,
    engine: Engine,
    number: u64,
    options: &Options,
    deadline: &Deadline,
) -> (Candidates<Outcome>, Vec<Journey>) {
    let replication = options.replication.unwrap_or(0) + number;
    let seed = plan.seed(replication);
    let is_over = || deadline.end().is_some();
    let sim = Sim::new();
    let first = if number == 0 { options.first } else { 0 };
    let shared = SimContext::new(&sim, seed, Timeline::of_first(first))
        .watched_by(Box::new(FileBooks::new(&plan.graph)))
        .with_threads(threads(&plan.streams))
        .limited_by(&is_over, plan.run().limits.parts);
    let (places, slots) = (NodeContext::of_all(&plan.graph, &shared), Slots::of(&plan.graph));
    let arena = Arena::build(&plan.graph, &shared, &places, &slots);
    let log = options.requests.as_ref().map(|sink| RequestLog::new(replication, &plan.graph, sink));
    let record = RefCell::new(Record::new(plan, arena, plan.requests(), log));
    let logged = options.requests.is_some() || first > 0;
    let sources = RequestSource::of_all(plan, (seed, logged), arena, &sim);
    let replication = Replication {
        plan,
        seed,
        shared: &shared,
        arena,
        sources: &sources,
        callers: &[],
        record: &record,
        end: Cell::new(None),
        still: Still::new(plan.requests()),
        counted: FaultsByCount::of(&plan.faults),
    };
    let watch = Watch::new(plan, deadline);
    let of = &replication;
    let hosts = Hosts::new(&sim, move |(stream, thread)| of.host(stream, thread));
    let (end, now) = match engine {
        Engine::Recursion => of.by_recursion(watch),
        _ => events::run(of, &hosts, watch),
    };
    sim.finish();
    record.borrow_mut().finish();
    let phases = outcome::phases(&mut record.borrow_mut(), arena, now);
    let record = record.borrow();
    let cuts = cut::candidates(plan, options, number, &record);
    let outcomes = outcome::at_each(&cuts, &record, &replication, now, end, &phases);
    (outcomes, shared.timeline.journeys())
}
