//! Times of rebuilds, measured by simulating the scenario with its load while drives are lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use headrace_storage::Change;
use headrace_units::{Nanos, counted};
use headrace_work::NodeId;

use super::process::RepairTimes;
use super::volumes::Volume;
use crate::embedded::{Storage, StorageError};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::End;

/// Parts into which a stretch is divided, after each of which it is looked whether the rebuild has ended.
const LOOKS: u64 = 50;

/// Number of looks at which a rebuild had made progress that are enough to extrapolate the rest.
const ENOUGH: usize = 5;

/// Longest stretch, unless one is asked for.
const LONGEST: Nanos = Nanos(60_000_000_000);

/// Longest stretch that can be asked for, 30 years: time ends after 146.
const MOST: Nanos = Nanos(30 * 365 * 86_400 * 1_000_000_000);

/// About the number of events in a stretch, of the load and of the rebuild, unless one is asked for: with many events, a shorter one says as
/// much.
const EVENTS: u64 = 3_000_000;

/// Stretches that a sample of objects may take, since its last groups are recovered more slowly than its first.
const STRETCHES: u64 = 3;

/// The help where a rebuild is not seen to go on.
const LONGER: &str = "simulate longer: `--stretch`";

/// The least number of objects of a group in a sample: a group has several in progress at a time.
const FEWEST: u64 = 12;

/// The share of a stretch that is simulated before drives are lost.
const BEFORE: u64 = 10;

/// A rebuild to measure.
pub struct RebuildJob<'p> {
    pub plan: &'p Plan,
    pub volume: &'p Volume,
    /// The drives that are lost, by their numbers in the volume.
    pub lost: Vec<u32>,
    /// Share of the data at which the rebuild begins.
    pub from: f64,
    /// Where a rebuild goes by objects, one of this number is lacking.
    pub every: u64,
    /// Longest time that is simulated of it; `None` for [`LONGEST`], or about [`EVENTS`] where the load has more events in that time.
    pub stretch: Option<Nanos>,
    pub seed: u64,
}

/// A rebuild as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRebuild {
    /// Longest time that was to be simulated of it.
    pub stretch: Nanos,
    /// Simulated time from its start, in s.
    pub simulated_s: f64,
    /// Share of it that was done in this time.
    pub done: f64,
    /// Time of the whole rebuild, in s: as it went on after its first progress, where it did not end.
    pub whole_s: f64,
}

/// The rebuilds of one kind of loss.
#[derive(Clone, Debug)]
pub struct RepairLaw {
    /// What was lost: drive, server, rack.
    pub lost: &'static str,
    /// Number of them lost at once.
    pub at_once: u32,
    /// The replications; none where the loss is that of data.
    pub rebuilds: Vec<MeasuredRebuild>,
}

/// All that was measured of a volume.
#[derive(Clone, Debug)]
pub struct Repairs {
    pub wait_s: f64,
    /// Each kind of unit lost alone, then two, three … drives at once.
    pub laws: Vec<RepairLaw>,
    /// Number of kinds.
    pub kinds: usize,
}

impl MeasuredRebuild {
    /// A rebuild that ended.
    pub fn ended(stretch: Nanos, simulated_s: f64) -> Self {
        Self { stretch, simulated_s, done: 1.0, whole_s: simulated_s }
    }

    pub fn is_whole(self) -> bool {
        self.done >= 1.0
    }

    /// Of how many objects one is enough for a recovery that ends within a stretch, by how this one goes on.
    pub fn objects_to_sample(self, volume: &Volume) -> u64 {
        let most = (volume.redundancy.objects.unwrap_or(1) / FEWEST).max(1);
        ((self.whole_s / self.stretch.secs()).ceil() as u64).clamp(1, most)
    }

    /// The recovery of all objects, of which one of `every` was lacking.
    fn of_all(self, objects: u64, every: u64) -> Self {
        let share = objects.div_ceil(every) as f64 / objects as f64;
        Self { done: self.done * share, whole_s: self.whole_s / share, ..self }
    }
}

impl RepairLaw {
    /// Returns true if some rebuild was longer than what was simulated.
    pub fn is_extrapolated(&self) -> bool {
        !self.rebuilds.iter().all(|rebuild| rebuild.is_whole())
    }

    /// Times of whole rebuilds, one for each that `pick` chooses of their number. Parts of long rebuilds, from all over the disk, give their
    /// mean alone.
    fn times(&self, pick: &mut impl FnMut(usize) -> usize) -> Vec<f64> {
        let many = self.rebuilds.len();
        let times: Vec<f64> = (0..many).map(|_| self.rebuilds[pick(many)].whole_s).collect();
        if self.is_extrapolated() && many > 0 { vec![mean(&times)] } else { times }
    }
}

impl Repairs {
    /// Number of replications of each rebuild.
    pub fn replications(&self) -> usize {
        self.laws.first().map_or(0, |law| law.rebuilds.len())
    }

    /// Repair times from rebuilds that `pick` chooses, of their number.
    pub fn times(&self, mut pick: impl FnMut(usize) -> usize) -> RepairTimes {
        let all: Vec<Vec<f64>> = self.laws.iter().map(|law| law.times(&mut pick)).collect();
        let one = all.first().map_or(1.0, |times| mean(times));
        let more = all.iter().skip(self.kinds).map(|times| mean(times) / one);
        RepairTimes {
            wait_s: self.wait_s,
            factors: std::iter::once(1.0).chain(more).collect(),
            of_kind: all.iter().take(self.kinds).cloned().collect(),
        }
    }

    /// Repair times from each rebuild once.
    pub fn times_as_measured(&self) -> RepairTimes {
        let mut next = 0;
        self.times(|of| {
            next += 1;
            (next - 1) % of
        })
    }
}

/// The mean of some numbers.
pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Why a rebuild could not be measured, and the help.
pub type Unmeasured = (String, &'static str);

/// Simulates a rebuild beside the load of the scenario, to its end or for its stretch.
///
/// # Errors
/// The simulation ends early or is interrupted, hardly anything is rebuilt, or the rebuild ends before everything is whole.
pub fn measure(job: &RebuildJob, progress: &Progress) -> Result<MeasuredRebuild, Unmeasured> {
    let name = &job.volume.name;
    let failed = |error: StorageError| {
        let overloaded = matches!(error, StorageError::Ended(End::TooManyParts | End::TooManyInFlight));
        let help = if overloaded {
            "lower the rates of its streams: beside the rebuild they may be too much"
        } else {
            LONGER
        };
        (format!("while `{name}` is rebuilt: {error}"), help)
    };
    let mut storage = Storage::of(job.plan.clone(), job.seed);
    let cancelled = Arc::clone(&progress.cancelled);
    storage.interrupted_by(move || !cancelled.load(Ordering::Relaxed));
    let stretch = job.begin(&mut storage).map_err(failed)?;
    job.lose(&mut storage).map_err(failed)?;
    storage.rebuild_from(job.volume.node, job.from, job.every);
    let seen = job.watch(&mut storage, stretch, failed)?;
    storage.results().map_err(failed)?; // Every simulation is checked.
    job.found(&seen, stretch)
}

impl RebuildJob<'_> {
    /// Simulates what is before the loss; returns the stretch that is to follow.
    fn begin(&self, storage: &mut Storage) -> Result<Nanos, StorageError> {
        let before = self.longest().0 / BEFORE;
        for look in 1..=LOOKS {
            storage.advance(Nanos(before / LOOKS * look))?;
            if self.stretch.is_none() && storage.events() >= EVENTS / BEFORE {
                return Ok(Nanos(storage.now().0 * BEFORE));
            }
        }
        Ok(self.longest())
    }

    fn longest(&self) -> Nanos {
        self.stretch.unwrap_or(LONGEST).min(MOST)
    }

    /// Looks how far the rebuild is, until it ends or enough of it was seen; returns what was seen, each with its time in s.
    fn watch(
        &self,
        storage: &mut Storage,
        stretch: Nanos,
        failed: impl Fn(StorageError) -> Unmeasured,
    ) -> Result<Vec<(f64, f64)>, Unmeasured> {
        let of_all = if self.every > 1 { STRETCHES } else { 1 };
        let begun = storage.now();
        let [enough, longest] = [stretch, self.longest()].map(|time| time.0.saturating_mul(of_all));
        let mut seen: Vec<(f64, f64)> = Vec::new();
        loop {
            let looked = storage.now().saturating_sub(begun).0;
            let is_enough = looked >= enough || self.stretch.is_none() && storage.events() >= EVENTS;
            if looked >= longest || is_enough && seen.len() >= ENOUGH {
                return Ok(seen);
            }
            storage.advance(storage.now() + Nanos((stretch.0 / LOOKS).max(1))).map_err(&failed)?;
            let Some(now) = read(storage, self.volume.node) else { continue };
            let last = seen.last();
            if now.1 < 1.0 && last.is_some_and(|last| now.0 == last.0) {
                return Err(self.never_whole(now.1));
            }
            if last.is_none_or(|last| now.1 > last.1) {
                seen.push(now);
            }
            if now.1 >= 1.0 {
                return Ok(seen);
            }
        }
    }

    /// Has the drives fail. Where there are no more spares, they are replaced.
    fn lose(&self, storage: &mut Storage) -> Result<(), StorageError> {
        let spares = self.volume.redundancy.spares.map_or(usize::MAX, |spares| spares as usize);
        for (at, drive) in self.lost.iter().enumerate() {
            let path = storage.path(self.volume.drives[*drive as usize]).to_owned();
            storage.change(&path, Change::Fails)?;
            if at >= spares {
                storage.change(&path, Change::Replaced)?;
            }
        }
        Ok(())
    }

    /// The error of a rebuild that has ended with this share of what was lost.
    fn never_whole(&self, share: f64) -> Unmeasured {
        let message = format!(
            "`{}` is never whole again after a loss of {}: {:.0} % of what was lost comes back, and the rest has no other place",
            self.volume.name,
            counted(self.lost.len() as u64, "drive"),
            100.0 * share
        );
        (message, "add drives, servers or racks, or use a smaller `domain`")
    }

    /// The rebuild by how far it was at each look.
    fn found(&self, seen: &[(f64, f64)], stretch: Nanos) -> Result<MeasuredRebuild, Unmeasured> {
        let (name, longest) = (&self.volume.name, self.longest());
        if seen.is_empty() {
            let help = "simulate longer (`--stretch`), or give what is lost other places: more drives, servers or racks";
            return Err((format!("nothing of `{name}` is rebuilt within {longest}"), help));
        }
        let objects = self.volume.redundancy.objects.unwrap_or(1);
        let found = paced(seen, stretch).map(|found| found.of_all(objects, self.every));
        found.ok_or_else(|| (format!("hardly anything of `{name}` is rebuilt within {longest}"), LONGER))
    }
}

/// How far the rebuild of a volume is: seconds since its start, and the share that is done; `None` where it has not begun.
fn read(storage: &Storage, volume: NodeId) -> Option<(f64, f64)> {
    Some((storage.meter(volume, "rebuild_s")?, storage.meter(volume, "rebuild_progress")?))
        .filter(|(_, done)| *done > 0.0)
}

/// A rebuild from when it was seen to have gone on. The first chunk says nothing of a rebuild that waits before the next; `None` where no
/// second was seen.
fn paced(seen: &[(f64, f64)], stretch: Nanos) -> Option<MeasuredRebuild> {
    let (first, last) = (seen.first()?, seen.last()?);
    if last.1 >= 1.0 {
        return Some(MeasuredRebuild::ended(stretch, last.0));
    }
    let per_s = (last.1 - first.1) / (last.0 - first.0);
    (per_s > 0.0).then_some(MeasuredRebuild {
        stretch,
        simulated_s: last.0,
        done: last.1,
        whole_s: 1.0 / per_s,
    })
}
