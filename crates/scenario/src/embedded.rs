//! A storage system inside another program, which submits requests and advances time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::Path as FilePath;

use headrace_kernel::{Pause, RngStream, Sim, WorkerPool};
use headrace_storage::{Activity, Arena, Change, Edge, NodeContext, SimContext, Slots, Timeline};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, NodeId, Request};
use ouroboros::self_referencing;

use crate::document::{Problems, Tree, ValueNode};
use crate::faults::{self, Fault, Moment};
use crate::plan::{self, Plan};
use crate::progress::Progress;
use crate::record::Record;
use crate::run::background::{self, Hosts, Replication, RequestSource, Still, threads};
use crate::run::{End, background::FaultsByCount};
use crate::spec::ScenarioSpec;
use crate::{document, job_files};

/// Number of events between two looks at whether the caller wants to go on.
const STRIDE: u64 = 1 << 13;

/// A request that a host submits, on its way.
#[derive(Clone, Copy)]
struct Visit {
    ticket: u64,
    at: Nanos,
    target: NodeId,
    request: Request<Block>,
}

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The number that [`Storage::submit`] gave it.
    pub ticket: u64,
    /// When it was answered.
    pub at: Nanos,
    /// True if nothing could answer it: what it was sent to had failed, or failed meanwhile.
    pub failed: bool,
    /// Where its time went, from its submission to its answer.
    pub breakdown: Breakdown,
}

/// What came to a component and what it did, from the beginning to now.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentUse {
    /// Its path.
    pub name: String,
    /// Requests answered.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The share of time its servers were busy; none if it has no servers, or no time has passed.
    pub utilisation: Option<f64>,
    /// Requests that wait for it now.
    pub waiting: u64,
}

/// Why a call to [`Storage`] did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// Time runs backwards.
    #[error("{at} is in the past: it is {now} already")]
    Past {
        /// The time of the call.
        at: Nanos,
        /// The present.
        now: Nanos,
    },
    /// No component has this name, or none that can be asked for this.
    #[error("there is no {what} `{name}`; there are {known}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A request ends beyond the last byte of its target.
    #[error("{bytes} B at {address} end beyond the {capacity} B of the target")]
    BeyondEnd {
        /// Address of the first byte.
        address: u64,
        /// Size.
        bytes: u64,
        /// Capacity of the target.
        capacity: u64,
    },
    /// A request for no bytes.
    #[error("a request is for one byte at least")]
    Empty,
    /// More requests are in flight than `run.limits.in_flight` allows.
    #[error("{0} requests are in flight or not collected, the limit of `run.limits.in_flight`")]
    TooMany(u64),
    /// The background load cannot go on.
    #[error("the load of the scenario has ended: {0:?}")]
    Ended(End),
    /// The caller did not want to go on.
    #[error("interrupted")]
    Interrupted,
}

/// What a host and the simulation share.
#[derive(Clone, Copy)]
struct Handle<'m> {
    sim: &'m Sim<'m>,
    arena: Arena<'m>,
    visits: &'m WorkerPool<'m, Visit>,
    background: &'m Replication<'m>,
}

#[self_referencing]
struct Machine {
    plan: Plan,
    completions: RefCell<VecDeque<Completion>>,
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
    #[borrows(plan, shared, arena, sources, record)]
    #[not_covariant]
    background: Replication<'this>,
    #[borrows(sim, background)]
    #[not_covariant]
    hosts: Hosts<'this>,
    #[borrows(plan, arena)]
    #[not_covariant]
    targets: Vec<Option<Edge<'this>>>,
    #[borrows(sim, targets, completions)]
    #[not_covariant]
    visits: WorkerPool<'this, Visit>,
    #[borrows(sim, arena, visits, background, hosts)]
    #[not_covariant]
    handle: Handle<'this>,
}

impl Machine {
    fn start(plan: Plan, seed: u64) -> Self {
        MachineBuilder {
            plan,
            completions: RefCell::default(),
            sim_builder: |_| Sim::new(),
            shared_builder: |plan, sim| {
                SimContext::new(sim, seed, Timeline::of_first(0))
                    .with_threads(threads(&plan.streams))
                    .limited_by(&|| false, plan.run().limits.parts)
            },
            contexts_builder: |plan, shared| NodeContext::of_all(&plan.graph, shared),
            slots_builder: |plan| Slots::of(&plan.graph),
            arena_builder: |plan, shared, contexts, slots| Arena::build(&plan.graph, shared, contexts, slots),
            record_builder: |plan, arena| RefCell::new(Record::new(plan, *arena, u64::MAX, None)),
            sources_builder: |plan, sim, arena| {
                let source = |index| RequestSource::new(plan, index, (seed, false), *arena, sim);
                (0..plan.streams.len()).map(source).collect()
            },
            background_builder: |plan, shared, arena, sources, record| Replication {
                plan,
                seed,
                shared,
                arena: *arena,
                sources,
                record,
                end: Cell::new(None),
                still: Still::new(u64::MAX),
                counted: FaultsByCount::of(&plan.faults),
            },
            hosts_builder: |sim, background| {
                Hosts::new(sim, move |(stream, thread)| background.host(stream, thread))
            },
            targets_builder: |plan, arena| {
                let edge = |id| plan.graph.view(id).serves::<Block>().then(|| arena.edge_to(id));
                plan.graph.ids().map(edge).collect()
            },
            visits_builder: |sim, targets, completions| {
                WorkerPool::new(sim, move |visit| pay(sim, targets, completions, visit))
            },
            handle_builder: |sim, arena, visits, background, hosts| {
                background::start(background, hosts);
                Handle { sim, arena: *arena, visits, background }
            },
        }
        .build()
    }
}

/// Serves a request from its time to its answer.
async fn pay<'m>(
    sim: &'m Sim<'m>,
    targets: &'m [Option<Edge<'m>>],
    completions: &'m RefCell<VecDeque<Completion>>,
    visit: Visit,
) {
    sim.until(visit.at).await;
    // Requests come after everything that is due, as those of streams do.
    if !sim.is_settled() {
        sim.settled().await;
    }
    let mut breakdown = Breakdown::from(sim.now());
    let edge = targets[visit.target.index()].as_ref().expect("only what serves blocks is a target");
    edge.serve(&visit.request, &mut breakdown).await;
    completions.borrow_mut().push_back(Completion {
        ticket: visit.ticket,
        at: sim.now(),
        failed: breakdown.has_failed(),
        breakdown,
    });
    sim.stop();
}

/// A component that requests can be submitted to.
struct Target {
    id: NodeId,
    name: String,
    capacity: u64,
    keys: RngStream,
    submitted: u64,
}

/// A storage system inside another program.
pub struct Storage {
    machine: Machine,
    targets: Vec<Target>,
    now: Nanos,
    submitted: u64,
    in_flight: u64,
    most: u64,
    go_on: Box<dyn Fn() -> bool>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.machine.with_sim(|sim| sim.finish());
    }
}

impl Storage {
    /// Builds the system of the scenario `source`, whose own files lie beside `file`. `sets` are values to put instead of what the text has:
    /// (`run.limits.in_flight`, `100`). Its streams, if it has any, run as background load; `run.requests` and `run.time` have no effect.
    ///
    /// # Errors
    /// All errors in the scenario.
    pub fn load(source: &str, file: &str, sets: &[(String, String)], seed: u64) -> Result<Self, Problems> {
        let mut tree =
            Tree::parse(source, file).map_err(|problem| Problems::unparsed(problem, source, file))?;
        if tree.child_mut(&["workload"]).is_none() {
            tree.put(&["workload"], ValueNode::from(&serde_json::json!({})));
        }
        job_files::put_in(&mut tree, sets, &job_files::unread)?;
        let of_tree = |problems: Vec<document::Problem>| Problems::of(&tree, problems);
        let spec = ScenarioSpec::read(&mut tree.clone()).map_err(of_tree)?;
        let plan =
            plan::with_any_streams(spec, FilePath::new(file), &Progress::default()).map_err(of_tree)?;
        Ok(Self::of(plan, seed))
    }

    fn of(plan: Plan, seed: u64) -> Self {
        let target = |id| {
            let view = plan.graph.view(id);
            let (name, capacity) = (view.path().to_owned(), view.capacity().0);
            let keys = RngStream::named(seed, &name, "requests");
            view.serves::<Block>().then_some(Target { id, name, capacity, keys, submitted: 0 })
        };
        let targets = plan.graph.ids().filter_map(target).collect();
        let most = plan.run().limits.in_flight;
        let machine = Machine::start(plan, seed);
        Self {
            machine,
            targets,
            now: Nanos::ZERO,
            submitted: 0,
            in_flight: 0,
            most,
            go_on: Box::new(|| true),
        }
    }

    /// The present.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Returns the number of the component `name`, by which requests are submitted to it.
    ///
    /// # Errors
    /// There is no such component, or it serves no blocks.
    pub fn target(&self, name: &str) -> Result<usize, StorageError> {
        self.targets.iter().position(|target| target.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.targets.iter().map(|target| &*target.name).collect();
            let known = known.join(", ");
            StorageError::Unknown { what: "target of requests", name: name.to_owned(), known }
        })
    }

    /// Returns the components that requests can be submitted to, by their numbers: their names and capacities in bytes, 0 where any
    /// address is valid.
    pub fn targets(&self) -> impl Iterator<Item = (&str, u64)> {
        self.targets.iter().map(|target| (&*target.name, target.capacity))
    }

    /// Submits a request at the time `at`, now or later, and returns its number. Random values are drawn for it as for the request of the
    /// same number of a stream that is called as its target.
    ///
    /// # Errors
    /// It is in the past, for no bytes, beyond the end of its target, or one too many.
    pub fn submit(
        &mut self,
        at: Nanos,
        target: usize,
        block: Block,
        durable: bool,
    ) -> Result<u64, StorageError> {
        if at < self.now {
            return Err(StorageError::Past { at, now: self.now });
        }
        if self.in_flight >= self.most {
            return Err(StorageError::TooMany(self.most));
        }
        let known = self.targets.len();
        let Some(target) = self.targets.get_mut(target) else {
            let known = format!("0 to {}", known.saturating_sub(1));
            return Err(StorageError::Unknown { what: "target of number", name: target.to_string(), known });
        };
        let Block { address, bytes, .. } = block;
        let (is_beyond, capacity) =
            (address.checked_add(bytes).is_none_or(|end| end > target.capacity), target.capacity);
        match bytes {
            0 => return Err(StorageError::Empty),
            _ if is_beyond && capacity > 0 => {
                return Err(StorageError::BeyondEnd { address, bytes, capacity });
            }
            _ => {}
        }
        let request = Request { durable, ..Request::new(target.keys.key(target.submitted), block) };
        target.submitted += 1;
        let visit = Visit { ticket: self.submitted, at, target: target.id, request };
        self.submitted += 1;
        self.in_flight += 1;
        self.machine.with_handle(|handle| handle.visits.start(visit));
        Ok(visit.ticket)
    }

    /// Lets time pass until a submitted request is answered, or to `until`; returns the request that was answered first of those not yet
    /// returned.
    ///
    /// # Errors
    /// `until` is in the past, the caller [interrupted](Self::interrupted_by), or the background load cannot go on.
    pub fn next_completion(&mut self, until: Nanos) -> Result<Option<Completion>, StorageError> {
        self.pass(until, true)?;
        let next = self.machine.with_completions(|completions| completions.borrow_mut().pop_front());
        self.in_flight -= u64::from(next.is_some());
        Ok(next)
    }

    /// Lets time pass to `until`. Requests answered meanwhile are returned by [`Self::next_completion`].
    ///
    /// # Errors
    /// As of `next_completion`.
    pub fn advance(&mut self, until: Nanos) -> Result<(), StorageError> {
        self.pass(until, false)
    }

    /// Asks `go_on` now and then while time passes; if it returns false, the call ends with [`StorageError::Interrupted`] and can be
    /// repeated.
    pub fn interrupted_by(&mut self, go_on: impl Fn() -> bool + 'static) {
        self.go_on = Box::new(go_on);
    }

    /// Lets time pass to `until`, or to the first answer that is not returned yet.
    fn pass(&mut self, until: Nanos, to_completion: bool) -> Result<(), StorageError> {
        if until < self.now {
            return Err(StorageError::Past { at: until, now: self.now });
        }
        loop {
            if to_completion && let Some(at) = self.completed_at() {
                self.now = self.now.max(at);
                return Ok(());
            }
            match self.machine.with_handle(|handle| handle.sim.run(until, STRIDE)) {
                Pause::Idle | Pause::Time => break,
                Pause::Stopped => self.ended()?,
                Pause::Events if !(self.go_on)() => return Err(StorageError::Interrupted),
                Pause::Events => {}
            }
        }
        // With nothing left to happen, time need not pass for ever.
        self.now =
            if until == Nanos::MAX { self.machine.with_sim(|sim| sim.now()).max(self.now) } else { until };
        Ok(())
    }

    fn completed_at(&self) -> Option<Nanos> {
        self.machine.with_completions(|completions| completions.borrow().front().map(|answer| answer.at))
    }

    fn ended(&self) -> Result<(), StorageError> {
        let end = self.machine.with_handle(|handle| handle.background.end.get());
        end.map_or(Ok(()), |end| Err(StorageError::Ended(end)))
    }

    /// Has a component fail, return with its data, or be replaced by an empty one, now.
    ///
    /// # Errors
    /// There is no component, or piece of one, of this name.
    pub fn change(&mut self, component: &str, change: Change) -> Result<(), StorageError> {
        let graph = |plan: &Plan| faults::found(&plan.graph, component);
        let (node, piece) = self.machine.with_plan(graph).ok_or_else(|| StorageError::Unknown {
            what: "component",
            name: component.to_owned(),
            known: self.machine.with_plan(|plan| {
                plan.graph.nodes.iter().map(|n| n.path.clone()).collect::<Vec<_>>().join(", ")
            }),
        })?;
        let now = self.now;
        let fault = Fault { when: Moment::At(now), node, piece, change };
        self.machine.with_handle(|handle| {
            let Handle { sim, arena, .. } = *handle;
            sim.spawn(async move {
                sim.until(now).await;
                fault.happen(arena);
            });
        });
        self.pass(now, false)
    }

    /// Returns the use of every component.
    pub fn components(&self) -> Vec<ComponentUse> {
        let now = self.now;
        self.machine.with_handle(|handle| {
            let of = |id| {
                let (context, activity) =
                    (handle.arena.context(id), handle.arena.component(id).activity(now));
                let share =
                    |of: &Activity| of.busy.iter().sum::<u128>() as f64 / (of.servers as f64 * now.0 as f64);
                ComponentUse {
                    name: context.path.to_owned(),
                    requests: context.answered().requests,
                    bytes: context.answered().bytes,
                    utilisation: activity
                        .as_ref()
                        .filter(|of| of.servers > 0 && now > Nanos::ZERO)
                        .map(share),
                    waiting: activity.map_or(0, |activity| activity.waiting),
                }
            };
            handle.arena.ids().map(of).collect()
        })
    }

    /// Returns the path of a component.
    pub fn path(&self, component: NodeId) -> &str {
        self.machine.with_plan(|plan| &*plan.graph.nodes[component.index()].path)
    }
}
