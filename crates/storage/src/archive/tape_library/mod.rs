//! A tape library: cartridges, drives in groups, robots.

mod allocation;
mod arms;
mod cells;
mod device;
mod drives;
mod failures;
mod faults;
mod load;
mod locate;
mod maintenance;
mod meters;
mod model;
mod placement;
mod queue;
mod recall;
mod shares;
mod spec;
mod streaming;
mod travel;
mod vacant;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use headrace_kernel::{LinkId, RngStream, subkey};
use headrace_stats::Gauge;
use headrace_units::{BytesPerSecond, Nanos};
use headrace_work::{Breakdown, Cause, FileAct, FileOp, FileTable, Request, TapePlace};

use crate::archive::file_work::CartridgeSession;
use crate::core::component::{Plan, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::View;
use crate::core::theory::{Demand, Features, Load};
use crate::core::work::Serve;

use drives::{DriveRequest, Drives};
use maintenance::Maintenance;
use shares::ShareTable;
use spec::UNLIMITED;

pub use cells::{Cells, StorageModule};
pub use device::{Tape, TapeDriveNumbers};
pub(crate) use drives::{Cartridge, Readiness};
pub use failures::{FailureRate, TapeFailures};
pub use load::{Branch, LoadTime};
pub use locate::{Locate, Serpentine};
pub use maintenance::{RepackSpec, VerifySpec};
pub use placement::{Placement, heat::ByHeat};
pub use queue::DriveQueue;
pub use recall::Recall;
pub use shares::DriveShare;
pub use spec::{Cleaning, DriveGroup, TapeLibraryPlan, TapeLibrarySpec};
pub use streaming::Streaming;
pub use travel::{MoveTime, Travel};

impl Theory for TapeLibraryPlan {
    fn features(&self) -> Features {
        let all = |of: fn(&DriveGroup) -> u32| self.spec.groups.iter().map(of).sum();
        let pieces = vec![("drive", all(|group| group.drives)), ("arm", all(|group| group.arms))];
        Features { pieces, has_priorities: self.spec.queue.has_priorities(), ..Features::default() }
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        model::demands(self, view, load)
    }
}

/// A library in a simulation.
pub struct TapeLibrary<'m> {
    context: &'m NodeContext<'m>,
    spec: &'m TapeLibrarySpec,
    tapes: &'m [Tape],
    shares: &'m ShareTable,
    maintenance: Box<Maintenance>,
    drives: Box<Drives<'m>>,
    /// Links shared by the drives of each group.
    links: Vec<LinkId>,
    silos: RngStream,
    spots: RngStream,
    loads: RngStream,
    back_hitches: Cell<u64>,
    /// Drives held, of all groups.
    held: RefCell<Gauge>,
    accesses: Cell<u64>,
    /// Time to locate, of all accesses, in ms.
    located_ms: Cell<u64>,
    read: Cell<u64>,
    written: Cell<u64>,
    /// The cartridges that streams fill, and how much is on each; the number of the next; and those that do not go on with the next number.
    filling: RefCell<Vec<(Cartridge, u64)>>,
    unused: Cell<Cartridge>,
    /// Cartridges that no drive has had.
    new: RefCell<BTreeSet<Cartridge>>,
    next: RefCell<BTreeMap<Cartridge, Cartridge>>,
    /// The cartridges that a log names, and the silo of each where that is known.
    known: RefCell<FileTable>,
    known_silos: RefCell<Vec<Option<u32>>>,
}

/// Cartridges that a log names have numbers from here on: beyond those with files older than a log, and those that are filled.
const FIRST_KNOWN: Cartridge = 1 << 31;

/// Start of a file on tape; it continues on the cartridges that were filled next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TapePosition {
    pub cartridge: Cartridge,
    pub offset: u64,
}

/// A cartridge in a drive, at a position. Dropped, the drive is free for the next.
pub(crate) struct Mounted<'m> {
    library: &'m TapeLibrary<'m>,
    drive: usize,
    cause: Cause,
    since: Nanos,
    /// False if its request lets others go first.
    serves: bool,
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let sim = self.library.context.shared.sim;
        if !sim.is_over() {
            self.library.held.borrow_mut().down(sim.now(), 1);
            self.library.drives.release(self.drive, self.cause, self.since, self.serves);
        }
    }
}

impl Plan for TapeLibraryPlan {
    type Component<'m> = TapeLibrary<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> TapeLibrary<'m> {
        let link = |group: &DriveGroup| context.shared.fluid.link(group.rate.unwrap_or(UNLIMITED));
        TapeLibrary {
            context,
            spec: &self.spec,
            tapes: &self.tapes,
            shares: &self.shares,
            maintenance: Box::default(),
            drives: Box::new(Drives::new(context, self)),
            links: self.spec.groups.iter().map(link).collect(),
            silos: context.stream("silos"),
            spots: context.stream("spots"),
            loads: context.stream("loads"),
            back_hitches: Cell::new(0),
            held: RefCell::default(),
            accesses: Cell::new(0),
            located_ms: Cell::new(0),
            read: Cell::new(0),
            written: Cell::new(0),
            filling: RefCell::default(),
            unused: Cell::new(self.spec.cartridges),
            new: RefCell::default(),
            next: RefCell::default(),
            known: RefCell::default(),
            known_silos: RefCell::default(),
        }
    }
}

impl<'m> TapeLibrary<'m> {
    /// Initial location of files older than the log: as far as it is not known, random.
    pub(crate) fn spot_of(&self, file: u64, place: Option<TapePlace>) -> TapePosition {
        let mut draws = self.spots.of(file);
        let cartridge = (draws.uniform() * f64::from(self.spec.cartridges)) as u32;
        let cartridge = match place {
            Some(place) => self.known_cartridge(place.cartridge, None),
            None => cartridge.min(self.spec.cartridges - 1),
        };
        let random = (draws.uniform() * self.capacity(cartridge) as f64) as u64;
        TapePosition { cartridge, offset: place.and_then(|place| place.position).unwrap_or(random) }
    }

    /// The parts of a file on its cartridges: where each begins, and how many bytes.
    pub(crate) fn parts(
        &self,
        spot: TapePosition,
        bytes: u64,
    ) -> impl Iterator<Item = (TapePosition, u64)> + use<'_, 'm> {
        let (mut at, mut left) = (self.where_is(spot), bytes);
        std::iter::from_fn(move || {
            let each = self.capacity(at.cartridge);
            let here = left.min(each - at.offset.min(each - 1));
            let part = (left > 0).then_some((at, here))?;
            left -= here;
            at = TapePosition { cartridge: self.after(at.cartridge), offset: 0 };
            Some(part)
        })
    }

    /// Returns the cartridge on which data goes on that does not fit on this one.
    fn after(&self, cartridge: Cartridge) -> Cartridge {
        self.next.borrow().get(&cartridge).copied().unwrap_or(cartridge + 1)
    }

    /// Returns the position of the next bytes that a stream writes, and the number of them that fit there.
    pub(crate) fn next_part(&self, stream: usize, bytes: u64) -> (TapePosition, u64) {
        self.part_in(&self.filling, stream, None, bytes)
    }

    /// As `next_part`, of the cartridges that are filled for one purpose, by the number of the stream; new ones are those of a group.
    fn part_in(
        &self,
        filling: &RefCell<Vec<(Cartridge, u64)>>,
        stream: usize,
        group: Option<usize>,
        bytes: u64,
    ) -> (TapePosition, u64) {
        let mut filling = filling.borrow_mut();
        while filling.len() <= stream {
            filling.push((self.new_cartridge(group), 0));
        }
        let (before, at) = (filling[stream].0, &mut filling[stream]);
        if at.1 == self.capacity(before) {
            *at = (self.new_cartridge(group), 0);
            self.next.borrow_mut().extend((at.0 != before + 1).then_some((before, at.0)));
        }
        let (cartridge, offset) = *at;
        let here = bytes.min(self.capacity(cartridge) - offset);
        at.1 += here;
        (TapePosition { cartridge, offset }, here)
    }

    /// Returns a cartridge that no drive has had: in a silo of a group, or in any.
    fn new_cartridge(&self, group: Option<usize>) -> Cartridge {
        let first_silo = |group: usize| self.spec.groups[..group].iter().map(|group| group.silos).sum();
        let cartridge = match group {
            Some(group) => {
                let mut silos = self.known_silos.borrow_mut();
                silos.push(Some(first_silo(group)));
                FIRST_KNOWN + silos.len() as u32 - 1
            }
            None => self.unused.replace(self.unused.get() + 1),
        };
        self.new.borrow_mut().insert(cartridge);
        cartridge
    }

    /// Nothing is written there after all: the next bytes of the stream are.
    pub(crate) fn give_back(&self, stream: usize, spot: TapePosition, bytes: u64) {
        let at = &mut self.filling.borrow_mut()[stream];
        if *at == (spot.cartridge, spot.offset + bytes) {
            at.1 = spot.offset;
        }
    }

    /// The number of a cartridge that a log names, with its silo where that is known.
    fn known_cartridge(&self, name: u64, silo: Option<u32>) -> Cartridge {
        let (mut known, mut silos) = (self.known.borrow_mut(), self.known_silos.borrow_mut());
        let number = known.get(name).unwrap_or_else(|| {
            known.insert(name, silos.len() as u32);
            silos.push(silo);
            silos.len() as u32 - 1
        });
        FIRST_KNOWN + number
    }

    /// The silo of a cartridge: the one that its log names, else one at random.
    fn silo_of(&self, cartridge: Cartridge) -> u32 {
        let known = cartridge
            .checked_sub(FIRST_KNOWN)
            .and_then(|number| self.known_silos.borrow().get(number as usize).copied());
        let random = || self.silos.of(u64::from(cartridge)).uniform() * f64::from(self.spec.all_silos());
        known.flatten().unwrap_or_else(|| random() as u32)
    }

    fn capacity(&self, cartridge: Cartridge) -> u64 {
        match self.tapes {
            [tape] => tape.capacity,
            tapes => tapes[self.group_of(cartridge)].capacity,
        }
    }

    fn group_of(&self, cartridge: Cartridge) -> usize {
        let mut silo = self.silo_of(cartridge);
        let is_of = |group: &DriveGroup| {
            let within = silo < group.silos;
            silo = silo.saturating_sub(group.silos);
            within
        };
        self.spec.groups.iter().position(is_of).unwrap_or(self.links.len() - 1)
    }

    /// Waits for a drive, has the cartridge brought there, and goes to the position of data of this number of bytes. `None` if the request
    /// was cancelled before it had a drive.
    pub(crate) async fn mount(
        &'m self,
        (spot, bytes): (TapePosition, u64),
        request: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) -> Option<Mounted<'m>> {
        let span = (spot.offset, spot.offset + bytes);
        let mounted = self.ready(spot.cartridge, span, request, breakdown).await?;
        let located = self.drives.locate(mounted.drive, spot.offset).await;
        self.located_ms.set(self.located_ms.get() + located.0 / 1_000_000);
        breakdown.served(self.context.id, self.context.shared.sim.now());
        Some(mounted)
    }

    /// Returns how soon a file could be read.
    pub(crate) fn readiness(&self, spot: TapePosition) -> Readiness {
        self.drives.readiness(spot.cartridge)
    }

    /// Cancels the recall of a file by a user, if it does not have a drive yet. Returns true if it was cancelled.
    pub(crate) fn cancel(&self, file: u64, user: u64) -> bool {
        self.drives.cancel(file, user)
    }

    /// Waits for a drive, has the cartridge brought there, and lets those go first whose data does on the tape.
    async fn ready(
        &'m self,
        cartridge: Cartridge,
        span: (u64, u64),
        request: &Request<FileOp>,
        breakdown: &mut Breakdown,
    ) -> Option<Mounted<'m>> {
        let (sim, cause) = (self.context.shared.sim, request.cause);
        let wanted = self.asks(cartridge, span, request);
        let mut is_first = true;
        loop {
            let Some(drive) = self.drives.acquire(wanted, is_first).await else {
                breakdown.waited(self.context.id, sim.now());
                return None;
            };
            self.held.borrow_mut().up(sim.now(), 1);
            let mut mounted = Mounted { library: self, drive, cause, since: sim.now(), serves: true };
            breakdown.waited(self.context.id, sim.now());
            if std::mem::take(&mut is_first) {
                self.accesses.set(self.accesses.get() + 1);
                self.drives.shares.served(&wanted, sim.now());
            }
            let is_new = self.drives.mount(drive, wanted, breakdown).await;
            breakdown.served(self.context.id, sim.now());
            if !is_new || self.drives.goes_first(drive, wanted) {
                return Some(mounted);
            }
            mounted.serves = false;
        }
    }

    /// Returns the time of the next load of a cartridge, drawn by a key unless it is the first.
    fn load_time(&self, cartridge: Cartridge, key: u64) -> Nanos {
        let (tape, is_new) =
            (&self.tapes[self.group_of(cartridge)], self.new.borrow_mut().remove(&cartridge));
        let usual = || tape.load.draw(&mut self.loads.of(key));
        tape.first_load.filter(|_| is_new).unwrap_or_else(usual)
    }

    /// Returns what a request asks of the drives.
    fn asks(&self, cartridge: Cartridge, span: (u64, u64), request: &Request<FileOp>) -> DriveRequest {
        let home = self.group_of(cartridge);
        let share = self.shares.of_user(request.work.user);
        let of_share = share.map(|share| &self.spec.shares[share as usize]);
        DriveRequest {
            cartridge,
            home,
            cause: request.cause,
            writes: request.cause == Cause::Migration,
            load: self.load_time(cartridge, subkey(request.key, u64::from(cartridge))),
            span,
            number: self.drives.next_number(),
            since: self.context.shared.sim.now(),
            file: (request.work.act != FileAct::Session).then_some(request.work.file),
            user: request.work.user,
            share,
            priority: of_share.and_then(|share| share.priority).unwrap_or(request.priority),
            within: of_share.and_then(|share| share.within).unwrap_or(Nanos::MAX),
        }
    }

    /// A session: its log has the time in which data moves, and positioning within it. It ends anywhere on the tape.
    async fn session(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) {
        let FileOp { file, drive, .. } = request.work;
        let cartridge = self.known_cartridge(file, drive.silo);
        let mounted = self.ready(cartridge, (0, 0), request, breakdown).await;
        let mounted = mounted.expect("no session is cancelled");
        self.context.shared.sim.delay(drive.time).await;
        let end = self.spots.of(request.key).uniform() * self.capacity(cartridge) as f64;
        self.drives.stand_at(mounted.drive, end as u64);
        breakdown.served(self.context.id, self.context.shared.sim.now());
    }

    /// Returns the link shared by the drives of a group, and the maximum rate of one drive in bytes/s.
    pub(crate) fn link(&self, mounted: &Mounted) -> (LinkId, f64) {
        let (group, home) = self.drives.groups(mounted.drive);
        // A drive of a later generation reads a cartridge as fast as that allows.
        let rate = |group: usize| self.tapes[group].rate.map_or(f64::INFINITY, BytesPerSecond::get);
        (self.links[group], rate(group).min(rate(home)))
    }

    /// Data came from a drive or to it in `time`: waits for what its back-hitches add.
    pub(crate) async fn streamed(
        &'m self,
        mounted: &Mounted<'m>,
        bytes: u64,
        time: Nanos,
        breakdown: &mut Breakdown,
    ) {
        let (hitches, lost) = self.drives.starved(mounted.drive, bytes, time);
        if hitches == 0 {
            return;
        }
        self.back_hitches.set(self.back_hitches.get() + hitches);
        self.context.shared.sim.delay(lost).await;
        breakdown.served(self.context.id, self.context.shared.sim.now());
    }

    /// Data of a mounted cartridge was read, or written.
    pub(crate) fn moved(&self, mounted: &Mounted, bytes: u64, is_written: bool) {
        self.drives.pass(mounted.drive, bytes);
        let counter = if is_written { &self.written } else { &self.read };
        counter.set(counter.get() + bytes);
    }
}

impl<'m> Serve<'m, CartridgeSession> for TapeLibrary<'m> {
    async fn serve(&'m self, request: &Request<CartridgeSession>, breakdown: &mut Breakdown) {
        self.session(&request.with(request.work.0), breakdown).await;
    }
}
