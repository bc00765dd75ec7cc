//! Where data lies on a zoned platter, and how long the arm takes across it.
//!
//! Track capacity falls linearly from the outermost cylinder to the innermost (many thin zones). With the media rates r₀
//! outside and r₁ inside, the rate at radius x (0 outside, 1 inside) is r(x) = r₀ − (r₀ − r₁) x, and the share of the
//! data that lies outside of x is u with r(x)² = r₀² − u (r₀² − r₁²). That is the inverse of the paper's transfer-time
//! cdf in its simple form F(t) = (n₁² − (k R/t)²)/(n₁² − n₀²), and |x − y| for uniform u, v has the paper's density of
//! seek distance A + G x + E x³, with the numerator of G negated as a whole (as printed it integrates to 1.15).

use headrace_units::BytesPerSecond;

use super::SeekTimes;

/// How data lies on the platter.
#[derive(Clone, Debug)]
pub(super) struct Zones {
    /// Bytes a nanosecond on the outermost track, squared, and how much less that is on the innermost.
    outer_squared: f64,
    fall_squared: f64,
    outer: f64,
    /// One over the fall of the rate; zero where every track is alike.
    per_fall: f64,
}

impl Zones {
    pub fn new(outer: BytesPerSecond, inner: BytesPerSecond) -> Self {
        let (outer, inner) = (outer.get() * 1e-9, inner.get() * 1e-9);
        let per_fall = if outer > inner { 1.0 / (outer - inner) } else { 0.0 };
        Self { outer_squared: outer * outer, fall_squared: outer * outer - inner * inner, outer, per_fall }
    }

    /// Bytes a nanosecond at the place that has the share `u` of the data outside of it.
    #[inline]
    fn rate(&self, u: f64) -> f64 {
        (self.outer_squared - u * self.fall_squared).sqrt()
    }

    /// Returns the radius at that position: 0 outside, 1 inside.
    #[inline]
    pub fn radius(&self, u: f64) -> f64 {
        if self.per_fall == 0.0 { u } else { (self.outer - self.rate(u)) * self.per_fall }
    }

    /// The share of the data outside of radius `x`: the inverse of [`Zones::radius`].
    pub fn share_outside(&self, x: f64) -> f64 {
        if self.per_fall == 0.0 {
            return x;
        }
        let rate = self.outer - x / self.per_fall;
        (self.outer_squared - rate * rate) / self.fall_squared
    }

    /// How densely data lies at radius `x`: the derivative of [`Zones::share_outside`].
    pub fn density(&self, x: f64) -> f64 {
        if self.per_fall == 0.0 {
            return 1.0;
        }
        2.0 * (self.outer - x / self.per_fall) / (self.per_fall * self.fall_squared)
    }

    /// Returns the time for `bytes` to pass under the head at that position, in ns.
    #[inline]
    pub fn transfer_ns(&self, u: f64, bytes: u64) -> f64 {
        bytes as f64 / self.rate(u)
    }
}

/// Seek time a + b Dᵖ over D cylinders: the track-to-track time at one cylinder, the full-stroke time at all, and p = 1/2 unless
/// the mean is given.
#[derive(Clone, Debug)]
pub(super) struct SeekCurve {
    start_ns: f64,
    /// b Cᵖ: the time a full stroke takes beyond a.
    reach_ns: f64,
    /// All cylinders but one.
    cylinders: f64,
    power: f64,
}

/// The mean of Dᵖ between random places, D as a share of the full stroke: its density is 2 (1 − D).
fn mean_power(power: f64) -> f64 {
    2.0 / ((power + 1.0) * (power + 2.0))
}

impl SeekCurve {
    /// The curve through the two ends of `times`, over `cylinders` (one less than there are).
    pub fn new(times: &SeekTimes, cylinders: f64) -> Self {
        let average = times.average.as_ref().map(|average| average.get().0 as f64);
        let power = average.map_or(0.5, |average| power_with_mean(times, cylinders, average));
        Self::with_power(times, cylinders, power)
    }

    fn with_power(times: &SeekTimes, cylinders: f64, power: f64) -> Self {
        let (one, full) = (times.track_to_track.get().0 as f64, times.full_stroke.get().0 as f64);
        let all = raise(cylinders, power);
        // Two cylinders leave one distance, and any slope goes through it.
        let slope = if all > 1.0 { (full - one) / (all - 1.0) } else { 0.0 };
        Self { start_ns: one - slope, reach_ns: slope * all, cylinders, power }
    }

    fn mean_ns(&self) -> f64 {
        self.start_ns + self.reach_ns * mean_power(self.power)
    }

    /// The time over `distance`, a share of the full stroke. No time where the arm stays in its cylinder, and never less
    /// than that to the next.
    #[inline]
    pub fn time_ns(&self, distance: f64) -> f64 {
        match distance * self.cylinders {
            stays if stays < 0.5 => 0.0,
            next if next < 1.0 => self.over(1.0 / self.cylinders),
            _ => self.over(distance),
        }
    }

    fn over(&self, distance: f64) -> f64 {
        self.start_ns + self.reach_ns * raise(distance, self.power)
    }

    /// The curve as points (cylinders, ns), dense where it bends.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let at = |i: u32| 1.0 + (self.cylinders - 1.0) * (f64::from(i) / 100.0) * (f64::from(i) / 100.0);
        (0..=100).map(at).map(|distance| (distance, self.over(distance / self.cylinders))).collect()
    }

    /// The distance, a share of the full stroke, that takes `time_ns`.
    pub fn distance(&self, time_ns: f64) -> f64 {
        let share = (time_ns - self.start_ns) / self.reach_ns;
        if share <= 0.0 { 0.0 } else { raise(share, 1.0 / self.power).min(1.0) }
    }
}

/// `base` to the `power`, by operations that give the same bits everywhere.
#[inline]
fn raise(base: f64, power: f64) -> f64 {
    match power {
        0.5 => base.sqrt(),
        2.0 => base * base,
        _ => libm::pow(base, power),
    }
}

/// The steepest and the flattest curve that data sheets are fitted by: as good as a step, and a straight line.
const POWERS: (f64, f64) = (0.02, 1.0);

/// The power with which the mean over random seeks is `average`, by bisection: the flatter the curve, the longer the mean.
fn power_with_mean(times: &SeekTimes, cylinders: f64, average: f64) -> f64 {
    let (mut low, mut high) = POWERS;
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if SeekCurve::with_power(times, cylinders, middle).mean_ns() > average {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The shortest and the longest mean that a curve through the two ends of `times` can have, in ns.
pub(super) fn means(times: &SeekTimes, cylinders: f64) -> (f64, f64) {
    let mean = |power| SeekCurve::with_power(times, cylinders, power).mean_ns();
    (mean(POWERS.1), mean(POWERS.0))
}
