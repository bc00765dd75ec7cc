//! Numbers with as many digits as are known.

use std::fmt;

/// A number with as many significant digits as the precision says.
pub struct Significant(pub f64);

impl fmt::Display for Significant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3) as i32;
        let before = if self.0 > 0.0 { libm::floor(libm::log10(self.0)) as i32 + 1 } else { digits };
        let text = format!("{:.*}", (digits - before).max(0) as usize, self.0);
        f.write_str(&grouped(&text))
    }
}

/// A count, with commas between thousands.
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0.to_string()))
    }
}

/// Puts commas between the thousands of a number.
pub fn grouped(text: &str) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    let first = usize::from(text.starts_with('-'));
    let comma = |at: usize| if at > first && at < whole && (whole - at).is_multiple_of(3) { "," } else { "" };
    text.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// Returns the half-width of an interval as a share of its mean, to two digits; nothing where it is finer than the digits of the mean.
pub fn within(share: f64) -> String {
    if share < 1e-5 { String::new() } else { format!(" ± {:.2} %", Significant(share * 100.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0.0123, 12.34, 999.9, 1234.5, -123.4, 12_345_678.0]
            .map(|number| format!("{:.4}", Significant(number)));
        assert_eq!(shown, ["0.01230", "12.34", "999.9", "1,234", "-123", "12,345,678"].map(str::to_owned));
        assert_eq!(
            [7, 1000, 75_033, 1_000_000].map(|n| Count(n).to_string()),
            ["7", "1,000", "75,033", "1,000,000"]
        );
    }
}
