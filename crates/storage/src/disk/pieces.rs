//! A disk whose data crosses a controller's bus a piece at a time.

use std::cell::RefCell;
use std::rc::Rc;

use headrace_work::{Ask, Block, Op, Spent, What};

use super::drive::{Drive, Load, Served};
use super::{Arm, Disk};
use crate::array::Way;
use crate::channel::Sender;
use crate::crossing::{Part, Phase};

/// A disk that serves a command, and the way that its data goes.
pub(super) struct Pieces<'s, 'm> {
    pub disk: &'m Disk<'m>,
    pub drive: &'s Rc<RefCell<Drive>>,
    pub way: Way<'m>,
    /// The disk's number in its array.
    pub number: usize,
    /// Bytes that cross at once.
    pub piece: u64,
}

impl<'m> Pieces<'_, 'm> {
    /// Waits for the arm and holds it until all data has crossed.
    pub async fn serve(self, ask: &Ask<Block>, spent: &mut Spent) {
        let disk = self.disk;
        self.way.command(ask, spent).await;
        self.tell(Phase::Request, Sender::Controller, ask, spent).await;
        if spent.has_failed() {
            return;
        }
        let held = match &disk.arm {
            Arm::InOrder(arm) => (Some(arm.acquire(()).await), None),
            Arm::Choosing(commands) => (None, Some(commands.arm.acquire(ask.work).await)),
        };
        let sim = disk.place.site.sim;
        spent.charge(disk.place.id, What::Waiting, sim.now());
        self.drive.borrow_mut().begin_pieces(sim.now());
        disk.by_cause.during(ask.cause, sim, self.exchange(ask, spent)).await;
        self.drive.borrow_mut().end_pieces(sim.now());
        drop(held);
        self.tell(Phase::Answer, Sender::Disk, ask, spent).await;
    }

    /// A command, the word that the drive is ready for data, or a status crosses.
    async fn tell(&self, phase: Phase, sender: Sender, ask: &Ask<Block>, spent: &mut Spent) {
        self.way.tell(phase, sender, self.number, ask, spent).await;
    }

    /// Carries a piece of the data of a command.
    async fn carry(&self, phase: Phase, piece: Block, ask: &Ask<Block>, spent: &mut Spent) {
        let part = Part::Piece { last: piece.end() == ask.work.end() };
        self.way.carry(phase, part, self.number, &ask.with(piece), spent).await;
    }

    async fn exchange(&self, ask: &Ask<Block>, spent: &mut Spent) {
        let sim = self.disk.place.site.sim;
        if ask.work.op == Op::Read {
            return self.read(ask, spent).await;
        }
        let begun = self.drive.borrow_mut().begin_write(sim.now(), &ask.work, self.piece);
        match begun {
            Some((load, at)) => {
                sim.until(at).await;
                self.write(load, ask, spent).await;
            }
            None => self.write_through(ask, spent).await,
        }
    }

    /// Each piece crosses when it has been read, while the drive reads ahead.
    async fn read(&self, ask: &Ask<Block>, spent: &mut Spent) {
        let (sim, mut first) = (self.disk.place.site.sim, true);
        for piece in pieces(ask.work, self.piece) {
            let served = self.read_piece(&piece, first);
            first = false;
            sim.until(served.done).await;
            self.charge(spent);
            self.carry(Phase::Answer, piece, ask, spent).await;
        }
    }

    fn read_piece(&self, piece: &Block, first: bool) -> Served {
        let (mut drive, now) = (self.drive.borrow_mut(), self.disk.place.site.sim.now());
        if first { drive.serve(now, piece) } else { drive.go_on(now, piece) }
    }

    async fn write(&self, load: Load, ask: &Ask<Block>, spent: &mut Spent) {
        let (sim, mut at) = (self.disk.place.site.sim, ask.work.address);
        while at < ask.work.end() {
            let (bytes, from) = self.drive.borrow_mut().next_load(sim.now(), &load, at);
            let came = Block { address: at, bytes: bytes.min(ask.work.end() - at), ..ask.work };
            sim.until(from).await;
            self.charge(spent);
            self.tell(Phase::Request, Sender::Disk, ask, spent).await;
            for piece in pieces(came, self.piece) {
                self.carry(Phase::Request, piece, ask, spent).await;
                let here = self.drive.borrow_mut().take_in(sim.now(), &load, &piece);
                sim.until(here).await;
                self.charge(spent);
            }
            self.drive.borrow_mut().end_load(sim.now(), &load, &came);
            at = came.end();
        }
        let done = self.drive.borrow_mut().end_write(sim.now(), &load);
        sim.until(done).await;
        self.charge(spent);
    }

    /// All data crosses, and then the drive writes it.
    async fn write_through(&self, ask: &Ask<Block>, spent: &mut Spent) {
        let sim = self.disk.place.site.sim;
        self.tell(Phase::Request, Sender::Disk, ask, spent).await;
        for piece in pieces(ask.work, self.piece) {
            self.carry(Phase::Request, piece, ask, spent).await;
        }
        let served = self.drive.borrow_mut().serve(sim.now(), &ask.work);
        sim.until(served.done).await;
        self.charge(spent);
    }

    fn charge(&self, spent: &mut Spent) {
        spent.charge(self.disk.place.id, What::Service, self.disk.place.site.sim.now());
    }
}

/// A command, in pieces of at most this number of bytes.
fn pieces(command: Block, most: u64) -> impl Iterator<Item = Block> {
    let begins = (command.address..command.end()).step_by(most.max(1) as usize);
    begins.map(move |address| Block { address, bytes: most.min(command.end() - address), ..command })
}
