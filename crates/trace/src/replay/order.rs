//! Requests in order of time: a trace sorted by completion has some out of order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_units::Nanos;

use crate::TraceError;
use crate::reader::Traced;

/// Number of requests among which an out-of-order trace is sorted.
pub const WINDOW: usize = 1 << 16;

/// A request, and the base address of its device.
pub type Based = (Traced, u64);

/// Sorts requests by time within a sliding window.
pub struct Ordered<I> {
    source: I,
    waiting: BinaryHeap<Reverse<Pending>>,
    window: usize,
    /// Number of requests read.
    read: u64,
}

/// Compared by time, then by position in the file.
struct Pending {
    at: (Nanos, u64),
    based: Based,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl<I> Ordered<I> {
    /// The requests of `source`, sorted within `window` requests; in file order if it is zero.
    pub fn new(source: I, window: usize) -> Self {
        Self { source, waiting: BinaryHeap::new(), window, read: 0 }
    }
}

impl<I: Iterator<Item = Result<Based, TraceError>>> Iterator for Ordered<I> {
    type Item = Result<Based, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.window == 0 {
            return self.source.next();
        }
        while self.waiting.len() < self.window
            && let Some(based) = self.source.next()
        {
            match based {
                Ok(based) => self.waiting.push(Reverse(Pending { at: (based.0.at, self.read), based })),
                Err(error) => return Some(Err(error)),
            }
            self.read += 1;
        }
        self.waiting.pop().map(|Reverse(waiting)| Ok(waiting.based))
    }
}
