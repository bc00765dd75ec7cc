//! Block devices: what answers an I/O in virtual time.
//!
//! Every component here is a [`Device`]: it takes a request (op, address, bytes) and some time later is done with it. A
//! disk does so itself, an array by asking the devices behind it, so an array of arrays needs no code of its own.
//!
//! A component lives in one room, its file or folder: its specification (what a user writes), its state, its behaviour
//! with events ([`Device::io`]) and, where it serves first come, first served, without them ([`Device::pass`]), and
//! what theory says of it ([`Blueprint::service_law`]).

pub mod array;
mod device;
pub mod disk;
mod passage;
mod site;
pub mod station;
mod timeline;

pub use array::{ArraySpec, FirstUnit, Level, Queueing};
pub use device::{Blueprint, Device, Recorded};
pub use disk::{
    CacheSpec, DiskNumbers, DiskSpec, InterfaceSpec, MechanicsSpec, Positioning, QueueSpec, Scheduling,
    SeekTimes, Sourced,
};
pub use passage::{Leg, Passage};
pub use site::Site;
pub use station::StationSpec;
pub use timeline::{Journey, Timeline, Visit};
