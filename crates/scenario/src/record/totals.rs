//! Totals of a stream, by the components that its requests met.

use headrace_work::{Breakdown, TimeKind};

/// Totals that grow; their differences between marks are what happened in between.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Bytes of requests answered.
    pub bytes: u64,
    /// Waiting, service and blocked time along the path, by group of components, in ns.
    pub legs: Vec<[u128; 3]>,
}

impl Totals {
    /// Adds a request of `bytes` with its breakdown; `groups` has the group of each component.
    #[inline]
    pub fn add(&mut self, bytes: u64, breakdown: &Breakdown, groups: &[u32]) {
        self.bytes += bytes;
        for (at, what, span) in breakdown.spans() {
            self.legs[groups[at.index()] as usize][column(what)] += u128::from(span.0);
        }
    }
}

/// Where waiting, service and blocked time stand.
#[inline]
pub const fn column(what: TimeKind) -> usize {
    match what {
        TimeKind::Waiting => 0,
        TimeKind::Service => 1,
        TimeKind::Blocked => 2,
    }
}
