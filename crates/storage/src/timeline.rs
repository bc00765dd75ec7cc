//! Which component did what for a request, and when: the journeys of a run's first requests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use headrace_units::Nanos;
use headrace_workload::{Op, Request};
use serde::Serialize;

use crate::passage::Leg;

/// The journeys of the first requests of a run.
#[derive(Debug, Default)]
pub struct Timeline {
    /// So many requests are still to be followed.
    free: Cell<u64>,
    /// Those under way and followed: their numbers by their keys.
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
    /// How many bytes.
    pub bytes: u64,
    /// When it was made.
    pub born_ns: u64,
    /// When it was answered; none where the run ended before.
    pub answered_ns: Option<u64>,
    /// What it did on the way, in the order of leaving.
    pub visits: Vec<Visit>,
}

/// What one component did for a request, or for a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// The component, by its place on the site.
    pub component: u32,
    /// The first byte asked of it.
    pub address: u64,
    /// How many bytes were asked of it.
    pub bytes: u64,
    /// When it was asked.
    pub came_ns: u64,
    /// When it began, after waiting.
    pub began_ns: u64,
    /// When it was done, and all behind it.
    pub left_ns: u64,
}

impl Timeline {
    /// A timeline of the first `many` requests.
    pub fn of_first(many: u64) -> Self {
        Self { free: Cell::new(many), ..Self::default() }
    }

    /// A request of `stream` is born; it is followed if it is one of the first.
    #[inline]
    pub fn born(&self, stream: usize, now: Nanos, request: &Request) {
        if self.free.get() == 0 {
            return;
        }
        self.free.set(self.free.get() - 1);
        let mut journeys = self.journeys.borrow_mut();
        self.followed.borrow_mut().insert(request.key, journeys.len());
        let Request { op, address, bytes, .. } = *request;
        let born_ns = now.0;
        journeys.push(Journey { stream, op, address, bytes, born_ns, answered_ns: None, visits: Vec::new() });
    }

    /// A component is done with a request: it came at `came`, and its leg says how long it waited.
    #[inline]
    pub fn visited(&self, request: &Request, came: Nanos, left: Nanos, leg: Option<&Leg>) {
        if let Some(leg) = leg
            && let Some(journey) = self.followed.borrow().get(&request.key)
        {
            let Request { address, bytes, .. } = *request;
            let (came_ns, began_ns, left_ns) = (came.0, (came + leg.waiting).0, left.0);
            let visit = Visit { component: leg.component, address, bytes, came_ns, began_ns, left_ns };
            self.journeys.borrow_mut()[*journey].visits.push(visit);
        }
    }

    /// A request is answered.
    #[inline]
    pub fn answered(&self, request: &Request, now: Nanos) {
        if self.journeys.borrow().is_empty() {
            return;
        }
        if let Some(journey) = self.followed.borrow_mut().remove(&request.key) {
            self.journeys.borrow_mut()[journey].answered_ns = Some(now.0);
        }
    }

    /// The journeys so far.
    pub fn journeys(&self) -> Vec<Journey> {
        self.journeys.borrow().clone()
    }
}
