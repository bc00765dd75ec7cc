//! The arrival process: rate, burstiness, order.

use headrace_stats::Tally;
use headrace_units::Nanos;
use serde::Serialize;

use crate::replay::WINDOW;

/// The dispersion is not reported for fewer whole seconds than this: bursts would not differ from chance.
const SECONDS: u64 = 10;

/// Maximum number of points of the rate over time.
const POINTS: usize = 128;

/// The arrival process.
#[derive(Clone, Debug, Serialize)]
pub struct ArrivalSurvey {
    /// True if times are the timestamps of the trace; otherwise they are the sum of response and think times.
    pub by_timestamps: bool,
    /// Time from the first request to the last, in seconds.
    pub span_s: f64,
    /// Mean arrival rate, in requests per second.
    pub rate_per_s: f64,
    /// Maximum number of requests in one second.
    pub peak_per_s: u64,
    /// Coefficient of variation of the interarrival times: 1 for Poisson arrivals.
    pub interarrival_cv: f64,
    /// Index of dispersion: variance over mean of the number of requests in a second. 1 for Poisson arrivals, more for
    /// bursts. `None` for less than ten whole seconds.
    pub dispersion_1s: Option<f64>,
    /// Requests with an earlier time than a request before them in the file.
    pub out_of_order: u64,
    /// Rate over time: (end of the interval in seconds, requests per second). Empty if all requests arrive at once.
    pub over_time: Vec<(f64, f64)>,
}

/// Accumulates [`ArrivalSurvey`].
#[derive(Default)]
pub struct ArrivalCounts {
    /// Times that are not counted yet, since earlier ones may follow: a replay sorts requests within as many.
    waiting: Vec<Nanos>,
    last: Nanos,
    gaps: Tally,
    /// The current second, and the requests in it so far.
    second: u64,
    in_second: u64,
    peak: u64,
    squares: f64,
    count: u64,
    /// Requests in intervals of 2^`fold` seconds.
    over_time: Vec<u64>,
    fold: u32,
}

impl ArrivalCounts {
    #[inline]
    pub fn add(&mut self, at: Nanos) {
        self.waiting.push(at);
        if self.waiting.len() == 2 * WINDOW {
            self.count_earliest(WINDOW);
        }
    }

    /// Counts the earliest `many` of the times that wait.
    fn count_earliest(&mut self, many: usize) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable();
        waiting.drain(..many).for_each(|at| self.count_next(at));
        self.waiting = waiting;
    }

    fn count_next(&mut self, at: Nanos) {
        if self.count > 0 {
            self.gaps.record(at - self.last.min(at));
        }
        self.count += 1;
        self.last = self.last.max(at);
        let second = at.0 / 1_000_000_000;
        if second > self.second {
            self.close_second();
            (self.second, self.in_second) = (second, 0);
        }
        self.in_second += 1;
    }

    fn close_second(&mut self) {
        self.peak = self.peak.max(self.in_second);
        self.squares += self.in_second as f64 * self.in_second as f64;
        self.close_interval();
    }

    /// Counts the current second in its interval.
    fn close_interval(&mut self) {
        while (self.second >> self.fold) as usize >= POINTS {
            self.over_time = self.over_time.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.fold += 1;
        }
        let at = (self.second >> self.fold) as usize;
        self.over_time.resize(self.over_time.len().max(at + 1), 0);
        self.over_time[at] += self.in_second;
    }

    pub fn finish(mut self, by_timestamps: bool, out_of_order: u64) -> ArrivalSurvey {
        self.count_earliest(self.waiting.len());
        self.close_interval();
        // The last second is incomplete and does not enter the dispersion.
        let (seconds, n) = (self.second as f64, self.count as f64);
        let mean = (n - self.in_second as f64) / seconds.max(1.0);
        let variance = (self.squares / seconds.max(1.0) - mean * mean).max(0.0);
        let span_s = self.last.secs();
        ArrivalSurvey {
            by_timestamps,
            span_s,
            rate_per_s: ratio(n - 1.0, span_s),
            peak_per_s: self.peak.max(self.in_second),
            interarrival_cv: ratio(self.gaps.sd_ns(), self.gaps.mean_ns()),
            dispersion_1s: (self.second >= SECONDS).then(|| ratio(variance, mean)),
            out_of_order,
            over_time: self.rates(span_s),
        }
    }

    /// The rate in each interval. A last interval of less than half the width is joined with the one before it.
    fn rates(self, span_s: f64) -> Vec<(f64, f64)> {
        let width = (1u64 << self.fold) as f64;
        let mut counts = self.over_time;
        let last = counts.len().saturating_sub(1);
        let mut rest = span_s - last as f64 * width;
        if rest < width / 2.0 && last > 0 {
            let sliver = counts.pop().unwrap_or(0);
            counts[last - 1] += sliver;
            rest += width;
        }
        let covers = |at: usize| if at + 1 == counts.len() { rest.max(1e-9) } else { width };
        let lasts = counts.len() > 1 || span_s > 0.0;
        let rates = counts.iter().enumerate().filter(|_| lasts);
        rates.map(|(at, count)| (at as f64 * width + covers(at), *count as f64 / covers(at))).collect()
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(times: &[f64]) -> ArrivalSurvey {
        let mut counts = ArrivalCounts::default();
        times.iter().for_each(|s| counts.add(Nanos::from_secs(*s)));
        counts.finish(true, 0)
    }

    /// A trace that is reversed, or two that were written one after the other.
    #[test]
    fn requests_count_when_they_come_wherever_they_stand() {
        let once: Vec<f64> = (0..4000).map(|i| f64::from(i) * 5e-3).collect();
        let reversed: Vec<f64> = once.iter().rev().copied().collect();
        let (twice, once) = (arrivals(&once.repeat(2)), arrivals(&once));
        let reversed = arrivals(&reversed);
        assert_eq!((reversed.peak_per_s, twice.peak_per_s), (200, 400));
        assert_eq!((&reversed.over_time, reversed.interarrival_cv), (&once.over_time, once.interarrival_cv));
        let doubled: Vec<(f64, f64)> = once.over_time.iter().map(|(end, rate)| (*end, 2.0 * rate)).collect();
        assert_eq!(twice.over_time, doubled);
    }

    #[test]
    fn regular_and_bursty_arrivals_are_told_apart() {
        let regular: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
        let bursts: Vec<f64> =
            (0..1000).map(|i| f64::from(i / 100) * 10.0 + f64::from(i % 100) * 1e-3).collect();
        let (regular, bursts) = (arrivals(&regular), arrivals(&bursts));
        assert!((regular.rate_per_s - 10.0).abs() < 1e-9);
        assert!(regular.interarrival_cv < 1e-6 && regular.dispersion_1s.unwrap() < 1e-6, "{regular:?}");
        assert_eq!((regular.peak_per_s, bursts.peak_per_s), (10, 100));
        assert!(bursts.interarrival_cv > 5.0 && bursts.dispersion_1s.unwrap() > 50.0, "{bursts:?}");
        assert!(regular.over_time.iter().all(|(_, rate)| (rate - 10.0).abs() < 1.5), "{regular:?}");
        assert_eq!(arrivals(&[0.1, 0.2, 0.3]).dispersion_1s, None, "three requests in a second tell nothing");
    }
}
