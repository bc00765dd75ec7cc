//! Theory of a disk.

use headrace_analytic::Distribution;
use headrace_units::Bytes;
use headrace_work::Op;

use super::layout::SECTOR;
use super::sampled::{SAMPLES, sampled};
use super::{CacheSpec, DiskPlan, LONGEST_ACCESS, Positioning, Writes};
use crate::core::component::Theory;
use crate::core::graph::View;
use crate::core::theory::{Demand, Features, Load, Model, ServiceKind};

pub(crate) const INDEPENDENT: &str = "service times are independent: here one seek begins where the last ended \
                                      (the mean is hardly touched: successive seek distances are weakly correlated)";

impl DiskPlan {
    /// Returns true if requests can be answered without the platter.
    fn caches(&self) -> bool {
        self.spec.positioning == Positioning::Mechanical && self.numbers.cache.is_some()
    }

    /// Returns the bytes of writes that can be answered before they are on the platter.
    fn room_for_writes(&self) -> u64 {
        let writes_back = |cache: &&CacheSpec| cache.writes == Writes::Back;
        let cache = self.numbers.cache.as_ref().filter(|_| self.caches()).filter(writes_back);
        cache.map_or(0, |cache| cache.write_room.unwrap_or(cache.segment_size).0)
    }

    /// Returns the distribution of the service time of a load's requests, in ms.
    fn held(&self, view: View, load: &Load) -> Result<Distribution, String> {
        self.service(view, load.kinds[0].1, load.kinds[0].2)?;
        if self.is_addressed() && !load.uniform {
            return Err(format!("every address is equally likely: those of `{}` are not", load.stream));
        }
        load.mixed(|op, bytes| self.service(view, op, bytes))
    }
}

impl DiskPlan {
    /// What a random command asks of a drive that is simulated in full: the time from one to the next where another always waits, as the
    /// drive itself takes it, with its interface, cache, read-ahead and destaging.
    fn as_sampled(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        if !load.uniform {
            return Err(format!("every address is equally likely: those of `{}` are not", load.stream));
        }
        if load.kinds.iter().any(|(_, _, bytes)| *bytes > LONGEST_ACCESS) {
            let most = Bytes(LONGEST_ACCESS);
            return Err(format!("commands are of at most {most}: those of `{}` are larger", load.stream));
        }
        let commands = (load.kinds.clone(), load.align.0.max(SECTOR));
        let distribution = self.samples.of(commands, |commands| sampled(self, commands));
        let how = match self.queue().keeps_order() {
            true => "service depends on what the drive did before, and on how long it was idle",
            false => {
                "it chooses among the commands that wait, and sustains more than in the order in which they come"
            }
        };
        let fails = format!(
            "service times are independent: of `{}` they are not: {how} (their distribution is that of {SAMPLES} random commands, one \
             directly after the other)",
            view.path()
        );
        Ok(vec![Demand { fails: vec![fails], ..Demand::one(view.id(), ServiceKind::SINGLE, distribution) }])
    }
}

impl Theory for DiskPlan {
    fn features(&self) -> Features {
        // The times of a mechanism follow from where the platter is.
        let can_be_slow = self.spec.positioning != Positioning::Mechanical;
        let sector = Some(Bytes(SECTOR));
        Features {
            addressed: self.is_addressed(),
            sector,
            can_be_slow,
            gathers: true,
            is_drive: true,
            fills: Some(self.room_for_writes()),
            ..Features::default()
        }
    }

    fn service(&self, view: View, op: Op, bytes: u64) -> Result<Distribution, String> {
        if !self.queue().keeps_order() {
            return Err(format!(
                "requests are served in the order in which they come: `{}` chooses",
                view.path()
            ));
        }
        if self.caches() {
            return Err(format!("every request goes to a platter: `{}` has a cache", view.path()));
        }
        Ok(self.services.of((op, bytes), |_| self.mechanism.service_distribution(op, bytes)))
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let mild = self.is_addressed().then_some(INDEPENDENT);
        Ok(Model::Single { distribution: self.held(view, load)?, share: 1.0, formula: "M/G/1", mild })
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        if self.spec.positioning == Positioning::Mechanical {
            return self.as_sampled(view, load);
        }
        let mild = self.is_addressed().then_some(INDEPENDENT);
        Ok(vec![Demand { mild, ..Demand::one(view.id(), ServiceKind::SINGLE, self.held(view, load)?) }])
    }

    fn in_order(&self, view: View, _: &Load) -> Result<(), String> {
        if self.queue().keeps_order() {
            return Ok(());
        }
        Err(format!("`{}` may answer requests out of order", view.path()))
    }

    /// A cache answers some requests and not others, and a longer queue leaves a drive that chooses more to choose from.
    fn scales(&self, _: View, load: &Load) -> bool {
        // One after another, requests wait for their turn of the platter unless they come close together.
        self.queue().keeps_order() && !self.caches() && load.uniform
    }

    fn note(&self, view: View, load: &Load) -> Option<String> {
        let sampled = matches!(self.spec.positioning, Positioning::Coupled | Positioning::Independent);
        if load.clients > 1 && self.queue().keeps_order() && load.uniform {
            let is_mechanical = self.spec.positioning == Positioning::Mechanical;
            let mechanical = if is_mechanical { "" } else { "`positioning: mechanical`, " };
            return Some(format!(
                "`{}` serves commands in the order in which they come, so more of them in flight make it no faster; to have it choose, \
                 give {mechanical}`queue_depth: 32` and `scheduling: sptf`",
                view.path()
            ));
        }
        if sampled && !load.uniform && !load.traced {
            return Some(format!(
                "positions are random (`positioning: coupled` or `independent`): the addresses of `{}` are ignored",
                load.stream
            ));
        }
        let matters = !load.uniform || load.traced || load.writes();
        if self.caches() || !matters {
            return None;
        }
        let whose = if self.numbers.cache.is_none() {
            "disks are simulated without a cache, as the device file describes none"
        } else {
            "disks are simulated without a cache (`positioning: mechanical` has one)"
        };
        Some(format!(
            "{whose}: each sequential read waits for the rotation, and each write completes on the medium"
        ))
    }
}

impl DiskPlan {
    /// Returns true if positions on the platter count.
    fn is_addressed(&self) -> bool {
        matches!(self.spec.positioning, Positioning::Addressed | Positioning::Mechanical)
    }

    /// Returns true if its data goes a piece at a time over the bus of a controller.
    pub(crate) fn in_pieces(&self) -> bool {
        self.spec.positioning == Positioning::Mechanical
    }
}
