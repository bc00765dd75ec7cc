//! Components in a simulation.

mod arrays;
mod bitmap;
mod channels;
mod common;
mod controllers;
mod demands;
mod device_cache;
mod evictions;
mod fabric;
mod faults;
mod fc_loop;
mod flush;
mod graphs;
mod groups;
mod limiter;
mod near;
mod scrubs;
mod ssd;
mod zoned_disk;
