//! The order of shortest locate time first, improved by moving one file at a time to where it costs least until no move makes the way shorter.
//! The shortest way of all is a travelling salesman's problem, for which hundreds of files are too many.

use super::{Batch, nearest};

/// Number of times that all files are tried: a bound that is not reached in practice.
const ROUNDS: usize = 20;

/// A move that saves less is none, in s: sums of `f32` differ by as much.
const LEAST_SAVED: f32 = 1e-3;

/// Locate times between files, in s.
struct Times {
    /// From the end of each, and then from where the tape stands, to the beginning of each.
    between: Vec<f32>,
    number: usize,
}

/// An order in which no file is better placed elsewhere.
pub fn order(batch: &Batch<impl Fn(u64, u64) -> f64>) -> Vec<usize> {
    let (times, mut order) = (Times::of(batch), nearest::order(batch));
    let mut rounds = 0..ROUNDS;
    while rounds.next().is_some() && improve(&times, &mut order) {}
    order
}

/// Moves each file to where it costs least. Returns true if any was moved.
fn improve(times: &Times, order: &mut [usize]) -> bool {
    let mut has_moved = false;
    for from in 0..order.len() {
        let file = order[from];
        let here = times.detour(order, from, file, from + 1);
        let elsewhere = (0..=order.len()).filter(|gap| *gap < from || *gap > from + 1);
        let costs = elsewhere.map(|gap| (times.detour(order, gap, file, gap), gap));
        let Some((there, gap)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        if there < here - LEAST_SAVED {
            match gap < from {
                true => order[gap..=from].rotate_right(1),
                false => order[from..gap].rotate_left(1),
            }
            has_moved = true;
        }
    }
    has_moved
}

impl Times {
    fn of(batch: &Batch<impl Fn(u64, u64) -> f64>) -> Self {
        let ends = batch.spans.iter().map(|(_, end)| *end).chain([batch.head]);
        let to_all = |from| batch.spans.iter().map(move |(begin, _)| (batch.locate)(from, *begin) as f32);
        Self { between: ends.flat_map(to_all).collect(), number: batch.spans.len() }
    }

    /// Returns what a file adds before the place `after`, where there is one, and behind the file that precedes the place `before`, or where
    /// the tape stands.
    fn detour(&self, order: &[usize], before: usize, file: usize, after: usize) -> f32 {
        let time = |from: usize, to: usize| self.between[from * self.number + to];
        let from = before.checked_sub(1).map_or(self.number, |place| order[place]);
        let rest = order.get(after).map_or(0.0, |next| time(file, *next) - time(from, *next));
        time(from, file) + rest
    }
}
