//! The way between an array and its disks.

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use crate::AnyComponent;
use crate::block::controller::Controller;
use crate::core::context::Edge;
use crate::core::theory::Phase;
use crate::core::work::{Serve, Work};
use crate::fabric::path_transfer::Sender;
use crate::fabric::path_transfer::{PathTransfer, TransferPart};

/// Path of commands and data between an array and its disks: a controller, if there are any, and then a path, if there is one.
#[derive(Clone, Copy)]
pub struct BackendPath<'m> {
    path: Option<ArrayRoute<'m>>,
    controllers: &'m [Edge<'m>],
    /// Number of controllers that serve requests while all work.
    active: usize,
}

/// Controller and path of an array's requests and data.
#[derive(Clone, Copy)]
struct ArrayRoute<'m> {
    edge: &'m Edge<'m>,
    /// The port of the array's controller; those of its disks follow. None on a link, which carries data alone.
    controller: Option<u32>,
}

impl<'m> BackendPath<'m> {
    /// Connects an array with this number of disks to what it names in `via` and `controllers`.
    pub(super) fn of(
        path: Option<&'m Edge<'m>>,
        controllers: &'m [Edge<'m>],
        active: usize,
        disks: usize,
    ) -> Self {
        let path = path.map(|edge| ArrayRoute { edge, controller: edge.attach(1 + disks as u32) });
        Self { path, controllers, active }
    }

    /// Returns true if commands and data take no time on it.
    pub(super) fn is_free(self) -> bool {
        self.path.is_none() && self.controllers.is_empty()
    }

    /// The most data that crosses it at once; none where all of a request does.
    pub fn piece(self) -> Option<u64> {
        self.controllers.first()?.get().map(Controller::piece)
    }

    /// Returns true if its path works, or it has none.
    pub(super) fn is_up(self) -> bool {
        self.path.is_none_or(|path| path.edge.is_up())
    }

    /// Returns the number of failures of its path.
    pub(super) fn failures(self) -> u32 {
        self.path.map_or(0, |path| path.edge.failures())
    }

    /// The controller that does what belongs to a request. Of two that are both active, half of the requests belong to each; where one
    /// is down, the other does all.
    pub(super) fn controller<W>(self, request: &Request<W>) -> Option<&'m Edge<'m>> {
        let own = self.controllers.get((request.root % self.active.max(1) as u64) as usize)?;
        let other = || self.controllers.iter().find(|controller| controller.is_up());
        Some(if own.is_up() { own } else { other().unwrap_or(own) })
    }

    /// Carries one phase of what a disk is asked: a command and the data of a write, or the data of a read and its status.
    pub async fn cross(self, phase: Phase, disk: usize, request: &Request<Block>, breakdown: &mut Breakdown) {
        if phase == Phase::Request {
            self.command(request, breakdown).await;
        }
        self.carry(phase, TransferPart::All, disk, request, breakdown).await;
    }

    /// A controller handles the command to a disk.
    pub async fn command(self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(controller) = self.controller(request).and_then(Edge::get::<Controller>) {
            controller.command(request, breakdown).await;
        }
    }

    /// Messages of one side cross, apart from the data.
    pub async fn tell(
        self,
        phase: Phase,
        sender: Sender,
        disk: usize,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) {
        if let Some(path) = self.path.filter(|path| path.controller.is_some()) {
            path.cross(phase, TransferPart::Messages(sender), disk, request, breakdown).await;
        }
    }

    /// Carries the data of one phase, or a piece of it.
    pub async fn carry(
        self,
        phase: Phase,
        part: TransferPart,
        disk: usize,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) {
        if phase.has_data(request.work.op) && request.work.op == Op::Write {
            self.over_bus(request, breakdown).await;
        }
        if let Some(path) = self.path {
            path.cross(phase, part, disk, request, breakdown).await;
        }
        if phase.has_data(request.work.op) && request.work.op == Op::Read {
            self.over_bus(request, breakdown).await;
        }
    }

    async fn over_bus(self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(controller) = self.controller(request).and_then(Edge::get::<Controller>) {
            controller.cross(request.work.bytes, request, breakdown).await;
        }
    }
}

impl ArrayRoute<'_> {
    async fn cross(
        self,
        phase: Phase,
        part: TransferPart,
        disk: usize,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) {
        match self.controller {
            Some(controller) => {
                let target = controller + 1 + disk as u32;
                let (block, initiator) = (request.work, controller);
                let path_transfer = PathTransfer { block, phase, part, initiator, target, tail: Nanos::ZERO };
                self.edge.serve(&request.with(path_transfer), breakdown).await;
            }
            None if phase.has_data(request.work.op) => self.edge.serve(request, breakdown).await,
            None => {}
        }
    }
}

/// A request to a disk of an array, whose data crosses the path between them.
#[derive(Clone, Copy)]
pub struct OverPath<'m> {
    /// Request to the disk.
    pub block: Block,
    /// The path that its command and its data cross.
    pub path: BackendPath<'m>,
    /// The number of the disk in its array.
    pub disk: usize,
}

impl<'m> OverPath<'m> {
    /// Has `component` serve the block, and all data cross before a write or after a read.
    pub async fn around<C: Serve<'m, Block>>(
        self,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
        component: &'m C,
    ) {
        self.path.cross(Phase::Request, self.disk, request, breakdown).await;
        if !breakdown.has_failed() {
            component.serve(request, breakdown).await;
            self.path.cross(Phase::Answer, self.disk, request, breakdown).await;
        }
    }
}

impl<'m> Work<'m> for OverPath<'m> {
    type Reply = ();

    #[inline]
    fn data(&self) -> Block {
        self.block
    }

    fn failed(_: &Breakdown) {}

    async fn elsewhere(component: &'m AnyComponent<'m>, request: &Request<Self>, breakdown: &mut Breakdown) {
        request.work.around(&request.with(request.work.block), breakdown, component).await;
    }
}
