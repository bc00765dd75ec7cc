//! Statistics of simulated time: what was seen, how sure it is, and where the warm-up ends.
//!
//! | type | holds |
//! |---|---|
//! | [`Tally`] | count, exact sum, spread and maximum of spans |
//! | [`Gauge`] | a number that changes with time, and the exact area under it |
//! | [`Series`] | a sequence of response times: quantiles, batch means, and the warm-up to leave out |
//! | [`Interval`] | a mean and how sure it is |
//! | [`settling`] | whether replications that begin empty have settled |
//! | [`quantile`] | how sure a quantile is |
//!
//! Memory is flat: a series keeps at most [`batches::MOST`] batches and [`histogram::SEGMENTS`] segments, whatever its length.

pub mod batches;
mod buckets;
pub mod histogram;
mod independence;
mod interval;
mod level;
mod packed;
mod pairs;
pub mod quantile;
mod series;
pub mod settling;
mod tally;

pub use batches::BatchSums;
pub use histogram::{Histogram, Segments};
pub use interval::{Interval, Method};
pub use level::Gauge;
pub use pairs::Pairs;
pub use series::Series;
pub use tally::Tally;
