//! The kernel from outside: one program, because each links all of headrace.

mod common;
mod fluid;
mod locks;
mod pool;
mod primitives;
mod timers;
mod wait_list;
mod worker_pool;
