//! Quantities of any kind: a number with powers of bytes and of seconds.

use std::fmt;
use std::str::FromStr;

use crate::document::read;
use crate::kind::{FREQUENCY, RATE, SHARE, SIZE, TIME};
use crate::{Bytes, BytesPerSecond, Nanos, PerSecond, UnitError};

/// Powers of bytes and of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Power of bytes.
    pub bytes: i32,
    /// Power of seconds.
    pub seconds: i32,
}

/// A number in bytes, seconds, or products of their powers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Value in base units: bytes, seconds, bytes a second, events a second, or a share of one.
    pub number: f64,
    /// Its unit.
    pub dimension: Dimension,
}

impl Dimension {
    /// Plain numbers and shares.
    pub const NONE: Self = Self { bytes: 0, seconds: 0 };
    /// Sizes.
    pub const SIZE: Self = Self { bytes: 1, seconds: 0 };
    /// Times.
    pub const TIME: Self = Self { bytes: 0, seconds: 1 };
    /// Data rates.
    pub const RATE: Self = Self { bytes: 1, seconds: -1 };
    /// Frequencies.
    pub const FREQUENCY: Self = Self { bytes: 0, seconds: -1 };

    /// Returns the dimension of a product with `power` of `other`; powers saturate.
    pub const fn times(self, other: Self, power: i32) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes.saturating_mul(power)),
            seconds: self.seconds.saturating_add(other.seconds.saturating_mul(power)),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => f.write_str("a plain number"),
            Self::SIZE => f.write_str("a size"),
            Self::TIME => f.write_str("a time"),
            Self::RATE => f.write_str("a data rate"),
            Self::FREQUENCY => f.write_str("a frequency"),
            Self { bytes, seconds } => write!(f, "a quantity in B^{bytes} s^{seconds}"),
        }
    }
}

impl FromStr for Quantity {
    type Err = UnitError;

    /// Reads a plain number or a quantity of any kind.
    ///
    /// # Errors
    /// Reports a unit of no kind, and the one that was probably meant.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Some(number) = text.trim().parse().ok().filter(|number: &f64| number.is_finite()) {
            return Ok(Self { number, dimension: Dimension::NONE });
        }
        let kinds = [
            (text.parse::<Bytes>().map(|size| size.0 as f64), Dimension::SIZE),
            (text.parse::<Nanos>().map(Nanos::secs), Dimension::TIME),
            (text.parse::<BytesPerSecond>().map(BytesPerSecond::get), Dimension::RATE),
            (text.parse::<PerSecond>().map(PerSecond::get), Dimension::FREQUENCY),
            (read("share", text).expect("shares are a kind"), Dimension::NONE),
        ];
        let mut errors = Vec::new();
        for (read, dimension) in kinds {
            match read {
                Ok(number) => return Ok(Self { number, dimension }),
                Err(error) => errors.push(error),
            }
        }
        Err(most_helpful(errors))
    }
}

/// Chooses the error of a kind that knows the unit, or what was probably meant; otherwise names all units.
fn most_helpful(errors: Vec<UnitError>) -> UnitError {
    let is_vague = |error: &UnitError| match error {
        UnitError::UnknownUnit { fix, .. } => !fix.starts_with("write"),
        _ => false,
    };
    let units =
        [&SIZE, &TIME, &RATE, &FREQUENCY, &SHARE].map(|kind| format!("{}: {}", kind.name, kind.accepted));
    let mut errors = errors.into_iter();
    let first = errors.next().expect("there are several kinds");
    match std::iter::once(first.clone()).chain(errors).find(|error| !is_vague(error)) {
        Some(error) => error,
        None => match first {
            UnitError::UnknownUnit { unit, .. } => UnitError::UnknownUnit {
                unit,
                kind: "a quantity",
                fix: format!("use a unit of {}", units.join("; ")),
            },
            other => other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (f64, Dimension) {
        let quantity: Quantity = text.parse().unwrap();
        (quantity.number, quantity.dimension)
    }

    #[test]
    fn quantities_of_every_kind_are_read_in_base_units() {
        assert_eq!(read("7"), (7.0, Dimension::NONE));
        assert_eq!(read("64 KiB"), (65_536.0, Dimension::SIZE));
        assert_eq!(read("8 ms"), (0.008, Dimension::TIME));
        assert_eq!(read("2 Gb/s"), (250e6, Dimension::RATE));
        assert_eq!(read("7200 rpm"), (120.0, Dimension::FREQUENCY));
        assert_eq!(read("50 %"), (0.5, Dimension::NONE));
    }

    #[test]
    fn a_unit_of_no_kind_is_reported_with_what_was_meant() {
        let error = |text: &str| text.parse::<Quantity>().unwrap_err().to_string();
        assert!(error("64 KB").contains("could mean 1000 or 1024"));
        assert!(error("90 sec").contains("write `90 s`"));
        assert!(
            error("3 furlongs").contains("unknown unit of a quantity `furlongs`; use a unit of size: B, kB")
        );
        assert!(error("140 %").contains("between 0 % and 100 %"));
        assert!(error("fast").contains("does not begin with a number"));
    }
}
