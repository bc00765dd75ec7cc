//! The block devices, and how they are built.

use headrace_analytic::Law;
use headrace_kernel::Usage;
use headrace_units::{Bytes, Nanos};
use headrace_workload::{Op, Request};

use crate::array::{Array, ArraySpec, FirstUnit, Queueing};
use crate::disk::{self, Disk, DiskNumbers, Mechanism, Positioning};
use crate::passage::Passage;
use crate::site::Site;
use crate::station::{Station, StationSpec};

/// A device fully described: names looked up, nothing left to go wrong in [`Blueprint::build`].
#[derive(Clone, Debug)]
pub enum Blueprint {
    /// A disk with these numbers.
    Disk(Box<DiskNumbers>, Positioning),
    /// A station.
    Station(StationSpec),
    /// An array of devices like the one given.
    Array(ArraySpec, Box<Blueprint>),
}

impl Blueprint {
    /// How many bytes it holds.
    pub fn capacity(&self) -> Bytes {
        match self {
            Self::Disk(numbers, _) => disk::capacity(numbers),
            Self::Station(spec) => spec.capacity,
            Self::Array(spec, of) => spec.capacity(of.capacity()),
        }
    }

    /// Builds it, and what it is made of, at `path`.
    pub fn build<'m>(&self, site: &'m Site<'m>, path: &str) -> Device<'m> {
        let place = site.place(path);
        match self {
            Self::Disk(numbers, positioning) => {
                Device::Disk(Box::new(Disk::new(Mechanism::new(numbers, *positioning), site, &place)))
            }
            Self::Station(spec) => Device::Station(Station::new(spec, site, &place)),
            Self::Array(spec, of) => Device::Array(Array::new(spec, of, site, &place)),
        }
    }

    /// The law of the time, in ms, for which one request holds this device and no other may begin: what theory calls its
    /// service time. `None` where requests overlap.
    pub fn service_law(&self, op: Op, bytes: u64) -> Option<Law> {
        match self {
            Self::Disk(numbers, positioning) => {
                Some(Mechanism::new(numbers, *positioning).service_law(op, bytes))
            }
            Self::Station(spec) => (spec.servers == 1).then(|| spec.service_law()),
            Self::Array(spec, of) if spec.queueing == Queueing::SplitMerge => {
                let parts = spec.stripes().part_sizes(bytes);
                let mut sizes = parts.clone();
                sizes.dedup();
                let laws: Option<Vec<Law>> = sizes.iter().map(|&size| of.service_law(op, size)).collect();
                let of_size =
                    |part| sizes.iter().position(|&size| size == part).expect("each size has its law");
                laws.map(|laws| {
                    Law::largest(&parts.iter().map(|&part| &laws[of_size(part)]).collect::<Vec<_>>())
                })
            }
            Self::Array(..) => None,
        }
    }

    /// For how long, in ms, one request keeps the busiest server here at work on average; `None` where theory cannot
    /// tell. Times the rate of requests, it is the utilisation of that server.
    pub fn work_ms(&self, op: Op, bytes: u64) -> Option<f64> {
        match self {
            Self::Station(spec) => Some(spec.service_law().mean() / f64::from(spec.servers)),
            Self::Array(spec, of) if spec.queueing == Queueing::ForkJoin => {
                let parts = spec.stripes().part_sizes(bytes);
                match spec.first_unit {
                    FirstUnit::FirstDisk => of.work_ms(op, parts[0]),
                    FirstUnit::Addressed => {
                        let works: Option<Vec<f64>> =
                            parts.iter().map(|&part| of.work_ms(op, part)).collect();
                        works.map(|works| works.iter().sum::<f64>() / f64::from(spec.disks))
                    }
                }
            }
            _ => self.service_law(op, bytes).map(|law| law.mean()),
        }
    }

    /// Whether the time a request takes depends on its address.
    pub fn is_addressed(&self) -> bool {
        match self {
            Self::Disk(_, positioning) => *positioning == Positioning::Addressed,
            Self::Station(_) => false,
            Self::Array(_, of) => of.is_addressed(),
        }
    }
}

/// A block device in a simulation.
pub enum Device<'m> {
    /// A disk.
    Disk(Box<Disk<'m>>),
    /// A station.
    Station(Station<'m>),
    /// An array.
    Array(Array<'m>),
}

impl<'m> Device<'m> {
    /// Does what `request` asks, and tells where the time went.
    pub async fn io(&'m self, request: Request) -> Passage {
        match self {
            Self::Disk(disk) => disk.io(request).await,
            Self::Station(station) => station.io(request).await,
            // Boxed, for an array may contain arrays.
            Self::Array(array) => Box::pin(array.io(request)).await,
        }
    }

    /// The same without events: when the request is done that comes at `now`, and where its time went. Requests must
    /// come in the order of time.
    #[inline]
    pub fn pass(&self, now: Nanos, request: &Request) -> (Nanos, Passage) {
        match self {
            Self::Disk(disk) => disk.pass(now, request),
            Self::Station(station) => station.pass(now, request),
            Self::Array(array) => array.pass(now, request),
        }
    }

    /// What this device and all behind it recorded, in the order of their places: kind, servers and usage. An array
    /// without a queue of its own has no usage.
    pub fn usages(&self) -> Vec<(&'static str, u64, Option<Usage>)> {
        let of = |resource: &headrace_kernel::Resource<'m>| (resource.servers(), Some(*resource.usage()));
        match self {
            Self::Disk(disk) => {
                let (servers, usage) = of(&disk.arm);
                vec![("disk", servers, usage)]
            }
            Self::Station(station) => {
                let (servers, usage) = of(&station.servers);
                vec![("station", servers, usage)]
            }
            Self::Array(array) => {
                let (servers, usage) = array.lockstep.as_ref().map_or((1, None), of);
                let own = ("array", servers, usage);
                std::iter::once(own).chain(array.disks().iter().flat_map(Self::usages)).collect()
            }
        }
    }
}
