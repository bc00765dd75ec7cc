//! Faults of drives and robot arms: each finishes what it does, and does nothing more until it returns.

use super::drives::Drives;
use crate::core::health::Change;

impl<'m> Drives<'m> {
    /// A drive or an arm fails or returns, by its number: all drives come first, then the arms, group by group.
    pub fn change(&'m self, piece: u32, change: Change) {
        let (is_up, drives) = (change != Change::Fails, self.number() as u32);
        match piece.checked_sub(drives) {
            None => self.change_drive(piece as usize, is_up),
            Some(arm) => self.change_arm(arm, is_up),
        }
    }

    fn change_drive(&'m self, drive: usize, is_up: bool) {
        if self.set_up(drive, is_up) && is_up {
            self.hand_on(drive);
        }
    }

    fn change_arm(&self, arm: u32, is_up: bool) {
        let mut broken = self.broken_arms.borrow_mut();
        if is_up {
            broken.remove(&arm);
        } else {
            broken.insert(arm);
        }
        let group = self.group_of_arm(arm);
        let missing = broken.iter().filter(|arm| self.group_of_arm(**arm) == group).count();
        self.arms[group].set_servers(u64::from(self.spec.groups[group].arms) - missing as u64);
    }

    fn group_of_arm(&self, arm: u32) -> usize {
        let mut before = 0;
        let is_within = |group: &super::DriveGroup| {
            before += group.arms;
            arm < before
        };
        self.spec.groups.iter().position(is_within).expect("a fault names an arm that there is")
    }

    /// A drive works from now on, or does not. Gives whether it is unused.
    fn set_up(&self, drive: usize, is_up: bool) -> bool {
        let (now, state) = (self.sim.now(), &mut self.drives.borrow_mut()[drive]);
        let away = &mut self.away.borrow_mut()[state.group];
        match (state.is_held || state.is_down != is_up, is_up) {
            (true, _) => {}
            (false, true) => away.down(now, 1),
            (false, false) => away.up(now, 1),
        }
        state.is_down = !is_up;
        !state.is_held
    }

    /// Of a group: requests × ns that waited for its drives, and drives × ns for which drives had failed and were not in use.
    pub fn waited_and_away(&self, group: usize) -> (u128, u128) {
        let now = self.sim.now();
        (self.waiting.borrow()[group].area(now), self.away.borrow()[group].area(now))
    }
}
