//! The drives of a group: which cartridge is in which, and who gets one next.

use std::cell::{Cell, RefCell};

use headrace_kernel::{Resource, Sim, WaitList};
use headrace_stats::{Level, Tally};
use headrace_units::Nanos;
use headrace_work::Cause;

use super::spec::{Recall, TapeLibrarySpec};

/// A cartridge, by its number.
pub(crate) type Cartridge = u32;

#[derive(Clone, Copy, Default)]
struct Drive {
    cartridge: Option<Cartridge>,
    /// Where its tape stands, in bytes from the beginning.
    position: u64,
    /// Whether someone uses it, or a robot is about to; and the cartridge that it is used for.
    is_held: bool,
    used_for: Option<Cartridge>,
    /// Since when it is unused.
    since: Nanos,
    /// How often it was taken: a dismount that was put off is not done once it was taken again.
    taken: u64,
}

/// A group of drives in a simulation.
pub(super) struct Drives<'m> {
    sim: &'m Sim<'m>,
    spec: &'m TapeLibrarySpec,
    drives: RefCell<Vec<Drive>>,
    arms: Resource<'m>,
    queue: WaitList<'m, Cartridge, usize>,
    pub busy: RefCell<[Level; Cause::ALL.len()]>,
    pub waits: RefCell<Tally>,
    pub services: RefCell<Tally>,
    pub mounts: Cell<u64>,
}

impl<'m> Drives<'m> {
    pub fn new(sim: &'m Sim<'m>, spec: &'m TapeLibrarySpec, drives: u32, arms: u32) -> Self {
        Self {
            sim,
            spec,
            drives: RefCell::new(vec![Drive::default(); drives as usize]),
            arms: Resource::fcfs(sim, u64::from(arms)),
            queue: WaitList::new(sim),
            busy: RefCell::default(),
            waits: RefCell::default(),
            services: RefCell::default(),
            mounts: Cell::new(0),
        }
    }

    /// Waits for a drive for a cartridge: the one that it is in, or one that can take it.
    pub async fn acquire(&'m self, cartridge: Cartridge, cause: Cause) -> usize {
        let since = self.sim.now();
        let drive = match self.drive_for(cartridge) {
            Some(drive) => self.take(drive, Some(cartridge)),
            None => self.queue.wait(cartridge).await,
        };
        self.waits.borrow_mut().record(self.sim.now() - since);
        self.busy.borrow_mut()[cause as usize].up(self.sim.now(), 1);
        drive
    }

    /// Brings the cartridge into a drive that was acquired for it, unless it is there. Gives whether it had to.
    pub async fn mount(&'m self, drive: usize, cartridge: Cartridge) -> bool {
        if self.drives.borrow()[drive].cartridge == Some(cartridge) {
            return false;
        }
        self.dismount(drive).await;
        self.arms.serve(self.spec.robot_move).await;
        self.sim.delay(self.spec.load).await;
        let mut drives = self.drives.borrow_mut();
        (drives[drive].cartridge, drives[drive].position) = (Some(cartridge), 0);
        self.mounts.set(self.mounts.get() + 1);
        true
    }

    /// Goes to a position on the tape.
    pub async fn locate(&'m self, drive: usize, to: u64) {
        let from = std::mem::replace(&mut self.drives.borrow_mut()[drive].position, to);
        self.sim.delay(self.way(self.spec.locate, from.abs_diff(to))).await;
    }

    /// Data went by under the head.
    pub fn pass(&self, drive: usize, bytes: u64) {
        self.drives.borrow_mut()[drive].position += bytes;
    }

    /// A drive is free for the next.
    pub fn release(&'m self, drive: usize, cause: Cause, held_since: Nanos) {
        let now = self.sim.now();
        self.busy.borrow_mut()[cause as usize].down(now, 1);
        self.services.borrow_mut().record(now - held_since);
        self.hand_on(drive);
    }

    /// Gives a drive to the next who waits, or lets it rest.
    fn hand_on(&'m self, drive: usize) {
        let mounted = self.drives.borrow()[drive].cartridge;
        self.let_go(drive);
        if self.spec.recall == Recall::ByCartridge {
            self.queue.offer(|wanted| (Some(*wanted) == mounted).then(|| self.take(drive, mounted)));
        }
        while self.queue.offer(|wanted| self.drive_for(*wanted).map(|drive| self.take(drive, Some(*wanted))))
        {
        }
        let Drive { is_held, taken, .. } = self.drives.borrow()[drive];
        if mounted.is_some() && !is_held {
            self.sim.spawn(self.dismount_later(drive, taken));
        }
    }

    /// Dismounts what nobody wanted for as long as it is held.
    async fn dismount_later(&'m self, drive: usize, taken: u64) {
        self.sim.delay(self.spec.hold).await;
        let state = self.drives.borrow()[drive];
        if state.is_held || state.taken != taken {
            return;
        }
        self.take(drive, None);
        self.dismount(drive).await;
        self.hand_on(drive);
    }

    async fn dismount(&'m self, drive: usize) {
        let Drive { cartridge, position, .. } = self.drives.borrow()[drive];
        if cartridge.is_none() {
            return;
        }
        self.sim.delay(self.way(self.spec.rewind, position) + self.spec.unload).await;
        self.arms.serve(self.spec.robot_move).await;
        let mut drives = self.drives.borrow_mut();
        (drives[drive].cartridge, drives[drive].position) = (None, 0);
    }

    fn way(&self, whole: Nanos, bytes: u64) -> Nanos {
        let share = bytes as f64 / self.spec.cartridge.0 as f64;
        Nanos::from_secs(whole.secs() * share.min(1.0))
    }

    /// The drive that a cartridge can go to now: the one that has it, else an empty one, else the one that was unused longest. None
    /// where all are held, or the one that has it is.
    fn drive_for(&self, cartridge: Cartridge) -> Option<usize> {
        let drives = self.drives.borrow();
        let has = |drive: &Drive| drive.cartridge == Some(cartridge) || drive.used_for == Some(cartridge);
        if let Some(at) = drives.iter().position(has) {
            return (!drives[at].is_held).then_some(at);
        }
        let free = drives.iter().enumerate().filter(|(_, drive)| !drive.is_held);
        free.min_by_key(|(_, drive)| (drive.cartridge.is_some(), drive.since)).map(|(at, _)| at)
    }

    fn take(&self, drive: usize, used_for: Option<Cartridge>) -> usize {
        let state = &mut self.drives.borrow_mut()[drive];
        (state.is_held, state.used_for) = (true, used_for);
        state.taken += 1;
        drive
    }

    fn let_go(&self, drive: usize) {
        let state = &mut self.drives.borrow_mut()[drive];
        (state.is_held, state.used_for, state.since) = (false, None, self.sim.now());
    }

    pub fn number(&self) -> u64 {
        self.drives.borrow().len() as u64
    }

    pub fn queue(&self) -> Level {
        self.queue.waits().queue
    }
}
