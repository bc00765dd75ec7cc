//! fio's per-request logs, as its documentation has them: `time-ms, value, direction, bytes[, offset][, priority][, issue-ns]`; with
//! `log_window_value=both` there are two values. The time is that of the completion, cut to milliseconds; the value is the latency in
//! ns or, in a bandwidth log, the rate of the request in KiB/s.

use std::collections::VecDeque;

use headrace_units::Nanos;
use headrace_work::Op;

use super::{Devices, LineParser, Raw};
use crate::fields::{Fields, scaled, shown, whole};

/// The second column of a log.
pub enum LogValue {
    /// Latency in nanoseconds.
    LatencyNs,
    /// Bandwidth in KiB/s.
    KibPerSecond,
}

/// Parses a log, whose columns its first lines tell.
pub struct LogParser {
    value: LogValue,
    columns: Columns,
    trims: u64,
}

/// Where the columns of a log are.
struct Columns {
    count: usize,
    direction: usize,
    offset: Option<usize>,
    issued: Option<usize>,
}

impl Columns {
    /// Returns the columns of a log that starts with the lines `sample`.
    fn of(sample: &[&[u8]]) -> Self {
        let mut lines: Vec<Fields> = sample.iter().map(|line| Fields::by_comma(line)).collect();
        let count = lines.first().map_or(4, |fields| fields.count);
        lines.retain(|fields| fields.count == count);
        let has_direction = |fields: &Fields| matches!(fields.get(2), b"0" | b"1" | b"2");
        let direction = if count == 8 || count > 4 && !lines.iter().any(has_direction) { 3 } else { 2 };
        let (first, further) = (direction + 2, count.saturating_sub(direction + 2));
        // A priority is 0, 1 or hexadecimal, so a larger number is an offset.
        let is_offset = |fields: &Fields| whole(fields.get(first), "").is_ok_and(|number| number > 1);
        let has_offset = further >= 3 || further > 0 && lines.iter().any(is_offset);
        let has_issue = further == 2 + usize::from(has_offset);
        Self { count, direction, offset: has_offset.then_some(first), issued: has_issue.then(|| count - 1) }
    }

    /// Splits a line, which has as many fields as the first.
    #[inline]
    fn split<'l>(&self, line: &'l [u8]) -> Result<Fields<'l>, String> {
        let fields = Fields::by_comma(line);
        match fields.count {
            4..=8 if fields.count == self.count => Ok(fields),
            count if count == self.count => {
                Err(format!("the line has {count} fields; a log of fio has 4 to 8"))
            }
            count => Err(format!(
                "the line has {count} fields where the first has {}; the file may be cut off, or two runs wrote it",
                self.count
            )),
        }
    }
}

impl LogParser {
    pub fn new(value: LogValue, sample: &[&[u8]]) -> Self {
        Self { value, columns: Columns::of(sample), trims: 0 }
    }

    /// The request of a line; `None` for a trim.
    #[inline]
    fn parse(&self, line: &[u8]) -> Result<Option<Raw>, String> {
        let Columns { direction, offset, issued, .. } = self.columns;
        let fields = self.columns.split(line)?;
        let op = match fields.get(direction) {
            b"0" => Op::Read,
            b"1" => Op::Write,
            b"2" => return Ok(None),
            other => {
                return Err(format!("direction `{}` is none of 0 (read), 1 (write), 2 (trim)", shown(other)));
            }
        };
        let bytes = whole(fields.get(direction + 1), "size in bytes")?;
        if bytes == 0 {
            return Err(AVERAGED.to_owned());
        }
        let offset = offset.map(|at| whole(fields.get(at), "offset in bytes")).transpose()?;
        let took = self.took(whole(fields.get(1), "latency or rate")?, bytes);
        let time_ns = match issued {
            Some(at) => whole(fields.get(at), "time of issue in ns")?,
            None => scaled(fields.get(0), 1_000_000, "time in ms")?.saturating_sub(took),
        };
        Ok(Some(Raw { time_ns: Some(time_ns), response: Some(Nanos(took)), ..Raw::new(op, offset, bytes)? }))
    }

    /// The response time in ns of a request of `bytes` for which `logged` was written.
    #[inline]
    fn took(&self, logged: u64, bytes: u64) -> u64 {
        match self.value {
            LogValue::LatencyNs => logged,
            LogValue::KibPerSecond => {
                (u128::from(bytes) * 1_000_000_000 / (u128::from(logged.max(1)) * 1024)) as u64
            }
        }
    }
}

const AVERAGED: &str = "the size is zero: each line is the mean of an interval, not a request; \
    measure again without `log_avg_msec`";

impl LineParser for LogParser {
    #[inline]
    fn line(&mut self, line: &[u8], _: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        let request = self.parse(line)?;
        self.trims += u64::from(request.is_none());
        out.extend(request);
        Ok(())
    }

    fn left_out(&self) -> u64 {
        self.trims
    }
}
