//! Specification and plan of a recorder.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Block, FileOp, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ComponentSpec;
use crate::core::component::{Spec, Theory};
use crate::core::graph::Lowering;

/// Recording of the events of one builder: streams format events, compress them and write them to volumes or to an archive. A stream
/// processes one event at a time; its writes proceed in parallel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecorderSpec {
    /// Number of streams.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub streams: u32,
    /// Number of cores that the streams share. A stream uses at most one.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub cores: u32,
    /// Throughput of a core running several threads relative to one (simultaneous multithreading).
    #[serde(default = "unity")]
    #[schemars(range(min = 1.0, max = 2.0))]
    pub smt: f64,
    /// CPU time of formatting. Default: none.
    #[serde(default)]
    pub format: FormatSpec,
    /// Compression of formatted events. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<CompressSpec>,
    /// Targets by their names in `system`: volumes, or one archive.
    pub to: Vec<String>,
    /// Server whose adapter sends the writes, over the switches that connect it and the volumes. Default: writes reach the volumes
    /// without a server or fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Choice of the volume of a write.
    #[serde(default)]
    pub affinity: Affinity,
    /// Size of a write, which a stream collects first: one request to a volume, or one file of an archive.
    pub write: Bytes,
    /// Memory of a stream for collected data and writes in flight. Default: twice `write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
}

const fn one() -> u32 {
    1
}

const fn unity() -> f64 {
    1.0
}

/// CPU time of formatting: the sum of these parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatSpec {
    /// Time per event.
    #[serde(default)]
    pub per_event: Nanos,
    /// Time per sub-event.
    #[serde(default)]
    pub per_sub_event: Nanos,
    /// Rate at which one core formats data. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
}

/// Compression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompressSpec {
    /// Compression ratio: size before divided by size after.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub ratio: f64,
    /// Rate of uncompressed data at which one core compresses.
    pub rate: BytesPerSecond,
}

/// Choice of the volume of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Affinity {
    /// Each stream writes to one volume: the streams of all builders are assigned to the volumes in turn.
    #[default]
    Stream,
    /// Each write goes to the next volume in turn.
    None,
}

/// A recorder with names looked up.
#[derive(Clone, Debug)]
pub struct RecorderPlan {
    pub(super) spec: RecorderSpec,
    /// Bytes of memory of a stream.
    pub(super) buffer: u64,
    /// Capacity of each target, in bytes.
    pub(super) capacities: Vec<u64>,
    pub(super) is_archive: bool,
}

impl Spec for RecorderSpec {
    type Plan = RecorderPlan;

    fn lower(&self, at: &mut Lowering) -> Option<RecorderPlan> {
        let is_archive =
            |name: &String| at.named_in_system(name).is_some_and(ComponentSpec::serves::<FileOp>);
        let archives = self.to.iter().filter(|name| is_archive(name)).count();
        if self.to.is_empty() || (archives > 0 && self.to.len() > 1) {
            let message = "a recorder writes to one or several volumes, or to one archive";
            return at.refuse("to", message, None);
        }
        let uses = self.targets(at, archives > 0)?;
        let buffer = self.buffer.unwrap_or(Bytes(self.write.0.saturating_mul(2)));
        if self.write.0 == 0 || buffer < self.write {
            let message = format!("a buffer of {buffer} never holds a write of {}", self.write);
            return at.refuse(
                "buffer",
                message,
                Some("give at least `write`, and twice as much to write beside formatting"),
            );
        }
        let no_rate = |rate: Option<BytesPerSecond>| rate.is_some_and(|rate| rate.get() <= 0.0);
        if no_rate(self.format.rate) || no_rate(self.compress.map(|compress| compress.rate)) {
            return at.refuse(
                "format.rate",
                "rates must be above 0 B/s",
                Some("leave `format.rate` out for formatting at no cost per byte"),
            );
        }
        let capacities: Vec<u64> = uses.iter().map(|id| at.capacity(*id).0).collect();
        if let Some(small) = capacities.iter().position(|capacity| capacity / REGIONS < self.write.0) {
            let (name, least) = (&self.to[small], Bytes(self.write.0.saturating_mul(REGIONS)));
            let message = format!("`{name}` has room for fewer than {REGIONS} writes of {}", self.write);
            return at.refuse(
                "to",
                message,
                Some(&format!("it needs at least {least}: a region for each stream")),
            );
        }
        let plan =
            RecorderPlan { spec: self.clone(), buffer: buffer.0, capacities, is_archive: archives > 0 };
        at.uses(uses);
        Some(plan)
    }
}

impl RecorderSpec {
    /// Returns the nodes to write to: the volumes, or the routes that lead to them.
    fn targets(&self, at: &mut Lowering, is_archive: bool) -> Option<Vec<NodeId>> {
        let to = at.all_paths(&self.to);
        match &self.from {
            Some(_) if is_archive => {
                let help = "leave `from` out and give the archive a `network`";
                at.refuse("from", "files reach an archive over its own network", Some(help))
            }
            Some(from) => to.iter().map(|name| at.route(("from", from), ("to", name))).collect(),
            None if is_archive => to.iter().map(|name| at.asked::<FileOp>("to", name)).collect(),
            None => to.iter().map(|name| at.asked::<Block>("to", name)).collect(),
        }
    }
}

/// Regions of a volume: each stream writes to one of its own, from its beginning to its end and around again.
pub(super) const REGIONS: u64 = 64;

impl Theory for RecorderPlan {}
