//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990): many events, in the order of their times.
//!
//! An event lies in the bucket of the highest bit in which its time differs from now. When the buckets beneath are empty,
//! the lowest occupied bucket is dealt out to them and now advances to the earliest time in it. Now then differs from
//! what it was in this bit and lower ones only, so every other event stays in the right bucket, and the bucket of any
//! event can be computed at any time.

use crate::tasks::TaskId;

/// A wake at a time to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    pub time: u64,
    pub task: TaskId,
}

/// Events to come, by bucket.
#[derive(Debug)]
pub(crate) struct EventBuckets {
    /// Bucket b holds the events whose time first differs from now, seen from the top, in bit b.
    events: [Vec<Wake>; 64],
    /// The events of each bucket that were given up and are still in it.
    given_up: [Vec<TaskId>; 64],
    /// Bit b is set where bucket b is not empty.
    occupied: u64,
}

/// A bucket with fewer given-up events is not swept early.
const WORTH_SWEEPING: usize = 32;

impl Default for EventBuckets {
    fn default() -> Self {
        Self {
            events: std::array::from_fn(|_| Vec::new()),
            given_up: std::array::from_fn(|_| Vec::new()),
            occupied: 0,
        }
    }
}

/// The bucket of an event at `time`, seen from `now`; `None` when it is due.
#[inline]
fn bucket_of(time: u64, now: u64) -> Option<usize> {
    (time ^ now).checked_ilog2().map(|bit| bit as usize)
}

impl EventBuckets {
    /// Returns true if there are no events, not even given-up ones.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    /// Returns the number of events kept, including given-up ones.
    pub fn kept(&self) -> usize {
        self.events.iter().map(Vec::len).sum()
    }

    /// Returns the number of pending events, without those given up.
    pub fn len(&self) -> usize {
        self.kept() - self.given_up.iter().map(Vec::len).sum::<usize>()
    }

    /// Adds an event after `now`.
    #[inline]
    pub fn push(&mut self, event: Wake, now: u64) {
        let bucket = bucket_of(event.time, now).expect("an event that is due has no bucket");
        self.events[bucket].push(event);
        self.occupied |= 1 << bucket;
    }

    /// Gives up an event after `now`. It is removed when its bucket is dealt out, or when half of the bucket is given up.
    pub fn give_up(&mut self, event: Wake, now: u64) {
        let bucket = bucket_of(event.time, now).expect("an event that is due has no bucket");
        let given_up = &mut self.given_up[bucket];
        given_up.push(event.task);
        if given_up.len() >= WORTH_SWEEPING.max(self.events[bucket].len() / 2) {
            self.sweep(bucket);
        }
    }

    /// Removes the given-up events of a bucket.
    #[cold]
    fn sweep(&mut self, bucket: usize) {
        let (events, given_up) = (&mut self.events[bucket], &mut self.given_up[bucket]);
        given_up.sort_unstable();
        events.retain(|event| given_up.binary_search(&event.task).is_err());
        given_up.clear();
        if events.is_empty() {
            self.occupied &= !(1 << bucket);
        }
    }

    /// Deals out the lowest bucket, and moves the events at the earliest time to `due`, in the order of their arrival.
    /// Gives that time. Does nothing and gives `None` if it lies beyond `limit` or there are no events.
    pub fn advance(&mut self, limit: u64, due: &mut Vec<Wake>) -> Option<u64> {
        let bucket = self.lowest()?;
        let earliest = self.events[bucket].iter().map(|event| event.time).min()?;
        if earliest > limit {
            return None;
        }
        self.occupied &= !(1 << bucket);
        let (lower, rest) = self.events.split_at_mut(bucket);
        for event in rest[0].drain(..) {
            match bucket_of(event.time, earliest) {
                None => due.push(event),
                Some(bucket) => {
                    lower[bucket].push(event);
                    self.occupied |= 1 << bucket;
                }
            }
        }
        Some(earliest)
    }

    /// The lowest bucket with events that are not given up. It is swept.
    #[inline]
    fn lowest(&mut self) -> Option<usize> {
        while self.occupied != 0 {
            let bucket = self.occupied.trailing_zeros() as usize;
            if self.given_up[bucket].is_empty() {
                return Some(bucket);
            }
            self.sweep(bucket);
        }
        None
    }
}
