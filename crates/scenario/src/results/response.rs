//! Response times of a stream, of its reads or of its writes: mean, quantiles, and how sure they are.

use headrace_stats::histogram::QUANTILE_ERROR;
use headrace_stats::settling::{CUTS, is_settled, settling};
use headrace_stats::{Histogram, Interval, Tally, quantile};
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::record::Legs;
use crate::run::SeriesOutcome;
use crate::theory::SHARES;

use super::legs::{LegResults, path};

/// Response times.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResponseResults {
    /// Number of requests.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Half-width of the 95 % confidence interval of the mean; null if the run is too short.
    pub half_width_ms: Option<f64>,
    /// Method of the interval.
    pub interval: Option<IntervalResults>,
    /// Correlation time of response times, as a share of the run after warm-up; 0 if no warm-up was needed, null if the run is
    /// too short to estimate it.
    #[schemars(range(min = 0, max = 1))]
    pub settling: Option<f64>,
    /// Standard deviation.
    pub sd_ms: f64,
    /// Maximum, including warm-up.
    pub max_ms: f64,
    /// As `path`, for the slowest requests, about 1 % of all: those that took p99 or longer; of many a sample. Empty in a short run.
    pub slowest: Vec<LegResults>,
    /// Quantiles p50, p90, p95, p99 and p99.9.
    pub quantiles_ms: Vec<QuantileResults>,
    /// Maximum relative error of a quantile from the resolution of the histogram.
    #[schemars(extend("x-unit" = "ratio"))]
    pub quantile_error: f64,
}

/// Method of an interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IntervalResults {
    /// `batch_means` for one run, `replications` for several.
    pub method: headrace_stats::Method,
    /// False if batches are too few or still correlated, replications too short to outweigh the bias of their start, or requests in flight at
    /// their ends more than 2 % of those that completed: the interval then covers the mean in fewer than 95 % of cases.
    pub trusted: bool,
}

/// A quantile.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QuantileResults {
    /// The quantile: 0.99 for p99.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Its value.
    pub ms: f64,
    /// Half-width of its 95 % confidence interval, from replications; null for a single run, or if the sample does not reach the
    /// upper end.
    pub half_width_ms: Option<f64>,
}

/// A run whose end cuts off more than this share of its requests lacks some of the slowest. Of 1,000 clients at exponential servers 10,000 requests
/// are 6 % too fast, 50,000 are .4 %.
const MOST_CUT_OFF: f64 = 0.02;

/// Returns true if the requests in flight at the ends of replications are more than a small share of those that completed, which are too fast.
pub(super) fn cuts_off(in_flight: u64, completed: u64) -> bool {
    in_flight as f64 > MOST_CUT_OFF * completed as f64
}

/// The results of one series of each replication, with intervals that are `widen` times as wide as those of as many
/// replications as were settled on beforehand. None is trusted if their ends [cut off](cuts_off) too many requests.
pub(super) fn of(plan: &Plan, series: &[&SeriesOutcome], is_cut_off: bool, widen: f64) -> ResponseResults {
    let total = Tally::all(&series.iter().map(|series| &series.tally).collect::<Vec<_>>());
    let settlings = if plan.is_whole() { Some(vec![0.0; series.len()]) } else { settlings(series) };
    let interval = interval(series, settlings.as_deref());
    ResponseResults {
        count: total.count(),
        mean_ms: total.mean_ns() * 1e-6,
        half_width_ms: interval.map(|interval| widen * interval.half_width * 1e-6),
        interval: interval.map(|interval| IntervalResults {
            method: interval.method,
            trusted: interval.trusted && !is_cut_off,
        }),
        settling: settlings.map(|all| all.iter().sum::<f64>() / all.len().max(1) as f64),
        sd_ms: total.sd_ns() * 1e-6,
        max_ms: total.max().ms(),
        slowest: slowest(plan, series),
        quantiles_ms: quantiles(series, total.max(), widen),
        quantile_error: QUANTILE_ERROR,
    }
}

/// Returns where the time of the slowest requests went: of those of all replications that took as long as the p99 of all, which the value of its
/// bucket may exceed.
fn slowest(plan: &Plan, series: &[&SeriesOutcome]) -> Vec<LegResults> {
    let p99 = merged(series).quantile(0.99);
    let from = Nanos((p99.0 as f64 * (1.0 - QUANTILE_ERROR)) as u64);
    let (counts, legs): (Vec<u64>, Vec<Legs>) = series.iter().map(|one| one.slowest.at_least(from)).unzip();
    path(plan, legs.iter(), counts.iter().sum())
}

/// The correlation time of each replication as a share of what is kept of it; none where one is too short to tell.
fn settlings(series: &[&SeriesOutcome]) -> Option<Vec<f64>> {
    series.iter().map(|one| one.quarters.map(|quarters| settling(&quarters, one.tally.sd_ns()))).collect()
}

/// The interval of the mean: of one run from its batches, of several from their means.
fn interval(series: &[&SeriesOutcome], settlings: Option<&[f64]>) -> Option<Interval> {
    if let [only] = series {
        return only.interval;
    }
    let means: Vec<f64> = series.iter().map(|series| series.tally.mean_ns()).collect();
    let left_out = series.iter().map(|series| series.left_out).fold(f64::INFINITY, f64::min);
    let settled = settlings.is_some_and(|settlings| is_settled(&means, settlings, left_out));
    Interval::by_replications(&means, settled)
}

/// Returns true if replications that were run one by one have settled; see [`is_settled`]. Each has had the first cut.
pub fn have_settled(means: &[f64], settlings: &[f64]) -> bool {
    is_settled(means, settlings, CUTS[0] / (1.0 - CUTS[0]))
}

/// Quantiles at most the slowest, which the value of its bucket may exceed.
fn quantiles(series: &[&SeriesOutcome], slowest: Nanos, widen: f64) -> Vec<QuantileResults> {
    let together = merged(series);
    let each: Vec<&Histogram> = series.iter().map(|series| &series.distribution).collect();
    let of = |&share: &f64| QuantileResults {
        share,
        ms: together.quantile(share).min(slowest).ms(),
        half_width_ms: quantile::half_width(&each, &together, share, widen).map(|ns| ns * 1e-6),
    };
    SHARES.iter().map(of).collect()
}

/// The response times of all replications together.
pub(super) fn merged(series: &[&SeriesOutcome]) -> Histogram {
    let distributions = series.iter().map(|series| &series.distribution);
    distributions.fold(Histogram::default(), |sum, distribution| sum.merged(distribution))
}
