//! Where requests come from: when, what, how large, and where to.
//!
//! A [`StreamSpec`] is what a user writes. [`Requests`] makes its requests: each one's attributes are drawn at its birth
//! from its number alone (and, for sequential addresses, from its predecessors'), so that no change of the system changes
//! the workload. [`Arrivals`] says when open streams bear them.

mod arrivals;
mod drawn;
mod pattern;
mod request;
mod requests;
mod spec;
pub mod trace;

pub use arrivals::Arrivals;
pub use drawn::{DrawnSize, DrawnTime, Share, SizeSpec, TimeSpec};
pub use pattern::{Pattern, common_divisor};
pub use request::{Op, Request};
pub use requests::Requests;
pub use spec::{ArrivalSpec, BatchSize, OpSpec, PatternSpec, StreamSpec};
