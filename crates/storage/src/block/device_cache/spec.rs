//! Specification of a cache on a device.

use headrace_units::{Bytes, Fraction};
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Spec, Theory};
use crate::core::graph::{Lowering, View};
use crate::core::replacement::ReplacementSpec;
use crate::core::theory::{Features, Load};

/// A cache on a fast device before a slower one, such as flash before disks: bcache, dm-cache, the L2ARC of ZFS, a burst buffer. It caches
/// blocks, and keeps track of which parts of a block it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceCacheSpec {
    /// Component whose data is cached.
    pub to: String,
    /// Component that holds the cache.
    pub on: String,
    /// First byte of the cache there.
    #[serde(default)]
    pub at: Bytes,
    /// Size of the cache. Default: to the end of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Unit of the cache: a power of two from 4 KiB to 256 KiB. Default: 64 KiB.
    #[serde(default = "kib_64")]
    pub block: Bytes,
    /// Replacement policy: the clean block that gives way.
    #[serde(default)]
    pub replacement: ReplacementSpec,
    /// Treatment of writes.
    #[serde(default)]
    pub writes: CachedWrites,
    /// Requests of at least this size go past the cache. Default: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<Bytes>,
    /// Share of blocks with dirty data above which data is written back. 0 writes all of it back. Default: 10 %, as in bcache.
    #[serde(default = "tenth")]
    pub dirty: Fraction,
    /// Maximum size of a request that writes back. Default: 1 MiB.
    #[serde(default = "mib")]
    pub max_request: Bytes,
    /// Maximum number of requests that write back at a time. Default: 4.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 1024))]
    pub write_back_depth: u32,
    /// Contents at the start of the run.
    #[serde(default)]
    pub begins: CacheStart,
}

/// Treatment of writes by a cache on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CachedWrites {
    /// They go to both, and complete when both have them.
    #[default]
    Through,
    /// They go to the cache, and later from there to what is cached. Where all blocks are dirty they go past the cache.
    Back,
    /// They go past the cache.
    Around,
}

/// Contents of a cache at the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheStart {
    /// It is empty.
    #[default]
    Empty,
    /// It is full of the first bytes of what is cached.
    Full,
    /// It is full, and has each block with this probability: the hit ratio of a cache in use, which a run is too short to reach.
    Hits(Fraction),
}

const fn kib_64() -> Bytes {
    Bytes(64 << 10)
}

const fn mib() -> Bytes {
    Bytes(1 << 20)
}

const fn tenth() -> Fraction {
    Fraction(0.1)
}

const fn four() -> u32 {
    4
}

impl DeviceCacheSpec {
    /// Returns the error of invalid values; `None` if they are valid.
    fn problem(&self, size: u64) -> Option<Invalid> {
        let block = self.block.0;
        if !block.is_power_of_two() || !(4 << 10..=256 << 10).contains(&block) {
            let message = format!("{} is not a power of two from 4 KiB to 256 KiB", self.block);
            return Some(Invalid::new("block", message).help("give 64 KiB"));
        }
        if size / block == 0 {
            let message = format!("a cache of {} has no whole block of {}", Bytes(size), self.block);
            return Some(Invalid::new("size", message).help("give at least one `block`"));
        }
        if size / block > u64::from(u32::MAX) {
            let message = format!("{} are more than 4,294,967,295 blocks of {}", Bytes(size), self.block);
            return Some(Invalid::new("block", message).help("give a larger block"));
        }
        (self.max_request.0 < block).then(|| {
            let message = format!("{} is less than a block of {}", self.max_request, self.block);
            Invalid::new("max_request", message).help("give at least one `block`")
        })
    }
}

impl Spec for DeviceCacheSpec {
    type Plan = DeviceCachePlan;

    fn lower(&self, at: &mut Lowering) -> Option<DeviceCachePlan> {
        let target = at.reached("to", &self.to)?;
        let cache = at.reached("on", &self.on)?;
        let (cached, there) = (at.capacity(target).0, at.capacity(cache).0.saturating_sub(self.at.0));
        if self.to == self.on {
            return at.refuse("on", "a component cannot cache itself", Some("name a faster device"));
        }
        if cached < self.block.0 {
            let message = format!("`{}` holds {}: there is nothing to cache", self.to, Bytes(cached));
            return at.refuse("to", message, Some("name a disk, a solid-state drive or an array"));
        }
        let size = self.size.map_or(there, |size| size.0);
        if size > there {
            let message =
                format!("{} do not fit: `{}` has {} from there on", Bytes(size), self.on, Bytes(there));
            return at.refuse("size", message, Some("give at most what is there"));
        }
        if let Some(invalid) = self.problem(size) {
            return at.invalid(invalid);
        }
        let plan =
            DeviceCachePlan { spec: self.clone(), slots: size / self.block.0, blocks: cached / self.block.0 };
        at.uses(vec![target, cache]);
        at.holds(Bytes(plan.blocks * self.block.0));
        Some(plan)
    }
}

/// Hit ratios that differ by more than this are not the same.
const MUCH: f64 = 0.05;

/// A cache whose size is known.
#[derive(Clone, Debug)]
pub struct DeviceCachePlan {
    pub(super) spec: DeviceCacheSpec,
    /// Number of blocks that the cache holds.
    pub(super) slots: u64,
    /// Number of blocks of what is cached.
    pub(super) blocks: u64,
}

impl DeviceCachePlan {
    /// Returns true if an access goes past the cache because of its size.
    pub(super) fn is_past(&self, bytes: u64) -> bool {
        self.spec.bypass.is_some_and(|least| bytes >= least.0)
    }
}

impl Theory for DeviceCachePlan {
    fn features(&self) -> Features {
        // What is dirty is on the cache alone.
        let is_copy = self.spec.writes != CachedWrites::Back;
        Features { stands_before: is_copy.then_some(super::TARGET), ..Features::default() }
    }

    fn note(&self, view: View, load: &Load) -> Option<String> {
        let path = view.path();
        // Of blocks that are all as likely, the share that fits is hit.
        let lasting = (self.slots as f64 / self.blocks as f64).min(1.0);
        match self.spec.begins {
            CacheStart::Empty => Some(format!(
                "`{path}` begins with an empty cache: until it is full, its hit ratio grows with the length of the run"
            )),
            CacheStart::Hits(hits) if load.uniform && (hits.get() - lasting).abs() > MUCH => Some(format!(
                "`{path}` begins with {:.0} % hits and tends to {:.0} %, the share of the blocks that fits, since requests of `{}` come to all \
                 alike: results lie between",
                hits.get() * 100.0,
                lasting * 100.0,
                load.stream
            )),
            _ => None,
        }
    }
}
