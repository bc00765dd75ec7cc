//! What a request to a striped array asks of its disks and of the link to them: each disk its share.

use headrace_analytic::Law;
use headrace_work::Op;

use super::model::Striped;
use super::{FirstUnit, Queueing};
use crate::graph::View;
use crate::theory::{Demand, Load, Model, Server};

/// The parts that come to one disk: (mean number of a request's parts, operation, bytes).
type Parts = Vec<(f64, Op, u64)>;

const SPREAD: &str =
    "parts of one request cross the link together: they may come apart, each when its disk is done";

impl Striped<'_> {
    /// The demands of an array without redundancy.
    pub(super) fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        if self.plan.queueing == Queueing::SplitMerge {
            return self.lockstep(view, load);
        }
        let disks: Vec<View> = view.uses().take(self.stripes.disks as usize).collect();
        self.check_load(disks[0], load)?;
        let beside = self.parts_of(load);
        let mut demands = Vec::new();
        for (at, disk) in disks.iter().enumerate() {
            demands.extend(part_demands(*disk, load, &self.parts_at(at, load), beside)?);
        }
        if self.plan.paths > 0 {
            demands.extend(self.crossing(view, load, beside)?);
        }
        demands.extend(self.joins(view, disks[0], load)?);
        Ok(demands)
    }

    /// In lockstep the array is one server.
    fn lockstep(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        match self.model(view, load)? {
            Model::Single { law, mild, .. } => {
                let fails = mild.map(str::to_owned);
                Ok(vec![Demand { fails, ..Demand::one(view.id(), Server::SINGLE, law) }])
            }
            Model::Forked { .. } => Err("requests do not overlap".to_owned()),
            Model::Busy { fails, .. } => Err(fails),
        }
    }

    /// The mean number of parts of a request.
    fn parts_of(&self, load: &Load) -> f64 {
        load.kinds.iter().map(|(p, _, bytes)| p * self.stripes.parts_of(*bytes) as f64).sum()
    }

    /// The parts that come to disk number `at`: the first of each request to the first disk, or any to any.
    fn parts_at(&self, at: usize, load: &Load) -> Parts {
        let mut parts = Parts::new();
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

    /// The data of a request crosses the link as if all of it came at once.
    fn crossing(&self, view: View, load: &Load, beside: f64) -> Result<Vec<Demand>, String> {
        let paths = self.plan.paths;
        let fails = (beside > 1.0).then(|| SPREAD.to_owned());
        let mut crossing = Vec::new();
        for path in view.uses().skip(view.uses().count() - paths) {
            // Paths take turns.
            let share = path.demands(load)?.into_iter().map(|demand| demand.times(1.0 / paths as f64, 1.0));
            crossing.extend(
                share.map(|demand| Demand { fails: fails.clone().or(demand.fails.clone()), ..demand }),
            );
        }
        Ok(crossing)
    }

    /// What waiting for the last part adds, for each kind of request that has several.
    fn joins(&self, view: View, disk: View, load: &Load) -> Result<Vec<Demand>, String> {
        let split = load.kinds.iter().filter(|(_, _, bytes)| self.stripes.parts_of(*bytes) > 1);
        let join = |(p, op, bytes): &(f64, Op, u64)| {
            let kinds = self.stripes.part_kinds(*bytes);
            let laws = kinds.iter().map(|(many, part)| Ok((*many, law_of(disk, load, *op, *part)?)));
            let laws = laws.collect::<Result<Vec<_>, String>>()?;
            let (part, branches) = (laws[0].1.clone(), laws.iter().map(|(many, _)| many).sum());
            let more = (last_of(&laws) - part.mean()).max(0.0);
            let one = Demand::one(view.id(), Server::Join { branches, part }, Law::Fixed(more));
            Ok(one.times(*p, 1.0))
        };
        split.map(join).collect()
    }
}

/// The mean of the largest of independent times: of alike exponential ones the harmonic number times their mean.
fn last_of(laws: &[(u32, Law)]) -> f64 {
    match laws {
        [(many, law)] if law.is_exponential() => law.mean() * headrace_analytic::fork_join::harmonic(*many),
        [(_, Law::Fixed(time)), ..] if laws.iter().all(|(_, law)| matches!(law, Law::Fixed(_))) => *time,
        _ => Law::largest(laws).mean(),
    }
}

/// Parts of one operation and size, as one.
fn alike_together(mut parts: Parts) -> Parts {
    parts.sort_by_key(|(_, op, bytes)| (*op == Op::Write, *bytes));
    parts.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)).map(sum).collect()
}

fn sum(alike: &[(f64, Op, u64)]) -> (f64, Op, u64) {
    (alike.iter().map(|part| part.0).sum(), alike[0].1, alike[0].2)
}

/// What these parts ask of the node that they come to.
fn part_demands(to: View, load: &Load, parts: &Parts, beside: f64) -> Result<Vec<Demand>, String> {
    let visits: f64 = parts.iter().map(|(many, ..)| many).sum();
    if visits == 0.0 {
        return Ok(Vec::new());
    }
    let kinds = parts.iter().map(|(many, op, bytes)| (many / visits, *op, *bytes)).collect();
    let demands = to.demands(&Load { kinds, ..load.clone() })?;
    Ok(demands.into_iter().map(|demand| demand.times(visits, beside)).collect())
}

/// How long one part holds the disk that it comes to.
fn law_of(disk: View, load: &Load, op: Op, bytes: u64) -> Result<Law, String> {
    let demands = disk.demands(&Load { kinds: vec![(1.0, op, bytes)], ..load.clone() })?;
    match &demands[..] {
        [demand] if demand.server != Server::Delay => Ok(demand.law.clone()),
        _ => Err(format!("a request is split over disks: `{}` is no single one", disk.path())),
    }
}
