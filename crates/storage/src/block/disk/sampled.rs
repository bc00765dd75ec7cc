//! Distributions of service times, for formulas. That of a drive that is simulated in full is sampled: it serves random commands, one
//! directly after the other.

use std::sync::{Arc, Mutex};

use headrace_analytic::{Distribution, Grid};
use headrace_kernel::RngStream;
use headrace_units::Nanos;
use headrace_work::{Block, Op};

use super::DiskPlan;

/// Number of commands whose service times make a distribution.
pub(super) const SAMPLES: usize = 4096;

/// Commands before them, which fill the caches.
const FIRST: usize = 1024;

/// What a distribution depends on: kinds of commands and the alignment of their addresses.
pub(super) type Commands = (Vec<(f64, Op, u64)>, u64);

/// The distributions of one kind that were computed so far, by what they depend on. Copies of a part share them.
#[derive(Clone, Debug)]
pub(super) struct ComputedDistributions<K>(Arc<Mutex<Vec<(K, Distribution)>>>);

impl<K> Default for ComputedDistributions<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: PartialEq> ComputedDistributions<K> {
    /// Returns the distribution for `key`, computed once.
    pub fn of(&self, key: K, compute: impl FnOnce(&K) -> Distribution) -> Distribution {
        let mut computed = self.0.lock().expect("nobody panics with it");
        if let Some((_, found)) = computed.iter().find(|(its, _)| *its == key) {
            return found.clone();
        }
        let found = compute(&key);
        computed.push((key, found.clone()));
        found
    }
}

/// Returns the distribution of the time from one command to the next, in ms, where another always waits.
pub(super) fn sampled(plan: &DiskPlan, key: &Commands) -> Distribution {
    let stream = |name| RngStream::named(0, "", name);
    let mut drive = plan.drive(0.0, stream("retries"));
    let (mut draws, mut now, mut times) = (stream("commands").draws(), Nanos::ZERO, Vec::new());
    for _ in 0..FIRST + SAMPLES {
        let command = command(plan, key, [draws.uniform(), draws.uniform()]);
        let ready = drive.serve(now, &command).ready;
        times.push((ready - now).ms());
        now = ready;
    }
    let mut times = times.split_off(FIRST);
    times.sort_unstable_by(f64::total_cmp);
    let below = |t: f64| times.partition_point(|time| *time <= t) as f64 / SAMPLES as f64;
    Distribution::Grid(Grid::tabulate(times[SAMPLES - 1], below))
}

/// A command of one of the kinds, at one of the addresses.
fn command(plan: &DiskPlan, (kinds, align): &Commands, [kind, place]: [f64; 2]) -> Block {
    let mut left = kind;
    let chosen = kinds.iter().find(|(p, ..)| {
        left -= p;
        left < 0.0
    });
    let (_, op, bytes) = *chosen.unwrap_or(&kinds[kinds.len() - 1]);
    let places = plan.numbers.capacity.get().0.saturating_sub(bytes) / align + 1;
    Block { op, address: (place * places as f64) as u64 * align, bytes }
}
