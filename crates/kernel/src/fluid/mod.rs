//! Transfers that share links.
//!
//! A transfer uses all its links at once. Rates are max-min fair: no transfer can have more unless one with no higher rate gets
//! less. They change only when a transfer begins or ends, so those are the only events.

mod class;
mod fill;
mod state;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use headrace_units::{BytesPerSecond, Nanos};

use crate::delay::Delay;
use crate::sim::Sim;
use crate::tasks::NOBODY;
use crate::tasks::TaskId;

use state::FluidState;

pub use class::{LABELS, LinkUsage};

/// A link of a [`Fluid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub(crate) u32);

/// Links, and the transfers that share them.
///
/// ```
/// use headrace_kernel::{Fluid, Sim};
/// use headrace_units::{BytesPerSecond, Nanos};
///
/// let sim = Sim::new();
/// let fluid = Fluid::new(&sim);
/// let (sim, fluid) = (&sim, &fluid);
/// let network = fluid.link(BytesPerSecond(3e6));
/// let disks = [fluid.link(BytesPerSecond(1e6)), fluid.link(BytesPerSecond(9e6))];
/// for disk in disks {
///     sim.spawn(async move { fluid.transfer(2_000_000, &[network, disk], f64::INFINITY, 0).await; });
/// }
/// // The slow disk has 1 MB/s, so the other transfer has the network's other 2 MB/s.
/// sim.run(Nanos::from_secs(1.0), u64::MAX);
/// assert_eq!(fluid.transfers(), 1);
/// sim.run(Nanos::MAX, u64::MAX);
/// assert_eq!(sim.now(), Nanos::from_secs(2.0));
/// sim.finish();
/// ```
pub struct Fluid<'m> {
    sim: &'m Sim<'m>,
    state: RefCell<FluidState>,
    /// A wake of the process that ends transfers, and whether it is to be polled at this instant anyway.
    driver: Cell<TaskId>,
    is_woken: Cell<bool>,
}

/// Record of a transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moved {
    /// For each link that limited its rate for a while: the link (none: the transfer's own limit), for how long, and for how long
    /// it would have been if the transfer had been alone there.
    pub limited: Vec<(Option<LinkId>, Nanos, Nanos)>,
}

impl<'m> Fluid<'m> {
    /// No links yet.
    pub fn new(sim: &'m Sim<'m>) -> Self {
        let (driver, is_woken) = (Cell::new(NOBODY), Cell::new(false));
        Self { sim, state: RefCell::default(), driver, is_woken }
    }

    /// Adds a link of this rate.
    ///
    /// # Panics
    /// If it carries nothing: a transfer would never end.
    pub fn link(&self, rate: BytesPerSecond) -> LinkId {
        assert!(rate.get() > 0.0, "a link carries something");
        self.state.borrow_mut().add_link(rate.get() * 1e-9)
    }

    /// Moves `bytes` over `links`, at most at the rate `most` in bytes a second, and gives what it met. `label`, less than
    /// [`LABELS`], says under what its use of links is counted.
    ///
    /// # Panics
    /// If it has neither links nor a limit: it would take no time.
    pub fn transfer(&'m self, bytes: u64, links: &[LinkId], most: f64, label: usize) -> Transfer<'m> {
        assert!(!links.is_empty() || most.is_finite(), "a transfer without links needs a limit");
        let class = self.state.borrow_mut().class_of(links, most * 1e-9, label);
        Transfer { fluid: self, class, bytes, slot: None }
    }

    /// Returns the use of a link so far.
    pub fn usage(&self, link: LinkId) -> LinkUsage {
        self.state.borrow_mut().usage(link, self.sim.now())
    }

    /// Number of transfers in progress.
    pub fn transfers(&self) -> usize {
        self.state.borrow().transfers()
    }

    /// The rates of transfers now: (links, bytes a second each, how many of them), for tests of fairness.
    pub fn rates(&self) -> Vec<(Vec<LinkId>, f64, u64)> {
        self.state.borrow().rates()
    }

    /// Something changed: rates are recomputed when all that is due now has happened.
    fn changed(&'m self) {
        if self.is_woken.replace(true) {
            return;
        }
        match self.driver.get() {
            NOBODY => self.sim.spawn(self.drive()),
            driver => self.sim.wake(driver),
        }
    }

    /// Ends transfers when they are done.
    async fn drive(&'m self) {
        let mut timer: Option<Delay> = None;
        poll_fn(|context| {
            self.is_woken.set(false);
            self.driver.set(self.sim.current());
            loop {
                let next = self.look(timer.is_some());
                if let Some(next) = next {
                    timer = next.map(|time| self.sim.until(time));
                }
                let Some(running) = &mut timer else { return Poll::Pending };
                match Pin::new(running).poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(()) => timer = None,
                }
            }
        })
        .await
    }

    /// Ends the transfers that are done. Gives when the next is, where that changed or nobody waits for it.
    fn look(&self, is_timed: bool) -> Option<Option<Nanos>> {
        let mut state = self.state.borrow_mut();
        let now = self.sim.now();
        state.advance(now);
        let ended = state.end_done();
        ended.iter().for_each(|task| self.sim.wake(*task));
        let changed = state.fill_if_changed();
        (changed || !is_timed).then(|| state.next_end())
    }
}

/// A transfer: see [`Fluid::transfer`]. One that is dropped before its end stops.
#[must_use = "a transfer begins when it is awaited"]
pub struct Transfer<'m> {
    fluid: &'m Fluid<'m>,
    class: usize,
    bytes: u64,
    slot: Option<u32>,
}

impl Future for Transfer<'_> {
    type Output = Moved;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Moved> {
        let fluid = self.fluid;
        let mut state = fluid.state.borrow_mut();
        let Some(slot) = self.slot else {
            state.advance(fluid.sim.now());
            self.slot = Some(state.begin(self.class, self.bytes, fluid.sim.current()));
            drop(state);
            fluid.changed();
            return Poll::Pending;
        };
        match state.take_moved(slot) {
            Some(moved) => {
                self.slot = None;
                Poll::Ready(moved)
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        let fluid = self.fluid;
        if let Some(slot) = self.slot
            && !fluid.sim.is_finished()
        {
            let mut state = fluid.state.borrow_mut();
            state.advance(fluid.sim.now());
            let was_running = state.give_up(slot);
            drop(state);
            if was_running {
                fluid.changed();
            }
        }
    }
}
