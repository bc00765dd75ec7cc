//! Without events: request after request, each handed through the components in one step.

use headrace_units::Nanos;
use headrace_work::{Ask, Spent};

use super::End;
use super::replication::{END_OF_TIME, Replication, STRIDE, Watch};
use crate::plan::Plan;
use crate::spec::Limits;

/// Whether the recursion gives the answer that events give.
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
    if !stream.is_patient() {
        return Err(format!("requests of `{}` may be held back, dropped or given up", stream.name));
    }
    plan.graph.view(stream.target).in_order(&stream.load())
}

impl Replication<'_> {
    /// Runs the only stream by recursion.
    pub fn by_recursion(&self, mut watch: Watch) -> (End, Nanos) {
        let stream = &self.plan.streams[0];
        let mut arrivals = self.arrivals(stream).expect("the recursion is chosen for open streams");
        let mut requests = self.sources[0].requests.borrow_mut();
        let (edge, mut record) = (&self.sources[0].edge, self.record.borrow_mut());
        let (mut born, mut now) = (Nanos::ZERO, Nanos::ZERO);
        let (mut ask, mut spent) = (Ask::BLANK, Spent::from(born));
        while record.answered < record.wanted {
            born += arrivals.gap();
            if born > END_OF_TIME {
                return (End::TooFar, now);
            }
            requests.make(&mut ask);
            self.site.timeline.born(0, born, &ask);
            spent.restart(born);
            edge.pass(&ask, &mut spent);
            now = spent.until();
            self.site.timeline.answered(&ask, now);
            record.pass(0, &ask, &spent);
            if record.answered.is_multiple_of(STRIDE)
                && let Some(end) = watch.look(record.answered, self)
            {
                return (end, now);
            }
        }
        watch.look(record.answered, self);
        (End::Done, now)
    }
}
