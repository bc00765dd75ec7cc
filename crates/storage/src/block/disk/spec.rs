//! Specification of a disk.

use headrace_units::Fraction;
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::numbers::DiskNumbers;
use super::schedule::{QueueSpec, Scheduling};
use crate::core::device::DeviceRef;

/// A disk drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// A drive from the catalogue by name, the path of a device file relative to the scenario (`./mine.yaml`), a
    /// variation of either, or its parameters in full.
    pub device: DeviceRef<DiskNumbers>,
    /// How positions on the platter are modelled. Sequential requests, rebuilds, and drives that reorder need `mechanical`.
    #[serde(default)]
    pub positioning: Positioning,
    /// Scheduling policy, for `positioning: mechanical`. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Maximum number of commands it holds and reorders; the rest queue in the host. With more than one it
    /// starts the next command while data of the previous one is still being sent. Default: the drive's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub queue_depth: Option<u32>,
    /// Initial angle of the platter as a fraction of a revolution, for `positioning: mechanical`. Default:
    /// random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Fraction>,
}

impl DiskSpec {
    /// Returns the command queue of a drive with these numbers in this component.
    pub fn queue(&self, numbers: &DiskNumbers) -> QueueSpec {
        if self.positioning != Positioning::Mechanical {
            return QueueSpec::default();
        }
        let own = numbers.queue.clone().unwrap_or_default();
        QueueSpec {
            scheduling: self.scheduling.unwrap_or(own.scheduling),
            depth: self.queue_depth.unwrap_or(own.depth),
            ..own
        }
    }

    /// Returns the field, the error and the fix of a contradiction; `None` if there is none.
    pub fn problem(&self) -> Option<Invalid> {
        let mechanical = self.positioning == Positioning::Mechanical;
        let only = "it applies only to `positioning: mechanical`";
        let invalid =
            |field| Some(Invalid::new(field, only).help("set `positioning: mechanical`, or remove it"));
        match (mechanical, self.scheduling, self.queue_depth, self.phase) {
            (false, Some(_), ..) => invalid("scheduling"),
            (false, _, Some(_), _) => invalid("queue_depth"),
            (false, .., Some(_)) => invalid("phase"),
            _ => None,
        }
    }
}

/// How positions on the platter are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Positioning {
    /// The arm moves from where the last request left it to where this one's address lies, and each request waits for the platter: small
    /// requests at random addresses, which theory covers.
    Addressed,
    /// From one random position to another; the second also determines the transfer rate. Addresses are
    /// ignored.
    Coupled,
    /// As in the paper: seek and transfer rate from separate random positions. Addresses are ignored.
    Independent,
    /// Exact: the platter rotates in virtual time, sectors lie where the layout puts them, and cache and
    /// interface are modelled. The initial angle is random.
    #[default]
    Mechanical,
}
