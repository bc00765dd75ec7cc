//! A stream of a plan: what it sends, and the load that theory makes of it.

use std::sync::Arc;

use headrace_storage::{Load, Sessions};
use headrace_trace::{FileLog, Replay, Timing};
use headrace_work::{FileAct, NodeId, Op};
use headrace_workload::{Extents, StreamSpec, VaryingSpec, WhenFull};

use crate::operation::Operation;

/// Sizes drawn from more values than this are represented by this many.
const KINDS: usize = 64;

/// A stream that can be run.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// Its name.
    pub name: String,
    /// Its specification.
    pub spec: StreamSpec,
    /// The component it goes to first: the one that it names, or the route there.
    pub target: NodeId,
    /// The trace it replays.
    pub trace: Option<Replay>,
    /// The file operations that it replays.
    pub log: Option<FileLog>,
    /// Where the files lie that its requests go to.
    pub extents: Option<Extents>,
}

impl StreamPlan {
    /// The operations that it has, where there are several: results tell them apart.
    pub fn operations(&self) -> Vec<Operation> {
        let all: Vec<Operation> = match &self.log {
            Some(log) => {
                let acts: Vec<FileAct> = log.survey.acts().map(|(act, _)| act).collect();
                let recalls = acts.iter().any(|act| matches!(act, FileAct::Get | FileAct::Stage));
                acts.into_iter().map(Operation::File).chain(recalls.then_some(Operation::Recall)).collect()
            }
            None => {
                let flushes = self.spec.flush_every.map(|_| Op::Flush);
                let reads = self.is_mixed().then_some(Op::Read);
                reads.into_iter().chain([Op::Write]).chain(flushes).map(Operation::Block).collect()
            }
        };
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// Returns true if it replays what was recorded.
    pub fn is_recorded(&self) -> bool {
        self.trace.is_some() || self.log.is_some()
    }

    /// The curve that its rate follows; none where that is constant, or varies at random.
    pub fn curve(&self) -> Option<&VaryingSpec> {
        self.spec.arrivals.curve()
    }

    /// Returns true if requests come by themselves at a rate that varies with time.
    pub fn varies(&self) -> bool {
        self.is_open() && self.spec.arrivals.varies()
    }

    /// The number of requests that were recorded; none where they are drawn.
    pub fn recorded(&self) -> Option<u64> {
        let traced = self.trace.as_ref().map(|trace| trace.survey.requests);
        traced.or(self.log.as_ref().map(|log| log.survey.operations))
    }

    /// Returns true if it has both reads and writes.
    fn is_mixed(&self) -> bool {
        match &self.trace {
            None if self.spec.steps().is_some_and(|steps| steps.checkpoint.is_some()) => true,
            None => (0.0..1.0).contains(&self.spec.op.reads()) && self.spec.op.reads() > 0.0,
            Some(trace) => (1..trace.survey.requests).contains(&trace.survey.reads),
        }
    }

    /// Returns true if requests come whatever became of those before them.
    pub fn is_open(&self) -> bool {
        let open = match &self.trace {
            None => self.log.is_some() || self.spec.arrivals.mean_rate().is_some(),
            Some(trace) => trace.timing() == Timing::Timestamps,
        };
        open && self.spec.outstanding.is_none()
    }

    /// Number of its clients, each with one request in flight at most; none where requests do not wait for answers alone.
    pub fn clients(&self) -> Option<u64> {
        match &self.trace {
            Some(trace) => (trace.timing() == Timing::Think).then_some(1),
            None => self.spec.arrivals.clients().map(u64::from),
        }
    }

    /// Returns true if its source makes no requests while as many as may be are in flight.
    pub fn waits_for_room(&self) -> bool {
        self.spec.outstanding.is_some() && self.spec.when_full == WhenFull::Wait
    }

    /// Returns true if every request that comes is made, and waits until it is answered.
    pub fn is_patient(&self) -> bool {
        self.spec.outstanding.is_none() && self.spec.timeout.is_none()
    }

    /// Its requests as known to theory and components.
    pub fn load(&self) -> Load {
        Load {
            stream: self.name.clone(),
            kinds: self.some_kinds(),
            sizes: self.spec.sizes(),
            align: self.spec.alignment(),
            uniform: self.spec.is_everywhere(),
            durable: self.spec.durable,
            traced: self.is_recorded(),
            alone: false,
            sessions: self.sessions(),
            clients: self.spec.arrivals.clients().unwrap_or(0),
            threads: self.spec.threads(),
        }
    }

    /// The sessions of its log, where it has some, at the speed of the replay.
    pub fn sessions(&self) -> Option<Sessions> {
        let (log, speed) = self.log.as_ref().map(|log| (&log.survey, log.speed()))?;
        let seconds = log.span.secs();
        let scaled = |(gap, silo): &(f32, Option<u32>)| ((f64::from(*gap) / speed) as f32, *silo);
        (!log.sessions.is_empty() && seconds > 0.0).then(|| Sessions {
            per_s: log.sessions.len() as f64 / seconds * speed,
            seconds: Arc::clone(&log.sessions),
            gaps: log.gaps.iter().map(scaled).collect(),
            cartridges: Arc::clone(&log.cartridges),
        })
    }

    /// Returns true if sizes are drawn from more values than theory takes into account.
    pub fn has_many_kinds(&self) -> bool {
        self.kinds().len() > KINDS
    }

    /// Every kind of request that occurs, with its probability: (probability, op, bytes). For streams that draw theirs.
    fn kinds(&self) -> Vec<(f64, Op, u64)> {
        let (reads, flushes) = (self.spec.op.reads(), self.spec.flushes());
        let data = 1.0 - flushes;
        let ops = [(reads * data, Op::Read), ((1.0 - reads) * data, self.spec.op.otherwise())];
        let sizes = |op: Op| self.spec.size_of(op).support(1000).into_iter();
        let kinds = ops.iter().flat_map(|(p, op)| sizes(*op).map(move |(q, size)| (p * q, *op, size.0)));
        kinds.chain([(flushes, Op::Flush, 0)]).filter(|(p, ..)| *p > 0.0).collect()
    }

    /// At most [`KINDS`] kinds, chosen by probability.
    fn some_kinds(&self) -> Vec<(f64, Op, u64)> {
        let all = self.kinds();
        if all.len() <= KINDS {
            return all;
        }
        let mut some: Vec<(f64, Op, u64)> = Vec::new();
        let (mut below, mut next) = (0.0, all.iter());
        let mut kind = all[0];
        for i in 0..KINDS {
            while below <= (i as f64 + 0.5) / KINDS as f64 {
                let Some(later) = next.next() else { break };
                (below, kind) = (below + later.0, *later);
            }
            match some.last_mut().filter(|last| (last.1, last.2) == (kind.1, kind.2)) {
                Some(last) => last.0 += 1.0 / KINDS as f64,
                None => some.push((1.0 / KINDS as f64, kind.1, kind.2)),
            }
        }
        some
    }
}
