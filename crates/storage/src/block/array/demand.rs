//! Demand of a request to a striped array on its disks and on the link to them: each disk its share.

use std::collections::BTreeMap;

use headrace_analytic::Distribution;
use headrace_units::Nanos;
use headrace_work::{NodeId, Op};

use super::model::Striped;
use super::{ArrayLayout, ArrayPlan, FirstUnit, Queueing};
use crate::block::controller::ControllerSpec;
use crate::core::graph::View;
use crate::core::theory::Phase;
use crate::core::theory::{Demand, Load, Model, QueueOrder, ServiceKind};

/// The parts that come to one disk: (mean number of a request's parts, operation, bytes).
pub(super) type DiskShares = Vec<(f64, Op, u64)>;

const SPREAD: &str =
    "parts of one request cross the link together: they may come apart, each when its disk is done";

/// Largest number of stripe units of a request for which formulas are computed: they go through all of them.
const MOST_UNITS: u64 = 1 << 16;

/// Average accesses of one kind of request: (mean number, operation, bytes).
pub(super) struct AccessPattern {
    /// Probability of the kind.
    pub p: f64,
    pub accesses: DiskShares,
    /// Probability that parity or lost data is computed from this number of bytes.
    pub computed: BTreeMap<u64, f64>,
}

impl ArrayPlan {
    /// Returns the demand of a request on the disks, on the path to them, and on controllers.
    pub(super) fn asked(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        if self.cache.is_some() {
            return Err(format!("every request goes straight to the disks: `{}` has a cache", view.path()));
        }
        let units = |(_, _, bytes): &(f64, Op, u64)| bytes.div_ceil(self.layout.unit());
        if let Some(many) = load.kinds.iter().map(units).max().filter(|many| *many > MOST_UNITS) {
            let name = view.path();
            return Err(format!(
                "a request has at most {MOST_UNITS} stripe units: one of `{name}` has {many}"
            ));
        }
        let (mut demands, patterns) = match self.layout {
            ArrayLayout::Striped(stripes) => Striped { plan: self, stripes }.demands(view, load)?,
            _ => self.redundant(view, load)?,
        };
        if demands.iter().any(|demand| demand.node == view.id()) || self.chooses_copies() {
            self.check_alike(view, load)?;
        }
        let mut way = view.uses().skip(self.layout.disks() as usize + self.spares);
        // Paths take turns.
        for path in way.by_ref().take(self.paths) {
            let found = path_transfer(path, load, &patterns)?.into_iter();
            demands.extend(found.map(|demand| demand.times(1.0 / self.paths as f64, 1.0)));
        }
        let controllers: Vec<View> = way.collect();
        let active = self.access.active(controllers.len());
        for controller in &controllers[..active] {
            let found = controlling(*controller, load, &patterns)?.into_iter();
            let computed = |pattern: &AccessPattern| (pattern.p, pattern.computed.clone());
            let computed: Vec<_> = patterns.iter().map(computed).collect();
            let parity = controller
                .plan::<ControllerSpec>()
                .and_then(|spec| spec.parity_demand(*controller, &computed));
            let all = found.chain(parity);
            demands.extend(all.map(|demand| demand.times(1.0 / active as f64, 1.0)));
        }
        Ok(demands)
    }
}

impl ArrayPlan {
    /// Refuses requests of several parts if the disks are unlike: the last part is then that of a slow disk, and formulas know alike ones. Of
    /// unlike copies, that which is chosen depends on the load.
    fn check_alike(&self, view: View, load: &Load) -> Result<(), String> {
        let disks: Vec<View> = view.uses().take(self.layout.disks() as usize).collect();
        let others = if self.copies && !self.chooses_copies() { &[] } else { &disks[1..] };
        for (_, op, bytes) in &load.kinds {
            let part = (*bytes).min(self.layout.unit());
            let mean = |disk: View| Ok::<_, String>(distribution_of(disk, load, *op, part)?.mean());
            let first = mean(disks[0])?;
            for disk in others {
                let time = mean(*disk)?;
                if (time - first).abs() > 1e-9 * first {
                    let [first, time] = [first, time].map(Nanos::from_ms);
                    let (one, name) = (disks[0].path(), view.path());
                    return Err(format!(
                        "the disks of an array are alike: of `{name}`, `{one}` takes {first} for a part and `{}` {time}",
                        disk.path()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Returns the demand of a request and of its disk accesses on a controller.
fn controlling(controller: View, load: &Load, patterns: &[AccessPattern]) -> Result<Vec<Demand>, String> {
    let mut demands = controller.demands(load)?;
    for AccessPattern { p, accesses, .. } in patterns {
        for &(many, op, bytes) in accesses {
            let one = Load { kinds: vec![(1.0, op, bytes)], ..load.clone() };
            let found = controller.carries(&one, (Phase::Request, 0, 0))?.into_iter();
            demands.extend(found.map(|demand| demand.times(p * many, 1.0)));
        }
    }
    Ok(demands)
}

/// Demand of a request on a node along the path: the visits with their probabilities and distributions, and the rest as in `Demand`.
type Held = (Demand, Vec<(f64, Distribution)>);

/// Visits to a node that count as one: all those of a request or, if the node ranks them, each separately, by the operation of its access
/// and its number there.
type VisitKey = Option<(bool, usize)>;

/// The accesses of a request cross the way to the disks as if all of them came at once.
fn path_transfer(path: View, load: &Load, patterns: &[AccessPattern]) -> Result<Vec<Demand>, String> {
    let mut held: BTreeMap<(NodeId, VisitKey), Held> = BTreeMap::new();
    let (mut delay, mut spreads) = (0.0_f64, false);
    for AccessPattern { p, accesses, .. } in patterns {
        let mut works: BTreeMap<(NodeId, VisitKey), f64> = BTreeMap::new();
        spreads |= accesses.iter().map(|(many, ..)| many).sum::<f64>() > 1.0;
        for &(many, op, bytes) in accesses {
            let one = Load { kinds: vec![(1.0, op, bytes)], ..load.clone() };
            for (nth, demand) in path.demands(&one)?.into_iter().enumerate() {
                let apart = match demand.server {
                    ServiceKind::Delay => {
                        delay = delay.max(demand.work_ms());
                        continue;
                    }
                    ServiceKind::Queue { order: QueueOrder::Ranked(_), .. } => Some((op == Op::Write, nth)),
                    ServiceKind::Queue { .. }
                    | ServiceKind::Join { .. }
                    | ServiceKind::LastWait(_)
                    | ServiceKind::Places(_) => None,
                };
                let visit = (demand.node, apart);
                *works.entry(visit).or_default() += many * demand.work_ms();
                held.entry(visit).or_insert((demand, Vec::new()));
            }
        }
        for (visit, work) in works {
            held.get_mut(&visit).expect("it has just been put there").1.push((*p, Distribution::Fixed(work)));
        }
    }
    let queue = |(demand, distributions): Held| {
        let visits: f64 = distributions.iter().map(|(p, _)| p).sum();
        let distribution = Distribution::mixed(
            distributions.into_iter().map(|(p, distribution)| (p / visits, distribution)).collect(),
        );
        let fails = demand.fails.iter().cloned().chain(spreads.then(|| SPREAD.to_owned())).collect();
        Demand { distribution, visits, fails, ..demand }
    };
    let late = (delay > 0.0).then(|| Demand::one(path.id(), ServiceKind::Delay, Distribution::Fixed(delay)));
    Ok(held.into_values().map(queue).chain(late).collect())
}

impl Striped<'_> {
    /// Returns the demand of an array without redundancy on its disks, and the accesses.
    fn demands(&self, view: View, load: &Load) -> Result<(Vec<Demand>, Vec<AccessPattern>), String> {
        if self.plan.queueing == Queueing::SplitMerge {
            return Ok((self.lockstep(view, load)?, self.patterns(load)));
        }
        let disks: Vec<View> = view.uses().take(self.stripes.disks as usize).collect();
        self.check_load(disks[0], load)?;
        let beside = self.parts_of(load);
        let mut demands = Vec::new();
        for (at, disk) in disks.iter().enumerate() {
            demands.extend(part_demands(*disk, load, &self.parts_at(at, load), beside)?);
        }
        demands.extend(self.joins(view, disks[0], load)?);
        Ok((demands, self.patterns(load)))
    }

    fn patterns(&self, load: &Load) -> Vec<AccessPattern> {
        let pattern = |&(p, op, bytes): &(f64, Op, u64)| {
            let parts = self.stripes.part_kinds(bytes).into_iter();
            let accesses = parts.map(|(many, part)| (f64::from(many), op, part)).collect();
            AccessPattern { p, accesses, computed: BTreeMap::new() }
        };
        load.kinds.iter().map(pattern).collect()
    }

    /// In lockstep the array is one server.
    fn lockstep(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        match self.model(view, load)? {
            Model::Single { distribution, mild, .. } => {
                Ok(vec![Demand { mild, ..Demand::one(view.id(), ServiceKind::SINGLE, distribution) }])
            }
            Model::Several { .. } | Model::Forked { .. } => Err("requests do not overlap".to_owned()),
            Model::Busy { fails, .. } => Err(fails),
        }
    }

    /// The mean number of parts of a request.
    fn parts_of(&self, load: &Load) -> f64 {
        load.kinds.iter().map(|(p, _, bytes)| p * self.stripes.parts_of(*bytes) as f64).sum()
    }

    /// The parts that come to disk number `at`: the first of each request to the first disk, or any to any.
    fn parts_at(&self, at: usize, load: &Load) -> DiskShares {
        let mut parts = DiskShares::new();
        for (p, op, bytes) in &load.kinds {
            let sizes = self.stripes.part_sizes(*bytes);
            match self.stripes.first_unit {
                FirstUnit::FirstDisk => parts.extend(sizes.get(at).map(|part| (*p, *op, *part))),
                FirstUnit::Addressed => {
                    let share = p / self.stripes.disks as f64;
                    parts.extend(sizes.iter().map(|part| (share, *op, *part)));
                }
            }
        }
        alike_together(parts)
    }

    /// Returns the wait for the last part, for each kind of request that has several.
    fn joins(&self, view: View, disk: View, load: &Load) -> Result<Vec<Demand>, String> {
        let split = load.kinds.iter().filter(|(_, _, bytes)| self.stripes.parts_of(*bytes) > 1);
        let join = |(p, op, bytes): &(f64, Op, u64)| {
            let kinds = self.stripes.part_kinds(*bytes);
            let distributions =
                kinds.iter().map(|(many, part)| Ok((*many, distribution_of(disk, load, *op, *part)?)));
            let distributions = distributions.collect::<Result<Vec<_>, String>>()?;
            let (part, branches) =
                (distributions[0].1.clone(), distributions.iter().map(|(many, _)| many).sum());
            let more = (last_of(&distributions) - part.mean()).max(0.0);
            let largest = kinds.iter().map(|(_, part)| *part).max().unwrap_or(*bytes);
            Ok(wait_for_last(view, disk, load, (*op, largest), (branches, part, more)).times(*p, 1.0))
        };
        split.map(join).collect()
    }
}

/// The mean of the largest of independent times: of alike exponential ones the harmonic number times their mean.
pub(super) fn last_of(distributions: &[(u32, Distribution)]) -> f64 {
    match distributions {
        [(many, distribution)] if distribution.is_exponential() => {
            distribution.mean() * headrace_analytic::fork_join::harmonic(*many)
        }
        [(_, Distribution::Fixed(time)), ..]
            if distributions
                .iter()
                .all(|(_, distribution)| matches!(distribution, Distribution::Fixed(_))) =>
        {
            *time
        }
        _ => Distribution::largest(distributions).mean(),
    }
}

/// Parts of one operation and size, as one.
pub(super) fn alike_together(mut parts: DiskShares) -> DiskShares {
    parts.sort_by_key(|(_, op, bytes)| (*op == Op::Write, *bytes));
    parts.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)).map(sum).collect()
}

/// Largest number of access sizes for which formulas are computed. Of more, neighbouring sizes are merged into their mean.
pub(super) const MOST_SIZES: usize = 16;

/// Merges parts of one operation and size and, if there are many sizes, neighbouring ones.
pub(super) fn few_sizes(parts: DiskShares) -> DiskShares {
    let parts = alike_together(parts);
    let of_one_op = parts.chunk_by(|a, b| a.1 == b.1);
    of_one_op.flat_map(|all| all.chunks(all.len().div_ceil(MOST_SIZES)).map(mean_size)).collect()
}

fn mean_size(neighbours: &[(f64, Op, u64)]) -> (f64, Op, u64) {
    let (many, op, bytes) = sum(neighbours);
    if neighbours.len() == 1 {
        return (many, op, bytes);
    }
    let all: f64 = neighbours.iter().map(|(many, _, bytes)| many * *bytes as f64).sum();
    (many, op, libm::round(all / many) as u64)
}

fn sum(alike: &[(f64, Op, u64)]) -> (f64, Op, u64) {
    (alike.iter().map(|part| part.0).sum(), alike[0].1, alike[0].2)
}

/// Returns the demand of these parts on the node that receives them.
pub(super) fn part_demands(
    to: View,
    load: &Load,
    parts: &DiskShares,
    beside: f64,
) -> Result<Vec<Demand>, String> {
    let visits: f64 = parts.iter().map(|(many, ..)| many).sum();
    if visits == 0.0 {
        return Ok(Vec::new());
    }
    let kinds = parts.iter().map(|(many, op, bytes)| (many / visits, *op, *bytes)).collect();
    let demands = to.demands(&Load { kinds, ..load.clone() })?;
    Ok(demands.into_iter().map(|demand| demand.times(visits, beside)).collect())
}

/// Returns the distribution of the time for which one part holds its disk, in ms. Where that is several queues, it is the time on the way
/// through them.
pub(super) fn distribution_of(disk: View, load: &Load, op: Op, bytes: u64) -> Result<Distribution, String> {
    let demands = disk.demands(&Load { kinds: vec![(1.0, op, bytes)], ..load.clone() })?;
    Ok(match &demands[..] {
        [demand] if demand.server != ServiceKind::Delay => demand.distribution.clone(),
        several => {
            Distribution::Fixed(several.iter().map(|demand| demand.work_ms() / demand.parallelism).sum())
        }
    })
}

/// Returns the wait for the last part of a request. Without queueing, that part takes `more` ms longer than the mean. At disks that are several
/// queues, the largest wait of the parts is added; none is where a part is answered before it comes to these queues.
pub(super) fn wait_for_last(
    view: View,
    disk: View,
    load: &Load,
    (op, bytes): (Op, u64),
    (branches, part, more): (u32, Distribution, f64),
) -> Demand {
    let more = Distribution::Fixed(more);
    let kinds = vec![(1.0, op, bytes)];
    let demands = disk.demands(&Load { kinds, ..load.clone() }).unwrap_or_default();
    if demands.len() == 1 {
        return Demand::one(view.id(), ServiceKind::Join { branches, part }, more);
    }
    let fails = format!(
        "parts of a request wait in one queue each: at `{}` they wait in several (the last waits as at the longest)",
        disk.path()
    );
    let waits = |demand: &Demand| {
        demand.parallelism.is_finite()
            && matches!(demand.server, ServiceKind::Queue { order: QueueOrder::Apart, .. })
    };
    let server = if demands.iter().any(waits) { ServiceKind::LastWait(branches) } else { ServiceKind::Delay };
    Demand { fails: vec![fails], ..Demand::one(view.id(), server, more) }
}
