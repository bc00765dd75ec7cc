//! Sources of requests: their times, operations, sizes and addresses.
//!
//! A [`StreamSpec`] is what a user writes. [`Requests`] makes its requests: each one's attributes are drawn at its birth
//! from its number alone (and, for sequential addresses, from its predecessors'), so that no change of the system changes
//! the workload. [`Arrivals`] says when open streams make them.

mod arrivals;
mod files;
mod pattern;
mod requests;
mod spec;
mod steps;
mod varying;

pub use arrivals::Arrivals;
pub use files::{Extents, Placement};
pub use pattern::Pattern;
pub use requests::Requests;
pub use spec::{ArrivalSpec, BatchSize, OpSpec, PatternSpec, Region, StreamSpec, WhenFull};
pub use steps::{CheckpointSpec, DataSet, Fetch, SamplePlace, StepSpec};
pub use varying::{Interpolation, RateFrom, VaryingSpec};
