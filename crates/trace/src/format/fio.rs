//! fio's per-request logs, as in the fio documentation: `time-ms, value, direction, bytes, offset, priority`. The time is
//! the completion time; the value is the latency in ns or, in a bandwidth log, the rate of the request in KiB/s.

use headrace_units::Nanos;
use headrace_work::Op;

use super::{Devices, LineParser, Raw};
use crate::fields::{Fields, scaled, shown, whole};

const FORM: &str = "ms, value, direction, bytes";

/// The second column of a log.
pub enum LogValue {
    /// Latency in nanoseconds.
    LatencyNs,
    /// Bandwidth in KiB/s.
    KibPerSecond,
}

/// Returns the parser of a log that starts with the lines `sample`. Their fifth column is the offset or, without `log_offset=1`, the
/// priority: 0, 1 or hexadecimal.
pub fn parser(value: LogValue, sample: &[&[u8]]) -> impl LineParser + use<> {
    let is_offset = |fields: Fields| whole(fields.get(4), "").is_ok_and(|number| number > 1);
    let has_offsets = sample.iter().any(|line| is_offset(Fields::by_comma(line)));
    move |line: &[u8], _: &mut Devices| parse(line, &value, has_offsets)
}

#[inline]
fn parse(line: &[u8], value: &LogValue, has_offsets: bool) -> Result<Raw, String> {
    let fields = Fields::by_comma(line).at_least(4, FORM)?;
    let ended = scaled(fields.get(0), 1_000_000, "time in ms")?;
    let logged = whole(fields.get(1), "latency or rate")?;
    let op = match fields.get(2) {
        b"0" => Op::Read,
        b"1" => Op::Write,
        other => return Err(format!("direction `{}` is neither 0 (read) nor 1 (write)", shown(other))),
    };
    let bytes = whole(fields.get(3), "size in bytes")?;
    let offset = if has_offsets { Some(whole(fields.get(4), "offset in bytes")?) } else { None };
    let took = match value {
        LogValue::LatencyNs => logged,
        LogValue::KibPerSecond => {
            (u128::from(bytes) * 1_000_000_000 / (u128::from(logged.max(1)) * 1024)) as u64
        }
    };
    let (time_ns, response) = (Some(ended.saturating_sub(took)), Some(Nanos(took)));
    Ok(Raw { time_ns, response, ..Raw::new(op, offset, bytes)? })
}
