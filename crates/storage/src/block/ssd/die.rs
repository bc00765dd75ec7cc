//! A die, or a plane of one that reads independently: one operation at a time, in the order of arrival. Reads may suspend a program or an
//! erasure.

use headrace_units::Nanos;
use headrace_work::Cause;

use super::numbers::SuspendNumbers;
use crate::core::bookings::Bookings;
use crate::core::meter::Activity;

/// A die of a drive.
#[derive(Default)]
pub struct Die {
    bookings: Bookings,
    /// End of its last program or erasure, unless more reads suspend it.
    end: Nanos,
    /// Number of reads that went before the end of that.
    went_first: u32,
    suspensions: u64,
    /// The row that is in its registers or was booked last to come there, and when it is.
    register: Option<(u32, Nanos)>,
}

impl Die {
    /// Holds the die for a program or an erasure, from when it is free, but no earlier than `from`; gives when that ends if no read
    /// suspends it.
    pub fn hold(&mut self, now: Nanos, from: Nanos, time: Nanos, cause: Cause) -> Nanos {
        self.went_first = 0;
        self.register = None;
        self.end = self.bookings.book_no_earlier(now, from, time, cause) + time;
        self.end
    }

    /// Returns the time from which it is free.
    pub fn free(&self) -> Nanos {
        self.bookings.end().unwrap_or(Nanos::ZERO)
    }

    /// Returns the end of its last program or erasure, as far as is known now.
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// Reads a row for a request that comes at `came`, unless its registers have that row; gives when they do.
    #[inline]
    pub fn read(
        &mut self,
        now: Nanos,
        came: Nanos,
        row: u32,
        time: Nanos,
        suspend: Option<&SuspendNumbers>,
    ) -> Nanos {
        if let Some((_, ready)) = self.register.filter(|(held, _)| *held == row) {
            return ready.max(came);
        }
        let start = match suspend.filter(|suspend| self.may_suspend(came, suspend)) {
            Some(suspend) => self.read_first(now, came, time, suspend.time.get()),
            None => self.bookings.book_from(now, came, time, Cause::Host),
        };
        self.register = Some((row, start + time));
        start + time
    }

    /// Returns true if a read goes first: a program or an erasure is the last thing booked, it has let few reads go first so far, and
    /// suspending it takes less time than it has left.
    fn may_suspend(&self, came: Nanos, suspend: &SuspendNumbers) -> bool {
        let is_last = self.bookings.end() == Some(self.end);
        is_last && self.went_first < suspend.reads.get() && self.end > came + suspend.time.get()
    }

    fn read_first(&mut self, now: Nanos, came: Nanos, time: Nanos, pause: Nanos) -> Nanos {
        let (start, suspended) = self.bookings.book_first(now, came, time, pause);
        self.went_first += 1;
        self.suspensions += u64::from(suspended);
        self.end = self.bookings.end().unwrap_or(self.end);
        start
    }

    /// Returns the number of times that a read suspended a program or an erasure.
    pub fn suspensions(&self) -> u64 {
        self.suspensions
    }

    /// Returns the activity of the die. A suspended operation counts once more each time.
    pub fn activity(&self, now: Nanos) -> Activity {
        self.bookings.activity(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::device::Sourced;

    fn suspend(time: u64, reads: u32) -> SuspendNumbers {
        SuspendNumbers { time: Sourced::Plain(Nanos(time)), reads: Sourced::Plain(reads) }
    }

    /// By hand: a program of 100 from 0 on; reads of 10 at 20 and 25; 5 to suspend it. The first read begins at 25, the second behind it
    /// at 35, and what is left of the program, 80, from 45 to 125.
    #[test]
    fn a_read_waits_for_the_suspension_only() {
        let (mut die, suspend) = (Die::default(), suspend(5, 10));
        assert_eq!(die.hold(Nanos(0), Nanos(0), Nanos(100), Cause::Destage), Nanos(100));
        let mut read = |came| die.read(Nanos(came), Nanos(came), came as u32, Nanos(10), Some(&suspend)).0;
        assert_eq!((read(20), read(25)), (35, 45));
        assert_eq!((die.end(), die.suspensions()), (Nanos(125), 1));
        let busy = die.activity(Nanos(1000)).busy;
        assert_eq!((busy[Cause::Host as usize], busy[Cause::Destage as usize]), (20, 105));
    }

    /// One read may go first; the next waits for the program. Without suspension both do.
    #[test]
    fn a_program_ends_however_many_reads_come() {
        let at = |reads| {
            let (mut die, suspend) = (Die::default(), suspend(5, reads));
            die.hold(Nanos(0), Nanos(0), Nanos(100), Cause::Destage);
            [20, 40].map(|came| die.read(Nanos(came), Nanos(came), came as u32, Nanos(10), Some(&suspend)).0)
        };
        assert_eq!(at(1), [35, 125]);
        assert_eq!(at(0), [110, 120]);
    }

    /// With 4 left of the program, suspending it for 5 would take longer.
    #[test]
    fn a_program_that_is_nearly_done_is_not_suspended() {
        let mut die = Die::default();
        die.hold(Nanos(0), Nanos(0), Nanos(100), Cause::Destage);
        assert_eq!(die.read(Nanos(96), Nanos(96), 1, Nanos(10), Some(&suspend(5, 10))), Nanos(110));
    }

    /// Requests for a row that is in the registers, or on its way there, share one read; another row or a program puts an end to that.
    #[test]
    fn a_row_in_the_registers_is_not_read_again() {
        let mut die = Die::default();
        let mut read = |came, row| die.read(Nanos(came), Nanos(came), row, Nanos(10), None).0;
        assert_eq!([read(0, 7), read(4, 7), read(50, 7)], [10, 10, 50]);
        assert_eq!([read(60, 8), read(62, 7)], [70, 80]);
        die.hold(Nanos(100), Nanos(100), Nanos(5), Cause::Destage);
        assert_eq!(die.read(Nanos(100), Nanos(100), 7, Nanos(10), None), Nanos(115));
        assert_eq!(die.activity(Nanos(1000)).busy[Cause::Host as usize], 40);
    }
}
