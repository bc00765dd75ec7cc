//! A measured trace replayed on a drive alone, request by request: what a drive is validated and calibrated by.

use headrace_kernel::RngStream;
use headrace_storage::disk::DiskNumbers;
use headrace_storage::disk::layout::SectorDistance;
use headrace_storage::disk::{DataSource, Drive};
use headrace_trace::{Due, Start, TraceError};
use headrace_units::Nanos;
use headrace_work::Block;

/// One request, measured and simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The request.
    pub request: Block,
    /// When it was issued to the simulated drive.
    pub issued: Nanos,
    /// Response time of the real drive.
    pub measured: Nanos,
    /// Response time of the simulated drive, from the time of issue.
    pub simulated: Nanos,
    /// Where the simulated drive found the data, or put it.
    pub from: DataSource,
    /// Seek time, in ns.
    pub moved_ns: f64,
    /// Rotational latency, in ns.
    pub waited_ns: f64,
    /// Distance of its data from that of the previous request.
    pub apart: SectorDistance,
}

/// Replays a trace on a drive of these numbers whose platter begins at `phase`. Requests without a measured response are
/// asked, and not told.
///
/// Where think times do not show where the platter was, the luck of this number moves each by up to half a turn either way
/// (a shorter one by no more than it is, and up to a turn), so that every request meets it anywhere.
pub fn replay(
    numbers: &DiskNumbers,
    phase: f64,
    luck: Option<u64>,
    trace: impl Iterator<Item = Result<Due, TraceError>>,
) -> Result<Vec<Pair>, TraceError> {
    let mut drive = Drive::of(numbers, phase, RngStream::named(0, "drive", "retries"));
    let mut luck = luck.map(|number| RngStream::named(number, "platter", "phase").draws());
    let turn = 1e9 / numbers.rotation.get().get();
    let mut moved = |think: Nanos| match &mut luck {
        Some(draws) => {
            Nanos((think.0 as f64 - (turn / 2.0).min(think.0 as f64) + turn * draws.uniform()) as u64)
        }
        None => think,
    };
    let mut done = Nanos::ZERO;
    let mut pairs = Vec::new();
    for due in trace {
        let Due { start, block: request, measured, .. } = due?;
        let issued = match start {
            Start::At(time) => time,
            Start::After(think) => done + moved(think),
        };
        // One command at a time: a command issued while another is in progress waits for it.
        let apart = drive.apart_from_last(&request);
        done = drive.serve(issued.max(done), &request).done;
        let handled = drive.handled();
        if let Some(measured) = measured {
            let (simulated, from) = (done - issued, handled.from);
            pairs.push(Pair {
                request,
                issued,
                measured,
                simulated,
                from,
                moved_ns: handled.moved_ns,
                waited_ns: handled.waited_ns,
                apart,
            });
        }
    }
    Ok(pairs)
}
