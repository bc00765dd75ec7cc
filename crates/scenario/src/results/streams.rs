//! What a run says of its streams.

use headrace_stats::histogram::QUANTILE_ERROR;
use headrace_stats::{Distribution, Interval, Tally};
use serde::Serialize;

use super::SHARES;
use super::measured::{self, Measured};
use crate::plan::Plan;
use crate::run::{Outcome, SeriesOutcome};

/// How many points a cdf has.
const CDF_POINTS: usize = 500;

/// What a run says of one stream.
#[derive(Clone, Debug, Serialize)]
pub struct StreamResults {
    /// Its name.
    pub name: String,
    /// Where its requests go.
    pub to: String,
    /// Requests made, warm-up included.
    pub made: u64,
    /// Requests answered, warm-up included.
    pub answered: u64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// Requests that found no room and were dropped, warm-up included.
    pub dropped: u64,
    /// Requests that were not answered within their timeout, warm-up included.
    pub expired: u64,
    /// The share of the time for which the source was blocked; none where it cannot be.
    pub blocked: Option<f64>,
    /// Throughput, in requests per second.
    pub requests_per_s: f64,
    /// Throughput, in bytes per second.
    pub bytes_per_s: f64,
    /// Response times of all requests.
    pub response: ResponseResults,
    /// Of reads, where there are writes too.
    pub reads: Option<ResponseResults>,
    /// Of writes, where there are reads too.
    pub writes: Option<ResponseResults>,
    /// Where the time went: mean waiting, service and blocked time of a request along its path. They add up to the mean
    /// response.
    pub path: Vec<LegResults>,
    /// The cdf of the response time: (ms, share), at equal steps of the share.
    pub cdf: Vec<(f64, f64)>,
    /// What was measured on a real device, for a replayed trace.
    pub measured: Option<Measured>,
}

/// Response times.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseResults {
    /// How many, warm-up left out.
    pub count: u64,
    /// Their mean, in ms.
    pub mean_ms: f64,
    /// Half the width of its 95 % interval, in ms; none where the run was too short for one.
    pub half_width_ms: Option<f64>,
    /// How the interval was obtained, and whether it can be trusted.
    pub interval: Option<IntervalResults>,
    /// Their standard deviation, in ms.
    pub sd_ms: f64,
    /// The longest, in ms, warm-up included.
    pub max_ms: f64,
    /// Quantiles, with a relative error of at most `quantile_error`.
    pub quantiles_ms: Vec<QuantileResults>,
    /// The largest relative error of a quantile as a number read off this run.
    pub quantile_error: f64,
}

/// How an interval was obtained.
#[derive(Clone, Debug, Serialize)]
pub struct IntervalResults {
    /// By batch means or by replications.
    pub method: headrace_stats::Method,
    /// False where batches are still correlated, or too few.
    pub trusted: bool,
}

/// A quantile.
#[derive(Clone, Debug, Serialize)]
pub struct QuantileResults {
    /// The share of requests.
    pub share: f64,
    /// Answered within so many ms.
    pub ms: f64,
    /// Half the width of its 95 % interval, from replications.
    pub half_width_ms: Option<f64>,
}

/// One component on the path of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegResults {
    /// The group of components; copies of one part together.
    pub component: String,
    /// Mean wait of a request, in ms.
    pub waiting_ms: f64,
    /// Mean service of a request, in ms.
    pub service_ms: f64,
    /// Mean time for which a request was ready to go on and had to wait for room, in ms.
    pub blocked_ms: f64,
}

/// The results of a stream.
pub(super) fn stream(plan: &Plan, index: usize, outcomes: &[Outcome], seconds: f64) -> StreamResults {
    let stream = &plan.streams[index];
    let found = || outcomes.iter().map(|outcome| &outcome.streams[index]);
    let all: Vec<&SeriesOutcome> = found().map(|stream| &stream.all).collect();
    let of_op = |op: usize| {
        let series: Option<Vec<&SeriesOutcome>> =
            found().map(|s| s.by_op.as_ref().map(|by| &by[op])).collect();
        series.map(|series| response(&series))
    };
    let answered_after: u64 = all.iter().map(|series| series.tally.count()).sum();
    let distribution = merged(&all);
    StreamResults {
        name: stream.name.clone(),
        to: stream.spec.to.clone(),
        made: found().map(|stream| stream.born).sum(),
        answered: found().map(|stream| stream.answered).sum(),
        in_flight: found().map(|stream| stream.in_flight).sum(),
        dropped: found().map(|stream| stream.dropped).sum(),
        expired: found().map(|stream| stream.expired).sum(),
        blocked: stream.spec.outstanding.map(|_| {
            let time: f64 = outcomes.iter().map(|outcome| outcome.ended_at.secs()).sum();
            found().map(|stream| stream.blocked.secs()).sum::<f64>() / time.max(1e-9)
        }),
        requests_per_s: answered_after as f64 / seconds.max(1e-9),
        bytes_per_s: found().map(|stream| stream.bytes as f64).sum::<f64>() / seconds.max(1e-9),
        response: response(&all),
        reads: of_op(0),
        writes: of_op(1),
        path: path(plan, outcomes, index, answered_after),
        cdf: cdf(&distribution),
        measured: measured::against(found()),
    }
}

fn merged(series: &[&SeriesOutcome]) -> Distribution {
    let distributions = series.iter().map(|series| &series.distribution);
    distributions.fold(Distribution::default(), |sum, distribution| sum.merged(distribution))
}

pub(super) fn cdf(distribution: &Distribution) -> Vec<(f64, f64)> {
    let times = distribution.representatives(CDF_POINTS);
    times.iter().enumerate().map(|(i, time)| (time.ms(), (i as f64 + 0.5) / CDF_POINTS as f64)).collect()
}

/// The results of one series: with several replications the interval is from their means, with one from its batches.
fn response(series: &[&SeriesOutcome]) -> ResponseResults {
    let tallies: Vec<&Tally> = series.iter().map(|series| &series.tally).collect();
    let total = Tally::all(&tallies);
    let distribution = merged(series);
    let interval = match series {
        [only] => only.interval,
        _ => Interval::by_replications(&tallies.iter().map(|tally| tally.mean_ns()).collect::<Vec<_>>()),
    };
    let quantile = |share: f64| QuantileResults {
        share,
        ms: distribution.quantile(share).ms(),
        half_width_ms: Interval::by_replications(
            &series.iter().map(|series| series.distribution.quantile(share).ms()).collect::<Vec<_>>(),
        )
        .map(|interval| interval.half_width),
    };
    ResponseResults {
        count: total.count(),
        mean_ms: total.mean_ns() * 1e-6,
        half_width_ms: interval.map(|interval| interval.half_width * 1e-6),
        interval: interval
            .map(|interval| IntervalResults { method: interval.method, trusted: interval.trusted }),
        sd_ms: total.sd_ns() * 1e-6,
        max_ms: total.max().ms(),
        quantiles_ms: SHARES.iter().map(|&share| quantile(share)).collect(),
        quantile_error: QUANTILE_ERROR,
    }
}

fn path(plan: &Plan, outcomes: &[Outcome], index: usize, answered: u64) -> Vec<LegResults> {
    let ms = |ns: u128| ns as f64 * 1e-6 / answered.max(1) as f64;
    let sum = |group: usize, what: usize| {
        outcomes.iter().map(|outcome| ms(outcome.streams[index].legs[group][what])).sum()
    };
    let legs = plan.graph.groups.iter().enumerate().map(|(group, name)| LegResults {
        component: name.clone(),
        waiting_ms: sum(group, 0),
        service_ms: sum(group, 1),
        blocked_ms: sum(group, 2),
    });
    legs.filter(|leg| leg.waiting_ms + leg.service_ms + leg.blocked_ms > 0.0).collect()
}
