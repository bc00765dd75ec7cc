//! The kernel from outside: one program, for each would link all of headrace anew.

mod common;
mod crew;
mod fluid;
mod locks;
mod pool;
mod primitives;
mod timers;
mod wait_list;
