//! What a programmer would write by hand for one queue: the yardstick.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use headrace_kernel::Stream;
use headrace_units::Nanos;

const ARRIVAL: u8 = 0;
const DEPARTURE: u8 = 1;

/// M/M/1 at λ = 0.8, μ = 1: `n` customers through a bare event loop, with the random numbers of [`crate::kernel::mm1`]
/// and nothing recorded but the sum of responses. Gives their mean.
pub fn mm1(n: u64) -> f64 {
    let mut arrivals = Stream::named(1, "source", "arrivals").draws();
    let mut services = Stream::named(1, "server", "services").draws();
    let mut gap = || Nanos::from_secs(arrivals.exponential() / 0.8).0;
    let mut service = || Nanos::from_secs(services.exponential()).0;
    let (mut events, mut waiting) = (BinaryHeap::new(), VecDeque::new());
    let (mut busy, mut made, mut sum) = (false, 1, 0u128);
    events.push(Reverse((gap(), ARRIVAL)));
    while let Some(Reverse((now, kind))) = events.pop() {
        if kind == ARRIVAL {
            waiting.push_back(now);
            if made < n {
                made += 1;
                events.push(Reverse((now + gap(), ARRIVAL)));
            }
            if !busy {
                busy = true;
                events.push(Reverse((now + service(), DEPARTURE)));
            }
        } else {
            sum += u128::from(now - waiting.pop_front().expect("someone departs"));
            busy = !waiting.is_empty();
            if busy {
                events.push(Reverse((now + service(), DEPARTURE)));
            }
        }
    }
    sum as f64 / n as f64
}
