//! Virtual time, and processes that live in it.
//!
//! A model is a set of components that outlive every process, and processes written as `async fn`s that wait for time to
//! pass and for each other. Everything is built of these primitives:
//!
//! | primitive | waits for |
//! |---|---|
//! | [`Sim::delay`], [`Sim::until`] | time to pass |
//! | [`Sim::within`] | anything, up to a deadline |
//! | [`Resource`] | a server, by a [`Discipline`]: [`Fcfs`], [`Priority`] |
//! | [`Pool`] | a counted amount of bytes, tokens or credits |
//! | [`Locks`] | a lock, by its number |
//! | [`WaitList`] | whatever others offer down the list |
//! | [`Fluid`] | a transfer over links that others share |
//! | [`Round`] | the end of a round |
//! | [`Condition`] | a condition of its own, in order of arrival |
//! | [`WorkerPool`] | all of several jobs, or the first `k` |
//!
//! Resources and pools record their own statistics. A wait of any kind that is dropped before it is over leaves nothing
//! behind: no place in a queue, no server held, no timer. Here is a queue with one server, its customers arriving every
//! 2 ms and served in 3:
//!
//! ```
//! use headrace_kernel::{WorkerPool, Resource, Sim};
//! use headrace_units::Nanos;
//!
//! let sim = Sim::new();
//! let server = Resource::fcfs(&sim, 1);
//! let (sim, server) = (&sim, &server);
//! let customers = &WorkerPool::new(sim, |service| server.serve(service));
//! sim.spawn(async move {
//!     for _ in 0..10 {
//!         sim.delay(Nanos::from_ms(2.0)).await;
//!         customers.start(Nanos::from_ms(3.0));
//!     }
//! });
//! sim.run(Nanos::MAX, u64::MAX);
//! assert_eq!(sim.now(), Nanos::from_ms(2.0 + 10.0 * 3.0));
//! assert_eq!(server.usage().waits.max(), Nanos::from_ms(9.0)); // The tenth waits (3 − 2) ms for each before it.
//! sim.finish();
//! ```
//!
//! Events at the same instant happen in the order in which they were caused. A process that is spawned comes after all that
//! is due already; a worker pool's job begins at once, within the process that starts it. Nothing here reads a clock or hashes an
//! address, so a run depends on its seed alone ([`RngStream`]).

mod buckets;
mod condition;
mod delay;
mod discipline;
mod fluid;
mod join;
mod locks;
mod pool;
mod queue;
mod random;
mod resource;
mod round;
mod serve;
mod signal;
mod sim;
mod tasks;
mod wait_list;
mod worker_pool;

pub use condition::Condition;
pub use delay::{Delay, Settled};
pub use discipline::{Discipline, Fcfs, Priority};
pub use fluid::{Fluid, LABELS, LinkId, LinkUsage, Moved, Transfer};
pub use locks::{Lock, LockUse, Locking, Locks};
pub use pool::Pool;
pub use queue::EventQueue;
pub use random::{Draws, RngStream, Shuffle, subkey};
pub use resource::{Acquire, Pass, Resource, ServerGuard, Usage};
pub use round::Round;
pub use serve::Serve;
pub use signal::Waits;
pub use sim::{Pause, Sim};
pub use tasks::{Process, TaskId};
pub use wait_list::{Wait, WaitList};
pub use worker_pool::{Join, WorkerPool};
