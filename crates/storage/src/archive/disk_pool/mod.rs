//! A disk pool: volumes on chains, which hold the files of an archive.

mod small;
mod through;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use headrace_kernel::{LinkId, Pool, RngStream, WaitList, WorkerPool};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Breakdown, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::{Lowering, MAX_BYTES, View};
use crate::core::health::Change;
use crate::core::meter::{Activity, Meter, waits};
use crate::core::theory::{Features, Load};

use through::{LostTransfers, Stage, perform};

pub(crate) use through::TransferRoute;

/// Volumes on chains. Transfers on a chain share its rate; time lost by sharing counts as waiting. Free space is that of the pool as a
/// whole, not of each volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskPoolSpec {
    /// Number of chains (SCSI buses, or paths to a disk server).
    #[schemars(range(min = 1, max = 10_000))]
    pub chains: u32,
    /// Number of volumes on each chain.
    #[schemars(range(min = 1, max = 100_000))]
    pub volumes: u32,
    /// Capacity of a volume. Larger files span successive volumes.
    pub volume: Bytes,
    /// Rate of a chain.
    pub rate: BytesPerSecond,
    /// Allocation policy for volumes.
    #[serde(default)]
    pub allocate: Allocate,
    /// Block devices that hold the files, one for each chain, by name: arrays, disks, or volumes of a server behind a network. The volumes
    /// of a chain lie one after another on its device; where a file begins within its volume is random. Default: none; only `rate`
    /// limits a chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// With `on`: size of the requests to the device, one after another for each transfer. Default: 1 MiB.
    #[serde(default = "mebibyte")]
    pub io_size: Bytes,
    /// With `on`: memory of a transfer. While one half is on the wire, the device reads or writes the other. Default: 32 MiB.
    #[serde(default = "buffer")]
    pub buffer: Bytes,
}

const fn mebibyte() -> Bytes {
    Bytes(1 << 20)
}

const fn buffer() -> Bytes {
    Bytes(32 << 20)
}

/// Allocation policy for volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allocate {
    /// The next volume: all volumes of the first chain, then those of the second.
    #[default]
    ChainByChain,
    /// The next chain: successive files go to different chains.
    AcrossChains,
}

impl Spec for DiskPoolSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        let volumes = u128::from(self.chains) * u128::from(self.volumes);
        let capacity = volumes * u128::from(self.volume.0);
        if self.volume.0 == 0 || self.rate.get() <= 0.0 {
            return at.refuse(
                "volume",
                "the capacity of a volume and the rate of a chain must be above zero",
                None,
            );
        }
        if capacity > u128::from(MAX_BYTES) {
            return at.refuse("volume", "the pool would hold more than 1 EiB", None);
        }
        let uses = self.devices(at)?;
        at.uses(uses);
        at.holds(Bytes(capacity as u64));
        Some(self.clone())
    }
}

impl DiskPoolSpec {
    /// Looks up the devices of the chains.
    fn devices(&self, at: &mut Lowering) -> Option<Vec<NodeId>> {
        let devices = at.all_reached("on", &self.on)?;
        if !devices.is_empty() && devices.len() != self.chains as usize {
            let message = format!("there are {} devices for {} chains", devices.len(), self.chains);
            return at.refuse("on", message, Some("name one device for each chain"));
        }
        if self.io_size.0 == 0 || self.buffer.0 < 2 {
            return at.refuse("io_size", "`io_size` must be at least 1 B, and `buffer` at least 2 B", None);
        }
        let wanted = u64::from(self.volumes).saturating_mul(self.volume.0);
        for (device, name) in devices.iter().zip(&self.on) {
            let capacity = at.capacity(*device);
            if capacity.0 < wanted {
                let message =
                    format!("the volumes of a chain take {}, and `{name}` holds {capacity}", Bytes(wanted));
                return at.refuse("on", message, Some("lower `volumes` or `volume`"));
            }
        }
        Some(devices)
    }

    fn all_volumes(&self) -> u32 {
        self.chains * self.volumes
    }

    fn chain_of(&self, volume: u32) -> usize {
        match self.allocate {
            Allocate::ChainByChain => (volume / self.volumes) as usize,
            Allocate::AcrossChains => (volume % self.chains) as usize,
        }
    }
}

impl Theory for DiskPoolSpec {
    fn features(&self) -> Features {
        Features { pieces: vec![("volume", self.all_volumes())], ..Features::default() }
    }

    fn note(&self, view: View, _: &Load) -> Option<String> {
        small::note(self, view)
    }
}

/// A part of a file: on which volume of which chain, and how many bytes.
#[derive(Clone, Copy)]
pub(crate) struct FilePart {
    pub volume: u32,
    pub chain: LinkId,
    /// Offset of its first byte in the volume, if the file begins with one.
    pub within: u64,
    pub bytes: u64,
}

/// A disk pool in a simulation.
pub struct DiskPool<'m> {
    context: &'m NodeContext<'m>,
    spec: &'m DiskPoolSpec,
    chains: Vec<LinkId>,
    next_volume: Cell<u32>,
    /// The devices of the chains, where they have some, the stages of transfers there, and where files begin.
    devices: &'m [Edge<'m>],
    stages: WorkerPool<'m, Stage<'m>, Breakdown>,
    starts: RngStream,
    transfers: Cell<u64>,
    lost: LostTransfers,
    /// Volumes that have failed, and who waits until they return.
    down: RefCell<BTreeSet<u32>>,
    repairs: WaitList<'m, u32, ()>,
    /// Bytes that are free.
    free: Pool<'m>,
    /// Since when someone waits for space; and the first time that was so.
    full_since: Cell<Option<Nanos>>,
    first_full: Cell<Option<Nanos>>,
    full_for: Cell<Nanos>,
}

impl Plan for DiskPoolSpec {
    type Component<'m> = DiskPool<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> DiskPool<'m> {
        let devices = context.uses();
        let (io, lost) = (self.io_size.0, LostTransfers::default());
        let of_stages = LostTransfers::clone(&lost);
        let capacity = u64::from(self.all_volumes()) * self.volume.0;
        DiskPool {
            context,
            spec: self,
            chains: (0..self.chains).map(|_| context.shared.fluid.link(self.rate)).collect(),
            next_volume: Cell::new(0),
            devices,
            stages: WorkerPool::new(context.shared.sim, move |stage| {
                perform(context.shared, devices, io, LostTransfers::clone(&of_stages), stage)
            }),
            starts: context.stream("starts"),
            transfers: Cell::new(0),
            lost,
            down: RefCell::default(),
            repairs: WaitList::new(context.shared.sim),
            free: Pool::new(context.shared.sim, capacity, capacity),
            full_since: Cell::new(None),
            first_full: Cell::new(None),
            full_for: Cell::new(Nanos::ZERO),
        }
    }
}

impl<'m> DiskPool<'m> {
    pub(crate) fn capacity(&self) -> u64 {
        self.free.capacity()
    }

    pub(crate) fn used(&self) -> u64 {
        self.free.capacity() - self.free.held()
    }

    /// Chooses the volumes of a file. Gives the first.
    pub(crate) fn allocate(&self, bytes: u64) -> u32 {
        let all = self.spec.all_volumes();
        // A file begins on a volume that works, of a device that does, where there is one.
        let device = |volume: u32| self.devices.get(self.spec.chain_of(volume)).is_none_or(Edge::is_up);
        let works = |volume: &u32| !self.down.borrow().contains(volume) && device(*volume);
        let from = self.next_volume.get();
        let first = (0..all).map(|at| (from + at) % all).find(works).unwrap_or(from);
        let wanted = bytes.div_ceil(self.spec.volume.0).max(1) % u64::from(all);
        self.next_volume.set((first + wanted as u32) % all);
        first
    }

    /// The parts of `bytes` of a file, from the byte `from` on, whose first volume is known.
    pub(crate) fn parts(
        &self,
        first: u32,
        from: u64,
        bytes: u64,
    ) -> impl Iterator<Item = FilePart> + use<'m, '_> {
        let (each, all, end) = (self.spec.volume.0, u64::from(self.spec.all_volumes()), from + bytes);
        let mut at = from;
        std::iter::from_fn(move || {
            let here = (end - at).min(each - at % each);
            let (volume, within) = ((u64::from(first) + at / each) % all, at % each);
            at += here;
            let volume = volume as u32;
            (here > 0).then(|| FilePart {
                volume,
                chain: self.chains[self.spec.chain_of(volume)],
                within,
                bytes: here,
            })
        })
    }

    /// Waits until a volume works.
    pub(crate) async fn ready(&'m self, volume: u32) {
        if self.down.borrow().contains(&volume) {
            self.repairs.wait(volume).await;
        }
    }

    /// Takes space, after waiting until there is some.
    pub(crate) async fn take(&'m self, bytes: u64) {
        if self.free.try_take(bytes) {
            return;
        }
        let now = self.context.shared.sim.now();
        self.full_since.set(self.full_since.get().or(Some(now)));
        self.first_full.set(self.first_full.get().or(Some(now)));
        self.free.take(bytes).await;
        if self.free.waits().queue.value() == 0
            && let Some(since) = self.full_since.take()
        {
            self.full_for.set(self.full_for.get() + (self.context.shared.sim.now() - since));
        }
    }

    /// Returns true if a file of `bytes` need not wait for space.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.free.held() >= bytes && self.free.waits().queue.value() == 0
    }

    /// Takes space that is there.
    pub(crate) fn take_now(&self, bytes: u64) -> bool {
        self.free.try_take(bytes)
    }

    /// Releases space.
    pub(crate) fn give(&self, bytes: u64) {
        self.free.put(bytes);
    }

    /// Returns the first time at which someone waited for space, and the total time for which someone did.
    pub(crate) fn full(&self, now: Nanos) -> Option<(Nanos, Nanos)> {
        let still = self.full_since.get().map_or(Nanos::ZERO, |since| now - since);
        Some((self.first_full.get()?, self.full_for.get() + still))
    }
}

impl<'m> Component<'m> for DiskPool<'m> {
    fn activity(&self, _: Nanos) -> Option<Activity> {
        Some(Activity::of_links(self.chains.iter().map(|chain| self.context.shared.fluid.usage(*chain))))
    }

    fn lacking(&self, now: Nanos) -> Nanos {
        self.full(now).map_or(Nanos::ZERO, |(_, time)| time)
    }

    fn waiting(&self) -> Vec<String> {
        let what = format!("volumes of `{}` that have failed", self.context.path);
        waits(self.repairs.len() as u64, "transfer", &what).into_iter().collect()
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let free = (self.free.level().area(now) / u128::from(self.capacity())) as u64;
        put("fill", Meter::Fill(now.0 - free.min(now.0), now.0));
        put("waiting_for_space", Meter::Area(self.free.waits().queue.area(now)));
    }

    /// A volume fails or returns. Transfers in progress go on; those that begin wait.
    fn change_piece(&'m self, piece: u32, change: Change) {
        if change == Change::Fails {
            self.down.borrow_mut().insert(piece);
        } else {
            self.down.borrow_mut().remove(&piece);
            while self.repairs.offer(|volume| (*volume == piece).then_some(())) {}
        }
    }
}
