//! Robot arms: each carries one cartridge at a time, and stands where it put the last one.

use std::cell::RefCell;
use std::collections::BTreeSet;

use headrace_kernel::{Resource, Sim};
use headrace_units::Nanos;

use super::spec::{DriveGroup, TapeLibrarySpec};

/// Arms of all groups. Places are given as travel times from the drives, which are at zero.
pub(super) struct Arms<'m> {
    sim: &'m Sim<'m>,
    spec: &'m TapeLibrarySpec,
    pub groups: Vec<Resource<'m>>,
    /// The arms that have failed, by their number among those of all groups.
    broken: RefCell<BTreeSet<u32>>,
    /// Where the unused arms of each group stand, if the library has cells.
    stand: RefCell<Vec<Vec<Nanos>>>,
}

impl<'m> Arms<'m> {
    pub fn new(sim: &'m Sim<'m>, spec: &'m TapeLibrarySpec) -> Self {
        let groups = spec.groups.iter().map(|group| Resource::fcfs(sim, u64::from(group.arms))).collect();
        let standing =
            |group: &DriveGroup| vec![Nanos::ZERO; spec.cells.as_ref().map_or(0, |_| group.arms) as usize];
        let stand = RefCell::new(spec.groups.iter().map(standing).collect());
        Self { sim, spec, groups, broken: RefCell::default(), stand }
    }

    /// Waits for an arm, which takes `prepare`, goes to a cartridge and carries it to another place. Gives the time since it was had.
    pub async fn carry(&'m self, group: usize, (from, to): (Nanos, Nanos), prepare: Nanos) -> Nanos {
        let arm = self.groups[group].acquire(()).await;
        let time = prepare + self.spec.robot_move + self.travel(group, from, to);
        self.sim.delay(time).await;
        if self.spec.cells.is_some() {
            self.stand.borrow_mut()[group].push(to);
        }
        drop(arm);
        time
    }

    /// Returns how long the way takes for the arm that stands nearest to the cartridge. That one leaves its place.
    fn travel(&self, group: usize, from: Nanos, to: Nanos) -> Nanos {
        let stand = &mut self.stand.borrow_mut()[group];
        let nearest = (0..stand.len()).min_by_key(|at| stand[*at].0.abs_diff(from.0));
        let here = nearest.map_or(from, |at| stand.swap_remove(at));
        Nanos(here.0.abs_diff(from.0) + from.0.abs_diff(to.0))
    }

    /// Returns true if a group has an arm that works, none is in use, and nobody waits for one.
    pub fn is_idle(&self, group: usize) -> bool {
        let arms = &self.groups[group];
        let usage = arms.usage();
        arms.servers() > 0 && usage.busy.value() + usage.queue.value() == 0
    }

    /// An arm works from now on, or does not.
    pub fn change(&self, arm: u32, is_up: bool) {
        let mut broken = self.broken.borrow_mut();
        if is_up {
            broken.remove(&arm);
        } else {
            broken.insert(arm);
        }
        let group = self.group_of(arm);
        let missing = broken.iter().filter(|arm| self.group_of(**arm) == group).count();
        self.groups[group].set_servers(u64::from(self.spec.groups[group].arms) - missing as u64);
    }

    /// Returns an arm of a group that works, by its number among those of all groups; `None` if none does.
    pub fn working(&self, group: usize) -> Option<u32> {
        let broken = self.broken.borrow();
        let all: u32 = self.spec.groups.iter().map(|group| group.arms).sum();
        (0..all).find(|arm| self.group_of(*arm) == group && !broken.contains(arm))
    }

    fn group_of(&self, arm: u32) -> usize {
        let mut before = 0;
        let is_within = |group: &DriveGroup| {
            before += group.arms;
            arm < before
        };
        self.spec.groups.iter().position(is_within).expect("a fault names an arm that there is")
    }
}
