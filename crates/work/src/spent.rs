//! Where the time of a request went.

use headrace_units::Nanos;
use smallvec::SmallVec;

/// A component, by its number in the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The number as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a component did with a request for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The request waited for its turn.
    Waiting,
    /// The request was served.
    Service,
    /// The request was ready to go on, and what comes next had no room for it.
    Blocked,
}

/// A span of a request's life: from the end of the leg before it until `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Where.
    pub at: NodeId,
    /// What was done.
    pub what: What,
    /// When it ended.
    pub until: Nanos,
}

/// The account of a request: legs that follow each other without gaps.
///
/// A leg stores only its end; it begins where the leg before it ends. So legs add up to the time between the first instant
/// and the last by construction, whatever components charge.
///
/// ```
/// # use headrace_work::{NodeId, Spent, What};
/// # use headrace_units::Nanos;
/// let (disk, link) = (NodeId(0), NodeId(1));
/// let mut spent = Spent::from(Nanos(100));
/// spent.charge(disk, What::Waiting, Nanos(130));
/// spent.charge(disk, What::Service, Nanos(180));
/// let mut sent = Spent::from(Nanos(180));
/// sent.charge(link, What::Service, Nanos(200));
/// spent.follow(sent);
/// assert_eq!(spent.total(), Nanos(100));
/// assert_eq!(spent.spans().map(|(at, _, span)| (at.0, span.0)).collect::<Vec<_>>(), [(0, 30), (0, 50), (1, 20)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    began: Nanos,
    legs: SmallVec<[Leg; 3]>,
}

impl Spent {
    /// An account that begins at `now`.
    #[inline]
    pub fn from(now: Nanos) -> Self {
        Self { began: now, legs: SmallVec::new() }
    }

    /// Charges all time since the last charge to `at`. Nothing is noted where no time passed.
    ///
    /// # Panics
    /// If `now` lies before the last charge: the account would run backwards.
    #[inline]
    pub fn charge(&mut self, at: NodeId, what: What, now: Nanos) {
        let until = self.until();
        if now != until {
            assert!(now > until, "a charge at {} ns after one at {} ns", now.0, until.0);
            self.legs.push(Leg { at, what, until: now });
        }
    }

    /// Appends the account of what was done next.
    ///
    /// # Panics
    /// If `next` does not begin where this account ends: time would be missing or counted twice.
    #[inline]
    pub fn follow(&mut self, next: Self) {
        assert!(
            next.began == self.until(),
            "an account from {} ns follows one to {} ns",
            next.began.0,
            self.until().0
        );
        if self.legs.is_empty() {
            self.legs = next.legs;
        } else {
            self.legs.extend(next.legs);
        }
    }

    /// When it began.
    #[inline]
    pub fn began(&self) -> Nanos {
        self.began
    }

    /// Up to when time is accounted for.
    #[inline]
    pub fn until(&self) -> Nanos {
        self.legs.last().map_or(self.began, |leg| leg.until)
    }

    /// The legs, in order.
    #[inline]
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Each leg with its length, in order.
    #[inline]
    pub fn spans(&self) -> impl Iterator<Item = (NodeId, What, Nanos)> + '_ {
        let mut from = self.began;
        self.legs.iter().map(move |leg| {
            let span = leg.until - from;
            from = leg.until;
            (leg.at, leg.what, span)
        })
    }

    /// From the beginning to the last charge.
    pub fn total(&self) -> Nanos {
        self.until() - self.began
    }
}
