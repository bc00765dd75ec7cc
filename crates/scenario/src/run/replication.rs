//! A replication while it runs, and the sources of its requests.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Pool, RngStream, Sim, WorkerPool};
use headrace_storage::{
    Archive, Arena, CartridgeSession, Computing, Dispatcher, Edge, SimContext, StreamThreads, Trigger,
};
use headrace_units::Nanos;
use headrace_work::{Block, Cause, FileOp, FilePlace, Request};
use headrace_workload::{Arrivals, Requests, StepSpec, WhenFull};

use super::faults::FaultsByCount;
use super::options::End;
use super::still::Still;
use super::training::Training;
use super::turns::Turns;
use crate::plan::{Plan, StreamPlan};
use crate::record::Record;

/// Simulated time ends here, after 146 years: beyond it instants could no longer be added.
pub const END_OF_TIME: Nanos = Nanos(1 << 62);

/// Returns the threads of each stream, in the order of their numbers.
pub fn threads(streams: &[StreamPlan]) -> Vec<StreamThreads> {
    let of =
        |stream: &StreamPlan| StreamThreads { stream: stream.name.clone(), number: stream.spec.threads() };
    streams.iter().map(of).collect()
}

/// A request that nobody waits for, or whose client can give up, is a job of this worker pool: the next of a stream, sent by a thread of
/// its server (0 for none). Returns true if it did not fail.
pub type Hosts<'m> = WorkerPool<'m, (usize, u32), bool>;

/// A replication while it runs.
pub struct Replication<'m> {
    pub plan: &'m Plan,
    pub seed: u64,
    pub shared: &'m SimContext<'m>,
    pub arena: Arena<'m>,
    /// One for each stream.
    pub sources: &'m [RequestSource<'m>],
    /// The ways by which a program that embeds the simulation sends requests; none in a run.
    pub callers: &'m [Option<Edge<'m>>],
    pub record: &'m RefCell<Record<'m>>,
    pub end: Cell<Option<End>>,
    pub still: Still,
    /// The faults that come after a number of requests.
    pub counted: FaultsByCount,
}

/// Where the requests of a stream come from.
pub struct RequestSource<'m> {
    /// The way to its component.
    pub edge: Edge<'m>,
    /// The ways from several servers, of which each accelerator has one, and how many threads an accelerator has.
    of_accelerators: Option<(&'m [Edge<'m>], u32)>,
    /// Draws its requests, unless they are recorded.
    pub requests: RefCell<Requests>,
    /// Recorded requests that are due, each with the response that was measured.
    pub recorded: RefCell<VecDeque<(Request<Block>, Option<Nanos>)>>,
    is_recorded: bool,
    /// Recorded operations on files that are due, likewise; those of a replay that keeps gaps wait for their turn.
    pub files: RefCell<VecDeque<(Request<FileOp>, Option<Nanos>)>>,
    pub turns: Turns<'m>,
    /// Training, where it is that: its reads are put with the recorded requests.
    pub training: Option<Training<'m>>,
    /// Room for requests in flight, where that is limited.
    pub room: Option<Pool<'m>>,
    when_full: WhenFull,
    /// Time for which its hosts wait for an answer.
    pub timeout: Option<Nanos>,
    pub priority: u8,
    pub cause: Cause,
    /// The threads that its clients belong to: how many come before its own, and its own.
    threads: (u32, u32),
    /// True if its threads run on the cores of a server.
    pub has_server: bool,
    /// True if its requests are triggers, which become events.
    pub is_trigger: bool,
    /// True if its operations are sessions of cartridges.
    pub is_session: bool,
}

impl<'m> RequestSource<'m> {
    /// The sources of all streams; `logged` says whether their requests are handed out. Archives take the files that are older than their logs.
    pub fn of_all(plan: &Plan, drawn: (u64, bool), arena: Arena<'m>, sim: &'m Sim<'m>) -> Vec<Self> {
        let mut threads = 0;
        let source = |stream: &StreamPlan| {
            let own = stream.spec.threads();
            threads += own;
            let source = Self::new(plan, stream, drawn, (threads - own, own), (arena, sim));
            source.begin_with_older_files(stream);
            source
        };
        plan.streams.iter().map(source).collect()
    }

    fn new(
        plan: &Plan,
        stream: &StreamPlan,
        (seed, logged): (u64, bool),
        threads: (u32, u32),
        (arena, sim): (Arena<'m>, &'m Sim<'m>),
    ) -> Self {
        let target = plan.graph.view(stream.target);
        let draws = RngStream::named(seed, &stream.name, "requests");
        let requests = Requests::new(&stream.spec, target.capacity().0, draws).in_files(stream.extents);
        // What hands requests on does so by their addresses, even where the time that they take does not depend on them.
        let addressed = logged || target.addressed() || target.uses().next().is_some();
        let room = stream.spec.outstanding.map(|most| Pool::new(sim, u64::from(most), u64::from(most)));
        let edge = arena.edge_to(stream.target);
        let of_servers = edge.get::<Dispatcher>().and_then(Dispatcher::of_servers);
        let threads_each = stream.spec.steps().map(StepSpec::threads_each);
        Self {
            of_accelerators: of_servers.zip(threads_each),
            edge,
            requests: RefCell::new(if addressed { requests } else { requests.without_addresses() }),
            recorded: RefCell::default(),
            is_recorded: stream.trace.is_some() || stream.spec.steps().is_some(),
            files: RefCell::default(),
            turns: Turns::new(sim),
            training: Training::new(&stream.spec, target.capacity().0, (seed, &stream.name), sim),
            room,
            when_full: stream.spec.when_full,
            timeout: stream.spec.timeout,
            priority: stream.spec.priority,
            cause: stream.spec.cause,
            threads,
            has_server: target.serves::<Computing>() || of_servers.is_some(),
            is_trigger: target.serves::<Trigger>(),
            is_session: target.serves::<CartridgeSession>(),
        }
    }

    /// Has the archive of its stream begin with the files that are older than its log.
    fn begin_with_older_files(&self, stream: &StreamPlan) {
        let surveys = stream.log.iter().map(|log| &log.survey);
        for (file, places) in
            surveys.flat_map(|survey| survey.older.iter().map(|file| (file, &survey.places)))
        {
            let on_tape = || FilePlace::Tape(places.get(&file.file).copied());
            let place = if file.on_tape { on_tape() } else { FilePlace::Pool };
            let archive = self.edge.get::<Archive>().expect("older files are those of an archive");
            let fits = archive.begin_with(file.file, file.bytes, place);
            assert!(fits, "a plan has no more older files than fit into the pool");
        }
    }

    /// The thread that a client belongs to, counted from 1 over all streams; 0 for none.
    pub fn thread(&self, client: u32) -> u32 {
        let (before, own) = self.threads;
        if own == 0 { 0 } else { before + client % own + 1 }
    }

    /// The way of a request of a thread: accelerators are shared out among servers, one after another.
    #[inline]
    pub fn way(&self, thread: u32) -> &Edge<'m> {
        match self.of_accelerators {
            None => &self.edge,
            Some((ways, each)) => &ways[((thread - 1 - self.threads.0) / each) as usize % ways.len()],
        }
    }

    /// Writes its next request to `request`; gives the response that was measured, where one was.
    #[inline]
    pub fn next(&self, request: &mut Request<Block>) -> Option<Nanos> {
        let mut measured = None;
        if self.is_recorded {
            let recorded = self.recorded.borrow_mut().pop_front();
            (*request, measured) = recorded.expect("a recorded request is put here before it is sent");
        } else {
            self.requests.borrow_mut().make(request);
        }
        (request.priority, request.cause) = (self.priority, self.cause);
        measured
    }

    /// Waits for room, if the stream does, and returns true; if it drops requests instead, returns false where there is no room.
    pub async fn has_room(&'m self) -> bool {
        let Some(room) = &self.room else { return true };
        match self.when_full {
            WhenFull::Drop => room.try_take(1),
            WhenFull::Wait => {
                room.take(1).await;
                true
            }
        }
    }

    /// A request is no longer in flight.
    pub fn leave(&self) {
        if let Some(room) = &self.room {
            room.put(1);
        }
    }

    /// The time for which the source was blocked.
    pub fn blocked(&self, now: Nanos) -> Nanos {
        let area = self.room.as_ref().map_or(0, |room| room.waits().queue.area(now));
        Nanos(u64::try_from(area).unwrap_or(u64::MAX))
    }
}

impl<'m> Replication<'m> {
    /// The random stream of a stream of requests for `purpose`.
    pub fn stream(&self, stream: &StreamPlan, purpose: &str) -> RngStream {
        RngStream::named(self.seed, &stream.name, purpose)
    }

    /// The arrivals of a stream, where it is open.
    pub fn arrivals(&self, stream: &StreamPlan) -> Option<Arrivals> {
        Arrivals::new(&stream.spec.arrivals, self.stream(stream, "arrivals"))
    }

    /// Applies the faults that are due once `finished` requests have ended.
    #[inline]
    pub fn faults_after(&self, finished: u64) {
        while let Some(fault) = self.counted.take(finished) {
            fault.happen(self.arena);
        }
    }

    /// Ends the run.
    pub fn stop(&self, end: End) {
        self.end.set(Some(end));
        self.shared.sim.stop();
    }
}
