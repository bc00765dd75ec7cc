//! Bookings: a server that is held in the order in which it is asked, for times that are known then. Nobody is woken for his turn.

use std::collections::VecDeque;

use headrace_units::Nanos;
use headrace_work::Cause;

use crate::core::meter::Activity;

/// Bookings of a server over time. Of past ones only sums are kept.
#[derive(Default)]
pub(crate) struct Bookings {
    /// Those that were not over when the last one came, in order.
    open: VecDeque<Booking>,
    /// The number of those that are over, their waits, and how long they held it, by cause; in ns.
    over: (u64, u128, [u128; Cause::ALL.len()]),
}

#[derive(Clone, Copy)]
struct Booking {
    cause: Cause,
    came: Nanos,
    start: Nanos,
    end: Nanos,
}

impl Bookings {
    /// Books `time` from `now` on, or from when the server is free; gives when that is.
    pub fn book(&mut self, now: Nanos, time: Nanos, cause: Cause) -> Nanos {
        self.book_from(now, now, time, cause)
    }

    /// Books a request that came at `came`, which is not before `now`; returns its end.
    pub fn book_from(&mut self, now: Nanos, came: Nanos, time: Nanos, cause: Cause) -> Nanos {
        self.retire(now);
        let start = self.end().map_or(came, |end| end.max(came));
        self.open.push_back(Booking { cause, came, start, end: start + time });
        start
    }

    /// Books `time` from `earliest` on, or from when the server is free; gives when that is. It waits from `now` on.
    pub fn book_no_earlier(&mut self, now: Nanos, earliest: Nanos, time: Nanos, cause: Cause) -> Nanos {
        self.retire(now);
        let start = self.end().map_or(earliest, |end| end.max(earliest));
        self.open.push_back(Booking { cause, came: now, start, end: start + time });
        start
    }

    /// Books work of a host ahead of the last booking. If that has begun, it is suspended, which takes `pause`, and continues afterwards.
    /// Returns the start, and true if something was suspended.
    pub fn book_first(&mut self, now: Nanos, came: Nanos, time: Nanos, pause: Nanos) -> (Nanos, bool) {
        self.retire(now);
        let last = self.open.pop_back().filter(|last| last.end > came);
        let begun = last.filter(|last| last.start < came);
        let paused = came + pause;
        self.open.extend(begun.map(|last| Booking { end: paused, ..last }));
        let start = self.book_from(now, came, time, Cause::Host);
        let end = start + time;
        let rest = |last: Booking| match last.start < came {
            true => Booking { came: end, start: end, end: end + (last.end - came), ..last },
            false => Booking { start: end, end: end + (last.end - last.start), ..last },
        };
        self.open.extend(last.map(rest));
        (start, begun.is_some())
    }

    /// Returns the end of the last booking; `None` without bookings.
    pub fn end(&self) -> Option<Nanos> {
        self.open.back().map(|last| last.end)
    }

    /// Keeps only sums of what is over.
    #[inline]
    fn retire(&mut self, now: Nanos) {
        while let Some(done) = self.open.front().copied().filter(|booking| booking.end <= now) {
            self.open.pop_front();
            self.over.0 += 1;
            self.over.1 += u128::from((done.start - done.came).0);
            self.over.2[done.cause as usize] += u128::from((done.end - done.start).0);
        }
    }

    /// Returns the activity up to `now`: of bookings that are not over, the part before it.
    pub fn activity(&self, now: Nanos) -> Activity {
        let (number, waited, busy) = self.over;
        let all = Activity { servers: 1, busy, queue: waited, waited, visits: number, ..Activity::default() };
        let over = Activity { served: number, service: all.busy_in_all(), ..all };
        self.open.iter().fold(over, |sum, booking| booking.added(sum, now))
    }
}

/// When a server is in use by requests that come in the order in which they are served. Those that follow each other without a pause are
/// one period.
#[derive(Default)]
pub(crate) struct BusyPeriods {
    /// From when until when, in order, without those that are over.
    open: VecDeque<(Nanos, Nanos)>,
    /// The time of those that are over, in ns.
    over: u128,
}

impl BusyPeriods {
    /// Keeps only the sum of what is over at `now`. What is added later must not come before.
    pub fn retire(&mut self, now: Nanos) {
        while let Some(&(start, end)) = self.open.front().filter(|(_, end)| *end <= now) {
            self.open.pop_front();
            self.over += u128::from((end - start).0);
        }
    }

    /// Adds a request that came at `came` and takes `time`, from then on or from when the server is free; returns its end.
    #[inline]
    pub fn add(&mut self, came: Nanos, time: Nanos) -> Nanos {
        match self.open.back_mut() {
            Some((_, end)) if *end >= came => {
                *end += time;
                *end
            }
            _ => {
                self.open.push_back((came, came + time));
                came + time
            }
        }
    }

    /// Returns the time in use before `now`, in ns.
    pub fn until(&self, now: Nanos) -> u128 {
        let open = self.open.iter().map(|(start, end)| u128::from((end.min(&now).0) - start.min(&now).0));
        self.over + open.sum::<u128>()
    }
}

impl Booking {
    fn added(self, mut sum: Activity, now: Nanos) -> Activity {
        let Self { cause, came, start, end } = self;
        sum.queue += u128::from((start.min(now) - came.min(now)).0);
        sum.busy[cause as usize] += u128::from((end.min(now) - start.min(now)).0);
        if start > now {
            return Activity { waiting: sum.waiting + 1, ..sum };
        }
        sum.visits += 1;
        sum.waited += u128::from((start - came).0);
        if end <= now {
            sum.served += 1;
            sum.service += u128::from((end - start).0);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three messages of 10 ns, at 0, 4 and 50: the second waits for 6, and at each instant only what has passed counts.
    #[test]
    fn busy_periods_are_those_of_bookings() {
        let (mut periods, mut bookings) = (BusyPeriods::default(), Bookings::default());
        for (came, time) in [(0, 10), (4, 10), (20, 5), (21, 0), (50, 10)] {
            periods.retire(Nanos(came));
            let start = bookings.book(Nanos(came), Nanos(time), Cause::Host);
            assert_eq!(periods.add(Nanos(came), Nanos(time)), start + Nanos(time));
            for now in [came, came + 3, 100] {
                let now = Nanos(now);
                assert_eq!(periods.until(now), bookings.activity(now).busy_in_all(), "at {}", now.0);
            }
        }
    }

    #[test]
    fn what_is_booked_counts_as_it_passes() {
        let mut bookings = Bookings::default();
        let starts = [0, 4, 50].map(|now| bookings.book(Nanos(now), Nanos(10), Cause::Host).0);
        assert_eq!(starts, [0, 10, 50]);
        let at = |now| {
            let found = bookings.activity(Nanos(now));
            (found.busy[0], found.queue, found.waiting, found.visits, found.served)
        };
        assert_eq!(at(55), (25, 6, 0, 3, 2));
        let mut early = Bookings::default();
        early.book(Nanos(0), Nanos(10), Cause::Host);
        early.book(Nanos(4), Nanos(10), Cause::Rebuild);
        let found = early.activity(Nanos(7));
        assert_eq!((found.busy[0], found.queue, found.waiting, found.visits, found.served), (7, 3, 1, 1, 0));
        assert_eq!(early.activity(Nanos(20)).busy, [10, 0, 10, 0, 0, 0, 0, 0], "each for its cause");
    }
}
