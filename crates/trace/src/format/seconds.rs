//! Requests of traces whose times are whole seconds: those of a second are spread evenly over it.

use std::collections::VecDeque;

use super::Raw;

/// Maximum number of requests in one second: those of a second are held until the next.
const MOST_HELD: usize = 1 << 20;
const NS_PER_S: u64 = 1_000_000_000;
/// Times are in nanoseconds, of 64 bits.
const LAST: u64 = u64::MAX / NS_PER_S - 1;

/// The requests of a second, held until all are known.
#[derive(Default)]
pub struct Second {
    second: u64,
    held: Vec<Raw>,
}

impl Second {
    /// Holds a request, and passes on those of another second.
    ///
    /// # Errors
    /// There are too many in the second, or it is too late.
    pub fn hold(&mut self, second: u64, raw: Raw, out: &mut VecDeque<Raw>) -> Result<(), String> {
        if second > LAST {
            return Err(format!("second {second} is beyond {LAST}"));
        }
        if second != self.second {
            self.release(out);
            self.second = second;
        }
        if self.held.len() == MOST_HELD {
            return Err(format!("second {second} has more than {MOST_HELD} requests"));
        }
        self.held.push(raw);
        Ok(())
    }

    /// Passes on the requests that are held.
    pub fn release(&mut self, out: &mut VecDeque<Raw>) {
        let (begin, many) = (self.second * NS_PER_S, self.held.len() as u64);
        for (at, raw) in (0..).zip(self.held.drain(..)) {
            out.push_back(Raw { time_ns: Some(begin + at * NS_PER_S / many), ..raw });
        }
    }
}
