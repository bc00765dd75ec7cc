//! Totals of a stream, by the components that its requests met.

use headrace_work::{Breakdown, TimeKind};

use super::steps::StepTotals;

/// Totals that grow; their differences between marks are what happened in between.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Bytes of requests answered.
    pub bytes: u64,
    /// The time of all requests.
    pub legs: Legs,
    /// The time of the slowest: of all requests, then of each operation.
    pub slowest: Vec<Slowest>,
    /// Of training.
    pub steps: StepTotals,
}

/// Waiting, service and blocked time along the path, by group of components, in ns; empty before the first request.
pub type Legs = Vec<[u128; 3]>;

/// Requests that took longer than 99 % of those before them, as far as that was known: it is determined again when a run has become two
/// to four times as long.
#[derive(Clone, Debug, Default)]
pub struct Slowest {
    /// Number of requests.
    pub count: u64,
    /// Their time.
    pub legs: Legs,
}

impl Totals {
    /// Adds a request of `bytes` with its breakdown; `groups` has the group of each component.
    #[inline]
    pub fn add(&mut self, bytes: u64, breakdown: &Breakdown, groups: &[u32]) {
        self.bytes += bytes;
        add(&mut self.legs, breakdown, groups);
    }

    /// Returns what was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let nothing = Slowest::default();
        let slowest = self.slowest.iter().enumerate().map(|(at, now)| {
            let then = earlier.slowest.get(at).unwrap_or(&nothing);
            Slowest { count: now.count - then.count, legs: grown(&now.legs, &then.legs) }
        });
        Self {
            bytes: self.bytes - earlier.bytes,
            legs: grown(&self.legs, &earlier.legs),
            slowest: slowest.collect(),
            steps: self.steps.since(&earlier.steps),
        }
    }
}

impl Slowest {
    /// Adds a request that is one of them.
    #[cold]
    pub fn add(&mut self, breakdown: &Breakdown, groups: &[u32], number_of_groups: usize) {
        self.count += 1;
        self.legs.resize(number_of_groups, [0; 3]);
        add(&mut self.legs, breakdown, groups);
    }
}

#[inline]
fn add(legs: &mut Legs, breakdown: &Breakdown, groups: &[u32]) {
    for (at, what, span) in breakdown.spans() {
        legs[groups[at.index()] as usize][column(what)] += u128::from(span.0);
    }
}

fn grown(now: &Legs, then: &Legs) -> Legs {
    let since = |(at, legs): (usize, &[u128; 3])| {
        let earlier = then.get(at).copied().unwrap_or_default();
        [0, 1, 2].map(|what| legs[what] - earlier[what])
    };
    now.iter().enumerate().map(since).collect()
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
