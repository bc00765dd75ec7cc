//! What a user may write of a controller.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ComponentSpec;
use crate::graph::Lowering;
use crate::link::LinkSpec;
use crate::room::{Lowered, Spec};

/// A controller of arrays, which name it in `controllers`. What it does not say takes no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Number of commands processed at once.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub processors: u32,
    /// Processor time of a command: one that comes from a host, or one that goes to a disk.
    #[serde(default)]
    pub command: Nanos,
    /// Processor time of a command that goes to a disk, where it differs. Default: that of `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_command: Option<Nanos>,
    /// Rate at which a processor handles the data of a host's command, in addition to `command`. Default: in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_rate: Option<BytesPerSecond>,
    /// Rate at which a processor computes parity, in bytes of data that go into it. Default: in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_rate: Option<BytesPerSecond>,
    /// Rate of the bus that all data crosses: that of hosts once, that to and from disks once, parity once. Default: in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BytesPerSecond>,
    /// Most data that crosses the bus at once. Others cross in between.
    #[serde(default = "kib_128")]
    pub transfer: Bytes,
    /// Memory for the caches of its arrays: together they must fit. Default: as much as they ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

const fn one() -> u32 {
    1
}

const fn kib_128() -> Bytes {
    Bytes(128 << 10)
}

impl Spec for ControllerSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<Self>> {
        if self.transfer.0 == 0 {
            return at.refuse("transfer", "at least one byte crosses the bus at once", None);
        }
        let mut uses = Vec::new();
        if let Some(rate) = self.bus {
            let bus = ComponentSpec::Link(LinkSpec::new(rate, Nanos::ZERO));
            uses.push(at.inner("bus", &bus)?);
        }
        Some(Lowered { plan: self.clone(), uses, capacity: Bytes(0) })
    }
}
