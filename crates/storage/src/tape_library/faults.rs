//! Faults of drives and robot arms: each finishes what it does, and does nothing more until it returns.

use super::drives::Drives;
use crate::health::Change;

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

    fn change_arm(&'m self, arm: u32, is_up: bool) {
        if is_up {
            self.broken_arms.borrow_mut().remove(&arm);
            self.repairs.offer(|waiting| (*waiting == arm).then_some(()));
        } else if self.broken_arms.borrow_mut().insert(arm) {
            self.sim.spawn(self.without(arm));
        }
    }

    /// Keeps an arm from moving cartridges until it returns. It moves those first that waited for it when it failed.
    async fn without(&'m self, arm: u32) {
        let (mut group, mut before) = (0, arm);
        while before >= self.spec.groups[group].arms {
            before -= self.spec.groups[group].arms;
            group += 1;
        }
        let held = self.arms[group].acquire(()).await;
        if self.broken_arms.borrow().contains(&arm) {
            self.repairs.wait(arm).await;
        }
        drop(held);
    }
}
