//! Waits for time to pass, and waits that end when time is up.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use headrace_units::Nanos;

use crate::sim::Sim;
use crate::tasks::NOBODY;
use crate::tasks::TaskId;

impl<'m> Sim<'m> {
    /// Waits for `span`.
    #[inline]
    pub fn delay(&'m self, span: Nanos) -> Delay<'m> {
        self.until(self.now() + span)
    }

    /// Waits until `time`; not at all where that has passed.
    #[inline]
    pub fn until(&'m self, time: Nanos) -> Delay<'m> {
        Delay { sim: self, until: time, wake: NOBODY }
    }

    /// Waits until everything that is due at this instant has happened; not at all where nothing is.
    #[inline]
    pub fn settled(&'m self) -> Settled<'m> {
        Settled { sim: self, waits: false }
    }

    /// Waits for `future` until `deadline`. Gives `None` if that comes first; `future` is dropped then. A future that is
    /// ready at its first poll is in time, and so is one that is ready when it is polled at the deadline.
    pub async fn within<T>(&'m self, deadline: Nanos, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut patience = self.until(deadline);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => Pin::new(&mut patience).poll(context).map(|()| None),
        })
        .await
    }
}

/// A wait in virtual time: see [`Sim::delay`]. Dropped before it is over, it leaves nothing behind: time does not run on
/// to it.
#[must_use = "a delay passes only when it is awaited"]
pub struct Delay<'m> {
    sim: &'m Sim<'m>,
    until: Nanos,
    /// The wake that is scheduled; [`NOBODY`] before the first poll and after the end.
    wake: TaskId,
}

impl Delay<'_> {
    /// Returns this delay scheduled now rather than at its first poll: before what the process does until then.
    #[must_use = "a delay passes only when it is awaited"]
    #[inline]
    pub fn scheduled(mut self) -> Self {
        if self.sim.now() < self.until && self.wake == NOBODY {
            self.wake = self.sim.schedule(self.until);
        }
        self
    }
}

/// A wait for what is due: see [`Sim::settled`].
#[must_use = "nothing is waited for unless this is awaited"]
pub struct Settled<'m> {
    sim: &'m Sim<'m>,
    waits: bool,
}

impl Future for Settled<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.waits || self.sim.is_settled() {
            return Poll::Ready(());
        }
        self.waits = true;
        self.sim.wake(self.sim.current());
        Poll::Pending
    }
}

impl Future for Delay<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.sim.now() >= self.until {
            self.wake = NOBODY;
            return Poll::Ready(());
        }
        if self.wake == NOBODY {
            self.wake = self.sim.schedule(self.until);
        }
        Poll::Pending
    }
}

impl Drop for Delay<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.wake != NOBODY {
            self.sim.give_up(self.until, self.wake);
        }
    }
}
