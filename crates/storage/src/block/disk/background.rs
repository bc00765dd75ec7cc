//! Background work of a drive: the time its arm destages, beside commands and within their service.

use headrace_work::Cause;

use crate::core::meter::Activity;

/// Time that the arm has spent on destaging since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Background {
    /// While the drive served no command.
    pub alone_ns: u64,
    /// While a command was in service.
    pub within_ns: u64,
    /// Part of `within_ns`: while a command of a host was.
    pub within_hosts_ns: u64,
}

impl Background {
    /// Returns what the arm did, with this work beside: that which no command saw, and that which commands of hosts waited for.
    pub(super) fn beside(self, arm: Activity) -> Activity {
        let [alone, within] = [self.alone_ns, self.within_hosts_ns].map(u128::from);
        let mut busy = arm.busy;
        busy[Cause::Host as usize] -= within;
        busy[Cause::Destage as usize] += alone + within;
        Activity { busy, ..arm }
    }
}

/// From `begin` to before `end`, in ns.
#[derive(Clone, Copy, Debug, Default)]
struct TimeRange {
    begin: u64,
    end: u64,
}

impl TimeRange {
    /// Returns the length of its overlap with `other`, in ns.
    fn within_ns(&self, other: &Self) -> u64 {
        self.end.min(other.end).saturating_sub(self.begin.max(other.begin))
    }
}

/// Adds up background work. It counts in whole nanoseconds, so that nothing is lost or counted twice.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Background work before the last command began.
    settled: Background,
    /// The service of the last command, whether that is a host's, and how long those before it took.
    service: TimeRange,
    for_host: bool,
    served_ns: u64,
    /// Service time, in ns, before the last destage began.
    seen_ns: u64,
    /// Destages since the last command began, in order. The first can have begun earlier.
    recent: Vec<TimeRange>,
    /// Destages that count in time that the drive is left alone later, how long they have counted, and how much such time there had
    /// been by then.
    owed_ns: u64,
    counted_ns: u64,
    left_ns: u64,
    begun: u64,
}

impl Ledger {
    /// Returns the number of write-backs begun.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// The arm destages from `begin` to `end`.
    pub fn destage(&mut self, begin: f64, end: f64) {
        self.begun += 1;
        self.seen_ns = self.service_until(whole(begin));
        self.recent.push(TimeRange { begin: whole(begin), end: whole(end) });
    }

    /// The arm destages from `begin` on what goes on where the last destage ended, and passes under the head in `passed_ns`. It waits for
    /// its sector because the data came late: with more load it would have been part of the last. While it passes, commands bring the
    /// next: the longer of the two counts, in time that is left alone from then on.
    pub fn destage_more(&mut self, begin: f64, passed_ns: f64) {
        self.begun += 1;
        let begin = whole(begin);
        let served = self.service_until(begin);
        let brought = served.saturating_sub(std::mem::replace(&mut self.seen_ns, served));
        self.count(begin);
        self.owed_ns += whole(passed_ns).saturating_sub(brought);
    }

    /// Counts what is owed, up to `now`.
    fn count(&mut self, now: u64) {
        let left = self.left_until(now);
        let counted = self.owed_ns.min(left.saturating_sub(self.left_ns));
        self.counted_ns += counted;
        self.owed_ns -= counted;
        self.left_ns = self.left_ns.max(left);
    }

    /// Returns the time up to `now` that neither commands nor destages took, except destages still owed, in ns.
    fn left_until(&self, now: u64) -> u64 {
        now.saturating_sub(self.service_until(now)).saturating_sub(self.done(now).alone_ns)
    }

    /// Returns the service time of commands before `now`, in ns.
    fn service_until(&self, now: u64) -> u64 {
        self.served_ns + self.service.end.min(now).saturating_sub(self.service.begin)
    }

    /// A command, of a host or not, begins at `begin`; nobody knows yet when it ends.
    #[inline]
    pub fn serve(&mut self, begin: u64, for_host: bool) {
        if !self.recent.is_empty() {
            self.settle(begin);
        }
        self.served_ns = self.service_until(begin);
        self.service = TimeRange { begin, end: u64::MAX };
        self.for_host = for_host;
    }

    /// The last command ended at `end`.
    #[inline]
    pub fn end_service(&mut self, end: u64) {
        self.service.end = end;
    }

    /// Adds up everything before `until`, and keeps the rest.
    fn settle(&mut self, until: u64) {
        self.settled = self.done(until);
        self.recent.retain_mut(|work| {
            work.begin = work.begin.max(until);
            work.begin < work.end
        });
    }

    /// Returns the background work before `now`; the last command must have begun by then.
    pub fn until(&self, now: u64) -> Background {
        let done = self.done(now);
        let owed = self.owed_ns.min(self.left_until(now).saturating_sub(self.left_ns));
        Background { alone_ns: done.alone_ns + self.counted_ns + owed, ..done }
    }

    /// Returns the background work before `now`, without what is owed.
    fn done(&self, now: u64) -> Background {
        let mut sum = self.settled;
        for work in &self.recent {
            let done = TimeRange { end: work.end.min(now), ..*work };
            let within = done.within_ns(&self.service);
            sum.within_ns += within;
            sum.within_hosts_ns += if self.for_host { within } else { 0 };
            sum.alone_ns += done.end.saturating_sub(done.begin) - within;
        }
        sum
    }
}

/// Read-ahead that commands asked for later. Read-ahead that nobody asks for gives way to commands and costs them nothing. It counts when
/// it is asked for, in the time that the drive is idle after that, so no time counts twice, and no past time changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsefulAhead {
    /// Time for the data that was read ahead for the command to pass under the head, in ns.
    passed_ns: f64,
    /// Read-ahead that was asked for and is not counted yet, in ns.
    owed_ns: u64,
    /// Read-ahead counted so far, in ns.
    counted_ns: u64,
    /// End of the last command, in ns.
    ready: u64,
    /// Time spent destaging alone before `ready`, in ns.
    destaged_ns: u64,
}

impl UsefulAhead {
    /// Returns true if some read-ahead was asked for and is not counted yet.
    #[inline]
    pub fn owes(&self) -> bool {
        self.owed_ns > 0
    }

    /// Returns the time spent reading ahead up to `now`, beside commands, in ns. The drive has destaged alone for `destaged` ns by then.
    pub fn until(&self, now: u64, destaged: u64) -> u64 {
        let alone = now.saturating_sub(self.ready).saturating_sub(destaged - self.destaged_ns);
        self.counted_ns + self.owed_ns.min(alone)
    }

    /// A command comes at `now`.
    pub fn begin(&mut self, now: u64, destaged: u64) {
        let counted = self.until(now, destaged);
        self.owed_ns -= counted - self.counted_ns;
        (self.counted_ns, self.destaged_ns) = (counted, destaged);
    }

    /// That command asks for what was read ahead, or is being so, and takes this long to pass under the head.
    pub fn came(&mut self, passed_ns: f64, destaged: u64) {
        (self.passed_ns, self.destaged_ns) = (passed_ns, destaged);
    }

    /// The drive served that command, or a piece of it, from `now` until it is `ready` for the next. Commands and reading ahead go
    /// on side by side, so the longer of the two counts.
    #[inline]
    pub fn serve(&mut self, now: u64, ready: u64) {
        if self.passed_ns > 0.0 {
            self.owed_ns = (self.owed_ns + whole(self.passed_ns)).saturating_sub(ready.saturating_sub(now));
            self.passed_ns = 0.0;
        }
        self.ready = self.ready.max(ready);
    }

    /// The drive is not left alone until [`release`](Self::release), whatever it is ready for: a command goes on in pieces.
    pub fn hold(&mut self) {
        self.ready = u64::MAX;
    }

    /// The drive is left alone from `now` on.
    pub fn release(&mut self, now: u64) {
        self.ready = now;
    }
}

/// The nearest whole nanosecond.
#[inline]
pub fn whole(time: f64) -> u64 {
    (time + 0.5) as u64
}
