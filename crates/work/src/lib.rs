//! Work that components are asked to do, and the record of how it was done.
//!
//! An [`Request`] carries a piece of work ([`Block`] for block devices, [`FileOp`] for archives, [`DaqEvent`] for data
//! acquisition), the request
//! it belongs to and the reason for it. The answer is a [`Breakdown`]: where the time between asking and answering went. Components
//! and workloads both stand on this crate; neither knows the other.

mod block;
mod breakdown;
mod drawn;
mod event;
mod file;
mod file_table;
mod request;

pub use block::{Block, Op};
pub use breakdown::{Breakdown, Leg, NodeId, TimeKind};
pub use drawn::{DrawnSize, DrawnTime, Share, SizeSpec, TimeSpec};
pub use event::DaqEvent;
pub use file::{DriveUse, FileAct, FileOp};
pub use file_table::FileTable;
pub use request::{Cause, Request};
