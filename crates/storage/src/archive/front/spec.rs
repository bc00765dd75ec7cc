//! Specification of a front.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::Spec;
use crate::core::graph::{Lowering, Resolved};

/// Limits and ports in front of an archive. A transfer first waits until its user and its host are below their limits (blocked), then for a
/// port that accepts files of its size (waiting). It holds both until its data has moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontSpec {
    /// Maximum number of transfers per user. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_user: Option<u32>,
    /// Maximum number of transfers per host. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_host: Option<u32>,
    /// Classes of ports; a transfer takes the first free port that accepts the size of its file. Default: no
    /// ports needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortClass>,
    /// Queueing discipline for ports.
    #[serde(default)]
    pub queue: PortQueue,
    /// Delay before the data of a put is sent. The port is held.
    #[serde(default)]
    pub put_latency: Nanos,
    /// Delay before the data of a get is sent. The port is held.
    #[serde(default)]
    pub get_latency: Nanos,
    /// Maximum rate of one client. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_rate: Option<BytesPerSecond>,
}

/// A class of ports for files of certain sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortClass {
    /// Number of ports.
    #[schemars(range(min = 1, max = 100_000))]
    pub number: u32,
    /// Minimum file size (exclusive).
    #[serde(default)]
    pub above: Bytes,
    /// Maximum file size (inclusive). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<Bytes>,
}

/// Queueing discipline for ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortQueue {
    /// The first in the queue whose file fits the port.
    #[default]
    FirstThatFits,
    /// The head of the queue; it blocks those behind it until a port fits.
    HeadBlocks,
    /// One queue for limits and ports: the first transfer within the limits of its user and host whose file
    /// fits a free port. No transfer counts against a limit while it waits for a port. All time in this queue
    /// counts as waiting.
    Joint,
}

impl PortClass {
    pub(super) fn takes(&self, bytes: u64) -> bool {
        bytes > self.above.0 && self.up_to.is_none_or(|most| bytes <= most.0)
    }
}

impl Spec for FrontSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Resolved<Self>> {
        let empty = self.ports.iter().any(|class| class.up_to.is_some_and(|most| most <= class.above));
        if empty {
            return at.refuse("ports", "a class accepts no file: `up_to` must be larger than `above`", None);
        }
        if !self.ports.is_empty()
            && let Some(size) = self.size_without_port()
        {
            let message = format!("no port takes a file of {}", Bytes(size));
            return at.refuse(
                "ports",
                message,
                Some("omit `above` of the smallest class and `up_to` of the largest, and leave no gap"),
            );
        }
        Some(Resolved { plan: self.clone(), uses: Vec::new(), capacity: Bytes(0) })
    }
}

impl FrontSpec {
    /// A size that no class takes: only sizes just above a bound need be tried.
    fn size_without_port(&self) -> Option<u64> {
        let bounds = self.ports.iter().flat_map(|class| [Some(class.above), class.up_to]).flatten();
        let mut sizes: Vec<u64> = bounds.map(|bound| bound.0 + 1).chain([1]).collect();
        sizes.sort_unstable();
        sizes.into_iter().find(|size| !self.ports.iter().any(|class| class.takes(*size)))
    }
}
