//! Reading `64 KiB`, `2 Gb/s`, `8.5 ms`, `0.01 /ms`, `7200 rpm` and `70 %`.

use std::str::FromStr;

use crate::{Bytes, BytesPerSecond, Fraction, Nanos, PerSecond, Shift};

/// Why a text is not a quantity of the wanted kind; the message says what is accepted. Nothing was changed: correct and retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no number at the beginning.
    #[error("`{text}` does not begin with a number; write {like}")]
    NoNumber {
        /// What was found.
        text: String,
        /// A correct example.
        like: &'static str,
    },
    /// There is a number and no unit.
    #[error("`{text}` has no unit; write {like}")]
    NoUnit {
        /// What was found.
        text: String,
        /// A correct example.
        like: &'static str,
    },
    /// The unit is not one of this kind.
    #[error("unknown unit of {kind} `{unit}`; use {accepted}")]
    UnknownUnit {
        /// The unit found.
        unit: String,
        /// What kind of quantity is wanted.
        kind: &'static str,
        /// The units that would do.
        accepted: &'static str,
    },
    /// `KB` and the like are read as 1000 by some and as 1024 by others.
    #[error("`{unit}` could mean 1000 or 1024: write kB (1000 bytes) or KiB (1024 bytes)")]
    AmbiguousUnit {
        /// The unit found.
        unit: String,
    },
    /// The number lies outside what the quantity can be.
    #[error("`{text}` is out of range: {kind} must be {range}")]
    OutOfRange {
        /// What was found.
        text: String,
        /// What kind of quantity is wanted.
        kind: &'static str,
        /// The values that would do.
        range: &'static str,
    },
}

/// What one kind of quantity looks like to its reader.
struct Kind {
    name: &'static str,
    units: &'static [(&'static str, f64)],
    accepted: &'static str,
    like: &'static str,
}

const TIME: Kind = Kind {
    name: "time",
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("μs", 1e3), // The Greek letter, which looks the same as the sign for micro.
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("h", 3600e9),
        ("d", 86_400e9),
    ],
    accepted: "ns, µs (us), ms, s, min, h or d",
    like: "a time such as `8.5 ms`",
};

const SIZE: Kind = Kind {
    name: "size",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("PB", 1e15),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("PiB", 1_125_899_906_842_624.0),
    ],
    accepted: "B, kB, MB, GB, TB, PB (1000s) or KiB, MiB, GiB, TiB, PiB (1024s)",
    like: "a size such as `64 KiB`",
};

/// Bits are units of a rate only: nobody sizes a request in them, and a slip of case would cost a factor of eight.
const BITS: &[(&str, f64)] = &[("b", 0.125), ("kb", 125.0), ("Mb", 125e3), ("Gb", 125e6), ("Tb", 125e9)];

const RATE: Kind = Kind {
    name: "data rate",
    units: &[],
    accepted: "a size over a time: `150 MB/s`, `2 Gb/s` (bits), `512 B/12 µs`",
    like: "a data rate such as `150 MB/s` or `2 Gb/s`",
};

const FREQUENCY: Kind = Kind {
    name: "frequency",
    units: &[
        ("/ms", 1e3),
        ("/s", 1.0),
        ("/min", 1.0 / 60.0),
        ("/h", 1.0 / 3600.0),
        ("Hz", 1.0),
        ("rpm", 1.0 / 60.0),
    ],
    accepted: "/ms, /s, /min, /h, Hz or rpm",
    like: "a frequency such as `50 /s`",
};

const SHARE: Kind = Kind {
    name: "share",
    units: &[("%", 0.01)],
    accepted: "% (or a number from 0 to 1)",
    like: "a share such as `70 %`",
};

/// Splits `8.5 ms` into its number and what follows.
fn number_and_rest<'t>(text: &'t str, kind: &Kind) -> Result<(f64, &'t str), UnitError> {
    let trimmed = text.trim();
    let is_exponent = |at: usize| {
        let tail = trimmed[at + 1..].trim_start_matches(['+', '-']);
        at > 0 && tail.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut previous = ' ';
    let end = trimmed
        .char_indices()
        .find(|&(at, c)| {
            let numeric = c.is_ascii_digit()
                || matches!(c, '.' | '_')
                || (matches!(c, 'e' | 'E') && is_exponent(at))
                || (matches!(c, '+' | '-') && (at == 0 || matches!(previous, 'e' | 'E')));
            previous = c;
            !numeric
        })
        .map_or(trimmed.len(), |(at, _)| at);
    let number = trimmed[..end].replace('_', "").parse::<f64>();
    match number {
        Ok(number) if number.is_finite() => Ok((number, trimmed[end..].trim())),
        _ => Err(UnitError::NoNumber { text: text.to_owned(), like: kind.like }),
    }
}

/// The size of `unit` in the kind's base unit.
fn factor(unit: &str, kind: &Kind, more: &[(&str, f64)]) -> Result<f64, UnitError> {
    if unit == "KB" && kind.accepted == SIZE.accepted {
        return Err(UnitError::AmbiguousUnit { unit: unit.to_owned() });
    }
    let known = kind.units.iter().chain(more).find(|(name, _)| *name == unit);
    known.map(|(_, size)| *size).ok_or_else(|| UnitError::UnknownUnit {
        unit: unit.to_owned(),
        kind: kind.name,
        accepted: kind.accepted,
    })
}

/// `text` in the kind's base unit, which is refused where it is negative.
fn quantity(text: &str, kind: &Kind) -> Result<f64, UnitError> {
    let (number, unit) = number_and_rest(text, kind)?;
    if unit.is_empty() {
        return Err(UnitError::NoUnit { text: text.trim().to_owned(), like: kind.like });
    }
    let value = number * factor(unit, kind, &[])?;
    in_range(text, value, kind, 0.0..=1.8e19, "zero or more, and at most 500 years or 16 EiB")
}

fn in_range(
    text: &str,
    value: f64,
    kind: &Kind,
    range: std::ops::RangeInclusive<f64>,
    says: &'static str,
) -> Result<f64, UnitError> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(UnitError::OutOfRange { text: text.trim().to_owned(), kind: kind.name, range: says })
    }
}

impl FromStr for Nanos {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        quantity(text, &TIME).map(|nanos| Self((nanos + 0.5) as u64))
    }
}

impl FromStr for Shift {
    type Err = UnitError;
    /// A time, with a minus before it where it is negative.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (size, negative) = match text.trim().strip_prefix('-') {
            Some(size) => (size, true),
            None => (text, false),
        };
        let nanos = size.parse::<Nanos>()?.0.min(i64::MAX as u64) as i64;
        Ok(Self(if negative { -nanos } else { nanos }))
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        quantity(text, &SIZE).map(|bytes| Self((bytes + 0.5) as u64))
    }
}

impl FromStr for BytesPerSecond {
    type Err = UnitError;
    /// A size (or bits) over a time that may itself have a number: `2 Gb/s`, `512 B / 0.012 ms`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, rest) = number_and_rest(text, &RATE)?;
        if rest.is_empty() {
            return Err(UnitError::NoUnit { text: text.trim().to_owned(), like: RATE.like });
        }
        let unknown =
            || UnitError::UnknownUnit { unit: rest.to_owned(), kind: RATE.name, accepted: RATE.accepted };
        let (size_unit, time) = rest.split_once('/').ok_or_else(unknown)?;
        let size = number
            * factor(size_unit.trim(), &SIZE, BITS).map_err(|error| match error {
                UnitError::UnknownUnit { .. } => unknown(),
                other => other,
            })?;
        let time = time.trim();
        let seconds = if time.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            quantity(time, &TIME)?
        } else {
            factor(time, &TIME, &[])?
        } * 1e-9;
        in_range(text, size / seconds, &RATE, f64::MIN_POSITIVE..=1e18, "more than zero").map(Self)
    }
}

impl FromStr for PerSecond {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, rest) = number_and_rest(text, &FREQUENCY)?;
        if rest.is_empty() {
            return Err(UnitError::NoUnit { text: text.trim().to_owned(), like: FREQUENCY.like });
        }
        let unit = if let Some(time) = rest.strip_prefix('/') {
            format!("/{}", time.trim())
        } else {
            rest.to_owned()
        };
        let value = number * factor(&unit, &FREQUENCY, &[])?;
        in_range(text, value, &FREQUENCY, 1e-9..=1e9, "more than zero (and at most 10⁹ a second)").map(Self)
    }
}

impl FromStr for Fraction {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, rest) = number_and_rest(text, &SHARE)?;
        let scale = if rest.is_empty() { 1.0 } else { factor(rest, &SHARE, &[])? };
        in_range(text, number * scale, &SHARE, 0.0..=1.0, "between 0 % and 100 %").map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!("1e3 ns".parse(), Ok(Nanos(1000)));
        assert_eq!("8.3333ms".parse(), Ok(Nanos(8_333_300)));
        assert_eq!("-0.483 ms".parse(), Ok(Shift(-483_000)));
        assert_eq!(serde_json::to_string(&Shift(-483_000)).unwrap(), "\"-0.483 ms\"");
        assert_eq!("1_000 B".parse(), Ok(Bytes(1000)));
        assert_eq!("500 GB".parse(), Ok(Bytes(500_000_000_000)));
        assert_eq!("7200 rpm".parse(), Ok(PerSecond(120.0)));
        assert_eq!("10 / s".parse(), Ok(PerSecond(10.0)));
        assert_eq!("70 %".parse(), Ok(Fraction(0.7000000000000001)));
        assert_eq!("0.7".parse(), Ok(Fraction(0.7)));
        assert_eq!("1.0625 Gb/s".parse(), Ok(BytesPerSecond(132_812_500.0)));
    }

    #[test]
    fn says_what_would_do() {
        let message = |error: UnitError| error.to_string();
        assert!(
            message("64".parse::<Bytes>().unwrap_err())
                .contains("has no unit; write a size such as `64 KiB`")
        );
        assert!(message("ms".parse::<Nanos>().unwrap_err()).contains("does not begin with a number"));
        assert!(
            message("8 parsecs".parse::<Nanos>().unwrap_err()).contains("unknown unit of time `parsecs`")
        );
        assert!(message("-1 ms".parse::<Nanos>().unwrap_err()).contains("zero or more"));
        assert!(message("--1 ms".parse::<Shift>().unwrap_err()).contains("zero or more"));
        assert!(message("140 %".parse::<Fraction>().unwrap_err()).contains("between 0 % and 100 %"));
        assert!(message("2 Gb".parse::<BytesPerSecond>().unwrap_err()).contains("a size over a time"));
        assert!(message("4 Gb".parse::<Bytes>().unwrap_err()).contains("unknown unit of size `Gb`"));
        assert!(message("0 MB/s".parse::<BytesPerSecond>().unwrap_err()).contains("more than zero"));
        assert!(message("1 MB/0 s".parse::<BytesPerSecond>().unwrap_err()).contains("more than zero"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,16}") {
            let _ = (text.parse::<Nanos>(), text.parse::<Bytes>(), text.parse::<Fraction>());
            let _ = (text.parse::<BytesPerSecond>(), text.parse::<PerSecond>());
        }

        #[test]
        fn what_is_shown_is_near_and_what_is_written_is_exact(bytes in 1u64..1 << 52, nanos in 0u64..1 << 52) {
            let shown = Bytes(bytes).to_string().parse::<Bytes>().unwrap();
            prop_assert!((shown.0 as f64 / bytes as f64 - 1.0).abs() < 1e-3, "{} for {}", shown.0, bytes);
            let written = serde_json::to_string(&(Bytes(bytes), Nanos(nanos))).unwrap();
            prop_assert_eq!(serde_json::from_str::<(Bytes, Nanos)>(&written).unwrap(), (Bytes(bytes), Nanos(nanos)));
        }
    }
}
