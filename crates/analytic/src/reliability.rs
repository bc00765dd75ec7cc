//! Reliability: times until too many of several units have failed.

/// A birth-death process with exponential times: the number of units that have failed and are not repaired. The state after the last is data loss.
///
/// With constant rates it is the model of Patterson, Gibson and Katz (1988) and Gibson (1992): for a RAID 5 of N disks whose repair is
/// short, MTTF² / (N (N − 1) MTTR).
///
/// ```
/// use headrace_analytic::reliability::BirthDeath;
/// let (disks, mttf, mttr) = (8.0, 1e6, 10.0);
/// let raid5 = BirthDeath { births: vec![disks / mttf, (disks - 1.0) / mttf], deaths: vec![1.0 / mttr], killed: 0.0 };
/// assert!((raid5.mean_time() / (mttf * mttf / (disks * (disks - 1.0) * mttr)) - 1.0).abs() < 2e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BirthDeath {
    /// Rates of a further failure with 0, 1, 2 … failed; the last leads to loss.
    pub births: Vec<f64>,
    /// Rates at which one is repaired with 1, 2 … failed.
    pub deaths: Vec<f64>,
    /// Rate of loss by other causes in the last state.
    pub killed: f64,
}

impl BirthDeath {
    /// Returns the mean time from no failure to loss: the sum of the mean times from each state to the next.
    ///
    /// # Panics
    /// If there are no births, or fewer deaths than states with a failure.
    pub fn mean_time(&self) -> f64 {
        let last = self.births.len() - 1;
        let (mut total, mut step) = (0.0, 0.0);
        for (state, birth) in self.births.iter().enumerate() {
            let up = birth + if state == last { self.killed } else { 0.0 };
            step = match state.checked_sub(1) {
                None => 1.0 / up,
                Some(below) => (1.0 + self.deaths[below] * step) / up,
            };
            total += step;
        }
        total
    }
}
