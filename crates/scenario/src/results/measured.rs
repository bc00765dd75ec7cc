//! A simulated trace beside the measured one.

use headrace_stats::{Distribution, Series};
use headrace_workload::Op;
use headrace_workload::trace::Trace;
use serde::Serialize;

use super::SHARES;
use crate::run::{SeriesOutcome, StreamOutcome};

/// What was measured, and how far off the simulation is.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Of all requests.
    pub all: Comparison,
    /// Of reads, where there are writes too.
    pub reads: Option<Comparison>,
    /// Of writes, where there are reads too.
    pub writes: Option<Comparison>,
}

/// Measured and simulated response times of the same requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// How many were compared.
    pub n: u64,
    /// Mean of the measured.
    pub measured_mean_ms: f64,
    /// Mean of the simulated.
    pub simulated_mean_ms: f64,
    /// By how much the simulated mean is larger, in percent of the measured.
    pub mean_error_percent: f64,
    /// The root mean square distance of the two cdfs along the time axis (Ruemmler and Wilkes 1994): both sorted, √mean
    /// (simulated − measured)².
    pub demerit_ms: f64,
    /// That in percent of the measured mean.
    pub demerit_percent: f64,
    /// Quantiles of the measured: (share, ms).
    pub measured_quantiles_ms: Vec<(f64, f64)>,
    /// The measured cdf: (ms, share), at equal steps of the share.
    pub measured_cdf: Vec<(f64, f64)>,
}

/// How many points of the measured cdf are kept.
const CDF_POINTS: usize = 500;

/// Holds what was simulated of a trace, in one replication or several, against what was measured.
pub fn against<'o>(trace: &Trace, found: impl Iterator<Item = &'o StreamOutcome>) -> Measured {
    let found: Vec<&StreamOutcome> = found.collect();
    let answered = found.iter().map(|stream| stream.answered as usize).min().unwrap_or(0);
    let all: Vec<&SeriesOutcome> = found.iter().map(|stream| &stream.all).collect();
    let of_op = |op: Op, at: usize| {
        let simulated: Option<Vec<&SeriesOutcome>> =
            found.iter().map(|stream| stream.by_op.as_ref().map(|by_op| &by_op[at])).collect();
        simulated.map(|simulated| compare(trace, answered, Some(op), &simulated))
    };
    Measured {
        all: compare(trace, answered, None, &all),
        reads: of_op(Op::Read, 0),
        writes: of_op(Op::Write, 1),
    }
}

fn compare(trace: &Trace, answered: usize, op: Option<Op>, simulated: &[&SeriesOutcome]) -> Comparison {
    let mut measured = Series::default();
    // A run cut short answered only the first of them.
    let answered = trace.requests.iter().take(answered);
    let chosen = answered.filter(|request| op.is_none_or(|op| request.request.op == op));
    chosen.for_each(|request| measured.record(request.response));
    let n = measured.tally().count();
    let simulated_mean_ms =
        simulated.iter().map(|series| series.tally.mean_ns()).sum::<f64>() * 1e-6 / simulated.len() as f64;
    let pooled =
        simulated.iter().fold(Distribution::default(), |sum, series| sum.merged(&series.distribution));
    let measured_mean_ms = measured.tally().mean_ns() * 1e-6;
    let distribution = measured.distribution_from(0);
    let demerit_ms = demerit_ms(&distribution, &pooled, n as usize);
    let cdf = distribution.representatives(CDF_POINTS).into_iter().enumerate();
    Comparison {
        n,
        measured_mean_ms,
        simulated_mean_ms,
        mean_error_percent: (simulated_mean_ms / measured_mean_ms - 1.0) * 100.0,
        demerit_ms,
        demerit_percent: demerit_ms / measured_mean_ms * 100.0,
        measured_quantiles_ms: SHARES.iter().map(|&p| (p, distribution.quantile(p).ms())).collect(),
        measured_cdf: cdf.map(|(i, time)| (time.ms(), (i as f64 + 0.5) / CDF_POINTS as f64)).collect(),
    }
}

fn demerit_ms(measured: &Distribution, simulated: &Distribution, n: usize) -> f64 {
    let pairs = measured.representatives(n).into_iter().zip(simulated.representatives(n));
    let squares: f64 = pairs.map(|(a, b)| (a.ms() - b.ms()) * (a.ms() - b.ms())).sum();
    (squares / n.max(1) as f64).sqrt()
}
