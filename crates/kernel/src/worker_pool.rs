//! Worker pools: processes that live long and do one job after another.
//!
//! A job of a worker pool costs no allocation and moves no boxed future: a member that is idle takes it from the desk, does it,
//! and rests. A member is hired only when none is idle. Jobs begin at once, within the poll of the process that starts
//! them, so a job that needs no waiting costs no event.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::join::{Joins, NO_JOIN};
use crate::sim::Sim;
use crate::tasks::NOBODY;
use crate::tasks::TaskId;

/// Processes that do jobs of one kind, each job of type `J` giving a `T`.
///
/// ```
/// use headrace_kernel::{Resource, Sim, WorkerPool};
/// use headrace_units::Nanos;
///
/// let sim = Sim::new();
/// let disks = [Resource::fcfs(&sim, 1), Resource::fcfs(&sim, 1)];
/// let (sim, disks) = (&sim, &disks);
/// let reads = &WorkerPool::new(sim, |disk: usize| disks[disk].serve(Nanos(5 + disk as u64)));
/// sim.spawn(async move {
///     reads.first(1, [0, 1]).await; // The faster of two copies.
///     assert_eq!(sim.now(), Nanos(5));
///     reads.all([0, 1]).await; // The slower disk still has to do its first read.
///     assert_eq!(sim.now(), Nanos(12));
/// });
/// sim.run(Nanos::MAX, u64::MAX);
/// assert_eq!(reads.members(), 3);
/// sim.finish();
/// ```
///
/// Jobs that start jobs run within each other, as deep as the model is nested. A worker pool is borrowed for `'m`, so neither
/// type may have a destructor that sees what is borrowed for `'m`.
pub struct WorkerPool<'m, J, T = ()> {
    sim: &'m Sim<'m>,
    number: usize,
    state: Rc<PoolState<J, T>>,
}

/// State shared by a worker pool and its workers.
struct PoolState<J, T> {
    /// The job to be taken by the member polled next, and the join that it belongs to.
    job: Cell<Option<(J, u32)>>,
    /// The member that rested last; nobody if all are busy. Each member knows who rested before it.
    idle: Cell<TaskId>,
    joins: RefCell<Joins<T>>,
    members: Cell<usize>,
}

impl<J, T> Default for PoolState<J, T> {
    fn default() -> Self {
        Self {
            job: Cell::new(None),
            idle: Cell::new(NOBODY),
            joins: RefCell::default(),
            members: Cell::new(0),
        }
    }
}

impl<J, T> PoolState<J, T> {
    #[inline]
    fn next_job(&self) -> Poll<(J, u32)> {
        self.job.take().map_or(Poll::Pending, Poll::Ready)
    }

    /// Tells a join that a job is done. Gives the parent to be woken.
    #[inline]
    fn report(&self, join: u32, output: T) -> Option<TaskId> {
        if join == NO_JOIN {
            return None;
        }
        let (parent, unused) = self.joins.borrow_mut().job_done(join, output);
        drop(unused);
        parent
    }
}

/// The life of a member.
async fn member<J, T, F: Future<Output = T>>(
    sim: &Sim<'_>,
    state: Rc<PoolState<J, T>>,
    work: Rc<impl Fn(J) -> F>,
) {
    let mut below = NOBODY;
    loop {
        let (job, join) = poll_fn(|_| state.next_job()).await;
        state.idle.set(below);
        let output = work(job).await;
        let Some(rested) = sim.rest() else { return };
        if let Some(parent) = state.report(join, output) {
            sim.wake(parent);
        }
        below = state.idle.replace(rested);
    }
}

impl<'m, J: 'm, T: 'm> WorkerPool<'m, J, T> {
    /// A worker pool without members. `work` turns a job into its process.
    pub fn new<F: Future<Output = T> + 'm>(sim: &'m Sim<'m>, work: impl Fn(J) -> F + 'm) -> Self {
        let (state, work) = (Rc::new(PoolState::default()), Rc::new(work));
        let shared = Rc::clone(&state);
        let number = sim.add_pool(move || Box::pin(member(sim, Rc::clone(&shared), Rc::clone(&work))));
        Self { sim, number, state }
    }

    /// Starts a job that nobody waits for. It runs at once up to its first wait, and this returns then.
    #[inline]
    pub fn start(&'m self, job: J) {
        self.begin(self.free_member(), job, NO_JOIN);
    }

    /// Starts all `jobs`, each at once, and waits until the last is done. Gives what that one gave, for it is the job that
    /// the others waited for; `None` if there are no jobs.
    pub fn all(&'m self, jobs: impl IntoIterator<Item = J>) -> Join<'m, J, T> {
        let join = self.state.joins.borrow_mut().open(usize::MAX);
        self.begin_all(join, jobs);
        self.state.joins.borrow_mut().wait_for_all(join);
        Join { workers: self, join }
    }

    /// Starts all `jobs`, each at once, and waits until `k` of them are done. Gives what the `k`-th to finish gave; `None`
    /// if `k` is zero. The others go on, and nobody waits for them.
    ///
    /// # Panics
    /// If there are fewer than `k` jobs: the wait would have no end.
    pub fn first(&'m self, k: usize, jobs: impl IntoIterator<Item = J>) -> Join<'m, J, T> {
        let join = self.state.joins.borrow_mut().open(k);
        let started = self.begin_all(join, jobs);
        assert!(k <= started, "{k} of {started} jobs are waited for");
        Join { workers: self, join }
    }

    /// Returns the number of workers: the largest number of jobs in flight at once, without workers whose jobs were dropped.
    pub fn members(&self) -> usize {
        self.state.members.get()
    }

    fn begin_all(&'m self, join: u32, jobs: impl IntoIterator<Item = J>) -> usize {
        let mut started = 0;
        for job in jobs {
            let member = self.free_member();
            self.state.joins.borrow_mut().job_begins(join, member);
            self.begin(member, job, join);
            started += 1;
        }
        started
    }

    /// The idle member that takes the next job, or a new one.
    #[inline]
    fn free_member(&self) -> TaskId {
        let idle = self.state.idle.get();
        if idle == NOBODY { self.spawn_worker() } else { idle }
    }

    #[cold]
    fn spawn_worker(&self) -> TaskId {
        self.state.members.set(self.state.members.get() + 1);
        self.sim.spawn_worker(self.number)
    }

    #[inline]
    fn begin(&self, member: TaskId, job: J, join: u32) {
        self.state.job.set(Some((job, join)));
        self.sim.rouse();
        self.sim.poll(member);
    }
}

/// A wait for jobs: see [`WorkerPool::all`] and [`WorkerPool::first`]. If it is dropped before it is over, the jobs that are not done
/// are dropped too: they leave their queues and let go of what they hold.
#[must_use = "jobs are waited for only when the join is awaited"]
pub struct Join<'m, J, T> {
    workers: &'m WorkerPool<'m, J, T>,
    join: u32,
}

impl<J, T> Future for Join<'_, J, T> {
    type Output = Option<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<T>> {
        let parent = self.workers.sim.current();
        self.workers.state.joins.borrow_mut().poll(self.join, parent)
    }
}

impl<J, T> Join<'_, J, T> {
    /// Stops waiting: unfinished jobs continue on their own. A join that is dropped ends them.
    pub fn leave(self) {
        self.workers.state.joins.borrow_mut().want_no_more(self.join);
    }

    /// Ends the jobs, the newest first: those that wait then leave before others give them a server.
    #[cold]
    fn cancel(&self) {
        let state = &self.workers.state;
        let members = state.joins.borrow_mut().cancel(self.join);
        let ended = members.into_iter().rev().filter(|member| self.workers.sim.end(*member)).count();
        state.members.set(state.members.get() - ended);
    }
}

impl<J, T> Drop for Join<'_, J, T> {
    #[inline]
    fn drop(&mut self) {
        if self.workers.sim.is_finished() {
            return;
        }
        let (over, unused) = self.workers.state.joins.borrow_mut().close(self.join);
        drop(unused);
        if !over {
            self.cancel();
        }
    }
}
