//! The block devices, and how they are built.

use headrace_analytic::Law;
use headrace_kernel::Usage;
use headrace_units::{Bytes, Nanos};
use headrace_workload::{Op, Request};

use crate::array::{Array, ArraySpec, FirstUnit, Queueing};
use crate::disk::{Disk, DiskNumbers, DiskSpec, Mechanism, Positioning};
use crate::passage::Passage;
use crate::site::{Place, Site};
use crate::station::{Station, StationSpec};

/// A device fully described: names looked up, nothing left to go wrong in [`Blueprint::build`].
#[derive(Clone, Debug)]
pub enum Blueprint {
    /// A disk with these numbers.
    Disk(Box<DiskNumbers>, Box<DiskSpec>),
    /// A station.
    Station(StationSpec),
    /// An array of devices like the one given.
    Array(ArraySpec, Box<Blueprint>),
}

impl Blueprint {
    /// How many bytes it holds.
    pub fn capacity(&self) -> Bytes {
        match self {
            Self::Disk(numbers, _) => numbers.capacity.get(),
            Self::Station(spec) => spec.capacity,
            Self::Array(spec, of) => spec.capacity(of.capacity()),
        }
    }

    /// Builds it, and what it is made of, at `path`.
    pub fn build<'m>(&self, site: &'m Site<'m>, path: &str) -> Device<'m> {
        let place = site.place(path);
        match self {
            Self::Disk(numbers, spec) => Device::Disk(Disk::new(numbers, spec, place)),
            Self::Station(spec) => Device::Station(Station::new(spec, place)),
            Self::Array(spec, of) => Device::Array(Array::new(spec, of, place)),
        }
    }

    /// The law of the time, in ms, for which one request holds this device and no other may begin: what theory calls its
    /// service time. `None` where requests overlap.
    pub fn service_law(&self, op: Op, bytes: u64) -> Option<Law> {
        match self {
            Self::Disk(numbers, spec) => {
                Some(Mechanism::new(numbers, spec.positioning).service_law(op, bytes))
            }
            Self::Station(spec) => (spec.servers == 1).then(|| spec.service_law()),
            Self::Array(spec, of) if spec.queueing == Queueing::SplitMerge => {
                let parts = spec.stripes().part_kinds(bytes).into_iter();
                let laws: Option<Vec<(u32, Law)>> =
                    parts.map(|(many, part)| Some((many, of.service_law(op, part)?))).collect();
                laws.map(|laws| Law::largest(&laws))
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
                let parts = spec.stripes().part_kinds(bytes);
                if spec.first_unit == FirstUnit::FirstDisk {
                    return of.work_ms(op, parts[0].1);
                }
                let works =
                    parts.into_iter().map(|(many, part)| Some(f64::from(many) * of.work_ms(op, part)?));
                works.sum::<Option<f64>>().map(|sum| sum / f64::from(spec.disks))
            }
            _ => self.service_law(op, bytes).map(|law| law.mean()),
        }
    }

    /// How many components it is made of, itself included.
    pub fn components(&self) -> u64 {
        match self {
            Self::Array(spec, of) => of.components().saturating_mul(u64::from(spec.disks)).saturating_add(1),
            _ => 1,
        }
    }

    /// Whether it is an array of arrays: theory does not follow a request that far.
    pub fn is_nested(&self) -> bool {
        matches!(self, Self::Array(_, of) if matches!(**of, Self::Array(..)))
    }

    /// The disk it is or is made of, where it is made of disks.
    fn disk(&self) -> Option<(&DiskNumbers, &DiskSpec)> {
        match self {
            Self::Disk(numbers, spec) => Some((numbers, spec)),
            Self::Array(_, of) => of.disk(),
            _ => None,
        }
    }

    /// Whether there are disks in it that choose whom to serve.
    pub fn chooses(&self) -> bool {
        self.disk().is_some_and(|(numbers, spec)| !spec.queue(numbers).keeps_order())
    }

    /// Whether requests may be answered without going to a platter.
    pub fn has_cache(&self) -> bool {
        self.disk().is_some_and(|(numbers, spec)| {
            spec.positioning == Positioning::Mechanical && numbers.cache.is_some()
        })
    }

    /// Whether there are disks without a cache in it.
    pub fn has_bare_disks(&self) -> bool {
        self.disk().is_some() && !self.has_cache()
    }

    /// Whether the time a request takes depends on its address.
    pub fn is_addressed(&self) -> bool {
        match self {
            Self::Disk(_, spec) => {
                matches!(spec.positioning, Positioning::Addressed | Positioning::Mechanical)
            }
            Self::Station(_) => false,
            Self::Array(_, of) => of.is_addressed(),
        }
    }
}

/// What every block device does; each does it in its own room.
pub(crate) trait BlockDevice<'m> {
    /// What it is called in results.
    const KIND: &'static str;

    /// Where it stands.
    fn place(&self) -> &Place<'m>;

    /// How many requests it serves at once, and what it recorded of them; where it has a queue of its own.
    fn queue(&self) -> Option<(u64, Usage)>;

    /// The devices it is made of.
    fn parts(&self) -> &[Device<'m>] {
        &[]
    }

    /// The bytes it asked of them.
    fn handed_on(&self) -> Option<u64> {
        None
    }

    /// Does what `request` asks, in virtual time.
    async fn io(&'m self, request: Request) -> Passage;

    /// The same without events.
    fn pass(&self, now: Nanos, request: &Request) -> (Nanos, Passage);
}

/// A block device in a simulation: the list of all kinds.
pub enum Device<'m> {
    /// A disk.
    Disk(Disk<'m>),
    /// A station.
    Station(Station<'m>),
    /// An array.
    Array(Array<'m>),
}

/// Does the same with whichever kind of device it is.
macro_rules! each {
    ($device:expr, $kind:ident => $does:expr) => {
        match $device {
            Device::Disk($kind) => $does,
            Device::Station($kind) => $does,
            Device::Array($kind) => $does,
        }
    };
}

/// What a device recorded of itself.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// What it is: `disk`, `station`, `array`.
    pub kind: &'static str,
    /// How many requests it serves at once.
    pub servers: u64,
    /// Waiting and service; none for a device without a queue of its own.
    pub usage: Option<Usage>,
    /// The bytes asked of it.
    pub bytes: u64,
    /// The bytes it asked of what it is made of; none for a device that is made of nothing else.
    pub handed_on: Option<u64>,
}

impl Recorded {
    fn of<'m, D: BlockDevice<'m>>(device: &D) -> Self {
        let queue = device.queue();
        Self {
            kind: D::KIND,
            servers: queue.map_or(1, |(servers, _)| servers),
            usage: queue.map(|(_, usage)| usage),
            bytes: device.place().bytes(),
            handed_on: device.handed_on(),
        }
    }
}

impl<'m> Device<'m> {
    /// Does what `request` asks, and tells where the time went. It counts as asked when this is called, not when the
    /// future first runs: a run that ends in between has lost nothing.
    pub fn io(&'m self, request: Request) -> impl Future<Output = Passage> + 'm {
        let Site { sim, timeline, .. } = each!(self, device => device.place().ask(request.bytes));
        let came = sim.now();
        async move {
            let passage = match self {
                Self::Disk(disk) => disk.io(request).await,
                Self::Station(station) => station.io(request).await,
                // Boxed, for an array may contain arrays.
                Self::Array(array) => Box::pin(array.io(request)).await,
            };
            timeline.visited(&request, came, sim.now(), passage.legs().last());
            passage
        }
    }

    /// The same without events: when the request is done that comes at `now`, and where its time went. Requests must
    /// come in the order of time.
    #[inline]
    pub fn pass(&self, now: Nanos, request: &Request) -> (Nanos, Passage) {
        each!(self, device => {
            let site = device.place().ask(request.bytes);
            let (left, passage) = device.pass(now, request);
            site.timeline.visited(request, now, left, passage.legs().last());
            (left, passage)
        })
    }

    /// Its name, under the names of what contains it.
    pub fn path(&self) -> &str {
        each!(self, device => &device.place().path)
    }

    /// The devices it is made of.
    pub fn parts(&self) -> &[Device<'m>] {
        each!(self, device => device.parts())
    }

    /// What this device recorded of itself.
    pub fn recorded(&self) -> Recorded {
        each!(self, device => Recorded::of(device))
    }

    /// This device and all behind it, in the order of their places on the site.
    pub fn all(&self) -> Vec<&Device<'m>> {
        std::iter::once(self).chain(self.parts().iter().flat_map(Self::all)).collect()
    }
}
