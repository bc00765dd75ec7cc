//! Durability: the chance of data loss, from rates of failures and from repair times that are simulated under the scenario's load.
//!
//! ```text
//! plan ── volumes ──► redundancy of each ── repairs ──► times of rebuilds ── process, sampling ──► rate of loss ── words ──► answer
//! ```

mod process;
mod repairs;
mod sampling;
#[cfg(test)]
mod tests;
mod volumes;
mod words;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use headrace_analytic::reliability::BirthDeath;
use headrace_kernel::RngStream;
use headrace_storage::Redundancy;
use headrace_units::{Nanos, YEAR_S};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Path, Problem};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::rates::RatesSpec;
use process::{FailureProcess, UnitKind};
use repairs::{RebuildJob, RepairLaw, Repairs, mean};
use sampling::LossRate;
use volumes::Volume;

/// Failures under repair at once, in the mean, beyond which a system is hardly ever whole.
const MOST_AT_ONCE: f64 = 3.0;

/// What is wanted of an estimate.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Time for which the chance of data loss is wanted, in years.
    pub years: f64,
    /// Longest time simulated of a rebuild; `None` for a minute, or less under a high load.
    pub stretch: Option<Nanos>,
    /// Number of simulations of each rebuild.
    pub replications: u32,
    /// Half the width of the interval over the estimate, as far as more cycles reduce it.
    pub within: f64,
    /// Maximum number of threads; the estimate does not depend on it.
    pub threads: usize,
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The chance of data loss.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Durability {
    /// The answer in a few sentences.
    pub answer: String,
    /// What was left out or assumed, one a sentence.
    pub notes: Vec<String>,
    /// The time that was asked for, in years.
    pub years: f64,
    /// Mean time to data loss of the whole system, in years.
    pub mean_years: Estimate,
    /// Chance of data loss within a year.
    pub chance_in_a_year: Estimate,
    /// Chance of data loss within the time that was asked for.
    pub chance: Estimate,
    /// Expected bytes lost in a year.
    pub lost_bytes_per_year: f64,
    /// Each array, pool, or drive by itself.
    pub volumes: Vec<VolumeDurability>,
}

/// The chance of data loss of one volume.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VolumeDurability {
    /// Its path; that of its group where several are equal.
    pub component: String,
    /// Number of equal ones; the other values are those of one.
    pub count: u32,
    /// Number of drives with data.
    pub drives: u32,
    /// Number of drives that can be lost at once without loss of data.
    pub tolerates: u32,
    /// Failures in a year.
    pub failures_per_year: f64,
    /// Mean time to data loss, in years.
    pub mean_years: Estimate,
    /// Chance of data loss within a year.
    pub chance_in_a_year: Estimate,
    /// Chance of data loss within the time that was asked for.
    pub chance: Estimate,
    /// Expected bytes lost in a year.
    pub lost_bytes_per_year: f64,
    /// Share of the time in which something is not rebuilt.
    pub degraded: f64,
    /// Causes of loss, with their shares.
    pub causes: Vec<LossCause>,
    /// Rebuilds as simulated.
    pub rebuilds: Vec<Rebuild>,
    /// A formula beside the estimate. `None` where no formula applies.
    pub theory: Option<LossTheory>,
    /// Number of cycles of failures and repairs that were simulated.
    pub cycles: u64,
}

/// A cause of data loss.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LossCause {
    /// What happens while no redundancy is left.
    pub what: String,
    /// Its share of the losses.
    pub share: f64,
}

/// A rebuild, as simulated beside the load of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rebuild {
    /// What was lost: drive, server or rack.
    pub lost: String,
    /// Number of them lost at once.
    pub at_once: u32,
    /// Seconds from a failure until the rebuild begins, where a spare is free; of an array without spares, until the drive is replaced.
    pub wait_s: f64,
    /// Time of the rebuild in seconds: the mean of the replications.
    pub rebuild: Estimate,
    /// Number of replications.
    pub replications: u32,
    /// Seconds simulated of each, in the mean.
    pub simulated_s: f64,
    /// Share of the rebuild that was simulated, in the mean: a stretch of it, or, of a pool, all of it for a sample of the objects; below 1 the rest
    /// is extrapolated at the same rate.
    pub simulated_share: f64,
}

/// A formula for the mean time to data loss.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LossTheory {
    /// The formula.
    pub formula: String,
    /// Mean time to data loss by it, in years.
    pub mean_years: f64,
}

/// Estimates the chance of data loss of a plan that can sustain its load.
///
/// # Errors
/// Rates are missing, or are those of what cannot fail; a volume of which the losses are not known; a rebuild that does not go on; failures
/// that come faster than rebuilds end.
pub fn of(plan: &Plan, wanted: &Wanted, progress: &Progress) -> Result<Durability, Problem> {
    let rates = plan.spec.rates.ok_or_else(|| {
        let problem = Problem::at(Path::of(&["rates"]), "durability needs the failure rate of a drive");
        problem.help("add `rates: {drive: 1.4 %/year, latent_error: 1e-15 /bit}`, from data sheets or your own records")
    })?;
    let volumes = volumes::of(plan)?;
    checked(&rates, &volumes)?;
    let laws = volumes.iter().map(|volume| number_of_laws(volume, &kinds(volume, &rates)));
    progress.wanted.store(laws.sum::<u64>() * u64::from(wanted.replications), Ordering::Relaxed);
    let mut quiet = plan.clone();
    quiet.faults.clear();
    let found = volumes.iter().map(|volume| of_volume(&quiet, volume, &rates, wanted, progress));
    let found: Vec<VolumeDurability> = found.collect::<Result<_, _>>()?;
    let mut durability = together(found, wanted.years);
    durability.notes = words::notes(plan, &durability);
    durability.answer = words::answer(&durability);
    Ok(durability)
}

/// Refuses rates of what no volume has.
fn checked(rates: &RatesSpec, volumes: &[Volume]) -> Result<(), Problem> {
    for (name, rate) in [("server", rates.server), ("rack", rates.rack)] {
        let has = |volume: &Volume| volume.redundancy.together.iter().any(|(known, _)| *known == name);
        if rate.is_some() && !volumes.iter().any(has) {
            let message =
                format!("there is no pool, and only a pool has a {name} that takes its drives with it");
            return Err(Problem::at(Path::of(&["rates", name]), message).help("remove it"));
        }
    }
    Ok(())
}

fn of_volume(
    plan: &Plan,
    volume: &Volume,
    rates: &RatesSpec,
    wanted: &Wanted,
    progress: &Progress,
) -> Result<VolumeDurability, Problem> {
    let latent_per_byte = rates.latent_error.map_or(0.0, |rate| 8.0 * rate.get());
    let process =
        FailureProcess::new(&volume.redundancy, kinds(volume, rates), latent_per_byte, rates.replace.secs());
    let repairs = measured(plan, volume, process.kinds(), wanted, progress)?;
    passable(volume, &process, &repairs, rates)?;
    let stream = RngStream::named(plan.run().seed, &volume.name, "durability");
    let rate = match volume.redundancy.tolerates {
        0 => without_redundancy(&process, volume),
        _ => sampling::of(&process, &repairs, (stream, wanted.within), wanted.threads, progress),
    };
    if progress.is_cancelled() {
        return Err(Problem::at(Path::of(&["rates"]), "interrupted before there was an estimate"));
    }
    if rate.per_s <= 0.0 {
        let message =
            format!("`{}` lost no data in {} cycles of failures and repairs", volume.name, rate.cycles);
        return Err(Problem::at(Path::of(&["system"]), message)
            .help("few drives share data: such losses are too rare to estimate"));
    }
    let theory = theory(volume, &process, &repairs, (latent_per_byte, rates.replace.secs()));
    Ok(drawn_up(volume, &process, &repairs, (&rate, theory), (wanted.years, rates.replace.secs())))
}

/// What fails of a volume: its drives, and sets of them.
fn kinds(volume: &Volume, rates: &RatesSpec) -> Vec<UnitKind> {
    let of = &volume.redundancy;
    let drives = (0..of.drives.len() as u32).map(|drive| vec![drive]).collect();
    let mut kinds = vec![UnitKind::new("drive", rates.drive.per_s(), drives, &of.groups)];
    for (name, sets) in &of.together {
        let rate = if *name == "server" { rates.server } else { rates.rack };
        kinds.extend(rate.map(|rate| UnitKind::new(name, rate.per_s(), sets.clone(), &of.groups)));
    }
    kinds
}

/// Returns the number of losses whose rebuilds are simulated.
fn number_of_laws(volume: &Volume, kinds: &[UnitKind]) -> u64 {
    match volume.redundancy.tolerates {
        0 => 0,
        tolerates => kinds.len() as u64 + u64::from(tolerates) - 1,
    }
}

/// Simulates rebuilds of a volume: after the loss of each kind of unit, and of two drives at once, three and so on.
fn measured(
    plan: &Plan,
    volume: &Volume,
    kinds: &[UnitKind],
    wanted: &Wanted,
    progress: &Progress,
) -> Result<Repairs, Problem> {
    let tolerates = volume.redundancy.tolerates;
    let mut laws = Vec::new();
    if tolerates > 0 {
        for kind in kinds {
            laws.push(law(plan, volume, (kind, 1), wanted, progress)?);
        }
        for at_once in 2..=tolerates {
            laws.push(law(plan, volume, (&kinds[0], at_once), wanted, progress)?);
        }
    }
    Ok(Repairs { wait_s: volume.redundancy.wait.secs(), laws, kinds: kinds.len() })
}

fn law(
    plan: &Plan,
    volume: &Volume,
    (kind, at_once): (&UnitKind, u32),
    wanted: &Wanted,
    progress: &Progress,
) -> Result<RepairLaw, Problem> {
    let (all, groups) = (u64::from(wanted.replications), &volume.redundancy.groups);
    // A drive of a pool with few groups may hold none: nothing of it is rebuilt.
    let holds = |drive: &u32| groups.iter().any(|group| group.contains(drive));
    let is_rebuilt =
        |unit: &usize| !kind.loses(*unit, &volume.redundancy) && kind.drives[*unit].iter().any(holds);
    let safe: Vec<usize> = (0..kind.drives.len()).filter(is_rebuilt).collect();
    let job = |number: u64, every: u64, stretch: Option<Nanos>| {
        let evenly = |of: usize| (number * of as u64 / all) as usize;
        let lost = match at_once {
            1 => kind.drives[safe[evenly(safe.len())]].clone(),
            _ => groups[evenly(groups.len())].iter().copied().take(at_once as usize).collect(),
        };
        let from = (number as f64 + 0.5) / all as f64;
        RebuildJob { plan, volume, lost, from, every, stretch, seed: plan.seed(number) }
    };
    // What loses data at once is not rebuilt.
    if safe.is_empty() {
        progress.answered.fetch_add(all, Ordering::Relaxed);
        return Ok(RepairLaw { lost: kind.name, at_once, rebuilds: Vec::new() });
    }
    let refused =
        |(message, help): repairs::Unmeasured| Problem::at(Path::of(&["system"]), message).help(help);
    let (every, stretch) = match volume.redundancy.objects {
        Some(_) => {
            let first = repairs::measure(&job(0, 1, wanted.stretch), progress).map_err(refused)?;
            (first.objects_to_sample(volume), Some(first.stretch))
        }
        None => (1, wanted.stretch),
    };
    let jobs: Vec<RebuildJob> = (0..all).map(|number| job(number, every, stretch)).collect();
    let rebuilds = in_parallel(jobs, wanted.threads, |job| {
        let measured = repairs::measure(&job, progress);
        progress.answered.fetch_add(1, Ordering::Relaxed);
        measured
    });
    let rebuilds = rebuilds.into_iter().collect::<Result<_, _>>().map_err(refused)?;
    Ok(RepairLaw { lost: kind.name, at_once, rebuilds })
}

/// Refuses failures that come faster than rebuilds end.
fn passable(
    volume: &Volume,
    process: &FailureProcess,
    repairs: &Repairs,
    rates: &RatesSpec,
) -> Result<(), Problem> {
    let times = repairs
        .laws
        .first()
        .map_or_else(Vec::new, |law| law.rebuilds.iter().map(|rebuild| rebuild.whole_s).collect());
    let replace_s = if volume.redundancy.spares.is_some() { rates.replace.secs() } else { 0.0 };
    let busy_s = if times.is_empty() { 0.0 } else { mean(&times) + repairs.wait_s + replace_s };
    let at_once = process.failures_per_s() * busy_s;
    if at_once <= MOST_AT_ONCE {
        return Ok(());
    }
    let message = format!(
        "`{}` has {at_once:.1} failures under repair at once, in the mean: it is hardly ever whole",
        volume.name
    );
    Err(Problem::at(Path::of(&["rates"]), message)
        .help("give lower rates, a shorter `replace`, or a faster rebuild"))
}

/// The rate of loss where the first failure loses data: that of all groups with a piece on the drives of a unit, if there is one.
fn without_redundancy(process: &FailureProcess, volume: &Volume) -> LossRate {
    let of = &volume.redundancy;
    let mut pieces = vec![0_u32; of.drives.len()];
    of.groups.iter().flatten().for_each(|drive| pieces[*drive as usize] += 1);
    let lost = |drives: &Vec<u32>| drives.iter().map(|drive| f64::from(pieces[*drive as usize])).sum::<f64>();
    let of_kind = |kind: &UnitKind| {
        let held: Vec<f64> = kind.drives.iter().map(lost).filter(|lost| *lost > 0.0).collect();
        (kind.per_s * held.len() as f64, kind.per_s * held.iter().sum::<f64>() * of.lost_bytes)
    };
    let rates: Vec<(f64, f64)> = process.kinds().iter().map(of_kind).collect();
    let per_s: f64 = rates.iter().map(|(per_s, _)| per_s).sum();
    let share = |rate: f64| if per_s > 0.0 { rate / per_s } else { 0.0 };
    LossRate {
        per_s,
        within: 0.0,
        causes: rates.iter().map(|(rate, _)| share(*rate)).chain([0.0]).collect(),
        bytes_per_s: rates.iter().map(|(_, bytes)| bytes).sum(),
        cycles: 0,
        degraded: 0.0,
    }
}

/// The mean time to data loss by a Markov chain for each group, where only drives fail. Groups that share drives lose data together at
/// times, so that it is then a lower bound. None where spares are used up: a chain has no second failure that waits for a replacement.
fn theory(
    volume: &Volume,
    process: &FailureProcess,
    repairs: &Repairs,
    (latent_per_byte, replace_s): (f64, f64),
) -> Option<LossTheory> {
    let of = &volume.redundancy;
    let [drives] = process.kinds() else { return None };
    let width = of.groups.first()?.len();
    let critical = of.tolerates as usize + 1;
    // Groups that lie on the same drives lose data together: there are no more that do so apart than sets of drives that do.
    let sets = choose(of.drives.len(), critical) / choose(width, critical);
    let groups = sets.min(of.groups.len() as f64);
    let times = repairs.times_as_measured();
    let one_s = times.of_kind.first().map_or(1.0, |times| mean(times));
    if of.spares.is_some_and(|spares| spares > 0) && replace_s > one_s {
        return None;
    }
    let wait_s = wait_of(of, times.wait_s, replace_s);
    // A piece of a pool is rebuilt, in the mean, in the middle of the rebuild of its drive; the last of several that lie on the same drives,
    // at its end.
    let part = if of.objects.is_none() || sets < of.groups.len() as f64 { 1.0 } else { 0.5 };
    let rebuild_s = |lost: usize| one_s * times.factors[lost.min(times.factors.len()) - 1];
    let births = (0..=of.tolerates as usize).map(|lost| (width - lost) as f64 * drives.per_s);
    let deaths: Vec<f64> =
        (1..=of.tolerates as usize).map(|lost| lost as f64 / (wait_s + part * rebuild_s(lost))).collect();
    let errors = latent_per_byte * of.critical_bytes * of.groups.len() as f64 / groups;
    let chance = chance_of_error(errors, of.tolerates).min(1.0 - f64::EPSILON);
    let killed = deaths.last().map_or(0.0, |end| end * chance / (1.0 - chance));
    let chain = BirthDeath { births: births.collect(), deaths, killed };
    let shared = groups * width as f64 > of.drives.len() as f64;
    let formula = match (groups, shared) {
        (1.0, _) => "Markov chain".to_owned(),
        (_, false) => format!("Markov chain of each of {groups:.0} groups"),
        (_, true) => format!("Markov chain of each of {groups:.0} groups, at least"),
    };
    Some(LossTheory { formula, mean_years: chain.mean_time() / groups / YEAR_S })
}

/// Returns the chance that a rebuild meets a latent error, where `errors` are expected in all of its data and `lost` drives are rebuilt at
/// once: E[1 − e^(−errors × L)]. When the last of them fails, the share L of the data is left to the furthest of the others, the least of
/// `lost` − 1 uniform ones.
fn chance_of_error(errors: f64, lost: u32) -> f64 {
    if lost < 2 {
        return -libm::expm1(-errors);
    }
    let others = f64::from(lost - 1);
    let at = |step: u32| {
        let left = (f64::from(step) + 0.5) / f64::from(STEPS);
        others * libm::pow(1.0 - left, others - 1.0) * -libm::expm1(-errors * left)
    };
    (0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)
}

/// Steps of the integral over what is left of a rebuild.
const STEPS: u32 = 1000;

/// Seconds from a failure until a rebuild begins: of an array without spares, the drive is replaced first.
fn wait_of(of: &Redundancy, wait_s: f64, replace_s: f64) -> f64 {
    if of.spares == Some(0) { wait_s + replace_s } else { wait_s }
}

/// The number of ways to choose `some` of `all`.
fn choose(all: usize, some: usize) -> f64 {
    (0..some).map(|at| (all - at) as f64 / (at + 1) as f64).product()
}

fn drawn_up(
    volume: &Volume,
    process: &FailureProcess,
    repairs: &Repairs,
    (rate, theory): (&LossRate, Option<LossTheory>),
    (years, replace_s): (f64, f64),
) -> VolumeDurability {
    let of = &volume.redundancy;
    let per_year = rate.per_s * YEAR_S;
    VolumeDurability {
        component: volume.name.clone(),
        count: volume.count,
        drives: of.drives.len() as u32,
        tolerates: of.tolerates,
        failures_per_year: process.failures_per_s() * YEAR_S,
        mean_years: Estimate::around(1.0 / per_year, rate.within),
        chance_in_a_year: Estimate::chance(per_year, rate.within),
        chance: Estimate::chance(per_year * years, rate.within),
        lost_bytes_per_year: rate.bytes_per_s * YEAR_S,
        degraded: rate.degraded,
        causes: words::causes(of, process.kinds(), &rate.causes),
        rebuilds: repairs
            .laws
            .iter()
            .filter(|law| !law.rebuilds.is_empty())
            .map(|law| rebuild(law, wait_of(of, repairs.wait_s, replace_s)))
            .collect(),
        theory,
        cycles: rate.cycles,
    }
}

fn rebuild(law: &RepairLaw, wait_s: f64) -> Rebuild {
    let of = |value: &dyn Fn(&repairs::MeasuredRebuild) -> f64| -> Vec<f64> {
        law.rebuilds.iter().map(value).collect()
    };
    let times = of(&|rebuild| rebuild.whole_s);
    let interval = headrace_stats::Interval::by_replications(&times, true);
    let (value, half) = (mean(&times), interval.map_or(0.0, |interval| interval.half_width));
    Rebuild {
        lost: law.lost.to_owned(),
        at_once: law.at_once,
        wait_s,
        rebuild: Estimate { value, low: (value - half).max(0.0), high: value + half },
        replications: times.len() as u32,
        simulated_s: mean(&of(&|rebuild| rebuild.simulated_s)),
        simulated_share: mean(&of(&|rebuild| rebuild.done.min(1.0))),
    }
}

/// The durability of a system of these volumes, without words.
fn together(volumes: Vec<VolumeDurability>, years: f64) -> Durability {
    let of = |volume: &VolumeDurability| f64::from(volume.count) / volume.mean_years.value;
    let per_year: f64 = volumes.iter().map(of).sum();
    let half = |volume: &VolumeDurability| of(volume) * volume.mean_years.within();
    let within = libm::sqrt(volumes.iter().map(|volume| half(volume) * half(volume)).sum::<f64>()) / per_year;
    Durability {
        answer: String::new(),
        notes: Vec::new(),
        years,
        mean_years: Estimate::around(1.0 / per_year, within),
        chance_in_a_year: Estimate::chance(per_year, within),
        chance: Estimate::chance(per_year * years, within),
        lost_bytes_per_year: volumes
            .iter()
            .map(|volume| f64::from(volume.count) * volume.lost_bytes_per_year)
            .sum(),
        volumes,
    }
}

impl Estimate {
    /// A value whose interval is as wide on both sides as a ratio.
    fn around(value: f64, within: f64) -> Self {
        let factor = libm::exp(within);
        Self { value, low: value / factor, high: value * factor }
    }

    /// The chance of at least one of the events that come at this rate, where times between them are exponential.
    fn chance(expected: f64, within: f64) -> Self {
        let of = |expected: f64| -libm::expm1(-expected);
        let expected = Self::around(expected, within);
        Self { value: of(expected.value), low: of(expected.low), high: of(expected.high) }
    }

    /// Half the width of the interval of a value [around](Self::around) which it lies.
    fn within(self) -> f64 {
        libm::log(self.high / self.value)
    }
}

/// Does all jobs, on at most this number of threads; returns what each gave, in order.
fn in_parallel<J: Send, R: Send>(jobs: Vec<J>, threads: usize, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<(Option<J>, Option<R>)>> =
        jobs.into_iter().map(|job| Mutex::new((Some(job), None))).collect();
    let take = || slots.get(next.fetch_add(1, Ordering::Relaxed));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, slots.len().max(1)) {
            scope.spawn(|| {
                while let Some(slot) = take() {
                    let job = slot.lock().expect("no job panicked").0.take().expect("a job is taken once");
                    let result = work(job);
                    slot.lock().expect("no job panicked").1 = Some(result);
                }
            });
        }
    });
    slots
        .into_iter()
        .map(|slot| slot.into_inner().expect("no job panicked").1.expect("all jobs were done"))
        .collect()
}
