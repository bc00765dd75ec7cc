//! Numbers with as many digits as are known.

use std::fmt;

/// A number with as many significant digits as the precision says.
pub struct Significant(pub f64);

impl fmt::Display for Significant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3) as i32;
        let before = if self.0 > 0.0 { libm::floor(libm::log10(self.0)) as i32 + 1 } else { digits };
        write!(f, "{:.*}", (digits - before).max(0) as usize, self.0)
    }
}

/// Returns the half-width of an interval as a share of its mean, to two digits; nothing where it is finer than the digits of the mean.
pub fn within(share: f64) -> String {
    if share < 1e-5 { String::new() } else { format!(" ± {:.2} %", Significant(share * 100.0)) }
}
