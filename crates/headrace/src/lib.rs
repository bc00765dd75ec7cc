//! Storage inside other programs: a simulation, a model of a database, a test of what a crash leaves.
//!
//! A [`Storage`] is the `system` of any scenario of headrace. A host submits requests to its components, lets virtual time pass, and
//! collects completions, each with an account of where its time went. There is no wall clock, no thread and no global state: the same
//! scenario, seed and calls give the same completions, and requests at the times of a run of headrace those of the run, bit for bit.
//!
//! ```
//! use headrace::{Block, Nanos, Op, Storage};
//!
//! let system = "system: {disk: {type: disk, device: seagate-st18000nm000j}}";
//! let mut storage = Storage::load(system, "disk.yaml", &[], 1).map_err(|problems| problems.rendered()).unwrap();
//! let disk = storage.target("disk")?;
//! let read = Block { op: Op::Read, address: 1 << 40, bytes: 4096 };
//! let ticket = storage.submit(storage.now(), disk, read, false)?;
//! let done = storage.next_completion(Nanos::MAX)?.expect("the disk answers");
//! assert_eq!((done.ticket, done.failed), (ticket, false));
//! assert!(done.at > Nanos(1_000_000), "a seek and half a turn take milliseconds");
//! # Ok::<(), headrace::StorageError>(())
//! ```
//!
//! One instance belongs to one thread; several instances know nothing of each other. A completion that is not collected is kept, and
//! `run.limits.in_flight` of the scenario bounds requests in flight and completions kept together.
//!
//! This crate follows semantic versioning. The crates beneath it do not: use what is exported here.

pub use headrace_scenario::document::Problems;
pub use headrace_scenario::embedded::{
    Completion, ComponentUse, LostWrite, PowerLoss, Storage, StorageError,
};
pub use headrace_scenario::results::ResultsSoFar;
pub use headrace_storage::Change;
pub use headrace_units::Nanos;
pub use headrace_work::{
    Block, Breakdown, DriveUse, FileAct, FileOp, FilePlace, NodeId, Op, TapePlace, TimeKind, number_of,
};
