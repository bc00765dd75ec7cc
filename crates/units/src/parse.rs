//! Reading `64 KiB`, `2 Gb/s`, `8.5 ms`, `0.01 /ms`, `7200 rpm` and `70 %`.

use std::str::FromStr;

use crate::kind::{BITS, ERRORS, FAILURES, FREQUENCY, Kind, RATE, SHARE, SIZE, TIME};
use crate::{
    Bytes, BytesPerSecond, Fraction, Nanos, PerBit, PerSecond, PerSecondOrShare, PerYear, Rate, Shift,
};

/// Why a text is not a quantity of the wanted kind; the message says what is accepted. Nothing was changed: correct and retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no number at the beginning.
    #[error("`{text}` does not begin with a number; write {like}")]
    NoNumber {
        /// Text found.
        text: String,
        /// A correct example.
        like: String,
    },
    /// There is a number and no unit.
    #[error("`{text}` has no unit; write {like}")]
    NoUnit {
        /// Text found.
        text: String,
        /// The number with units.
        like: String,
    },
    /// The unit is not one of this kind.
    #[error("unknown unit of {kind} `{unit}`; {fix}")]
    UnknownUnit {
        /// The unit found.
        unit: String,
        /// Kind of quantity wanted.
        kind: &'static str,
        /// Corrected quantity, with the unit that was probably meant, or the units that are accepted.
        fix: String,
    },
    /// `KB` and the like are read as 1000 by some and as 1024 by others.
    #[error("`{unit}` could mean 1000 or 1024: write kB (1000 bytes) or KiB (1024 bytes)")]
    AmbiguousUnit {
        /// The unit found.
        unit: String,
    },
    /// A share above one is percent without its sign.
    #[error("`{text}` is larger than 1; did you mean `{text} %`?")]
    NoPercent {
        /// Text found.
        text: String,
    },
    /// The number lies outside what the quantity can be.
    #[error("`{text}` is out of range: {kind} must be {range}")]
    OutOfRange {
        /// Text found.
        text: String,
        /// Kind of quantity wanted.
        kind: &'static str,
        /// Accepted values.
        range: &'static str,
    },
}

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
        _ => Err(kind.without_number(text)),
    }
}

/// The size of `unit` in the kind's base unit; `text` is what it stands in.
fn factor(text: &str, unit: &str, kind: &Kind, more: &[(&str, f64)]) -> Result<f64, UnitError> {
    if unit == "KB" && kind.accepted == SIZE.accepted {
        return Err(UnitError::AmbiguousUnit { unit: unit.to_owned() });
    }
    let known = kind.units.iter().chain(more).find(|(name, _)| *name == unit);
    known.map(|(_, size)| *size).ok_or_else(|| kind.unknown(number_in(text, unit), unit))
}

/// Returns the text before a unit.
fn number_in<'t>(text: &'t str, unit: &str) -> &'t str {
    let text = text.trim();
    text.strip_suffix(unit).unwrap_or(text).trim()
}

/// `text` in the kind's base unit, which is refused where it is negative.
fn quantity(text: &str, kind: &Kind) -> Result<f64, UnitError> {
    let (number, unit) = number_and_rest(text, kind)?;
    if unit.is_empty() {
        return Err(kind.without_unit(text.trim()));
    }
    let value = number * factor(text, unit, kind, &[])?;
    let is_size = kind.accepted == SIZE.accepted;
    let says =
        if is_size { "zero or more, and at most 16 EiB" } else { "zero or more, and at most 500 years" };
    in_range(text, value, kind, 0.0..=1.8e19, says)
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
            return Err(RATE.without_unit(text.trim()));
        }
        let unknown = || RATE.unknown(number_in(text, rest), rest);
        let (size_unit, time) = rest.split_once('/').ok_or_else(unknown)?;
        let size = number
            * factor(text, size_unit.trim(), &SIZE, BITS).map_err(|error| match error {
                UnitError::UnknownUnit { .. } => unknown(),
                other => other,
            })?;
        let time = time.trim();
        let seconds = if time.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            quantity(time, &TIME)?
        } else {
            factor(text, time, &TIME, &[]).map_err(|_| unknown())?
        } * 1e-9;
        in_range(text, size / seconds, &RATE, f64::MIN_POSITIVE..=1e18, "more than zero").map(Self)
    }
}

/// `text` in events a second, whatever its range.
fn frequency(text: &str) -> Result<f64, UnitError> {
    let (number, rest) = number_and_rest(text, &FREQUENCY)?;
    if rest.is_empty() {
        return Err(FREQUENCY.without_unit(text.trim()));
    }
    // Of seconds and more, the slash is missing.
    let short = TIME.units.iter().find(|(name, size)| *name == rest && *size < 1e9 && number > 0.0);
    if let Some((_, size)) = short {
        let (text, each) = (text.trim(), 1e9 / (number * size));
        let each: f64 = format!("{each:.3e}").parse().unwrap_or(each);
        let fix = format!("`{text}` is a time, and one every {text} is `{each} /s`");
        return Err(UnitError::UnknownUnit { unit: rest.to_owned(), kind: FREQUENCY.name, fix });
    }
    let unit =
        if let Some(time) = rest.strip_prefix('/') { format!("/{}", time.trim()) } else { rest.to_owned() };
    Ok(number * factor(text, &unit, &FREQUENCY, &[])?)
}

impl FromStr for PerSecond {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let says = "more than zero (and at most 10⁹ a second)";
        in_range(text, frequency(text)?, &FREQUENCY, 1e-9..=1e9, says).map(Self)
    }
}

impl FromStr for PerSecondOrShare {
    type Err = UnitError;
    /// A frequency, or a number of per cent.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            return text.parse().map(Self::PerSecond);
        };
        let (number, rest) = number_and_rest(percent, &SHARE)?;
        factor(text, if rest.is_empty() { "%" } else { rest }, &SHARE, &[])?;
        in_range(text, number * 0.01, &SHARE, 1e-9..=1e6, "more than 0 %").map(Self::Share)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let value = frequency(text)?;
        if value == 0.0 {
            return Ok(Self(0.0));
        }
        let says = "zero, or from 10⁻⁹ to 10⁹ a second";
        in_range(text, value, &FREQUENCY, 1e-9..=1e9, says).map(Self)
    }
}

/// `text` in the base unit of a rate of rare events, with or without blanks within the unit.
fn rare(
    text: &str,
    kind: &Kind,
    range: std::ops::RangeInclusive<f64>,
    says: &'static str,
) -> Result<f64, UnitError> {
    let (number, rest) = number_and_rest(text, kind)?;
    if rest.is_empty() {
        return Err(kind.without_unit(text.trim()));
    }
    let unit: String = rest.split_whitespace().collect();
    in_range(text, number * factor(text, &unit, kind, &[])?, kind, range, says)
}

impl FromStr for PerYear {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        rare(text, &FAILURES, 1e-9..=1e4, "more than zero (and at most 10,000 a year)").map(Self)
    }
}

impl FromStr for PerBit {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        rare(text, &ERRORS, 0.0..=1e-6, "from zero to 10⁻⁶ a bit").map(Self)
    }
}

impl FromStr for Fraction {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, rest) = number_and_rest(text, &SHARE)?;
        if rest.is_empty() && number > 1.0 && number <= 100.0 {
            return Err(UnitError::NoPercent { text: text.trim().to_owned() });
        }
        let scale = if rest.is_empty() { 1.0 } else { factor(text, rest, &SHARE, &[])? };
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
        assert_eq!(serde_json::to_string(&Shift(-483_000)).unwrap(), "\"-483 us\"");
        assert_eq!("1_000 B".parse(), Ok(Bytes(1000)));
        assert_eq!("500 GB".parse(), Ok(Bytes(500_000_000_000)));
        assert_eq!("7200 rpm".parse(), Ok(PerSecond(120.0)));
        assert_eq!("10 / s".parse(), Ok(PerSecond(10.0)));
        assert_eq!("10 /s".parse(), Ok(PerSecondOrShare::PerSecond(PerSecond(10.0))));
        assert_eq!("150 %".parse(), Ok(PerSecondOrShare::Share(1.5)));
        assert_eq!(serde_json::to_string(&PerSecondOrShare::Share(1.5)).unwrap(), "\"150 %\"");
        assert!("1 x%".parse::<PerSecondOrShare>().is_err() && "0 %".parse::<PerSecondOrShare>().is_err());
        assert_eq!("70 %".parse(), Ok(Fraction(0.7000000000000001)));
        assert_eq!("0.7".parse(), Ok(Fraction(0.7)));
        assert_eq!("1.0625 Gb/s".parse(), Ok(BytesPerSecond(132_812_500.0)));
        assert_eq!("6 Gbit/s".parse(), Ok(BytesPerSecond(750e6)));
        assert_eq!("1.5 % / year".parse(), Ok(PerYear(0.015)));
        assert_eq!("1e-15/bit".parse(), Ok(PerBit(1e-15)));
    }

    #[test]
    fn says_what_would_do() {
        let message = |error: UnitError| error.to_string();
        assert!(
            message("64".parse::<Bytes>().unwrap_err())
                .contains("has no unit; write a size such as `64 KiB` or `64 B`")
        );
        assert!(
            message("ms".parse::<Nanos>().unwrap_err())
                .contains("does not begin with a number; write `1 ms`")
        );
        assert!(message("5".parse::<Nanos>().unwrap_err()).contains("write a time such as `5 ms` or `5 s`"));
        assert!(message("5e4".parse::<PerSecond>().unwrap_err()).contains("a frequency such as `5e4 /s`"));
        assert!(
            message("8 parsecs".parse::<Nanos>().unwrap_err()).contains("unknown unit of time `parsecs`")
        );
        assert!(message("-1 ms".parse::<Nanos>().unwrap_err()).contains("zero or more"));
        assert!(message("--1 ms".parse::<Shift>().unwrap_err()).contains("zero or more"));
        assert!(message("140 %".parse::<Fraction>().unwrap_err()).contains("between 0 % and 100 %"));
        assert!(message("2 Gb".parse::<BytesPerSecond>().unwrap_err()).contains("write `2 GB/s` (bytes) or"));
        assert!(message("2 furlongs".parse::<BytesPerSecond>().unwrap_err()).contains("a size over a time"));
        assert!(
            message("50 ms".parse::<PerSecond>().unwrap_err())
                .ends_with("`50 ms` is a time, and one every 50 ms is `20 /s`")
        );
        assert!(message("-1 KiB".parse::<Bytes>().unwrap_err()).ends_with("at most 16 EiB"));
        assert!(message("4 Gb".parse::<Bytes>().unwrap_err()).contains("unknown unit of size `Gb`"));
        assert!(message("4 Mx".parse::<Bytes>().unwrap_err()).contains("use B, kB, MB"));
        assert!(message("0 MB/s".parse::<BytesPerSecond>().unwrap_err()).contains("more than zero"));
        let written =
            |error: UnitError| error.to_string().split_once("; ").map(|(_, fix)| fix.to_owned()).unwrap();
        assert_eq!(written("200 iops".parse::<PerSecond>().unwrap_err()), "write `200 /s`");
        assert_eq!(written("200 IOPS".parse::<PerSecond>().unwrap_err()), "write `200 /s`");
        assert_eq!(written("64k".parse::<Bytes>().unwrap_err()), "write `64 KiB` (1024s) or `64 kB` (1000s)");
        assert_eq!(written("4 Gb".parse::<Bytes>().unwrap_err()), "write `4 GiB` (1024s) or `4 GB` (1000s)");
        assert_eq!(
            written("1 Gbps".parse::<BytesPerSecond>().unwrap_err()),
            "write `1 GB/s` (bytes) or `1 Gb/s` (bits)"
        );
        assert_eq!(written("90 sec".parse::<Nanos>().unwrap_err()), "write `90 s`");
        assert_eq!(written("70".parse::<Fraction>().unwrap_err()), "did you mean `70 %`?");
        assert_eq!(written("5 percent".parse::<Fraction>().unwrap_err()), "write `5 %`");
        assert_eq!(written("1.5 %".parse::<PerYear>().unwrap_err()), "write `1.5 %/year`");
        assert_eq!(written("1e-15/b".parse::<PerBit>().unwrap_err()), "write `1e-15 /bit`");
        assert!(message("0 %/year".parse::<PerYear>().unwrap_err()).contains("more than zero"));
        assert!(message("1 MB/0 s".parse::<BytesPerSecond>().unwrap_err()).contains("more than zero"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,16}") {
            let _ = (text.parse::<Nanos>(), text.parse::<Bytes>(), text.parse::<Fraction>());
            let _ = (text.parse::<BytesPerSecond>(), text.parse::<PerSecond>());
        }

        #[test]
        fn what_is_shown_is_near_and_what_is_written_is_exact(bytes in 1u64..1 << 52, nanos in 0u64..1 << 52, shift in 0..52) {
            let nanos = nanos >> shift;
            let shown = Bytes(bytes).to_string().parse::<Bytes>().unwrap();
            prop_assert!((shown.0 as f64 / bytes as f64 - 1.0).abs() < 1e-3, "{} for {}", shown.0, bytes);
            let written = serde_json::to_string(&(Bytes(bytes), Nanos(nanos))).unwrap();
            prop_assert_eq!(serde_json::from_str::<(Bytes, Nanos)>(&written).unwrap(), (Bytes(bytes), Nanos(nanos)));
        }
    }
}
