//! The executor: processes, virtual time, and the loop that brings them together.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use headrace_units::Nanos;

use crate::queue::{EventQueue, TaskId};

/// A process: a future that lives at most as long as the model `'m` it acts on.
pub type Process<'m> = Pin<Box<dyn Future<Output = ()> + 'm>>;

/// No task: the end of a list, or nobody running.
pub(crate) const NOBODY: TaskId = TaskId::MAX;

/// One simulation: virtual time, the event queue, and the processes that live in it.
///
/// Processes borrow the simulation and the model's components for `'m`, so both are made before the first process and
/// outlive the last. A process is polled when something it waits for may have happened, and checks for itself.
pub struct Sim<'m> {
    queue: RefCell<EventQueue>,
    /// Without drop glue, for its processes borrow what may be gone when the simulation drops; [`Sim::finish`] drops them.
    tasks: ManuallyDrop<RefCell<Tasks<'m>>>,
    current: Cell<TaskId>,
    events: Cell<u64>,
    finished: Cell<bool>,
    stopped: Cell<bool>,
}

/// A slab of processes; free slots form a list.
struct Tasks<'m> {
    slots: Vec<Slot<'m>>,
    free: TaskId,
    live: usize,
}

struct Slot<'m> {
    process: Option<Process<'m>>,
    /// In a free slot, the next free one; in a branch's, the branch before it.
    next: TaskId,
    /// A branch's slot is kept until its join is over: another's process in it would be taken for the branch.
    branch: bool,
}

/// Why [`Sim::run`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Nothing is left to happen.
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
            queue: RefCell::default(),
            tasks: ManuallyDrop::new(RefCell::new(Tasks { slots: Vec::new(), free: NOBODY, live: 0 })),
            current: Cell::new(NOBODY),
            events: Cell::new(0),
            finished: Cell::new(false),
            stopped: Cell::new(false),
        }
    }

    /// The present instant.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.queue.borrow().now()
    }

    /// How many events have happened.
    pub fn events(&self) -> u64 {
        self.events.get()
    }

    /// How many processes are alive.
    pub fn processes(&self) -> usize {
        self.tasks.borrow().live
    }

    /// Starts a process at the present instant, after everything already due.
    pub fn spawn(&self, process: impl Future<Output = ()> + 'm) {
        self.start(Box::pin(process), None);
    }

    /// Starts a branch of a join. Its slot stays taken after its end, and remembers `older`, the branch before it,
    /// until [`Sim::end_branches`] frees them all.
    pub(crate) fn spawn_branch(&self, process: Process<'m>, older: TaskId) -> TaskId {
        self.start(process, Some(older))
    }

    fn start(&self, process: Process<'m>, older: Option<TaskId>) -> TaskId {
        let task = self.tasks.borrow_mut().insert(process, older);
        self.wake(task);
        task
    }

    /// Drops the branches from `newest` back to the first, wherever they are, and frees their slots.
    pub(crate) fn end_branches(&self, newest: TaskId) {
        let mut branch = newest;
        while branch != NOBODY {
            let (process, older) = self.tasks.borrow_mut().end_branch(branch);
            drop(process); // With the slab released: a guard that drops may wake others.
            branch = older;
        }
    }

    /// Has `task` polled at the present instant, after everything already due.
    #[inline]
    pub(crate) fn wake(&self, task: TaskId) {
        let mut queue = self.queue.borrow_mut();
        let now = queue.now();
        queue.push(now, task);
    }

    /// Has `task` polled at `time`.
    #[inline]
    pub(crate) fn wake_at(&self, time: Nanos, task: TaskId) {
        self.queue.borrow_mut().push(time, task);
    }

    /// The process being polled.
    #[inline]
    pub(crate) fn current(&self) -> TaskId {
        self.current.get()
    }

    /// Whether the run is over and processes are being dropped: guards then do nothing.
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.get()
    }

    /// Waits for `span`.
    #[inline]
    pub fn delay(&'m self, span: Nanos) -> Delay<'m> {
        self.until(self.now() + span)
    }

    /// Waits until `time`; not at all where that has passed.
    #[inline]
    pub fn until(&'m self, time: Nanos) -> Delay<'m> {
        Delay { sim: self, until: time, scheduled: false }
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
            let Some(task) = self.queue.borrow_mut().pop(until) else {
                self.events.set(self.events.get() + done);
                return if self.queue.borrow().is_empty() { Pause::Idle } else { Pause::Time };
            };
            self.poll(task);
        }
        self.events.set(self.events.get() + events);
        Pause::Events
    }

    #[inline]
    fn poll(&self, task: TaskId) {
        let Some(mut process) = self.tasks.borrow_mut().take(task) else {
            return; // It ended, or was cancelled, before a wake meant for it.
        };
        self.current.set(task);
        let state = process.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.current.set(NOBODY);
        match state {
            Poll::Pending => self.tasks.borrow_mut().put_back(task, process),
            Poll::Ready(()) => self.tasks.borrow_mut().ended(task),
        }
    }

    /// Ends the simulation: drops every process. Their guards do nothing any more.
    pub fn finish(&self) {
        self.finished.set(true);
        let slots = std::mem::take(&mut self.tasks.borrow_mut().slots);
        drop(slots);
    }
}

impl<'m> Tasks<'m> {
    #[inline]
    fn insert(&mut self, process: Process<'m>, older: Option<TaskId>) -> TaskId {
        self.live += 1;
        let slot = Slot { process: Some(process), next: older.unwrap_or(NOBODY), branch: older.is_some() };
        let task = self.free;
        if let Some(free) = self.slots.get_mut(task as usize) {
            self.free = free.next;
            *free = slot;
            return task;
        }
        assert!(self.slots.len() < NOBODY as usize, "more than {NOBODY} processes at once");
        self.slots.push(slot);
        (self.slots.len() - 1) as TaskId
    }

    #[inline]
    fn take(&mut self, task: TaskId) -> Option<Process<'m>> {
        self.slots.get_mut(task as usize)?.process.take()
    }

    #[inline]
    fn put_back(&mut self, task: TaskId, process: Process<'m>) {
        self.slots[task as usize].process = Some(process);
    }

    #[inline]
    fn ended(&mut self, task: TaskId) {
        self.live -= 1;
        if !self.slots[task as usize].branch {
            self.free(task);
        }
    }

    /// Frees the slot of a branch; gives its process, where it has not ended, and the branch before it.
    fn end_branch(&mut self, task: TaskId) -> (Option<Process<'m>>, TaskId) {
        let process = self.take(task);
        self.live -= usize::from(process.is_some());
        let older = self.slots[task as usize].next;
        self.free(task);
        (process, older)
    }

    #[inline]
    fn free(&mut self, task: TaskId) {
        let slot = &mut self.slots[task as usize];
        slot.next = self.free;
        self.free = task;
    }
}

/// A wait in virtual time: see [`Sim::delay`].
#[must_use = "a delay passes only when it is awaited"]
pub struct Delay<'m> {
    sim: &'m Sim<'m>,
    until: Nanos,
    scheduled: bool,
}

impl Future for Delay<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.sim.now() >= self.until {
            return Poll::Ready(());
        }
        if !self.scheduled {
            self.scheduled = true;
            self.sim.wake_at(self.until, self.sim.current());
        }
        Poll::Pending
    }
}
