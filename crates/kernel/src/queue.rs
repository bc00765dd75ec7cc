//! The event queue: what is due next, and among equals what was scheduled first.
//!
//! A few events are kept in a sorted list, where a handful of comparisons beats any structure. When they become many they
//! move to a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990), until none is left. Virtual time never runs backwards,
//! so an event lies in the bucket of the highest bit in which its time differs from now; as now advances, the lowest
//! bucket is dealt out to the buckets beneath it. Each event moves to lower buckets only: [`push`](EventQueue::push) costs
//! O(1) and [`pop`](EventQueue::pop) O(log(span / ns)) amortised, independent of how many events wait, and the moves run
//! through memory in sequence. Both keep the order of arrival, so equal times are first in, first out without a sequence
//! number.

use headrace_units::Nanos;

/// Names a process to be polled. What a process waits for it checks itself, so a stale wake does no harm.
pub type TaskId = u32;

#[derive(Clone, Copy, Debug)]
struct Event {
    time: u64,
    task: TaskId,
}

/// A monotone priority queue of wakes, ordered by (time, order of arrival).
#[derive(Debug)]
pub struct EventQueue {
    now: u64,
    /// Due now, in order; those before `taken` were given out.
    due: Vec<TaskId>,
    taken: usize,
    /// The latest first, while there are few.
    few: Vec<Event>,
    /// Bucket b holds the events whose time first differs from now, seen from the top, in bit b.
    later: [Vec<Event>; 64],
    /// Bit b is set where bucket b is not empty.
    occupied: u64,
}

/// So many events are few.
const FEW: usize = 16;

/// The bucket of an event at `time`, seen from `now`: the highest bit in which they differ; none where it is due.
#[inline]
fn bucket_of(time: u64, now: u64) -> Option<usize> {
    (time ^ now).checked_ilog2().map(|bit| bit as usize)
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            now: 0,
            due: Vec::new(),
            taken: 0,
            few: Vec::with_capacity(FEW),
            later: std::array::from_fn(|_| Vec::new()),
            occupied: 0,
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
            self.due.push(task);
        } else if self.occupied == 0 && self.few.len() < FEW {
            // Before its equals, which came first and lie nearer to the end, where events are taken.
            let place = self.few.partition_point(|event| event.time > time.0);
            self.few.insert(place, Event { time: time.0, task });
        } else {
            self.push_to_bucket(Event { time: time.0, task });
        }
    }

    fn push_to_bucket(&mut self, event: Event) {
        while let Some(earlier) = self.few.pop() {
            self.place(earlier);
        }
        self.place(event);
    }

    #[inline]
    fn place(&mut self, event: Event) {
        let bucket = bucket_of(event.time, self.now).expect("what is due now is in no bucket");
        self.later[bucket].push(event);
        self.occupied |= 1 << bucket;
    }

    /// Takes the next wake that is due at `limit` or before, and advances now to its time.
    #[inline]
    pub fn pop(&mut self, limit: Nanos) -> Option<TaskId> {
        if self.taken == self.due.len() && !self.advance(limit.0) {
            return None;
        }
        let task = self.due[self.taken];
        self.taken += 1;
        Some(task)
    }

    /// Moves now to the earliest pending time, unless that lies beyond `limit` or nothing pends.
    #[inline]
    fn advance(&mut self, limit: u64) -> bool {
        self.due.clear();
        self.taken = 0;
        if self.occupied == 0 { self.advance_to_few(limit) } else { self.advance_to_bucket(limit) }
    }

    #[inline]
    fn advance_to_few(&mut self, limit: u64) -> bool {
        let Some(first) = self.few.pop_if(|first| first.time <= limit) else { return false };
        self.now = first.time;
        self.due.push(first.task);
        while let Some(equal) = self.few.pop_if(|event| event.time == first.time) {
            self.due.push(equal.task);
        }
        true
    }

    /// Deals the events of the lowest bucket out to those beneath it, in their order.
    fn advance_to_bucket(&mut self, limit: u64) -> bool {
        let bucket = self.occupied.trailing_zeros() as usize;
        let earliest = self.later[bucket]
            .iter()
            .map(|event| event.time)
            .min()
            .expect("an occupied bucket holds an event");
        if earliest > limit {
            return false;
        }
        self.now = earliest;
        self.occupied &= !(1 << bucket);
        let (lower, rest) = self.later.split_at_mut(bucket);
        for event in rest[0].drain(..) {
            match bucket_of(event.time, earliest) {
                None => self.due.push(event.task),
                Some(bucket) => {
                    lower[bucket].push(event);
                    self.occupied |= 1 << bucket;
                }
            }
        }
        true
    }

    /// How many wakes are pending.
    pub fn len(&self) -> usize {
        self.due.len() - self.taken + self.few.len() + self.later.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether nothing is pending.
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

    proptest! {
        /// Against a map ordered by (time, sequence), pushes and pops interleaved as they come.
        #[test]
        fn agrees_with_a_sorted_map(steps in prop::collection::vec((0u64..2000, any::<bool>(), any::<bool>()), 1..400)) {
            let (mut queue, mut sorted) = (EventQueue::default(), BTreeMap::new());
            for (sequence, (ahead, pop, again)) in steps.into_iter().enumerate() {
                // Squares spread the delays over many buckets, zero among them.
                let time = queue.now().0 + ahead * ahead / 64;
                queue.push(Nanos(time), sequence as TaskId);
                sorted.insert((time, sequence), sequence as TaskId);
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
