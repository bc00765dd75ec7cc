//! What a trace is like: when requests come, how large they are, where they go.

use std::collections::BTreeMap;

use headrace_stats::{Series, Tally};
use headrace_units::Nanos;
use serde::Serialize;

use super::TraceError;
use super::reader::{Reader, Traced};
use super::survey::{DeviceSurvey, survey_of};
use crate::request::Op;

/// A request that begins where one of the last so many on its device ended is sequential.
const STREAMS: usize = 32;

/// So many distinct sizes are counted apart; of more, those alike in their first eight binary digits together.
const SIZES: usize = 100_000;

/// Fewer whole seconds than this do not tell bursts from chance.
const SECONDS: u64 = 10;

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
    pub bytes: [u128; 2],
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
    /// Variance over mean of the number of requests in a second: 1 for Poisson arrivals, more for bursts. None for fewer than
    /// ten whole seconds.
    pub dispersion_1s: Option<f64>,
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
    let (mut times, mut sizes) = (Times::default(), SizeCounts::default());
    let (mut places, mut responses) = (Where::default(), Measured::default());
    let mut bytes = [0; 2];
    let survey = survey_of(reader, &[], u64::MAX, go_on, |traced| {
        bytes[usize::from(traced.op == Op::Write)] += u128::from(traced.bytes);
        times.add(traced.at);
        places.add(traced);
        responses.add(traced);
        sizes.add(traced.bytes);
    })?;
    if survey.requests == 0 {
        return Err(reader.empty());
    }
    let n = survey.requests as f64;
    let timed = survey.is_timed();
    Ok(Info {
        requests: survey.requests,
        read_share: survey.reads as f64 / n,
        bytes,
        skipped: survey.skipped,
        arrivals: timed.then(|| times.told(survey.timestamps, survey.out_of_order)),
        sizes: sizes.told(bytes.iter().sum::<u128>() as f64 / n, survey.largest, n),
        places: survey.addresses.then(|| places.told(&survey.devices, n)),
        responses: (responses.all.tally().count() > 0).then(|| responses.told()),
        devices: survey.devices,
    })
}

/// Sizes, as they are counted.
#[derive(Default)]
struct SizeCounts {
    counts: BTreeMap<u64, u64>,
    /// Whether there were too many to keep them apart.
    rounded: bool,
    least: Option<u64>,
}

impl SizeCounts {
    fn add(&mut self, bytes: u64) {
        self.least = Some(self.least.map_or(bytes, |least| least.min(bytes)));
        *self.counts.entry(if self.rounded { rounded(bytes) } else { bytes }).or_insert(0) += 1;
        if self.counts.len() > SIZES && !self.rounded {
            self.rounded = true;
            for (bytes, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(rounded(bytes)).or_insert(0) += count;
            }
        }
    }

    fn told(&self, mean: f64, most: u64, n: f64) -> Sizes {
        let mut frequent: Vec<(u64, f64)> =
            self.counts.iter().map(|(size, count)| (*size, *count as f64 / n)).collect();
        let mut below = 0.0;
        let steps = frequent.iter().map(|(size, share)| {
            below += share;
            (*size, below)
        });
        let all: Vec<(u64, f64)> = steps.collect();
        let cdf = all.iter().rev().step_by(all.len().div_ceil(POINTS)).rev().copied().collect();
        frequent.sort_by(|a, b| b.1.total_cmp(&a.1));
        frequent.truncate(TOLD_SIZES);
        Sizes { least: self.least.unwrap_or(0), mean, most, frequent, cdf }
    }
}

/// The first eight binary digits of a size, the rest zero.
fn rounded(bytes: u64) -> u64 {
    let rest = (u64::BITS - bytes.leading_zeros()).saturating_sub(8);
    bytes >> rest << rest
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

    fn told(self, by_timestamps: bool, out_of_order: u64) -> Arrivals {
        // The last second is not whole, and is left out of what is said of seconds.
        let (seconds, n) = (self.second as f64, self.count as f64);
        let mean = (n - self.in_second as f64) / seconds.max(1.0);
        let variance = (self.squares / seconds.max(1.0) - mean * mean).max(0.0);
        let span_s = self.last.secs();
        Arrivals {
            by_timestamps,
            span_s,
            rate_per_s: if span_s > 0.0 { (n - 1.0) / span_s } else { 0.0 },
            peak_per_s: self.peak.max(self.in_second),
            interarrival_cv: ratio(self.gaps.sd_ns(), self.gaps.mean_ns()),
            dispersion_1s: (self.second >= SECONDS).then(|| ratio(variance, mean)),
            out_of_order,
            over_time: self.rates(span_s),
        }
    }

    /// The rate in each interval; a sliver at the end counts with the one before it.
    fn rates(&self, span_s: f64) -> Vec<(f64, f64)> {
        let width = f64::from(1u32 << self.fold.min(31));
        let mut counts = self.over_time.clone();
        let last = counts.len().saturating_sub(1);
        let mut rest = span_s - last as f64 * width;
        if rest < width / 2.0 && last > 0 {
            let sliver = counts.pop().unwrap_or(0);
            counts[last - 1] += sliver;
            rest += width;
        }
        let covers = |at: usize| if at + 1 == counts.len() { rest.max(1e-9) } else { width };
        let whole = counts.len() > 1 || span_s > 0.0;
        let rates = counts.iter().enumerate().filter(|_| whole);
        rates.map(|(at, count)| (at as f64 * width + covers(at), *count as f64 / covers(at))).collect()
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Addresses, as they are counted.
#[derive(Default)]
struct Where {
    /// Of each device, where the last requests ended, and which was noted last.
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
        let (ends, last) = &mut self.ends[device];
        self.sequential += u64::from(ends.contains(&address));
        *last = (*last + 1) % STREAMS;
        ends[*last] = end;
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
            let many = (share * counts.len() as f64).round() as usize;
            (share, counts.iter().take(many).sum::<u64>() as f64 / n)
        };
        let shares = [0.01, 0.05, 0.1, 0.2, 0.5];
        Places {
            sequential_share: self.sequential as f64 / n,
            footprint: self.footprint.bytes(),
            footprint_grain: self.footprint.grain(),
            end: devices.iter().map(|device| device.end).max().unwrap_or(0),
            region: REGION << self.fold,
            popularity: shares
                .into_iter()
                .filter(|share| share * counts.len() as f64 >= 1.0)
                .map(to_the_first)
                .collect(),
        }
    }
}

/// How many bytes were touched: exactly while they lie in not too many stretches, then estimated.
#[derive(Default)]
struct Footprint {
    /// Disjoint: (device, first) → one more than the last.
    stretches: BTreeMap<(u32, u64), u64>,
    /// Once there are too many, pages are counted instead.
    pages: Option<Box<Pages>>,
}

impl Footprint {
    fn add(&mut self, device: u32, begin: u64, end: u64) {
        match &mut self.pages {
            Some(pages) => pages.add(device, begin, end),
            None => self.merge(device, begin, end),
        }
        if self.stretches.len() > MOST_STRETCHES {
            let mut pages = Box::<Pages>::default();
            for ((device, begin), end) in std::mem::take(&mut self.stretches) {
                pages.add(device, begin, end);
            }
            self.pages = Some(pages);
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
        if self.pages.is_some() { PAGE } else { 1 }
    }

    fn bytes(&self) -> u64 {
        match &self.pages {
            Some(pages) => pages.count() as u64 * PAGE,
            None => self.stretches.iter().map(|((_, begin), end)| end - begin).sum(),
        }
    }
}

/// What is estimated is counted in pages of so many bytes.
const PAGE: u64 = 4096;

/// How many distinct pages, by HyperLogLog (Flajolet, Fusy, Gandouet and Meunier 2007): of 2¹⁴ classes of pages each keeps the
/// rarest pattern seen, which gives the number within about 1 %.
struct Pages {
    rarest: [u8; 1 << Self::CLASS_BITS],
}

impl Default for Pages {
    fn default() -> Self {
        Self { rarest: [0; 1 << Self::CLASS_BITS] }
    }
}

impl Pages {
    const CLASS_BITS: u32 = 14;

    fn add(&mut self, device: u32, begin: u64, end: u64) {
        for page in begin / PAGE..end.div_ceil(PAGE) {
            let hash = scattered(page ^ u64::from(device).rotate_right(12));
            let class = (hash >> (u64::BITS - Self::CLASS_BITS)) as usize;
            let pattern = (hash << Self::CLASS_BITS | 1).leading_zeros() as u8 + 1;
            self.rarest[class] = self.rarest[class].max(pattern);
        }
    }

    fn count(&self) -> f64 {
        let classes = self.rarest.len() as f64;
        let sum: f64 = self.rarest.iter().map(|rarest| 1.0 / (1u64 << rarest) as f64).sum();
        0.7213 / (1.0 + 1.079 / classes) * classes * classes / sum
    }
}

/// A number whose bits depend on all bits of `number` (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
        assert!(regular.interarrival_cv < 1e-6 && regular.dispersion_1s.unwrap() < 1e-6, "{regular:?}");
        assert_eq!((regular.peak_per_s, bursts.peak_per_s), (10, 100));
        assert!(bursts.interarrival_cv > 5.0 && bursts.dispersion_1s.unwrap() > 50.0, "{bursts:?}");
        assert!(regular.over_time.iter().all(|(_, rate)| (rate - 10.0).abs() < 1.5), "{regular:?}");
        assert_eq!(told(&[0.1, 0.2, 0.3]).dispersion_1s, None, "three requests in a second tell nothing");
    }

    /// Scattered over more stretches than are kept, the bytes touched are estimated within a few percent.
    #[test]
    fn a_scattered_footprint_is_estimated() {
        let mut footprint = Footprint::default();
        let touched = MOST_STRETCHES as u64 * 3 / 2;
        (0..touched).for_each(|i| footprint.add(0, i * 5 * PAGE, i * 5 * PAGE + PAGE));
        let off = footprint.bytes() as f64 / (touched * PAGE) as f64 - 1.0;
        assert!(footprint.grain() == PAGE && off.abs() < 0.03, "{off}");
    }

    /// Of very many sizes none is counted as a much smaller one.
    #[test]
    fn sizes_are_kept_within_a_percent() {
        let mut sizes = SizeCounts::default();
        (0..SIZES as u64 * 2).for_each(|i| sizes.add(if i % 2 == 0 { 1_000_000_000 } else { 1000 + i }));
        let told = sizes.told(0.0, 1_000_000_000, SIZES as f64 * 2.0);
        assert_eq!(told.least, 1001);
        let (size, share) = told.frequent[0];
        assert!((share - 0.5).abs() < 1e-9 && size.abs_diff(1_000_000_000) < 10_000_000, "{size} {share}");
    }
}
