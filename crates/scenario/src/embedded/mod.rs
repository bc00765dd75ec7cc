//! A storage system inside another program, which submits requests and advances time.

mod machine;
mod power;

use std::path::Path as FilePath;

use headrace_kernel::{Pause, RngStream};
use headrace_storage::archive::tape_library::TapeLibraryPlan;
use headrace_storage::{Activity, ArchivePlan, Arena, Change};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, FileAct, FileOp, FilePlace, NodeId, Op, Request, TapePlace};

use crate::document::{Path, Problem, Problems, Tree, ValueNode};
use crate::faults::{self, Fault, Moment};
use crate::job_files::JobFiles;
use crate::plan::{self, Plan};
use crate::progress::Progress;
use crate::record::MeterReading;
use crate::results::{self, ResultsSoFar};
use crate::run::{self, End, MeterKind, background};
use crate::spec::ScenarioSpec;
use crate::{document, job_files};

use machine::{Handle, Machine, Visit};
pub use power::{LostWrite, PowerLoss};

/// Number of events between two looks at whether the caller wants to go on.
const STRIDE: u64 = 1 << 13;

/// Where the addresses of a component without a capacity end, as those of files and devices do (`off_t`).
const MOST: u64 = 1 << 63;

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
    /// Measures of its own, as `meters` of the results of a run has them; none for a share of nothing.
    pub meters: Vec<(&'static str, Option<f64>)>,
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
    /// A request is to come later than any may.
    #[error("{0} is later than requests may come: within 146 years of the beginning")]
    TooLate(Nanos),
    /// Requests cannot be submitted to this: it does not exist, or serves none.
    #[error("there is no target of requests `{name}`; there are {known}")]
    UnknownTarget {
        /// The name, or the number.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A component does not exist, or cannot change so.
    #[error("{0}")]
    CannotChange(String),
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
    /// A target does not take requests of this kind.
    #[error("`{name}` takes {takes}")]
    WrongRequest {
        /// The name of the target.
        name: String,
        /// Requests that it takes.
        takes: &'static str,
    },
    /// An archive cannot have a file, or not where it was said to be.
    #[error("{0}")]
    CannotHold(String),
    /// A file was added to an archive after the first request, or after time has passed.
    #[error("files can be added only before the first request and before time passes: put the file instead")]
    TooLateToAdd,
    /// A request for no bytes, or a flush of some.
    #[error("a request is for one byte at least, and a flush for none")]
    Empty,
    /// A file of no bytes, or a get of none.
    #[error("a file has at least one byte, and so has what is read of it")]
    EmptyFile,
    /// More requests are in flight than `run.limits.in_flight` allows.
    #[error("{0} requests are in flight or not collected, the limit of `run.limits.in_flight`")]
    TooMany(u64),
    /// Too many writes to a target were answered and are not stable, while they are [remembered](Storage::remember_writes).
    #[error("{0} writes to `{1}` are answered and not stable, and no more are remembered: flush it")]
    TooManyUnstable(usize, String),
    /// Requests were submitted before writes are remembered.
    #[error("writes are remembered from the first request on: ask for it before that")]
    TooLateToRemember,
    /// Power cannot fail in a system whose scenario has streams, or whose writes are not remembered.
    #[error("{0}")]
    CannotLosePower(&'static str),
    /// Nothing can go on: a request divides into more parts than `run.limits.parts`, there were more events than `run.limits.events`, or the
    /// background load has ended.
    #[error("the simulation has ended: {}", .0.in_words())]
    Ended(End),
    /// The caller did not want to go on.
    #[error("interrupted")]
    Interrupted,
    /// The simulation broke a law that every simulation must keep.
    #[error("{0}")]
    Defect(String),
}

/// A component that requests can be submitted to.
struct Target {
    id: NodeId,
    name: String,
    capacity: u64,
    /// True if it takes operations on files, otherwise requests for blocks.
    is_archive: bool,
    /// True if it takes discards.
    discards: bool,
    keys: RngStream,
    submitted: u64,
}

impl Target {
    /// Returns the key of the next request.
    fn key(&mut self) -> u64 {
        self.submitted += 1;
        self.keys.key(self.submitted - 1)
    }
}

/// A storage system inside another program.
pub struct Storage {
    machine: Machine,
    targets: Vec<Target>,
    now: Nanos,
    submitted: u64,
    in_flight: u64,
    most: u64,
    most_events: u64,
    go_on: Box<dyn Fn() -> bool>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.machine.with_handle(|handle| handle.sim.finish());
    }
}

impl Storage {
    /// Builds the system of the scenario `source`, whose own files lie beside `file`. `sets` are values to put instead of what the text has:
    /// (`run.limits.in_flight`, `100`). Its streams, if it has any, run as background load; `run.requests` and `run.time` have no effect.
    ///
    /// # Errors
    /// All errors in the scenario.
    pub fn load(source: &str, file: &str, sets: &[(String, String)], seed: u64) -> Result<Self, Problems> {
        Self::load_with_jobs(source, file, sets, &job_files::unread, seed)
    }

    /// Builds the system of a scenario, as [`load`](Self::load) does, of which `jobs` reads the job file of fio, if it names one.
    ///
    /// # Errors
    /// All errors in the scenario, or the first in the job file.
    pub fn load_with_jobs(
        source: &str,
        file: &str,
        sets: &[(String, String)],
        jobs: JobFiles,
        seed: u64,
    ) -> Result<Self, Problems> {
        let mut tree =
            Tree::parse(source, file).map_err(|problem| Problems::unparsed(problem, source, file))?;
        if tree.child_mut(&["workload"]).is_none() {
            tree.put(&["workload"], ValueNode::from(&serde_json::json!({})));
        }
        job_files::put_in(&mut tree, sets, jobs)?;
        let of_tree = |problems: Vec<document::Problem>| Problems::of(&tree, problems);
        let spec = ScenarioSpec::read(&mut tree.clone()).map_err(of_tree)?;
        let plan =
            plan::with_any_streams(spec, FilePath::new(file), &Progress::default()).map_err(of_tree)?;
        Ok(Self::of(plan, seed))
    }

    /// Builds the system of a plan, as [`load`](Self::load) does.
    pub(crate) fn of(plan: Plan, seed: u64) -> Self {
        let target = |id| {
            let view = plan.graph.view(id);
            let (name, capacity) = (view.path().to_owned(), view.capacity().0);
            let keys = RngStream::named(seed, &name, "requests");
            let is_archive = view.serves::<FileOp>();
            let is_target = is_archive || view.serves::<Block>();
            let discards = view.discards();
            is_target.then_some(Target { id, name, capacity, is_archive, discards, keys, submitted: 0 })
        };
        let targets = plan.graph.ids().filter_map(target).collect();
        let (most, most_events) = (plan.run().limits.in_flight, plan.run().limits.events);
        let machine = Machine::start(plan, seed);
        Self {
            machine,
            targets,
            now: Nanos::ZERO,
            submitted: 0,
            in_flight: 0,
            most,
            most_events,
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
    /// There is no such component, or it serves no requests.
    pub fn target(&self, name: &str) -> Result<usize, StorageError> {
        self.targets.iter().position(|target| target.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.targets.iter().map(|target| &*target.name).collect();
            let known = known.join(", ");
            StorageError::UnknownTarget { name: name.to_owned(), known }
        })
    }

    /// Returns the components that requests can be submitted to, by their numbers: their names and capacities in bytes, 0 where any
    /// address is valid. The capacity of an archive is that of its disk pool.
    pub fn targets(&self) -> impl Iterator<Item = (&str, u64)> {
        self.targets.iter().map(|target| (&*target.name, target.capacity))
    }

    /// Submits a request at the time `at`, now or later, and returns its number. Random values are drawn for it as for the request of the
    /// same number of a stream that is called as its target.
    ///
    /// # Errors
    /// It is in the past, for no bytes (a flush for some), beyond the end of its target, or one too many.
    pub fn submit(
        &mut self,
        at: Nanos,
        target: usize,
        block: Block,
        durable: bool,
    ) -> Result<u64, StorageError> {
        self.accepts((at, block), target, 0)?;
        Ok(self.start((at, block), target, durable))
    }

    /// Submits several requests, each with its time, and returns the number of the first, which the others follow; `None` of none.
    ///
    /// # Errors
    /// As of [`Storage::submit`], of any of them; nothing is submitted then.
    pub fn submit_all(
        &mut self,
        requests: &[(Nanos, Block)],
        target: usize,
        durable: bool,
    ) -> Result<Option<u64>, StorageError> {
        for (before, request) in (0..).zip(requests) {
            self.accepts(*request, target, before)?;
        }
        let mut first = None;
        for (at, block) in requests {
            let ticket = self.start((*at, *block), target, durable);
            first.get_or_insert(ticket);
        }
        Ok(first)
    }

    /// Starts a request that is accepted; returns its number.
    fn start(&mut self, (at, block): (Nanos, Block), target: usize, durable: bool) -> u64 {
        let target = &mut self.targets[target];
        let request = Request { durable, ..Request::new(target.key(), block) };
        let target = target.id;
        let ticket = self.next_ticket();
        self.machine.with_handle(|handle| handle.visits.start(Visit { ticket, at, target, request }));
        ticket
    }

    /// Returns an error if a request cannot be submitted, `before` of which others are.
    fn accepts(
        &mut self,
        (at, block): (Nanos, Block),
        target: usize,
        before: u64,
    ) -> Result<(), StorageError> {
        self.has_room_at(at, before)?;
        let target = taker(&mut self.targets, target, false)?;
        let Block { address, bytes, .. } = block;
        let capacity = if target.capacity > 0 { target.capacity } else { MOST };
        if (bytes == 0) != (block.op == Op::Flush) {
            return Err(StorageError::Empty);
        }
        if block.op == Op::Discard && !target.discards {
            return Err(StorageError::WrongRequest { name: target.name.clone(), takes: "no discards" });
        }
        if address.checked_add(bytes).is_none_or(|end| end > capacity) {
            return Err(StorageError::BeyondEnd { address, bytes, capacity });
        }
        if block.op == Op::Write && !self.machine.with_handle(|handle| handle.has_room(target.id)) {
            return Err(StorageError::TooManyUnstable(power::MOST_UNSTABLE, target.name.clone()));
        }
        Ok(())
    }

    /// Submits an operation on a file to an archive at the time `at`, now or later, and returns its number. A get sends the first `bytes` of its
    /// file, or all of it if it has no more; a put has at least one byte; other operations are on the whole file, whatever their `bytes`.
    /// One on a file that does not exist at that time fails. An archive keeps an entry of each file that was ever put, of deleted ones too.
    ///
    /// # Errors
    /// It is in the past, to what is no archive, of no bytes, of more than the disk pool has, a session of a cartridge, or one too many.
    pub fn submit_file(&mut self, at: Nanos, target: usize, op: FileOp) -> Result<u64, StorageError> {
        self.has_room_at(at, 0)?;
        let target = taker(&mut self.targets, target, true)?;
        match op.act {
            FileAct::Session => {
                let takes = "operations on files, and no sessions of cartridges";
                return Err(StorageError::WrongRequest { name: target.name.clone(), takes });
            }
            FileAct::Put | FileAct::Get if op.bytes == 0 => return Err(StorageError::EmptyFile),
            FileAct::Put => fits(op.bytes, target)?,
            _ => {}
        }
        let request = Request::new(target.key(), op);
        let target = target.id;
        let ticket = self.next_ticket();
        self.machine.with_handle(|handle| handle.file_visits.start(Visit { ticket, at, target, request }));
        Ok(ticket)
    }

    /// Adds a file of `bytes` that an archive has from the beginning.
    ///
    /// # Errors
    /// A request was submitted or time has passed; this is no archive; it has a file of this name; the file does not fit, or is on tape where
    /// there is none.
    pub fn add_file(
        &mut self,
        target: usize,
        file: u64,
        bytes: u64,
        place: FilePlace,
    ) -> Result<(), StorageError> {
        if self.submitted > 0 || self.now > Nanos::ZERO {
            return Err(StorageError::TooLateToAdd);
        }
        let target = taker(&mut self.targets, target, true)?;
        if bytes == 0 {
            return Err(StorageError::EmptyFile);
        }
        fits(bytes, target)?;
        let is_added = self.machine.with_handle(|handle| {
            if let FilePlace::Tape(at) = place {
                tape_holds(handle.plan, target, at)?;
            }
            let archive = handle.archive(target.id).expect("files are added to an archive");
            if let Some(there) = archive.size_of(file) {
                let message = format!("`{}` has this file already, of {there} B", target.name);
                return Err(StorageError::CannotHold(message));
            }
            Ok(archive.begin_with(file, bytes, place))
        })?;
        let full = || StorageError::CannotHold(format!("`{}` has no room for {bytes} B more", target.name));
        is_added.then_some(()).ok_or_else(full)
    }

    /// Returns the number of a request that is on its way from now on.
    fn next_ticket(&mut self) -> u64 {
        self.submitted += 1;
        self.in_flight += 1;
        self.submitted - 1
    }

    /// Returns an error if a request cannot be submitted at `at`, whatever it is, `before` of which others are.
    fn has_room_at(&self, at: Nanos, before: u64) -> Result<(), StorageError> {
        if at < self.now {
            return Err(StorageError::Past { at, now: self.now });
        }
        if at > background::END_OF_TIME {
            return Err(StorageError::TooLate(at));
        }
        if self.in_flight + before >= self.most {
            return Err(StorageError::TooMany(self.most));
        }
        Ok(())
    }

    /// Lets time pass until a submitted request is answered, or to `until`; returns the request that was answered first of those not yet
    /// returned. With `until` at the end of time and no request in flight beside those of the scenario's streams, which go on for ever, no time
    /// passes.
    ///
    /// # Errors
    /// `until` is in the past, the caller [interrupted](Self::interrupted_by), or the background load cannot go on.
    pub fn next_completion(&mut self, until: Nanos) -> Result<Option<Completion>, StorageError> {
        let has_streams = self.machine.with_handle(|handle| !handle.plan.streams.is_empty());
        if until == Nanos::MAX && self.in_flight == 0 && has_streams {
            return Ok(None);
        }
        self.pass(until, true)?;
        let next = self.machine.with_handle(|handle| handle.completions.borrow_mut().pop_front());
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

    /// Asks `go_on` every 8,192 events while time passes; if it returns false, the call ends with [`StorageError::Interrupted`] and can be
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
            let (pause, events) =
                self.machine.with_handle(|handle| (handle.sim.run(until, STRIDE), handle.sim.events()));
            let early = match pause {
                _ if events >= self.most_events => Err(StorageError::Ended(End::TooManyEvents)),
                Pause::Idle | Pause::Time => break,
                Pause::Stopped => self.ended(),
                Pause::Events if !(self.go_on)() => Err(StorageError::Interrupted),
                Pause::Events => Ok(()),
            };
            // The host's clock follows the simulation: the next request is submitted at this time.
            early.inspect_err(|_| self.now = self.simulated().max(self.now))?;
        }
        // Without further events, time need not pass for ever.
        self.now = if until == Nanos::MAX { self.simulated().max(self.now) } else { until };
        Ok(())
    }

    /// Returns the time of the simulation, which is not behind that of the host.
    fn simulated(&self) -> Nanos {
        self.machine.with_handle(|handle| handle.sim.now())
    }

    fn completed_at(&self) -> Option<Nanos> {
        self.machine.with_handle(|handle| handle.completions.borrow().front().map(|completion| completion.at))
    }

    fn ended(&self) -> Result<(), StorageError> {
        let end =
            self.machine.with_handle(|Handle { background, .. }| match background.shared.is_crowded() {
                true => Some(End::TooManyParts),
                false => background.end.get(),
            });
        end.map_or(Ok(()), |end| Err(StorageError::Ended(end)))
    }

    /// Remembers from now on which writes are answered and not flushed, so that power can [fail](Self::lose_power). Takes 48 bytes for each of
    /// these, at most 50 MB a target.
    ///
    /// # Errors
    /// Requests were submitted before, or power [cannot fail](Self::lose_power) in this system.
    pub fn remember_writes(&mut self) -> Result<(), StorageError> {
        if self.submitted > 0 {
            return Err(StorageError::TooLateToRemember);
        }
        self.can_lose_power()?;
        self.machine.with_handle(|handle| handle.power.borrow_mut().remember(handle.plan.graph.nodes.len()));
        Ok(())
    }

    /// Power fails everywhere, now, and is back at once: for as long as it shall be away a host submits nothing. Requests in flight are never
    /// answered, those submitted for later come when they come. Volatile memories are empty afterwards: caches of disks, of arrays without a
    /// battery, and of file systems. A component that cannot tell what its memory holds may lose all that was not flushed. Devices go on with
    /// what they were doing; a solid-state drive programs the pages that it lost, which takes their time.
    ///
    /// # Errors
    /// Writes are not [remembered](Self::remember_writes), the scenario has streams, which would go on, or an archive.
    pub fn lose_power(&mut self) -> Result<PowerLoss, StorageError> {
        self.can_lose_power()?;
        if !self.machine.with_handle(|handle| handle.power.borrow().is_on()) {
            let unfit = "writes are not remembered: ask for `remember_writes` before the first request";
            return Err(StorageError::CannotLosePower(unfit));
        }
        self.reach_present()?;
        let targets = self.targets.iter().map(|target| target.id);
        let loss = self.machine.with_handle(|Handle { arena, power, .. }| {
            let loss = power.borrow_mut().lose(targets, |id, written| arena.at_risk(id, written));
            arena.lose_power();
            loss
        });
        self.in_flight -= loss.unanswered.len() as u64;
        Ok(loss)
    }

    /// Returns an error if power cannot fail in this system.
    fn can_lose_power(&self) -> Result<(), StorageError> {
        let has_streams = self.machine.with_handle(|handle| !handle.plan.streams.is_empty());
        let has_archive = self.targets.iter().any(|target| target.is_archive);
        let unfit = match () {
            () if has_streams => "streams of `workload` would go on without power: leave them out",
            () if has_archive => "what an archive loses with power is not modelled: leave it out",
            () => return Ok(()),
        };
        Err(StorageError::CannotLosePower(unfit))
    }

    /// Has the simulation be at the present, though nothing happens there.
    fn reach_present(&mut self) -> Result<(), StorageError> {
        let now = self.now;
        self.machine.with_handle(|Handle { sim, .. }| {
            let sim = *sim;
            sim.spawn(async move { sim.until(now).await });
        });
        self.pass(now, false)
    }

    /// Has a component fail, return with its data, be replaced by an empty one, or take longer than usual, now.
    ///
    /// # Errors
    /// There is no component, or piece of one, of this name, or it cannot change so.
    pub fn change(&mut self, component: &str, change: Change) -> Result<(), StorageError> {
        let unfit = |problem: Problem| {
            let help = problem.help.map_or_else(String::new, |help| format!("; {help}"));
            StorageError::CannotChange(problem.message + &help)
        };
        let (node, piece) = self.machine.with_handle(|Handle { plan, .. }| {
            let found = faults::that_fails(&plan.graph, component, &Path::default()).map_err(unfit)?;
            match change {
                Change::Replaced if !faults::is_replaceable(&plan.graph, found) => {
                    let message =
                        format!("`{component}` holds no data, so it cannot be replaced; have it return");
                    return Err(StorageError::CannotChange(message));
                }
                Change::Slow(percent) if percent < 100 => {
                    let times = f64::from(percent) / 100.0;
                    let message = format!("{times} times as long is less than usual: give 1 or more");
                    return Err(StorageError::CannotChange(message));
                }
                Change::Slow(_) => {
                    faults::can_be_slow(&plan.graph, found, &Path::default()).map_err(unfit)?
                }
                _ => {}
            }
            Ok(found)
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

    /// Has a component rebuild what it lacks, from this share of its data on, or one object of `every`.
    pub(crate) fn rebuild_from(&mut self, component: NodeId, from: f64, every: u64) {
        self.machine.with_handle(|handle| handle.arena.component(component).rebuild_from(from, every));
    }

    /// Returns the number of events that were simulated.
    pub(crate) fn events(&self) -> u64 {
        self.machine.with_handle(|handle| handle.sim.events())
    }

    /// Returns one of the measures of a component; `None` where it has no such measure yet.
    pub(crate) fn meter(&self, component: NodeId, name: &str) -> Option<f64> {
        let all = self.machine.with_handle(|handle| meters(handle.arena, component, self.now));
        all.into_iter().find(|(known, _)| *known == name).and_then(|(_, value)| value)
    }

    /// Returns what the streams of the scenario and all components did from the beginning to now, as the results of a run say it. Requests
    /// of the host belong to no stream: their times are those of their completions.
    ///
    /// # Errors
    /// The simulation broke a law that every simulation must keep: the program is wrong.
    pub fn results(&self) -> Result<ResultsSoFar, StorageError> {
        let now = self.now;
        let found = self.machine.with_handle(|Handle { plan, background, .. }| {
            results::so_far(plan, background::so_far(background, now))
        });
        found.map_err(StorageError::Defect)
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
                    meters: meters(handle.arena, id, now),
                }
            };
            handle.arena.ids().map(of).collect()
        })
    }

    /// Returns the path of a component.
    pub fn path(&self, component: NodeId) -> &str {
        self.machine.with_handle(|Handle { plan, .. }| &*plan.graph.nodes[component.index()].path)
    }
}

/// Returns the target of a request, which is for files if `is_file`.
fn taker(targets: &mut [Target], number: usize, is_file: bool) -> Result<&mut Target, StorageError> {
    let last = targets.len().saturating_sub(1);
    let unknown = || StorageError::UnknownTarget { name: number.to_string(), known: format!("0 to {last}") };
    let target = targets.get_mut(number).ok_or_else(unknown)?;
    if target.is_archive == is_file {
        return Ok(target);
    }
    let takes = if target.is_archive { "operations on files" } else { "requests for blocks" };
    Err(StorageError::WrongRequest { name: target.name.clone(), takes })
}

/// Returns an error if a file is larger than the disk pool of an archive.
fn fits(bytes: u64, archive: &Target) -> Result<(), StorageError> {
    let Target { name, capacity, .. } = archive;
    if bytes > *capacity {
        return Err(StorageError::CannotHold(format!(
            "a file of {bytes} B does not fit into the {capacity} B of `{name}`"
        )));
    }
    Ok(())
}

/// Returns an error if an archive has no tapes, or none that reaches as far as a file's place.
fn tape_holds(plan: &Plan, archive: &Target, place: Option<TapePlace>) -> Result<(), StorageError> {
    let view = plan.graph.view(archive.id);
    if !view.plan().is_some_and(ArchivePlan::has_library) {
        return Err(StorageError::CannotHold(format!("`{}` has no tape library", archive.name)));
    }
    let tapes =
        view.uses().filter_map(|used| used.plan::<TapeLibraryPlan>()).flat_map(|library| &library.tapes);
    let longest = tapes.map(|tape| tape.capacity).max().unwrap_or(0);
    match place.and_then(|place| place.position).filter(|position| *position >= longest) {
        Some(at) => Err(StorageError::CannotHold(format!(
            "a file begins at {at} B of its cartridge, which holds {longest} B"
        ))),
        None => Ok(()),
    }
}

/// Returns what the meters of a component say, from the beginning to `now`.
fn meters(arena: Arena, id: NodeId, now: Nanos) -> Vec<(&'static str, Option<f64>)> {
    let readings = MeterReading::of(arena, id, now).meters;
    let value = |kind: MeterKind, reading| kind.value(std::iter::once(reading), 1e-9 * now.0 as f64);
    let named = run::meters(arena, id, now).into_iter().zip(&readings);
    named.map(|((name, kind), reading)| (name, value(kind, *reading))).collect()
}
