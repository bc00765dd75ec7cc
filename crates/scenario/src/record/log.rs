//! Every request of a run, handed on in parts, so that memory stays flat however many requests or components there are.

use headrace_storage::Graph;
use headrace_units::Nanos;
use headrace_work::Breakdown;

use super::totals::column;
use crate::operation::RecordedRequest;

/// Maximum number of requests in a part, and of numbers in it where there are many groups of components.
const ROWS: usize = 250_000;
const CELLS: usize = 8_000_000;

/// Takes the parts of a log, from whichever thread runs the replication.
pub type Sink = Box<dyn Fn(LogBatch) + Send + Sync>;

/// Some requests in the order of their answers, a column for each thing told of them.
#[derive(Clone, Debug, Default)]
pub struct LogBatch {
    /// Of which replication, counted from zero.
    pub replication: u64,
    /// Which part of it, counted from zero.
    pub number: u64,
    /// The stream, by its place in the scenario.
    pub stream: Vec<u64>,
    /// Operations, by [`Operation::code`](crate::operation::Operation::code).
    pub op: Vec<u64>,
    /// The first byte, or the file.
    pub address: Vec<u64>,
    /// Number of bytes.
    pub bytes: Vec<u64>,
    /// When it was made, in ns.
    pub issued_ns: Vec<u64>,
    /// When it was answered, in ns.
    pub completed_ns: Vec<u64>,
    /// The user that issued it, as [`number_of`](headrace_work::number_of) its name; [`NOBODY`](crate::operation::NOBODY) where
    /// that is not known.
    pub user: Vec<u64>,
    /// The component that served it last, by its number in the graph.
    pub last: Vec<u64>,
    /// For each group of components: waiting, service and blocked time in ns, along the path that decided when the request was
    /// answered.
    pub legs: Vec<[Vec<u64>; 3]>,
}

/// A log that is being written.
pub struct RequestLog<'s> {
    part: LogBatch,
    rows: usize,
    sink: &'s Sink,
}

impl<'s> RequestLog<'s> {
    /// The log of a replication on the components of `graph`.
    pub fn new(replication: u64, graph: &Graph, sink: &'s Sink) -> Self {
        let part = LogBatch {
            replication,
            legs: vec![Default::default(); graph.groups.len()],
            ..LogBatch::default()
        };
        let rows = (CELLS / (8 + 3 * graph.groups.len())).clamp(1, ROWS);
        Self { part, rows, sink }
    }

    /// Adds an answered request.
    pub fn add(&mut self, stream: usize, request: RecordedRequest, breakdown: &Breakdown, groups: &[u32]) {
        let part = &mut self.part;
        part.stream.push(stream as u64);
        part.op.push(request.operation.code());
        part.address.push(request.data.address);
        part.bytes.push(request.data.bytes);
        part.issued_ns.push(breakdown.began().0);
        part.completed_ns.push(breakdown.until().0);
        part.user.push(request.user);
        let last = breakdown.spans().filter(|(_, _, span)| *span > Nanos::ZERO).last();
        part.last.push(last.map_or(0, |(at, ..)| u64::from(at.0)));
        part.legs.iter_mut().flatten().for_each(|column| column.push(0));
        for (at, what, span) in breakdown.spans() {
            let legs = &mut part.legs[groups[at.index()] as usize][column(what)];
            *legs.last_mut().expect("a row was begun") += span.0;
        }
        if part.stream.len() == self.rows {
            self.hand_on();
        }
    }

    /// Hands on what was added since the last part.
    pub fn hand_on(&mut self) {
        if self.part.stream.is_empty() {
            return;
        }
        let next = LogBatch {
            replication: self.part.replication,
            number: self.part.number + 1,
            legs: vec![Default::default(); self.part.legs.len()],
            ..LogBatch::default()
        };
        (self.sink)(std::mem::replace(&mut self.part, next));
    }
}
