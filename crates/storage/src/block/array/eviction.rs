//! Eviction of a member that is slow but has not failed: the array measures how long its members take, compares each with the others, and uses
//! one that has been slower for long enough no more. The measure is that of Hao et al., "The tail at store" (FAST 2016): the mean time of a
//! drive over the median of those of its array.

use std::cell::Cell;

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Array;
use super::spec::{ArraySpec, Level};
use crate::core::component::Component;
use crate::core::graph::Lowering;
use crate::core::health::{Change, Event};
use crate::core::meter::{Meter, add};

/// Number of windows in `for`, unless `window` says otherwise: an estimate.
const WINDOWS: u64 = 10;

/// When an array evicts a member that is slow but has not failed. An evicted member is treated as a failed one until it is replaced. Only
/// an array that misses no data evicts, so one member at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EvictSlowSpec {
    /// A member is slow in a window if its accesses take more than this many times as long as those of its peers: its mean time over the
    /// median of their mean times. An estimate: Hao et al. (FAST 2016) call a drive slow from 2 on.
    #[schemars(range(min = 1.01, max = 10_000.0))]
    pub factor: f64,
    /// How long a member must be slow, in each window that says something about it, to be evicted. The default is the time over which
    /// OpenZFS counts slow accesses before it degrades a device (`slow_io_t`).
    pub r#for: Nanos,
    /// Time over which the times of accesses are averaged. Default: a tenth of `for`, an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Nanos>,
    /// Number of accesses to a member in a window below which the window says nothing about it: an estimate.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub accesses: u32,
}

impl Default for EvictSlowSpec {
    fn default() -> Self {
        Self { factor: 4.0, r#for: Nanos(600_000_000_000), window: None, accesses: 10 }
    }
}

impl EvictSlowSpec {
    fn window(&self) -> Nanos {
        self.window.unwrap_or(Nanos(self.r#for.0.div_ceil(WINDOWS)))
    }

    /// Number of windows in `for`.
    fn windows(&self) -> u64 {
        self.r#for.0.div_ceil(self.window().0)
    }
}

impl ArraySpec {
    /// Refuses to evict members where that loses data, and times that are none.
    pub(super) fn check_eviction(&self, at: &mut Lowering) -> Option<()> {
        let Some(spec) = self.evict_slow else { return Some(()) };
        if self.level == Level::Raid0 {
            let message = "raid0 has its data once, so it cannot do without a slow disk";
            return at.refuse("evict_slow", message, Some("leave it out, or choose another level"));
        }
        if spec.window() == Nanos::ZERO {
            let message = "it takes some time to see that a disk is slow";
            return at.refuse("evict_slow", message, Some("give `for` and `window` above 0 s"));
        }
        if spec.window() > spec.r#for {
            let message = format!("a window of {} is longer than `for`, {}", spec.window(), spec.r#for);
            return at.refuse("evict_slow.window", message, Some("give a shorter one, or leave it out"));
        }
        Some(())
    }
}

/// What an array has seen of how long its devices take.
pub(super) struct Watch {
    spec: EvictSlowSpec,
    /// Start of the window in progress.
    began: Cell<Nanos>,
    devices: Box<[Answers]>,
    /// Number of members evicted.
    evicted: Cell<u64>,
    /// Mean times of accesses to these in their last windows, and to their peers, summed up.
    times: Cell<(u64, u64)>,
}

/// Accesses to a device in a window.
#[derive(Default)]
struct Answers {
    in_flight: Cell<u64>,
    /// When their number changed last.
    changed: Cell<Nanos>,
    /// Time that accesses spent at the device: the integral of their number, in ns.
    spent: Cell<u64>,
    answered: Cell<u64>,
    /// Number of windows in a row in which the device was slow, but for those that say nothing about it.
    slow: Cell<u64>,
}

impl Answers {
    /// Their number becomes `in_flight`.
    fn change(&self, in_flight: u64, now: Nanos) {
        let before = self.in_flight.replace(in_flight);
        add(&self.spent, before * (now - self.changed.replace(now)).0);
    }

    /// Returns the mean time of an access in ns, by Little's law, so that accesses without an answer count for what they have taken so far;
    /// `None` if there were fewer than `least`.
    fn mean(&self, least: u32) -> Option<u64> {
        let enough = self.answered.get() + self.in_flight.get() >= u64::from(least);
        enough.then(|| self.spent.get() / self.answered.get().max(1))
    }
}

impl Watch {
    pub fn new(spec: EvictSlowSpec, devices: usize) -> Self {
        let devices = (0..devices).map(|_| Answers::default()).collect();
        let (began, evicted, times) = (Cell::default(), Cell::default(), Cell::default());
        Self { spec, began, devices, evicted, times }
    }

    /// Records how many members were evicted, and how many times as long as their peers they took.
    pub fn meters(&self, put: &mut dyn FnMut(&'static str, Meter)) {
        let (mean, peers) = self.times.get();
        put("evicted", Meter::Count(self.evicted.get()));
        put("evicted_slowness", Meter::Share(mean, peers));
    }

    /// A device is asked something.
    pub fn asked(&self, device: usize, now: Nanos) {
        let answers = &self.devices[device];
        answers.change(answers.in_flight.get() + 1, now);
    }

    /// A device has answered.
    pub fn answered(&self, device: usize, now: Nanos) {
        let answers = &self.devices[device];
        answers.change(answers.in_flight.get() - 1, now);
        add(&answers.answered, 1);
    }

    /// Returns true if the window in progress is over. Windows begin at multiples of their length.
    fn is_over(&self, now: Nanos) -> bool {
        let window = self.spec.window().0;
        now.0 / window > self.began.get().0 / window
    }

    /// A window begins at the last of the instants at which one can begin.
    fn begin(&self, now: Nanos) {
        let window = self.spec.window().0;
        self.began.set(Nanos(now.0 / window * window));
        for answers in &self.devices {
            answers.change(answers.in_flight.get(), now);
            answers.spent.set(0);
            answers.answered.set(0);
        }
    }

    /// Forgets what was seen so far: it says nothing about what comes.
    pub fn forget(&self, now: Nanos) {
        self.begin(now);
        self.devices.iter().for_each(|answers| answers.slow.set(0));
    }

    /// Ends the window: returns the slowest of the `members` that have been slow for long enough, if any, and counts it as evicted.
    fn slowest(&self, members: &[usize], now: Nanos) -> Option<usize> {
        self.devices.iter().for_each(|answers| answers.change(answers.in_flight.get(), now));
        let mean = |device: usize| Some((device, self.devices[device].mean(self.spec.accesses)?));
        let means: Vec<(usize, u64)> = members.iter().filter_map(|device| mean(*device)).collect();
        let found = means.iter().filter_map(|&(device, mean)| {
            let peers = median(means.iter().filter(|(peer, _)| *peer != device).map(|(_, mean)| *mean))?;
            self.has_been_slow(device, (mean, peers)).then_some((device, (mean, peers)))
        });
        let slowest = found.max_by(|a, b| ratio(a.1).total_cmp(&ratio(b.1)).then(b.0.cmp(&a.0)));
        self.begin(now);
        let (device, (mean, peers)) = slowest?;
        add(&self.evicted, 1);
        let (means, medians) = self.times.get();
        self.times.set((means + mean, medians + peers));
        Some(device)
    }

    /// Notes whether a device was slow in the window; returns true if it has been in enough of them.
    fn has_been_slow(&self, device: usize, times: (u64, u64)) -> bool {
        let slow = &self.devices[device].slow;
        slow.set(if ratio(times) > self.spec.factor { slow.get() + 1 } else { 0 });
        slow.get() >= self.spec.windows()
    }
}

/// Returns how many times as long as its peers' the accesses of a device take.
fn ratio((mean, peers): (u64, u64)) -> f64 {
    mean as f64 / peers.max(1) as f64
}

/// Returns the median, of an even number the larger of the two in the middle, so that of three devices two are not called slow. `None` of
/// none.
fn median(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    let mut all: Vec<u64> = numbers.collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

impl<'m> Array<'m> {
    /// Ends a window whose time is over, and evicts the member that has been slow for long enough: as a request comes, so that an array
    /// that nobody uses has no events.
    pub(super) fn evict_slow(&'m self) {
        let (Some(watch), now) = (&self.bay.watch, self.context.shared.sim.now()) else { return };
        if !watch.is_over(now) {
            return;
        }
        if self.members.degraded() > 0 || self.rebuild.background.workers.get() > 0 {
            return watch.forget(now);
        }
        let Some(device) = watch.slowest(&self.members.in_use(), now) else { return };
        self.members.evict(device);
        self.context.shared.note(self.context.id, Event::Evicts(self.devices[device].to()));
        self.notice(device, Change::Fails);
    }
}
