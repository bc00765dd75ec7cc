//! Faults of drives and robot arms: each finishes what it does, and does nothing more until it returns.

use super::drives::Drives;
use crate::core::health::Change;

impl<'m> Drives<'m> {
    /// A drive or an arm fails or returns, by its number: all drives come first, then the arms, group by group.
    pub fn change(&'m self, piece: u32, change: Change) {
        let (is_up, drives) = (change != Change::Fails, self.number() as u32);
        match piece.checked_sub(drives) {
            None => self.change_drive(piece as usize, is_up),
            Some(arm) => self.arms.change(arm, is_up),
        }
    }

    pub(super) fn change_drive(&'m self, drive: usize, is_up: bool) {
        match (self.set_up(drive, is_up), is_up) {
            (true, true) => self.offer(drive),
            (_, false) => self.hand_another(),
            (false, true) => {}
        }
    }

    /// A drive works from now on, or does not. Returns true if it is unused.
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
