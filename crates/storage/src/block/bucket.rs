//! A token bucket: it fills at a rate up to its size, and whoever takes tokens that are not there yet waits for them.
//!
//! What is missing in the bucket is the work of a queue whose server works at the rate: the bucket is not full exactly while that server is
//! busy, so its utilisation is proportional to the load, and a request waits only where that work exceeds the bucket's size (Berger,
//! "Performance analysis of a rate-control throttle where tokens and jobs queue", IEEE JSAC 9(2), 1991).

use std::cell::Cell;

use headrace_analytic::Distribution;
use headrace_units::{BytesPerSecond, Nanos, PerSecond};
use headrace_work::{Block, Op};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::View;
use crate::core::meter::{Activity, Meter, by_hosts};
use crate::core::theory::{Demand, Features, Load, ServiceKind};

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A byte of data; a discard has none.
    Byte,
    /// An operation; a request larger than this number of bytes counts as one for each part of that size.
    Operation(u64),
}

/// A token bucket whose numbers are known.
#[derive(Clone, Debug)]
pub struct BucketPlan {
    pub(crate) of: Token,
    /// Tokens per second.
    pub(crate) rate: f64,
    /// The most tokens that are saved.
    pub(crate) size: f64,
    /// Tokens at the start of the run.
    pub(crate) initial: f64,
}

impl BucketPlan {
    /// Returns the number of tokens that a request takes.
    pub(crate) fn tokens(&self, op: Op, bytes: u64) -> f64 {
        match (self.of, op) {
            (Token::Byte, Op::Discard | Op::Flush) => 0.0,
            (Token::Byte, _) => bytes as f64,
            (Token::Operation(_), Op::Discard | Op::Flush) => 1.0,
            (Token::Operation(most), _) => bytes.div_ceil(most).max(1) as f64,
        }
    }

    /// Returns the time in which this number of tokens comes, in whole ns rounded up; a thousandth of one is an error of rounding.
    fn time_for(&self, tokens: f64) -> Nanos {
        Nanos::from_ns(libm::ceil(tokens / self.rate * 1e9 - 1e-3))
    }
}

impl Theory for BucketPlan {
    fn features(&self) -> Features {
        Features { addressed: false, flushes_at_once: true, limits_rate: true, ..Features::default() }
    }

    /// The work of the queue that a bucket is. It counts as served by it, so a delay takes that back: a request only waits.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let time =
            load.mixed(|op, bytes| Ok(Distribution::Fixed(self.tokens(op, bytes) / self.rate * 1e3)))?;
        if time.mean() == 0.0 {
            return Ok(Vec::new());
        }
        let ahead_ms = self.size / self.rate * 1e3;
        let saved = Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(-time.mean()));
        let work = Demand { ahead_ms, ..Demand::one(view.id(), ServiceKind::SINGLE, time) };
        Ok(if ahead_ms > 0.0 { vec![work, saved] } else { vec![work] })
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        true
    }
}

/// What is in a bucket.
#[derive(Clone, Copy)]
struct Content {
    tokens: f64,
    at: Nanos,
    /// The most tokens that are kept: more than its size while the first in line wants more.
    most: f64,
    /// What was missing at the start of the run and has not come yet: no request took it, so it comes after what requests took.
    absent: f64,
    /// The time for which what requests took was missing.
    busy: Nanos,
    /// The area under its level, as the time for which it would have been full.
    full: f64,
}

/// A token bucket in a simulation.
pub struct Bucket<'m> {
    path: &'m str,
    plan: &'m BucketPlan,
    content: Cell<Content>,
    taken: Cell<(u64, f64)>,
    /// The time for which the first in line waited for this bucket, of several.
    waited: Cell<Nanos>,
    /// When a request first wanted more than was saved, since it was last half full.
    used_up: Cell<Option<Nanos>>,
}

impl Plan for BucketPlan {
    type Component<'m> = Bucket<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Bucket<'m> {
        let (at, busy) = (Nanos::ZERO, Nanos::ZERO);
        let absent = self.size - self.initial;
        let content = Content { tokens: self.initial, at, most: self.size, absent, busy, full: 0.0 };
        Bucket {
            path: context.path,
            plan: self,
            content: Cell::new(content),
            taken: Cell::default(),
            waited: Cell::default(),
            used_up: Cell::default(),
        }
    }
}

impl Bucket<'_> {
    /// Returns what is in it at `now`.
    fn content(&self, now: Nanos) -> Content {
        let Content { tokens, at, most, absent, busy, full } = self.content.get();
        let span = now - at;
        let filling = span.min(self.plan.time_for(most - tokens));
        let for_requests = span.min(self.plan.time_for((most - tokens - absent).max(0.0)));
        let absent = (absent - self.plan.rate * (span - for_requests).secs()).max(0.0);
        let later = (tokens + self.plan.rate * span.secs()).min(most);
        let share = ((tokens + later) / 2.0 / self.plan.size).min(1.0);
        let full = full + share * filling.ns() + (span - filling).ns();
        Content { tokens: later, at: now, most, absent, busy: busy + for_requests, full }
    }

    /// Returns when a request that is the first in line at `now` has its tokens.
    pub(crate) fn ready(&self, now: Nanos, request: Block) -> Nanos {
        let missing = self.plan.tokens(request.op, request.bytes) - self.content(now).tokens;
        if missing > 0.0 && self.used_up.get().is_none() {
            self.used_up.set(Some(now));
        }
        if missing > 0.0 { now + self.plan.time_for(missing) } else { now }
    }

    /// A request is the first in line from `now` on: as many tokens as it takes are kept for it.
    pub(crate) fn begin(&self, now: Nanos, request: Block) {
        let most = self.plan.tokens(request.op, request.bytes).max(self.plan.size);
        self.content.set(Content { most, ..self.content(now) });
    }

    /// Adds the time for which the first in line waited for this bucket, the last of several to have its tokens.
    pub(crate) fn is_waited_for(&self, span: Nanos) {
        self.waited.set(self.waited.get() + span);
    }

    /// It takes its tokens.
    pub(crate) fn take(&self, now: Nanos, request: Block) {
        let (content, wants) = (self.content(now), self.plan.tokens(request.op, request.bytes));
        let tokens = (content.tokens - wants).clamp(0.0, self.plan.size);
        if tokens > 0.5 * self.plan.size {
            self.used_up.set(None);
        }
        self.content.set(Content { tokens, most: self.plan.size, ..content });
        let (requests, tokens) = self.taken.get();
        self.taken.set((requests + 1, tokens + wants));
    }
}

/// Up to this share of what requests took may have been saved before the run: a longer one would be much the same. Of many requests less, since
/// chance is less: this many standard deviations of arrivals at random.
const LITTLE_SAVED: f64 = 0.02;
const CHANCE: f64 = 3.0;

impl Bucket<'_> {
    /// Returns the tokens that requests took each second until `now`, if what was saved paid for more than a little of them.
    fn overdrawn(&self, now: Nanos) -> Option<f64> {
        let (requests, tokens) = self.taken.get();
        let taken = tokens / now.secs().max(1e-9);
        let little = LITTLE_SAVED.min(CHANCE / (requests.max(1) as f64).sqrt());
        (self.plan.size > 0.0 && taken > self.plan.rate * (1.0 + little)).then_some(taken)
    }

    /// Returns a number of tokens a second, in words.
    fn rate_of(&self, tokens: f64) -> String {
        match self.plan.of {
            Token::Byte => BytesPerSecond(tokens).to_string(),
            Token::Operation(_) => {
                format!("{} operations/s", PerSecond(tokens).to_string().replace(" /s", ""))
            }
        }
    }
}

impl<'m> Component<'m> for Bucket<'m> {
    fn is_settled(&self) -> bool {
        self.overdrawn(self.content.get().at).is_none()
    }

    fn remarks(&self, now: Nanos) -> Vec<String> {
        let of = |taken: f64| {
            let lasts = Nanos::from_secs(self.content(now).tokens / (taken - self.plan.rate));
            let rate = self.rate_of(self.plan.rate);
            let until = match self.used_up.get() {
                Some(then) => format!("was used up {then} after the start, and since then"),
                None => format!("lasts for {lasts} more, and then"),
            };
            format!(
                "{}: requests took {}, and {rate} come back: what was saved {until} {rate} is all that it carries",
                self.path,
                self.rate_of(taken)
            )
        };
        self.overdrawn(now).map(of).into_iter().collect()
    }

    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (requests, tokens) = self.taken.get();
        Some(Activity {
            servers: 1,
            busy: by_hosts(u128::from(self.content(now).busy.0)),
            visits: requests,
            queue: u128::from(self.waited.get().0),
            waited: u128::from(self.waited.get().0),
            served: requests,
            service: (tokens / self.plan.rate * 1e9) as u128,
            ..Activity::default()
        })
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        if self.plan.size > 0.0 {
            put("fill", Meter::Fill(self.content(now).full as u64, now.0));
        }
    }
}
