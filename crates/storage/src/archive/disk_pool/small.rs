//! Requests of a pool that are too small for an array without a cache.

use headrace_units::Bytes;

use super::DiskPoolSpec;
use crate::core::graph::View;

/// That the requests of a pool are too small for an array, with what to write.
pub(super) fn note(pool: &DiskPoolSpec, view: View) -> Option<String> {
    let io = pool.io_size.0.min(pool.buffer.0 / 2);
    let small = |device: View| {
        let (stripe, disks) = stripe(device)?;
        let wanted = Bytes(stripe.0.max(disks * DATA_OF_A_TURN.0) * 2);
        (io < wanted.0 / 2).then(|| {
                format!(
                    "`{}` sends `{}` one request of {} at a time, {} for each of its {disks} data disks: positioning, up to a turn of the \
                     disk, takes longer than the data, and what is written to part of a stripe of {stripe} costs reads as well; write \
                     `io_size: {wanted}` and `buffer: {}`, or give the array a `cache`",
                    view.path(),
                    device.path(),
                    Bytes(io),
                    Bytes(io / disks),
                    Bytes(pool.buffer.0.max(2 * wanted.0)),
                )
            })
    };
    view.uses().find_map(small)
}

/// About as much as a disk transfers in half a turn.
const DATA_OF_A_TURN: Bytes = Bytes(1 << 20);

/// The stripe of the array without a cache that a device is, or that a route or a volume leads to.
fn stripe(device: View) -> Option<(Bytes, u64)> {
    match device.kind() {
        "array" | "disk" => device.stripe(),
        _ => device.uses().find_map(stripe),
    }
}
