//! What the tests of the kernel share.

use headrace_kernel::Sim;
use headrace_units::Nanos;

/// Milliseconds of virtual time.
pub const fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

/// Runs until no events are left; returns the time.
pub fn run(sim: &Sim) -> Nanos {
    sim.run(Nanos::MAX, u64::MAX);
    sim.now()
}
