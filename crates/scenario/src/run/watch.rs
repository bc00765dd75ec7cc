//! Progress of a run, and the limits that end it before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use headrace_units::Nanos;

use super::options::End;
use super::replication::Replication;
use crate::plan::Plan;
use crate::progress::Progress;

/// Maximum number of events, or of requests in a recursion, between two looks at progress and limits.
const STRIDE: u64 = 1 << 14;

/// Real time between two looks, about: events that take long are looked at more often.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// When a run must end although it is not done.
pub struct Deadline<'p> {
    progress: &'p Progress,
    began: std::time::Instant,
    longest: std::time::Duration,
}

impl<'p> Deadline<'p> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit on real time, which ends a run and never changes one"
    )]
    /// Returns the end of a run that begins now.
    pub fn new(plan: &Plan, progress: &'p Progress) -> Self {
        let longest = std::time::Duration::from_nanos(plan.run().limits.wall_time.0);
        Self { progress, began: std::time::Instant::now(), longest }
    }

    /// Returns the same end for work beside the run, which reports to `progress`.
    pub fn beside<'q>(&self, progress: &'q Progress) -> Deadline<'q> {
        Deadline { progress, ..*self }
    }

    /// Returns what ends the run once it is set.
    pub fn cancelled(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.progress.cancelled)
    }

    /// Tells the watcher how many requests all replications of `plan` have, and that `done` replications were run before.
    pub fn expect(&self, plan: &Plan, done: u64) {
        let each = plan.requests();
        // 1 until it can be estimated.
        let wanted = each.checked_mul(u64::from(plan.replications())).unwrap_or(1);
        self.progress.wanted.store(wanted, Ordering::Relaxed);
        self.progress.answered.store(each.checked_mul(done).unwrap_or(0), Ordering::Relaxed);
    }

    /// Why the run must end now, if it must.
    pub fn end(&self) -> Option<End> {
        match self.progress.is_cancelled() {
            true => Some(End::Cancelled),
            false => (self.began.elapsed() > self.longest).then_some(End::TooLong),
        }
    }
}

/// Tells the watcher how far the run is, and whether it may go on.
pub struct Watch<'p> {
    deadline: &'p Deadline<'p>,
    told: u64,
    /// Number of events until the next look.
    stride: u64,
    looked: std::time::Instant,
    /// When the run ends, where its time alone ends it.
    until: Option<Nanos>,
}

impl<'p> Watch<'p> {
    pub fn new(plan: &Plan, deadline: &'p Deadline<'p>) -> Self {
        let until = plan.run().time.filter(|_| plan.requests() == u64::MAX);
        Self { deadline, told: 0, stride: STRIDE >> 8, looked: deadline.began, until }
    }

    /// Number of events until the next look.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Adapts the stride to the real time that the last one took.
    #[expect(clippy::disallowed_methods, reason = "the real time between looks, which changes no run")]
    fn pace(&mut self) {
        let now = std::time::Instant::now();
        let took = now - self.looked;
        self.looked = now;
        self.stride = if took > LOOK { (self.stride / 4).max(1) } else { (self.stride * 2).min(STRIDE) };
    }

    /// Estimates the number of requests until a run of given time ends, from those `answered` until `now`.
    fn estimate(&self, answered: u64, now: Nanos, replications: u32) {
        if let Some(until) = self.until.filter(|_| answered > 0 && now > Nanos::ZERO) {
            let wanted = answered as f64 * f64::from(replications) * (until.secs() / now.secs());
            self.deadline.progress.wanted.store(wanted as u64, Ordering::Relaxed);
        }
    }

    /// As [`Watch::look`], at most once every stride of requests.
    pub fn look_at_intervals(&mut self, answered: u64, replication: &Replication) -> Option<End> {
        if answered - self.told < self.stride { None } else { self.look(answered, replication) }
    }

    /// Reports how many requests were answered; returns why the run must end, if it must.
    pub fn look(&mut self, answered: u64, replication: &Replication) -> Option<End> {
        self.pace();
        let progress = self.deadline.progress;
        if progress.wants_queues.swap(false, Ordering::Relaxed) {
            *progress.queues.lock().expect("nobody panicked with it") = longest_queues(replication);
        }
        progress.answered.fetch_add(answered - self.told, Ordering::Relaxed);
        self.told = answered;
        self.estimate(answered, replication.shared.sim.now(), replication.plan.replications());
        self.deadline.end()
    }
}

/// The longest queues, at most three: where, and how many requests wait.
fn longest_queues(replication: &Replication) -> Vec<(String, u64)> {
    let now = replication.shared.sim.now();
    let waiting = |id| {
        let component = replication.arena.component(id);
        (replication.arena.context(id).path, component.activity(now).map_or(0, |activity| activity.waiting))
    };
    let mut queues: Vec<(&str, u64)> = replication.arena.ids().map(waiting).collect();
    queues.sort_by_key(|(_, waiting)| std::cmp::Reverse(*waiting));
    queues.retain(|(_, waiting)| *waiting > 0);
    queues.iter().take(3).map(|(path, waiting)| ((*path).to_owned(), *waiting)).collect()
}
