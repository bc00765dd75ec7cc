//! Positioning: where data lies along the tape, and how long the way there takes.

use headrace_units::{Fraction, Nanos};
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time to move the tape: in proportion to the distance, or as measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Travel {
    /// From one end of the tape to the other; shorter distances take proportionally less.
    Whole(Nanos),
    /// Times of some distances, the shortest first; between them the time is interpolated. The last must be 100 %.
    Measured(#[schemars(length(min = 1))] Vec<MoveTime>),
}

/// Duration of a move of the tape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveTime {
    /// Distance, as a share of the length of the tape.
    pub distance: Fraction,
    /// Time.
    pub time: Nanos,
}

impl Default for Travel {
    fn default() -> Self {
        Self::Whole(Nanos::ZERO)
    }
}

impl Travel {
    /// The time of a move by this share of the length of the tape; none takes no time.
    pub fn time(&self, distance: f64) -> Nanos {
        let distance = distance.min(1.0);
        let points = match self {
            Self::Whole(whole) => return Nanos::from_secs(whole.secs() * distance),
            Self::Measured(_) if distance <= 0.0 => return Nanos::ZERO,
            Self::Measured(points) => points,
        };
        let mut before = (0.0, 0.0);
        for point in points {
            let next = (point.distance.get(), point.time.secs());
            if distance <= next.0 {
                let share = (distance - before.0) / (next.0 - before.0);
                return Nanos::from_secs(before.1 + share * (next.1 - before.1));
            }
            before = next;
        }
        Nanos::from_secs(before.1)
    }

    /// Returns the error of invalid parameters; `None` if they are valid.
    pub fn problem(&self) -> Option<Invalid> {
        let Self::Measured(points) = self else { return None };
        let distances: Vec<f64> =
            std::iter::once(0.0).chain(points.iter().map(|at| at.distance.get())).collect();
        if distances.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Some(Invalid::new("", "distances must be above 0 % and increase"));
        }
        (distances.last() != Some(&1.0))
            .then(|| Invalid::new("", "the last distance must be 100 %: the length of the tape"))
    }
}

/// Returns the position of a byte along the tape, as a share of its length: tracks are written in `wraps`, alternately forwards and
/// backwards.
pub(super) fn along(share: f64, wraps: u32) -> f64 {
    wrap_and_along(share, wraps).1
}

/// Returns the wrap of a byte, and its position along the tape.
pub(super) fn wrap_and_along(share: f64, wraps: u32) -> (u32, f64) {
    let at = share.clamp(0.0, 1.0) * f64::from(wraps);
    let (wrap, within) = (libm::floor(at), at - libm::floor(at));
    (wrap as u32, if wrap % 2.0 == 0.0 { within } else { 1.0 - within })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_alternate_in_direction() {
        let at = |share: f64| along(share, 4);
        assert_eq!(
            [at(0.0), at(0.125), at(0.25), at(0.375), at(0.5), at(1.0)],
            [0.0, 0.5, 1.0, 0.5, 0.0, 0.0]
        );
        assert_eq!([along(0.3, 1), along(1.0, 1)], [0.3, 1.0]);
    }

    #[test]
    fn measured_times_are_met_and_interpolated() {
        let moved =
            |distance: f64, s: u64| MoveTime { distance: Fraction(distance), time: Nanos(s * 1_000_000_000) };
        let measured = Travel::Measured(vec![moved(0.1, 10), moved(1.0, 46)]);
        let secs = |distance: f64| measured.time(distance).secs();
        assert_eq!([secs(0.0), secs(0.05), secs(0.1), secs(1.0)], [0.0, 5.0, 10.0, 46.0]);
        assert!((secs(0.55) - 28.0).abs() < 1e-9);
        assert!(measured.problem().is_none());
        assert!(Travel::Measured(vec![moved(0.5, 10)]).problem().unwrap().message.contains("100 %"));
    }
}
