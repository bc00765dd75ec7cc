//! The state of a drive that was written for long: its capacity overwritten at random, in no simulated time.

use headrace_kernel::Stream;

use super::ftl::Ftl;

/// Overwrites the capacity this number of times, each page as likely as any other, the dies in turn.
pub fn overwrite(ftl: &mut Ftl, times: f64, stream: Stream) {
    let (logical, dies) = (ftl.logical(), ftl.geometry().dies);
    let (mut draws, mut die) = (stream.draws(), 0);
    for _ in 0..(times * f64::from(logical)) as u64 {
        ftl.write(draws.below(u64::from(logical)) as u32, die);
        die = if die + 1 == dies { 0 } else { die + 1 };
    }
    ftl.begin();
}
