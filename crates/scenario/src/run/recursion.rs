//! Without events: a batch of requests is handed through one component after another, each request in one step.

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, Request};
use headrace_workload::Arrivals;

use super::options::End;
use super::replication::{END_OF_TIME, Replication};
use super::watch::Watch;
use crate::plan::Plan;
use crate::spec::Limits;

/// Returns true if the recursion gives the answer that events give.
///
/// # Errors
/// Why it would not.
pub fn applies(plan: &Plan) -> Result<(), String> {
    if plan.run().time.is_some() {
        return Err("a run of a given time ends between requests".to_owned());
    }
    if plan.run().limits.events != Limits::default().events {
        return Err("`limits.events` counts events, and a recursion has none".to_owned());
    }
    if plan.has_phases() {
        return Err("components fail or are rebuilt during the run".to_owned());
    }
    let [stream] = &plan.streams[..] else { return Err("there are several streams".to_owned()) };
    if stream.is_recorded() {
        return Err(format!("`{}` is replayed from a trace", stream.name));
    }
    if stream.spec.arrivals.mean_rate().is_none() {
        return Err(format!("the stream `{}` waits for its answers", stream.name));
    }
    if stream.spec.cause != Cause::Host {
        return Err(format!("requests of `{}` are work that no host waits for", stream.name));
    }
    if !stream.is_patient() {
        return Err(format!("requests of `{}` may be held back, dropped or given up", stream.name));
    }
    plan.graph.view(stream.target).in_order(&stream.load())
}

/// Number of requests that are handed through together: what is counted or looked up once for all of them costs each less.
const BATCH: usize = 32;

impl Replication<'_> {
    /// Runs the only stream by recursion.
    pub fn by_recursion(&self, mut watch: Watch) -> (End, Nanos) {
        let stream = &self.plan.streams[0];
        let mut arrivals = self.arrivals(stream).expect("the recursion is chosen for open streams");
        let mut record = self.record.borrow_mut();
        let (mut born, mut now) = (Nanos::ZERO, Nanos::ZERO);
        let mut batch = vec![(Request::BLANK, Breakdown::from(born)); BATCH];
        while record.answered < record.wanted {
            let batch = &mut batch[..record.until_mark().min(BATCH as u64) as usize];
            born = self.make(&mut arrivals, born, batch);
            let in_time = batch.partition_point(|(_, breakdown)| breakdown.began() <= END_OF_TIME);
            let batch = &mut batch[..in_time];
            self.sources[0].edge.pass_all(batch);
            now = batch.last().map_or(now, |(_, breakdown)| breakdown.until());
            for (request, breakdown) in &*batch {
                self.shared.timeline.answered(request, breakdown.until());
            }
            record.pass_all(0, batch);
            let end = if born > END_OF_TIME {
                Some(End::TooFar)
            } else {
                watch.look_at_intervals(record.answered, self)
            };
            if let Some(end) = end {
                return (end, now);
            }
        }
        watch.look(record.answered, self);
        (End::Done, now)
    }

    /// Makes the next requests, the first of them a gap after `born`. Gives when the last is born.
    fn make(
        &self,
        arrivals: &mut Arrivals,
        mut born: Nanos,
        batch: &mut [(Request<Block>, Breakdown)],
    ) -> Nanos {
        let mut requests = self.sources[0].requests.borrow_mut();
        for (request, breakdown) in batch {
            born += arrivals.gap();
            requests.make(request);
            breakdown.restart(born);
            self.shared.timeline.born(0, born, request);
        }
        born
    }
}
