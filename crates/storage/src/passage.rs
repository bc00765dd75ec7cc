//! Where a request's time went.

use headrace_units::Nanos;
use smallvec::{SmallVec, smallvec};

/// What one component on the path took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leg {
    /// The component, by its place on the site.
    pub component: u32,
    /// Time spent waiting for it.
    pub waiting: Nanos,
    /// Time spent in its service, that of the components behind it not included.
    pub service: Nanos,
}

/// The legs of a request, along the path that decided when it was done: where a request was split, that of the part
/// which finished last. Their times add up to the response time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    legs: SmallVec<[Leg; 2]>,
}

impl Passage {
    /// Through one component.
    #[inline]
    pub fn through(component: u32, waiting: Nanos, service: Nanos) -> Self {
        Self { legs: smallvec![Leg { component, waiting, service }] }
    }

    /// The same, with a leg before it.
    #[inline]
    pub fn after(mut self, component: u32, waiting: Nanos, service: Nanos) -> Self {
        self.legs.push(Leg { component, waiting, service });
        self
    }

    /// The legs, the deepest component first.
    #[inline]
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// The sum of all legs.
    pub fn total(&self) -> Nanos {
        self.legs.iter().fold(Nanos::ZERO, |sum, leg| sum + leg.waiting + leg.service)
    }
}
