//! Whole scenarios: one program, for each would link all of headrace anew.

mod acquisition;
mod archive;
mod drives;
mod engines;
mod faults;
mod file_system;
mod loops;
mod replications;
mod runs;
mod sessions;
mod solve;
mod ssd;
mod streams;
