//! A disk pool: volumes on chains, which hold the files of an archive.

use std::cell::Cell;

use headrace_kernel::{LinkId, Pool};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Lowering, MAX_BYTES};
use crate::meter::{Activity, Meter};
use crate::place::{Edge, Place};
use crate::room::{Known, Lowered, Metered, Plan, Room, Spec};

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

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<Self>> {
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
        Some(Lowered { plan: self.clone(), uses: Vec::new(), capacity: Bytes(capacity as u64) })
    }
}

impl DiskPoolSpec {
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

impl Known for DiskPoolSpec {
    fn serves_blocks(&self) -> bool {
        false
    }
}

/// A disk pool in a simulation.
pub struct DiskPool<'m> {
    place: &'m Place<'m>,
    spec: &'m DiskPoolSpec,
    chains: Vec<LinkId>,
    next_volume: Cell<u32>,
    /// Bytes that are free.
    free: Pool<'m>,
    /// Since when someone waits for space; and the first time that was so.
    full_since: Cell<Option<Nanos>>,
    first_full: Cell<Option<Nanos>>,
    full_for: Cell<Nanos>,
}

impl Plan for DiskPoolSpec {
    type Room<'m> = DiskPool<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> DiskPool<'m> {
        let capacity = u64::from(self.all_volumes()) * self.volume.0;
        DiskPool {
            place,
            spec: self,
            chains: (0..self.chains).map(|_| place.site.fluid.link(self.rate)).collect(),
            next_volume: Cell::new(0),
            free: Pool::new(place.site.sim, capacity, capacity),
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
        let (first, all) = (self.next_volume.get(), self.spec.all_volumes());
        let wanted = bytes.div_ceil(self.spec.volume.0).max(1) % u64::from(all);
        self.next_volume.set((first + wanted as u32) % all);
        first
    }

    /// The parts of `bytes` of a file, from the byte `from` on, whose first volume is known: on which chain, how many.
    pub(crate) fn parts(
        &self,
        first: u32,
        from: u64,
        bytes: u64,
    ) -> impl Iterator<Item = (LinkId, u64)> + use<'m, '_> {
        let (each, all, end) = (self.spec.volume.0, u64::from(self.spec.all_volumes()), from + bytes);
        let mut at = from;
        std::iter::from_fn(move || {
            let here = (end - at).min(each - at % each);
            let volume = (u64::from(first) + at / each) % all;
            at += here;
            (here > 0).then(|| (self.chains[self.spec.chain_of(volume as u32)], here))
        })
    }

    /// Takes space, after waiting until there is some.
    pub(crate) async fn take(&'m self, bytes: u64) {
        if self.free.try_take(bytes) {
            return;
        }
        let now = self.place.site.sim.now();
        self.full_since.set(self.full_since.get().or(Some(now)));
        self.first_full.set(self.first_full.get().or(Some(now)));
        self.free.take(bytes).await;
        if self.free.waits().queue.value() == 0
            && let Some(since) = self.full_since.take()
        {
            self.full_for.set(self.full_for.get() + (self.place.site.sim.now() - since));
        }
    }

    /// Whether a file need not wait for space.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.free.held() >= bytes && self.free.waits().queue.value() == 0
    }

    /// Takes space that is there.
    pub(crate) fn take_now(&self, bytes: u64) -> bool {
        self.free.try_take(bytes)
    }

    /// Gives space back.
    pub(crate) fn give(&self, bytes: u64) {
        self.free.put(bytes);
    }

    /// When someone waited for space first, and for how long in all someone did.
    pub(crate) fn full(&self, now: Nanos) -> Option<(Nanos, Nanos)> {
        let still = self.full_since.get().map_or(Nanos::ZERO, |since| now - since);
        Some((self.first_full.get()?, self.full_for.get() + still))
    }
}

impl<'m> Room<'m> for DiskPool<'m> {}

impl Metered for DiskPool<'_> {
    fn activity(&self, _: Nanos) -> Option<Activity> {
        Some(Activity::of_links(self.chains.iter().map(|chain| self.place.site.fluid.usage(*chain))))
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let free = (self.free.level().area(now) / u128::from(self.capacity())) as u64;
        put("fill", Meter::Fill(now.0 - free.min(now.0), now.0));
        put("waiting_for_space", Meter::Area(self.free.waits().queue.area(now)));
    }
}
