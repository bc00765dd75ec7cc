//! Breakdown of the response time of a request.

use headrace_units::Nanos;

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

/// Kind of time that a request spent at a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeKind {
    /// The request waited for its turn.
    Waiting,
    /// The request was served.
    Service,
    /// The request was ready to go on, and what comes next had no room for it.
    Blocked,
}

/// A span of a request's life, maybe of no length: from the end of the leg before it until `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Component.
    pub at: NodeId,
    /// Kind of time.
    pub what: TimeKind,
    /// End of the span.
    pub until: Nanos,
}

/// The account of a request: legs that follow each other without gaps.
///
/// A leg stores only its end; it begins where the leg before it ends. So legs add up to the time between the first instant
/// and the last by construction, whatever components charge.
///
/// ```
/// # use headrace_work::{Breakdown, NodeId, TimeKind};
/// # use headrace_units::Nanos;
/// let (disk, link) = (NodeId(0), NodeId(1));
/// let mut breakdown = Breakdown::from(Nanos(100));
/// breakdown.waited(disk, Nanos(130));
/// breakdown.served(disk, Nanos(180));
/// let mut sent = Breakdown::from(Nanos(180));
/// sent.served(link, Nanos(200));
/// breakdown.follow(&sent);
/// assert_eq!(breakdown.total(), Nanos(100));
/// assert_eq!(breakdown.spans().map(|(at, _, span)| (at.0, span.0)).collect::<Vec<_>>(), [(0, 30), (0, 50), (1, 20)]);
/// ```
#[derive(Clone, Debug)]
pub struct Breakdown {
    began: Nanos,
    until: Nanos,
    /// Number of legs.
    len: usize,
    failed: bool,
    first: [Leg; FEW],
    /// All legs, where there are more than a few.
    many: Vec<Leg>,
}

/// Number of legs that need no allocation.
const FEW: usize = 8;

const BLANK: Leg = Leg { at: NodeId(0), what: TimeKind::Waiting, until: Nanos::ZERO };

/// Accounts are equal where the same time went the same way: legs of no length do not count.
impl PartialEq for Breakdown {
    fn eq(&self, other: &Self) -> bool {
        let spans =
            |account: &Self| account.spans().filter(|(.., span)| *span > Nanos::ZERO).collect::<Vec<_>>();
        (self.began, self.until) == (other.began, other.until) && spans(self) == spans(other)
    }
}

impl Eq for Breakdown {}

impl Breakdown {
    /// An account that begins at `now`.
    #[inline]
    pub fn from(now: Nanos) -> Self {
        Self { began: now, until: now, len: 0, failed: false, first: [BLANK; FEW], many: Vec::new() }
    }

    /// Begins a new account at `now` in the room of this one.
    #[inline]
    pub fn restart(&mut self, now: Nanos) {
        (self.began, self.until, self.len, self.failed) = (now, now, 0, false);
    }

    /// Charges all time since the last charge to `at`, where the request waited until `now`.
    ///
    /// # Panics
    /// If `now` lies before the last charge: the account would run backwards.
    #[inline]
    pub fn waited(&mut self, at: NodeId, now: Nanos) {
        self.charge(at, TimeKind::Waiting, now);
    }

    /// Charges all time since the last charge to `at`, which served the request until `now`. Panics as [`waited`](Self::waited) does.
    #[inline]
    pub fn served(&mut self, at: NodeId, now: Nanos) {
        self.charge(at, TimeKind::Service, now);
    }

    /// Charges all time since the last charge to `at`, which held the request up until `now` while its own server was not the
    /// reason. Panics as [`waited`](Self::waited) does.
    #[inline]
    pub fn blocked(&mut self, at: NodeId, now: Nanos) {
        self.charge(at, TimeKind::Blocked, now);
    }

    /// A leg is noted even where no time passed: to ask costs more, for nobody can foretell the answer.
    #[inline]
    fn charge(&mut self, at: NodeId, what: TimeKind, now: Nanos) {
        assert!(now >= self.until, "a charge at {} ns after one at {} ns", now.0, self.until.0);
        self.until = now;
        self.push(at, what, now);
    }

    /// Adds a leg. It is written field by field: a whole one would be made elsewhere and moved, which waits for the pieces.
    #[inline]
    fn push(&mut self, at: NodeId, what: TimeKind, until: Nanos) {
        match self.first.get_mut(self.len) {
            Some(free) => {
                (free.at, free.what, free.until) = (at, what, until);
                self.len += 1;
            }
            None => self.push_to_many(Leg { at, what, until }),
        }
    }

    #[cold]
    fn push_to_many(&mut self, leg: Leg) {
        if self.len == FEW {
            self.many.clear();
            self.many.reserve(4 * FEW); // Once, rather than as it grows.
            self.many.extend(self.first);
        }
        self.many.push(leg);
        self.len += 1;
    }

    /// Appends the account of what was done next.
    ///
    /// # Panics
    /// If `next` does not begin where this account ends: time would be missing or counted twice.
    #[inline]
    pub fn follow(&mut self, next: &Self) {
        assert!(
            next.began == self.until,
            "an account from {} ns follows one to {} ns",
            next.began.0,
            self.until.0
        );
        self.until = next.until;
        next.legs().iter().for_each(|leg| self.push(leg.at, leg.what, leg.until));
    }

    /// Notes that what was asked was not done: a component on the way is down, or data is lost.
    #[cold]
    pub fn fail(&mut self) {
        self.failed = true;
    }

    /// Notes that it is tried another way.
    #[inline]
    pub fn retry(&mut self) {
        self.failed = false;
    }

    /// Returns true if the request failed. The account of work done for it ([`follow`](Self::follow)) does not decide that.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// When it began.
    #[inline]
    pub fn began(&self) -> Nanos {
        self.began
    }

    /// Up to when time is accounted for.
    #[inline]
    pub fn until(&self) -> Nanos {
        self.until
    }

    /// The legs, in order.
    #[inline]
    pub fn legs(&self) -> &[Leg] {
        self.first.get(..self.len).unwrap_or(&self.many)
    }

    /// Each leg with its length, in order.
    #[inline]
    pub fn spans(&self) -> impl Iterator<Item = (NodeId, TimeKind, Nanos)> + '_ {
        let mut from = self.began;
        self.legs().iter().map(move |leg| {
            let span = leg.until - from;
            from = leg.until;
            (leg.at, leg.what, span)
        })
    }

    /// Time that the request spent waiting or blocked after `from`.
    pub fn waited_after(&self, from: Nanos) -> Nanos {
        let spans = self
            .spans()
            .zip(self.legs())
            .filter(|((_, kind, _), leg)| *kind != TimeKind::Service && leg.until > from);
        Nanos(spans.map(|((.., span), leg)| span.0.min((leg.until - from).0)).sum())
    }

    /// From the beginning to the last charge.
    #[inline]
    pub fn total(&self) -> Nanos {
        self.until - self.began
    }
}
