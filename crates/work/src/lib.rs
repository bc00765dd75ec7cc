//! What is asked of a component, and what it answers.
//!
//! An [`Ask`] carries a piece of work ([`Block`] for block devices, [`FileOp`] for archives, [`DaqEvent`] for data
//! acquisition), the request
//! it belongs to and the reason for it. The answer is a [`Spent`]: where the time between asking and answering went. Rooms
//! and workloads both stand on this crate; neither knows the other.

mod ask;
mod block;
mod drawn;
mod event;
mod file;
mod file_table;
mod spent;

pub use ask::{Ask, Cause};
pub use block::{Block, Op};
pub use drawn::{DrawnSize, DrawnTime, Share, SizeSpec, TimeSpec};
pub use event::DaqEvent;
pub use file::{DriveUse, FileAct, FileOp};
pub use file_table::FileTable;
pub use spent::{Leg, NodeId, Spent, What};
