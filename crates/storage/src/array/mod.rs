//! An array: several devices that answer as one.

mod stripe;

use std::cell::Cell;

use headrace_kernel::{Resource, Usage};
use headrace_units::{Bytes, Nanos};
use headrace_workload::Request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::{BlockDevice, Blueprint, Device};
use crate::passage::Passage;
use crate::site::Place;

pub use stripe::Stripes;

/// Several devices of one kind, striped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    /// How data is laid out over the disks.
    pub level: Level,
    /// What it is made of, by its name in `system`. Each disk is one of its own.
    pub of: String,
    /// How many there are.
    #[schemars(range(min = 1, max = 10_000))]
    pub disks: u32,
    /// How many bytes lie on one disk before the next has its turn.
    pub stripe_unit: Bytes,
    /// Whether requests overlap.
    #[serde(default)]
    pub queueing: Queueing,
    /// On which disk a request begins.
    #[serde(default)]
    pub first_unit: FirstUnit,
}

/// How data is laid out over the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Striped, without redundancy.
    Raid0,
}

/// Whether requests overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// A queue for each disk: a disk goes on to the next request while others are busy with this one.
    #[default]
    ForkJoin,
    /// One queue before the array: the next request begins when every part of this one is done.
    SplitMerge,
}

/// On which disk a request begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FirstUnit {
    /// Where its address lies.
    #[default]
    Addressed,
    /// On the first disk, whatever its address, as in the split-merge paper: its Eq. 1 gives block j to disk j mod n.
    FirstDisk,
}

/// An array in a simulation.
pub struct Array<'m> {
    place: Place<'m>,
    /// Held from the split to the merge, where requests do not overlap.
    lockstep: Option<Resource<'m>>,
    stripes: Stripes,
    disks: Vec<Device<'m>>,
    /// Bytes of requests that were split: what came and was not split is still waiting for its turn.
    split: Cell<u64>,
}

impl<'m> Array<'m> {
    pub(crate) fn new(spec: &ArraySpec, of: &Blueprint, place: Place<'m>) -> Self {
        let disk = |i| of.build(place.site, &format!("{}/{}[{i}]", place.path, spec.of));
        Self {
            lockstep: (spec.queueing == Queueing::SplitMerge).then(|| Resource::fcfs(place.site.sim, 1)),
            stripes: spec.stripes(),
            disks: (0..spec.disks).map(disk).collect(),
            split: Cell::new(0),
            place,
        }
    }

    /// Each disk that has a part in the request, and the part.
    #[inline]
    fn split(&self, request: Request) -> impl Iterator<Item = (&Device<'m>, Request)> {
        self.split.set(self.split.get() + request.bytes);
        self.stripes.parts(request).map(|(disk, part)| (&self.disks[disk], part))
    }

    /// Sends each disk its part and waits for the last.
    async fn fork_and_join(&'m self, request: Request) -> Passage {
        let parts = self.split(request).map(|(disk, part)| disk.io(part));
        self.place
            .site
            .sim
            .join_all(parts)
            .await
            .expect("a request has at least one byte, so at least one part")
    }

    fn pass_disks(&self, now: Nanos, request: &Request) -> (Nanos, Passage) {
        let passes = self.split(*request).map(|(disk, part)| disk.pass(now, &part));
        passes.max_by_key(|(end, _)| *end).expect("a request has at least one byte, so at least one part")
    }
}

impl<'m> BlockDevice<'m> for Array<'m> {
    const KIND: &'static str = "array";

    fn place(&self) -> &Place<'m> {
        &self.place
    }

    fn queue(&self) -> Option<(u64, Usage)> {
        self.lockstep.as_ref().map(Resource::recorded)
    }

    fn parts(&self) -> &[Device<'m>] {
        &self.disks
    }

    fn handed_on(&self) -> Option<u64> {
        Some(self.split.get())
    }

    async fn io(&'m self, request: Request) -> Passage {
        let Some(lockstep) = &self.lockstep else {
            return self.fork_and_join(request).await.after(self.place.component, Nanos::ZERO, Nanos::ZERO);
        };
        let turn = lockstep.acquire(()).await;
        self.fork_and_join(request).await.after(self.place.component, turn.waited, Nanos::ZERO)
    }

    fn pass(&self, now: Nanos, request: &Request) -> (Nanos, Passage) {
        let Some(lockstep) = &self.lockstep else {
            let (end, slowest) = self.pass_disks(now, request);
            return (end, slowest.after(self.place.component, Nanos::ZERO, Nanos::ZERO));
        };
        let mut slowest = Passage::default();
        let pass = lockstep.pass(now, |start| {
            let (end, passage) = self.pass_disks(start, request);
            slowest = passage;
            end
        });
        (pass.end, slowest.after(self.place.component, pass.start - now, Nanos::ZERO))
    }
}

impl ArraySpec {
    /// How requests are split.
    pub fn stripes(&self) -> Stripes {
        Stripes { disks: u64::from(self.disks), unit: self.stripe_unit.0, first_unit: self.first_unit }
    }

    /// How many bytes it holds, made of devices that hold `each`: whole stripes only.
    pub fn capacity(&self, each: Bytes) -> Bytes {
        let on_each = each.0 / self.stripe_unit.0.max(1) * self.stripe_unit.0;
        Bytes(on_each.saturating_mul(u64::from(self.disks)))
    }
}
