//! What a run says of its streams.

use std::collections::BTreeMap;

use headrace_stats::Histogram;
use headrace_work::{FileAct, Op};
use schemars::JsonSchema;
use serde::Serialize;

use super::legs::{LegResults, path};
use super::measured::{self, Measured};
use super::response::{self, ResponseResults};
use super::steps::{self, StepResults};
use crate::operation::Operation;
use crate::plan::Plan;
use crate::run::{Outcome, SeriesOutcome, StreamOutcome};

/// Number of points of a CDF.
const CDF_POINTS: usize = 500;

/// Results of one stream.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StreamResults {
    /// Name.
    pub name: String,
    /// Server that issues the requests; null if they arrive directly at `to`.
    pub from: Option<String>,
    /// Target component.
    pub to: String,
    /// Group of the first component on the path: `to`, or the route to it.
    pub enters: String,
    /// Requests issued, including warm-up.
    pub issued: u64,
    /// Requests completed, including warm-up.
    pub completed: u64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// Requests dropped at the limit on requests in flight (`outstanding`, `when_full: drop`), including warm-up.
    pub dropped: u64,
    /// Requests not completed within their `timeout`, including warm-up; response times exclude them.
    pub expired: u64,
    /// Requests that failed because a component had failed or data was lost, including warm-up; response times exclude them.
    pub failed: u64,
    /// Share of time in which the source was blocked (`outstanding`, `when_full: wait`); null without a limit.
    #[schemars(range(min = 0, max = 1))]
    pub blocked: Option<f64>,
    /// Throughput.
    pub requests_per_s: f64,
    /// Throughput in bytes.
    pub bytes_per_s: f64,
    /// Breakdown of the mean response time by component, along the critical path of each request; the times add up to the mean.
    pub path: Vec<LegResults>,
    /// Response times of all requests.
    pub response: ResponseResults,
    /// As `response`, for reads; null unless the stream has reads and writes.
    pub reads: Option<ResponseResults>,
    /// As `response`, for writes; null unless the stream has reads and writes, or flushes.
    pub writes: Option<ResponseResults>,
    /// As `response`, by operation, for a replayed log with several operations: `get`, `put`, `stage`, `delete`, `session`, and
    /// `recall`: the gets and stages whose file was read from tape; `flush` for a stream with `flush_every`; otherwise empty.
    pub operations: BTreeMap<&'static str, ResponseResults>,
    /// CDF of response times at 500 equally spaced shares, at fewer where there were fewer responses.
    #[schemars(extend("x-unit" = "list of [ms, share]"))]
    pub cdf: Vec<(f64, f64)>,
    /// For training in steps: utilisation and stalls of its accelerators; null for other streams.
    pub steps: Option<StepResults>,
    /// For a replayed trace with response times: measured values, and errors of the simulation.
    pub measured: Option<Measured>,
}

impl StreamResults {
    /// Returns a number of requests as a share, in percent, of those whose end is known.
    pub(super) fn percent_of_ended(&self, requests: u64) -> f64 {
        requests as f64 / (self.issued - self.in_flight).max(1) as f64 * 100.0
    }
}

/// The results of a stream.
pub(super) fn stream(
    plan: &Plan,
    index: usize,
    outcomes: &[Outcome],
    seconds: f64,
    widen: f64,
) -> StreamResults {
    let stream = &plan.streams[index];
    let found = || outcomes.iter().map(|outcome| &outcome.streams[index]);
    let all: Vec<&SeriesOutcome> = found().map(|stream| &stream.all).collect();
    let in_flight = found().map(|stream| stream.in_flight).sum();
    let is_cut_off = response::cuts_off(in_flight, all.iter().map(|series| series.tally.count()).sum());
    let of_op = |op: Operation| {
        let of_one = |s: &StreamOutcome| s.by_op.iter().position(|(other, _)| *other == op);
        let series: Option<Vec<&SeriesOutcome>> = found().map(|s| Some(&s.by_op[of_one(s)?].1)).collect();
        series.map(|series: Vec<&SeriesOutcome>| response::of(plan, &series, is_cut_off, widen))
    };
    let operations =
        FileAct::ALL.map(Operation::File).into_iter().chain([Operation::Recall, Operation::Block(Op::Flush)]);
    let answered = |op: Operation| of_op(op).filter(|response| response.count > 0);
    let answered_after: u64 = all.iter().map(|series| series.tally.count()).sum();
    let distribution = response::merged(&all);
    StreamResults {
        name: stream.name.clone(),
        from: stream.spec.from.clone(),
        to: stream.spec.to.clone(),
        enters: plan.graph.group(stream.target).to_owned(),
        issued: found().map(|stream| stream.born).sum(),
        completed: found().map(|stream| stream.answered).sum(),
        in_flight,
        dropped: found().map(|stream| stream.dropped).sum(),
        expired: found().map(|stream| stream.expired).sum(),
        failed: found().map(|stream| stream.failed).sum(),
        blocked: stream.spec.outstanding.map(|_| {
            let time: f64 = outcomes.iter().map(|outcome| outcome.ended_at.secs()).sum();
            found().map(|stream| stream.blocked.secs()).sum::<f64>() / time.max(1e-9)
        }),
        requests_per_s: answered_after as f64 / seconds.max(1e-9),
        bytes_per_s: found().map(|stream| stream.bytes as f64).sum::<f64>() / seconds.max(1e-9),
        response: response::of(plan, &all, is_cut_off, widen),
        reads: of_op(Operation::Block(Op::Read)),
        writes: of_op(Operation::Block(Op::Write)),
        operations: operations.filter_map(|op| Some((op.name(), answered(op)?))).collect(),
        path: path(plan, found().map(|stream| &stream.legs), answered_after),
        cdf: cdf(&distribution),
        steps: stream.spec.steps().map(|spec| steps::of(spec, found())),
        measured: measured::against(found()),
    }
}

pub(super) fn cdf(distribution: &Histogram) -> Vec<(f64, f64)> {
    let points = CDF_POINTS.min(distribution.count() as usize);
    let times = distribution.representatives(points);
    times.iter().enumerate().map(|(i, time)| (time.ms(), (i as f64 + 0.5) / points as f64)).collect()
}
