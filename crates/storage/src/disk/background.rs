//! What a drive does by itself: how long its arm destages, beside commands and within their service.

use headrace_units::Nanos;

/// Time that the arm has spent on destaging since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Background {
    /// While the drive served no command.
    pub alone_ns: u64,
    /// While a command was in service.
    pub within_ns: u64,
}

/// From `begin` to before `end`, in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    begin: u64,
    end: u64,
}

impl Interval {
    /// How much of it lies in `other`.
    fn within_ns(&self, other: &Self) -> u64 {
        self.end.min(other.end).saturating_sub(self.begin.max(other.begin))
    }
}

/// A destage.
#[derive(Clone, Copy, Debug)]
struct Destage {
    time: Interval,
    /// Whether it goes on where the one before ended. The arm then waits for its sector because the data came late: with more load it
    /// would have been part of that one.
    follows: bool,
}

/// Adds up background work. It counts in whole nanoseconds, so that nothing is lost or counted twice.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What was done before the last command began.
    settled: Background,
    /// The service of the last command, and of all before it.
    service: Interval,
    served_ns: u64,
    /// How much service there had been when the last destage began.
    seen_ns: u64,
    /// What the arm destaged since the last command began, in order. The first may have begun earlier.
    recent: Vec<Destage>,
    begun: u64,
}

impl Ledger {
    /// How many write-backs have begun.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// The arm destages from `begin` to `end`.
    pub fn destage(&mut self, begin: f64, end: f64) {
        self.begun += 1;
        self.seen_ns = self.service_until(whole(begin));
        let time = Interval { begin: whole(begin), end: whole(end) };
        self.recent.push(Destage { time, follows: false });
    }

    /// The arm destages what goes on where the last destage ended, and passes under the head in `passed_ns`. While it does, commands bring
    /// the next: the longer of the two counts.
    pub fn destage_more(&mut self, begin: f64, end: f64, passed_ns: f64) {
        self.begun += 1;
        let served = self.service_until(whole(begin));
        let brought = served.saturating_sub(std::mem::replace(&mut self.seen_ns, served));
        let more = whole(passed_ns.min(end - begin)).saturating_sub(brought);
        let time = Interval { begin: whole(end) - more, end: whole(end) };
        self.recent.push(Destage { time, follows: true });
    }

    /// How long commands were served before `now`.
    fn service_until(&self, now: u64) -> u64 {
        self.served_ns + self.service.end.min(now).saturating_sub(self.service.begin)
    }

    /// The drive served a command from `begin` to `end`.
    #[inline]
    pub fn serve(&mut self, begin: u64, end: u64) {
        if !self.recent.is_empty() {
            self.settle(begin);
        }
        self.served_ns = self.service_until(begin);
        self.service = Interval { begin, end };
    }

    /// The last command, whose end was not known, ended at `end`.
    pub fn end_service(&mut self, end: u64) {
        self.service.end = end;
    }

    /// Adds up everything before `until`, and keeps the rest.
    fn settle(&mut self, until: u64) {
        self.settled = self.done(until);
        self.recent.retain_mut(|work| {
            work.time.begin = work.time.begin.max(until);
            work.time.begin < work.time.end
        });
    }

    /// What was done before `now`, where the last command began no later than that. Commands and destaging together take no more than
    /// all time.
    pub fn until(&self, now: u64) -> Background {
        let Background { alone_ns, within_ns } = self.done(now);
        Background { alone_ns: alone_ns.min(now.saturating_sub(self.service_until(now))), within_ns }
    }

    fn done(&self, now: u64) -> Background {
        let mut sum = self.settled;
        for work in &self.recent {
            let done = Interval { end: work.time.end.min(now), ..work.time };
            let within = if work.follows { 0 } else { done.within_ns(&self.service) };
            sum.within_ns += within;
            sum.alone_ns += done.end.saturating_sub(done.begin) - within;
        }
        sum
    }
}

/// What a drive read ahead and was then asked for. What nobody asks for gives way to commands and costs them nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsefulAhead {
    /// How long the data that was read ahead for the command takes to pass under the head.
    passed_ns: f64,
    /// While the drive served commands.
    within_ns: u64,
    /// Beyond that: no more than the drive had been left alone.
    pub beside_ns: u64,
}

impl UsefulAhead {
    /// A command asks for what was read ahead, or is being so, and takes this long to pass under the head.
    pub fn came(&mut self, passed_ns: f64) {
        self.passed_ns = passed_ns;
    }

    /// The drive served that command from `now` until it is `ready` for the next. Commands and reading ahead go on side by side, so
    /// the longer of the two counts.
    #[inline]
    pub fn serve(&mut self, now: Nanos, ready: Nanos) {
        let held = ready.0.saturating_sub(now.0);
        if self.passed_ns > 0.0 {
            let alone = now.0.saturating_sub(self.within_ns + self.beside_ns);
            self.beside_ns += whole(self.passed_ns).saturating_sub(held).min(alone);
            self.passed_ns = 0.0;
        }
        self.within_ns += held;
    }
}

/// The nearest whole nanosecond.
#[inline]
pub fn whole(time: f64) -> u64 {
    (time + 0.5) as u64
}
