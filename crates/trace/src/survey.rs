//! Survey: one scan of a trace, for its extent and the fields it records.

use std::path::Path;

use headrace_units::Nanos;
use headrace_work::Op;
use serde::Serialize;

use crate::format::TraceFormat;
use crate::reader::Reader;
use crate::{TraceError, Traced};

/// Contents of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    /// Number of requests.
    pub requests: u64,
    /// Number of reads.
    pub reads: u64,
    /// Size of the largest request, in bytes.
    pub largest: u64,
    /// Time from the origin to the latest request.
    pub span: Nanos,
    /// The longest time between a request and the one before it in the file.
    pub longest_gap: Nanos,
    /// The request after that gap, counted from one.
    pub after_gap: u64,
    /// The time of the last request read.
    #[serde(skip)]
    pub(crate) last: Nanos,
    /// The devices of the trace.
    pub devices: Vec<DeviceSurvey>,
    /// Bad lines skipped.
    pub skipped: u64,
    /// Requests with an earlier time than a request before them in the file.
    pub out_of_order: u64,
    /// True if every request has a timestamp.
    pub timestamps: bool,
    /// True if every request has an address.
    pub addresses: bool,
    /// Number of requests with a measured response time.
    pub responses: u64,
    /// Number of requests with a think time.
    pub thinks: u64,
    /// The earliest time of a request, in ns on the clock of the trace.
    pub earliest_ns: Option<u64>,
}

/// One device of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceSurvey {
    /// Its name; empty if the trace names no devices.
    pub name: String,
    /// Number of requests to it.
    pub requests: u64,
    /// One past the last byte accessed.
    pub end: u64,
}

/// Number of requests between two calls of `go_on`.
const STRIDE: u64 = 1 << 12;

/// Scans the first `most` requests of `reader` to the devices `chosen` (to all devices if empty). `go_on` is called every
/// 65,536 requests with the number read so far and cancels the scan by returning false.
///
/// # Errors
/// A line cannot be read, or `go_on` returned false.
pub fn survey(
    reader: &mut Reader,
    chosen: &[String],
    most: u64,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Survey, TraceError> {
    survey_of(reader, chosen, most, go_on, |_| {})
}

/// A reader of the trace at `path` with the earliest request as the origin of times. That request can be anywhere in the
/// file, so the file is scanned first. `go_on` as in [`survey`].
///
/// # Errors
/// The trace cannot be read, or `go_on` returned false.
pub fn from_the_earliest(
    path: &Path,
    format: Option<&TraceFormat>,
    skip_bad: bool,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Reader, TraceError> {
    let mut reader = Reader::open(path, format, skip_bad)?;
    let earliest = survey(&mut reader, &[], u64::MAX, go_on)?.earliest_ns;
    Ok(Reader::open(path, Some(reader.format()), skip_bad)?.beginning_at(earliest))
}

/// As [`survey`], passing each request to `see`.
pub(super) fn survey_of(
    reader: &mut Reader,
    chosen: &[String],
    most: u64,
    go_on: &dyn Fn(u64) -> bool,
    mut see: impl FnMut(&Traced),
) -> Result<Survey, TraceError> {
    let mut found = Survey { addresses: true, timestamps: true, ..Survey::default() };
    let mut read = 0;
    while found.requests < most
        && let Some(traced) = reader.next()
    {
        let traced = traced?;
        read += 1;
        if read % STRIDE == 0 && !go_on(read) {
            return Err(TraceError::Interrupted);
        }
        if found.is_chosen(traced.device, reader, chosen) {
            found.add(&traced);
            see(&traced);
        }
    }
    found.name_devices(&reader.devices());
    Ok(Survey {
        skipped: reader.skipped,
        out_of_order: reader.out_of_order,
        earliest_ns: reader.earliest_ns(),
        ..found
    })
}

impl Survey {
    /// Returns true if one gap takes nearly all the time of the trace: a timestamp may be wrong.
    pub fn has_a_gap(&self) -> bool {
        self.requests >= 10 && self.longest_gap.0 > self.span.0 / 10 * 9
    }

    /// Returns true if every request has a think time, except possibly the last.
    pub fn has_thinks(&self) -> bool {
        self.thinks > 0 && self.thinks + 1 >= self.requests
    }

    /// Returns true if every request has a measured response time.
    pub fn has_responses(&self) -> bool {
        self.responses == self.requests
    }

    /// Returns true if arrival times are recorded, or follow from response and think times.
    pub fn is_timed(&self) -> bool {
        self.timestamps || (self.has_responses() && self.has_thinks())
    }

    /// Returns true if the device is among those `chosen`. Names are added as devices appear.
    fn is_chosen(&mut self, device: u32, reader: &Reader, chosen: &[String]) -> bool {
        if chosen.is_empty() {
            return true;
        }
        if self.devices.len() <= device as usize {
            self.name_devices(&reader.devices());
        }
        self.devices.get(device as usize).is_some_and(|device| chosen.contains(&device.name))
    }

    fn name_devices(&mut self, names: &[String]) {
        let all = self.devices.len().max(names.len());
        self.devices.resize_with(all, DeviceSurvey::default);
        self.devices.iter_mut().zip(names).for_each(|(device, name)| device.name.clone_from(name));
    }

    fn add(&mut self, traced: &Traced) {
        let device = traced.device as usize;
        if self.devices.len() <= device {
            self.devices.resize_with(device + 1, DeviceSurvey::default);
        }
        let of = &mut self.devices[device];
        of.requests += 1;
        of.end = of.end.max(traced.address.unwrap_or(0) + traced.bytes);
        self.requests += 1;
        let gap = traced.at.saturating_sub(self.last);
        if self.requests > 1 && gap > self.longest_gap {
            (self.longest_gap, self.after_gap) = (gap, self.requests);
        }
        self.last = traced.at;
        self.reads += u64::from(traced.op == Op::Read);
        self.largest = self.largest.max(traced.bytes);
        self.span = self.span.max(traced.at);
        self.addresses &= traced.address.is_some();
        self.timestamps &= traced.stamped;
        self.responses += u64::from(traced.response.is_some());
        self.thinks += u64::from(traced.think.is_some());
    }
}
