//! A sequence of response times: everything a result says about it.

use headrace_units::Nanos;

use crate::batches::BatchSums;
use crate::histogram::{Histogram, Segments};
use crate::interval::Interval;
use crate::tally::Tally;

/// Response times in the order of completion, in flat memory, from which the first segments can be left out.
#[derive(Clone, Debug, Default)]
pub struct Series {
    tally: Tally,
    /// The tally at the end of each closed segment.
    tallies: Vec<Tally>,
    segments: Segments,
    batches: BatchSums,
}

impl Series {
    /// Adds one response time.
    #[inline]
    pub fn record(&mut self, response: Nanos) {
        self.tally.record(response);
        self.segments.record(response);
        self.batches.record(response.ns());
    }

    /// Ends a segment. All series of a run end theirs together, so that one cut serves for all.
    pub fn close_segment(&mut self) {
        self.tallies.push(self.tally);
        self.segments.close();
    }

    /// Merges neighbouring closed segments, of which there must be an even number.
    pub fn merge_segments(&mut self) {
        self.tallies = self.tallies.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
        self.segments.merge_neighbours();
    }

    /// Everything recorded.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The first segment to keep so that the warm-up found by MSER-5 is left out; `None` where none can be found.
    pub fn warm_up_segments(&self) -> Option<usize> {
        let warm_up = self.batches.warm_up()?;
        Some(
            self.tallies.iter().take_while(|tally| tally.count() < warm_up).count()
                + usize::from(warm_up > 0),
        )
        .map(|segments| segments.min(self.tallies.len()))
    }

    /// Returns true if the series is too short to find its warm-up.
    pub fn is_short(&self) -> bool {
        self.tally.count() < crate::batches::FEWEST as u64 * 5
    }

    /// Returns the maximum number of segments to leave out such that at least half of the observations stay.
    pub fn segments_of_half(&self) -> usize {
        self.tallies.iter().take_while(|tally| 2 * tally.count() <= self.tally.count()).count()
    }

    /// Returns the number of observations before segment `first`.
    pub fn count_before(&self, first: usize) -> u64 {
        if first == 0 { 0 } else { self.tallies[first - 1].count() }
    }

    /// The tally of one closed segment.
    pub fn tally_of(&self, segment: usize) -> Tally {
        let end = self.tallies[segment];
        if segment == 0 { end } else { end.since(&self.tallies[segment - 1]) }
    }

    /// The tally from segment `first` on.
    pub fn tally_from(&self, first: usize) -> Tally {
        if first == 0 { self.tally } else { self.tally.since(&self.tallies[first - 1]) }
    }

    /// The means of the four quarters of what is kept from segment `first` on, in nanoseconds. `None` where a quarter would
    /// have no segment, or has no observation.
    pub fn quarters_from(&self, first: usize) -> Option<[f64; 4]> {
        let kept = self.tallies.len().checked_sub(first).filter(|kept| *kept >= 4)?;
        let end = |quarter: usize| match quarter {
            4 => self.tally,
            _ => self.tallies[first + quarter * kept / 4 - 1],
        };
        let begin = |quarter: usize| if first + quarter == 0 { Tally::default() } else { end(quarter) };
        let quarters = [0, 1, 2, 3].map(|quarter| end(quarter + 1).since(&begin(quarter)));
        quarters.iter().all(|tally| tally.count() > 0).then(|| quarters.map(|tally| tally.mean_ns()))
    }

    /// The distribution from segment `first` on.
    pub fn distribution_from(&self, first: usize) -> Histogram {
        self.segments.from(first)
    }

    /// The distribution in one closed segment.
    pub fn distribution_of(&self, segment: usize) -> Histogram {
        self.segments.only(segment)
    }

    /// The interval of the mean, in nanoseconds, from segment `first` on. Centred on the mean of what is kept.
    pub fn interval_from(&self, first: usize) -> Option<Interval> {
        let skip = self.count_before(first).div_ceil(self.batches.size()) as usize;
        let means = self.batches.means();
        let interval = Interval::by_batch_means(means.get(skip..)?)?;
        Some(Interval { mean: self.tally_from(first).mean_ns(), ..interval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_out_the_same_observations_everywhere() {
        let mut series = Series::default();
        for i in 0..8000u64 {
            // A transient of 1000 observations, then alternation around 10 µs.
            series.record(Nanos(if i < 1000 { 100_000 } else { 9_000 + i % 3 * 1000 }));
            if i % 500 == 499 {
                series.close_segment();
            }
        }
        let first = series.warm_up_segments().unwrap();
        assert_eq!(first, 2, "the transient fills two segments");
        assert_eq!(series.count_before(first), 1000);
        assert_eq!(series.tally_from(first).count(), 7000);
        assert_eq!(series.distribution_from(first).count(), 7000);
        let interval = series.interval_from(first).unwrap();
        assert!((interval.mean - 10_000.0).abs() < 1.0 && interval.half_width < 100.0, "{interval:?}");
        assert_eq!(series.quarters_from(14), None, "two segments have no quarters");
        let [early, late @ ..] = series.quarters_from(0).unwrap();
        assert!(
            early > 50_000.0 && late.iter().all(|mean| (mean - 10_000.0).abs() < 10.0),
            "{early} {late:?}"
        );
        series.merge_segments();
        assert_eq!(series.count_before(1), 1000);
    }
}
