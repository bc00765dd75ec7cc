//! Poisson arrivals whose rate varies with time.

use headrace_kernel::Draws;
use headrace_units::{Nanos, Rate};
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Poisson process whose rate varies with time (nonhomogeneous): a daily curve, a ramp, a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaryingSpec {
    /// Rates and when each begins, from `0 s` on.
    #[schemars(length(min = 1))]
    pub rates: Vec<RateFrom>,
    /// The rate between two of these times.
    #[serde(default)]
    pub between: Interpolation,
    /// Time after which the curve begins again, such as `24 h`. Default: the last rate stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Nanos>,
    /// Factor for all rates.
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub scale: f64,
}

/// A rate and when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateFrom {
    /// Simulated time; within a period, time since its beginning.
    pub at: Nanos,
    /// The rate then, zero for none.
    pub rate: Rate,
}

/// The rate between two times at which it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// The earlier one, until the next.
    #[default]
    Steps,
    /// On the straight line to the next; with a period, the last to the first.
    Linear,
}

const fn one() -> f64 {
    1.0
}

impl VaryingSpec {
    /// Returns what is wrong; `None` if it is valid.
    pub fn problem(&self) -> Option<Invalid> {
        let first = self.rates.first()?;
        if first.at.0 > 0 {
            let message = format!("the first rate begins at {}; the curve begins at 0 s", first.at);
            return Some(
                Invalid::new("rates", message).help("say which rate there is from 0 s on, such as `0 /s`"),
            );
        }
        if let Some(at) = self.rates.windows(2).position(|pair| pair[1].at <= pair[0].at) {
            let (before, after) = (self.rates[at].at, self.rates[at + 1].at);
            let message =
                format!("item {} begins at {after}, not after the {before} of the one before", at + 2);
            return Some(Invalid::new("rates", message).help("list the rates in the order of their times"));
        }
        let last = self.rates[self.rates.len() - 1];
        if let Some(period) = self.period.filter(|period| *period <= last.at) {
            let message = format!("a period of {period} ends before the last rate begins, at {}", last.at);
            return Some(
                Invalid::new("period", message)
                    .help("make it longer, or remove the rates that it never reaches"),
            );
        }
        let none = self.rates.iter().all(|one| one.rate.get() <= 0.0);
        none.then(|| {
            Invalid::new("rates", "all rates are zero: no request would ever come")
                .help("give a rate above zero")
        })
    }

    /// Returns when the last request can come, where none come any more after some time.
    pub fn ends(&self) -> Option<Nanos> {
        let last = self.rates.last().filter(|last| self.period.is_none() && last.rate.get() <= 0.0)?;
        Some(last.at)
    }

    /// Returns the time that the whole curve takes: its period, or until its last rate begins.
    pub fn length(&self) -> Nanos {
        self.period.unwrap_or_else(|| self.rates.last().map_or(Nanos::ZERO, |last| last.at))
    }

    /// Returns the smallest and the largest rate, in requests/s.
    pub fn bounds(&self) -> (f64, f64) {
        let rates = || self.rates.iter().map(|one| one.rate.get() * self.scale);
        (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max))
    }

    /// Returns the long-run mean rate, in requests/s: the mean over a period, or the last rate if there is no period.
    pub fn mean_rate(&self) -> f64 {
        let curve = Curve::of(self);
        match self.period {
            Some(period) => curve.area / period.secs(),
            None => curve.last,
        }
    }
}

/// The rate on a stretch of time: a straight line.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// When it begins, in seconds since the curve did, and how long it lasts.
    begins: f64,
    lasts: f64,
    /// The rate when it begins, and by how much it grows each second.
    rate: f64,
    slope: f64,
}

impl Piece {
    /// The rate after `t` seconds of it.
    fn rate_at(&self, t: f64) -> f64 {
        (self.rate + self.slope * t).max(0.0)
    }

    /// The number of requests to expect after its first `t` seconds.
    fn area_after(&self, t: f64) -> f64 {
        (self.lasts - t) * (self.rate_at(t) + self.rate_at(self.lasts)) / 2.0
    }

    /// The seconds from `t` until `area` more requests are to be expected, of fewer than are left: the root of λτ + bτ²/2 = area in
    /// the form that loses no digits where the slope b is small.
    fn time_for(&self, area: f64, t: f64) -> f64 {
        if area <= 0.0 {
            return 0.0; // The root is 0/0 where the rate is zero too.
        }
        let rate = self.rate_at(t);
        2.0 * area / (rate + (rate * rate + 2.0 * self.slope * area).max(0.0).sqrt())
    }
}

/// A rate as a function of time.
#[derive(Clone, Debug)]
struct Curve {
    pieces: Vec<Piece>,
    /// Requests to expect of all pieces.
    area: f64,
    period: Option<Nanos>,
    /// The rate after all pieces, unless they begin again.
    last: f64,
}

impl Curve {
    fn of(spec: &VaryingSpec) -> Self {
        let rate = |at: usize| spec.rates[at].rate.get() * spec.scale;
        let begins = |at: usize| spec.rates[at].at.secs();
        let many = spec.rates.len();
        let ends =
            |at: usize| if at + 1 < many { Some(begins(at + 1)) } else { spec.period.map(Nanos::secs) };
        let piece = |at: usize| {
            let lasts = ends(at)? - begins(at);
            let next = rate((at + 1) % many);
            let slope = if spec.between == Interpolation::Linear { (next - rate(at)) / lasts } else { 0.0 };
            Some(Piece { begins: begins(at), lasts, rate: rate(at), slope })
        };
        let pieces: Vec<Piece> = (0..many).filter_map(piece).collect();
        let area = pieces.iter().map(|piece| piece.area_after(0.0)).sum();
        Self { pieces, area, period: spec.period, last: rate(many - 1) }
    }
}

/// Draws the arrivals of a rate that varies, by inversion of the number of requests to be expected (Çinlar 1975): that number grows by an
/// exponential of mean one from each arrival to the next.
#[derive(Clone, Debug)]
pub struct Varying {
    curve: Curve,
    /// When the period began that the last arrival lies in.
    began: Nanos,
    /// The piece that it lies in, and the seconds since that began; beyond the last, of a curve that does not begin again.
    piece: usize,
    t: f64,
    now: Nanos,
}

/// An arrival that never comes: later than any run.
const NEVER: Nanos = Nanos(1 << 62);

impl Varying {
    /// From the beginning of the curve.
    pub fn new(spec: &VaryingSpec) -> Self {
        Self { curve: Curve::of(spec), began: Nanos::ZERO, piece: 0, t: 0.0, now: Nanos::ZERO }
    }

    /// The time from the last arrival to the next.
    pub fn gap(&mut self, draws: &mut Draws) -> Nanos {
        let next = self.advance(draws.exponential()).max(self.now);
        let gap = next - self.now;
        self.now = next;
        gap
    }

    /// The last arrival came later than it was drawn: its source was blocked until `now`.
    pub fn resume(&mut self, now: Nanos) {
        self.now = now;
        if let Some(period) = self.curve.period {
            self.began = Nanos(now.0 / period.0 * period.0);
        }
        let t = (now - self.began).secs();
        let last = self.curve.pieces.len() - usize::from(self.curve.period.is_some());
        let later = self.curve.pieces.partition_point(|piece| piece.begins + piece.lasts <= t).min(last);
        (self.piece, self.t) = (later, t - self.begins(later));
    }

    /// When a piece begins; the one beyond the last, when that ends.
    fn begins(&self, piece: usize) -> f64 {
        match (self.curve.pieces.get(piece), self.curve.pieces.last()) {
            (Some(piece), _) => piece.begins,
            (None, Some(last)) => last.begins + last.lasts,
            (None, None) => 0.0,
        }
    }

    /// Moves on by this number of requests to be expected: whole periods in one step, then piece by piece through two periods at most.
    fn advance(&mut self, mut area: f64) -> Nanos {
        if let Some(period) = self.curve.period {
            let periods = libm::floor(area / self.curve.area);
            area -= periods * self.curve.area;
            self.began += Nanos((period.0 as f64 * periods) as u64);
        }
        while let Some(piece) = self.curve.pieces.get(self.piece) {
            let left = piece.area_after(self.t);
            if area < left {
                self.t += piece.time_for(area, self.t);
                return self.began + Nanos::from_secs(piece.begins + self.t);
            }
            area -= left;
            self.next_piece();
        }
        if self.curve.last <= 0.0 {
            return NEVER;
        }
        self.t += area / self.curve.last;
        self.began + Nanos::from_secs(self.begins(self.piece) + self.t)
    }

    fn next_piece(&mut self) {
        (self.piece, self.t) = (self.piece + 1, 0.0);
        if let Some(period) = self.curve.period.filter(|_| self.piece == self.curve.pieces.len()) {
            (self.piece, self.began) = (0, self.began + period);
        }
    }
}

#[cfg(test)]
mod tests {
    use headrace_kernel::RngStream;
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn curve(rates: &[(u64, f64)], between: Interpolation, period: Option<u64>) -> VaryingSpec {
        let rates = rates.iter().map(|(at, rate)| RateFrom { at: Nanos(at * S), rate: Rate(*rate) });
        VaryingSpec { rates: rates.collect(), between, period: period.map(|s| Nanos(s * S)), scale: 1.0 }
    }

    fn arrivals(spec: &VaryingSpec, until: Nanos) -> Vec<Nanos> {
        let (mut varying, mut draws) = (Varying::new(spec), RngStream::named(3, "users", "arrivals").draws());
        let mut now = Nanos::ZERO;
        let next = || {
            now += varying.gap(&mut draws);
            Some(now).filter(|now| *now <= until)
        };
        std::iter::from_fn(next).collect()
    }

    /// Returns the rate at time `t`, in requests/s, by the definition.
    fn rate(spec: &VaryingSpec, t: f64) -> f64 {
        let t = spec.period.map_or(t, |period| t % period.secs());
        let later = spec.rates.partition_point(|one| one.at.secs() <= t);
        let before = spec.rates[later - 1];
        let next = spec.rates.get(later).map(|one| (one.at.secs(), one.rate.get()));
        let next = next.or(spec.period.map(|period| (period.secs(), spec.rates[0].rate.get())));
        match (spec.between, next) {
            (Interpolation::Linear, Some((at, rate))) => {
                let share = (t - before.at.secs()) / (at - before.at.secs());
                spec.scale * (before.rate.get() * (1.0 - share) + rate * share)
            }
            _ => spec.scale * before.rate.get(),
        }
    }

    /// Requests to expect in a second of the curve: the integral of the rate by its middles, which is exact on straight lines but where
    /// one ends within a step.
    fn expected(spec: &VaryingSpec, from: u64) -> f64 {
        (0..1000).map(|k| rate(spec, from as f64 + (f64::from(k) + 0.5) / 1000.0) / 1000.0).sum()
    }

    /// Counts of each second of the curve over many periods are Poisson: within five standard deviations of the integrated rate, and
    /// their squares about it are as many as seconds, within five standard deviations of chi-square.
    #[track_caller]
    fn counts_are_those_of_the_rate(spec: &VaryingSpec, seconds: u64, periods: u64) {
        let mut counts = vec![0u64; seconds as usize];
        let end = Nanos(seconds * periods * S - 1);
        arrivals(spec, end).iter().for_each(|at| counts[(at.0 / S % seconds) as usize] += 1);
        let mut square = 0.0;
        for (second, count) in counts.iter().enumerate() {
            let expected = expected(spec, second as u64) * periods as f64;
            let off = *count as f64 - expected;
            assert!(off.abs() <= 5.0 * expected.sqrt(), "second {second}: {count} for {expected}");
            square += if expected > 0.0 { off * off / expected } else { 0.0 };
        }
        let freedom = seconds as f64;
        assert!((square - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "chi-square {square} of {freedom}");
    }

    #[test]
    fn steps_and_lines_repeat_with_their_period() {
        let rates = [(0, 20.0), (8, 0.0), (10, 200.0), (18, 50.0)];
        for between in [Interpolation::Steps, Interpolation::Linear] {
            counts_are_those_of_the_rate(&curve(&rates, between, Some(24)), 24, 400);
        }
        let scaled = VaryingSpec { scale: 0.05, ..curve(&rates, Interpolation::Linear, Some(24)) };
        counts_are_those_of_the_rate(&scaled, 24, 8000);
    }

    /// Most periods have no request at all: they are passed in one step.
    #[test]
    fn a_rare_rate_passes_whole_periods() {
        let rare =
            VaryingSpec { scale: 1e-3, ..curve(&[(0, 5.0), (3, 1.0)], Interpolation::Steps, Some(12)) };
        counts_are_those_of_the_rate(&rare, 12, 400_000);
    }

    #[test]
    fn without_a_period_the_last_rate_stays() {
        let ramp = curve(&[(0, 0.0), (10, 3000.0)], Interpolation::Linear, None);
        counts_are_those_of_the_rate(&ramp, 40, 1);
        assert_eq!((ramp.mean_rate(), ramp.ends(), ramp.length()), (3000.0, None, Nanos(10 * S)));
    }

    #[test]
    fn after_a_rate_of_zero_nothing_comes() {
        let burst = curve(&[(0, 500.0), (10, 0.0)], Interpolation::Steps, None);
        let all = arrivals(&burst, NEVER - Nanos(1));
        assert!((4700..5300).contains(&all.len()) && all[all.len() - 1] < Nanos(10 * S), "{}", all.len());
        assert_eq!(burst.ends(), Some(Nanos(10 * S)));
    }

    /// In the time of expected requests the gaps are exponential, whatever the rate does (Kolmogorov and Smirnov; above 2.3 once in
    /// 20,000).
    #[test]
    fn gaps_are_exponential_in_expected_requests() {
        let spec = curve(&[(0, 5.0), (4, 50.0), (9, 0.0), (10, 20.0)], Interpolation::Linear, Some(16));
        let fine = 2000;
        let mut sums = vec![0.0];
        for k in 0..16 * fine {
            let middle = (f64::from(k) + 0.5) / f64::from(fine);
            sums.push(sums[k as usize] + rate(&spec, middle) / f64::from(fine));
        }
        let whole = sums[sums.len() - 1];
        let upto = |at: &Nanos| {
            let (period, within) = (at.0 / (16 * S), (at.0 % (16 * S)) as f64 * 1e-9 * f64::from(fine));
            let (k, part) = (within as usize, within.fract());
            whole * period as f64 + sums[k] + part * (sums[k + 1] - sums[k])
        };
        let upto: Vec<f64> = arrivals(&spec, Nanos(16 * 200 * S)).iter().map(upto).collect();
        let mut gaps: Vec<f64> = upto.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_by(f64::total_cmp);
        let n = gaps.len() as f64;
        let off = |(k, gap): (usize, &f64)| ((k as f64 + 0.5) / n - 1.0 + libm::exp(-gap)).abs();
        let most = gaps.iter().enumerate().map(off).fold(0.0, f64::max);
        assert!(n > 50_000.0 && most * n.sqrt() < 2.3, "{} of {n}", most * n.sqrt());
    }

    /// A source that was blocked goes on with the rate of the time at which it is free.
    #[test]
    fn a_blocked_source_resumes_with_the_rate_of_that_time() {
        for period in [None, Some(30)] {
            let spec = curve(&[(0, 1.0), (10, 1000.0)], Interpolation::Steps, period);
            let (mut varying, mut draws) = (Varying::new(&spec), RngStream::named(1, "", "").draws());
            let later = if period.is_some() { 75 } else { 15 };
            varying.resume(Nanos(later * S));
            assert!(varying.gap(&mut draws) < Nanos(S / 50), "{period:?}");
            varying.resume(Nanos(61 * S));
            let gap = varying.gap(&mut draws);
            assert!(
                if period.is_some() { gap > Nanos(S / 50) } else { gap < Nanos(S / 50) },
                "{period:?}: {gap}"
            );
        }
    }

    proptest! {
        /// Any valid curve ends each gap, and its rate is its mean.
        #[test]
        fn every_curve_has_its_mean(
            rates in prop::collection::vec((1u64..50, prop_oneof![Just(0.0), 0.1f64..100.0]), 1..12),
            linear: bool, scale in 0.01f64..10.0,
        ) {
            let mut at = 0;
            let points = rates.iter().map(|(lasts, rate)| { at += lasts; (at - lasts, *rate) }).collect::<Vec<_>>();
            let between = if linear { Interpolation::Linear } else { Interpolation::Steps };
            let spec = VaryingSpec { scale, ..curve(&points, between, Some(at)) };
            prop_assume!(spec.problem().is_none());
            let mean = (0..at).map(|second| expected(&spec, second)).sum::<f64>() / at as f64;
            prop_assert!((spec.mean_rate() / mean - 1.0).abs() < 1e-9, "{} {mean}", spec.mean_rate());
            let (mut varying, mut draws) = (Varying::new(&spec), RngStream::named(3, "", "").draws());
            let total: f64 = (0..4000).map(|_| varying.gap(&mut draws).secs()).sum();
            // The count of a Poisson process, and the part of a period at the end.
            let expected = mean * total;
            prop_assert!((4000.0 - expected).abs() < 6.0 * expected.sqrt() + mean * at as f64, "{expected}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |spec: VaryingSpec| {
            spec.problem().map(|Invalid { field, message, .. }| format!("{field}: {message}"))
        };
        let steps =
            |rates: &[(u64, f64)], period| message(curve(rates, Interpolation::Steps, period)).unwrap();
        assert!(steps(&[(1, 5.0)], None).contains("rates: the first rate begins at 1 s"));
        assert!(
            steps(&[(0, 5.0), (4, 1.0), (4, 2.0)], None).contains("item 3 begins at 4 s, not after the 4 s")
        );
        assert!(steps(&[(0, 5.0), (4, 1.0)], Some(4)).contains("period: a period of 4 s ends before"));
        assert!(steps(&[(0, 0.0), (4, 0.0)], Some(5)).contains("all rates are zero"));
        assert_eq!(message(curve(&[(0, 5.0)], Interpolation::Steps, None)), None);
    }

    /// Another machine, compiler or release must give these, or saved seeds lose their meaning.
    #[test]
    fn golden_arrivals() {
        let spec = curve(&[(0, 5.0), (4, 50.0)], Interpolation::Linear, Some(16));
        assert_eq!(arrivals(&spec, Nanos(S))[..4], GOLDEN.map(Nanos));
    }

    const GOLDEN: [u64; 4] = [352_075_330, 374_488_895, 473_228_048, 501_042_428];
}
