//! A trace looked over once: how much it holds, and what it tells.

use std::path::Path;

use headrace_units::Nanos;
use serde::Serialize;

use super::format::TraceFormat;
use super::reader::Reader;
use super::{TraceError, Traced};
use crate::request::Op;

/// What a trace holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    /// How many requests.
    pub requests: u64,
    /// How many of them are reads.
    pub reads: u64,
    /// The largest request, in bytes.
    pub largest: u64,
    /// From the first to the last.
    pub span: Nanos,
    /// Of each device.
    pub devices: Vec<DeviceSurvey>,
    /// Lines passed over because they could not be read.
    pub skipped: u64,
    /// Requests that came before one that stands earlier in the file.
    pub out_of_order: u64,
    /// Whether every request has a timestamp.
    pub timestamps: bool,
    /// Whether every request has its address.
    pub addresses: bool,
    /// How many have a measured response.
    pub responses: u64,
    /// How many have the think time after them.
    pub thinks: u64,
    /// The earliest time, in ns since whatever the format counts from.
    pub earliest_ns: Option<u64>,
}

/// What a trace holds of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceSurvey {
    /// Its name; empty where the trace names none.
    pub name: String,
    /// How many requests went to it.
    pub requests: u64,
    /// One more than the last byte any of them touches.
    pub end: u64,
}

/// The one who waits is asked after so many requests.
const STRIDE: u64 = 1 << 16;

/// Looks over the requests of `reader` to the devices `chosen` (all where none is), at most the first `most`. `go_on` is
/// called now and then with how many were read; it may end the survey.
pub fn survey(
    reader: &mut Reader,
    chosen: &[String],
    most: u64,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Survey, TraceError> {
    survey_of(reader, chosen, most, go_on, |_| {})
}

/// A reader of the trace at `path` whose times count from its earliest request, wherever in it that stands: who is to be moved
/// to the beginning is known only when all were seen, so it is read once before. `go_on` as in [`survey`].
///
/// # Errors
/// Where it cannot be read.
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

/// As [`survey`], showing each of them to `see`.
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
    /// Whether every request but the last, which needs none, has its think time.
    pub fn has_thinks(&self) -> bool {
        self.thinks > 0 && self.thinks + 1 >= self.requests
    }

    /// Whether every request has its measured response.
    pub fn has_responses(&self) -> bool {
        self.responses == self.requests
    }

    /// Whether it tells when requests came.
    pub fn is_timed(&self) -> bool {
        self.timestamps || (self.has_responses() && self.has_thinks())
    }

    /// Whether requests to this device are wanted. Devices are named as they are met.
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
        self.reads += u64::from(traced.op == Op::Read);
        self.largest = self.largest.max(traced.bytes);
        self.span = self.span.max(traced.at);
        self.addresses &= traced.address.is_some();
        self.timestamps &= traced.stamped;
        self.responses += u64::from(traced.response.is_some());
        self.thinks += u64::from(traced.think.is_some());
    }
}
