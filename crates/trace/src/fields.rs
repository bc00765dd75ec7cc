//! Fields of a line: separators, numbers, operations.

use headrace_work::{Op, digits};

/// Maximum number of fields of a line; the rest is ignored.
pub const MOST: usize = 16;

/// The first [`MOST`] fields of a line.
pub struct Fields<'l> {
    all: [&'l [u8]; MOST],
    /// Number of fields, at most [`MOST`].
    pub count: usize,
}

impl<'l> Fields<'l> {
    /// Splits `line` at commas and trims white space.
    #[inline]
    pub fn by_comma(line: &'l [u8]) -> Self {
        let mut fields = Self { all: [b""; MOST], count: 0 };
        let mut rest = Some(line);
        while let Some(text) = rest
            && fields.count < MOST
        {
            let (field, after) = match memchr::memchr(b',', text) {
                Some(at) => (&text[..at], Some(&text[at + 1..])),
                None => (text, None),
            };
            fields.push(field.trim_ascii());
            rest = after;
        }
        fields
    }

    /// Splits `line` at white space.
    #[inline]
    pub fn by_blank(line: &'l [u8]) -> Self {
        let mut fields = Self { all: [b""; MOST], count: 0 };
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.take(MOST).for_each(|word| fields.push(word));
        fields
    }

    #[inline]
    fn push(&mut self, field: &'l [u8]) {
        self.all[self.count] = field;
        self.count += 1;
    }

    /// Field `at`, counted from zero; empty if the line has fewer.
    #[inline]
    pub fn get(&self, at: usize) -> &'l [u8] {
        self.all[at.min(MOST - 1)]
    }

    /// Checks that there are at least `least` fields; `form` names them in the message.
    #[inline]
    pub fn at_least(self, least: usize, form: &str) -> Result<Self, String> {
        if self.count >= least {
            return Ok(self);
        }
        Err(format!("the line has {} fields, fewer than the {least} of `{form}`", self.count))
    }
}

/// The start of a field as text, for messages.
pub fn shown(field: &[u8]) -> String {
    String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned()
}

/// A whole number.
#[inline]
pub fn whole(field: &[u8], what: &str) -> Result<u64, String> {
    digits(field).ok_or_else(|| invalid(field, what))
}

/// A number with an optional fraction, in units of `unit`, rounded to a whole: 1.5 ms with a unit of 10⁶ ns is
/// 1,500,000 ns. Exact as long as the product fits in 128 bits.
#[inline]
pub fn scaled(field: &[u8], unit: u64, what: &str) -> Result<u64, String> {
    digits(field)
        .and_then(|number| number.checked_mul(unit))
        .or_else(|| decimal(field, unit))
        .or_else(|| float(field, unit))
        .ok_or_else(|| invalid(field, what))
}

fn invalid(field: &[u8], what: &str) -> String {
    format!("`{}` is not a valid {what}", shown(field))
}

/// A decimal number of at most 28 digits.
#[inline]
fn decimal(field: &[u8], unit: u64) -> Option<u64> {
    let (mut number, mut scale, mut digits, mut in_fraction) = (0u128, 1u128, 0, false);
    for byte in field {
        let digit = byte.wrapping_sub(b'0');
        match digit {
            0..=9 if digits < 28 => {
                number = number * 10 + u128::from(digit);
                scale *= if in_fraction { 10 } else { 1 };
                digits += 1;
            }
            _ if *byte == b'.' && !in_fraction => in_fraction = true,
            _ => return None,
        }
    }
    let product = number.checked_mul(u128::from(unit))?;
    let rounded = if scale == 1 { product } else { (product + scale / 2) / scale };
    if digits == 0 { None } else { u64::try_from(rounded).ok() }
}

/// Any other notation: `1.3e-05`, `+2`.
fn float(field: &[u8], unit: u64) -> Option<u64> {
    let number: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    let product = number * unit as f64;
    (0.0..1.8e19).contains(&product).then_some((product + 0.5) as u64)
}

/// `R`, `read` or `0`; `W`, `write` or `1`.
#[inline]
pub fn op(field: &[u8]) -> Result<Op, String> {
    let is = |word: &[u8]| field.eq_ignore_ascii_case(word);
    match field {
        b"R" | b"r" | b"0" => Ok(Op::Read),
        b"W" | b"w" | b"1" => Ok(Op::Write),
        _ if is(b"read") => Ok(Op::Read),
        _ if is(b"write") => Ok(Op::Write),
        _ => Err(format!("`{}` is neither a read nor a write", shown(field))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_exactly() {
        assert_eq!(scaled(b"128166372003061629", 100, "time"), Ok(12_816_637_200_306_162_900));
        assert_eq!(scaled(b"1.000000001", 1_000_000_000, "time"), Ok(1_000_000_001));
        assert_eq!(scaled(b"13670.00000", 1000, "time"), Ok(13_670_000));
        assert_eq!(scaled(b"1.3e-05", 1_000_000_000, "time"), Ok(13_000));
        for wrong in [&b""[..], b".", b"-1", b"1.2.3", b"nan", b"1e30", b"99999999999999999999999"] {
            assert!(scaled(wrong, 1_000_000_000, "time").is_err(), "{}", shown(wrong));
        }
        assert!(whole(b"18446744073709551616", "number").is_err());
        assert_eq!(whole(b"18446744073709551615", "number"), Ok(u64::MAX));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..30), unit in 1u64..1 << 40) {
            let _ = (whole(&bytes, "number"), scaled(&bytes, unit, "number"), op(&bytes));
            let _ = (Fields::by_comma(&bytes).count, Fields::by_blank(&bytes).count);
        }

        #[test]
        fn decimals_agree_with_floats(number in 0.0f64..1e9, digits in 0usize..9) {
            let text = format!("{number:.digits$}");
            let expected: f64 = text.parse::<f64>().unwrap() * 1e6;
            let found = scaled(text.as_bytes(), 1_000_000, "time").unwrap() as f64;
            prop_assert!((found - expected).abs() <= 0.5 + expected * 1e-14);
        }
    }
}
