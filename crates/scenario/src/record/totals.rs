//! Totals of a stream, by the components that its requests met.

use headrace_units::Nanos;
use headrace_work::{Breakdown, TimeKind};

use super::steps::StepTotals;

/// Totals that grow; their differences between marks are what happened in between.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Bytes of requests answered.
    pub bytes: u64,
    /// The time of all requests.
    pub legs: Legs,
    /// Of training.
    pub steps: StepTotals,
}

/// Waiting, service and blocked time along the path, by group of components, in ns: of the groups between the first and the last that
/// requests met, so that memory does not grow with the components of other streams.
#[derive(Clone, Debug, Default)]
pub struct Legs {
    first: usize,
    times: Vec<[u128; 3]>,
}

impl Legs {
    /// The groups with their time, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u128; 3])> {
        (self.first..).zip(&self.times)
    }

    /// The time of all groups together.
    pub fn total(&self) -> u128 {
        self.times.iter().flatten().sum()
    }

    /// The time of a group.
    fn of(&self, group: usize) -> [u128; 3] {
        self.times.get(group.wrapping_sub(self.first)).copied().unwrap_or_default()
    }

    #[inline]
    fn add(&mut self, breakdown: &Breakdown, groups: &[u32]) {
        for (at, what, span) in breakdown.spans() {
            self.charge(groups[at.index()], what, span, 1);
        }
    }

    /// Adds the time of as many requests as one stands for.
    #[inline]
    pub fn charge(&mut self, group: u32, what: TimeKind, span: Nanos, stands_for: u64) {
        let group = group as usize;
        if group.wrapping_sub(self.first) >= self.times.len() {
            self.cover(group);
        }
        self.times[group - self.first][column(what)] += u128::from(span.0) * u128::from(stands_for);
    }

    /// Makes room for a group that no request met before.
    #[cold]
    fn cover(&mut self, group: usize) {
        if self.times.is_empty() {
            self.first = group;
        }
        let before = self.first.saturating_sub(group);
        self.times.splice(0..0, std::iter::repeat_n([0; 3], before));
        self.first -= before;
        self.times.resize(self.times.len().max(group + 1 - self.first), [0; 3]);
    }

    /// Returns what was added since `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let grown = |(group, legs): (usize, &[u128; 3])| {
            let then = earlier.of(group);
            [0, 1, 2].map(|what| legs[what] - then[what])
        };
        Self { first: self.first, times: self.iter().map(grown).collect() }
    }
}

impl Totals {
    /// Adds a request of `bytes` with its breakdown; `groups` has the group of each component.
    #[inline]
    pub fn add(&mut self, bytes: u64, breakdown: &Breakdown, groups: &[u32]) {
        self.bytes += bytes;
        self.legs.add(breakdown, groups);
    }

    /// Returns what was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            bytes: self.bytes - earlier.bytes,
            legs: self.legs.since(&earlier.legs),
            steps: self.steps.since(&earlier.steps),
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

#[cfg(test)]
mod tests {
    use headrace_work::NodeId;

    use super::*;

    /// Time at one component, in a group of its own.
    fn at(group: u32, span: u64) -> Breakdown {
        let mut breakdown = Breakdown::from(Nanos::ZERO);
        breakdown.served(NodeId(group), Nanos(span));
        breakdown
    }

    /// Of thousands of groups, only those from the first to the last that requests met take memory.
    #[test]
    fn legs_cover_what_requests_met() {
        let groups: Vec<u32> = (0..10_000).collect();
        let mut legs = Legs::default();
        legs.add(&at(9_000, 5), &groups);
        let before = legs.clone();
        legs.add(&at(8_998, 7), &groups);
        legs.add(&at(9_001, 2), &groups);
        assert_eq!(legs.times.len(), 4);
        let services = |legs: &Legs| legs.iter().map(|(group, times)| (group, times[1])).collect::<Vec<_>>();
        assert_eq!(services(&legs), [(8_998, 7), (8_999, 0), (9_000, 5), (9_001, 2)]);
        assert_eq!(services(&legs.since(&before)), [(8_998, 7), (8_999, 0), (9_000, 0), (9_001, 2)]);
        assert_eq!(legs.total(), 14);
    }
}
