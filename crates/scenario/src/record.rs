//! What a run writes down while it goes on.

mod log;
mod marks;
mod phases;
mod slowest;
mod steps;
mod totals;

use headrace_stats::{Gauge, Pairs, Series, histogram};
use headrace_storage::{Arena, CartridgeSession};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, NodeId, Op, Request, TimeKind};

pub use log::{LogBatch, RequestLog, Sink};
pub use marks::{Mark, Marks, MeterReading};
pub use phases::{HealthPhase, Phases};
pub use slowest::SlowSample;
pub use steps::{Step, StepTotals};
pub use totals::{Legs, Totals};

use crate::operation::{Operation, RecordedRequest};
use crate::plan::{Plan, StreamPlan};
use crate::spec::DEFAULT_REQUESTS;

/// Number of requests in each of the first segments: the fewest, the most.
const FIRST_SEGMENT: [u64; 2] = [100, 6400];

/// Number of requests in each of the first segments of a run of `wanted` requests: a quarter of the final number, within
/// [`FIRST_SEGMENT`]; that of the default number where the time alone ends it. Segments are merged in pairs when there are too many. A
/// run that is cut short still has several. A segment has at least as many requests as there are streams: its end costs time for each.
fn first_segment(wanted: u64, streams: u64) -> u64 {
    let [fewest, most] = FIRST_SEGMENT;
    let wanted = if wanted == u64::MAX { DEFAULT_REQUESTS } else { wanted };
    let longest = (wanted / (4 * histogram::SEGMENTS as u64)).min(most);
    std::iter::successors(Some(fewest), |length| Some(2 * length))
        .take_while(|length| *length <= longest || *length < 2 * streams)
        .last()
        .unwrap_or(fewest)
}

/// Everything recorded of one run, in segments of which the first can be left out.
pub struct Record<'m> {
    log: Option<RequestLog<'m>>,
    arena: Arena<'m>,
    /// The group of each component.
    groups: Vec<u32>,
    /// True if each component is a tape library.
    libraries: Vec<bool>,
    /// Of each stream.
    pub streams: Vec<StreamRecord>,
    /// Records of streams and components at the end of each segment.
    pub marks: Marks,
    segment_length: u64,
    in_segment: u64,
    /// Requests answered, by all streams.
    pub answered: u64,
    /// Requests answered, dropped, expired or failed.
    pub finished: u64,
    /// Requests that the system holds, of all streams: in flight, or given up and still being done.
    pub held: u64,
    /// The end of the run after this many are finished.
    pub wanted: u64,
    /// Records of streams before and after each fault, if there are any.
    pub phases: Option<Phases>,
}

/// Record of one stream.
#[derive(Clone, Default)]
pub struct StreamRecord {
    /// Requests in flight.
    pub in_flight: Gauge,
    /// The instants at which those in flight were born, summed.
    born_sum: u128,
    /// Requests made.
    pub born: u64,
    /// When the last of them was made.
    pub last_born: Nanos,
    /// Requests that found no room and were dropped.
    pub dropped: u64,
    /// Requests whose host gave up.
    pub expired: u64,
    /// Those of them that are still being done.
    pub abandoned: u64,
    /// Sum of the waiting times of those that expired, in ns.
    pub expired_ns: u128,
    /// Requests that nothing could answer.
    pub failed: u64,
    /// Sum of the times of those that failed, in ns.
    pub failed_ns: u128,
    /// Response times of all requests.
    pub all: Series,
    /// Of each operation, where there are several.
    pub by_op: Vec<(Operation, Series)>,
    /// The slowest: of all requests, then of each operation.
    pub slowest: Vec<SlowSample>,
    /// Returns the current value of a running total.
    pub totals: Totals,
    /// The first request whose account did not add up: its response and its account, in ns.
    pub misaccounted: Option<(Nanos, Nanos)>,
    /// Measured and simulated responses of all requests, of reads and of writes, for a trace that has them.
    pub measured: Option<Box<[Pairs; 3]>>,
}

impl<'m> Record<'m> {
    /// An empty record.
    pub fn new(plan: &Plan, arena: Arena<'m>, wanted: u64, log: Option<RequestLog<'m>>) -> Self {
        Self {
            log,
            arena,
            groups: plan.graph.nodes.iter().map(|node| node.group).collect(),
            libraries: plan.graph.ids().map(|id| plan.graph.view(id).serves::<CartridgeSession>()).collect(),
            streams: plan.streams.iter().map(StreamRecord::new).collect(),
            marks: Marks::new(arena),
            segment_length: first_segment(wanted, plan.streams.len() as u64),
            in_segment: 0,
            answered: 0,
            finished: 0,
            held: 0,
            wanted,
            phases: plan.has_phases().then(|| Phases::new(plan.streams.len())),
        }
    }

    /// A request of `stream` is made.
    #[inline]
    pub fn begin(&mut self, stream: usize, now: Nanos) {
        self.held += 1;
        let stream = &mut self.streams[stream];
        stream.born += 1;
        stream.last_born = now;
        stream.born_sum += u128::from(now.0);
        stream.in_flight.up(now, 1);
    }

    /// A request of `stream` is made, and finds no room.
    pub fn drop(&mut self, stream: usize) {
        self.finished += 1;
        self.streams[stream].born += 1;
        self.streams[stream].dropped += 1;
    }

    /// A request of `stream` is given up at `now`, its deadline.
    pub fn expire(&mut self, stream: usize, now: Nanos, born: Nanos) {
        self.finished += 1;
        let of = &mut self.streams[stream];
        of.born_sum -= u128::from(born.0);
        of.in_flight.down(now, 1);
        of.abandoned += 1;
        of.expired += 1;
        of.expired_ns += u128::from((now - born).0);
    }

    /// A request of `stream` fails at `now`: nothing can answer it.
    pub fn fail(&mut self, stream: usize, now: Nanos, born: Nanos) {
        self.finished += 1;
        self.held -= 1;
        if let Some(phases) = &mut self.phases {
            phases.fail(self.arena, stream);
        }
        let of = &mut self.streams[stream];
        of.born_sum -= u128::from(born.0);
        of.in_flight.down(now, 1);
        of.failed += 1;
        of.failed_ns += u128::from((now - born).0);
    }

    /// A request of `stream` is done that was given up before.
    pub fn leave(&mut self, stream: usize) {
        self.held -= 1;
        self.streams[stream].abandoned -= 1;
    }

    /// A request of `stream` is answered at `now`.
    #[inline]
    pub fn end(
        &mut self,
        stream: usize,
        request: impl Into<RecordedRequest>,
        breakdown: &Breakdown,
        now: Nanos,
    ) {
        self.held -= 1;
        let of = &mut self.streams[stream];
        of.born_sum -= u128::from(breakdown.began().0);
        of.in_flight.down(now, 1);
        if breakdown.until() != now {
            of.misaccounted.get_or_insert((now - breakdown.began(), breakdown.total()));
        }
        let request = request.into();
        of.answer(request.data.bytes, breakdown, &self.groups);
        if self.notes(stream) {
            self.note(stream, request, breakdown);
        }
        self.count(1, now);
    }

    /// Requests of `stream` are made and answered, at most [`until_mark`](Self::until_mark) of them: their whole lives are known at
    /// once.
    pub fn pass_all(&mut self, stream: usize, requests: &[(Request<Block>, Breakdown)]) {
        let Some((_, last)) = requests.last() else { return };
        let of = &mut self.streams[stream];
        of.born += requests.len() as u64;
        of.last_born = last.began();
        for (request, breakdown) in requests {
            of.in_flight.add(breakdown.total());
            of.answer(request.work.bytes, breakdown, &self.groups);
        }
        if self.notes(stream) {
            requests.iter().for_each(|(request, breakdown)| self.note(stream, request.into(), breakdown));
        }
        self.count(requests.len() as u64, last.until());
    }

    /// Number of requests until the segment, or the run, ends.
    pub fn until_mark(&self) -> u64 {
        (self.segment_length - self.in_segment).min(self.wanted - self.answered)
    }

    /// Holds a request's response against the measured one.
    pub fn compare(&mut self, stream: usize, op: Op, measured: Nanos, simulated: Nanos) {
        if let Some(pairs) = &mut self.streams[stream].measured {
            pairs[0].record(measured, simulated);
            pairs[1 + usize::from(op == Op::Write)].record(measured, simulated);
        }
    }

    /// Returns true if more is written down of the requests of `stream` than of any.
    #[inline]
    fn notes(&self, stream: usize) -> bool {
        self.log.is_some() || self.phases.is_some() || !self.streams[stream].by_op.is_empty()
    }

    #[inline(never)]
    fn note(&mut self, stream: usize, request: RecordedRequest, breakdown: &Breakdown) {
        if let Some(log) = &mut self.log {
            log.add(stream, request, breakdown, &self.groups);
        }
        if let Some(phases) = &mut self.phases {
            phases.answer(self.arena, stream, breakdown.total(), request.data.bytes);
        }
        self.streams[stream].answer_by_op(request.operation, breakdown, &self.libraries, &self.groups);
    }

    /// Requests are answered, the last of them at `now`.
    #[inline]
    fn count(&mut self, answered: u64, now: Nanos) {
        self.answered += answered;
        self.finished += answered;
        self.in_segment += answered;
        if self.in_segment == self.segment_length {
            self.mark(now);
        }
    }

    /// Ends a segment at `now`.
    #[cold]
    fn mark(&mut self, now: Nanos) {
        self.in_segment = 0;
        self.marks.take(now, self.arena, self.streams.iter().map(|stream| stream.totals.clone()).collect());
        self.each_series(Series::close_segment);
        if self.marks.count().ilog2().is_multiple_of(2) && self.marks.count().is_power_of_two() {
            let half = self.marks.count() / 2;
            self.streams.iter_mut().for_each(|stream| stream.find_slow(half));
        }
        if self.marks.count() == histogram::SEGMENTS {
            self.marks.merge_neighbours();
            self.each_series(Series::merge_segments);
            self.segment_length *= 2;
        }
    }

    /// Hands on what is left of the log.
    pub fn finish(&mut self) {
        if let Some(log) = &mut self.log {
            log.hand_on();
        }
    }

    fn each_series(&mut self, act: impl Fn(&mut Series)) {
        for stream in &mut self.streams {
            act(&mut stream.all);
            stream.by_op.iter_mut().for_each(|(_, series)| act(series));
        }
    }
}

impl StreamRecord {
    fn new(stream: &StreamPlan) -> Self {
        let is_measured = stream.trace.as_ref().is_some_and(|trace| trace.survey.responses > 0)
            || stream.log.as_ref().is_some_and(|log| log.survey.measured > 0);
        let operations = stream.operations();
        Self {
            measured: is_measured.then(Box::default),
            slowest: vec![SlowSample::default(); 1 + operations.len()],
            by_op: operations.into_iter().map(|op| (op, Series::default())).collect(),
            ..Self::default()
        }
    }

    /// Records the response of a request of `bytes`.
    #[inline]
    fn answer(&mut self, bytes: u64, breakdown: &Breakdown, groups: &[u32]) {
        self.all.record(breakdown.total());
        self.totals.add(bytes, breakdown, groups);
        if self.slowest[0].takes(breakdown.total()) {
            self.slowest[0].add(breakdown, groups, self.all.tally().count());
        }
    }

    /// Finds from which response time on requests may be among the slowest: those of all segments, or of the later ones from `half` on, where what
    /// was slow before belongs to the warm-up.
    fn find_slow(&mut self, half: usize) {
        let every = std::iter::once(&self.all).chain(self.by_op.iter().map(|(_, series)| series));
        for (series, sample) in every.zip(&mut self.slowest) {
            if series.tally().count() > 0 {
                let later = series.distribution_from(half);
                let p99 = series.distribution_from(0).quantile(0.99);
                sample.begin_at(if later.count() > 0 { p99.min(later.quantile(0.99)) } else { p99 });
            }
        }
    }

    /// Returns the response times of an operation, or of all requests; none where operations are not told apart.
    pub fn series(&self, operation: Option<Operation>) -> Option<&Series> {
        let Some(operation) = operation else { return Some(&self.all) };
        self.by_op.iter().find(|(own, _)| *own == operation).map(|(_, series)| series)
    }

    /// Records the response under its operation, where the stream has several. A request whose file a tape drive read also counts
    /// as a recall, if the stream records recalls.
    fn answer_by_op(&mut self, of: Operation, breakdown: &Breakdown, libraries: &[bool], groups: &[u32]) {
        let by_drive =
            |(at, what, _): (NodeId, TimeKind, Nanos)| what == TimeKind::Service && libraries[at.index()];
        for (at, (operation, series)) in self.by_op.iter_mut().enumerate() {
            if *operation == of || (*operation == Operation::Recall && breakdown.spans().any(by_drive)) {
                series.record(breakdown.total());
                if self.slowest[1 + at].takes(breakdown.total()) {
                    self.slowest[1 + at].add(breakdown, groups, series.tally().count());
                }
            }
        }
    }

    /// The time spent so far by requests in flight, summed.
    pub fn age_of_those_in_flight(&self, now: Nanos) -> u128 {
        u128::from(self.in_flight.value()) * u128::from(now.0) - self.born_sum
    }
}

#[cfg(test)]
mod tests {
    use super::first_segment;

    /// The end of a segment looks at every stream, so in all it costs no more than the requests.
    #[test]
    fn a_segment_has_a_request_for_each_stream() {
        for streams in [1, 99, 100, 101, 5_000, 10_000] {
            for wanted in [100, 2_000, 200_000, u64::MAX] {
                assert!(first_segment(wanted, streams) >= streams, "{wanted} requests of {streams} streams");
            }
        }
        assert_eq!(first_segment(2_000, 3), first_segment(2_000, 1));
    }
}
