//! Work that components are asked to do, and the record of how it was done.
//!
//! An [`Request`] carries a piece of work ([`Block`] for block devices, [`FileOp`] for archives, [`DaqEvent`] for data
//! acquisition), the request
//! it belongs to and the reason for it. The answer is a [`Breakdown`]: where the time between asking and answering went. Components
//! and workloads both stand on this crate; neither knows the other.

mod block;
mod breakdown;
mod event;
mod file;
mod file_table;
mod invalid;
mod request;
mod size;
mod time;

pub use block::{Block, Op};
pub use breakdown::{Breakdown, Leg, NodeId, TimeKind};
pub use event::DaqEvent;
pub use file::{DriveUse, FileAct, FileOp, FilePlace, TapePlace, digits, number_of};
pub use file_table::FileTable;
pub use invalid::Invalid;
pub use request::{Cause, Request};
pub use size::{DrawnSize, Share, SizeSpec};
pub use time::{
    BoundedParetoSpec, DrawnTime, EmpiricalSpec, HyperexponentialSpec, LognormalSpec, MOST_VALUES,
    ReadsSample, TimeShare, TimeSpec,
};
