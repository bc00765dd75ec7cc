//! Visits of a run's first requests to components, with their times.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, NodeId, Op, Request, TimeKind};
use serde::Serialize;

/// The journeys of the first requests of a run.
#[derive(Debug, Default)]
pub struct Timeline {
    wanted: bool,
    /// Number of requests still to be followed.
    free: Cell<u64>,
    /// Requests in flight that are followed: their numbers by their keys.
    followed: RefCell<BTreeMap<u64, usize>>,
    journeys: RefCell<Vec<Journey>>,
}

/// One request, from its birth to its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Journey {
    /// The stream, by its place in the scenario.
    pub stream: usize,
    /// Read or write.
    pub op: Op,
    /// The first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Time of issue, in ns.
    pub issued_ns: u64,
    /// Time of completion, in ns; `None` if the run ended before.
    pub completed_ns: Option<u64>,
    /// Visits to components, in order of leaving.
    pub visits: Vec<Visit>,
}

/// Visit of a request, or of a part of one, to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// The component, by its number in the graph.
    pub component: u32,
    /// The first byte asked of it.
    pub address: u64,
    /// Bytes requested.
    pub bytes: u64,
    /// Time of arrival, in ns.
    pub came_ns: u64,
    /// Start of service, after waiting, in ns.
    pub began_ns: u64,
    /// Completion here and in all components behind, in ns.
    pub left_ns: u64,
}

impl Timeline {
    /// A timeline of the first `many` requests.
    pub fn of_first(many: u64) -> Self {
        Self { wanted: many > 0, free: Cell::new(many), ..Self::default() }
    }

    /// Returns true if any request is followed.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// A request of `stream` is born; it is followed if it is one of the first.
    #[inline]
    pub fn born(&self, stream: usize, now: Nanos, request: &Request<Block>) {
        if self.free.get() > 0 {
            self.follow(stream, now, request);
        }
    }

    #[cold]
    fn follow(&self, stream: usize, now: Nanos, request: &Request<Block>) {
        self.free.set(self.free.get() - 1);
        let mut journeys = self.journeys.borrow_mut();
        self.followed.borrow_mut().insert(request.root, journeys.len());
        let Block { op, address, bytes } = request.work;
        let issued_ns = now.0;
        journeys.push(Journey {
            stream,
            op,
            address,
            bytes,
            issued_ns,
            completed_ns: None,
            visits: Vec::new(),
        });
    }

    /// A component is done with a request, or with a part of one, whose account had `before` legs when it came.
    #[inline(never)]
    pub fn visited(&self, at: NodeId, request: &Request<Block>, breakdown: &Breakdown, before: usize) {
        if let Some(journey) = self.followed.borrow().get(&request.root) {
            self.journeys.borrow_mut()[*journey].visits.push(visit(at, request, breakdown, before));
        }
    }

    /// A request is answered.
    #[inline]
    pub fn answered(&self, request: &Request<Block>, now: Nanos) {
        if !self.wanted {
            return;
        }
        if let Some(journey) = self.followed.borrow_mut().remove(&request.root) {
            self.journeys.borrow_mut()[journey].completed_ns = Some(now.0);
        }
    }

    /// The journeys so far.
    pub fn journeys(&self) -> Vec<Journey> {
        self.journeys.borrow().clone()
    }
}

fn visit(at: NodeId, request: &Request<Block>, breakdown: &Breakdown, before: usize) -> Visit {
    let Block { address, bytes, .. } = request.work;
    let (earlier, own) = breakdown.legs().split_at(before);
    let came = earlier.last().map_or(breakdown.began(), |leg| leg.until);
    let waited = own.first().filter(|leg| leg.at == at && leg.what == TimeKind::Waiting);
    let began = waited.map_or(came, |leg| leg.until);
    let (came_ns, began_ns, left_ns) = (came.0, began.0, breakdown.until().0);
    Visit { component: at.0, address, bytes, came_ns, began_ns, left_ns }
}
