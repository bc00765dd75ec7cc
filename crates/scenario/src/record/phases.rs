//! The phases of a run in which components fail: what streams got before, between and after.

use headrace_stats::{Histogram, Tally, histogram};
use headrace_storage::{Arena, Event};
use headrace_units::Nanos;
use headrace_work::NodeId;

/// A time in which the health of no component changes.
#[derive(Clone)]
pub struct HealthPhase {
    /// Its beginning.
    pub from: Nanos,
    /// Changes at its beginning; none before the first fault.
    pub after: Vec<(NodeId, Event)>,
    /// Record of each stream in it.
    pub streams: Vec<PhaseStream>,
}

/// Record of a stream in a phase.
#[derive(Clone, Default)]
pub struct PhaseStream {
    /// Response times of requests answered in it.
    pub tally: Tally,
    responses: histogram::Segments,
    /// Their bytes.
    pub bytes: u64,
    /// Requests that failed in it.
    pub failed: u64,
}

impl PhaseStream {
    /// The response times of requests answered in it.
    pub fn distribution(&self) -> Histogram {
        self.responses.from(0)
    }
}

/// The phases so far.
pub struct Phases {
    phases: Vec<HealthPhase>,
    /// Number of changes that have begun a phase.
    seen: usize,
}

impl Phases {
    /// The first phase, of this number of streams.
    pub fn new(streams: usize) -> Self {
        let first = HealthPhase {
            from: Nanos::ZERO,
            after: Vec::new(),
            streams: vec![PhaseStream::default(); streams],
        };
        Self { phases: vec![first], seen: 0 }
    }

    /// Begins a phase for each instant at which something happened since this was last called.
    fn catch_up(&mut self, arena: Arena) {
        for happening in arena.health_events(self.seen) {
            self.seen += 1;
            if self.last().from < happening.at || (self.last().after.is_empty() && happening.at > Nanos::ZERO)
            {
                let streams = vec![PhaseStream::default(); self.last().streams.len()];
                self.phases.push(HealthPhase { from: happening.at, after: Vec::new(), streams });
            }
            self.last().after.push((happening.node, happening.what));
        }
    }

    fn last(&mut self) -> &mut HealthPhase {
        self.phases.last_mut().expect("there is a first phase")
    }

    /// A request of a stream is answered.
    pub fn answer(&mut self, arena: Arena, stream: usize, response: Nanos, bytes: u64) {
        self.catch_up(arena);
        let stream = &mut self.last().streams[stream];
        stream.tally.record(response);
        stream.responses.record(response);
        stream.bytes += bytes;
    }

    /// A request of a stream fails.
    pub fn fail(&mut self, arena: Arena, stream: usize) {
        self.catch_up(arena);
        self.last().streams[stream].failed += 1;
    }

    /// All phases of a run that is over.
    pub fn finished(&mut self, arena: Arena) -> &[HealthPhase] {
        self.catch_up(arena);
        &self.phases
    }
}
