//! The executor: processes, virtual time, and the loop that brings them together.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::task::{Context, Poll, Waker};

use headrace_units::Nanos;

use crate::queue::EventQueue;
use crate::tasks::{NEXT_WAKE, NOBODY, Process, TaskId, Tasks};

/// One simulation: virtual time, the event queue, and the processes that live in it.
///
/// Processes borrow the simulation and the model's components for `'m`, so both are made before the first process and
/// outlive the last. A process is polled when something it waits for may have happened, and checks for itself.
pub struct Sim<'m> {
    now: Cell<Nanos>,
    queue: RefCell<EventQueue>,
    /// Without drop glue, for its processes borrow what may be gone when the simulation drops; [`Sim::finish`] drops them.
    tasks: ManuallyDrop<RefCell<Tasks<'m>>>,
    /// Makers of new workers of worker pools; kept here because the workers are.
    spawners: ManuallyDrop<RefCell<Vec<Hirer<'m>>>>,
    /// Processes that have not ended, without members of worker pools that rest.
    live: Cell<usize>,
    /// The next wake of the process being polled.
    current: Cell<TaskId>,
    events: Cell<u64>,
    finished: Cell<bool>,
    stopped: Cell<bool>,
}

/// Makes a new member of a worker pool.
type Hirer<'m> = Box<dyn Fn() -> Process<'m> + 'm>;

/// Why [`Sim::run`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// No events are left.
    Idle,
    /// A process called [`Sim::stop`].
    Stopped,
    /// The next event lies beyond the time given.
    Time,
    /// The number of events given has happened.
    Events,
}

impl<'m> Default for Sim<'m> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'m> Sim<'m> {
    /// A simulation at time zero, with no processes.
    pub fn new() -> Self {
        Self {
            now: Cell::default(),
            queue: RefCell::default(),
            tasks: ManuallyDrop::default(),
            spawners: ManuallyDrop::default(),
            live: Cell::new(0),
            current: Cell::new(NOBODY),
            events: Cell::new(0),
            finished: Cell::new(false),
            stopped: Cell::new(false),
        }
    }

    /// The present instant.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now.get()
    }

    /// Returns the number of events so far. What a process starts at once is part of the event that it runs in.
    pub fn events(&self) -> u64 {
        self.events.get()
    }

    /// Returns the number of live processes. A worker of a pool counts while it has a job.
    pub fn processes(&self) -> usize {
        self.live.get()
    }

    /// Starts a process at the present instant, after everything already due.
    pub fn spawn(&self, process: impl Future<Output = ()> + 'm) {
        let task = self.tasks.borrow_mut().insert(Box::pin(process));
        self.rouse();
        self.wake(task);
    }

    /// Schedules a poll of `task` at the present instant, after everything already due.
    #[inline]
    pub(crate) fn wake(&self, task: TaskId) {
        self.queue.borrow_mut().push(self.now(), task);
    }

    /// Returns true if nothing more is due at this instant.
    #[inline]
    pub fn is_settled(&self) -> bool {
        !self.queue.borrow().is_due()
    }

    /// Wakes `task` at `time`. This is scheduled after everything already due has happened, as if `task` were polled
    /// then and asked for it.
    #[inline]
    pub(crate) fn put_off(&self, time: Nanos, task: TaskId) {
        self.queue.borrow_mut().put_off(time, task);
    }

    /// Wakes the process being polled at `time`. Returns the wake, by which it can be given up.
    #[inline]
    pub(crate) fn schedule(&self, time: Nanos) -> TaskId {
        let wake = self.reserve();
        self.queue.borrow_mut().push(time, wake);
        wake
    }

    /// A wake of the process being polled that no other wait uses.
    #[inline]
    pub(crate) fn reserve(&self) -> TaskId {
        let wake = self.current.get();
        self.current.set(wake.wrapping_add(NEXT_WAKE));
        wake
    }

    /// Takes back a scheduled wake, unless it is due.
    #[cold]
    pub(crate) fn give_up(&self, time: Nanos, wake: TaskId) {
        if !self.is_finished() {
            self.queue.borrow_mut().give_up(time, wake);
        }
    }

    /// Takes back a wake that was put off. At its turn the process is polled, which does no harm.
    #[cold]
    pub(crate) fn give_up_put_off(&self, time: Nanos, wake: TaskId) {
        self.queue.borrow_mut().give_up_put_off(time, wake);
    }

    /// A wake of the process being polled.
    #[inline]
    pub(crate) fn current(&self) -> TaskId {
        self.current.get()
    }

    /// Returns true if the run is over and processes are being dropped: guards then do nothing.
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.is_over()
    }

    /// Returns true if the simulation has ended and its processes are being dropped: guards of models then have nothing to give back.
    pub fn is_over(&self) -> bool {
        self.finished.get()
    }

    /// Makes [`Sim::run`] come back after the present event.
    pub fn stop(&self) {
        self.stopped.set(true);
    }

    /// Lets events happen until nothing is left, a process stops the run, the next event lies beyond `until`, or
    /// `events` have happened. It may be called again to go on.
    pub fn run(&self, until: Nanos, events: u64) -> Pause {
        for done in 0..events {
            if self.stopped.replace(false) {
                self.events.set(self.events.get() + done);
                return Pause::Stopped;
            }
            let Some(task) = self.next(until) else {
                self.events.set(self.events.get() + done);
                return if self.queue.borrow().is_empty() { Pause::Idle } else { Pause::Time };
            };
            self.poll(task);
        }
        self.events.set(self.events.get() + events);
        Pause::Events
    }

    #[inline]
    fn next(&self, until: Nanos) -> Option<TaskId> {
        let mut queue = self.queue.borrow_mut();
        let task = queue.pop(until)?;
        self.now.set(queue.now());
        Some(task)
    }

    /// Polls a process, within the poll of another where there is one. Stale wakes do nothing.
    #[inline]
    pub(crate) fn poll(&self, wake: TaskId) {
        let Some((mut process, next)) = self.tasks.borrow_mut().take(wake) else { return };
        let outer = self.current.replace(next);
        let state = process.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let next = self.current.replace(outer);
        match state {
            Poll::Pending => {
                let doomed = self.tasks.borrow_mut().put_back(next, process);
                drop(doomed);
            }
            Poll::Ready(()) => {
                let by_itself = self.tasks.borrow_mut().ended(next);
                self.live.set(self.live.get() - usize::from(by_itself));
            }
        }
    }

    /// Ends a process before its time, unless the wake is stale; returns true if it did. Nothing is borrowed while the
    /// process drops, so its guards may wake others.
    pub(crate) fn end(&self, wake: TaskId) -> bool {
        let ended = self.tasks.borrow_mut().end(wake);
        self.live.set(self.live.get() - usize::from(ended.is_some()));
        ended.is_some()
    }

    /// Ends the simulation: drops every process. Their guards do nothing any more.
    pub fn finish(&self) {
        self.finished.set(true);
        let processes = self.tasks.borrow_mut().take_all();
        drop(processes);
        self.live.set(0);
        let spawners = std::mem::take(&mut *self.spawners.borrow_mut());
        drop(spawners);
    }
}

/// Members of worker pools.
impl<'m> Sim<'m> {
    /// Keeps what makes the members of a worker pool. Gives the worker pool's number.
    pub(crate) fn add_pool(&self, hirer: impl Fn() -> Process<'m> + 'm) -> usize {
        let mut spawners = self.spawners.borrow_mut();
        spawners.push(Box::new(hirer));
        spawners.len() - 1
    }

    /// A new member of a worker pool, which rests.
    #[cold]
    pub(crate) fn spawn_worker(&self, workers: usize) -> TaskId {
        let member = self.spawners.borrow()[workers]();
        self.tasks.borrow_mut().insert(member)
    }

    /// Counts a process as alive that is new, or that rested.
    #[inline]
    pub(crate) fn rouse(&self) {
        self.live.set(self.live.get() + 1);
    }

    /// The process being polled ends a job: wakes meant for that are stale. Gives the wake for its next job, `None`
    /// where the process was ended while it was polled.
    #[inline]
    pub(crate) fn rest(&self) -> Option<TaskId> {
        let next = self.tasks.borrow_mut().rest(self.current.get())?;
        self.current.set(next);
        self.live.set(self.live.get() - 1);
        Some(next)
    }
}
