//! A disk whose data crosses a controller's bus a piece at a time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use super::drive::{Drive, Served, WriteInTransit};
use super::queue::QueuedCommand;
use super::{Arm, Disk};
use crate::block::array::BackendPath;
use crate::core::theory::Phase;
use crate::fabric::path_transfer::Sender;
use crate::fabric::path_transfer::TransferPart;

/// A disk that serves a command, and the way that its data goes.
pub(super) struct Pieces<'s, 'm> {
    pub disk: &'m Disk<'m>,
    pub drive: &'s Rc<RefCell<Drive>>,
    pub way: BackendPath<'m>,
    /// The disk's number in its array.
    pub number: usize,
    /// Bytes that cross at once.
    pub piece: u64,
    /// How long data passed under the head before it was waited for, in ns.
    pub hidden: Cell<u64>,
}

impl<'m> Pieces<'_, 'm> {
    /// Waits for the arm and holds it until all data has crossed.
    pub async fn serve(self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let disk = self.disk;
        self.way.command(request, breakdown).await;
        self.tell(Phase::Request, Sender::Controller, request, breakdown).await;
        if breakdown.has_failed() {
            return;
        }
        let held = match &disk.arm {
            Arm::InOrder(arm) => (Some(arm.acquire(()).await), None),
            Arm::Choosing(commands) => (None, Some(commands.arm.acquire(QueuedCommand::of(request)).await)),
        };
        let sim = disk.context.shared.sim;
        breakdown.waited(disk.context.id, sim.now());
        let begun = sim.now();
        let destaged = self.destaged(begun);
        disk.begin(request.cause);
        self.drive.borrow_mut().begin_pieces(begun);
        self.exchange(request, breakdown).await;
        disk.by_cause.end(request.cause, sim);
        // While data waits for the channel, the drive reads ahead the next or destages.
        let worked = self.hidden.get() + (self.destaged(sim.now()) - destaged);
        disk.note_stall(request.cause, Nanos(breakdown.waited_after(begun).0.saturating_sub(worked)));
        self.drive.borrow_mut().end_pieces(sim.now());
        drop(held);
        self.tell(Phase::Answer, Sender::Disk, request, breakdown).await;
    }

    /// How long the drive has destaged while it served commands.
    fn destaged(&self, now: Nanos) -> u64 {
        self.drive.borrow().background(now).within_ns
    }

    /// A command, the word that the drive is ready for data, or a status crosses.
    async fn tell(&self, phase: Phase, sender: Sender, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.way.tell(phase, sender, self.number, request, breakdown).await;
    }

    /// Carries a piece of the data of a command.
    async fn carry(&self, phase: Phase, piece: Block, request: &Request<Block>, breakdown: &mut Breakdown) {
        let part = TransferPart::Piece { last: piece.end() == request.work.end() };
        self.way.carry(phase, part, self.number, &request.with(piece), breakdown).await;
    }

    async fn exchange(&self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let sim = self.disk.context.shared.sim;
        match request.work.op {
            Op::Read => return self.read(request, breakdown).await,
            Op::Flush => return self.command(request, breakdown).await,
            Op::Write | Op::Discard => {}
        }
        let begun = match request.flushes() {
            true => None,
            false => self.drive.borrow_mut().begin_write(sim.now(), &request.work, self.piece),
        };
        match begun {
            Some((load, at)) => {
                sim.until(at).await;
                self.write(load, request, breakdown).await;
            }
            None => self.write_through(request, breakdown).await,
        }
    }

    /// Each piece crosses when it has been read, while the drive reads ahead.
    async fn read(&self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let (sim, mut first) = (self.disk.context.shared.sim, true);
        for piece in pieces(request.work, self.piece) {
            let served = self.read_piece(&piece, first);
            let passing = self.drive.borrow().passing(&piece).0;
            self.hidden.set(self.hidden.get() + passing.saturating_sub((served.done - sim.now()).0));
            first = false;
            sim.until(served.done).await;
            self.charge(breakdown);
            self.carry(Phase::Answer, piece, request, breakdown).await;
        }
    }

    fn read_piece(&self, piece: &Block, first: bool) -> Served {
        let (mut drive, now) = (self.drive.borrow_mut(), self.disk.context.shared.sim.now());
        if first { drive.serve(now, piece) } else { drive.go_on(now, piece) }
    }

    async fn write(&self, load: WriteInTransit, request: &Request<Block>, breakdown: &mut Breakdown) {
        let (sim, mut at) = (self.disk.context.shared.sim, request.work.address);
        while at < request.work.end() {
            let (bytes, from) = self.drive.borrow_mut().next_load(sim.now(), &load, at);
            let came = Block { address: at, bytes: bytes.min(request.work.end() - at), ..request.work };
            sim.until(from).await;
            self.charge(breakdown);
            self.tell(Phase::Request, Sender::Disk, request, breakdown).await;
            for piece in pieces(came, self.piece) {
                self.carry(Phase::Request, piece, request, breakdown).await;
                let here = self.drive.borrow_mut().take_in(sim.now(), &load, &piece);
                sim.until(here).await;
                self.charge(breakdown);
            }
            self.drive.borrow_mut().end_load(sim.now(), &load, &came);
            at = came.end();
        }
        let done = self.drive.borrow_mut().end_write(sim.now(), &load);
        sim.until(done).await;
        self.charge(breakdown);
    }

    /// All data crosses, and then the drive writes it.
    async fn write_through(&self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.tell(Phase::Request, Sender::Disk, request, breakdown).await;
        for piece in pieces(request.work, self.piece) {
            self.carry(Phase::Request, piece, request, breakdown).await;
        }
        self.command(request, breakdown).await;
    }

    /// The drive does what it is asked, whose data has crossed.
    async fn command(&self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let sim = self.disk.context.shared.sim;
        let served = self.disk.work(sim.now(), request);
        sim.until(served.done).await;
        self.charge(breakdown);
    }

    fn charge(&self, breakdown: &mut Breakdown) {
        breakdown.served(self.disk.context.id, self.disk.context.shared.sim.now());
    }
}

/// Returns the pieces of a command, of at most `most` bytes each.
pub(super) fn pieces(command: Block, most: u64) -> impl Iterator<Item = Block> {
    let begins = (command.address..command.end()).step_by(most.max(1) as usize);
    begins.map(move |address| Block { address, bytes: most.min(command.end() - address), ..command })
}
