//! What a run says of its streams.

use std::collections::BTreeMap;

use headrace_stats::Histogram;
use headrace_work::{FileAct, Op};
use serde::Serialize;

use super::measured::{self, Measured};
use super::response::{self, ResponseResults};
use crate::operation::Operation;
use crate::plan::Plan;
use crate::run::{Outcome, SeriesOutcome, StreamOutcome};

/// How many points a cdf has.
const CDF_POINTS: usize = 500;

/// What a run says of one stream.
#[derive(Clone, Debug, Serialize)]
pub struct StreamResults {
    /// Its name.
    pub name: String,
    /// The server that its requests come from; none where they are at once where they go.
    pub from: Option<String>,
    /// Where its requests go.
    pub to: String,
    /// The group of the component that they come to first: `to`, or the route there.
    pub enters: String,
    /// Requests issued, warm-up included.
    pub issued: u64,
    /// Requests completed, warm-up included.
    pub completed: u64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// Requests that found no room and were dropped, warm-up included.
    pub dropped: u64,
    /// Requests that were not answered within their timeout, warm-up included.
    pub expired: u64,
    /// Requests that nothing could answer, warm-up included: what they needed had failed, or its data was lost.
    pub failed: u64,
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
    /// Of each operation of a log of file operations, where there are several: `get`, `put`, `stage`, `delete`; and of `recall`, the gets and stages whose file came
    /// from tape.
    pub operations: BTreeMap<&'static str, ResponseResults>,
    /// Where the time went: mean waiting, service and blocked time of a request along its path. They add up to the mean
    /// response.
    pub path: Vec<LegResults>,
    /// The cdf of the response time: (ms, share), at equal steps of the share.
    pub cdf: Vec<(f64, f64)>,
    /// What was measured on a real device, for a replayed trace.
    pub measured: Option<Measured>,
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
    let of_op = |op: Operation| {
        let of_one = |s: &StreamOutcome| s.by_op.iter().position(|(other, _)| *other == op);
        let series: Option<Vec<&SeriesOutcome>> = found().map(|s| Some(&s.by_op[of_one(s)?].1)).collect();
        series.map(|series: Vec<&SeriesOutcome>| response::of(plan, &series, widen))
    };
    let operations = FileAct::ALL.map(Operation::File).into_iter().chain([Operation::Recall]);
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
        in_flight: found().map(|stream| stream.in_flight).sum(),
        dropped: found().map(|stream| stream.dropped).sum(),
        expired: found().map(|stream| stream.expired).sum(),
        failed: found().map(|stream| stream.failed).sum(),
        blocked: stream.spec.outstanding.map(|_| {
            let time: f64 = outcomes.iter().map(|outcome| outcome.ended_at.secs()).sum();
            found().map(|stream| stream.blocked.secs()).sum::<f64>() / time.max(1e-9)
        }),
        requests_per_s: answered_after as f64 / seconds.max(1e-9),
        bytes_per_s: found().map(|stream| stream.bytes as f64).sum::<f64>() / seconds.max(1e-9),
        response: response::of(plan, &all, widen),
        reads: of_op(Operation::Block(Op::Read)),
        writes: of_op(Operation::Block(Op::Write)),
        operations: operations.filter_map(|op| Some((op.name(), answered(op)?))).collect(),
        path: path(plan, outcomes, index, answered_after),
        cdf: cdf(&distribution),
        measured: measured::against(found()),
    }
}

pub(super) fn cdf(distribution: &Histogram) -> Vec<(f64, f64)> {
    let times = distribution.representatives(CDF_POINTS);
    times.iter().enumerate().map(|(i, time)| (time.ms(), (i as f64 + 0.5) / CDF_POINTS as f64)).collect()
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
