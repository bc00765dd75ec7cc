//! Quantities with their units: [`Bytes`], [`Nanos`], [`BytesPerSecond`], [`PerSecond`], [`Fraction`].
//!
//! A user writes `64 KiB`, `2 Gb/s`, `8.5 ms`, `0.01 /ms`, `7200 rpm`, `70 %`; a model computes in one fixed unit.
//! A bare number where a unit belongs is refused: nobody should have to guess it.
//!
//! ```
//! use headrace_units::{Bytes, BytesPerSecond, Nanos, PerSecond};
//! assert_eq!("64 KiB".parse::<Bytes>()?.get(), 65_536);
//! assert_eq!("8.5 ms".parse::<Nanos>()?.get(), 8_500_000);
//! assert_eq!("2 Gb/s".parse::<BytesPerSecond>()?.get(), 250e6); // b is a bit, B a byte
//! assert_eq!("512 B / 0.5 ms".parse::<BytesPerSecond>()?.get(), 1_024_000.0);
//! assert_eq!("0.01 /ms".parse::<PerSecond>()?.get(), 10.0);
//! assert!("64 KB".parse::<Bytes>().unwrap_err().to_string().contains("kB"));
//! # Ok::<(), headrace_units::UnitError>(())
//! ```

pub mod document;
mod kind;
mod parse;
mod quantity;

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

pub use parse::UnitError;
pub use quantity::{Dimension, Quantity};

/// A span or an instant of virtual time, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A time that is added to another and may be negative, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shift(pub i64);

/// A size or an address, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A data rate, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// Frequency, in events a second: arrivals (`50 /s`), revolutions (`7200 rpm`).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PerSecond(pub f64);

/// Frequency that may be zero, in events a second: the rate of arrivals at some time.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A frequency, or a part of one that is stated elsewhere, which may be more than all of it: `300 /s`, `150 %`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum PerSecondOrShare {
    /// Events a second.
    PerSecond(PerSecond),
    /// The part, 1 for all.
    Share(f64),
}

/// A share between 0 and 1, written `70 %`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Fraction(pub f64);

/// Rate of failures, in failures a year of 365.25 days.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PerYear(pub f64);

/// Rate of errors, in errors a bit.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PerBit(pub f64);

/// Seconds in a year of 365.25 days.
pub const YEAR_S: f64 = 31_557_600.0;

impl Nanos {
    /// No time at all; also the instant at which every run begins.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// From nanoseconds, rounded to the nearest; negative and NaN become zero. At most 2⁶³ − 1, 292 years: a signed conversion
    /// takes a third of the instructions, and draws are made of it.
    #[inline]
    pub fn from_ns(ns: f64) -> Self {
        Self(((ns + 0.5) as i64).max(0) as u64)
    }

    /// From seconds: see [`Nanos::from_ns`].
    #[inline]
    pub fn from_secs(secs: f64) -> Self {
        Self::from_ns(secs * 1e9)
    }

    /// From milliseconds: see [`Nanos::from_ns`].
    #[inline]
    pub fn from_ms(ms: f64) -> Self {
        Self::from_ns(ms * 1e6)
    }

    /// Returns the time in whole nanoseconds.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// In nanoseconds, of a span below 2⁶³ ns: signed numbers convert in one instruction.
    #[inline]
    pub fn ns(self) -> f64 {
        self.0.cast_signed() as f64
    }

    /// In seconds.
    #[inline]
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// In milliseconds.
    #[inline]
    pub fn ms(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Returns the time multiplied by a factor: see [`Nanos::from_ns`].
    #[inline]
    pub fn scaled(self, factor: f64) -> Self {
        Self::from_ns(self.0 as f64 * factor)
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    #[inline]
    pub const fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Bytes {
    /// Returns the size in whole bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl BytesPerSecond {
    /// Bytes a second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns the time that `bytes` take at this rate, rounded to whole nanoseconds.
    #[inline]
    pub fn time_for(self, bytes: Bytes) -> Nanos {
        Nanos::from_secs(bytes.0 as f64 / self.0)
    }
}

impl PerSecond {
    /// Events a second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The mean time from one event to the next, in seconds.
    pub fn interval_secs(self) -> f64 {
        1.0 / self.0
    }
}

impl PerSecondOrShare {
    /// Returns the events a second; `None` for a part where it is not known of what.
    pub fn of(self, whole: Option<PerSecond>) -> Option<f64> {
        match self {
            Self::PerSecond(rate) => Some(rate.0),
            Self::Share(share) => Some(share * whole?.0),
        }
    }
}

impl Rate {
    /// Events a second.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PerYear {
    /// Failures a year.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns the failures a second, of years of 365.25 days.
    pub fn per_s(self) -> f64 {
        self.0 / YEAR_S
    }
}

impl PerBit {
    /// Errors a bit.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Fraction {
    /// Between 0 and 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// Time saturates: what lies beyond the end of time lies at [`Nanos::MAX`].
impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// A number of things, in words.
///
/// ```
/// assert_eq!(headrace_units::counted(1, "event"), "1 event");
/// assert_eq!(headrace_units::counted(3, "bad line"), "3 bad lines");
/// ```
pub fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Writes `value` in the largest unit of which it holds at least one, with four significant digits.
fn scaled(f: &mut fmt::Formatter<'_>, value: f64, units: &[(f64, &str)]) -> fmt::Result {
    let (size, name) =
        units.iter().copied().find(|&(size, _)| value.abs() >= size).unwrap_or(units[units.len() - 1]);
    let scaled = value / size;
    let decimals = if scaled.abs() >= 1000.0 || scaled == scaled.trunc() {
        0
    } else if scaled.abs() >= 100.0 {
        1
    } else if scaled.abs() >= 10.0 {
        2
    } else {
        3
    };
    write!(f, "{scaled:.decimals$} {name}")
}

const MINUTE: f64 = 60e9;
const HOUR: f64 = 3600e9;
const DAY: f64 = 86_400e9;

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 as f64 {
            // Minutes only where seconds have more than three digits; two of the next unit read better than many of the last.
            long if long >= 2.0 * DAY => scaled(f, long, &[(DAY, "d")]),
            long if long >= 2.0 * HOUR => scaled(f, long, &[(HOUR, "h")]),
            long if long >= 10.0 * MINUTE => scaled(f, long, &[(MINUTE, "min")]),
            short => scaled(f, short, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]),
        }
    }
}

/// Units of size, the largest first.
const SIZES: [(u64, &str); 11] = [
    (1 << 50, "PiB"),
    (1_000_000_000_000_000, "PB"),
    (1 << 40, "TiB"),
    (1_000_000_000_000, "TB"),
    (1 << 30, "GiB"),
    (1_000_000_000, "GB"),
    (1 << 20, "MiB"),
    (1_000_000, "MB"),
    (1 << 10, "KiB"),
    (1000, "kB"),
    (1, "B"),
];

impl Bytes {
    /// As a whole number of the largest unit that allows one.
    fn whole(self) -> (u64, &'static str) {
        let fits = SIZES.iter().find(|(size, _)| self.0 >= *size && self.0.is_multiple_of(*size));
        fits.map_or((0, "B"), |(size, name)| (self.0 / size, name))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole() {
            (number, unit) if number < 10_000 => write!(f, "{number} {unit}"),
            _ => {
                scaled(f, self.0 as f64, &[(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")])
            }
        }
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")])
    }
}

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1.0, "/s")])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PerSecond(self.0).fmt(f)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0 * 100.0, &[(1.0, "%")])
    }
}
