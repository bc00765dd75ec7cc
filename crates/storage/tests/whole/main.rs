//! Components in a simulation: one program, for each would link all of headrace anew.

mod arrays;
mod channels;
mod common;
mod controllers;
mod demands;
mod fabric;
mod faults;
mod fc_loop;
mod graphs;
mod ssd;
mod zoned_disk;
