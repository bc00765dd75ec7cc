//! Theory of an array.

use headrace_analytic::Distribution;
use headrace_work::Op;

use super::{ArrayLayout, ArrayPlan, FirstUnit, Queueing, ReadFrom, Stripes};
use crate::block::controller::ControllerSpec;
use crate::block::disk::DiskPlan;
use crate::core::component::Theory;
use crate::core::graph::View;
use crate::core::redundancy::Redundancy;
use crate::core::theory::{Demand, Features, Load, Model};

const INDEPENDENT: &str = crate::block::disk::INDEPENDENT;

/// The greatest common divisor of two numbers (Euclid).
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// An array without redundancy: there are no formulas for others.
pub(super) struct Striped<'p> {
    pub(super) plan: &'p ArrayPlan,
    pub(super) stripes: Stripes,
}

impl ArrayPlan {
    fn striped(&self, view: View) -> Result<Striped<'_>, String> {
        if self.has_front() {
            let (name, what) = (view.path(), if self.cache.is_some() { "a cache" } else { "controllers" });
            return Err(format!("every request goes straight to the disks: `{name}` has {what}"));
        }
        match self.layout {
            ArrayLayout::Striped(stripes) => Ok(Striped { plan: self, stripes }),
            _ => Err(format!(
                "arrays are striped without redundancy: `{}` is {}",
                view.path(),
                self.level.name()
            )),
        }
    }
}

impl ArrayPlan {
    /// Returns true if there is a cache, or a controller, between its hosts and its disks.
    fn has_front(&self) -> bool {
        self.cache.is_some() || self.controllers > 0
    }
}

impl Striped<'_> {
    /// One of its disks, which stands for all.
    fn disk<'g>(&self, view: View<'g>) -> Result<View<'g>, String> {
        let name = view.path();
        let disk = view.uses().next().ok_or_else(|| format!("`{name}` has disks"))?;
        if self.plan.paths > 0 {
            return Err(format!("data crosses no shared link: that of `{name}` does"));
        }
        if !self.plan.copies {
            return Err(format!("the disks of an array are copies of one part: `{name}` lists components"));
        }
        if disk.uses().next().is_some() {
            return Err(format!("arrays are made of disks: `{name}` is made of arrays"));
        }
        Ok(disk)
    }

    fn by_address(&self) -> bool {
        self.plan.queueing == Queueing::ForkJoin && self.stripes.first_unit == FirstUnit::Addressed
    }

    /// Checks that requests reach the disks as the formulas assume.
    pub(super) fn check_load(&self, disk: View, load: &Load) -> Result<(), String> {
        if !self.is_aligned(load) {
            let unit = headrace_units::Bytes(self.stripes.unit);
            return Err(format!(
                "requests begin where a unit of {unit} does or stay within one: those of `{}` do not",
                load.stream
            ));
        }
        if self.by_address() && !self.reaches_every_disk(load) {
            return Err(format!(
                "requests begin on every disk equally often: those of `{}` skip some",
                load.stream
            ));
        }
        if (self.by_address() || disk.addressed()) && !load.uniform {
            return Err(format!("every address is equally likely: those of `{}` are not", load.stream));
        }
        Ok(())
    }

    /// Returns true if requests start at stripe unit boundaries, or never span two units.
    fn is_aligned(&self, load: &Load) -> bool {
        let (align, largest, unit) = (load.align.0, load.sizes.1.0, self.stripes.unit);
        let begins = self.stripes.first_unit == FirstUnit::FirstDisk || align.is_multiple_of(unit);
        begins || (largest <= align && unit.is_multiple_of(align))
    }

    /// Returns true if the units at which requests can start lie on every disk, or each request covers all disks.
    fn reaches_every_disk(&self, load: &Load) -> bool {
        let (units, stripe) =
            ((load.align.0 / self.stripes.unit).max(1), self.stripes.unit * self.stripes.disks);
        let whole_stripes = load.kinds.iter().all(|(_, _, bytes)| bytes.is_multiple_of(stripe));
        whole_stripes || common_divisor(units, self.stripes.disks) == 1
    }

    /// Returns the distribution of the time for all parts of a request, the maximum of the parts, in ms.
    fn slowest(&self, disk: View, op: Op, bytes: u64) -> Result<Distribution, String> {
        let parts = self.stripes.part_kinds(bytes).into_iter();
        let distributions: Result<Vec<(u32, Distribution)>, String> =
            parts.map(|(many, part)| Ok((many, disk.service(op, part)?))).collect();
        Ok(Distribution::largest(&distributions?))
    }

    /// The work that a request brings the busiest disk, in ms.
    fn work_ms(&self, disk: View, op: Op, bytes: u64) -> Result<f64, String> {
        let parts = self.stripes.part_kinds(bytes);
        if self.stripes.first_unit == FirstUnit::FirstDisk {
            return Ok(disk.service(op, parts[0].1)?.mean());
        }
        let works =
            parts.into_iter().map(|(many, part)| Ok(f64::from(many) * disk.service(op, part)?.mean()));
        Ok(works.sum::<Result<f64, String>>()? / self.stripes.disks as f64)
    }

    /// A queue for each disk, each with its share of requests that stay within one unit.
    fn each_disk(&self, disk: View, load: &Load) -> Result<Model, String> {
        let distribution = load.mixed(|op, bytes| disk.service(op, bytes))?;
        let share = if self.by_address() { 1.0 / self.stripes.disks as f64 } else { 1.0 };
        let mild = disk.addressed().then_some(INDEPENDENT);
        Ok(Model::Single { distribution, share, formula: "M/G/1 for each disk with its share", mild })
    }

    fn forked(&self, disk: View, load: &Load) -> Result<Model, String> {
        let works = load.kinds.iter().map(|(p, op, bytes)| Ok(p * self.work_ms(disk, *op, *bytes)?));
        let work_ms = works.sum::<Result<f64, String>>()?;
        let [(_, op, bytes)] = load.kinds[..] else {
            let fails = "all requests to a fork-join array are of one kind and size".to_owned();
            return Ok(Model::Busy { work_ms, fails });
        };
        let parts = self.stripes.part_kinds(bytes);
        let branches: u32 = parts.iter().map(|(many, _)| many).sum();
        let share = if self.by_address() { f64::from(branches) / self.stripes.disks as f64 } else { 1.0 };
        Ok(Model::Forked {
            distribution: disk.service(op, parts[0].1)?,
            branches,
            share,
            work_ms,
            kind: (op, bytes),
        })
    }

    pub(super) fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let disk = self.disk(view)?;
        // Whether the disks have a formula at all is asked first: it says more than how requests fall on them.
        disk.service(load.kinds[0].1, load.kinds[0].2)?;
        self.check_load(disk, load)?;
        if self.plan.queueing == Queueing::SplitMerge {
            let distribution = load.mixed(|op, bytes| self.slowest(disk, op, bytes))?;
            let mild = disk.addressed().then_some(INDEPENDENT);
            return Ok(Model::Single {
                distribution,
                share: 1.0,
                formula: "M/G/1 of the slowest part (split-merge)",
                mild,
            });
        }
        let splits = load.kinds.iter().any(|(_, _, bytes)| self.stripes.parts_of(*bytes) > 1);
        if splits { self.forked(disk, load) } else { self.each_disk(disk, load) }
    }
}

impl ArrayPlan {
    /// Returns true if reads go to the copy that seems fastest then.
    pub(super) fn chooses_copies(&self) -> bool {
        matches!(self.layout, ArrayLayout::Mirrored(_)) && self.read_from != ReadFrom::RoundRobin
    }
}

/// That a controller's `command` counts for the host and for each disk.
fn commands_twice(controller: View) -> Option<String> {
    let spec = controller
        .plan::<ControllerSpec>()
        .filter(|spec| spec.command.0 > 0 && spec.disk_command.is_none())?;
    Some(format!(
        "`{}`: `command` ({}) applies to each host command and again to each disk command; to change the latter, set `disk_command`",
        controller.path(),
        spec.command
    ))
}

impl Theory for ArrayPlan {
    fn features(&self) -> Features {
        Features {
            addressed: self.by_address(),
            spreads: true,
            changes: self.rebuilds_at_once() || self.scrub.is_some() || self.evict_slow.is_some(),
            fills: Some(self.cache.as_ref().map_or(0, |cache| cache.size)),
            ..Features::default()
        }
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        self.striped(view)?.model(view, load)
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        self.asked(view, load)
    }

    fn in_order(&self, view: View, load: &Load) -> Result<(), String> {
        let no = Err(format!("`{}` may answer requests out of order", view.path()));
        if self.paths > 0 || !self.copies || self.striped(view).is_err() {
            return no;
        }
        let disk = view.uses().next().expect("an array has at least one disk");
        if self.queueing == Queueing::SplitMerge || load.alone {
            return disk.in_order(&Load { alone: true, ..load.clone() }).or(no);
        }
        // Answers may come in order, but disks do not: one may be several requests ahead of another, and a recursion would
        // charge that work to the wrong time.
        no
    }

    fn scales(&self, view: View, load: &Load) -> bool {
        // Writes that change the same parity wait for each other, and no disk shows it. The more writes come, the more find their region
        // marked in the bitmap.
        // The longer reads take, the more of them are sent twice; the more come, the more are read from a faster copy.
        let marks = (self.bitmap.is_some() && load.writes()) || self.hedge.is_some() || self.chooses_copies();
        let waits = marks || (matches!(self.layout, ArrayLayout::Parity(_)) && load.writes());
        !waits && !self.has_front() && view.uses().all(|used| used.scales(load))
    }

    fn piece(&self, view: View) -> Option<u64> {
        let controller = view.uses().find_map(View::plan::<ControllerSpec>);
        let in_pieces = view.uses().next().and_then(View::plan::<DiskPlan>).is_some_and(DiskPlan::in_pieces);
        controller.filter(|_| in_pieces).map(|controller| controller.transfer.0)
    }

    fn stripe(&self, _: View) -> Option<(headrace_units::Bytes, u64)> {
        let data = match &self.layout {
            ArrayLayout::Striped(stripes) => stripes.disks,
            ArrayLayout::Mirrored(_) => return None,
            ArrayLayout::Parity(parity) => parity.data(),
        };
        (!self.has_front()).then(|| (headrace_units::Bytes(data * self.layout.unit()), data))
    }

    fn redundancy(&self, view: View) -> Result<Option<Redundancy>, String> {
        self.protection(view).map(Some)
    }

    fn note(&self, view: View, load: &Load) -> Option<String> {
        if self.read_from == ReadFrom::Nearest && !view.uses().any(View::addressed) {
            return Some(format!(
                "`read_from: nearest` of `{}` has no effect: its devices have no positions, or random ones (`positioning: coupled` or \
                 `independent`)",
                view.path()
            ));
        }
        if let Some(note) = self.cache.as_ref().and_then(|cache| cache.note(view.path())) {
            return Some(note);
        }
        // How many of its clients wait at one disk is not known here.
        let of_disks = view.uses().find_map(|disk| disk.note(&Load { clients: 1, ..load.clone() }));
        of_disks.or_else(|| view.uses().find_map(commands_twice))
    }
}

impl ArrayPlan {
    /// Returns true if the time that a request takes depends on its address even where its disks' does not.
    fn by_address(&self) -> bool {
        match self.layout {
            ArrayLayout::Striped(stripes) if self.cache.is_none() && self.controllers == 0 => {
                Striped { plan: self, stripes }.by_address()
            }
            _ => true,
        }
    }

    /// Returns true if a disk that failed before the run is rebuilt.
    fn rebuilds_at_once(&self) -> bool {
        let rebuilds = self.spares > 0 || self.distributed;
        rebuilds && self.failed.contains(&true)
    }

    /// Returns true if its cache lies in the memory of its controllers.
    pub(crate) fn shares_cache(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.shared)
    }
}
