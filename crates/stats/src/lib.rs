//! Statistics of simulated time.
mod level;
mod tally;
pub use level::Level;
pub use tally::Tally;
