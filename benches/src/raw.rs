//! What a programmer would write by hand, without statistics: the yardstick.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use headrace_kernel::RngStream;
use headrace_units::Nanos;

const ARRIVAL: u8 = 0;
const DEPARTURE: u8 = 1;

/// M/M/1 at λ = 0.8, μ = 1: `n` customers through a bare event loop, with the random numbers of [`crate::kernel::mm1`]
/// and nothing recorded but the sum of responses. Gives their mean.
pub fn mm1(n: u64) -> f64 {
    let mut arrivals = RngStream::named(1, "source", "arrivals").draws();
    let mut services = RngStream::named(1, "server", "services").draws();
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

const DISKS: usize = 4;

/// A request at one disk.
#[derive(Clone, Copy)]
struct Part {
    job: usize,
    service: u64,
}

/// Jobs in flight: when each arrived and how many of its parts are left. Free places are used again.
#[derive(Default)]
struct Jobs {
    places: Vec<(u64, u32)>,
    free: Vec<usize>,
}

impl Jobs {
    fn add(&mut self, job: (u64, u32)) -> usize {
        if let Some(free) = self.free.pop() {
            self.places[free] = job;
            return free;
        }
        self.places.push(job);
        self.places.len() - 1
    }

    /// Counts a part as done. Gives the job's arrival when it was the last.
    fn finish(&mut self, job: usize) -> Option<u64> {
        let (arrived, left) = &mut self.places[job];
        *left -= 1;
        if *left > 0 {
            return None;
        }
        self.free.push(job);
        Some(*arrived)
    }
}

/// Fork-join over four disks: `n` jobs through a bare event loop, with the model and the random numbers of
/// [`crate::kernel::fork_join`] and nothing recorded but the sum of responses. Gives their mean in ns.
pub fn fork_join(n: u64) -> f64 {
    let mut arrivals = RngStream::named(1, "source", "arrivals").draws();
    let mut u = RngStream::named(1, "disks", "services").draws();
    let mut gap = || Nanos::from_ms(arrivals.exponential() / 0.07).0;
    let mut service = || crate::kernel::disk_service(&mut u).0;
    // Events are (time, disk), and the disk numbered `DISKS` is the source.
    let (mut events, mut jobs) = (BinaryHeap::new(), Jobs::default());
    let mut queues: [VecDeque<Part>; DISKS] = std::array::from_fn(|_| VecDeque::new());
    let (mut made, mut sum) = (1, 0u128);
    events.push(Reverse((gap(), DISKS)));
    while let Some(Reverse((now, disk))) = events.pop() {
        if disk == DISKS {
            let job = jobs.add((now, DISKS as u32));
            for (disk, queue) in queues.iter_mut().enumerate() {
                let part = Part { job, service: service() };
                if queue.is_empty() {
                    events.push(Reverse((now + part.service, disk)));
                }
                queue.push_back(part);
            }
            if made < n {
                made += 1;
                events.push(Reverse((now + gap(), DISKS)));
            }
        } else {
            let done = queues[disk].pop_front().expect("a part is in service");
            if let Some(next) = queues[disk].front() {
                events.push(Reverse((now + next.service, disk)));
            }
            sum += jobs.finish(done.job).map_or(0, |arrived| u128::from(now - arrived));
        }
    }
    sum as f64 / n as f64
}
