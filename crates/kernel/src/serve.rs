//! A service from the arrival at the queue to the departure, as one future.
//!
//! A request that is granted a server is not polled to begin its service. The end of the service is scheduled for it, in
//! its turn among what is due, so the order of events is that of [`acquire`](Resource::acquire) and
//! [`delay`](crate::Sim::delay). A service costs one wake, whether there was a wait or not.

use std::cell::RefMut;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use headrace_units::Nanos;

use crate::discipline::{Discipline, Fcfs};
use crate::resource::{GrantStage, QueuedRequest, Resource, ResourceState};
use crate::tasks::TaskId;

/// A wait for a server and a service there: see [`Resource::serve_by`]. Dropped before it is over, it leaves the queue or
/// the server.
#[must_use = "nobody is served unless this is awaited"]
pub struct Serve<'m, D: Discipline = Fcfs> {
    resource: &'m Resource<'m, D>,
    key: Option<D::Key>,
    service: Nanos,
    phase: ServePhase,
}

#[derive(Clone, Copy)]
enum ServePhase {
    New,
    /// In the queue, or served after that.
    Queued {
        waiter: u32,
    },
    /// Served without a wait.
    Served {
        since: Nanos,
        end: TaskId,
    },
    Over,
}

impl<D: Discipline> Unpin for Serve<'_, D> {}

impl<'m> Resource<'m, Fcfs> {
    /// Waits for a server, holds it for `service`, and gives how long the wait was.
    #[inline]
    pub fn serve(&'m self, service: Nanos) -> Serve<'m> {
        self.serve_by((), service)
    }
}

impl<'m, D: Discipline> Resource<'m, D> {
    /// Waits for a server, holds it for `service`, and gives how long the wait was. `key` is what the discipline chooses
    /// by.
    #[inline]
    pub fn serve_by(&'m self, key: D::Key, service: Nanos) -> Serve<'m, D> {
        Serve { resource: self, key: Some(key), service, phase: ServePhase::New }
    }
}

impl<D: Discipline> Future for Serve<'_, D> {
    type Output = Nanos;

    #[inline(always)] // The compiler would not, and most of what a service costs is calls.
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Nanos> {
        match self.phase {
            ServePhase::New => self.arrive(),
            ServePhase::Queued { waiter } => self.look(waiter),
            ServePhase::Served { since, .. } => self.look_at_service(since),
            ServePhase::Over => panic!("a service that is over is not awaited again"),
        }
    }
}

impl<D: Discipline> Serve<'_, D> {
    #[inline]
    fn arrive(&mut self) -> Poll<Nanos> {
        let sim = self.resource.sim;
        let mut state = self.resource.state.borrow_mut();
        if !state.take_server(sim.now()) {
            let key = self.key.take().expect("a new request has a key");
            self.phase =
                ServePhase::Queued { waiter: state.enqueue(sim.reserve(), sim.now(), self.service, key) };
            return Poll::Pending;
        }
        if self.service == Nanos::ZERO {
            self.end(state, sim.now());
            return Poll::Ready(Nanos::ZERO);
        }
        self.phase = ServePhase::Served { since: sim.now(), end: sim.schedule(sim.now() + self.service) };
        Poll::Pending
    }

    /// Polls a request that was queued; ready with its waiting time once it has been served.
    #[inline]
    fn look(&mut self, waiter: u32) -> Poll<Nanos> {
        let mut state = self.resource.state.borrow_mut();
        let QueuedRequest { stage, since, end, .. } = state.waiters[waiter as usize];
        if stage != GrantStage::Granted || self.resource.sim.now() < end {
            return Poll::Pending;
        }
        state.free.push(waiter);
        let start = end - self.service;
        self.end(state, start);
        Poll::Ready(start - since)
    }

    /// Polls a service without a wait; ready once it is over.
    #[inline]
    fn look_at_service(&mut self, since: Nanos) -> Poll<Nanos> {
        if self.resource.sim.now() < since + self.service {
            return Poll::Pending;
        }
        self.end(self.resource.state.borrow_mut(), since);
        Poll::Ready(Nanos::ZERO)
    }

    /// Lets go of the server.
    #[inline]
    fn end(&mut self, mut state: RefMut<'_, ResourceState<D>>, since: Nanos) {
        self.phase = ServePhase::Over;
        if let Some((time, task)) = state.release(since, self.resource.sim.now()) {
            self.resource.sim.put_off(time, task);
        }
    }

    #[cold]
    fn give_up(&self) {
        let (resource, sim) = (self.resource, self.resource.sim);
        match self.phase {
            ServePhase::Queued { waiter } => {
                if let Some(QueuedRequest { task, end, .. }) = resource.leave(waiter) {
                    sim.give_up_put_off(end, task);
                    resource.release(end - self.service);
                }
            }
            ServePhase::Served { since, end } => {
                sim.give_up(since + self.service, end);
                resource.release(since);
            }
            ServePhase::New | ServePhase::Over => {}
        }
    }
}

impl<D: Discipline> Drop for Serve<'_, D> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.phase, ServePhase::New | ServePhase::Over) && !self.resource.sim.is_finished() {
            self.give_up();
        }
    }
}
