//! Servers that take the most urgent request first and never interrupt one: what a loop does that lets commands pass before data.
//!
//! Cobham (Operations Research 2, 1954): W_p = W₀ / ((1 − σ_{p−1})(1 − σ_p)), with W₀ the time [until a server is
//! free](super::open::until_free) and σ_p the utilisation by class p and those before it. Exact for one server, and for several with
//! exponential service of one mean.

use super::open::{ROUNDING, Visits, until_free, work};

/// The mean wait of each class, the most urgent first; `None` for those that starve.
pub fn waits(servers: u32, classes: &[Visits]) -> Vec<Option<f64>> {
    let until_free = until_free(servers, &served(servers, classes));
    let left = |classes: &[Visits]| 1.0 - work(classes) / f64::from(servers);
    let each = (0..classes.len()).map(|class| {
        let (before, with) = (left(&classes[..class]), left(&classes[..=class]));
        (with > ROUNDING).then(|| until_free / (before * with))
    });
    each.collect()
}

/// Returns the served part of each class. Where the servers never rest, the starving classes have what time the others leave.
fn served(servers: u32, classes: &[Visits]) -> Vec<Visits> {
    let mut left = f64::from(servers);
    let served = classes.iter().map(|class| {
        let wanted = class.rate * class.mean;
        let share = if wanted > left { left / wanted } else { 1.0 };
        left = (left - wanted).max(0.0);
        Visits { rate: class.rate * share, ..*class }
    });
    served.collect()
}
