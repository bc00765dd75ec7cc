//! A simulated trace beside the measured one.

use headrace_stats::{Histogram, Pairs, Series, Tally};
use schemars::JsonSchema;
use serde::Serialize;

use super::SHARES;
use crate::run::StreamOutcome;

/// Measured response times, and the errors of the simulation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// For all requests.
    pub all: Comparison,
    /// As `all`, for reads.
    pub reads: Option<Comparison>,
    /// As `all`, for writes.
    pub writes: Option<Comparison>,
}

/// Measured and simulated response times of the same requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Requests compared.
    pub n: u64,
    /// Measured mean.
    pub measured_mean_ms: f64,
    /// Simulated mean.
    pub simulated_mean_ms: f64,
    /// Error of the simulated mean; positive if larger than measured.
    pub mean_error_percent: f64,
    /// Root mean square distance of the two CDFs: both sorted, √mean (simulated − measured)².
    pub demerit_ms: f64,
    /// Demerit as a percentage of the measured mean.
    pub demerit_percent: f64,
    /// √mean (simulated − measured)², paired by request.
    pub per_request_rms_ms: f64,
    /// Pearson correlation of measured and simulated response times, paired by request; null if either is constant.
    #[schemars(extend("x-unit" = "−1 to 1"))]
    pub correlation: Option<f64>,
    /// Kolmogorov–Smirnov distance of the two CDFs.
    #[schemars(range(min = 0, max = 1))]
    pub ks: f64,
    /// Measured quantiles.
    #[schemars(extend("x-unit" = "list of [share, ms]"))]
    pub measured_quantiles_ms: Vec<(f64, f64)>,
    /// Measured CDF.
    #[schemars(extend("x-unit" = "list of [ms, share]"))]
    pub measured_cdf: Vec<(f64, f64)>,
}

/// Holds what was simulated of a trace, in one replication or several, against what was measured; `None` where nothing was
/// measured.
pub fn against<'o>(found: impl Iterator<Item = &'o StreamOutcome>) -> Option<Measured> {
    let pairs: Option<Vec<&[Pairs; 3]>> = found.map(|stream| stream.measured.as_deref()).collect();
    let pairs = pairs?;
    let of = |which: usize| compare(&pairs.iter().map(|pairs| &pairs[which]).collect::<Vec<_>>());
    let all = of(0)?;
    let (reads, writes) = (of(1), of(2));
    let mixed = reads.is_some() && writes.is_some();
    Some(Measured { all, reads: reads.filter(|_| mixed), writes: writes.filter(|_| mixed) })
}

fn compare(pairs: &[&Pairs]) -> Option<Comparison> {
    let n = pairs.iter().map(|pairs| pairs.measured.tally().count()).max().filter(|n| *n > 0)?;
    let mean_ms = |of: fn(&Pairs) -> &Series| {
        Tally::all(&pairs.iter().map(|pairs| of(pairs).tally()).collect::<Vec<_>>()).mean_ns() * 1e-6
    };
    let pooled = |of: fn(&Pairs) -> &Series| {
        let distributions = pairs.iter().map(|pairs| of(pairs).distribution_from(0));
        distributions.fold(Histogram::default(), |sum, distribution| sum.merged(&distribution))
    };
    let (measured, simulated) = (pooled(|pairs| &pairs.measured), pooled(|pairs| &pairs.simulated));
    let measured_mean_ms = mean_ms(|pairs| &pairs.measured);
    let simulated_mean_ms = mean_ms(|pairs| &pairs.simulated);
    let demerit_ms = demerit_ms(&measured, &simulated, n as usize);
    Some(Comparison {
        n,
        measured_mean_ms,
        simulated_mean_ms,
        mean_error_percent: (simulated_mean_ms / measured_mean_ms - 1.0) * 100.0,
        demerit_ms,
        demerit_percent: demerit_ms / measured_mean_ms * 100.0,
        per_request_rms_ms: Pairs::rms_ns(pairs) * 1e-6,
        correlation: Pairs::correlation(pairs),
        ks: measured.distance(&simulated),
        measured_quantiles_ms: SHARES.iter().map(|&p| (p, measured.quantile(p).ms())).collect(),
        measured_cdf: super::cdf(&measured),
    })
}

fn demerit_ms(measured: &Histogram, simulated: &Histogram, n: usize) -> f64 {
    let pairs = measured.representatives(n).into_iter().zip(simulated.representatives(n));
    let squares: f64 = pairs.map(|(a, b)| (a.ms() - b.ms()) * (a.ms() - b.ms())).sum();
    (squares / n.max(1) as f64).sqrt()
}
