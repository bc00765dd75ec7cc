//! Formulas: what theory says of a queue whose assumptions hold.
//!
//! Times are `f64` in any one unit, rates in its inverse. Each component of the simulator translates its own specification
//! into a [`Distribution`] of service time; from there on theory and simulation part ways, which is what makes their comparison
//! worth something.
//!
//! ```
//! use headrace_analytic::{Distribution, Mg1};
//! // Erlang-2 service of mean 10 ms at a load of 0.7.
//! let queue = Mg1::new(0.07, Distribution::erlang(2, 10.0)).unwrap();
//! assert!((queue.utilisation() - 0.7).abs() < 1e-12);
//! assert!((queue.mean_response() - 27.5).abs() < 1e-9); // 10 + 0.07·150/(2·0.3)
//! assert!((queue.response_cdf(27.5) - 0.627914).abs() < 1e-6); // the transform inverted by hand
//! ```

mod bounded_pareto;
mod complex;
mod distribution;
mod empirical;
mod euler;
pub mod fork_join;
mod grid;
mod lognormal;
mod mg1;
mod mmc;
pub mod network;
pub mod reliability;

pub use bounded_pareto::BoundedPareto;
pub use distribution::{Distribution, balanced};
pub use empirical::Empirical;
pub use grid::Grid;
pub use lognormal::Lognormal;
pub use mg1::Mg1;
pub use mmc::Mmc;
