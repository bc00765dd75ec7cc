//! Trace characterisation: arrivals, sizes, locality and measured response times, in one pass and bounded memory.

mod arrivals;
mod counts;
mod footprint;
mod pages;
mod places;
mod popularity;
mod responses;
mod reuse;
mod sequential;
mod sizes;

use std::path::Path;

use headrace_work::Op;
use serde::Serialize;

use crate::TraceError;
use crate::format::TraceFormat;
use crate::reader::{Reader, Traced};
use crate::survey::{DeviceSurvey, Survey, survey_of};

use arrivals::{ArrivalCounts, ArrivalSurvey};
use places::{AddressesAccessed, PlaceCounts};
use responses::{ResponseCounts, Responses};
use sizes::{SizeCounts, Sizes};

/// Characteristics of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// Number of requests.
    pub requests: u64,
    /// Share of reads.
    pub read_share: f64,
    /// Bytes read and bytes written.
    pub bytes: [u128; 2],
    /// Bad lines skipped.
    pub skipped: u64,
    /// The devices of the trace.
    pub devices: Vec<DeviceSurvey>,
    /// Arrival process; `None` if the trace records no times.
    pub arrivals: Option<ArrivalSurvey>,
    /// Request sizes.
    pub sizes: Sizes,
    /// Addresses accessed; `None` if the trace records no addresses.
    pub places: Option<AddressesAccessed>,
    /// Response times measured on the traced device; `None` if the trace records none.
    pub responses: Option<Responses>,
}

/// Reads every request of `reader` and returns the characteristics of the trace. `go_on` as in
/// [`survey`](super::survey()).
///
/// # Errors
/// A line cannot be read, there is no request, or `go_on` returned false.
pub fn characterise(reader: &mut Reader, go_on: &dyn Fn(u64) -> bool) -> Result<Info, TraceError> {
    let mut counts = Counters::default();
    let survey = survey_of(reader, &[], u64::MAX, go_on, |traced| counts.add(traced))?;
    if survey.requests == 0 {
        return Err(reader.empty());
    }
    Ok(counts.finish(survey))
}

/// The format and the characteristics of the trace at `path`, with its earliest request as the origin of times. That is
/// nearly always the first one; where it is not, the trace is read again. Arguments as of
/// [`from_the_earliest`](super::from_the_earliest).
///
/// # Errors
/// The trace cannot be read, has no request, or `go_on` returned false.
pub fn characterise_file(
    path: &Path,
    format: Option<&TraceFormat>,
    skip_bad: bool,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<(TraceFormat, Info), TraceError> {
    let mut reader = Reader::open(path, format, skip_bad)?;
    let info = characterise(&mut reader, go_on)?;
    let format = reader.format().clone();
    if !reader.precedes_origin() {
        return Ok((format, info));
    }
    let mut again = Reader::open(path, Some(&format), skip_bad)?.beginning_at(reader.earliest_ns());
    Ok((format, characterise(&mut again, go_on)?))
}

/// Accumulates [`Info`], one request at a time.
#[derive(Default)]
struct Counters {
    bytes: [u128; 2],
    arrivals: ArrivalCounts,
    sizes: SizeCounts,
    places: PlaceCounts,
    responses: ResponseCounts,
}

impl Counters {
    #[inline]
    fn add(&mut self, traced: &Traced) {
        self.bytes[usize::from(traced.op == Op::Write)] += u128::from(traced.bytes);
        self.arrivals.add(traced.at);
        self.places.add(traced);
        self.responses.add(traced);
        self.sizes.add(traced.bytes);
    }

    fn finish(self, survey: Survey) -> Info {
        let n = survey.requests as f64;
        let mean = self.bytes.iter().sum::<u128>() as f64 / n;
        let timed = survey.is_timed();
        Info {
            requests: survey.requests,
            read_share: survey.reads as f64 / n,
            bytes: self.bytes,
            skipped: survey.skipped,
            arrivals: timed.then(|| self.arrivals.finish(survey.timestamps, survey.out_of_order)),
            sizes: self.sizes.finish(mean, survey.largest, n),
            places: survey.addresses.then(|| self.places.finish(&survey.devices, n)),
            responses: self.responses.finish(),
            devices: survey.devices,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "time_ns,op,address,bytes,response_ns,think_ns,device\n";

    fn info_of(name: &str, lines: &str) -> Result<Info, TraceError> {
        let path = std::env::temp_dir().join(format!("headrace-info-{}-{name}", std::process::id()));
        std::fs::write(&path, lines).unwrap();
        let info =
            Reader::open(&path, None, false).and_then(|mut reader| characterise(&mut reader, &|_| true));
        std::fs::remove_file(&path).unwrap();
        info
    }

    #[test]
    fn one_request_is_a_trace() {
        let info = info_of("one", &format!("{HEADER}7,write,4096,512,90,,\n")).unwrap();
        assert_eq!((info.requests, info.read_share, info.bytes), (1, 0.0, [0, 512]));
        let arrivals = info.arrivals.unwrap();
        assert_eq!((arrivals.span_s, arrivals.rate_per_s, arrivals.peak_per_s), (0.0, 0.0, 1));
        assert!(arrivals.over_time.is_empty() && arrivals.dispersion_1s.is_none());
        assert_eq!(info.sizes.cdf, [(512, 1.0)]);
        let places = info.places.unwrap();
        assert_eq!((places.footprint, places.end, places.popularity.len()), (512, 4608, 0));
        assert_eq!(info.responses.unwrap().writes_ms.map(|ms| (ms * 1e6).round()), Some(90.0));
    }

    #[test]
    fn absurd_sizes_and_addresses_are_bad_lines() {
        for (bytes, address, line) in
            [(u64::MAX, 0, 3), (1 << 63, 0, 3), (512, (1 << 63) - 511, 3), (512, u64::MAX, 3)]
        {
            let lines = format!("{HEADER}0,read,0,512,,,a\n1,read,{address},{bytes},,,b\n");
            match info_of("absurd", &lines) {
                Err(TraceError::Line { line: found, problem, .. }) => {
                    assert!(found == line && problem.contains("bytes at"), "{problem}");
                }
                other => panic!("{bytes} bytes at {address}: {other:?}"),
            }
        }
    }

    /// Times begin at the earliest request, wherever in the file it is.
    #[test]
    fn times_begin_at_the_earliest_request() {
        let path = std::env::temp_dir().join(format!("headrace-info-{}-order", std::process::id()));
        for (times, out_of_order) in [([1, 2, 5], 0), ([3, 1, 5], 1), ([5, 3, 1], 2)] {
            let line = |s: u64| format!("{},read,0,512,,,a\n", s * 1_000_000_000);
            std::fs::write(
                &path,
                times.into_iter().map(line).fold(HEADER.to_owned(), |all, line| all + &line),
            )
            .unwrap();
            let (format, info) = characterise_file(&path, None, false, &|_| true).unwrap();
            let arrivals = info.arrivals.unwrap();
            assert_eq!((format, info.requests), (TraceFormat::Headrace, 3));
            assert_eq!((arrivals.span_s, arrivals.out_of_order), (4.0, out_of_order), "{times:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_trace_of_bad_lines_is_refused_at_the_first() {
        let lines = "0,read,0,18446744073709551615,,,\n".repeat(3);
        assert!(matches!(info_of("bad", &format!("{HEADER}{lines}")), Err(TraceError::Line { line: 2, .. })));
    }

    /// The largest requests on the most devices, at the end of the address space, and times to the end of time.
    #[test]
    fn the_largest_values_are_summed() {
        let (bytes, address) = (1u64 << 40, (1u64 << 63) - (1 << 40));
        let line = |i: usize| format!("{},read,{address},{bytes},{},{},{i}\n", u64::MAX, u64::MAX, u64::MAX);
        let lines = (0..4096).map(line).collect::<String>();
        let info = info_of("large", &format!("{HEADER}0,read,0,1,,,0\n{lines}")).unwrap();
        let places = info.places.unwrap();
        assert_eq!((places.footprint, places.end), (1 + (4096 << 40), 1 << 63));
        assert_eq!(info.bytes[0], 1 + (4096 << 40));
        assert!(info.responses.unwrap().mean_ms > 1e13);
    }
}
