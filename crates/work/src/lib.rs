//! What is asked of a component, and what it answers.
//!
//! An [`Ask`] carries a piece of work ([`Block`] for block devices; files and event fragments are other types), the request
//! it belongs to and the reason for it. The answer is a [`Spent`]: where the time between asking and answering went. Rooms
//! and workloads both stand on this crate; neither knows the other.

mod ask;
mod block;
mod drawn;
mod spent;

pub use ask::{Ask, Cause};
pub use block::{Block, Op};
pub use drawn::{DrawnSize, DrawnTime, Share, SizeSpec, TimeSpec};
pub use spent::{Leg, NodeId, Spent, What};
