//! What theory says of a disk's service time.

use headrace_analytic::{Grid, Law};
use headrace_workload::Op;

use super::zones::SeekCurve;
use super::{Mechanism, Positioning};

/// How many equally likely target places stand for all.
const PLACES: usize = 200;

impl Mechanism {
    /// The law of service time in ms, for requests of `bytes` at places drawn uniformly from the data. With
    /// [`Positioning::Addressed`] it is that of each request alone: successive ones share a place, so they are not
    /// independent.
    pub fn service_law(&self, op: Op, bytes: u64) -> Law {
        let curve = self.seek_curve(op);
        let targets = (0..PLACES).map(|i| (i as f64 + 0.5) / PLACES as f64);
        let transfers: Vec<f64> = targets.clone().map(|u| self.zones.transfer_ns(u, bytes) * 1e-6).collect();
        let seeks: Vec<Grid> = match self.positioning {
            Positioning::Independent => vec![seek_law(curve, |distance| self.distance_cdf(distance)); PLACES],
            _ => targets
                .map(|u| seek_law(curve, |d| self.distance_cdf_from(self.zones.radius(u), d)))
                .collect(),
        };
        let most = curve.time_ns(1.0) * 1e-6 + transfers[PLACES - 1];
        let seek_and_transfer = Grid::tabulate(most, |t| {
            let sum: f64 = seeks.iter().zip(&transfers).map(|(seek, transfer)| seek.cdf(t - transfer)).sum();
            sum / PLACES as f64
        });
        let law = seek_and_transfer.plus_uniform(self.revolution_ns * 1e-6);
        Law::Grid(law.shifted(self.overhead_ns * 1e-6))
    }

    /// P(|x − y| ≤ d) for y at a place drawn uniformly from the data.
    fn distance_cdf_from(&self, x: f64, d: f64) -> f64 {
        self.zones.share_outside((x + d).min(1.0)) - self.zones.share_outside((x - d).max(0.0))
    }

    /// P(|x − y| ≤ d) for both drawn so.
    fn distance_cdf(&self, d: f64) -> f64 {
        let places = (0..PLACES).map(|i| (i as f64 + 0.5) / PLACES as f64);
        let sum: f64 = places.map(|u| self.distance_cdf_from(self.zones.radius(u), d)).sum();
        sum / PLACES as f64
    }
}

/// The law of seek time, in ms, over distances of this cdf.
fn seek_law(curve: &SeekCurve, distance_cdf: impl Fn(f64) -> f64) -> Grid {
    Grid::tabulate(curve.time_ns(1.0) * 1e-6, |t| distance_cdf(curve.distance(t * 1e6)))
}
