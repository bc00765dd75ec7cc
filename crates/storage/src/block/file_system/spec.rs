//! Specification of a file system.

use headrace_units::{Bytes, BytesPerSecond, Fraction, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use headrace_work::Invalid;

use super::FileSystemPlan;
use crate::core::component::Spec;
use crate::core::graph::Lowering;
use crate::core::replacement::ReplacementSpec;

/// A file system on a volume, with a page cache: writes complete in memory and are written back later; sequential reads are read ahead.
///
/// Files lie one after another in its address space; a stream with `file:` accesses files of that size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSystemSpec {
    /// The volume that holds it, by its name in `system`.
    pub of: String,
    /// The server that it belongs to, such as one that exports it over a network: requests reach it there, and it reaches its volume from
    /// there. Default: none; clients have it themselves, or it is `attached` to a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Memory of the page cache: what the machine has beyond its kernel and applications.
    pub memory: Bytes,
    /// Replacement policy: the clean page that gives way.
    #[serde(default)]
    pub replacement: ReplacementSpec,
    /// Block size, which is also the page size of the cache.
    #[serde(default = "kib_4")]
    pub block: Bytes,
    /// CPU time of a call, excluding copying.
    #[serde(default)]
    pub call: Nanos,
    /// Rate at which data is copied between application and page cache. Default: copying takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<BytesPerSecond>,
    /// Maximum share of the memory that may be dirty; at this limit a writer waits for write-back. Linux: `dirty_ratio`, 20 %; 40 % up to
    /// 2.6.22.
    #[serde(default = "fifth")]
    pub dirty_limit: Fraction,
    /// Share of dirty memory above which background write-back starts. Linux: `dirty_background_ratio`, 10 %.
    #[serde(default = "tenth")]
    pub dirty_background: Fraction,
    /// Age at which a dirty page is written back. Linux: `dirty_expire_centisecs`, 30 s.
    #[serde(default = "half_a_minute")]
    pub dirty_age: Nanos,
    /// Interval at which write-back checks the age of pages. Linux: `dirty_writeback_centisecs`, 5 s.
    #[serde(default = "five_seconds")]
    pub wake: Nanos,
    /// Maximum size of a request to the volume.
    #[serde(default = "kib_512")]
    pub max_request: Bytes,
    /// Maximum number of write-back requests in flight.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 1024))]
    pub write_back_depth: u32,
    /// Read-ahead window of sequential reads. Linux: `read_ahead_kb`, 128 KiB.
    #[serde(default = "kib_128")]
    pub read_ahead: Bytes,
    /// Calls larger than this bypass the page cache. Default: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_above: Option<Bytes>,
    /// Number of bytes written between calls of `fsync`, which wait until all data is on the volume; a file size calls it after each file.
    /// They do not flush the volume's own cache, as a stream's `flush_every` does.
    /// Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_every: Option<Bytes>,
    /// Placement of files on the volume. Default: one after another, as in the address space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Allocation>,
}

/// Allocation groups, which receive extents in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allocation {
    /// Number of groups, which divide the volume equally.
    #[schemars(range(min = 1, max = 65536))]
    pub groups: u32,
    /// Extent size. A multiple of the stripe width preserves full-stripe writes.
    pub extent: Bytes,
}

const fn kib_4() -> Bytes {
    Bytes(4 << 10)
}

const fn kib_128() -> Bytes {
    Bytes(128 << 10)
}

const fn kib_512() -> Bytes {
    Bytes(512 << 10)
}

const fn four() -> u32 {
    4
}

const fn fifth() -> Fraction {
    Fraction(0.2)
}

const fn tenth() -> Fraction {
    Fraction(0.1)
}

const fn half_a_minute() -> Nanos {
    Nanos(30_000_000_000)
}

const fn five_seconds() -> Nanos {
    Nanos(5_000_000_000)
}

impl FileSystemSpec {
    /// Returns the field, the error and the fix of an invalid combination; `None` if there is none.
    fn problem(&self, capacity: Bytes) -> Option<Invalid> {
        let (block, request) = (self.block.0, self.max_request.0);
        if !block.is_power_of_two() || block < 512 {
            return Some(
                Invalid::new("block", format!("{} is not a power of two from 512 B on", self.block))
                    .help("give 4 KiB"),
            );
        }
        if request < block || !request.is_multiple_of(block) {
            let message = format!("{} is not a multiple of the block of {}", self.max_request, self.block);
            return Some(Invalid::new("max_request", message).help("give a multiple of `block`"));
        }
        if self.memory.0 < 4 * request {
            let message = format!("{} holds fewer than four requests of {}", self.memory, self.max_request);
            return Some(
                Invalid::new("memory", message).help("give more memory, or a smaller `max_request`"),
            );
        }
        if self.dirty_limit.get() < self.dirty_background.get() {
            let message = "is below `dirty_background`: writers would wait before anything is written back";
            return Some(Invalid::new("dirty_limit", message).help("give at least `dirty_background`"));
        }
        if self.wake == Nanos::ZERO {
            return Some(Invalid::new("wake", "must be above 0 s").help("Linux has 5 s"));
        }
        let Allocation { groups, extent } = self.allocation?;
        let fits =
            extent.0 > 0 && extent.0.is_multiple_of(block) && capacity.0 / u64::from(groups) >= extent.0;
        (!fits).then(|| {
            let message =
                format!("extents of {extent} in {groups} groups do not fit {capacity}, or cut blocks");
            Invalid::new("allocation", message)
                .help("give a multiple of `block`, and groups of at least one extent")
        })
    }
}

impl Spec for FileSystemSpec {
    type Plan = FileSystemPlan;

    fn lower(&self, at: &mut Lowering) -> Option<FileSystemPlan> {
        let volume = match &self.from {
            Some(from) => at.route(("from", from), ("of", &self.of))?,
            None => at.reached("of", &self.of)?,
        };
        let capacity = at.capacity(volume);
        if capacity.0 == 0 {
            let message = format!("`{}` holds no data", self.of);
            return at.refuse("of", message, Some("name a disk, a solid-state drive or an array"));
        }
        if let Some(invalid) = self.problem(capacity) {
            return at.invalid(invalid);
        }
        let plan = FileSystemPlan::new(self.clone(), capacity);
        let capacity = plan.capacity();
        at.uses(vec![volume]);
        at.holds(capacity);
        Some(plan)
    }

    fn host(&self) -> Option<&str> {
        self.from.as_deref()
    }
}
