//! What a run writes down while it goes on.

use headrace_stats::{Level, Pairs, Series, histogram};
use headrace_storage::{Device, Passage, Recorded};
use headrace_units::Nanos;
use headrace_workload::{Op, Request};

use super::log::Log;
use crate::plan::{Plan, StreamPlan};

/// The first segments hold so many requests; they double when there are too many segments.
const FIRST_SEGMENT: u64 = 100;

/// Everything recorded of one run, in segments of which the first can be left out.
pub struct Record<'s> {
    log: Option<Log<'s>>,
    /// Of each stream.
    pub streams: Vec<StreamRecord>,
    /// The end of each segment.
    pub marks: Vec<Mark>,
    segment_length: u64,
    in_segment: u64,
    /// Requests answered, by all streams.
    pub answered: u64,
    /// Requests under way, by all streams.
    pub in_flight: u64,
    /// The end of the run after so many answers.
    pub wanted: u64,
}

/// What is recorded of one stream.
#[derive(Clone, Default)]
pub struct StreamRecord {
    /// Requests under way.
    pub in_flight: Level,
    /// The instants at which those under way were born, summed.
    born_sum: u128,
    /// Requests made.
    pub born: u64,
    /// Bytes of requests made.
    pub born_bytes: u64,
    /// Response times of all requests.
    pub all: Series,
    /// Of reads and of writes, where there are both.
    pub by_op: Option<[Series; 2]>,
    /// What a running total says now.
    pub totals: Totals,
    /// Measured and simulated responses of all requests, of reads and of writes, for a trace that has them.
    pub measured: Option<Box<[Pairs; 3]>>,
}

/// Totals that grow; their differences between marks are what happened in between.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Bytes of requests answered.
    pub bytes: u64,
    /// Waiting and service along the path, by component.
    pub legs: Vec<(u128, u128)>,
}

/// The end of a segment.
#[derive(Clone)]
pub struct Mark {
    /// When it was.
    pub time: Nanos,
    /// What each component had recorded.
    pub recorded: Vec<Recorded>,
    /// What each stream had recorded.
    pub totals: Vec<Totals>,
}

impl<'s> Record<'s> {
    /// An empty record for a site of `components`.
    pub fn new(plan: &Plan, components: usize, wanted: u64, log: Option<Log<'s>>) -> Self {
        let stream = |stream: &StreamPlan| StreamRecord {
            by_op: stream.is_mixed().then(Default::default),
            measured: stream
                .trace
                .as_ref()
                .filter(|trace| trace.survey.responses > 0)
                .map(|_| Box::default()),
            totals: Totals { bytes: 0, legs: vec![(0, 0); components] },
            ..StreamRecord::default()
        };
        Self {
            log,
            streams: plan.streams.iter().map(stream).collect(),
            marks: Vec::new(),
            segment_length: FIRST_SEGMENT,
            in_segment: 0,
            answered: 0,
            in_flight: 0,
            wanted,
        }
    }

    /// A request of `stream` is made.
    #[inline]
    pub fn begin(&mut self, stream: usize, now: Nanos, bytes: u64) {
        self.in_flight += 1;
        let stream = &mut self.streams[stream];
        stream.born += 1;
        stream.born_bytes += bytes;
        stream.born_sum += u128::from(now.0);
        stream.in_flight.up(now, 1);
    }

    /// A request of `stream` is answered. True when that ends a segment, which is then to be [marked](Record::mark).
    #[inline]
    pub fn end(
        &mut self,
        stream: usize,
        born: Nanos,
        now: Nanos,
        request: &Request,
        passage: &Passage,
    ) -> bool {
        self.in_flight -= 1;
        let of = &mut self.streams[stream];
        of.born_sum -= u128::from(born.0);
        of.in_flight.down(now, 1);
        self.answer(stream, born, now, request, passage)
    }

    /// The same for a request whose whole life is known at once.
    #[inline]
    pub fn pass(
        &mut self,
        stream: usize,
        born: Nanos,
        now: Nanos,
        request: &Request,
        passage: &Passage,
    ) -> bool {
        let of = &mut self.streams[stream];
        of.born += 1;
        of.born_bytes += request.bytes;
        of.in_flight.add(now - born);
        self.answer(stream, born, now, request, passage)
    }

    /// Holds a request's response against the measured one.
    pub fn compare(&mut self, stream: usize, op: Op, measured: Nanos, simulated: Nanos) {
        if let Some(pairs) = &mut self.streams[stream].measured {
            pairs[0].record(measured, simulated);
            pairs[1 + usize::from(op == Op::Write)].record(measured, simulated);
        }
    }

    #[inline]
    fn answer(
        &mut self,
        stream: usize,
        born: Nanos,
        now: Nanos,
        request: &Request,
        passage: &Passage,
    ) -> bool {
        if let Some(log) = &mut self.log {
            log.add(stream, born, now, request, passage);
        }
        self.streams[stream].answer(now - born, request, passage);
        self.answered += 1;
        self.in_segment += 1;
        self.in_segment == self.segment_length
    }

    /// Ends a segment at `now`.
    pub fn mark(&mut self, now: Nanos, devices: &[Device]) {
        self.in_segment = 0;
        let recorded = devices.iter().flat_map(Device::all).map(Device::recorded).collect();
        let totals = self.streams.iter().map(|stream| stream.totals.clone()).collect();
        self.marks.push(Mark { time: now, recorded, totals });
        self.each_series(Series::close_segment);
        if self.marks.len() == histogram::SEGMENTS {
            self.marks = self.marks.chunks(2).map(|pair| pair[1].clone()).collect();
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
            stream.by_op.iter_mut().flatten().for_each(&act);
        }
    }
}

impl StreamRecord {
    #[inline]
    fn answer(&mut self, response: Nanos, request: &Request, passage: &Passage) {
        self.all.record(response);
        if let Some(by_op) = &mut self.by_op {
            by_op[usize::from(request.op == Op::Write)].record(response);
        }
        self.totals.bytes += request.bytes;
        for leg in passage.legs() {
            let (waiting, service) = &mut self.totals.legs[leg.component as usize];
            *waiting += u128::from(leg.waiting.0);
            *service += u128::from(leg.service.0);
        }
    }

    /// The time spent so far by requests still under way, summed.
    pub fn age_of_those_under_way(&self, now: Nanos) -> u128 {
        u128::from(self.in_flight.value()) * u128::from(now.0) - self.born_sum
    }
}
