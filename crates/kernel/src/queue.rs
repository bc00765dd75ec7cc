//! The event queue: what is due next, and among equals what was scheduled first.
//!
//! A few events are kept in a sorted list, where a handful of comparisons beats any structure. When they become many they
//! move to a radix heap, until none is left. Virtual time never runs backwards. Each event moves to lower buckets only:
//! [`push`](EventQueue::push) costs O(1) and [`pop`](EventQueue::pop) O(log(span / ns)) amortised, independent of how
//! many events wait, and the moves run through memory in sequence. Both keep the order of arrival, so equal times are
//! first in, first out without a sequence number.
//!
//! [`give_up`](EventQueue::give_up) costs O(log n) amortised. At most half of the events kept are given-up ones, beside
//! a few.

use headrace_units::Nanos;

use crate::buckets::{EventBuckets, Wake};
use crate::tasks::TaskId;

/// A monotone priority queue of wakes, ordered by (time, order of arrival).
#[derive(Debug)]
pub struct EventQueue {
    now: u64,
    /// Wakes due at this instant, in order; those before `taken` were taken. A wake at a later time is scheduled then.
    due: Vec<Wake>,
    taken: usize,
    /// The latest first, while there are few.
    few: Vec<Wake>,
    many: EventBuckets,
}

/// Up to this number, events are kept in a sorted list.
const FEW: usize = 16;

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            now: 0,
            due: Vec::new(),
            taken: 0,
            few: Vec::with_capacity(FEW),
            many: EventBuckets::default(),
        }
    }
}

impl EventQueue {
    /// The instant of the event given out last.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Schedules a wake of `task` at `time`.
    ///
    /// # Panics
    /// If `time` lies in the past: a model that asks for it is wrong, and going on would order events falsely.
    #[inline]
    pub fn push(&mut self, time: Nanos, task: TaskId) {
        assert!(time.0 >= self.now, "an event in the past: {} ns, and it is {} ns", time.0, self.now);
        if time.0 == self.now {
            self.due.push(Wake { time: time.0, task });
        } else if self.few.len() < FEW && self.many.is_empty() {
            self.push_to_few(Wake { time: time.0, task });
        } else {
            self.push_to_many(Wake { time: time.0, task });
        }
    }

    /// Sorts an event in: before its equals, which came first and lie nearer to the end, where events are taken.
    #[inline]
    fn push_to_few(&mut self, event: Wake) {
        let mut place = self.few.len();
        self.few.push(event);
        while place > 0 && self.few[place - 1].time <= event.time {
            self.few[place] = self.few[place - 1];
            place -= 1;
        }
        self.few[place] = event;
    }

    #[inline(never)]
    fn push_to_many(&mut self, event: Wake) {
        while let Some(earlier) = self.few.pop() {
            self.many.push(earlier, self.now);
        }
        self.many.push(event, self.now);
    }

    /// Schedules a wake of `task` at `time`, after all that is due now has had its turn.
    #[inline]
    pub(crate) fn put_off(&mut self, time: Nanos, task: TaskId) {
        self.due.push(Wake { time: time.0, task });
    }

    /// Takes back a wake that was put off. If it is not scheduled yet, `task` is woken at this instant instead.
    pub(crate) fn give_up_put_off(&mut self, time: Nanos, task: TaskId) {
        let mut turns = self.due[self.taken..].iter_mut();
        match turns.find(|event| event.task == task && event.time > self.now) {
            Some(event) => event.time = self.now,
            None => self.give_up(time, task),
        }
    }

    /// Takes back the wake of `task` at `time`: it will not happen, and time does not run on to it. Exactly one pending
    /// event must have this id and time. A wake that is due now is not taken back.
    pub fn give_up(&mut self, time: Nanos, task: TaskId) {
        if time.0 <= self.now {
            return;
        }
        if self.many.is_empty() {
            self.few.retain(|event| event.task != task);
        } else {
            self.many.give_up(Wake { time: time.0, task }, self.now);
        }
    }

    /// Takes the next wake that is due at `limit` or before, and advances now to its time.
    #[inline]
    pub fn pop(&mut self, limit: Nanos) -> Option<TaskId> {
        while let Some(&Wake { time, task }) = self.due.get(self.taken) {
            self.taken += 1;
            if time == self.now {
                return Some(task);
            }
            self.push(Nanos(time), task);
        }
        self.due.clear();
        self.taken = 0;
        if self.many.is_empty() { self.pop_of_few(limit.0) } else { self.pop_of_many(limit.0) }
    }

    #[inline]
    fn pop_of_few(&mut self, limit: u64) -> Option<TaskId> {
        let first = self.few.pop_if(|first| first.time <= limit)?;
        self.now = first.time;
        if self.few.last().is_some_and(|event| event.time == first.time) {
            self.move_equals();
        }
        Some(first.task)
    }

    /// Moves the events that are due among the few.
    #[cold]
    fn move_equals(&mut self) {
        while let Some(equal) = self.few.pop_if(|event| event.time == self.now) {
            self.due.push(equal);
        }
    }

    #[inline(never)]
    fn pop_of_many(&mut self, limit: u64) -> Option<TaskId> {
        self.now = self.many.advance(limit, &mut self.due)?;
        self.taken = 1;
        self.due.first().map(|event| event.task)
    }

    /// Returns true if more wakes are due at this instant.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.taken < self.due.len()
    }

    /// Returns the number of pending wakes, without those given up.
    pub fn len(&self) -> usize {
        self.due.len() - self.taken + self.few.len() + self.many.len()
    }

    /// Returns true if no wakes are pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn equal_times_are_first_in_first_out() {
        let mut queue = EventQueue::default();
        for (time, task) in [(7, 0), (3, 1), (7, 2), (3, 3)] {
            queue.push(Nanos(time), task);
        }
        assert_eq!(queue.pop(Nanos::MAX), Some(1));
        queue.push(Nanos(7), 4);
        queue.push(Nanos(3), 5);
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop(Nanos::MAX)).collect();
        assert_eq!(rest, [3, 5, 0, 2, 4]);
    }

    #[test]
    fn nothing_beyond_the_limit_is_given_out_and_now_stays() {
        let mut queue = EventQueue::default();
        queue.push(Nanos(10), 1);
        assert_eq!(queue.pop(Nanos(9)), None);
        assert_eq!(queue.now(), Nanos(0));
        queue.push(Nanos(5), 2);
        assert_eq!(queue.pop(Nanos(10)), Some(2));
        assert_eq!(queue.pop(Nanos(10)), Some(1));
    }

    #[test]
    #[should_panic(expected = "an event in the past")]
    fn the_past_is_refused() {
        let mut queue = EventQueue::default();
        queue.push(Nanos(10), 1);
        queue.pop(Nanos::MAX);
        queue.push(Nanos(9), 1);
    }

    #[test]
    fn what_is_given_up_does_not_happen_and_does_not_pile_up() {
        let mut queue = EventQueue::default();
        (0..100).for_each(|task| queue.push(Nanos(1 << 40), task));
        for task in 100..100_000 {
            let time = Nanos((1 << 30) + task * 1000);
            queue.push(time, task);
            queue.give_up(time, task);
            assert!(queue.many.kept() < 300, "{} events are kept", queue.many.kept());
        }
        assert_eq!((queue.len(), queue.pop(Nanos((1 << 40) - 1)), queue.now()), (100, None, Nanos(0)));
        (0..100).for_each(|task| queue.give_up(Nanos(1 << 40), task));
        assert!(queue.is_empty());
        assert_eq!((queue.pop(Nanos::MAX), queue.now()), (None, Nanos(0)));
    }

    #[test]
    fn what_was_put_off_is_scheduled_at_its_turn() {
        let mut queue = EventQueue::default();
        queue.put_off(Nanos(5), 0);
        queue.push(Nanos(0), 1);
        queue.put_off(Nanos(0), 2);
        queue.put_off(Nanos(7), 3);
        queue.push(Nanos(5), 4); // Before the first has had its turn.
        queue.give_up_put_off(Nanos(7), 3);
        assert_eq!(queue.len(), 5);
        let all: Vec<_> = std::iter::from_fn(|| queue.pop(Nanos::MAX)).collect();
        assert_eq!(all, [1, 2, 3, 4, 0]);
    }

    proptest! {
        /// Against a map ordered by (time, sequence): pushes, pops and what is given up, interleaved as they come.
        #[test]
        fn agrees_with_a_sorted_map(
            steps in prop::collection::vec((0u64..2000, any::<bool>(), any::<bool>(), 0usize..40), 1..400)
        ) {
            let (mut queue, mut sorted) = (EventQueue::default(), BTreeMap::new());
            for (sequence, (ahead, pop, again, given_up)) in steps.into_iter().enumerate() {
                // Squares spread the delays over many buckets, zero among them.
                let time = queue.now().0 + ahead * ahead / 64;
                queue.push(Nanos(time), sequence as TaskId);
                sorted.insert((time, sequence), sequence as TaskId);
                let later = sorted.iter().filter(|((time, _), _)| *time > queue.now().0).nth(given_up);
                if let Some((&(time, sequence), &task)) = later {
                    queue.give_up(Nanos(time), task);
                    sorted.remove(&(time, sequence));
                }
                // Twice as often as not, so that few become many and none again.
                for _ in 0..u32::from(pop) + u32::from(pop && again) {
                    let first = sorted.pop_first().map(|(_, task)| task);
                    prop_assert_eq!(queue.pop(Nanos::MAX), first);
                }
            }
            prop_assert_eq!(queue.len(), sorted.len());
            for (_, task) in sorted {
                prop_assert_eq!(queue.pop(Nanos::MAX), Some(task));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
