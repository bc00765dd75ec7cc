//! What a trace is like: when requests come, how large they are, where they go.

use std::collections::BTreeMap;

use headrace_stats::{Series, Tally};
use headrace_units::Nanos;
use serde::Serialize;

use super::TraceError;
use super::reader::{Reader, Traced};
use super::survey::{DeviceSurvey, survey_of};
use crate::request::Op;

/// A request that begins where one of so many before it ended is sequential.
const STREAMS: usize = 32;

/// So many distinct sizes are counted.
const SIZES: usize = 100_000;

/// So many of the most frequent sizes are told.
const TOLD_SIZES: usize = 8;

/// Popularity is counted by regions of so many bytes at first; they double when there are too many.
const REGION: u64 = 1 << 20;
const MOST_REGIONS: usize = 1 << 20;

/// So many disjoint stretches of addresses are kept apart.
const MOST_STRETCHES: usize = 1 << 20;

/// So many points of the rate over time are told.
const POINTS: usize = 128;

/// Quantiles of measured responses that are told.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// What a trace is like.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// How many requests.
    pub requests: u64,
    /// The share of them that are reads.
    pub read_share: f64,
    /// Bytes read, and bytes written.
    pub bytes: [u64; 2],
    /// Lines passed over because they could not be read.
    pub skipped: u64,
    /// Of each device.
    pub devices: Vec<DeviceSurvey>,
    /// When requests come; none where the trace does not tell.
    pub arrivals: Option<Arrivals>,
    /// How large they are.
    pub sizes: Sizes,
    /// Where they go; none where the trace does not tell.
    pub places: Option<Places>,
    /// How long they took on the real device; none where the trace does not tell.
    pub responses: Option<Responses>,
}

/// When requests come.
#[derive(Clone, Debug, Serialize)]
pub struct Arrivals {
    /// Whether by the trace's own timestamps; else by the sum of responses and think times.
    pub by_timestamps: bool,
    /// From the first to the last, in seconds.
    pub span_s: f64,
    /// Requests a second, on average.
    pub rate_per_s: f64,
    /// The most requests in one second.
    pub peak_per_s: u64,
    /// The coefficient of variation of the times between requests: 1 for Poisson arrivals.
    pub interarrival_cv: f64,
    /// Variance over mean of the number of requests in a second: 1 for Poisson arrivals, more for bursts.
    pub dispersion_1s: f64,
    /// Requests that came before one that stands earlier in the file.
    pub out_of_order: u64,
    /// The rate over time: (end of the interval in s, requests a second).
    pub over_time: Vec<(f64, f64)>,
}

/// How large requests are.
#[derive(Clone, Debug, Serialize)]
pub struct Sizes {
    /// The smallest, in bytes.
    pub least: u64,
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub most: u64,
    /// The most frequent: (bytes, share of requests).
    pub frequent: Vec<(u64, f64)>,
    /// The cdf: (bytes, share of requests at most so large), at sizes that occur.
    pub cdf: Vec<(u64, f64)>,
}

/// Where requests go.
#[derive(Clone, Debug, Serialize)]
pub struct Places {
    /// The share of requests that begin where one of the 32 before it on the same device ended.
    pub sequential_share: f64,
    /// Bytes touched at least once.
    pub footprint: u64,
    /// The resolution of that, in bytes; 1 where it is exact.
    pub footprint_grain: u64,
    /// One more than the last byte touched, of all devices the largest.
    pub end: u64,
    /// Regions of so many bytes …
    pub region: u64,
    /// … of which the most popular get: (share of the regions touched, share of requests).
    pub popularity: Vec<(f64, f64)>,
}

/// How long requests took.
#[derive(Clone, Debug, Serialize)]
pub struct Responses {
    /// Their mean, in ms.
    pub mean_ms: f64,
    /// The longest, in ms.
    pub max_ms: f64,
    /// Quantiles: (share, ms).
    pub quantiles_ms: Vec<(f64, f64)>,
    /// Mean of reads, in ms; none where there are none.
    pub reads_ms: Option<f64>,
    /// Mean of writes, in ms.
    pub writes_ms: Option<f64>,
}

/// Reads all requests of `reader` and tells what they are like. `go_on` as in [`survey`](super::survey()).
pub fn characterise(reader: &mut Reader, go_on: &dyn Fn(u64) -> bool) -> Result<Info, TraceError> {
    let (mut times, mut sizes) = (Times::default(), BTreeMap::new());
    let (mut places, mut responses) = (Where::default(), Measured::default());
    let mut bytes = [0; 2];
    let survey = survey_of(reader, &[], u64::MAX, go_on, |traced| {
        bytes[usize::from(traced.op == Op::Write)] += traced.bytes;
        times.add(traced.at);
        places.add(traced);
        responses.add(traced);
        // Of very many sizes the later ones are counted with the next larger known.
        let size = if sizes.len() < SIZES { traced.bytes } else { known_size(&sizes, traced.bytes) };
        *sizes.entry(size).or_insert(0u64) += 1;
    })?;
    if survey.requests == 0 {
        return Err(reader.empty());
    }
    let n = survey.requests as f64;
    let timed = survey.timestamps || (survey.responses && survey.thinks);
    Ok(Info {
        requests: survey.requests,
        read_share: survey.reads as f64 / n,
        bytes,
        skipped: survey.skipped,
        arrivals: timed.then(|| times.told(survey.timestamps, survey.out_of_order)),
        sizes: told_sizes(&sizes, survey.requests),
        places: survey.addresses.then(|| places.told(&survey.devices, n)),
        responses: (responses.all.tally().count() > 0).then(|| responses.told()),
        devices: survey.devices,
    })
}

fn known_size(sizes: &BTreeMap<u64, u64>, bytes: u64) -> u64 {
    let next = sizes.range(bytes..).next().or_else(|| sizes.iter().next_back());
    next.map_or(bytes, |(size, _)| *size)
}

fn told_sizes(sizes: &BTreeMap<u64, u64>, requests: u64) -> Sizes {
    let n = requests as f64;
    let mut frequent: Vec<(u64, f64)> =
        sizes.iter().map(|(size, count)| (*size, *count as f64 / n)).collect();
    let mean = frequent.iter().map(|(size, share)| *size as f64 * share).sum();
    let mut below = 0.0;
    let steps = frequent.iter().map(|(size, share)| {
        below += share;
        (*size, below)
    });
    let all: Vec<(u64, f64)> = steps.collect();
    let step = all.len().div_ceil(POINTS);
    let cdf = all.iter().rev().step_by(step).rev().copied().collect();
    frequent.sort_by(|a, b| b.1.total_cmp(&a.1));
    frequent.truncate(TOLD_SIZES);
    Sizes { least: all[0].0, mean, most: all[all.len() - 1].0, frequent, cdf }
}

/// Arrivals, as they are counted.
#[derive(Default)]
struct Times {
    last: Nanos,
    gaps: Tally,
    /// The second being counted, and how many came in it.
    second: u64,
    in_second: u64,
    peak: u64,
    squares: f64,
    count: u64,
    /// Requests in intervals of 2^`fold` seconds.
    over_time: Vec<u64>,
    fold: u32,
}

impl Times {
    fn add(&mut self, at: Nanos) {
        if self.count > 0 {
            self.gaps.record(at - self.last.min(at));
        }
        self.count += 1;
        self.last = self.last.max(at);
        let second = (at.0 / 1_000_000_000).max(self.second);
        if second > self.second {
            self.close_second();
            self.second = second;
        }
        self.in_second += 1;
        self.count_over_time(second);
    }

    fn close_second(&mut self) {
        self.peak = self.peak.max(self.in_second);
        self.squares += self.in_second as f64 * self.in_second as f64;
        self.in_second = 0;
    }

    fn count_over_time(&mut self, second: u64) {
        while (second >> self.fold) as usize >= POINTS {
            self.over_time = self.over_time.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.fold += 1;
        }
        let at = (second >> self.fold) as usize;
        self.over_time.resize(self.over_time.len().max(at + 1), 0);
        self.over_time[at] += 1;
    }

    fn told(mut self, by_timestamps: bool, out_of_order: u64) -> Arrivals {
        self.close_second();
        let (seconds, n) = ((self.second + 1) as f64, self.count as f64);
        let mean = n / seconds;
        let variance = self.squares / seconds - mean * mean;
        let span_s = self.last.secs();
        let width = f64::from(1u32 << self.fold.min(31));
        let covered = |at: usize| (span_s - at as f64 * width).clamp(1e-9, width);
        let over_time = self.over_time.iter().enumerate();
        Arrivals {
            by_timestamps,
            span_s,
            rate_per_s: if span_s > 0.0 { (n - 1.0) / span_s } else { 0.0 },
            peak_per_s: self.peak,
            interarrival_cv: ratio(self.gaps.sd_ns(), self.gaps.mean_ns()),
            dispersion_1s: ratio(variance.max(0.0), mean),
            out_of_order,
            over_time: over_time
                .map(|(at, count)| ((at as f64 * width + covered(at)), *count as f64 / covered(at)))
                .collect(),
        }
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Addresses, as they are counted.
#[derive(Default)]
struct Where {
    /// Of each device, where the last requests ended.
    ends: Vec<([u64; STREAMS], usize)>,
    sequential: u64,
    footprint: Footprint,
    regions: BTreeMap<(u32, u64), u64>,
    fold: u32,
}

impl Where {
    fn add(&mut self, traced: &Traced) {
        let Some(address) = traced.address else { return };
        let (device, end) = (traced.device as usize, address + traced.bytes);
        if self.ends.len() <= device {
            self.ends.resize(device + 1, ([u64::MAX; STREAMS], 0));
        }
        let (ends, next) = &mut self.ends[device];
        match ends.iter().position(|last| *last == address) {
            Some(stream) => {
                self.sequential += 1;
                ends[stream] = end;
            }
            None => {
                ends[*next] = end;
                *next = (*next + 1) % STREAMS;
            }
        }
        self.footprint.add(traced.device, address, end);
        *self.regions.entry((traced.device, (address / REGION) >> self.fold)).or_insert(0) += 1;
        if self.regions.len() > MOST_REGIONS {
            self.fold_regions();
        }
    }

    fn fold_regions(&mut self) {
        let mut folded = BTreeMap::new();
        for ((device, region), count) in std::mem::take(&mut self.regions) {
            *folded.entry((device, region >> 1)).or_insert(0) += count;
        }
        (self.regions, self.fold) = (folded, self.fold + 1);
    }

    fn told(self, devices: &[DeviceSurvey], n: f64) -> Places {
        let mut counts: Vec<u64> = self.regions.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let to_the_first = |share: f64| {
            let many = ((share * counts.len() as f64).round() as usize).max(1);
            (share, counts.iter().take(many).sum::<u64>() as f64 / n)
        };
        Places {
            sequential_share: self.sequential as f64 / n,
            footprint: self.footprint.bytes(),
            footprint_grain: self.footprint.grain(),
            end: devices.iter().map(|device| device.end).max().unwrap_or(0),
            region: REGION << self.fold,
            popularity: [0.01, 0.05, 0.1, 0.2, 0.5].map(to_the_first).to_vec(),
        }
    }
}

/// Which addresses were touched: disjoint stretches, kept apart exactly while there are not too many.
#[derive(Default)]
struct Footprint {
    /// (device, first) → one more than the last, in units of 2^`fold` bytes.
    stretches: BTreeMap<(u32, u64), u64>,
    fold: u32,
}

impl Footprint {
    fn add(&mut self, device: u32, begin: u64, end: u64) {
        self.merge(device, begin >> self.fold, ((end - 1) >> self.fold) + 1);
        while self.stretches.len() > MOST_STRETCHES {
            self.fold += 1;
            for ((device, begin), end) in std::mem::take(&mut self.stretches) {
                self.merge(device, begin >> 1, end.div_ceil(2));
            }
        }
    }

    fn merge(&mut self, device: u32, mut begin: u64, mut end: u64) {
        // The stretches that begin at or before our end, from the last back, as long as they reach us.
        while let Some((&(of, from), &to)) = self.stretches.range(..=(device, end)).next_back()
            && of == device
            && to >= begin
        {
            (begin, end) = (begin.min(from), end.max(to));
            self.stretches.remove(&(of, from));
        }
        self.stretches.insert((device, begin), end);
    }

    fn grain(&self) -> u64 {
        1 << self.fold
    }

    fn bytes(&self) -> u64 {
        self.stretches.iter().map(|((_, begin), end)| (end - begin) << self.fold).sum()
    }
}

/// Measured responses, as they are counted.
#[derive(Default)]
struct Measured {
    all: Series,
    by_op: [Tally; 2],
}

impl Measured {
    fn add(&mut self, traced: &Traced) {
        if let Some(response) = traced.response {
            self.all.record(response);
            self.by_op[usize::from(traced.op == Op::Write)].record(response);
        }
    }

    fn told(&self) -> Responses {
        let distribution = self.all.distribution_from(0);
        let mean = |tally: &Tally| (tally.count() > 0).then(|| tally.mean_ns() * 1e-6);
        Responses {
            mean_ms: self.all.tally().mean_ns() * 1e-6,
            max_ms: self.all.tally().max().ms(),
            quantiles_ms: SHARES.iter().map(|&share| (share, distribution.quantile(share).ms())).collect(),
            reads_ms: mean(&self.by_op[0]),
            writes_ms: mean(&self.by_op[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The stretches are the bytes touched, however they overlap.
        #[test]
        fn the_footprint_is_what_was_touched(requests in prop::collection::vec((0u32..2, 0u64..200, 1u64..30), 1..60)) {
            let mut footprint = Footprint::default();
            let mut bytes = std::collections::BTreeSet::new();
            for (device, begin, length) in requests {
                footprint.add(device, begin, begin + length);
                bytes.extend((begin..begin + length).map(|byte| (device, byte)));
            }
            prop_assert_eq!(footprint.bytes(), bytes.len() as u64);
            let apart = footprint.stretches.iter().zip(footprint.stretches.iter().skip(1));
            for (((a, _), end), ((b, begin), _)) in apart {
                prop_assert!(a != b || end < begin, "stretches are disjoint");
            }
        }
    }

    #[test]
    fn regular_and_bursty_arrivals_are_told_apart() {
        let told = |times: &[f64]| {
            let mut found = Times::default();
            times.iter().for_each(|s| found.add(Nanos::from_secs(*s)));
            found.told(true, 0)
        };
        let regular: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
        let bursts: Vec<f64> =
            (0..1000).map(|i| f64::from(i / 100) * 10.0 + f64::from(i % 100) * 1e-3).collect();
        let (regular, bursts) = (told(&regular), told(&bursts));
        assert!((regular.rate_per_s - 10.0).abs() < 1e-9);
        assert!(regular.interarrival_cv < 1e-6 && regular.dispersion_1s < 1e-6, "{regular:?}");
        assert_eq!((regular.peak_per_s, bursts.peak_per_s), (10, 100));
        assert!(bursts.interarrival_cv > 5.0 && bursts.dispersion_1s > 50.0, "{bursts:?}");
    }
}
