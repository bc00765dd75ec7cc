//! Virtual time, and processes that live in it.
//!
//! A model is a set of components that outlive every process, and processes written as `async fn`s that wait for time to
//! pass and for each other. There are six primitives, and everything else is built of them:
//!
//! | primitive | waits for |
//! |---|---|
//! | [`Sim::delay`], [`Sim::until`] | time to pass |
//! | [`Resource`] | a server, by a [`Discipline`]: [`Fcfs`], [`Priority`], [`ShortestFirst`] |
//! | [`Link`] | a transfer at a rate |
//! | [`Channel`] | an item, or room for one |
//! | [`Gate`] | permission |
//! | [`Sim::join_all`] | the last of several branches |
//!
//! Each records its own statistics. Here is a queue with one server, its customers arriving every 2 ms and served in 3:
//!
//! ```
//! use headrace_kernel::{Resource, Sim};
//! use headrace_units::Nanos;
//!
//! let sim = Sim::new();
//! let server = Resource::fcfs(&sim, 1);
//! let (sim, server) = (&sim, &server);
//! sim.spawn(async move {
//!     for _ in 0..10 {
//!         sim.delay(Nanos::from_ms(2.0)).await;
//!         sim.spawn(async move {
//!             server.serve(Nanos::from_ms(3.0)).await;
//!         });
//!     }
//! });
//! sim.run(Nanos::MAX, u64::MAX);
//! assert_eq!(sim.now(), Nanos::from_ms(2.0 + 10.0 * 3.0));
//! assert_eq!(server.usage().waits.max(), Nanos::from_ms(9.0)); // The tenth waits (3 − 2) ms for each before it.
//! sim.finish();
//! ```
//!
//! Events at the same instant happen in the order in which they were caused. Nothing here reads a clock or hashes an
//! address, so a run depends on its seed alone ([`Stream`]).

mod channel;
mod discipline;
mod gate;
mod join;
mod link;
mod queue;
mod random;
mod resource;
mod round;
mod signal;
mod sim;

pub use channel::Channel;
pub use discipline::{Discipline, Fcfs, Priority, ShortestFirst};
pub use gate::Gate;
pub use join::JoinAll;
pub use link::Link;
pub use queue::{EventQueue, TaskId};
pub use random::{Draws, Stream};
pub use resource::{Acquire, Pass, Resource, Server, Usage};
pub use round::Round;
pub use signal::Waits;
pub use sim::{Delay, Pause, Process, Sim};
