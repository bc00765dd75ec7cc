//! Every request of a run, handed on in parts, so that memory stays flat however many there are.

use headrace_storage::Passage;
use headrace_units::Nanos;
use headrace_workload::{Op, Request};

/// A part has at most so many requests.
pub const ROWS: usize = 1_000_000;

/// Takes the parts of a log, from whichever thread runs the replication.
pub type Sink = Box<dyn Fn(Part) + Send + Sync>;

/// Some requests in the order of their answers, a column for each thing told of them.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Of which replication, counted from zero.
    pub replication: u64,
    /// Which part of it, counted from zero.
    pub number: u64,
    /// The stream, by its place in the scenario.
    pub stream: Vec<u64>,
    /// 1 for a write, 0 for a read.
    pub write: Vec<u64>,
    /// The first byte.
    pub address: Vec<u64>,
    /// How many bytes.
    pub bytes: Vec<u64>,
    /// When it was made, in ns.
    pub born_ns: Vec<u64>,
    /// When it was answered, in ns.
    pub answered_ns: Vec<u64>,
    /// For each component, waiting and service in ns along the path that decided when it was answered.
    pub legs: Vec<[Vec<u64>; 2]>,
}

/// A log that is being written.
pub struct Log<'s> {
    part: Part,
    sink: &'s Sink,
}

impl<'s> Log<'s> {
    /// The log of a replication on a site of `components`.
    pub fn new(replication: u64, components: usize, sink: &'s Sink) -> Self {
        let part = Part { replication, legs: vec![Default::default(); components], ..Part::default() };
        Self { part, sink }
    }

    /// Adds an answered request.
    pub fn add(&mut self, stream: usize, born: Nanos, answered: Nanos, request: &Request, passage: &Passage) {
        let part = &mut self.part;
        part.stream.push(stream as u64);
        part.write.push(u64::from(request.op == Op::Write));
        part.address.push(request.address);
        part.bytes.push(request.bytes);
        part.born_ns.push(born.0);
        part.answered_ns.push(answered.0);
        part.legs.iter_mut().flatten().for_each(|column| column.push(0));
        for leg in passage.legs() {
            let [waiting, service] = &mut part.legs[leg.component as usize];
            *waiting.last_mut().expect("a row was begun") += leg.waiting.0;
            *service.last_mut().expect("a row was begun") += leg.service.0;
        }
        if part.stream.len() == ROWS {
            self.hand_on();
        }
    }

    /// Hands on what was added since the last part.
    pub fn hand_on(&mut self) {
        if self.part.stream.is_empty() {
            return;
        }
        let next = Part {
            replication: self.part.replication,
            number: self.part.number + 1,
            legs: vec![Default::default(); self.part.legs.len()],
            ..Part::default()
        };
        (self.sink)(std::mem::replace(&mut self.part, next));
    }
}
