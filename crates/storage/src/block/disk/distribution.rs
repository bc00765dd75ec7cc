//! Distribution of a disk's service time, for theory.

use headrace_analytic::{Distribution, Grid};
use headrace_work::Op;

use super::{Mechanism, Positioning};

/// Number of equally likely target positions that represent all.
const PLACES: usize = 100;

impl Mechanism {
    /// The distribution of service time in ms, for requests of `bytes` at places drawn uniformly from the data. With
    /// [`Positioning::Addressed`] it is that of each request alone: successive ones share a place, so they are not
    /// independent.
    pub fn service_distribution(&self, op: Op, bytes: u64) -> Distribution {
        let curve = self.seek_curve(op);
        // Targets: how far in they lie, and how long the transfer takes there.
        let target = |u: f64| (self.zones.radius(u), self.zones.transfer_ns(u, bytes) * 1e-6);
        let targets: Vec<(f64, f64)> =
            (0..PLACES).map(|i| target((i as f64 + 0.5) / PLACES as f64)).collect();
        let longest_seek = curve.time_ns(1.0) * 1e-6;
        let apart = Grid::tabulate(longest_seek, |t| self.distance_cdf(curve.distance(t * 1e6)));
        let seek_cdf = |x: f64, t: f64| match self.positioning {
            _ if t < 0.0 => 0.0,
            Positioning::Independent => apart.cdf(t),
            _ => self.distance_cdf_from(x, curve.distance(t * 1e6)),
        };
        let seek_and_transfer = Grid::tabulate(longest_seek + targets[PLACES - 1].1, |t| {
            targets.iter().map(|(x, transfer)| seek_cdf(*x, t - transfer)).sum::<f64>() / PLACES as f64
        });
        let distribution = seek_and_transfer.plus_uniform(self.revolution_ns * 1e-6);
        Distribution::Grid(distribution.shifted(self.overhead_ns * 1e-6))
    }

    /// P(|x − y| ≤ d) for y at a place drawn uniformly from the data.
    fn distance_cdf_from(&self, x: f64, d: f64) -> f64 {
        self.zones.share_outside((x + d).min(1.0)) - self.zones.share_outside((x - d).max(0.0))
    }

    /// P(|x − y| ≤ d) for both drawn so: one less twice the chance that y lies more than d further in than x. That is the
    /// integral of a cubic, for which Simpson's rule is exact.
    fn distance_cdf(&self, d: f64) -> f64 {
        let span = (1.0 - d).max(0.0);
        let beyond = |x: f64| self.zones.density(x) * (1.0 - self.zones.share_outside((x + d).min(1.0)));
        1.0 - 2.0 * span / 6.0 * (beyond(0.0) + 4.0 * beyond(span / 2.0) + beyond(span))
    }
}
