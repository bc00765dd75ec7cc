//! One server that takes the most urgent request first and never interrupts one: what a loop does that lets commands pass
//! before data.
//!
//! Cobham (Operations Research 2, 1954): W_p = W₀ / ((1 − σ_{p−1})(1 − σ_p)), with W₀ = Σ λ E\[S²\]/2 over all and σ_p the
//! utilisation by class p and those before it.

use super::open::{Visits, residual, work};

/// The mean wait of each class, the most urgent first; `None` for those that starve.
pub fn waits(classes: &[Visits]) -> Vec<Option<f64>> {
    let residual = stable_residual(classes);
    let each = (0..classes.len()).map(|class| {
        let (before, with) = (1.0 - work(&classes[..class]), 1.0 - work(&classes[..=class]));
        (with > 0.0).then(|| residual / (before * with))
    });
    each.collect()
}

/// The mean work found in service. Where the server never rests, the starving classes have what time the others leave.
fn stable_residual(classes: &[Visits]) -> f64 {
    let mut left = 1.0;
    let served = classes.iter().map(|class| {
        let wanted = class.rate * class.mean;
        let share = if wanted > left { left / wanted } else { 1.0 };
        left = (left - wanted).max(0.0);
        Visits { rate: class.rate * share, ..*class }
    });
    residual(&served.collect::<Vec<_>>())
}
