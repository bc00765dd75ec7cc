//! A replication while it runs: the sources of its requests, and who watches it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use headrace_kernel::{Pool, RngStream, Sim};
use headrace_storage::{Arena, CartridgeSession, Edge, SimContext, Trigger};
use headrace_units::Nanos;
use headrace_work::{Block, FileOp, Request};
use headrace_workload::{Arrivals, Requests, WhenFull};

use super::faults::FaultsByCount;
use super::options::End;
use super::steps::Training;
use super::still::Still;
use super::turns::Turns;
use crate::plan::{Plan, StreamPlan};
use crate::progress::Progress;
use crate::record::Record;

/// Maximum number of events, or of requests in a recursion, between two looks at progress and limits.
const STRIDE: u64 = 1 << 14;

/// Real time between two looks, about: events that take long are looked at more often.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// Simulated time ends here, after 146 years: beyond it instants could no longer be added.
pub const END_OF_TIME: Nanos = Nanos(1 << 62);

/// Number of threads that streams have in all.
pub fn threads(streams: &[StreamPlan]) -> u32 {
    streams.iter().map(|stream| stream.spec.threads()).sum()
}

/// A replication while it runs.
pub struct Replication<'m> {
    pub plan: &'m Plan,
    pub seed: u64,
    pub shared: &'m SimContext<'m>,
    pub arena: Arena<'m>,
    /// One for each stream.
    pub sources: &'m [RequestSource<'m>],
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
    /// The threads that its clients belong to: how many come before its own, and its own.
    threads: (u32, u32),
    /// True if its requests are triggers, which become events.
    pub is_trigger: bool,
    /// True if its operations are sessions of cartridges.
    pub is_session: bool,
}

impl<'m> RequestSource<'m> {
    /// The sources of all streams; `logged` says whether their requests are handed out.
    pub fn of_all(plan: &Plan, drawn: (u64, bool), arena: Arena<'m>, sim: &'m Sim<'m>) -> Vec<Self> {
        let mut threads = 0;
        let source = |stream: &StreamPlan| {
            let own = stream.spec.threads();
            threads += own;
            Self::new(plan, stream, drawn, (threads - own, own), (arena, sim))
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
        Self {
            edge: arena.edge_to(stream.target),
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
            threads,
            is_trigger: target.serves::<Trigger>(),
            is_session: target.serves::<CartridgeSession>(),
        }
    }

    /// The thread that a client belongs to, counted from 1 over all streams; 0 for none.
    pub fn thread(&self, client: u32) -> u32 {
        let (before, own) = self.threads;
        if own == 0 { 0 } else { before + client % own + 1 }
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
        request.priority = self.priority;
        measured
    }

    /// Waits for room, or gives whether there is some, as the stream says.
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

/// When a run must end although it is not done.
pub struct Deadline<'p> {
    progress: &'p Progress,
    began: std::time::Instant,
    longest: std::time::Duration,
}

impl<'p> Deadline<'p> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit on real time, which ends a run and never changes one"
    )]
    pub fn new(plan: &Plan, progress: &'p Progress) -> Self {
        let longest = std::time::Duration::from_nanos(plan.run().limits.wall_time.0);
        Self { progress, began: std::time::Instant::now(), longest }
    }

    /// Why the run must end now, if it must.
    pub fn end(&self) -> Option<End> {
        match self.progress.is_cancelled() {
            true => Some(End::Cancelled),
            false => (self.began.elapsed() > self.longest).then_some(End::TooLong),
        }
    }
}

/// Tells the watcher how far the run is, and whether it may go on.
pub struct Watch<'p> {
    deadline: &'p Deadline<'p>,
    told: u64,
    /// Number of events until the next look.
    stride: u64,
    looked: std::time::Instant,
    /// When the run ends, where its time alone ends it.
    until: Option<Nanos>,
}

impl<'p> Watch<'p> {
    pub fn new(plan: &Plan, deadline: &'p Deadline<'p>) -> Self {
        let until = plan.run().time.filter(|_| plan.requests() == u64::MAX);
        Self { deadline, told: 0, stride: STRIDE >> 8, looked: deadline.began, until }
    }

    /// Number of events until the next look.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Adapts the stride to the real time that the last one took.
    #[expect(clippy::disallowed_methods, reason = "the real time between looks, which changes no run")]
    fn pace(&mut self) {
        let now = std::time::Instant::now();
        let took = now - self.looked;
        self.looked = now;
        self.stride = if took > LOOK { (self.stride / 4).max(1) } else { (self.stride * 2).min(STRIDE) };
    }

    /// Estimates the number of requests until a run of given time ends, from those `answered` until `now`.
    fn estimate(&self, answered: u64, now: Nanos, replications: u32) {
        if let Some(until) = self.until.filter(|_| answered > 0 && now > Nanos::ZERO) {
            let wanted = answered as f64 * f64::from(replications) * (until.secs() / now.secs());
            self.deadline.progress.wanted.store(wanted as u64, Ordering::Relaxed);
        }
    }

    /// As [`Watch::look`], at most once every stride of requests.
    pub fn look_at_intervals(&mut self, answered: u64, replication: &Replication) -> Option<End> {
        if answered - self.told < self.stride { None } else { self.look(answered, replication) }
    }

    /// Reports how many requests were answered; returns why the run must end, if it must.
    pub fn look(&mut self, answered: u64, replication: &Replication) -> Option<End> {
        self.pace();
        let progress = self.deadline.progress;
        if progress.wants_queues.swap(false, Ordering::Relaxed) {
            *progress.queues.lock().expect("nobody panicked with it") = longest_queues(replication);
        }
        progress.answered.fetch_add(answered - self.told, Ordering::Relaxed);
        self.told = answered;
        self.estimate(answered, replication.shared.sim.now(), replication.plan.run().replications);
        self.deadline.end()
    }
}

/// The longest queues, at most three: where, and how many requests wait.
fn longest_queues(replication: &Replication) -> Vec<(String, u64)> {
    let now = replication.shared.sim.now();
    let waiting = |id| {
        let component = replication.arena.component(id);
        (replication.arena.context(id).path, component.activity(now).map_or(0, |activity| activity.waiting))
    };
    let mut queues: Vec<(&str, u64)> = replication.arena.ids().map(waiting).collect();
    queues.sort_by_key(|(_, waiting)| std::cmp::Reverse(*waiting));
    queues.retain(|(_, waiting)| *waiting > 0);
    queues.iter().take(3).map(|(path, waiting)| ((*path).to_owned(), *waiting)).collect()
}
