//! Specification of a controller.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ComponentSpec;
use crate::block::array::cache::ArrayCacheSpec;
use crate::core::component::Spec;
use crate::core::graph::Lowering;
use crate::fabric::link::LinkSpec;

/// A controller of arrays, which name it in `controllers`. What it does not say takes no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Number of commands processed in parallel.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub processors: u32,
    /// Processor time per command. It applies to the command of a host and again to each command to a disk that
    /// follows from it, unless `disk_command` is set: a read of one disk takes it twice.
    #[serde(default)]
    pub command: Nanos,
    /// Processor time per command to a disk; `0 s` where the array has no processor work per disk. Default:
    /// that of `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_command: Option<Nanos>,
    /// Rate at which a processor handles the data of host commands, in addition to `command`. Default: no
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_rate: Option<BytesPerSecond>,
    /// Rate at which a processor computes parity, in bytes that it reads for that: the data of a whole stripe; old data, old parity and
    /// new data of a small write; of a degraded read or a rebuild the units that replace a lost one. Default: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_rate: Option<BytesPerSecond>,
    /// Rate of the bus. Host data, back-end data and parity each cross it once. Default: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BytesPerSecond>,
    /// Largest transfer on the bus; larger ones are split and interleave with others.
    #[serde(default = "kib_128")]
    pub transfer: Bytes,
    /// Cache memory that all of its arrays share, except those with a `cache` of their own. Two controllers of one
    /// array have the same, and each holds a copy of what is to be written back. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<ArrayCacheSpec>,
}

const fn one() -> u32 {
    1
}

const fn kib_128() -> Bytes {
    Bytes(128 << 10)
}

impl Spec for ControllerSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        if self.transfer.0 == 0 {
            return at.refuse("transfer", "at least one byte crosses the bus at once", None);
        }
        let mut uses = Vec::new();
        if let Some(rate) = self.bus {
            let bus = ComponentSpec::Link(LinkSpec::new(rate, Nanos::ZERO));
            uses.push(at.inner("bus", &bus)?);
        }
        at.uses(uses);
        Some(self.clone())
    }
}
