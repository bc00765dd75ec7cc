//! Failures and repairs of the drives of one volume, from the first failure until all is whole again: a regenerative cycle.
//!
//! Failures are exponential, repairs of any distribution. Each lost drive has a part of its rebuild left, and all rebuilds go on side by side, at a
//! speed that depends on how many there are. Where nothing is lost in a million cycles, failures are made likely and their weights are corrected:
//! importance sampling by failure biasing (Lewis and Böhm, 1984; Goyal and others, 1992), where the next repair is known, by forcing the failure
//! before it (Nicola, Nakayama, Heidelberger and Goyal, 1993), part of the failures of each kind equally often (balanced failure biasing,
//! Shahabuddin, 1994), and most of those of drives in groups that are nearest to a loss (failure distance biasing, Carrasco, 1992).
//! The failure that loses data is not drawn: its probability is counted at each step (conditional Monte Carlo).

use headrace_kernel::{Draws, subkey};
use headrace_storage::Redundancy;

use crate::progress::Progress;

/// Bytes lost with a latent error: a sector, as disks of today have it.
const SECTOR: f64 = 4096.0;

/// The least probability of a further failure before the next repair while none would lose data, under failure biasing.
const BIASED: f64 = 0.5;

/// Share of failures, under failure biasing, that are of each kind of unit equally often; the others are by their rates.
const BALANCED: f64 = 0.2;

/// Share of failures of drives, under failure biasing, that hit groups which miss most already.
const NEAR: f64 = 0.7;

/// Part of a rebuild below which it is done: sums of times are rounded.
const DONE: f64 = 1e-9;

/// What can fail of a volume: drives, or sets of them.
#[derive(Clone, Debug)]
pub struct UnitKind {
    /// Its name: drive, server, rack.
    pub name: &'static str,
    /// Failures of each a second.
    pub per_s: f64,
    /// The drives of each.
    pub drives: Vec<Vec<u32>>,
    /// Of each drive, the unit that it belongs to.
    of_drive: Vec<u32>,
    /// The groups with pieces in each unit, where a unit can have several pieces of a group; empty otherwise.
    groups: Vec<Vec<u32>>,
}

/// Times of rebuilds.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairTimes {
    /// Seconds from a failure to the start of its rebuild.
    pub wait_s: f64,
    /// Of each kind of unit, the seconds of a rebuild, one of which is drawn.
    pub of_kind: Vec<Vec<f64>>,
    /// How many times as long rebuilds take with one, two … of them at once; the last counts for more too.
    pub factors: Vec<f64>,
}

/// A volume whose drives fail.
pub struct FailureProcess<'p> {
    of: &'p Redundancy,
    kinds: Vec<UnitKind>,
    /// The groups with a piece on each drive.
    groups_of: Vec<Vec<u32>>,
    /// Latent errors a byte that is read.
    latent_per_byte: f64,
    replace_s: f64,
    /// Work of a rebuild with a mean of one: constant, but for comparison with formulas.
    work: fn(&mut Draws) -> f64,
}

/// What cycles have found.
#[derive(Clone, Debug, Default)]
pub struct CycleTally {
    pub cycles: u64,
    /// Sum of the probabilities of loss, by the kind of unit whose failure causes it; last, those by latent errors.
    pub losses: Vec<f64>,
    /// Sum of the squares of the cycles' probabilities of loss.
    pub squares: f64,
    /// Sum of the bytes lost.
    pub bytes: f64,
    /// Sum of the lengths of the cycles, in s. Meaningful without bias only.
    pub seconds: f64,
    /// Sum of the seconds in which drives were lost that were not rebuilt. Meaningful without bias only.
    pub degraded_s: f64,
}

impl CycleTally {
    pub fn add(&mut self, other: &Self) {
        self.losses.resize(self.losses.len().max(other.losses.len()), 0.0);
        self.losses.iter_mut().zip(&other.losses).for_each(|(sum, more)| *sum += more);
        self.cycles += other.cycles;
        self.squares += other.squares;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
        self.degraded_s += other.degraded_s;
    }

    /// The probability of loss in a cycle.
    pub fn mean(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.cycles as f64
    }

    /// The variance of that mean.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        (self.squares / self.cycles as f64 - mean * mean).max(0.0) / self.cycles as f64
    }
}

impl UnitKind {
    /// Units of these drives; `groups` are those of the volume.
    pub fn new(name: &'static str, per_s: f64, drives: Vec<Vec<u32>>, groups: &[Vec<u32>]) -> Self {
        let most = drives.iter().flatten().max().map_or(0, |drive| *drive as usize + 1);
        let mut of_drive = vec![u32::MAX; most];
        for (unit, drives) in (0u32..).zip(&drives) {
            drives.iter().for_each(|drive| of_drive[*drive as usize] = unit);
        }
        let mut of_unit = vec![Vec::new(); drives.len()];
        let mut several = false;
        for (group, pieces) in (0u32..).zip(groups) {
            for unit in pieces.iter().map(|drive| of_drive[*drive as usize] as usize) {
                several |= of_unit[unit].last() == Some(&group);
                if of_unit[unit].last() != Some(&group) {
                    of_unit[unit].push(group);
                }
            }
        }
        Self { name, per_s, drives, of_drive, groups: if several { of_unit } else { Vec::new() } }
    }

    /// Returns true if the failure of a unit loses data while all others work.
    pub fn loses(&self, unit: usize, of: &Redundancy) -> bool {
        let is_here = |drive: &&u32| self.of_drive[**drive as usize] as usize == unit;
        of.groups.iter().any(|pieces| pieces.iter().filter(is_here).count() > of.tolerates as usize)
    }
}

impl<'p> FailureProcess<'p> {
    /// The process of a volume with this protection, of which `kinds` of units fail, the drives first.
    pub fn new(of: &'p Redundancy, kinds: Vec<UnitKind>, latent_per_byte: f64, replace_s: f64) -> Self {
        let mut groups_of = vec![Vec::new(); of.drives.len()];
        for (group, drives) in (0u32..).zip(&of.groups) {
            drives.iter().for_each(|drive| groups_of[*drive as usize].push(group));
        }
        Self { of, kinds, groups_of, latent_per_byte, replace_s, work: |_| 1.0 }
    }

    /// Has rebuilds take exponential times, as formulas assume.
    #[cfg(test)]
    pub fn exponential(self) -> Self {
        Self { work: |draws| draws.exponential(), ..self }
    }

    pub fn kinds(&self) -> &[UnitKind] {
        &self.kinds
    }

    /// Failures a second while all is whole.
    pub fn failures_per_s(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.per_s * kind.drives.len() as f64).sum()
    }

    /// Runs this number of cycles, with or without bias; fewer if they are cancelled.
    pub fn cycles(
        &self,
        number: u64,
        (times, biased): (&RepairTimes, bool),
        draws: &mut Draws,
        progress: &Progress,
    ) -> CycleTally {
        let mut tally = CycleTally { losses: vec![0.0; self.kinds.len() + 1], ..CycleTally::default() };
        let mut cycle = Cycle::new(self, times, biased);
        while tally.cycles < number && !progress.is_cancelled() {
            let before: f64 = tally.losses.iter().sum();
            cycle.run(draws, &mut tally);
            let loss = tally.losses.iter().sum::<f64>() - before;
            tally.squares += loss * loss;
            tally.cycles += 1;
        }
        tally
    }
}

/// A failure whose drives are not rebuilt, or whose spare is not back.
struct Failure {
    kind: usize,
    unit: usize,
    drives: Vec<u32>,
    /// Seconds until its rebuild begins.
    wait: f64,
    /// The part of its rebuild that is left.
    left: f64,
    /// Seconds of its rebuild while there is no other.
    time: f64,
    /// Seconds until the spare that it took is replaced.
    spare: f64,
    /// By this the groups are put in the order in which they are rebuilt.
    key: u64,
}

/// What would be lost by a further failure.
#[derive(Default)]
struct Peril {
    /// Of each kind, which units' failure would lose data, and how many these are.
    units: Vec<Vec<bool>>,
    counts: Vec<usize>,
    /// Bytes a second that are lost by them in the mean.
    bytes_per_s: f64,
    /// Groups that tolerate no further loss, each by the part that does not.
    critical: f64,
}

/// One cycle after another, in the same memory.
struct Cycle<'c> {
    process: &'c FailureProcess<'c>,
    times: &'c RepairTimes,
    biased: bool,
    failures: Vec<Failure>,
    /// The place of the failure that took each drive, among `failures`, counted from 1.
    lost: Vec<u32>,
    /// Of each kind, which units have failed.
    down: Vec<Vec<bool>>,
    /// Of each group, how many pieces are missing now; the groups with any.
    missing: Vec<u32>,
    touched: Vec<u32>,
    peril: Peril,
}

/// A step of a cycle: what can happen before the next repair.
struct Step {
    /// Seconds until the next change of the repairs.
    span: f64,
    /// The instant at which a failure would come, if one does.
    at: f64,
    /// Probability that a failure, or a latent error, comes before.
    p: f64,
    /// Failures a second, and latent errors.
    failing: f64,
    latent: f64,
}

impl<'c> Cycle<'c> {
    fn new(process: &'c FailureProcess<'c>, times: &'c RepairTimes, biased: bool) -> Self {
        let none = || process.kinds.iter().map(|kind| vec![false; kind.drives.len()]).collect::<Vec<_>>();
        Self {
            process,
            times,
            biased,
            failures: Vec::new(),
            lost: vec![0; process.groups_of.len()],
            down: none(),
            missing: vec![0; process.of.groups.len()],
            touched: Vec::new(),
            peril: Peril { units: none(), counts: vec![0; process.kinds.len()], ..Peril::default() },
        }
    }

    /// Runs from one instant at which all is whole to the next, or without bias to the loss of data; adds the probability of loss.
    fn run(&mut self, draws: &mut Draws, tally: &mut CycleTally) {
        let mut weight = 1.0;
        self.failures.clear();
        self.lost.fill(0);
        self.down.iter_mut().for_each(|units| units.fill(false));
        loop {
            let step = self.step(draws);
            self.look(step.at);
            let (safe, lost) = self.count_loss(&step, weight, tally);
            match self.goes_on(&step, safe, lost, draws) {
                None => {
                    self.count_time(self.before_failure(&step), tally);
                    return;
                }
                Some((true, factor)) => {
                    self.count_time(self.before_failure(&step), tally);
                    self.pass(step.at);
                    weight *= factor * self.fail(draws);
                }
                Some((false, factor)) => {
                    self.count_time(step.span, tally);
                    self.pass(step.span);
                    weight *= factor;
                    if self.failures.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// Adds seconds in which nothing changes.
    fn count_time(&self, seconds: f64, tally: &mut CycleTally) {
        tally.seconds += seconds;
        if self.outstanding() > 0 {
            tally.degraded_s += seconds;
        }
    }

    /// Seconds until the failure of a step: the mean where all is whole, which is known.
    fn before_failure(&self, step: &Step) -> f64 {
        if self.failures.is_empty() { 1.0 / step.failing } else { step.at }
    }

    /// Finds how long nothing changes but by a failure, and when that would come.
    fn step(&mut self, draws: &mut Draws) -> Step {
        let failing: f64 =
            (0..self.down.len()).map(|kind| self.healthy(kind) * self.process.kinds[kind].per_s).sum();
        let latent = self.latent();
        let (rate, span) = (failing + latent, self.next_repair());
        if rate == 0.0 {
            // All units are down.
            return Step { span, at: span, p: 0.0, failing, latent };
        }
        let p = -libm::expm1(-rate * span);
        let at = -libm::log1p(-p * draws.inner()) / rate;
        Step { span, at, p, failing, latent }
    }

    /// The number of units of a kind that have not failed.
    fn healthy(&self, kind: usize) -> f64 {
        if kind == 0 {
            let taken: usize = self.failures.iter().map(|failure| failure.drives.len()).sum();
            return (self.lost.len() - taken) as f64;
        }
        let down = self.failures.iter().filter(|failure| failure.kind == kind && failure.left > 0.0).count();
        (self.down[kind].len() - down) as f64
    }

    /// How many times as long each rebuild takes now.
    fn factor(&self) -> f64 {
        let rebuilding = self.failures.iter().filter(|one| one.left > 0.0 && one.wait <= 0.0).count();
        self.times.factors[rebuilding.clamp(1, self.times.factors.len()) - 1]
    }

    /// Latent errors a second that rebuilds meet where no redundancy is left, at an even rate over what is left of the furthest.
    fn latent(&mut self) -> f64 {
        if self.process.latent_per_byte == 0.0 || self.failures.is_empty() {
            return 0.0;
        }
        self.look(0.0);
        let (factor, bytes) = (self.factor(), self.process.of.critical_bytes);
        let going = self.failures.iter().filter(|one| one.left > 0.0 && one.wait <= 0.0);
        let speed = going.map(|one| 1.0 / (one.time * factor * one.left)).fold(0.0, f64::max);
        self.process.latent_per_byte * bytes * self.peril.critical * speed
    }

    /// Seconds until a rebuild begins or ends, or a spare is back.
    fn next_repair(&self) -> f64 {
        let factor = self.factor();
        let next = |one: &Failure| {
            let rebuild = if one.wait > 0.0 { one.wait } else { one.left * one.time * factor };
            [rebuild, one.spare].into_iter().filter(|span| *span > 0.0).fold(f64::INFINITY, f64::min)
        };
        self.failures.iter().map(next).fold(f64::INFINITY, f64::min)
    }

    /// The part of a rebuild that is left after some seconds more.
    fn left(&self, failure: &Failure, after: f64, factor: f64) -> f64 {
        if failure.wait > 0.0 { failure.left } else { failure.left - after / (failure.time * factor) }
    }

    /// Lets time pass, not beyond the next change of the repairs.
    fn pass(&mut self, seconds: f64) {
        if self.failures.is_empty() {
            return;
        }
        let factor = self.factor();
        let mut returned = 0;
        for at in 0..self.failures.len() {
            let left = self.left(&self.failures[at], seconds, factor);
            let one = &mut self.failures[at];
            let snap = |left: f64, whole: f64| if left <= DONE * whole { 0.0 } else { left };
            one.left = snap(left, 1.0);
            one.wait = snap(one.wait - seconds, self.times.wait_s.max(self.process.replace_s));
            let taken = one.spare > 0.0;
            one.spare = snap(one.spare - seconds, self.process.replace_s);
            returned += usize::from(taken && one.spare == 0.0);
            if one.left == 0.0 {
                self.down[one.kind][one.unit] = false;
                one.drives.drain(..).for_each(|drive| self.lost[drive as usize] = 0);
            }
        }
        self.failures.retain(|one| one.left > 0.0 || one.spare > 0.0);
        self.hand_on(returned);
        for (at, failure) in (1u32..).zip(&self.failures) {
            failure.drives.iter().for_each(|drive| self.lost[*drive as usize] = at);
        }
    }

    /// Gives spares that are there again to rebuilds that wait for a drive, the earliest first: the drive that they waited for replaces the
    /// spare.
    fn hand_on(&mut self, spares: usize) {
        let wait_s = self.times.wait_s;
        for waiting in self.failures.iter_mut().filter(|one| one.wait > wait_s).take(spares) {
            waiting.spare = waiting.wait - wait_s;
            waiting.wait = wait_s;
        }
    }

    /// The number of failures that are not rebuilt.
    fn outstanding(&self) -> u32 {
        self.failures.iter().filter(|one| one.left > 0.0).count() as u32
    }

    /// Finds which failures would lose data in `after` seconds.
    fn look(&mut self, after: f64) {
        self.peril.bytes_per_s = 0.0;
        self.peril.critical = 0.0;
        self.peril.counts.fill(0);
        self.peril.units.iter_mut().for_each(|units| units.fill(false));
        self.touched.drain(..).for_each(|group| self.missing[group as usize] = 0);
        let tolerates = self.process.of.tolerates;
        let outstanding = self.outstanding();
        let is_safe = outstanding < tolerates && self.process.kinds.iter().all(|kind| kind.groups.is_empty());
        if is_safe && (outstanding == 0 || !self.biased || self.process.of.groups.len() == 1) {
            return;
        }
        self.count_missing(after);
        for at in 0..self.touched.len() {
            if self.missing[self.touched[at] as usize] == tolerates {
                self.mark(self.touched[at], after);
            }
        }
        for kind in 1..self.process.kinds.len() {
            self.mark_several(kind);
        }
        for (count, units) in self.peril.counts.iter_mut().zip(&self.peril.units) {
            *count = units.iter().filter(|unit| **unit).count();
        }
    }

    /// Counts the pieces of each group that are not rebuilt in `after` seconds.
    fn count_missing(&mut self, after: f64) {
        let (factor, in_step) = (self.factor(), self.process.of.objects.is_none());
        for failure in &self.failures {
            let left = self.left(failure, after, factor);
            for group in failure.drives.iter().flat_map(|drive| &self.process.groups_of[*drive as usize]) {
                // Groups are rebuilt one after another, in an order of their own for each failure.
                let turn = || (subkey(failure.key, u64::from(*group)) >> 11) as f64 / (1u64 << 53) as f64;
                if left > 0.0 && (in_step || left > turn()) {
                    let missing = &mut self.missing[*group as usize];
                    *missing += 1;
                    if *missing == 1 {
                        self.touched.push(*group);
                    }
                }
            }
        }
    }

    /// Marks the units whose failure would lose data of a group that tolerates no further loss.
    fn mark(&mut self, group: u32, after: f64) {
        let of = self.process.of;
        let factor = self.factor();
        let pieces = &of.groups[group as usize];
        let lost = pieces.iter().filter_map(|drive| self.lost[*drive as usize].checked_sub(1));
        let parts = lost.map(|at| self.left(&self.failures[at as usize], after, factor));
        let part = if of.objects.is_none() { parts.fold(f64::INFINITY, f64::min) } else { 1.0 };
        self.peril.critical += part;
        for drive in pieces.iter().filter(|drive| self.lost[**drive as usize] == 0) {
            for (kind, units) in self.process.kinds.iter().zip(&mut self.peril.units) {
                if kind.groups.is_empty() {
                    units[kind.of_drive[*drive as usize] as usize] = true;
                    self.peril.bytes_per_s += kind.per_s * of.lost_bytes * part;
                }
            }
        }
    }

    /// Marks the units of a kind whose failure would lose data, since they hold several pieces of a group.
    fn mark_several(&mut self, kind: usize) {
        let (of, units) = (self.process.of, &self.process.kinds[kind]);
        for (unit, groups) in units.groups.iter().enumerate().filter(|(unit, _)| !self.down[kind][*unit]) {
            let is_here = |drive: &&u32| {
                units.of_drive[**drive as usize] as usize == unit && self.lost[**drive as usize] == 0
            };
            let loses = |group: &&u32| {
                let here = of.groups[**group as usize].iter().filter(is_here).count() as u32;
                self.missing[**group as usize] + here > of.tolerates
            };
            let lost = groups.iter().filter(loses).count();
            self.peril.units[kind][unit] = lost > 0;
            self.peril.bytes_per_s += units.per_s * of.lost_bytes * lost as f64;
        }
    }

    /// Adds the probability that data is lost in this step; returns the probability of a failure that loses none, and that of a loss.
    fn count_loss(&self, step: &Step, weight: f64, tally: &mut CycleTally) -> (f64, f64) {
        if step.p == 0.0 {
            return (0.0, 0.0);
        }
        let (mut losing, each) = (step.latent, step.p / (step.failing + step.latent));
        for ((loss, count), kind) in tally.losses.iter_mut().zip(&self.peril.counts).zip(&self.process.kinds)
        {
            let rate = *count as f64 * kind.per_s;
            *loss += weight * each * rate;
            losing += rate;
        }
        tally.losses[self.process.kinds.len()] += weight * each * step.latent;
        tally.bytes += weight * each * (self.peril.bytes_per_s + step.latent * SECTOR);
        let lost = each * losing;
        ((step.p - lost).max(0.0), lost)
    }

    /// Draws whether a failure that loses no data comes before the next repair, with the factor that corrects the weight. `None` where data
    /// is lost, which without bias ends the cycle.
    fn goes_on(&self, step: &Step, safe: f64, lost: f64, draws: &mut Draws) -> Option<(bool, f64)> {
        if !self.biased {
            let drawn = draws.uniform();
            return if drawn < lost { None } else { Some((drawn < lost + safe, 1.0)) };
        }
        let repaired = 1.0 - step.p;
        let own = if safe > 0.0 { safe / (safe + repaired) } else { 0.0 };
        let forced = safe > 0.0 && self.outstanding() < self.process.of.tolerates;
        let chance = if forced { own.max(BIASED) } else { own };
        match draws.chance(chance) {
            true => Some((true, safe / chance)),
            false if chance < 1.0 => Some((false, repaired / (1.0 - chance))),
            // All failures lose data.
            false => None,
        }
    }

    /// Has a unit fail whose failure loses nothing, each kind equally likely; returns the factor that corrects the weight.
    fn fail(&mut self, draws: &mut Draws) -> f64 {
        let rate = |kind: usize| {
            (self.healthy(kind) - self.peril.counts[kind] as f64).max(0.0) * self.process.kinds[kind].per_s
        };
        let rates: Vec<f64> = (0..self.down.len()).map(rate).collect();
        let all: f64 = rates.iter().sum();
        let possible = rates.iter().filter(|rate| **rate > 0.0).count();
        let balanced = if self.biased { BALANCED } else { 0.0 };
        let chance = |rate: f64| {
            balanced * f64::from(u8::from(rate > 0.0)) / possible as f64 + (1.0 - balanced) * rate / all
        };
        let mut drawn = draws.uniform();
        let kind = rates.iter().position(|rate| {
            drawn -= chance(*rate);
            drawn < 0.0
        });
        let kind = kind.or_else(|| rates.iter().rposition(|rate| *rate > 0.0)).unwrap_or(0);
        let factor = rates[kind] / all / chance(rates[kind]);
        let (unit, corrected) = self.choose(kind, draws);
        self.take(kind, unit, draws);
        factor * corrected
    }

    /// Chooses a unit of a kind whose failure loses nothing, and the factor that corrects the weight. Every other drive is one of a group that
    /// misses most already.
    fn choose(&self, kind: usize, draws: &mut Draws) -> (usize, f64) {
        let is_down = |unit: usize| if kind == 0 { self.lost[unit] > 0 } else { self.down[kind][unit] };
        let is_safe = |unit: &usize| !is_down(*unit) && !self.peril.units[kind][*unit];
        let number = (0..self.down[kind].len()).filter(is_safe).count();
        let any = |draws: &mut Draws| {
            let nth = draws.below(number as u64) as usize;
            (0..self.down[kind].len()).filter(is_safe).nth(nth).expect("one is left")
        };
        let safe_in = |group: u32| -> Vec<usize> {
            self.process.of.groups[group as usize]
                .iter()
                .map(|drive| *drive as usize)
                .filter(is_safe)
                .collect()
        };
        let groups = if kind == 0 && self.biased { self.most_missing() } else { Vec::new() };
        let near: Vec<Vec<usize>> =
            groups.into_iter().map(safe_in).filter(|drives| !drives.is_empty()).collect();
        if near.is_empty() {
            return (any(draws), 1.0);
        }
        let unit = if draws.chance(NEAR) {
            let drives = &near[draws.below(near.len() as u64) as usize];
            drives[draws.below(drives.len() as u64) as usize]
        } else {
            any(draws)
        };
        let each =
            near.iter().filter(|drives| drives.contains(&unit)).map(|drives| 1.0 / drives.len() as f64);
        let own = 1.0 / number as f64;
        (unit, own / ((1.0 - NEAR) * own + NEAR * each.sum::<f64>() / near.len() as f64))
    }

    /// The groups that miss most, while none of them would be lost; none in an array, where all drives are alike.
    fn most_missing(&self) -> Vec<u32> {
        let missing = |group: &u32| self.missing[*group as usize];
        let most = self.touched.iter().map(missing).max().unwrap_or(0);
        if self.process.of.groups.len() == 1 || most >= self.process.of.tolerates {
            return Vec::new();
        }
        self.touched.iter().copied().filter(|group| missing(group) == most).collect()
    }

    /// Has a unit fail.
    fn take(&mut self, kind: usize, unit: usize, draws: &mut Draws) {
        let drives: Vec<u32> = self.process.kinds[kind].drives[unit]
            .iter()
            .copied()
            .filter(|drive| self.lost[*drive as usize] == 0)
            .collect();
        let samples = &self.times.of_kind[kind];
        let time = samples[draws.below(samples.len() as u64) as usize];
        let taken = self.failures.iter().filter(|one| one.spare > 0.0).count();
        let (wait, spare) = match self.process.of.spares {
            None => (self.times.wait_s, 0.0),
            Some(spares) if taken < spares as usize => (self.times.wait_s, self.process.replace_s),
            Some(_) => (self.times.wait_s + self.process.replace_s, 0.0),
        };
        self.down[kind][unit] = true;
        let at = self.failures.len() as u32 + 1;
        drives.iter().for_each(|drive| self.lost[*drive as usize] = at);
        let (left, key) = ((self.process.work)(draws), draws.bits());
        self.failures.push(Failure { kind, unit, drives, wait, left, time, spare, key });
    }
}
