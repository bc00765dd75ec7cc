//! Locating: how long a drive takes from one position of a tape to another.

use headrace_units::Nanos;
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::travel::{Travel, wrap_and_along};

/// Data bands of an LTO tape, of all generations; wraps fill one after another.
const BANDS: u32 = 4;

/// Time to locate: by distance alone, or by a fit that knows the serpentine way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Locate {
    /// By the distance along the tape.
    Along(Travel),
    /// By distance, and by what changes on the way.
    Serpentine(Serpentine),
}

/// A fit of locate times, as CERN made for LTO-7M: a sum of what the move needs. With its numbers: `{start: 4.29 s, whole: 105 s, wrap: 6.69 s,
/// band: 3.2 s, direction: 5.22 s, back: 11.32 s, middle: 6.04 s}`; `whole` is 0.62 ms for each position, of which a tape has about 169,000 by
/// our estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Serpentine {
    /// Time of any move.
    #[serde(default)]
    pub start: Nanos,
    /// Additional time from one end of the tape to the other; shorter distances take proportionally less.
    #[serde(default)]
    pub whole: Nanos,
    /// Additional time to another wrap.
    #[serde(default)]
    pub wrap: Nanos,
    /// Additional time to a wrap of another of the four data bands.
    #[serde(default)]
    pub band: Nanos,
    /// Additional time to a wrap of the other direction.
    #[serde(default)]
    pub direction: Nanos,
    /// Additional time back on the same wrap.
    #[serde(default)]
    pub back: Nanos,
    /// Time saved by a move across the middle of the tape.
    #[serde(default)]
    pub middle: Nanos,
}

impl Default for Locate {
    fn default() -> Self {
        Self::Along(Travel::default())
    }
}

impl Locate {
    /// The time from one position to another, as shares of the capacity of a tape with this number of wraps. None where they are the same.
    pub fn time(&self, from: f64, to: f64, wraps: u32) -> Nanos {
        let (begin, end) = (wrap_and_along(from, wraps), wrap_and_along(to, wraps));
        match self {
            Self::Along(travel) => travel.time((begin.1 - end.1).abs()),
            Self::Serpentine(_) if from == to => Nanos::ZERO,
            Self::Serpentine(fit) => Nanos::from_secs(fit.secs(begin, end, wraps)),
        }
    }

    /// CERN's fit for LTO-7M.
    #[cfg(test)]
    pub fn lto7m() -> Self {
        let secs = Nanos::from_secs;
        Self::Serpentine(Serpentine {
            start: secs(4.29),
            whole: secs(105.0),
            wrap: secs(6.69),
            band: secs(3.2),
            direction: secs(5.22),
            back: secs(11.32),
            middle: secs(6.04),
        })
    }

    /// Returns the error of invalid parameters; `None` if they are valid.
    pub fn problem(&self) -> Option<Invalid> {
        match self {
            Self::Along(travel) => travel.problem(),
            Self::Serpentine(_) => None,
        }
    }
}

impl Serpentine {
    /// Between a wrap with a position along it and another, in s.
    fn secs(&self, (wrap, along): (u32, f64), (to_wrap, to_along): (u32, f64), wraps: u32) -> f64 {
        let band = |wrap: u32| u64::from(wrap) * u64::from(BANDS) / u64::from(wraps);
        let is_back = if wrap % 2 == 0 { to_along < along } else { to_along > along };
        let adds = [
            (true, self.start),
            (wrap != to_wrap, self.wrap),
            (band(wrap) != band(to_wrap), self.band),
            (wrap % 2 != to_wrap % 2, self.direction),
            (wrap == to_wrap && is_back, self.back),
        ];
        let sum: f64 = adds.iter().filter(|(needs, _)| *needs).map(|(_, time)| time.secs()).sum();
        let crosses = (along < 0.5) != (to_along < 0.5);
        let saved = if crosses { self.middle.secs() } else { 0.0 };
        (sum + self.whole.secs() * (along - to_along).abs() - saved).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CERN's formula by hand: 4.29 + 6.69·wrap + 3.2·band − 6.04·middle + 5.22·direction + 11.32·back + 105·distance, on 8 wraps of four bands.
    #[test]
    fn a_fit_adds_what_the_way_needs() {
        let fit = Locate::lto7m();
        let time = |from: f64, to: f64| fit.time(from / 8.0, to / 8.0, 8).secs();
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        is(time(0.25, 0.25), 0.0);
        is(time(0.25, 0.75), 4.29 + 105.0 * 0.5 - 6.04);
        is(time(0.4, 0.3), 4.29 + 105.0 * 0.1 + 11.32);
        is(time(1.4, 1.3), 4.29 + 105.0 * 0.1 + 11.32);
        // From 0.9 along wrap 0 to 0.7 along wrap 1 (backwards), and from there to 0.7 along wrap 2, of the next band.
        is(time(0.9, 1.3), 4.29 + 105.0 * 0.2 + 6.69 + 5.22);
        is(time(1.3, 2.7), 4.29 + 6.69 + 5.22 + 3.2);
        is(time(0.7, 4.7), 4.29 + 6.69 + 3.2);
    }
}
