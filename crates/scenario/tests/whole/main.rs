//! Whole scenarios: one program, because each links all of headrace.

mod acquisition;
mod archive;
mod checks;
mod copy;
mod device_cache;
mod drives;
mod durability;
mod embedded;
mod endings;
mod engines;
mod event_network;
mod every_kind;
mod extended;
mod faults;
mod file_system;
mod flush;
mod groups;
mod laws;
mod limits;
mod loops;
mod lsm_tree;
#[path = "../../../storage/src/tests/near.rs"]
mod near;
mod objectives;
mod pool;
mod power;
mod replications;
mod runs;
mod sessions;
mod shares;
mod slow;
mod solve;
mod split;
mod ssd;
mod steps;
mod streams;
