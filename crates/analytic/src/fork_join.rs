//! Fork-join queues: a job splits over K queues and ends when its last part does. No exact answer is known beyond K = 2;
//! these are the approximations and what they are off by.
//!
//! All give the mean response as a multiple of that of one queue, R₁ = 1/(μ − λ), for K M/M/1 queues at utilisation ρ.
//! The errors stated are against [`measured`], for K = 3 to 32 and ρ = 0.1 to 0.9.

/// Simulated means as a multiple of R₁, by K, at ρ = 0.1, 0.2 … 0.9: 2·10⁷ jobs each (`tests/fork_join.rs` computes them again).
/// Standard errors are below 0.06 % up to ρ = 0.8 and 0.12 % at 0.9.
const MEASURED: [(u32, [f64; 9]); 9] = [
    (2, [1.4876, 1.4750, 1.4625, 1.4501, 1.4374, 1.4244, 1.4123, 1.4010, 1.3873]),
    (3, [1.8094, 1.7857, 1.7625, 1.7392, 1.7164, 1.6942, 1.6719, 1.6498, 1.6270]),
    (4, [2.0497, 2.0168, 1.9838, 1.9520, 1.9207, 1.8897, 1.8600, 1.8320, 1.8033]),
    (6, [2.4006, 2.3519, 2.3046, 2.2588, 2.2141, 2.1702, 2.1297, 2.0885, 2.0528]),
    (8, [2.6560, 2.5952, 2.5361, 2.4794, 2.4243, 2.3710, 2.3207, 2.2725, 2.2323]),
    (12, [3.0220, 2.9432, 2.8672, 2.7938, 2.7223, 2.6557, 2.5918, 2.5324, 2.4786]),
    (16, [3.2849, 3.1923, 3.1026, 3.0168, 2.9350, 2.8582, 2.7845, 2.7178, 2.6546]),
    (24, [3.6580, 3.5452, 3.4361, 3.3328, 3.2333, 3.1419, 3.0549, 2.9784, 2.9077]),
    (32, [3.9243, 3.7961, 3.6733, 3.5552, 3.4456, 3.3431, 3.2487, 3.1599, 3.0789]),
];

/// Returns the simulated factor, for 2 ≤ K ≤ 32 and 0.1 ≤ ρ ≤ 0.9; between the points of the table interpolated, in H_K and ρ.
pub fn measured(k: u32, utilisation: f64) -> Option<f64> {
    let above = MEASURED.iter().position(|(at, _)| *at >= k)?;
    let (high, below) = (MEASURED[above].0, above.saturating_sub(usize::from(MEASURED[above].0 > k)));
    let steps = (utilisation - 0.1) * 10.0;
    if k < 2 || !(-1e-9..=8.0 + 1e-9).contains(&steps) {
        return None;
    }
    let at = (steps.max(0.0) as usize).min(7);
    let along = |row: &[f64; 9]| row[at] + (row[at + 1] - row[at]) * (steps - at as f64);
    let (low, first, last) = (MEASURED[below].0, along(&MEASURED[below].1), along(&MEASURED[above].1));
    let share =
        if high == low { 0.0 } else { (harmonic(k) - harmonic(low)) / (harmonic(high) - harmonic(low)) };
    Some(first + (last - first) * share)
}

/// H_K = 1 + 1/2 + … + 1/K.
pub fn harmonic(k: u32) -> f64 {
    (1..=k).map(|i| 1.0 / f64::from(i)).sum()
}

/// Exact for K = 2 (Flatto and Hahn 1984): (12 − ρ)/8.
pub fn flatto_hahn(utilisation: f64) -> f64 {
    (12.0 - utilisation) / 8.0
}

/// Nelson and Tantawi 1988, for 2 ≤ K ≤ 32: off by −3.9 to +0.3 %, most at high utilisation.
pub fn nelson_tantawi(k: u32, utilisation: f64) -> f64 {
    let ratio = harmonic(k) / harmonic(2);
    (ratio + (1.0 - ratio) * 4.0 * utilisation / 11.0) * flatto_hahn(utilisation)
}

/// Varma and Makowski 1994, by interpolation between light and heavy traffic: off by −8.0 to 0.0 %, most at high
/// utilisation and large K. Its alternating
/// sums lose their digits beyond K = 24.
pub fn varma_makowski(k: u32, utilisation: f64) -> f64 {
    let mut heavy = 0.0;
    for i in 1..=k {
        let sign = if i % 2 == 1 { 1.0 } else { -1.0 };
        let inner: f64 = (1..=i)
            .map(|m| binomial(i, m) * (1..m).map(f64::from).product::<f64>() / power(f64::from(i), m + 1))
            .sum();
        heavy += sign * binomial(k, i) * inner;
    }
    harmonic(k) + (heavy - harmonic(k)) * utilisation
}

/// Varki, Merchant and Chen 2008, the mean of two bounds: off by −11.7 to +0.3 %, most at high
/// utilisation.
pub fn varki(k: u32, utilisation: f64) -> f64 {
    let rho = utilisation;
    let sum = |term: &dyn Fn(f64) -> f64| (1..=k).map(|i| term(f64::from(i))).sum::<f64>();
    let first = sum(&|i| 1.0 / (i - rho));
    let second = sum(&|i| 1.0 / (i * (i - rho)));
    (1.0 - rho) * (harmonic(k) + rho / (2.0 * (1.0 - rho)) * (first + (1.0 - 2.0 * rho) * second))
}

/// For any distribution of service: the mean of the largest of K, from the mean and standard deviation of one response, were
/// responses independent and of the extreme-value kind: R + σ √6 ln K / 1.27 π (Thomasian 2014, with the constant
/// calibrated there). Its error is not known in general; for zoned disks see the study `raid0-split-merge`.
pub fn extreme_value(k: u32, mean_response: f64, sd_response: f64) -> f64 {
    mean_response + sd_response * 6f64.sqrt() * libm::log(f64::from(k)) / (1.27 * std::f64::consts::PI)
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

fn power(x: f64, n: u32) -> f64 {
    (0..n).map(|_| x).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_queues_are_exact() {
        // Simulated with 6·10⁶ jobs at ρ = 0.8: 7.03 service times; one queue takes 5.
        assert!((5.0 * flatto_hahn(0.8) - 7.0).abs() < 1e-12);
        assert!((5.0 * nelson_tantawi(2, 0.8) - 7.0).abs() < 1e-12);
    }

    /// Against simulated means (K = 4, ρ = 0.5: 3.837; K = 8, ρ = 0.8: 11.40), with the errors the approximations are
    /// known to have.
    #[test]
    fn approximations_are_off_by_what_they_say() {
        let error =
            |approximation: f64, one: f64, simulated: f64| (approximation * one / simulated - 1.0) * 100.0;
        for (k, rho, one, simulated, known) in
            [(4, 0.5, 2.0, 3.837, [-1.2, -0.2, -2.0]), (8, 0.8, 5.0, 11.40, [-3.2, -2.7, -8.2])]
        {
            let found = [nelson_tantawi(k, rho), varma_makowski(k, rho), varki(k, rho)]
                .map(|x| error(x, one, simulated));
            for (found, known) in found.iter().zip(known) {
                assert!((found - known).abs() < 0.25, "K = {k}, ρ = {rho}: {found:.2} %, known {known} %");
            }
        }
    }
}
